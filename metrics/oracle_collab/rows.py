"""Rows sorted once, and what they say of the model alone: calibration, Brier score, reliability, risk and coverage."""

import math
from typing import Any, NamedTuple

import numpy as np

from toxeval.core.ranking import (
    Curve,
    Ranks,
    Sorted,
    harmonic_sums,
    merge_sorted,
    put_areas,
    rank_sorted,
    sort_values,
)
from toxeval.core.scoring import Scores, ratio, sigmoid

#: What messages say of the positives and of the negatives.
CLASSES = ("reference is toxic", "reference is non-toxic")
#: How far below its lower edge a bin of the calibration error begins, for confidences that are rounded: 1 - 0.4 is
#: meant to lie in the bin that starts at 0.6.
ROUNDING = 2.0**-50


class Rows(NamedTuple):
    """All rows, each class in ascending order of score.

    Attributes:
        scores: scores of the (negatives, positives), ascending: P(toxic), or its logit.
        review: the review score of each of these, in the same order.
        rising: how many entries of each class lie where the review score rises with the score (beyond, it falls); None
            for review scores of the user's own, which needn't follow the score at all.
        predicted: in each class, the position of the first positive prediction.
        ranks: where the positives' scores stand among the negatives'.
        everyone: review scores, ascending, of all.
        mistaken, missed: the same of the false positives and of the false negatives.
        right, wrong: uncertainties, ascending, of the right and the wrong predictions, however reviews are chosen.
        logits: whether ``scores`` are logits.
        toxic: review scores, ascending, of the positives; None if nobody asked for them.
    """

    scores: tuple[Sorted, Sorted]
    review: tuple[np.ndarray, np.ndarray]
    rising: tuple[int, int] | None
    predicted: tuple[int, int]
    ranks: Ranks
    everyone: Sorted
    mistaken: Sorted
    missed: Sorted
    right: Sorted
    wrong: Sorted
    logits: bool
    toxic: Sorted | None = None


# --- sorting ------------------------------------------------------------------------------------------------------


def uncertainty(scores: np.ndarray, logits: bool) -> np.ndarray:
    """What orders predictions as the paper's equation 1, p (1 - p), does.

    min(p, 1 - p) has the same order without the rounding of a product: 1 - p is exact where p >= 1/2. Of a logit it is
    minus the absolute value, since logits don't saturate.
    """
    unsure: np.ndarray = -np.abs(scores) if logits else np.minimum(scores, 1.0 - scores)
    return unsure


