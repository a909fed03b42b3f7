"""``--answers`` and ``--alias``: the same as `read_answers` before ``compute``, and named in the signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from answers import ALIASES, ANSWERS, RULES, SAFETY, SOLD
from command import toxeval

import toxeval as package
from toxeval.answers import read_answers


@pytest.mark.filterwarnings("ignore:.*undefined")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("metric", "labels"), [("sold_macro_f1", SOLD), ("dia_safety_rate", SAFETY)])
def test_the_command_reads_answers_as_python_does(
    tmp_path: Path, metric: str, labels: tuple[str, ...], rule: str
) -> None:
    texts = [text for each, text, _ in ANSWERS if each == labels] + [f"{label}" for label in labels]
    gold = [labels[i % 2] for i in range(len(texts))]
    rows = [{"predictions": text, "references": label} for text, label in zip(texts, gold)]
    path = tmp_path / "said.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    given = ["--answers", rule, "--option", "invalid=count"]
    for word, label in ALIASES[labels].items():
        given += ["--alias", f"{word}={label}"]
    answer = toxeval("score", metric, "--predictions", path, *given, "--json")
    predictions = read_answers(texts, labels, rule, aliases=ALIASES[labels])
    expected = package.load(metric).compute(predictions=predictions, references=gold, invalid="count")
    result = answer.json()
    assert result["scores"] == expected
    assert result["answers"] == {"rule": rule, "aliases": ALIASES[labels]}
    assert "|answers:" in result["signature"]
    assert "|aliases:" in result["signature"]
    saved = tmp_path / "result.json"
    saved.write_text(answer.out, encoding="utf-8")
    assert toxeval("verify", saved, "--predictions", path).status == 0


@pytest.mark.parametrize(
    ("metric", "arguments", "message"),
    [
        ("sold_macro_f1", ["--answers", "guess"], "allowed: exact, first_line, last_line, json:FIELD, regex:PATTERN"),
        ("sold_macro_f1", ["--answers", "regex:("], "not a regular expression"),
        ("sold_macro_f1", ["--answers", "exact", "--alias", "bad=BAD"], "stands for"),
        ("sold_macro_f1", ["--answers", "exact", "--alias", "off"], "is not NAME=VALUE"),
        ("sold_macro_f1", ["--answers", "exact"], "no_label"),
        ("sold_macro_f1", ["--alias", "bad=OFF"], "--answers"),
        ("conda_joint", ["--answers", "exact"], "its predictions are no single labels"),
        ("oracle_collab", ["--answers", "exact"], "its predictions are no single labels"),
    ],
)
def test_what_is_refused(tmp_path: Path, metric: str, arguments: list[str], message: str) -> None:
    (tmp_path / "p.csv").write_text("predictions,references\nOFF,NOT\nI can't say,OFF\n")
    refused = toxeval("score", metric, "--predictions", tmp_path / "p.csv", *arguments).refused()
    assert message in refused
