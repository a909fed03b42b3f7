"""threat_f1 against the paper's definitions, scikit-learn, and figures at the real test size."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from plain.classes import class_scores
from plain.threat_f1 import decide, sigmoid
from plain.threat_f1 import threat_f1 as plain
from samples import SKLEARN_ZERO_DIVISION, assert_same, close, probabilities, rows_of_counts
from sklearn.metrics import average_precision_score, precision_recall_fscore_support, roc_auc_score

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

BITS = st.sampled_from([0, 1])
LOGITS = st.sampled_from([-1000.0, -40.0, -0.1, 0.0, 0.2, 39.0, 40.0, 41.0, 800.0]) | st.floats(-30.0, 30.0)
OPTIONS = st.fixed_dictionaries(
    {"zero_division": st.sampled_from([0.0, 1.0, math.nan]), "detailed": st.booleans()},
)
THRESHOLDS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])


def rows(*columns: st.SearchStrategy) -> st.SearchStrategy[tuple]:
    return st.lists(st.tuples(*columns), min_size=1, max_size=25).map(lambda rows: tuple(map(list, zip(*rows))))


@given(rows(BITS, BITS), OPTIONS)
def test_labels_alone(columns: tuple, options: dict) -> None:
    predictions, references = columns
    found = toxeval.load("threat_f1").compute(predictions=predictions, references=references, **options)
    assert_same(found, plain(references, predictions, **options))


@given(rows(probabilities(), BITS), THRESHOLDS, OPTIONS)
def test_probabilities_alone(columns: tuple, threshold: float, options: dict) -> None:
    scores, references = columns
    found = toxeval.load("threat_f1").compute(
        prediction_scores=scores, references=references, threshold=threshold, **options
    )
    check_best_threshold(found, references, scores)
    assert_same(found, plain(references, scores=scores, threshold=threshold, **options))


@given(rows(LOGITS, BITS), THRESHOLDS, OPTIONS)
def test_logits_alone(columns: tuple, threshold: float, options: dict) -> None:
    scores, references = columns
    chances = [sigmoid(s) for s in scores]
    assume(all(p == threshold or abs(p - threshold) > 1e-15 for p in chances))  # exp rounds by library and platform
    found = toxeval.load("threat_f1").compute(
        prediction_scores=scores, references=references, threshold=threshold, from_logits=True, **options
    )
    found.pop("best_threshold", None)
    wanted = plain(references, scores=scores, threshold=threshold, from_logits=True, **options)
    assert_same(found, wanted)


@given(rows(BITS, probabilities(), BITS), OPTIONS)
def test_labels_and_scores(columns: tuple, options: dict) -> None:
    predictions, scores, references = columns
    found = toxeval.load("threat_f1").compute(
        predictions=predictions, prediction_scores=scores, references=references, **options
    )
    check_best_threshold(found, references, scores)
    assert_same(found, plain(references, predictions, scores, **options))


def check_best_threshold(found: dict, references: list, chances: list) -> None:
    """A threshold that isn't only claimed: deciding by it gives the best F1."""
    if "best_threshold" in found:
        threshold = found.pop("best_threshold")
        if math.isnan(found["best_f1_threat"]):
            assert math.isnan(threshold)
        else:
            attained = class_scores(references, decide(chances, threshold), 1, 0.0)["f1"]
            assert close(attained, found["best_f1_threat"])


@given(rows(BITS, probabilities(), BITS), SKLEARN_ZERO_DIVISION)
def test_scikit_learn_agrees(columns: tuple, zero_division: float) -> None:
    predictions, scores, references = columns
    found = toxeval.load("threat_f1").compute(
        predictions=predictions, prediction_scores=scores, references=references, zero_division=zero_division
    )
    common = {"labels": [0, 1], "zero_division": zero_division}
    by_class = precision_recall_fscore_support(references, predictions, average=None, **common)
    for kind, values in zip(("precision", "recall", "f1"), by_class):
        assert close(found[f"{kind}_non_threat"], values[0])
        assert close(found[f"{kind}_threat"], values[1])
    macro = precision_recall_fscore_support(references, predictions, average="macro", **common)
    assert close(found["f1_macro"], macro[2])
    if 1 in references:
        assert close(found["average_precision"], average_precision_score(references, scores))
    if len(set(references)) == 2:
        assert close(found["roc_auc"], roc_auc_score(references, scores))


