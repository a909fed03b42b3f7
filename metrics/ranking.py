"""Rank metrics of a binary classifier: exact, ties included, from sorted scores instead of a threshold grid.

Each class is sorted by value (much cheaper than an argsort of everything), then the distinct scores of the positives
are looked up among the negatives. ROC-AUC, average precision and the interpolated area under the precision-recall
curve are sums over those distinct scores.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .scoring import ratio


class Curve(NamedTuple):
    """What a threshold at each distinct score of the positives, ascending, lets through.

    Attributes:
        weight: positives with exactly this score, shape (g,). Weights may be fractional.
        tp: positives at or above it, shape (g,), those of ``head`` included.
        fp: negatives at or above it, shape (g,).
        fp_above: negatives strictly above it, shape (g,).
        head: weight of the positives above every threshold (an oracle put them there); the sum of ``weight`` and
            ``head`` is ``n_positives``.
        n_positives, n_negatives: all there are.
    """

    weight: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    fp_above: np.ndarray
    head: float
    n_positives: int
    n_negatives: int

    def inversions(self) -> Any:
        """Twice the number of (positive, negative) pairs in the wrong order, tied pairs counting once."""
        return (self.weight * (self.fp + self.fp_above)).sum()

    def roc_auc(self) -> float:
        """Area under the ROC curve, 1 - D / (P N), D the pairs in the wrong order, ties half; nan with one class."""
        pairs = self.n_positives * self.n_negatives
        return 1.0 - float(self.inversions()) / (2.0 * pairs) if pairs else math.nan

    def average_precision(self) -> float:
        """Average precision, the mean over positives of TP / (TP + FP) at their score; nan without positives."""
        if not self.n_positives:
            return math.nan
        precision = self.tp / (self.tp + self.fp)
        return (self.head + float((self.weight * precision).sum())) / self.n_positives

    def interpolated_area(self) -> float:
        """Area under the precision-recall curve as Davis and Goadrich (2006) interpolate it; nan without positives.

        Between two thresholds FP grows linearly with TP: FP = f + h (x - t), so precision is x / ((1 + h) x + c) with
        c = f - h t, whose integral over x = TP is elementary. (Linear interpolation of precision would be too kind.)
        """
        if not self.n_positives:
            return math.nan
        some = self.weight > 0
        weight, tp, fp, f = self.weight[some], self.tp[some], self.fp[some], self.fp_above[some]
        t = tp - weight
        step = (weight + fp - f) / weight  # 1 + h
        c = f - (step - 1.0) * t
        start = t + f
        growth = np.divide(tp + fp - start, start, out=np.zeros(len(t)), where=start > 0)  # c is 0 where start is
        area = weight / step - c / step**2 * np.log1p(growth)
        return (self.head + float(area.sum())) / self.n_positives


class Ranks(NamedTuple):
    """Where each distinct score of the positives, ascending, stands in the sorted scores of both classes.

    Attributes:
        distinct: the g distinct scores of the positives.
        first, last: positives below it, and at or below it: positions in the sorted positives, int64 of shape (g,).
        below, upto: negatives below it, and at or below it: positions in the sorted negatives, int64 of shape (g,).
        n_positives, n_negatives: all there are.
    """

    distinct: np.ndarray
    first: np.ndarray
    last: np.ndarray
    below: np.ndarray
    upto: np.ndarray
    n_positives: int
    n_negatives: int

    def curve(self) -> Curve:
        """The curve of the scores as they are."""
        return Curve(
            weight=self.last - self.first,
            tp=self.n_positives - self.first,
            fp=self.n_negatives - self.below,
            fp_above=self.n_negatives - self.upto,
            head=0.0,
            n_positives=self.n_positives,
            n_negatives=self.n_negatives,
        )


def rank(labels: np.ndarray, scores: np.ndarray) -> Ranks:
    """`Ranks` of n rows: labels 0 or 1 (1 is positive), scores float64, both of shape (n,)."""
    positive = labels == 1
    return rank_sorted(np.sort(scores[~positive]), np.sort(scores[positive]))


def rank_sorted(negatives: np.ndarray, positives: np.ndarray) -> Ranks:
    """`Ranks` of the scores of each class, both sorted ascending."""
    ends = np.flatnonzero(positives[1:] != positives[:-1]) + 1
    first = np.concatenate([ends[:0] if not len(positives) else [0], ends]).astype(np.int64)
    last = np.append(first[1:], len(positives))[: len(first)]
    distinct = positives[first]
    below = negatives.searchsorted(distinct, side="left")
    upto = below
    if len(negatives):  # the second look-up is for tied scores only: most data have few
        tied = np.flatnonzero(negatives[np.minimum(below, len(negatives) - 1)] == distinct)
        if len(tied):
            upto = below.copy()
            upto[tied] = negatives.searchsorted(distinct[tied], side="right")
    return Ranks(distinct, first, last, below, upto, len(positives), len(negatives))


def roc_auc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Area under the ROC curve: how often a positive outscores a negative, ties half.

    Args:
        labels: 0 or 1 (positive), shape (n,).
        scores: float64, finite, shape (n,); larger means more positive.

    Returns:
        A float in [0, 1], nan if only one class is there.

    >>> roc_auc(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.875
    """
    return rank(labels, scores).curve().roc_auc()


