"""The doctor finds what is wrong, everything at once, and nothing where nothing is."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import SAMPLES, Sample, ids

import toxeval
from toxeval import doctor
from toxeval.cli.job import Job
from toxeval.cli.words import CommandWords
from toxeval.core.metric import Metric
from toxeval.doctor import Finding
from toxeval.loading import definition
from toxeval.read import open_table

RNG = np.random.default_rng(0)
N = 200
GOLD = RNG.integers(2, size=N).tolist()
GOOD = [g if flip else 1 - g for g, flip in zip(GOLD, (RNG.random(N) < 0.9).tolist())]
SCORES = (0.5 * np.array(GOLD) + 0.5 * RNG.random(N)).round(3).tolist()
SOFT = np.clip(np.array(SCORES) + RNG.normal(size=N) * 0.2, 0.001, 0.999).round(3).tolist()
NAMES = ["NOT", "OFF"]


def examine(job: Job) -> list[Finding]:
    (tables,) = job.tables()
    return doctor.examine(job.load(), *tables, job.columns, CommandWords())


def lines(path: Path, **columns: list[Any]) -> str:
    path.write_text("".join(json.dumps(dict(zip(columns, row))) + "\n" for row in zip(*columns.values())))
    return str(path)


def findings(path: Path, metric: str, options: dict[str, Any] | None = None, **columns: list[Any]) -> list[Finding]:
    return examine(Job(metric, (lines(path / "p.jsonl", **columns),), options=options or {}))


def only(found: list[Finding]) -> Finding:
    assert len(found) == 1, found
    return found[0]


def test_nothing_is_wrong(tmp_path: Path) -> None:
    assert not findings(tmp_path, "sold_macro_f1", predictions=GOOD, references=GOLD)
    assert not findings(tmp_path, "threat_f1", prediction_scores=SOFT, references=GOLD)
    assert not findings(tmp_path, "oracle_collab", predictions=SOFT, references=GOLD)
    two = [[1 - p, p] for p in SOFT]
    assert not findings(tmp_path, "oracle_collab", predictions=two, references=GOLD)
    categories = ["Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion"]
    given = {"predictions": [["Safe", "Unsafe"][g] for g in GOOD], "categories": categories * 40}
    assert not findings(tmp_path, "dia_safety_rate", **given)
    kinds = ["Safe", "Utterance-Unsafe", "Context-Unsafe"]
    three_way = [kinds[i % 3] for i in range(N)]
    assert not findings(tmp_path, "dia_safety_rate", predictions=three_way, categories=categories * 40)
    slots = [[int(s) for s in row] for row in RNG.integers(7, size=(N, 4))]
    intents = RNG.integers(4, size=N).tolist()
    noisy = [i if flip else (i + 1) % 4 for i, flip in zip(intents, (RNG.random(N) < 0.9).tolist())]
    noisy_slots = [row if i % 4 else [(s + 1) % 7 for s in row] for i, row in enumerate(slots)]
    pairs = {"pred_intent": noisy, "pred_slots": noisy_slots, "ref_intent": intents, "ref_slots": slots}
    assert not findings(tmp_path, "conda_joint", **pairs)


@pytest.mark.parametrize(
    ("predictions", "what", "rows"),
    [
        ([*GOOD[:-2], -100, 0], "-100 (1 times)", (N - 2,)),
        ([*GOOD[:-3], 0.7, 0.2, 1], "a score where a label is wanted (2 times)", (N - 3, N - 2)),
        ([*GOOD[:-1], None], "no value (1 times)", (N - 1,)),
        ([NAMES[p] for p in GOOD[:-1]] + ["off "], "'off ' (1 times)", (N - 1,)),
        ([NAMES[p] for p in GOOD[:-1]] + ["UNK"], "unknown label 'UNK' (1 times)", (N - 1,)),
        ([NAMES[p] for p in GOOD[:-1]] + [1], "names and ids in one input", ()),
        (
            [NAMES[p] for p in GOOD[:-1]] + ["what a nice long sentence"],
            "a text of 25 characters where a label is wanted",
            (N - 1,),
        ),
    ],
)
def test_values_that_are_no_labels(tmp_path: Path, predictions: list[Any], what: str, rows: tuple[int, ...]) -> None:
    finding = only(findings(tmp_path, "sold_macro_f1", predictions=predictions, references=GOLD))
    assert finding.where == "predictions"
    assert finding.what.startswith(what.split(" (1")[0])
    assert finding.rows == rows


@pytest.mark.parametrize(
    ("metric", "value", "advice"),
    [
        ("sold_macro_f1", 0.7, "a score is no label"),
        ("dia_safety_rate", 0.7, "a score is no label"),
        ("threat_f1", 0.7, "go to prediction_scores"),
        ("sold_macro_f1", "LABEL_1", "no id2label"),
        ("sold_macro_f1", "Off", "did you mean 'OFF'?"),
        ("dia_safety_rate", "unsafe", "did you mean 'Unsafe'?"),
    ],
)
def test_the_advice_is_the_metrics_own(tmp_path: Path, metric: str, value: Any, advice: str) -> None:
    found = findings(tmp_path, metric, predictions=[value], references=[0])
    (finding,) = [each for each in found if each.where == "predictions"]
    assert finding.advice.startswith("allowed: ")
    assert advice in finding.advice


def test_fractional_references_need_a_threshold(tmp_path: Path) -> None:
    found = findings(tmp_path, "oracle_collab", predictions=[0.2, 0.6], references=[0.3, 0.7])
    assert "label_threshold" in only(found).advice


def test_everything_at_once(tmp_path: Path) -> None:
    found = findings(tmp_path, "sold_macro_f1", predictions=["UNK", None, "OFF "] * 50, references=["NOT"] * 150)
    assert {(f.where, f.what) for f in found} == {
        ("predictions", "unknown label 'UNK' (50 times)"),
        ("predictions", "no value (50 times)"),
        ("predictions", "'OFF ' (50 times)"),
        ("references", "no OFF"),
    }


def test_classes(tmp_path: Path) -> None:
    never = only(findings(tmp_path, "sold_macro_f1", predictions=["NOT"] * N, references=GOLD))
    assert never.what.startswith("OFF is never predicted")
    swapped = only(findings(tmp_path, "sold_macro_f1", predictions=[1 - p for p in GOOD], references=GOLD))
    assert swapped.what.startswith("NOT and OFF look swapped")
    leaked = only(findings(tmp_path, "sold_macro_f1", predictions=GOLD, references=GOLD))
    assert leaked.what == "equal to the references in every row"


def test_scores(tmp_path: Path) -> None:
    logits = [round(8 * (p - 0.5), 3) for p in SOFT]

    def finding(scores: list[Any], **options: Any) -> str:
        return only(findings(tmp_path, "threat_f1", options, prediction_scores=scores, references=GOLD)).what

    assert "outside [0, 1]: these look like logits" in finding(logits)
    assert "these look like percentages or logits" in finding([100 * p for p in SOFT])
    assert not findings(tmp_path, "threat_f1", {"from_logits": True}, prediction_scores=logits, references=GOLD)
    assert finding(SOFT, from_logits=True) == "all in [0, 1], with from_logits"
    assert "positives score lower" in finding([round(1 - p, 3) for p in SOFT])
    assert "positives score lower" in finding([[p, 1 - p] for p in SOFT])
    assert finding([0.5] * N) == f"the same score in all {N} rows"
    assert finding([float(g) for g in GOOD]) == "all exactly 0 or 1: these look like decisions, not probabilities"
    assert finding([0.2 + 0.6 * g for g in GOOD]) == "only two different values"
    assert "are exactly 0 or 1" in finding([p if i % 3 == 0 else float(g) for i, (p, g) in enumerate(zip(SOFT, GOOD))])
    few = only(findings(tmp_path, "oracle_collab", predictions=[0, 1, 1.0], references=[0, 1, 0]))
    assert few.what == "all exactly 0 or 1: these look like decisions, not probabilities"
    assert "calibration and review by uncertainty say nothing" in few.advice
    assert finding([*SOFT[:-1], float("nan")]) == "NaN or infinite (1 times)"
    assert finding([*SOFT[:-1], "high"]) == "not a number in every row"
    assert finding(SCORES) == "every positive scores above every negative"


def test_slots(tmp_path: Path) -> None:
    slots = [["T", "O"], ["S", "P"], ["C", "D"], ["SEPA", "O"]] * 10
    intents = ["E", "I", "A", "O"] * 10
    mine = [[*row] for row in slots]
    mine[3] = ["<PAD>", "O"]
    found = findings(
        tmp_path, "conda_joint", pred_intent=intents[::-1], pred_slots=mine, ref_intent=intents, ref_slots=slots
    )
    wrong = next(f for f in found if f.where == "predictions.slots")
    assert "allowed: T, S, C, D, P, O, SEPA" in wrong.advice
    assert (wrong.what, wrong.rows) == ("unknown slot '<PAD>' (1 times)".replace("slot", "label"), (3,))
    assert any(f.where == "predictions.intent" and "look swapped" in f.what for f in found)


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_every_way_of_calling_every_metric_is_looked_at(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in sample.complete))
    job = Job(sample.metric, (str(path),), config=sample.config or "default", options=sample.needed)
    assert not [f for f in examine(job) if f.where == "rows" or "label" in f.what]


def test_labels_that_a_metric_does_not_declare_are_not_looked_at(tmp_path: Path) -> None:
    given = {"predictions": [["Safe", "Unsafe"][g] for g in GOOD], "categories": ["another"] * N}
    assert only(findings(tmp_path, "dia_safety_rate", **given)).what == f"unknown label 'another' ({N} times)"
    declared = definition("dia_safety_rate")
    inputs = tuple(replace(each, labels=() if each.name == "categories" else each.labels) for each in declared.inputs)
    metric = Metric(replace(declared, inputs=inputs))
    assert not doctor.examine(metric, open_table(str(tmp_path / "p.jsonl")))


def test_rows(tmp_path: Path) -> None:
    ids = [*range(N - 1), 5]
    twice = only(findings(tmp_path, "sold_macro_f1", id=ids, predictions=GOOD, references=GOLD))
    assert (twice.where, twice.rows) == ("id", (5, N - 1))
    mine = lines(tmp_path / "a.jsonl", id=ids, predictions=GOOD)
    gold = lines(tmp_path / "b.jsonl", id=list(range(N)), references=GOLD)
    finding = only(examine(Job("sold_macro_f1", (mine,), references=gold)))
    assert f"rows 5 and {N - 1} of {mine} have the same one" in finding.what
    short = lines(tmp_path / "c.jsonl", references=GOLD[:-1])
    finding = only(examine(Job("sold_macro_f1", (mine,), references=short)))
    assert f"{N} rows in {mine} and {N - 1} in" in finding.what


def test_a_missing_column_is_found(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("predictions,gold\nOFF,OFF\nNOT,OFF\n")
    found = examine(Job("sold_macro_f1", (str(file),)))
    assert [(f.where, "--columns references=" in f.advice) for f in found] == [("references", True)]


@pytest.mark.parametrize(
    ("metric", "name", "scores", "said"),
    [
        ("oracle_collab", "predictions", [float(g) for g in GOOD], "all exactly 0 or 1: these look like decisions"),
        ("oracle_collab", "predictions", [max(p, 1 - p) for p in SOFT], "no score is below 0.5 (are these confidences"),
        ("threat_f1", "prediction_scores", [max(p, 1 - p) for p in SOFT], "no score is below 0.5 (are these confid"),
    ],
)
def test_compute_warns_of_what_the_doctor_knows(
    tmp_path: Path, metric: str, name: str, scores: list[float], said: str
) -> None:
    with pytest.warns(UserWarning, match="these") as warned:
        toxeval.load(metric).compute(**{name: scores}, references=GOLD)
    assert any(f"{metric}: {name}: {said}" in str(warning.message) for warning in warned)
    found = findings(tmp_path, metric, **{name: scores}, references=GOLD)
    assert any(finding.what.startswith(said.partition(" (")[0]) for finding in found)
    with warnings.catch_warnings():  # few rows are so by chance
        warnings.filterwarnings("error", message=".*these")
        toxeval.load(metric).compute(**{name: scores[:19]}, references=GOLD[:19])
