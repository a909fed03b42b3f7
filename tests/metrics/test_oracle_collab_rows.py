"""OracleCollab on any rows: plain loops, the paper's identities, ties, batches."""

import math
import random as random_module
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import oracle_collab as plain
from samples import assert_same
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score
from toxeval.metrics.oracle_collab import rows as rows_module
from toxeval.metrics.oracle_collab.curves import capacity, review_at, review_curve
from toxeval.metrics.oracle_collab.plans import smallest_capacity
from toxeval.metrics.oracle_collab.rows import calibration_curve, reliability, sort_rows
from toxeval.metrics.oracle_collab.scores import FRACTIONS, TARGETS

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def compute(predictions: Any, references: Any, **kwargs: Any) -> dict[str, float]:
    return toxeval.load("oracle_collab").compute(predictions=predictions, references=references, **kwargs)


# --- plain loops --------------------------------------------------------------------------------------------------

#: With many ties, mirrored ones that are equal in decimals only (0.3 and 0.7), bin edges, and the ends.
PROBABILITY = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0]) | st.floats(0, 1)
LOGIT = st.sampled_from([-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 41.0, 800.0]) | st.floats(-50, 50)
REVIEW = st.sampled_from([-3.0, 0.0, 1.5]) | st.floats(-1e300, 1e300)
ALPHA = st.sampled_from([0, 0.0, 1e-9, 0.1, 0.25, 0.29, 1 / 3, 0.5, 2 / 3, 0.7, 1, 1.0]) | st.floats(0, 1)
OPTIONS = st.fixed_dictionaries(
    {"review_fractions": st.lists(ALPHA, max_size=5)},
    optional={
        "threshold": st.sampled_from([0.3, 0.7]),
        "n_bins": st.integers(1, 20),
        "zero_division": st.sampled_from([0.0, 1.0, math.nan]),
        "detailed": st.booleans(),
        "targets": st.dictionaries(st.sampled_from(TARGETS), st.sampled_from([0.0, 0.5, 0.9, 1.0]) | st.floats(0, 1)),
    },
)


def rows_of(score: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple]]:
    return st.lists(st.tuples(score, st.integers(0, 1), REVIEW), min_size=1, max_size=12)


def split(rows: list[tuple]) -> tuple[list, list, list]:
    return [p for p, _, _ in rows], [y for _, y, _ in rows], [u for _, _, u in rows]


def assert_like_plain(predictions: list, references: list, **options: Any) -> None:
    found = compute(predictions, references, **options)
    wanted = plain.oracle_collab(predictions, references, **options)
    numeric = {key for key in found if "interpolated" in key}  # the plain twin integrates numerically
    assert_same(
        {k: v for k, v in found.items() if k not in numeric}, {k: wanted[k] for k in wanted if k not in numeric}
    )
    assert numeric == {key for key in wanted if "interpolated" in key}
    assert_same({k: found[k] for k in numeric}, {k: wanted[k] for k in numeric}, 1e-8)


@given(rows_of(PROBABILITY), OPTIONS, st.sampled_from(["uncertainty", "toxicity"]))
def test_every_key_agrees_with_plain_loops(rows: list, options: dict, strategy: str) -> None:
    predictions, references, _ = split(rows)
    assert_like_plain(predictions, references, review_strategy=strategy, **options)


@given(rows_of(PROBABILITY), OPTIONS)
def test_every_key_agrees_with_plain_loops_for_review_scores_of_ones_own(rows: list, options: dict) -> None:
    predictions, references, review_scores = split(rows)
    assert_like_plain(predictions, references, review_scores=review_scores, **options)


@given(rows_of(LOGIT), OPTIONS, st.sampled_from(["uncertainty", "toxicity"]))
def test_every_key_agrees_with_plain_loops_for_logits(rows: list, options: dict, strategy: str) -> None:
    predictions, references, _ = split(rows)
    assert_like_plain(predictions, references, from_logits=True, review_strategy=strategy, **options)


