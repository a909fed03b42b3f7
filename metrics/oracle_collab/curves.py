"""A model and an oracle that corrects the k rows with the largest review scores (Kivlichan et al. 2021, section 3).

Counts of reviewed rows are look-ups in sorted review scores, and the rank metrics sums over the positives' scores, for
any k. Where only r of the m rows tied at the cut fit into k, each of them is reviewed with weight r/m, and every
quantity is computed from these expected counts.
"""

import bisect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .ranking import Curve, Sorted
from .rows import Rows, sort_rows


class ReviewCurve(NamedTuple):
    """The team of model and oracle at each of K capacities; arrays of shape (K,). Undefined values are nan.

    Attributes:
        n_reviewed: k.
        fraction: k / n.
        tied_at_cutoff: m where only r < m of the m rows tied at the cut fit, else 0.
        wrong_reviewed: w(S), the expected number of reviews that were needed.
        tp, fp, fn: expected confusion counts of the team.
        oc_accuracy, oc_precision, oc_recall, oc_f1: of these counts.
        review_efficiency: w(S) / k.
        review_effectiveness: w(S) / W.
        oc_auroc, oc_auprc: ROC-AUC and average precision with the reviewed rows moved to their right end.
        oc_auprc_interpolated: area under the same precision-recall curve, interpolated by Davis and Goadrich.
    """

    n_reviewed: np.ndarray
    fraction: np.ndarray
    tied_at_cutoff: np.ndarray
    wrong_reviewed: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    oc_accuracy: np.ndarray
    oc_precision: np.ndarray
    oc_recall: np.ndarray
    oc_f1: np.ndarray
    review_efficiency: np.ndarray
    review_effectiveness: np.ndarray
    oc_auroc: np.ndarray
    oc_auprc: np.ndarray
    oc_auprc_interpolated: np.ndarray


class _Cut(NamedTuple):
    """Where the k-th largest review score lies: all above ``score`` are reviewed, and ``fit`` of the ``tied`` at it."""

    score: float
    fit: int
    tied: int


# --- capacity -----------------------------------------------------------------------------------------------------


def capacity(fraction: float, n: int) -> int:
    """k = floor(fraction n), with a product within 10^-12 (relative) of a whole number taken as meant to be it.

    >>> capacity(0.29, 100), capacity(1 / 3, 3), capacity(0.999, 100)
    (29, 1, 99)
    """
    exact = Fraction(fraction) * n
    whole = round(exact)
    return min(n, whole if abs(exact - whole) <= Fraction(whole, 10**12) else math.floor(exact))


def _cut(rows: Rows, k: int) -> _Cut:
    if k == 0:
        return _Cut(math.inf, 0, 1)
    n = rows.everyone.n_rows
    score = rows.everyone.nth(n - k)
    low, high = int(rows.everyone.below(score)), int(rows.everyone.upto(score))
    return _Cut(float(score), k - (n - high), high - low)


def _reviewed(queue: Sorted, cut: _Cut) -> tuple[int, int]:
    """How many of sorted review scores are above the cut, and how many tied with it."""
    low, high = int(queue.below(cut.score)), int(queue.upto(cut.score))
    return queue.n_rows - high, high - low


def _unreviewed(rows: Rows, side: int, cut: _Cut, share: float) -> Callable[[Any], Any]:
    """Function of numbers of rows: the weight left unreviewed among the first so many rows of class ``side``.

    A row tied at the cut is reviewed with weight ``share``. Rows are counted in whole numbers before that weight comes
    in, so that a stretch without anything left has exactly 0.
    """
    review, scores = rows.review[side], rows.scores[side]
    if rows.rising is None:
        below, at = review <= cut.score, review == cut.score
        if scores.before is None:
            left: Callable[[Any], Any] = np.concatenate([[0], np.cumsum(below) - share * np.cumsum(at)]).__getitem__
            return left
        before, counts = scores.before, np.diff(scores.before)
        weighed = np.concatenate([[0], np.cumsum(below * counts) - share * np.cumsum(at * counts)])
        return lambda positions: weighed[before.searchsorted(positions)]
    # In the order of scores the reviewed rows are one stretch [b, c), with ties before it from a and after it to d.
    top = rows.rising[side]
    rise, fall = review[:top], review[top:][::-1]
    a, b = (scores.rows_before(int(rise.searchsorted(cut.score, side=end))) for end in ("left", "right"))
    c, d = (scores.rows_before(len(review) - int(fall.searchsorted(cut.score, side=end))) for end in ("right", "left"))

    def left_before(positions: Any) -> Any:
        outside = positions - (np.clip(positions, a, d) - a)
        if share == 1:
            return outside
        within = positions - (np.clip(positions, b, c) - b)
        return within - share * (within - outside)

    return left_before


