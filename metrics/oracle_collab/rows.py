"""Rows sorted once, and what they say of the model alone: calibration, Brier score, reliability, risk and coverage."""

import math
from typing import NamedTuple

import numpy as np

from .ranking import Curve, Ranks, Sorted, harmonic_sums, merge_sorted, rank_sorted, sort_values
from .scoring import sigmoid


class Rows(NamedTuple):
    """All rows, each class in ascending order of score.

    Attributes:
        scores: scores of the (negatives, positives), ascending: P(toxic), or its logit.
        review: the review score of each of these, in the same order.
        rising: how many entries of each class lie where the review score rises with the score (beyond, it falls); None
            for review scores of the user's own, which needn't follow the score at all.
        predicted: in each class, the position of the first positive prediction.
        ranks: where the positives' scores stand among the negatives'.
        queues: review scores, ascending, of the right negatives, wrong negatives, wrong positives, right positives.
        everyone: review scores, ascending, of all.
        right, wrong: uncertainties, ascending, of the right and the wrong predictions, however reviews are chosen.
        logits: whether ``scores`` are logits.
    """

    scores: tuple[Sorted, Sorted]
    review: tuple[np.ndarray, np.ndarray]
    rising: tuple[int, int] | None
    predicted: tuple[int, int]
    ranks: Ranks
    queues: tuple[Sorted, ...]
    everyone: Sorted
    right: Sorted
    wrong: Sorted
    logits: bool


class Reliability(NamedTuple):
    """The reliability diagram; arrays of shape (n_bins,). Means over an empty bin are nan.

    Attributes:
        edges: lower edge of each bin of the confidence max(p, 1 - p); each bin is [low, high), the last closed.
        n_rows: rows in it.
        confidence: their mean confidence.
        accuracy: share of right predictions among them.
        ece: expected calibration error, the mean over rows of |accuracy - confidence| of their bin; a float.
    """

    edges: np.ndarray
    n_rows: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    ece: float


# --- sorting ------------------------------------------------------------------------------------------------------


def sort_rows(
    labels: np.ndarray,
    scores: np.ndarray,
    review_scores: np.ndarray | None = None,
    counts: np.ndarray | None = None,
    *,
    review_strategy: str = "uncertainty",
    threshold: float = 0.5,
    logits: bool = False,
) -> Rows:
    """Sort the rows, once for everything.

    Args:
        labels: 0 or 1 (toxic), shape (n,).
        scores: float64 of shape (n,): P(toxic), or its logit with ``logits``.
        review_scores: finite float64 of shape (n,), the larger the sooner reviewed; replaces ``review_strategy``.
        counts: how many rows each entry stands for; None if one.
        review_strategy: "uncertainty" reviews by min(p, 1 - p), the order of the paper's p (1 - p) (equation 1)
            without its rounding: 1 - p is exact where p >= 1/2. "toxicity" reviews by p.
        threshold: of p; a row is predicted toxic strictly above it.
        logits: see ``scores``. Orders then come from the logits, where nothing saturates.
    """
    members = labels != 1, labels == 1
    weights = [None if counts is None else counts[member] for member in members]
    if review_scores is None:  # values only: several times faster than an argsort
        low, high = (sort_values(scores[member], weight) for member, weight in zip(members, weights))
        review = low.values, high.values
    else:
        orders = [np.flatnonzero(member)[np.argsort(scores[member])] for member in members]
        low, high = (
            sort_values(scores[order], None if counts is None else counts[order], runs=True) for order in orders
        )
        review = review_scores[orders[0]], review_scores[orders[1]]
    unsure = _uncertainty(low.values, logits), _uncertainty(high.values, logits)
    rising: tuple[int, int] | None = None
    if review_scores is None and review_strategy == "toxicity":
        rising = len(low.values), len(high.values)
    elif review_scores is None:
        review, middle = unsure, 0.0 if logits else 0.5
        rising = int(low.values.searchsorted(middle)), int(high.values.searchsorted(middle))

    at_most = [
        (sigmoid(side.values) if logits else side.values).searchsorted(threshold, "right") for side in (low, high)
    ]
    predicted = int(at_most[0]), int(at_most[1])
    by_uncertainty = _queues(unsure, (low, high), predicted, runs=True)
    queues = by_uncertainty if review is unsure else _queues(review, (low, high), predicted, runs=rising is not None)
    right = merge_sorted(by_uncertainty[0], by_uncertainty[3])
    wrong = merge_sorted(by_uncertainty[1], by_uncertainty[2])
    everyone = merge_sorted(right, wrong) if review is unsure else merge_sorted(*queues)
    return Rows((low, high), review, rising, predicted, rank_sorted(low, high), queues, everyone, right, wrong, logits)


