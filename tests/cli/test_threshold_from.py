"""``--threshold-from``: chosen on one file, scored on another, both in the signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import toxeval

import toxeval as package

TEST = {"prediction_scores": [0.9, 0.45, 0.35, 0.1], "references": [1, 1, 0, 0]}
VALIDATION = {"prediction_scores": [0.9, 0.4, 0.3, 0.2], "references": [1, 0, 1, 0]}
RULES = {
    (): {},
    ("--maximise", "f1_macro"): {"maximise": "f1_macro"},
    ("--recall-at-least", "0.9"): {"recall_at_least": 0.9},
    ("--precision-at-least", "0.9"): {"precision_at_least": 0.9},
}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Arguments of the command in this folder."""
    for name, columns in {"test.jsonl": TEST, "valid.jsonl": VALIDATION}.items():
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["--predictions", str(tmp_path / "test.jsonl"), "--threshold-from", str(tmp_path / "valid.jsonl")]


@pytest.mark.parametrize("given", RULES)
def test_scores_are_those_at_the_threshold_of_the_validation_rows(
    tmp_path: Path, files: list[str], given: tuple[str, ...]
) -> None:
    metric = package.load("threat_f1")
    threshold = metric.choose_threshold(**VALIDATION, **RULES[given])  # type: ignore[arg-type]
    answer = toxeval("score", "threat_f1", *files, *given, "--detailed", "--json")
    result = answer.json()
    assert result["scores"] == metric.compute(**TEST, threshold=threshold, detailed=True)
    assert result["scores"]["threshold"] == threshold
    # both files are in the signature, and the rule
    alone = toxeval("score", "threat_f1", *files[:2], "--option", f"threshold={threshold}", "--json").json()
    assert alone["sha256"] == result["sha256"]
    key, value = [*RULES[given].items(), ("maximise", "f1_threat")][0]
    assert f"|threshold_by:{key}={value}|validation_rows:4|validation_sha256:" in result["signature"]
    saved = tmp_path / "result.json"
    saved.write_text(answer.out)
    assert toxeval("verify", saved, *files).status == 0
    assert "chosen on validation rows, which aren't given" in toxeval("verify", saved, *files[:2]).refused()
    valid = tmp_path / "valid.jsonl"
    valid.write_text(valid.read_text().replace("0.9", "0.95"))
    differs = toxeval("verify", saved, *files)
    assert (differs.status, "validation rows" in differs.out) == (1, True)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--option", "threshold=0.3"], "given, and to be chosen"),
        (["--maximise", "f1_macro", "--recall-at-least", "1"], "maximise and recall_at_least"),
        (["--predictions", "other.jsonl"], "several files"),
        (["--recall-at-least", "2"], "2.0; allowed: a number above 0, up to 1"),
    ],
)
def test_what_is_refused(files: list[str], more: list[str], message: str) -> None:
    assert message in toxeval("score", "threat_f1", *files, *more).refused()


def test_the_rows_that_are_scored_choose_no_threshold(files: list[str]) -> None:
    message = toxeval("score", "threat_f1", *files[:2], "--threshold-from", files[1]).refused()
    assert "a threshold chosen with the labels it is scored on is no result" in message
    assert (
        "--maximise is for --threshold-from" in toxeval("score", "threat_f1", *files[:2], "--maximise", "f1").refused()
    )
    assert "no threshold that could be chosen" in toxeval("score", "sold_macro_f1", *files).refused()