def _oracle_curve(rows: Rows, cut: _Cut, share: float) -> Curve:
    """The curve with reviewed positives above and reviewed negatives below every threshold.

    ``share`` is the weight with which each row tied at the cut is reviewed.
    """
    ranks = rows.ranks
    n_positives, n_negatives = ranks.n_positives, ranks.n_negatives
    positives, negatives = (_unreviewed(rows, side, cut, share) for side in (1, 0))
    before, left = positives(ranks.first), negatives(n_negatives)
    fp = left - negatives(ranks.below)
    return Curve(
        weight=np.diff(before, append=positives(n_positives)),  # a group of ties ends where the next begins
        tp=n_positives - before,
        fp=fp,
        fp_above=fp if ranks.upto is ranks.below else left - negatives(ranks.upto),
        head=n_positives - positives(n_positives),
        n_positives=n_positives,
        n_negatives=n_negatives,
    )


# --- the team -----------------------------------------------------------------------------------------------------


def review_at(rows: Rows, capacities: Sequence[int], *, interpolated: bool = True) -> ReviewCurve:
    """The team's scores with k = each of ``capacities`` reviews (each from 0 to n).

    Args:
        rows: of `sort_rows`.
        capacities: K numbers of reviews.
        interpolated: whether ``oc_auprc_interpolated`` is wanted (else nan): it takes a logarithm a positive.

    Returns:
        `ReviewCurve` of K points, each in O(log n) for the counts and O(P) for the rank metrics (O(n) with review
        scores of the user's own).
    """
    tn, fp, fn, tp = (queue.n_rows for queue in rows.queues)
    n, n_positives = tn + fp + fn + tp, fn + tp
    points = []
    for k in capacities:
        cut = _cut(rows, k)
        share = cut.fit / cut.tied
        _, caught_fp, caught_fn, _ = (_weigh(_reviewed(queue, cut), cut) for queue in rows.queues)
        caught = caught_fp + caught_fn
        tp_k, fp_k, fn_k = tp + caught_fn, fp - caught_fp, fn - caught_fn
        curve = _oracle_curve(rows, cut, share if 0 < share < 1 else int(share))
        points.append(
            {
                "n_reviewed": k,
                "fraction": k / n,
                "tied_at_cutoff": cut.tied if 0 < share < 1 else 0,
                "wrong_reviewed": caught,
                "tp": tp_k,
                "fp": fp_k,
                "fn": fn_k,
                "oc_accuracy": (n - fp_k - fn_k) / n,
                "oc_precision": _ratio(tp_k, tp_k + fp_k),
                "oc_recall": _ratio(tp_k, n_positives),
                "oc_f1": _ratio(2 * tp_k, 2 * tp_k + fp_k + fn_k),
                "review_efficiency": _ratio(caught, k),
                "review_effectiveness": _ratio(caught, fp + fn),
                "oc_auroc": curve.roc_auc(),
                "oc_auprc": curve.average_precision(),
                "oc_auprc_interpolated": curve.interpolated_area() if interpolated else math.nan,
            }
        )
    return ReviewCurve(**{name: np.array([point[name] for point in points]) for name in ReviewCurve._fields})