def average_precision(labels: np.ndarray, scores: np.ndarray) -> float:
    """Average precision, sum of (R_i - R_{i-1}) P_i over the distinct scores; tied scores move together.

    Args:
        labels: 0 or 1 (positive), shape (n,).
        scores: float64, finite, shape (n,); larger means more positive.

    Returns:
        A float in (0, 1], nan without positives. Both metrics cost one sort: ``rank(labels, scores).curve()`` has both.

    >>> average_precision(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.9]))
    0.8333333333333333
    """
    return rank(labels, scores).curve().average_precision()


# --- grouped rows -------------------------------------------------------------------------------------------------


def rank_table(labels: np.ndarray, scores: np.ndarray, max_groups: int = 512) -> np.ndarray:
    """All that rank metrics know of rows, as counts: for resampling, where it costs the same however many rows are.

    Args:
        labels: 0 or 1 (positive), shape (n,).
        scores: float64, finite, shape (n,).
        max_groups: with up to so many distinct scores among the positives nothing is lost. With more, positives are
            cut into so many groups of equal size, and each is a tie with the negatives it meets.

    Returns:
        int64 array of shape (2, g): negatives and positives in each group of rows, ascending.

    >>> rank_table(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.9]))
    array([[1, 1, 0, 0, 0],
           [0, 1, 0, 1, 0]])
    """
    positive = labels == 1
    negatives, positives = np.sort(scores[~positive]), np.sort(scores[positive])
    ranks = rank_sorted(negatives, positives)
    if len(ranks.distinct) > max_groups:
        cuts = np.unique(positives[np.arange(1, max_groups) * len(positives) // max_groups])
        ends = [np.append(part.searchsorted(cuts), len(part)) for part in (negatives, positives)]
        return np.diff(np.stack(ends), prepend=0)
    table = np.zeros((2, 2 * len(ranks.distinct) + 1), dtype=np.int64)
    table[1, 1::2] = ranks.last - ranks.first
    table[0, 1::2] = ranks.upto - ranks.below
    table[0, 0::2] = np.append(ranks.below, len(negatives)) - np.append(0, ranks.upto)
    return table


def table_roc_auc(table: np.ndarray) -> Any:
    """Area under the ROC curve of tables of shape (..., 2, g) such as `rank_table`'s; nan with one class.

    >>> float(table_roc_auc(np.array([[1, 1, 0, 0, 0], [0, 1, 0, 1, 0]])))
    0.875
    """
    negatives, positives = table[..., 0, :], table[..., 1, :]
    below = np.cumsum(negatives, axis=-1) - negatives / 2
    pairs = negatives.sum(axis=-1) * positives.sum(axis=-1)
    return ratio((positives * below).sum(axis=-1), pairs, math.nan)


def table_average_precision(table: np.ndarray) -> Any:
    """Average precision of tables of shape (..., 2, g) such as `rank_table`'s; nan without positives.

    >>> round(float(table_average_precision(np.array([[1, 1, 0, 0, 0], [0, 1, 0, 1, 0]]))), 4)
    0.8333
    """
    tp = np.cumsum(table[..., 1, ::-1], axis=-1)
    found = tp + np.cumsum(table[..., 0, ::-1], axis=-1)
    precision = ratio(tp, found, 0.0)
    return ratio((table[..., 1, ::-1] * precision).sum(axis=-1), tp[..., -1], math.nan)