def _uncertainty(scores: np.ndarray, logits: bool) -> np.ndarray:
    unsure: np.ndarray = -np.abs(scores) if logits else np.minimum(scores, 1.0 - scores)
    return unsure


def _queues(
    review: tuple[np.ndarray, np.ndarray], scores: tuple[Sorted, Sorted], predicted: tuple[int, int], runs: bool
) -> tuple[Sorted, ...]:
    """Review scores of the right negatives, wrong negatives, wrong positives, right positives, each ascending.

    ``runs``: they rise and fall in long runs.
    """
    queues = []
    for values, side, at in zip(review, scores, predicted):
        counts = side.counts
        for piece in (slice(None, at), slice(at, None)):
            queues.append(sort_values(values[piece], None if counts is None else counts[piece], runs=runs))
    return tuple(queues)


def _probabilities(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """P(toxic) of the negatives and the positives."""
    low, high = (side.values for side in rows.scores)
    return (sigmoid(low), sigmoid(high)) if rows.logits else (low, high)


# --- the model alone ----------------------------------------------------------------------------------------------


def brier_score(rows: Rows) -> float:
    """Mean of (p - y)^2."""
    total = 0.0
    for positive, (p, side) in enumerate(zip(_probabilities(rows), rows.scores)):
        squares = np.square(p - positive)
        total += float(squares.sum() if side.before is None else (squares * side.counts).sum())
    return total / rows.everyone.n_rows


def reliability(rows: Rows, n_bins: int = 15) -> Reliability:
    """Confidence and accuracy in ``n_bins`` equal bins of the confidence max(p, 1 - p) in [0, 1].

    A confidence within 2^-50 of an edge counts as on it: 1 - 0.4 is meant to lie in the bin that starts at 0.6.
    """
    count, right = np.zeros(n_bins), np.zeros(n_bins)
    confidence = np.zeros(n_bins)
    for positive, p in enumerate(_probabilities(rows)):
        at, counts = rows.predicted[positive], rows.scores[positive].counts
        for predicted, piece in enumerate((slice(None, at), slice(at, None))):
            part, weight = p[piece], None if counts is None else counts[piece]
            sure = np.maximum(part, 1.0 - part)
            bins = ((sure + 2.0**-50) * n_bins).astype(np.int64)
            np.minimum(bins, n_bins - 1, out=bins)
            inside = np.bincount(bins, weight, minlength=n_bins)
            count += inside
            confidence += np.bincount(bins, sure if weight is None else sure * weight, minlength=n_bins)
            if predicted == positive:
                right += inside
    some = count > 0
    ece = float(np.abs(right - confidence).sum() / count.sum())
    empty = np.full(n_bins, math.nan)
    return Reliability(
        edges=np.arange(n_bins) / n_bins,
        n_rows=count.astype(np.int64),
        confidence=np.divide(confidence, count, out=empty.copy(), where=some),
        accuracy=np.divide(right, count, out=empty.copy(), where=some),
        ece=ece,
    )


def calibration_curve(rows: Rows) -> Curve:
    """Wrong predictions (the positives here) ranked by uncertainty among the right ones."""
    return rank_sorted(rows.right, rows.wrong).curve()


def risk_coverage_areas(rows: Rows, calibration: Curve) -> tuple[float, float]:
    """Areas under the risk-coverage and the generalised risk-coverage curve, the least uncertain accepted first.

    With E_i the expected number of wrong predictions among the i least uncertain rows (rows tied at i count in
    proportion):

    * AURC = 1/n sum over i = 1..n of E_i / i (Geifman and El-Yaniv 2017),
    * AUGRC = the trapezoid area under E_i / n over i / n (Traub et al. 2024) = e^2 / 2 + (1 - c) e (1 - e), with the
      error rate e and c the calibration ROC-AUC. It is 1 minus the area under OC-accuracy with
      review by uncertainty.
    """
    unsure = merge_sorted(rows.right, rows.wrong)
    n, n_wrong = unsure.n_rows, rows.wrong.n_rows
    augrc = (n_wrong**2 + float(calibration.inversions())) / (2.0 * n**2)
    at = np.flatnonzero(np.append(True, unsure.values[1:] != unsure.values[:-1]))
    starts = unsure.rows_before(at)
    ends = np.append(starts[1:], n)
    size = ends - starts
    before = rows.wrong.below(unsure.values[at])
    rate = np.diff(np.append(before, n_wrong)) / size
    # Within a group of ties E_i / i = rate + (before - starts rate) / i: a harmonic sum.
    aurc = float(((before - starts * rate) * harmonic_sums(starts, ends) + rate * size).sum()) / n
    return aurc, augrc
