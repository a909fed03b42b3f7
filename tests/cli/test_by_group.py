"""Scores by group in the command: those of ``compute_by``, from any file, and refused with the row of the file."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import toxeval
from samples import SAMPLES, Sample, columns, ids

from toxeval.loading import plain
from toxeval.pictures import groups_picture
from toxeval.systems import compare

RNG = np.random.default_rng(5)
N = 240
GROUPS = RNG.choice(["en", "si", "ta", "rare"], N, p=[0.4, 0.3, 0.28, 0.02]).tolist()
GOLD = RNG.integers(0, 2, N).tolist()
A, B = ([int(y ^ (u < wrong)) for y, u in zip(GOLD, RNG.random(N))] for wrong in (0.3, 0.1))
FLAGS = {"female": RNG.integers(0, 2, N).tolist(), "male": RNG.integers(0, 2, N).tolist()}


def lines(path: Path, **values: list[Any]) -> Path:
    path.write_text("".join(json.dumps(dict(zip(values, row))) + "\n" for row in zip(*values.values())))
    return path


def table(path: Path, **values: list[Any]) -> Path:
    rows = [values, *zip(*values.values())]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def as_json(value: Any) -> Any:
    """As a result file has it: nan is null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_every_metric_by_group_as_in_python(sample: Sample, tmp_path: Path) -> None:
    rows = sample.complete * 12
    groups = [("x", "y", None)[i % 3] for i in range(len(rows))]
    path = lines(tmp_path / "p.jsonl", **columns(rows), team=groups)
    config = ["--config", sample.config] if sample.config else []
    options = [f"--option={name}={json.dumps(value)}" for name, value in sample.needed.items()]
    found = toxeval("score", sample.metric, *config, *options, "--predictions", path, "--by", "team", "--json").json()
    wanted = plain(sample.metric, sample.config, **sample.needed).compute_by(groups, **columns(rows))
    whole = as_json(wanted.to_dict())
    assert found["scores"] == whole.pop("all")
    assert found["groups"] == {"by": ["team"], **whole}


def test_columns_of_yes_and_no_and_intervals(tmp_path: Path) -> None:
    path = table(
        tmp_path / "p.csv",
        prediction_scores=[0.7 if p else 0.2 for p in A],
        references=GOLD,
        female=["yes" if flag else "no" for flag in FLAGS["female"]],
        male=FLAGS["male"],
    )
    run = ["score", "threat_f1", "--predictions", path, "--by", "female", "--by", "male", "--confidence", "0.9"]
    found = toxeval(*run, "--key", "recall_threat", "--json").json()
    metric = plain("threat_f1")
    inputs = {"prediction_scores": [0.7 if p else 0.2 for p in A], "references": GOLD}
    wanted = metric.compute_by(FLAGS, key="recall_threat", confidence_level=0.9, **inputs)
    assert found["groups"]["gap"] == as_json(wanted.to_dict()["gap"])
    assert [each["aucs"] for each in found["groups"]["groups"]] == [as_json(a._asdict()) for a in wanted.aucs.values()]
    text = toxeval(*run).out
    assert "power mean" in text
    assert "p (Holm)" in text
    assert "gap of f1_macro" in text


def test_groups_may_stand_beside_the_references(tmp_path: Path) -> None:
    own = table(tmp_path / "p.csv", id=range(N), prediction=A)  # type: ignore[arg-type]
    order = RNG.permutation(N)
    parts = {"id": np.arange(N), "label": np.array(GOLD), "language": np.array(GROUPS)}
    gold = table(tmp_path / "r.csv", **{name: values[order].tolist() for name, values in parts.items()})
    run = ["score", "sold_macro_f1", "--predictions", own, "--references", gold, "--by", "language"]
    found = toxeval(*run, "--json").json()
    wanted = plain("sold_macro_f1").compute_by(GROUPS, predictions=A, references=GOLD)
    scores = {each["group"]: each["scores"] for each in found["groups"]["groups"]}
    assert scores == as_json(wanted.groups)
    assert scores["rare"] is None
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps(found))
    again = ["verify", saved, "--predictions", own, "--references", gold]
    assert toxeval(*again).out.startswith("match")
    found["groups"]["groups"][0]["scores"]["f1_macro"] += 0.01
    saved.write_text(json.dumps(found))
    assert "f1_macro of group en" in toxeval(*again).out


