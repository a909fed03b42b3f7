"""Inputs that broke other tools, one test each: sold_macro_f1, threat_f1, and what concerns all modules.

The cases lie in the folder of real data; cases_elsewhere.py lists those that other files test, and those that don't
apply. Key and option names inside the cases are not ours.
"""

import ast
import importlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases_elsewhere import NOT_APPLICABLE, TESTED_BY
from sklearn.exceptions import UndefinedMetricWarning

import toxeval

undefined = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
CHECKS: dict[str, Callable[[dict, dict], None]] = {}


def case(identifier: str) -> Callable[[Callable], Callable]:
    def keep(check: Callable) -> Callable:
        CHECKS[identifier] = check
        return check

    return keep


def compute(name: str, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any]:
    return toxeval.load(name).compute(predictions=predictions, references=references, detailed=True, **kwargs)


def threat(given: dict, **options: Any) -> dict[str, Any]:
    scores = {"prediction_scores": given["scores"]} if "scores" in given else {}
    return compute("threat_f1", given.get("predictions"), given["references"], **scores, **options)


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(ValueError, match="^[a-z0-9_]+: ") as caught:
        call()
    return str(caught.value)


@case("label-01-string-labels")
def _(given: dict, expected: dict) -> None:
    scores = compute("sold_macro_f1", given["predictions"], given["references"])
    assert scores["f1_macro"] == pytest.approx(expected["values"]["macro_f1"])
    for label in ("OFF", "NOT"):
        for kind, value in expected["values"][label].items():
            assert scores[f"{kind}_{label}"] == pytest.approx(value)


@case("label-02-ids-equal-names")
def _(given: dict, expected: dict) -> None:
    assert compute("sold_macro_f1", **given["call_a"]) == compute("sold_macro_f1", **given["call_b"])


@case("label-03-mixed-types")
def _(given: dict, expected: dict) -> None:
    assert compute("sold_macro_f1", given["predictions"], given["references"])["f1_macro"] == 1.0


@case("label-04-float-truncation")
def _(given: dict, expected: dict) -> None:
    message = refusal(lambda: threat(given))
    assert all(words in message for words in expected["message_mentions"])


@case("label-05-unknown-predicted-label")
def _(given: dict, expected: dict) -> None:
    message = refusal(lambda: compute("sold_macro_f1", given["predictions"], given["references"]))
    assert "predictions[1]: unknown label 'UNK'; allowed: NOT, OFF" in message


@case("label-07-class-absent-both-sides")
def _(given: dict, expected: dict) -> None:
    predictions, references = given["predictions"], given["references"]
    for zero_division, f1_macro in [(0.0, 0.5), (math.nan, 1.0)]:
        with pytest.warns(UndefinedMetricWarning, match="f1_OFF") as caught:
            scores = compute("sold_macro_f1", predictions, references, zero_division=zero_division)
        assert len(caught) == 1
        assert scores["f1_macro"] == f1_macro


@case("label-10-reference-drops-class")
def _(given: dict, expected: dict) -> None:
    scores = compute("sold_macro_f1", given["predictions"], given["references"])
    values = expected["values"]
    assert scores["f1_macro"] == pytest.approx(values["macro_f1"])
    assert scores["f1_weighted"] == pytest.approx(values["weighted_f1"])
    for label in ("OFF", "NOT"):
        assert {k: scores[f"{k}_{label}"] for k in values[label]} == pytest.approx(values[label])


@case("label-11-confusion-shape")
def _(given: dict, expected: dict) -> None:
    with pytest.warns(UndefinedMetricWarning, match="precision_threat.*recall_threat.*f1_threat"):
        scores = threat(given)
    assert {key: scores[key] for key in ("tn", "fp", "fn", "tp")} == expected["values"]


@case("label-12-eval-crash-all-one-class")
def _(given: dict, expected: dict) -> None:
    scores = threat(given)
    assert scores["precision_threat"] == scores["recall_threat"] == scores["f1_threat"] == 1.0
    assert scores["f1_macro"] == 0.5


