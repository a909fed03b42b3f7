"""ROC-AUC and average precision: scikit-learn, plain loops, ties, one class, float edges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import oracle_collab as plain
from sklearn.metrics import average_precision_score, roc_auc_score

from toxeval.core.ranking import Sorted, harmonic_sums, rank, rank_sorted, roc_auc, table_curve

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1) | st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.lists(st.tuples(st.integers(0, 1), SCORES), min_size=1, max_size=30)


def arrays(rows: list[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([y for y, _ in rows], dtype=np.int8), np.array([s for _, s in rows])


def average_precision(labels: np.ndarray, scores: np.ndarray) -> float:
    return float(rank(labels, scores).curve().average_precision())


@given(ROWS)
def test_both_agree_with_scikit_learn(rows: list) -> None:
    labels, scores = arrays(rows)
    if 0 < labels.sum() < len(labels):
        assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-13)
        assert average_precision(labels, scores) == pytest.approx(average_precision_score(labels, scores), abs=1e-13)


@given(ROWS)
def test_all_areas_agree_with_plain_loops(rows: list) -> None:
    labels, scores = arrays(rows)
    unreviewed = [0] * len(rows)
    curve = rank(labels, scores).curve()
    plain_rows = labels.tolist(), scores.tolist(), unreviewed
    assert curve.roc_auc() == pytest.approx(plain.auroc(*plain_rows), abs=1e-13, nan_ok=True)
    assert curve.average_precision() == pytest.approx(plain.auprc(*plain_rows), abs=1e-13, nan_ok=True)
    assert curve.interpolated_area() == pytest.approx(plain.auprc_interpolated(*plain_rows), abs=1e-9, nan_ok=True)


@given(ROWS, st.randoms())
def test_row_order_changes_no_bit(rows: list, random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    for metric in (roc_auc, average_precision):
        np.testing.assert_equal(metric(*arrays(rows)), metric(*arrays(shuffled)))


@given(ROWS)
def test_only_the_order_of_scores_matters(rows: list) -> None:
    labels, scores = arrays(rows)
    ranks = np.searchsorted(np.unique(scores), scores).astype(float)
    np.testing.assert_equal(roc_auc(labels, scores), roc_auc(labels, ranks))
    np.testing.assert_equal(average_precision(labels, scores), average_precision(labels, ranks))


@pytest.mark.parametrize(("labels", "auc", "precision"), [([0, 0], math.nan, math.nan), ([1, 1], math.nan, 1.0)])
def test_one_class_only(labels: list[int], auc: float, precision: float) -> None:
    labels, scores = np.array(labels), np.array([0.2, 0.9])
    np.testing.assert_equal(roc_auc(labels, scores), auc)
    np.testing.assert_equal(average_precision(labels, scores), precision)


def test_the_smallest_difference_is_no_tie_and_the_two_zeros_are_one() -> None:
    labels = np.array([0, 1])
    assert roc_auc(labels, np.array([0.5, np.nextafter(0.5, 1)])) == 1.0
    assert roc_auc(labels, np.array([-0.0, 0.0])) == 0.5
    assert roc_auc(labels, np.array([0.0, 5e-324])) == 1.0


def test_constant_score_is_a_coin_and_the_prevalence() -> None:
    labels = np.repeat([0, 1], [75, 25])
    scores = np.full(100, 0.3)
    curve = rank(labels, scores).curve()
    assert curve.roc_auc() == 0.5
    assert curve.average_precision() == 0.25
    assert curve.interpolated_area() == pytest.approx(0.25, abs=1e-15)


def test_davis_and_goadrich_worked_by_hand() -> None:
    # Scores 0.9 (positive), 0.5 (one of each): precision 1 up to recall 1/2, then x / (x + (x - 1)) for x from 1 to 2:
    # the integral of x / (2 x - 1) is x / 2 + log(2 x - 1) / 4.
    curve = rank(np.array([1, 1, 0]), np.array([0.9, 0.5, 0.5])).curve()
    assert curve.interpolated_area() == pytest.approx((1 + 1 / 2 + math.log(3) / 4) / 2, abs=1e-15)


def test_positives_of_one_score_are_looked_up_once() -> None:
    negatives, positives = (np.sort(np.random.default_rng(i).choice([0.1, 0.2, 0.3], 10_000)) for i in (0, 1))
    ranks = rank_sorted(Sorted(negatives), Sorted(positives))
    assert ranks.distinct.tolist() == [0.1, 0.2, 0.3]
    assert ranks.last[-1] == ranks.upto[-1] == 10_000
    assert (ranks.below[1:] == ranks.upto[:-1]).all()


def test_harmonic_sums_beyond_the_table() -> None:
    starts, ends = np.array([2048, 5000, 10, 2047]), np.array([9000, 70_000, 3000, 2049])
    wanted = [math.fsum(1 / i for i in range(start + 1, end + 1)) for start, end in zip(starts, ends)]
    np.testing.assert_allclose(harmonic_sums(starts, ends), wanted, rtol=1e-12)


def test_reviewed_positives_of_a_table_stand_above_all_others() -> None:
    table = np.array([[1, 1, 0, 0, 0], [0, 1, 0, 1, 0]])
    reviewed = np.array([[0, 0, 0, 0, 0], [0, 1, 0, 0, 0]])
    curve = table_curve(table, reviewed)
    assert (float(curve.roc_auc()), float(curve.average_precision())) == (1.0, 1.0)