@given(rows_of(PROBABILITY), OPTIONS)
def test_review_scores_that_are_the_strategys_give_the_strategys_result(rows: list, options: dict) -> None:
    predictions, references, _ = split(rows)
    unsure = [min(p, 1 - p) for p in predictions]
    by_name = compute(predictions, references, review_strategy="uncertainty", **options)
    assert_same(compute(predictions, references, review_scores=unsure, **options), by_name)
    by_name = compute(predictions, references, review_strategy="toxicity", **options)
    assert_same(compute(predictions, references, review_scores=predictions, **options), by_name)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_model_alone_agrees_with_scikit_learn(rows: list) -> None:
    p, y = [p for p, _ in rows], [y for _, y in rows]
    scores = compute(p, y)
    assert scores["brier"] == pytest.approx(brier_score_loss(y, p), abs=1e-14)
    if 0 < sum(y) < len(y):
        assert scores["auroc"] == pytest.approx(roc_auc_score(y, p), abs=1e-13)
        assert scores["auprc"] == pytest.approx(average_precision_score(y, p), abs=1e-13)


@given(rows_of(PROBABILITY), st.integers(0, 12), st.sampled_from(["uncertainty", "toxicity"]))
def test_oc_auc_is_the_auc_after_moving_the_reviewed_to_the_ends(rows: list, k: int, strategy: str) -> None:
    """The definition in words, by scikit-learn, where the cut splits no tie."""
    predictions, references, _ = split(rows)
    k = min(k, len(rows))
    weights = plain.review_weights(
        [Fraction(p) if strategy == "toxicity" else min(Fraction(p), 1 - Fraction(p)) for p in predictions], k
    )
    if set(weights) <= {0, 1} and 0 < sum(references) < len(rows):
        moved = [(2.0 if y else -1.0) if w else p for p, y, w in zip(predictions, references, weights)]
        curve = review_curve(
            np.array(references), np.array(predictions), review_strategy=strategy, review_fractions=[k / len(rows)]
        )
        assert curve.oc_auroc[0] == pytest.approx(roc_auc_score(references, moved), abs=1e-13)
        assert curve.oc_auprc[0] == pytest.approx(average_precision_score(references, moved), abs=1e-13)


# --- identities and other properties ------------------------------------------------------------------------------


def sorted_rows(rows: list[tuple], **options: Any) -> rows_module.Rows:
    return sort_rows(np.array([y for _, y, _ in rows]), np.array([p for p, _, _ in rows]), **options)


@given(rows_of(PROBABILITY), st.lists(ALPHA, max_size=6), st.sampled_from(["uncertainty", "toxicity"]))
def test_equation_2(rows: list, fractions: list[float], strategy: str) -> None:
    """OC-Acc = Acc + (k/n) RE."""
    predictions, references, _ = split(rows)
    scores = compute(predictions, references, review_fractions=fractions, review_strategy=strategy, detailed=True)
    for fraction in map(float, fractions):
        k = scores[f"n_reviewed_at_{fraction!r}"]
        gained = k / len(rows) * scores[f"review_efficiency_at_{fraction!r}"] if k else 0.0
        assert scores[f"oc_accuracy_at_{fraction!r}"] == pytest.approx(scores["accuracy"] + gained, abs=1e-13)


@given(rows_of(PROBABILITY), st.sampled_from([0.3, 0.5]))
def test_area_under_oc_accuracy_is_calibration_auroc(rows: list, threshold: float) -> None:
    """1 - e^2/2 - (1 - calibration AUROC) e (1 - e), ties included."""
    ordered = sorted_rows(rows, threshold=threshold)
    n = len(rows)
    accuracy = review_at(ordered, range(n + 1)).oc_accuracy
    area = (accuracy[:-1] + accuracy[1:]).sum() / 2 / n
    e = ordered.wrong.n_rows / n
    c = calibration_curve(ordered).roc_auc() if 0 < e < 1 else 0.0
    assert area == pytest.approx(1 - e**2 / 2 - (1 - c) * e * (1 - e), abs=1e-13)