@case("label-13-zero-division-nan")
def _(given: dict, expected: dict) -> None:
    scores = compute("sold_macro_f1", given["predictions"], given["references"], zero_division=math.nan)
    assert all(math.isnan(scores[key]) for key in ("precision_OFF", "recall_OFF", "f1_OFF"))
    assert scores["f1_macro"] == 1.0


@case("label-14-all-negative-convention")
def _(given: dict, expected: dict) -> None:
    with pytest.warns(UndefinedMetricWarning, match="precision_threat") as caught:
        scores = threat(given)
    assert "recall_threat" not in str(caught[0].message)
    assert "f1_threat" not in str(caught[0].message)
    assert scores["recall_threat"] == scores["f1_threat"] == 0.0


@case("label-15-nan-is-not-a-score")
def _(given: dict, expected: dict) -> None:
    for zero_division in (0.0, 1.0, math.nan):
        with pytest.warns(UndefinedMetricWarning, match="f1_threat"):
            scores = threat(given, zero_division=zero_division)
        assert repr(scores["f1_threat"]) == repr(zero_division)


@case("label-21-per-split-encoder")
def _(given: dict, expected: dict) -> None:
    metric = toxeval.load("sold_macro_f1")
    for split in given.values():
        ids = metric.encode(predictions=split, references=split)["references"]
        assert [int(i) for i in ids] == [("NOT", "OFF").index(label) for label in split]


@case("auc-01-single-class")
@case("auc-02-handmade-fallbacks")
def _(given: dict, expected: dict) -> None:
    with pytest.warns(UndefinedMetricWarning, match="roc_auc"):
        scores = threat(given)
    assert math.isnan(scores["roc_auc"])
    assert scores["accuracy"] == 1.0
    assert scores["tp"] + scores["tn"] == 2


@case("auc-07-ap-string-labels")
def _(given: dict, expected: dict) -> None:
    assert "unknown label 'No'; allowed: non-threat, threat" in refusal(lambda: threat(given))
    ours = {"No": "non-threat", given["positive_label"]: "threat"}
    scores = threat(given | {"references": [ours[label] for label in given["references"]]})
    assert (scores["roc_auc"], scores["average_precision"]) == (1.0, 1.0)


@case("auc-08-batchwise-sigmoid")
def _(given: dict, expected: dict) -> None:
    assert "(or from_logits=True)" in refusal(lambda: threat(given))  # nothing is guessed from the range
    assert threat(given, from_logits=True)["roc_auc"] == expected["values"]["roc_auc"]
    metric = toxeval.load("threat_f1", from_logits=True)
    for score, reference in zip(given["scores"], given["references"]):
        metric.add(prediction_scores=score, reference=reference)
    assert metric.compute(detailed=True) == threat(given, from_logits=True)


@case("auc-09-logits-inside-unit")
def _(given: dict, expected: dict) -> None:
    scores = threat(given, from_logits=True, threshold=given["threshold"])
    assert scores["recall_threat"] == expected["values"]["recall"]


@case("auc-10-saturation")
def _(given: dict, expected: dict) -> None:
    assert threat(given, from_logits=True)["roc_auc"] == expected["values"]["roc_auc"]


@case("auc-11-two-column-probs")
def _(given: dict, expected: dict) -> None:
    assert threat(given)["roc_auc"] == expected["values"]["roc_auc"]


@case("auc-13-tied-threshold")
def _(given: dict, expected: dict) -> None:
    assert threat(given)["best_f1_threat"] == expected["values"]["best_f1"]


@case("auc-15-float32-edge")
def _(given: dict, expected: dict) -> None:
    assert threat(given, threshold=given["threshold"])["recall_threat"] == expected["values"]["recall"]


@case("auc-16-agreement-threshold")
def _(given: dict, expected: dict) -> None:
    soft = given["soft_labels"]
    assert "label_threshold" in refusal(lambda: compute("oracle_collab", [0.1, 0.9, 0.9], soft))
    at_least_half = {"label_threshold": np.nextafter(0.5, 0)}  # ours is strict: at least is just above the one below
    assert compute("oracle_collab", [0.1, 0.9, 0.9], soft, **at_least_half)["accuracy"] == 1.0