def sort_rows(
    labels: np.ndarray,
    scores: np.ndarray,
    review_scores: np.ndarray | None = None,
    multiplicity: np.ndarray | None = None,
    *,
    review_strategy: str = "uncertainty",
    threshold: float = 0.5,
    logits: bool = False,
    toxic: bool = False,
) -> Rows:
    """Sort the rows, once for everything.

    Args:
        labels: 0 or 1 (toxic), shape (n,).
        scores: float64 of shape (n,): P(toxic), or its logit with ``logits``.
        review_scores: finite float64 of shape (n,), the larger the sooner reviewed; replaces ``review_strategy``.
        multiplicity: how many rows each entry stands for; None if one.
        review_strategy: "uncertainty" reviews by `uncertainty`, "toxicity" by p.
        threshold: of p; a row is predicted toxic strictly above it.
        logits: see ``scores``.
        toxic: whether `Rows.toxic` is wanted, which moderators who err need.
    """
    members = [labels != 1, labels == 1]
    if review_scores is not None:  # each must stay beside its score
        members = [np.flatnonzero(member)[np.argsort(scores[member])] for member in members]
    low, high = (
        sort_values(scores[m], None if multiplicity is None else multiplicity[m], runs=review_scores is not None)
        for m in members
    )
    first, last = (
        int((sigmoid(side.values) if logits else side.values).searchsorted(threshold, "right")) for side in (low, high)
    )
    # from here on positives follow negatives, so that all wrong predictions are one stretch: those from `first` up
    # among the negatives, and those below `last` among the positives
    n = len(low.values)
    values = np.concatenate([low.values, high.values])
    counts = [low.multiplicity, high.multiplicity]
    every = None if counts[0] is None else np.concatenate(counts)
    unsure, rising = uncertainty(values, logits), None
    if review_scores is not None:
        review = review_scores[np.concatenate(members)]
    elif review_strategy == "toxicity":
        review, rising = values, (n, len(values) - n)
    else:
        middle = 0.0 if logits else 0.5
        review, rising = unsure, (int(low.values.searchsorted(middle)), int(high.values.searchsorted(middle)))

    def ascending(column: np.ndarray, part: slice) -> Sorted:
        runs = column is not review or review_scores is None  # they rise and fall with the scores
        return sort_values(column[part], None if every is None else every[part], runs=runs)

    mistaken, missed = ascending(review, slice(first, n)), ascending(review, slice(n, n + last))
    right = merge_sorted(ascending(unsure, slice(first)), ascending(unsure, slice(n + last, None)))
    if review is unsure:
        wrong = merge_sorted(mistaken, missed)
        everyone = merge_sorted(right, wrong)
    else:
        wrong, everyone = ascending(unsure, slice(first, n + last)), ascending(review, slice(None))
    return Rows(
        scores=(low, high),
        review=(review[:n], review[n:]),
        rising=rising,
        predicted=(first, last),
        ranks=rank_sorted(low, high),
        everyone=everyone,
        mistaken=mistaken,
        missed=missed,
        right=right,
        wrong=wrong,
        logits=logits,
        toxic=ascending(review, slice(n, None)) if toxic else None,
    )


# --- the model alone ----------------------------------------------------------------------------------------------


def put_model(
    scores: Scores, accuracy: tuple[Any, int], alone: Curve, calibration: Curve, brier: Any, ece: Any
) -> None:
    """The scores of the model alone, section 3.

    Args:
        scores: gets them.
        accuracy: right predictions, and rows.
        alone: the curve of its scores.
        calibration: the curve of wrong predictions, here the positives, by uncertainty among the right ones.
        brier, ece: mean of the `squared_error`, and `calibration_error`.
    """
    scores.proportion("accuracy", *accuracy, "no rows", math.nan)
    put_areas(scores, alone, ("auroc", "auprc"), CLASSES)
    scores.put("brier", brier)
    scores.put("ece", ece)
    one_class = "predictions are all right or all wrong"
    keys, classes = ("calibration_auroc", "calibration_auprc"), ("prediction is wrong", "prediction is right")
    put_areas(scores, calibration, keys, classes, one_class)


def squared_error(p: np.ndarray, label: Any) -> np.ndarray:
    """(p - y)^2, whose mean over rows is the Brier score (Brier 1950)."""
    squares: np.ndarray = np.square(p - label)
    return squares


def confidence_bins(confidence: np.ndarray, n_bins: int) -> np.ndarray:
    """The bin of each confidence max(p, 1 - p): of ``n_bins`` equal ones on [0, 1], [low, high) and the last closed."""
    bins: np.ndarray = ((confidence + ROUNDING) * n_bins).astype(np.int64)
    return np.minimum(bins, n_bins - 1, out=bins)


def calibration_error(right: np.ndarray, confidence: np.ndarray, n: int) -> Any:
    """Expected calibration error (Naeini et al. 2015): the mean over rows of |accuracy - confidence| of their bin.

    Args:
        right, confidence: right predictions, and the sum of the confidences, in each bin, shape (..., n_bins).
        n: rows.
    """
    return np.abs(right - confidence).sum(axis=-1) / n