def test_an_empty_cell_is_a_group_without_a_name(tmp_path: Path) -> None:
    path = table(tmp_path / "p.csv", prediction=A, label=GOLD, language=["" if i % 2 else "en" for i in range(N)])
    found = toxeval("score", "sold_macro_f1", "--predictions", path, "--by", "language", "--json").json()
    assert [each["group"] for each in found["groups"]["groups"]] == ["en", None]
    assert "(none)" in toxeval("score", "sold_macro_f1", "--predictions", path, "--by", "language", "--markdown").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "nope"], "by nope: no such column; allowed: one of the columns prediction, label, language, share"),
        (["--by", "language", "--by", "language"], "by language: named twice"),
        (["--by", "language", "--by", "share"], "by language[0]: '"),
        (["--by", "share", "--by", "prediction"], "by share[3]: '0.5'; allowed: yes and no"),
        (["--by", "language", "--key", "f1"], "option key: 'f1'"),
        (["--by", "language", "--min-rows", "0"], "option min_rows: 0"),
        (["--by", "language", "--human", "x.csv"], "groups and a correction"),
        (["--min-rows", "3"], "--min-rows is for --by"),
        (["--key", "accuracy"], "--key is for --by"),
    ],
)
def test_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    share = [0.5 if i == 3 else 1 for i in range(N)]
    path = table(tmp_path / "p.csv", prediction=A, label=GOLD, language=GROUPS, share=share)
    assert message in toxeval("score", "sold_macro_f1", "--predictions", path, *arguments).refused()


def test_names_in_latex_and_two_groups_without_a_name(tmp_path: Path) -> None:
    names = [("a_b {c}$~^\\", None, math.nan, "x" * 70)[i % 4] for i in range(N)]
    found = plain("sold_macro_f1").compute_by(names, predictions=A, references=GOLD, confidence_level=0.9)
    shown = groups_picture(found).data["scores"]
    assert [name for name, *_ in shown].count("(none)") == 2
    path = table(tmp_path / "p.csv", prediction=A, label=GOLD, language=["a_b {c}$~^\\" for _ in names])
    text = toxeval("score", "sold_macro_f1", "--predictions", path, "--by", "language", "--latex").out
    assert r"a\_b \{c\}\$\textasciitilde{}\textasciicircum{}\textbackslash{} &" in text


def test_one_file_is_scored_by_group(tmp_path: Path) -> None:
    path = table(tmp_path / "p.csv", prediction=A, label=GOLD, language=GROUPS)
    message = toxeval("score", "sold_macro_f1", "--predictions", path, path, "--by", "language").refused()
    assert "2 files; allowed: one, to score by group" in message


def test_systems_are_compared_in_each_group(tmp_path: Path) -> None:
    first = table(tmp_path / "a.csv", prediction=A, label=GOLD, language=GROUPS)
    second = table(tmp_path / "b.csv", prediction=B, label=GOLD)
    run = ["compare", "sold_macro_f1", "--predictions", first, second, "--by", "language", "--key", "accuracy"]
    found = toxeval(*run, "--json").json()["groups"]["comparisons"]["b"]
    assert [each["group"] for each in found] == ["en", "rare", "si", "ta"]
    p_values = []
    for each in found:
        rows = [i for i, name in enumerate(GROUPS) if name == each["group"]]
        assert each["n_rows"] == len(rows)
        if len(rows) < 10:
            assert not each["comparisons"]
            continue
        a, b, gold = ([values[i] for i in rows] for values in (A, B, GOLD))
        wanted = compare("sold_macro_f1", b, a, gold, keys=["accuracy"])["accuracy"].to_dict()
        assert {key: each["comparisons"]["accuracy"][key] for key in wanted} == as_json(wanted)
        p_values.append((each["comparisons"]["accuracy"]["p_value"], each["comparisons"]["accuracy"]["p_holm"]))
    largest = 0.0
    for i, (p, corrected) in enumerate(sorted(p_values)):  # Holm (1979)
        largest = max(largest, min(1.0, (len(p_values) - i) * p))
        assert math.isclose(corrected, largest)
    text = toxeval(*run).out
    assert "p (Holm)" in text
    assert "all rows" in text
    assert "rare" in text


def test_pictures_of_groups(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = table(tmp_path / "p.csv", prediction=A, label=GOLD, language=GROUPS)
    out = tmp_path / "p.svg"
    assert toxeval("plot", "sold_macro_f1", "--predictions", path, "--by", "language", "--out", out).status == 0
    texts = out.read_text()
    assert all(f">{name}<" in texts for name in ("en", "si", "ta", "f1_macro", f"all {N} rows"))
    assert ">rare<" not in texts
    message = toxeval(
        "plot", "sold_macro_f1", "--predictions", path, "--by", "language", "--min-rows", "999", "--out", out
    )
    assert "no group of so many rows" in message.refused()
