"""sold_macro_f1 against the paper's definitions, scikit-learn, and figures from the real test split."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.sold_macro_f1 import sold_macro_f1 as plain
from samples import SKLEARN_ZERO_DIVISION, SOLD, assert_same, rows_of_counts
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

PAIRS = st.lists(st.tuples(st.sampled_from(SOLD), st.sampled_from(SOLD)), min_size=1, max_size=30)
ZERO_DIVISION = st.sampled_from([0.0, 1.0, math.nan])
POSTS = st.lists(st.lists(st.tuples(st.sampled_from(SOLD), st.sampled_from(SOLD)), max_size=6), min_size=1, max_size=8)


@given(PAIRS, ZERO_DIVISION, st.booleans())
def test_every_key_is_what_plain_loops_count(pairs: list, zero_division: float, detailed: bool) -> None:
    predictions, references = map(list, zip(*pairs))
    options = {"zero_division": zero_division, "detailed": detailed}
    found = toxeval.load("sold_macro_f1").compute(predictions=predictions, references=references, **options)
    assert_same(found, plain(predictions, references, **options))


@given(POSTS, ZERO_DIVISION, st.booleans())
def test_token_config_scores_all_tokens_of_all_posts(posts: list, zero_division: float, detailed: bool) -> None:
    predictions = [[p for p, _ in post] for post in posts]
    references = [[r for _, r in post] for post in posts]
    options = {"zero_division": zero_division, "detailed": detailed}
    found = toxeval.load("sold_macro_f1", "token").compute(predictions=predictions, references=references, **options)
    assert_same(found, plain(sum(predictions, []), sum(references, []), **options))


@given(PAIRS, SKLEARN_ZERO_DIVISION)
def test_scikit_learn_agrees(pairs: list, zero_division: float) -> None:
    predictions, references = map(list, zip(*pairs))
    found = toxeval.load("sold_macro_f1").compute(
        predictions=predictions, references=references, zero_division=zero_division, detailed=True
    )
    common = {"labels": list(SOLD), "zero_division": zero_division}
    wanted = {"accuracy": accuracy_score(references, predictions)}
    by_class = precision_recall_fscore_support(references, predictions, average=None, **common)
    weighted = precision_recall_fscore_support(references, predictions, average="weighted", **common)
    for kind, of_class, of_all in zip(("precision", "recall", "f1", "support"), by_class, weighted):
        wanted |= {f"{kind}_{label}": value for label, value in zip(SOLD, of_class)}
        if kind != "support":
            wanted[f"{kind}_weighted"] = of_all
    wanted["f1_macro"] = precision_recall_fscore_support(references, predictions, average="macro", **common)[2]
    counts = confusion_matrix(references, predictions, labels=list(SOLD)).ravel()
    assert_same(found, wanted | dict(zip(("tn", "fp", "fn", "tp"), counts)))


@pytest.mark.parametrize(
    ("counts", "figures"),
    [
        (
            {"tp": 0, "fp": 0, "fn": 1015, "tn": 1485},  # everything NOT
            {"f1_NOT": 0.745295, "f1_OFF": 0, "f1_macro": 0.372647}
            | {"precision_weighted": 0.352836, "recall_weighted": 0.594, "f1_weighted": 0.442705},
        ),
        (
            {"tp": 416, "fp": 440, "fn": 599, "tn": 1045},
            {"f1_NOT": 0.667945, "f1_OFF": 0.444682, "f1_weighted": 0.577300, "f1_macro": 0.556314},
        ),
    ],
)
def test_figures_of_the_test_split(counts: dict[str, int], figures: dict[str, float]) -> None:
    predictions, references = rows_of_counts(**counts)
    found = toxeval.load("sold_macro_f1").compute(predictions=predictions, references=references, detailed=True)
    assert {key: round(found[key], 6) for key in figures} == figures
    assert {key: found[key] for key in counts} == counts
    assert (found["support_OFF"], found["support_NOT"]) == (1015, 1485)


def test_file_in_the_benchmarks_format(shipped: Path) -> None:
    with open(shipped / "sold/synthetic_SOLD_test.tsv", encoding="utf-8", newline="") as file:
        posts = list(csv.DictReader(file, delimiter="\t"))
    labels = [post["label"] for post in posts]
    found = toxeval.load("sold_macro_f1").compute(predictions=labels, references=[0] * len(labels), detailed=True)
    assert found["fp"] == labels.count("OFF")
    assert found["tn"] == labels.count("NOT")

    lengths = [len(post["tokens"].split(" ")) for post in posts]
    rationales = [json.loads(post["rationales"]) for post in posts]
    gold = [rationale or [0] * length for rationale, length in zip(rationales, lengths)]  # none: all 0
    nothing = [[0] * length for length in lengths]
    found = toxeval.load("sold_macro_f1", "token").compute(predictions=nothing, references=gold, detailed=True)
    assert found["support_OFF"] == sum(map(sum, rationales))
    assert found["support_OFF"] + found["support_NOT"] == sum(lengths)


def test_padding_is_left_out_on_both_sides() -> None:
    metric = toxeval.load("sold_macro_f1", "token")
    ragged = metric.compute(predictions=[[1, 0], [1]], references=[[1, 1], [0]])
    padded_references = np.array([[1, 1, -100], [0, -100, -100]])
    for filler in (-100, 0, 1):  # the Trainer's padding, and what an argmax makes of it
        padded = np.array([[1, 0, filler], [1, filler, filler]])
        assert metric.compute(predictions=padded, references=padded_references) == ragged
    inside = metric.compute(predictions=[[0, 1, 0], [1]], references=[[-100, 1, 1], [0]])
    assert inside == ragged


def test_posts_without_a_token() -> None:
    metric = toxeval.load("sold_macro_f1", "token")
    with_empty = metric.compute(predictions=[[], ["OFF"]], references=[[], ["OFF"]])
    assert with_empty == metric.compute(predictions=[["OFF"]], references=[["OFF"]])
    nothing_at_all = metric.compute(predictions=[[], []], references=[[], []])
    assert math.isnan(nothing_at_all["accuracy"])
    assert nothing_at_all["f1_macro"] == 0.0


def test_one_warning_names_the_undefined_keys_and_why() -> None:
    with pytest.warns(UserWarning, match="sold_macro_f1: undefined: ") as caught:
        toxeval.load("sold_macro_f1").compute(predictions=["NOT"], references=["NOT"])
    (warning,) = caught
    assert warning.category.__name__ == "UndefinedMetricWarning"
    text = str(warning.message)
    assert "precision_OFF (no prediction is OFF, set to 0.0)" in text
    assert "recall_OFF (no reference is OFF, set to 0.0)" in text
    assert "f1_OFF" in text
    assert "NOT" not in text.replace("precision_OFF", "")
    assert warning.filename == __file__