@case("out-03-ndarray")
def _(given: dict, expected: dict) -> None:
    scores = compute("sold_macro_f1", ["OFF", "NOT"], ["OFF", "NOT"])
    assert type(scores["f1_OFF"]) is float


@case("out-07-nan-in-json")
def _(given: dict, expected: dict) -> None:  # nan, named by a warning: the key stays and no value is invented
    with pytest.warns(UndefinedMetricWarning, match="roc_auc"):
        scores = threat(given)
    assert math.isnan(json.loads(json.dumps(scores))["roc_auc"])


@case("out-09-dependency-drift")
@case("load-01-offline")
def _(given: dict, expected: dict) -> None:
    compute_without_network_and_scikit_learn()


@cache
def compute_without_network_and_scikit_learn() -> None:
    code = """
import socket, sys
def no(*args): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = no
sys.modules["sklearn"] = None
import toxeval
assert toxeval.load("sold_macro_f1").compute(predictions=[0, 1], references=[0, 1])["f1_macro"] == 1.0
assert toxeval.load("threat_f1").compute(prediction_scores=[0.1, 0.9], references=[0, 1])["roc_auc"] == 1.0
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@case("load-10-mismatch-message")
def _(given: dict, expected: dict) -> None:
    message = refusal(lambda: compute("sold_macro_f1", given["predictions"], given["references"]))
    assert "predictions and references: 1 and 2 rows" in message
    assert len(message) < expected["message_length_under"]


@case("load-11-two-dimensional")
def _(given: dict, expected: dict) -> None:
    message = refusal(lambda: compute("sold_macro_f1", np.array(given["predictions"]), given["references"]))
    assert all(words in message for words in expected["message_mentions"])
    assert "argmax" in refusal(lambda: compute("sold_macro_f1", given["predictions"], given["references"]))


@case("load-12-multilabel-config")
def _(given: dict, expected: dict) -> None:
    for hold in (list, np.array):
        message = refusal(lambda hold=hold: threat({k: hold(v) for k, v in given.items() if k != "metric"}))
        assert "column" in message


@case("load-15-unmaintained-base")
def _(given: dict, expected: dict) -> None:
    for name in ("inputs", "labels", "ranking", "scoring"):
        tree = ast.parse(Path(importlib.import_module(f"toxeval.core.{name}").__file__).read_text())
        imported = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert not [line for line in imported if "evaluate" in line or "datasets" in line]


@case("batch-04-duplicate-tail")
@case("batch-05-gather")
def _(given: dict, expected: dict) -> None:  # states say how many rows they stand for; nothing drops duplicates
    metric = toxeval.load("sold_macro_f1")
    rows = np.arange(given.get("n", len(given.get("ids", [])))) % 2
    parts = np.array_split(rows, given.get("processes", given.get("world_size")))
    states = [metric.state(predictions=part, references=part[::-1]) for part in parts]
    whole = metric.state(predictions=rows, references=np.concatenate([part[::-1] for part in parts]))
    merged = sum(states[1:], states[0])
    assert merged.n_rows == whole.n_rows == len(rows)
    assert metric.score_state(merged) == metric.score_state(whole)


@pytest.fixture(scope="module")
def cases(shipped: Path) -> dict[str, dict]:
    lines = (shipped / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


@undefined
@pytest.mark.parametrize("identifier", CHECKS)
def test_case(identifier: str, cases: dict[str, dict]) -> None:
    CHECKS[identifier](cases[identifier]["input"], cases[identifier]["expected"])


def test_every_case_is_tested_once_or_has_a_reason(cases: dict[str, dict], checkout: Path) -> None:
    known = [*CHECKS, *TESTED_BY, *NOT_APPLICABLE]
    assert len(known) == len(set(known))
    assert set(known) == set(cases)
    for identifier, place in TESTED_BY.items():
        file, function = place.split("::")
        text = (checkout / file).read_text(encoding="utf-8")
        assert f"def {function}(" in text
        if "case" in function:
            assert identifier in text or function.startswith(f"test_case_{identifier.replace('-', '_')}"), identifier