@given(rows_of(PROBABILITY), st.sampled_from(["uncertainty", "toxicity", "own"]))
def test_review_never_hurts_and_ends_at_one(rows: list, strategy: str) -> None:
    own = np.array([u for _, _, u in rows]) if strategy == "own" else None
    ordered = sorted_rows(rows, review_scores=own, review_strategy="toxicity" if own is not None else strategy)
    curve = review_at(ordered, range(len(rows) + 1))
    for name in TARGETS:
        values = getattr(curve, name)
        defined = values[~np.isnan(values)]
        assert (np.diff(defined) >= -1e-15).all()
        if len(defined) and not (name == "oc_precision" and not sum(y for _, y, _ in rows)):
            assert defined[-1] == 1.0
    assert (np.diff(curve.wrong_reviewed) >= -1e-15).all()
    assert curve.oc_accuracy[0] == ordered.right.n_rows / len(rows)
    np.testing.assert_equal(curve.oc_auroc[0], ordered.ranks.curve().roc_auc())


@given(rows_of(PROBABILITY), st.randoms(use_true_random=False), st.sampled_from([None, "own"]))
def test_row_order_changes_no_bit(rows: list, random: random_module.Random, own: str | None) -> None:
    shuffled = random.sample(rows, len(rows))
    results = []
    for order in (rows, shuffled):
        predictions, references, review_scores = split(order)
        kwargs = {"review_scores": review_scores} if own else {}
        results.append(compute(predictions, references, detailed=True, review_fractions=[0.1, 0.3, 0.5], **kwargs))
    np.testing.assert_equal(results[0], results[1])


@given(rows_of(PROBABILITY))
def test_reliability_bins_hold_every_row_once(rows: list) -> None:
    for n_bins in (1, 7, 15, 100):
        diagram = reliability(sorted_rows(rows), n_bins)
        assert diagram.n_rows.sum() == len(rows)
        empty = diagram.n_rows == 0
        assert np.isnan(diagram.confidence[empty]).all()
        assert (diagram.confidence[~empty] >= diagram.edges[~empty] - 1e-15).all()
        assert (diagram.confidence[~empty] <= diagram.edges[~empty] + 1 / n_bins).all()
        gap = np.nansum(diagram.n_rows * np.abs(diagram.accuracy - diagram.confidence)) / len(rows)
        assert diagram.ece == pytest.approx(gap, abs=1e-14)