@pytest.mark.parametrize(
    ("counts", "figures"),
    [
        (
            {"tp": 100, "fp": 50},
            {"precision_threat": 0.666667, "recall_threat": 0.473934, "f1_threat": 0.554017, "f1_macro": 0.776377},
        ),
        (
            {"tp": 150, "fp": 300},
            {"precision_threat": 0.333333, "recall_threat": 0.710900, "f1_threat": 0.453858, "f1_macro": 0.725511},
        ),
        ({"tp": 0, "fp": 0}, {"f1_threat": 0, "f1_macro": 0.499174}),
    ],
)
def test_figures_at_the_real_test_size(counts: dict[str, int], figures: dict[str, float]) -> None:
    counts |= {"fn": 211 - counts["tp"], "tn": 63_978 - 211 - counts["fp"]}
    predictions, references = rows_of_counts(**counts)
    metric = toxeval.load("threat_f1")
    found = metric.compute(predictions=predictions, references=references, detailed=True)
    assert {key: round(found[key], 6) for key in figures} == figures
    assert {key: found[key] for key in counts} == counts
    assert found["prevalence"] == 211 / 63_978
    by_score = metric.compute(prediction_scores=predictions * 0.9, references=references)
    assert {key: by_score[key] for key in figures} == {key: found[key] for key in figures}


def test_majority_f1_is_one_to_two_digits_whatever_the_model_does() -> None:
    for tp, fp in [(0, 0), (100, 50), (150, 300)]:
        predictions, references = rows_of_counts(tp, fp, 211 - tp, 63_978 - 211 - fp)
        scores = toxeval.load("threat_f1").compute(predictions=predictions, references=references)
        assert round(scores["f1_non_threat"], 2) == 1.0


@given(rows(LOGITS, LOGITS, BITS))
def test_two_columns_of_logits_are_a_softmax(columns: tuple) -> None:
    negative, positive, references = columns
    metric = toxeval.load("threat_f1", from_logits=True)
    two = metric.compute(prediction_scores=np.column_stack([negative, positive]), references=references)
    one = metric.compute(prediction_scores=np.subtract(positive, negative), references=references)
    assert_same(two, one)


@given(rows(st.integers(0, 1024), BITS))
def test_two_columns_of_probabilities(columns: tuple) -> None:
    steps, references = columns
    positive = np.array(steps) / 1024  # 1 - p is exact
    metric = toxeval.load("threat_f1")
    two = metric.compute(prediction_scores=np.column_stack([1 - positive, positive]), references=references)
    assert_same(two, metric.compute(prediction_scores=positive, references=references))


def test_threshold_is_strict() -> None:
    metric = toxeval.load("threat_f1")
    for score, recall in [(0.5, 0.0), (0.5000000001, 1.0), (np.nextafter(0.5, 1), 1.0)]:
        assert metric.compute(prediction_scores=[score], references=[1])["recall_threat"] == recall


def test_saturated_logits_keep_their_ranks() -> None:
    scores = toxeval.load("threat_f1").compute(
        prediction_scores=[97.0, 98.0, 99.0, 1e300], references=[0, 1, 1, 1], from_logits=True
    )
    assert scores["roc_auc"] == scores["average_precision"] == 1.0


def test_tied_scores_move_together() -> None:
    scores = toxeval.load("threat_f1").compute(prediction_scores=[0.5, 0.5], references=[1, 0], detailed=True)
    assert scores["best_f1_threat"] == 2 / 3


def test_a_threshold_beside_labels_would_do_nothing_and_is_refused() -> None:
    metric = toxeval.load("threat_f1")
    with pytest.raises(ValueError, match="^threat_f1: option threshold: 0.3 beside predictions"):
        metric.compute(predictions=[1], references=[1], threshold=0.3)


def test_neither_labels_nor_scores() -> None:
    with pytest.raises(ValueError, match="^threat_f1: predictions: missing, and prediction_scores too"):
        toxeval.load("threat_f1").compute(references=[1])


def test_undefined_rank_scores_are_nan_with_a_warning_that_says_why() -> None:
    with pytest.warns(UserWarning, match="roc_auc \\(only one class in the references, set to nan\\)") as caught:
        scores = toxeval.load("threat_f1").compute(prediction_scores=[0.1, 0.2], references=[0, 0], detailed=True)
    assert len(caught) == 1
    nan = {key for key, value in scores.items() if math.isnan(value)}
    assert nan == {"roc_auc", "average_precision", "best_f1_threat", "best_threshold"}
    said = "roc_auc .*average_precision \\(no reference is non-threat, 1.0 for any model\\)"
    with pytest.warns(UserWarning, match=said):
        scores = toxeval.load("threat_f1").compute(prediction_scores=[0.9, 0.8], references=[1, 1])
    assert math.isnan(scores["roc_auc"])
    assert scores["average_precision"] == 1.0
