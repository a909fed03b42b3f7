"""What went wrong for users of other tools on the way of their predictions to a score, each through the door where it
was seen: the right number, or a refusal.

The reports lie in the folder of real data; ROADS_TESTED_BY lists those that other files test.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pytest
from cases_elsewhere import ROADS_TESTED_BY
from command import toxeval as command
from sklearn.exceptions import UndefinedMetricWarning

import toxeval

undefined = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
CHECKS: dict[str, Callable[[Path], None]] = {}


def road(identifier: str) -> Callable[[Callable], Callable]:
    def keep(check: Callable) -> Callable:
        CHECKS[identifier] = check
        return check

    return keep


def labelled(names: list[str], ids: list[int]) -> datasets.Dataset:
    """A dataset whose column "label" declares these names."""
    features = datasets.Features({"label": datasets.ClassLabel(names=names)})
    return datasets.Dataset.from_dict({"label": ids}, features=features)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


# --- files and tables ---------------------------------------------------------------------------------------------


@road("road-04-temporary-folder")
def _(folder: Path) -> None:
    (folder / "out/_temporary/0/t").mkdir(parents=True)
    rows = {"prediction": ["OFF", "NOT", "OFF", "NOT"], "label": ["OFF", "NOT", "NOT", "NOT"]}
    pd.DataFrame(rows).to_parquet(folder / "out/part-0.parquet")
    stale = pd.DataFrame({"prediction": ["NOT"] * 4, "label": ["OFF"] * 4})
    for name in ("_temporary/0/t/part-1.parquet", ".part-0.parquet", "_part-0.parquet"):
        stale.to_parquet(folder / "out" / name)
    result = command("score", "sold_macro_f1", "--predictions", folder / "out", "--json").json()
    assert (result["n_rows"], result["scores"]["accuracy"]) == (4, 0.75)


@road("road-21-trailing-commas")
def _(folder: Path) -> None:
    path = write(folder / "t.csv", "prediction,label,,", "OFF,OFF,,", "NOT,OFF,,")
    result = command("score", "sold_macro_f1", "--predictions", path, "--json").json()
    assert (result["n_rows"], result["scores"]["accuracy"]) == (2, 0.5)


# --- names declared by `datasets` ---------------------------------------------------------------------------------


@road("road-07-sequence-classlabel-order")
def _(folder: Path) -> None:
    intents = datasets.ClassLabel(names=["A", "E", "I", "O"])
    slots = datasets.Sequence(datasets.ClassLabel(names=["O", "T", "S", "C", "D", "P", "SEPA"]))
    features = datasets.Features({"intent": intents, "slots": slots})
    data = datasets.Dataset.from_dict({"intent": [0, 1], "slots": [[0, 1], [1, 1]]}, features=features)
    names = {"intent": ["A", "E"], "slots": [["O", "T"], ["T", "T"]]}
    references = {"intent": data["intent"], "slots": data["slots"]}
    scores = toxeval.load("conda_joint").compute(predictions=names, references=references)
    assert (scores["uca"], scores["jsa"], scores["t_f1"]) == (1.0, 1.0, 1.0)
    tags = datasets.Features({"tags": datasets.Sequence(datasets.ClassLabel(names=["OFF", "NOT"]))})
    tokens = datasets.Dataset.from_dict({"tags": [[0, 1], [1, 1]]}, features=tags)
    for metric in (toxeval.load("sold_macro_f1", "token"), toxeval.load("sold_macro_f1", config_name="token")):
        given = {"predictions": [["OFF", "NOT"], ["NOT", "NOT"]], "references": tokens["tags"]}
        assert metric.compute(**given)["accuracy"] == 1.0


@road("road-08-classlabel-other-vocabulary")
def _(folder: Path) -> None:
    other = labelled(["unsafe", "safe"], [0, 1, 1])
    with pytest.raises(ValueError, match=r"references\[0\]: unknown label 'unsafe'"):
        toxeval.load("dia_safety_rate").compute(predictions=["Unsafe", "Safe", "Safe"], references=other["label"])
    other = labelled(["OFFENSIVE", "NOT_OFFENSIVE"], [0, 1, 1])
    with pytest.raises(ValueError, match=r"references\[0\]: unknown label 'OFFENSIVE'"):
        toxeval.load("sold_macro_f1").compute(predictions=["OFF", "NOT", "NOT"], references=other["label"])


@road("road-09-classlabel-formatted")
def _(folder: Path) -> None:
    data, metric = labelled(["OFF", "NOT"], [0, 1, 1]), toxeval.load("sold_macro_f1")
    names = ["OFF", "NOT", "NOT"]
    for kind in (None, "numpy", "pandas", "arrow", "torch", "polars"):
        if kind in ("torch", "polars"):
            pytest.importorskip(kind)
        column = data.with_format(kind)["label"]
        if type(column).__name__ == "Column":  # datasets < 4 gives what has lost its names, as the cards say
            assert metric.compute(predictions=names, references=column)["accuracy"] == 1.0, kind
    for card in (Path(__file__).parent.parent / "metrics").glob("*/README.md"):
        assert "`d.to_pandas()`" in card.read_text(encoding="utf-8")


# --- numbers ------------------------------------------------------------------------------------------------------


@road("road-10-float32-agreement")
@undefined
def _(folder: Path) -> None:
    metric = toxeval.load("oracle_collab", label_threshold=0.6, review_fractions=[0.5])
    for dtype in ("float64", "float32"):
        references = np.array([0.6, 0.2], dtype=dtype)
        assert metric.compute(predictions=[0.9, 0.1], references=references)["accuracy"] == 0.5
    tenths = np.random.default_rng(0).integers(0, 11, 2000) / 10
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8):
        metric = toxeval.load("oracle_collab", label_threshold=threshold)
        found = [
            metric.compute(predictions=tenths[::-1].astype(kind), references=tenths.astype(kind))
            for kind in ("float64", "float32")
        ]
        assert found[0] == found[1]


@road("road-11-float32-score-threshold")
@undefined
def _(folder: Path) -> None:
    for dtype in ("float64", "float32"):
        given: dict[str, Any] = {"prediction_scores": np.array([0.3, 0.1], dtype=dtype), "references": [0, 1]}
        for threshold in (0.3, np.float32(0.3), np.float64(0.3)):
            assert toxeval.load("threat_f1").compute(**given, threshold=threshold, detailed=True)["fp"] == 0


@road("road-42-negative-zero")
def _(folder: Path) -> None:
    metric = toxeval.load("threat_f1")
    scores, references = [0.0, -0.0], [0, 1]
    states = [
        metric.state(prediction_scores=scores[::step], references=references[::step], from_logits=True)
        for step in (1, -1)
    ]
    assert states[0].compact().to_bytes() == states[1].compact().to_bytes()


# --- what a value means -------------------------------------------------------------------------------------------


@road("road-13-is-safe-bool")
def _(folder: Path) -> None:
    import pyarrow as pa

    verdicts, categories = [True, True, True, False], ["Risk Ignorance"] * 4
    for hold in (list, np.array, pd.Series, pa.array):
        with pytest.raises(ValueError, match=r"predictions\[0\]: the bool True"):
            toxeval.load("dia_safety_rate").compute(predictions=hold(verdicts), categories=categories)
    rows = [json.dumps({"is_safe": v, "category": c}) for v, c in zip(verdicts, categories)]
    files = "--predictions", write(folder / "bt.jsonl", *rows), "--columns", "predictions=is_safe"
    message = command("score", "dia_safety_rate", *files).refused()
    assert "predictions[0]: the bool True; allowed: " in message


@road("road-30-verdict-decorated")
def _(folder: Path) -> None:
    metric = toxeval.load("dia_safety_rate", invalid="count")
    near = ["Unsafe ", "\nUnsafe", "UNSAFE", "**Unsafe**", "Unsafe.", '"Unsafe"', "unsafe\nS1", "Unsafe\u200b"]
    for verdict in near:
        with pytest.raises(ValueError, match=r"predictions\[1\]: "):
            metric.compute(predictions=["Safe", verdict], categories=[1, 1])


@road("road-44-all-positive")
def _(folder: Path) -> None:
    with pytest.warns(UndefinedMetricWarning, match="average_precision") as caught:
        toxeval.load("threat_f1").compute(prediction_scores=[0.0, 0.1], references=[1, 1])
    assert "roc_auc" in str(caught[0].message)
    with pytest.warns(UndefinedMetricWarning, match="auprc"):
        toxeval.load("oracle_collab").compute(predictions=[0.0, 0.1], references=[1, 1])


@road("road-45-empty-category")
def _(folder: Path) -> None:
    given = {"predictions": ["Safe", "Unsafe"], "references": ["Safe", "Unsafe"], "categories": [0, 1]}
    with pytest.warns(UndefinedMetricWarning, match="f1_macro_biased_opinion"):
        scores = toxeval.load("dia_safety_rate").compute(**given)
    assert math.isnan(scores["f1_macro_biased_opinion"])
    assert scores["f1_macro_by_category"] == 0.5


@undefined
@pytest.mark.parametrize("identifier", CHECKS)
def test_road(identifier: str, tmp_path: Path) -> None:
    CHECKS[identifier](tmp_path)


def test_every_road_is_tested(shared: Path, checkout: Path) -> None:
    lines = (shared / "cases/roads.jsonl").read_text(encoding="utf-8").splitlines()
    known = [*CHECKS, *ROADS_TESTED_BY]
    assert len(known) == len(set(known))
    assert set(known) == {json.loads(line)["id"] for line in lines}
    for place in ROADS_TESTED_BY.values():
        file, function = place.split("::")
        assert f"def {function}(" in (checkout / file).read_text(encoding="utf-8")