@pytest.mark.parametrize("n_bins", [2, 3, 7, 10, 15, 49, 100])
def test_decimal_bin_edges_belong_to_the_bin_above_on_either_side_of_one_half(n_bins: int) -> None:
    for j in range((n_bins + 1) // 2, n_bins):
        for p in (j / n_bins, (n_bins - j) / n_bins):
            diagram = reliability(sort_rows(np.array([1]), np.array([p])), n_bins)
            assert diagram.n_rows[j] == 1


@pytest.mark.parametrize(
    ("fraction", "n", "k"),
    [(0.29, 100, 29), (1 / 3, 3, 1), (2 / 3, 3, 2), (0.57, 100, 57), (0.1 + 0.2, 10, 3), (1 - 0.9, 10, 1)]
    + [(0.005, 63_978, 319), (0.001, 999, 0), (0.999, 100, 99), (0.0, 5, 0), (1.0, 5, 5), (0.05, 10**9, 5 * 10**7)]
    + [(0.2 - 1e-9, 10, 1), (np.nextafter(1.0, 0.0), 7, 7), (5e-324, 10**9, 0)],
)
def test_capacity_is_at_most_the_fraction_but_for_binary_rounding(fraction: float, n: int, k: int) -> None:
    assert capacity(fraction, n) == k


def test_every_decimal_fraction_of_every_size_gives_its_capacity() -> None:
    for n in range(1, 301):
        for percent in range(0, 101):
            assert capacity(percent / 100, n) == percent * n // 100


@given(rows_of(PROBABILITY), st.sampled_from(TARGETS), st.integers(0, 12), st.sampled_from(["uncertainty", "toxicity"]))
def test_a_target_the_curve_meets_to_the_digit_is_met(rows: list, quantity: str, k: int, strategy: str) -> None:
    ordered = sorted_rows(rows, review_strategy=strategy)
    value = plain.team_scores(
        [y for _, y, _ in rows],
        [p > 0.5 for p, _, _ in rows],
        [int((p > 0.5) != bool(y)) for p, y, _ in rows],
        [Fraction(p) for p, _, _ in rows],
        plain.review_weights(
            [Fraction(p) if strategy == "toxicity" else min(Fraction(p), 1 - Fraction(p)) for p, _, _ in rows],
            min(k, len(rows)),
        ),
        math.nan,
    )[quantity]
    if not math.isnan(value):
        found, _ = smallest_capacity(ordered, quantity, float(value))
        assert found is not None
        assert found <= k


def test_targets_at_the_size_of_a_test_set() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(20_000) < 0.1).astype(int)
    p = np.round(1 / (1 + np.exp(-rng.normal(size=y.size) - np.where(y == 1, 1.0, -2.0))), 2)  # with many ties
    targets = {"oc_accuracy": 0.99, "oc_recall": 0.9, "oc_precision": 0.95, "oc_auroc": 0.99}
    scores = compute(p, y, targets=targets)
    for quantity, target in targets.items():
        k = scores[f"n_reviews_for_{quantity}"]
        assert type(k) is int
        assert scores[f"review_fraction_for_{quantity}"] == k / y.size
        before, at = getattr(review_at(sort_rows(y, p), [k - 1, k]), quantity)
        assert before < target <= at


def test_the_whole_curve_is_what_compute_says_at_each_fraction() -> None:
    rng = np.random.default_rng(2)
    y = (rng.random(5_000) < 0.3).astype(int)
    p = np.round(rng.beta(1 + y, 2 - y), 3)
    for strategy in ("uncertainty", "toxicity"):
        curve = review_curve(y, p, review_strategy=strategy, review_fractions=FRACTIONS)
        scores = compute(p, y, review_strategy=strategy, detailed=True)
        for name in ("oc_accuracy", "review_efficiency", "oc_auroc", "oc_auprc", "oc_f1", "oc_auprc_interpolated"):
            assert getattr(curve, name).tolist() == [scores[f"{name}_at_{fraction!r}"] for fraction in FRACTIONS]
    assert len(review_curve(y, p).fraction) > 100
    assert review_curve(y, p).oc_accuracy[-1] == 1.0


def test_one_set_of_sorts_serves_all_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    sorts = []
    monkeypatch.setattr(rows_module.np, "sort", lambda *a, sort=np.sort, **k: sorts.append(1) or sort(*a, **k))
    monkeypatch.setattr(rows_module.np, "argsort", lambda *a, **k: pytest.fail("an argsort is not needed"))
    numbers = []
    for fractions in ([0.1], np.linspace(0, 1, 101)):
        sorts.clear()
        compute([0.1, 0.6, 0.45, 0.9], [0, 0, 1, 1], review_fractions=fractions)
        numbers.append(len(sorts))
    assert numbers[0] == numbers[1] == 6  # two classes, four kinds of prediction


@given(rows_of(PROBABILITY), st.integers(0, 12))
def test_batches_pool(rows: list, at: int) -> None:
    metric = toxeval.load("oracle_collab")
    for part in (rows[:at], rows[at:]):
        if part:
            predictions, references, review_scores = split(part)
            metric.add_batch(predictions=predictions, references=references, review_scores=review_scores)
    predictions, references, review_scores = split(rows)
    np.testing.assert_equal(metric.compute(), compute(predictions, references, review_scores=review_scores))