def put_risk_coverage(scores: Scores, right: np.ndarray, wrong: np.ndarray, calibration: Curve) -> None:
    """Areas under the risk-coverage and the generalised risk-coverage curve, the least uncertain accepted first.

    With E_i the expected number of wrong predictions among the i least uncertain rows (rows tied at i count in
    proportion):

    * AURC = 1/n sum over i = 1..n of E_i / i (Geifman and El-Yaniv 2017),
    * AUGRC = the trapezoid area under E_i / n over i / n (Traub et al. 2024) = e^2 / 2 + (1 - c) e (1 - e), with the
      error rate e and c the calibration ROC-AUC. It is 1 minus the area under OC-accuracy with
      review by uncertainty.

    Args:
        scores: gets them.
        right, wrong: predictions of each uncertainty, ascending, shape (..., t).
        calibration: the curve of the same, whose area is c.
    """
    size = right + wrong
    ends = size.cumsum(axis=-1)
    starts, before, n = ends - size, wrong.cumsum(axis=-1) - wrong, ends[..., -1]
    rate = ratio(wrong, size, 0.0)
    # among tied rows E_i / i = rate + (before - starts rate) / i: a harmonic sum
    parts = (before - starts * rate) * harmonic_sums(starts, ends) + rate * size
    scores.put("aurc", parts.sum(axis=-1) / n)
    inversions, n_wrong = (np.asarray(x, dtype=np.float64) for x in (calibration.inversions(), calibration.n_positives))
    scores.put("augrc", (n_wrong**2 + inversions) / (2.0 * np.square(n, dtype=np.float64)))


class Reliability(NamedTuple):
    """The reliability diagram; arrays of shape (n_bins,). Means over an empty bin are nan.

    Attributes:
        edges: lower edge of each of the `confidence_bins`.
        n_rows: rows in it.
        confidence: their mean confidence max(p, 1 - p).
        accuracy: share of right predictions among them.
        ece: expected calibration error, a float.
    """

    edges: np.ndarray
    n_rows: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray
    ece: float


def reliability(rows: Rows, n_bins: int = 15) -> Reliability:
    """Confidence and accuracy in ``n_bins`` bins."""
    count, right, confidence = np.zeros((3, n_bins))
    for positive, (p, weight) in enumerate(_probabilities(rows)):
        for predicted, part in enumerate((slice(rows.predicted[positive]), slice(rows.predicted[positive], None))):
            sure, sizes = np.maximum(p[part], 1.0 - p[part]), None if weight is None else weight[part]
            bins = confidence_bins(sure, n_bins)
            inside = np.bincount(bins, sizes, minlength=n_bins)
            count += inside
            confidence += np.bincount(bins, sure if sizes is None else sure * sizes, minlength=n_bins)
            if predicted == positive:
                right += inside
    return Reliability(
        edges=np.arange(n_bins) / n_bins,
        n_rows=count.astype(np.int64),
        confidence=ratio(confidence, count, math.nan),
        accuracy=ratio(right, count, math.nan),
        ece=float(calibration_error(right, confidence, rows.everyone.n_rows)),
    )


def _probabilities(rows: Rows) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """P(toxic) of the negatives and of the positives, and how many rows each stands for (None: one)."""
    return [(sigmoid(side.values) if rows.logits else side.values, side.multiplicity) for side in rows.scores]


def brier_score(rows: Rows) -> float:
    """Mean of the `squared_error`."""
    total = 0.0
    for positive, (p, weight) in enumerate(_probabilities(rows)):
        squares = squared_error(p, positive)
        total += float(squares.sum() if weight is None else (squares * weight).sum())
    return total / rows.everyone.n_rows


def calibration_curve(rows: Rows) -> Curve:
    """Wrong predictions (the positives here) ranked by uncertainty among the right ones, as in section 3."""
    return rank_sorted(rows.right, rows.wrong).curve()


def by_uncertainty(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Right and wrong predictions of each uncertainty, ascending, shape (t,)."""
    unsure = merge_sorted(rows.right, rows.wrong)
    values = unsure.values
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    wrong = np.diff(rows.wrong.upto(values[last]), prepend=0)
    return np.diff(unsure.rows_before(last + 1), prepend=0) - wrong, wrong