def _weigh(reviewed: tuple[int, int], cut: _Cut) -> float:
    above, tied = reviewed
    return above + tied * cut.fit / cut.tied


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan


def smallest_capacity(rows: Rows, quantity: str, target: float) -> int | None:
    """The smallest k at which the team reaches a target, by bisection: none of the quantities falls as k grows.

    Args:
        rows: of `sort_rows`.
        quantity: "oc_accuracy", "oc_precision", "oc_recall" or "oc_auroc".
        target: in [0, 1].

    Returns:
        k, exact (in rational arithmetic, so that a target met to the digit counts as met); None if no k reaches it,
        which happens only where the quantity is undefined.
    """
    n = rows.everyone.n_rows

    def reached(k: int) -> bool:
        value = _exact(rows, quantity, k)
        return value is not None and float(value) >= target  # float() of a Fraction rounds correctly

    if reached(0):  # without positives, a precision of 0 ends in 0/0: the one case where what is reached can be lost
        return 0
    k = bisect.bisect_left(range(n + 1), True, key=reached)
    return k if k <= n else None


def _exact(rows: Rows, quantity: str, k: int) -> Fraction | None:
    """The quantity at k reviews as a fraction, None where undefined."""
    cut = _cut(rows, k)
    share = Fraction(cut.fit, cut.tied)
    if quantity == "oc_auroc":
        pairs = rows.ranks.n_positives * rows.ranks.n_negatives
        if not pairs:
            return None
        # Twice the wrong pairs are a quadratic in the share, whose values at whole numbers are whole numbers.
        at_1 = int(_oracle_curve(rows, cut, 1).inversions())
        if share == 1:
            return 1 - Fraction(at_1, 2 * pairs)
        at_0, at_minus_1 = (int(_oracle_curve(rows, cut, whole).inversions()) for whole in (0, -1))
        wrong_pairs = at_0 + Fraction(at_1 - at_minus_1, 2) * share + (Fraction(at_1 + at_minus_1, 2) - at_0) * share**2
        return 1 - wrong_pairs / (2 * pairs)
    tn, fp, fn, tp = (queue.n_rows for queue in rows.queues)
    counts = (_reviewed(queue, cut) for queue in rows.queues)
    _, caught_fp, caught_fn, _ = (above + tied * share for above, tied in counts)
    right = {
        "oc_accuracy": (tn + tp + caught_fp + caught_fn, Fraction(tn + fp + fn + tp)),
        "oc_precision": (tp + caught_fn, tp + caught_fn + fp - caught_fp),
        "oc_recall": (tp + caught_fn, Fraction(tp + fn)),
    }
    numerator, denominator = right[quantity]
    return numerator / denominator if denominator else None


#: The grid of `review_curve`: 0 and, as the paper's figures have a logarithmic axis, 40 steps a decade down to 0.001.
CURVE_FRACTIONS = (0.0, *np.logspace(-3, 0, 121).tolist())


def review_curve(
    labels: np.ndarray,
    scores: np.ndarray,
    review_scores: np.ndarray | None = None,
    *,
    review_strategy: str = "uncertainty",
    review_fractions: Sequence[float] = CURVE_FRACTIONS,
    threshold: float = 0.5,
    logits: bool = False,
) -> ReviewCurve:
    """Every quantity over the reviewed fraction, exact at each of its points (the paper's figures 2 to 4).

    Args:
        labels, scores, review_scores, review_strategy, threshold, logits: as in `sort_rows`.
        review_fractions: K fractions in [0, 1]; each means its capacity, floor(fraction n).

    Returns:
        `ReviewCurve`; its ``fraction`` is k / n.

    >>> labels, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.45, 0.9])
    >>> review_curve(labels, scores, review_fractions=[0.0, 0.25, 0.5]).oc_accuracy.tolist()
    [0.5, 0.75, 1.0]
    """
    rows = sort_rows(labels, scores, review_scores, review_strategy=review_strategy, threshold=threshold, logits=logits)
    return review_at(rows, [capacity(fraction, len(labels)) for fraction in review_fractions])
