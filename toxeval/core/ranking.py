"""Rank metrics of a binary classifier: exact, ties included, from sorted scores instead of a threshold grid.

Each class is sorted by value (much cheaper than an argsort of everything), then the distinct scores of the positives
are looked up among the negatives. ROC-AUC, average precision and the interpolated area under the precision-recall
curve are sums over those distinct scores.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .scoring import Scores, ratio


class Sorted(NamedTuple):
    """Values in ascending order, each of which may stand for several equal rows.

    Attributes:
        values: shape (m,).
        before: rows before each value and, last, all of them: int64 of shape (m + 1,). None if each is one row.
    """

    values: np.ndarray
    before: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.values) if self.before is None else int(self.before[-1])

    @property
    def multiplicity(self) -> np.ndarray | None:
        """How many rows each value stands for; None if one."""
        return None if self.before is None else np.diff(self.before)

    def rows_before(self, positions: Any) -> Any:
        """How many rows lie before a value's position."""
        return positions if self.before is None else self.before[positions]

    def below(self, x: Any) -> Any:
        """How many rows are below x."""
        return self.rows_before(self.values.searchsorted(x, side="left"))

    def upto(self, x: Any) -> Any:
        """How many rows are at or below x."""
        return self.rows_before(self.values.searchsorted(x, side="right"))

    def around(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many rows are below each x, and how many at or below it: `below` and `upto`, which is looked up for tied
        values only, as most data have few."""
        at = self.values.searchsorted(x, side="left")
        below = upto = self.rows_before(at)
        if len(self.values):
            tied = np.flatnonzero(self.values[np.minimum(at, len(self.values) - 1)] == x)
            if len(tied):
                upto = below.copy()
                upto[tied] = self.upto(x[tied])
        return below, upto

    def nth(self, rows: Any) -> Any:
        """The value of the n-th row, counted from 0."""
        return self.values[rows if self.before is None else self.before.searchsorted(rows, side="right") - 1]


def sort_values(values: np.ndarray, multiplicity: np.ndarray | None = None, *, runs: bool = False) -> Sorted:
    """Values in order.

    Args:
        values: shape (m,).
        multiplicity: how many rows each stands for, int64 of shape (m,); None if one.
        runs: whether the values rise and fall in long runs, which a stable sort only has to merge.
    """
    if multiplicity is None:
        return Sorted(np.sort(values, kind="stable" if runs else "quicksort"))
    order = np.argsort(values, kind="stable")
    return Sorted(values[order], np.append(0, np.cumsum(multiplicity[order])))


def merge_sorted(*parts: Sorted) -> Sorted:
    """Several as one, in linear time: a stable sort finds the runs."""
    merged = np.concatenate([part.values for part in parts])
    multiplicity = [part.multiplicity for part in parts]
    if multiplicity[0] is not None:
        return sort_values(merged, np.concatenate(multiplicity))
    merged.sort(kind="stable")
    return Sorted(merged)


class Curve(NamedTuple):
    """What a threshold at each distinct score of the positives lets through.

    The last axis runs over the g scores, in ascending or descending order; leading axes, if any, over resamples.
    Weights may be fractions of rows. Or there are the curves of k groups of rows end to end: what is here for each
    score has the shape (g,) then, what is for all of them (k,).

    Attributes:
        weight: positives with exactly this score, shape (..., g).
        tp: positives at or above it, those of ``head`` included.
        fp: negatives at or above it.
        fp_above: negatives strictly above it.
        head: weight of the positives above every threshold (an oracle put them there), shape (...); the sum of
            ``weight`` and ``head`` is ``n_positives``.
        n_positives, n_negatives: all there are, shape (...).
        misplaced: twice the number of further pairs in the wrong order, of rows at the ends whose class isn't what puts
            them there (moderators who err), shape (...). Only the ROC-AUC knows of them.
        starts: of the curves of groups, where in (g,) each begins, shape (k,).
    """

    weight: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    fp_above: np.ndarray
    head: Any
    n_positives: Any
    n_negatives: Any
    misplaced: Any = 0
    starts: np.ndarray | None = None

    def _total(self, values: np.ndarray) -> Any:
        """The sum over the scores."""
        return values.sum(axis=-1) if self.starts is None else sum_parts(values, self.starts)

    def inversions(self) -> Any:
        """Twice the number of (positive, negative) pairs in the wrong order, tied pairs counting once."""
        at_least = self.fp + self.fp_above
        if at_least.dtype.kind == "i" and at_least.ndim == 1 and many_pairs(self.n_positives, self.n_negatives):
            at_least = at_least.astype(object)  # Python's integers, for billions of rows
        return self._total(self.weight * at_least) + self.misplaced

    def roc_auc(self) -> Any:
        """Area under the ROC curve, 1 - D / (P N), D the pairs in the wrong order, ties half; nan with one class.

        The statistic of Mann and Whitney (1947); Hanley and McNeil (1982) show that it is the area.
        """
        pairs = 2.0 * self.n_positives * self.n_negatives
        return 1.0 - ratio(self.inversions(), pairs, math.nan)

    def average_precision(self) -> Any:
        """Average precision, the mean over positives of TP / (TP + FP) at their score; nan without positives.

        As in `sklearn.metrics.average_precision_score`: the sum of (R_i - R_{i-1}) P_i over the distinct scores.
        """
        precision = ratio(self.tp, self.tp + self.fp, 0.0)
        return ratio(self.head + self._total(self.weight * precision), self.n_positives, math.nan)

    def interpolated_area(self) -> Any:
        """Area under the precision-recall curve as Davis and Goadrich (2006) interpolate it; nan without positives.

        Between two thresholds FP grows linearly with TP: FP = f + h (x - t), so precision is x / ((1 + h) x + c) with
        c = f - h t, whose integral over x = TP is elementary. (Linear interpolation of precision would be too kind.)
        """
        t, f = self.tp - self.weight, self.fp_above
        passed, start = self.weight + self.fp - f, t + f
        share = ratio(self.weight, passed, 0.0)  # 1 / (1 + h)
        growth = ratio(passed, np.where(start > 1e-9, start, 0.0), 0.0)  # at the first threshold, where c is 0
        parts = share * (self.weight - (f * share - (1.0 - share) * t) * np.log1p(growth))
        return ratio(self.head + self._total(parts), self.n_positives, math.nan)


def many_pairs(n_positives: Any, n_negatives: Any) -> bool:
    """Whether there may be too many pairs for sums in int64."""
    pairs = 1.0 * n_positives * n_negatives
    return bool((pairs.max() if isinstance(pairs, np.ndarray) else pairs) >= 1 << 60)


def sum_parts(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums over stretches of an array, shape (k,), of which each ends where the next begins and may be empty.

    >>> sum_parts(np.array([1, 2, 4]), np.array([0, 2, 2, 3]))
    array([3, 0, 4, 0])
    """
    sums = np.zeros(len(starts), dtype=values.dtype)
    some = np.diff(np.append(starts, len(values))) > 0
    if some.any():
        sums[some] = np.add.reduceat(values, starts[some])
    return sums


def end_to_end(curves: Sequence[Curve]) -> Curve:
    """The curves of groups as they are, for what is known of all of them at once."""
    sizes = [len(curve.weight) for curve in curves]
    each = {name: np.concatenate([getattr(c, name) for c in curves]) for name in ("weight", "tp", "fp", "fp_above")}
    n_positives, n_negatives = np.array([(c.n_positives, c.n_negatives) for c in curves]).T
    return Curve(**each, head=0.0, n_positives=n_positives, n_negatives=n_negatives, starts=np.cumsum(sizes) - sizes)


class Ranks(NamedTuple):
    """Where each distinct score of the positives, ascending, stands in the sorted scores of both classes.

    Attributes:
        distinct: the g distinct scores of the positives.
        first, last: positives below it, and at or below it, int64 of shape (g,).
        below, upto: negatives below it, and at or below it, int64 of shape (g,).
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


def rank(labels: np.ndarray, scores: np.ndarray, multiplicity: np.ndarray | None = None) -> Ranks:
    """`Ranks` of n rows.

    Args:
        labels: 0 or 1 (positive), shape (m,).
        scores: float64 of shape (m,).
        multiplicity: how many rows each of the m stands for; None if one.
    """
    return rank_sorted(*sort_classes(labels, scores, multiplicity))


def sort_classes(
    labels: np.ndarray, scores: np.ndarray, multiplicity: np.ndarray | None = None
) -> tuple[Sorted, Sorted]:
    """The scores of the negatives and of the positives in order; arguments as in `rank`."""
    positive = labels == 1
    members = ~positive, positive
    low, high = (sort_values(scores[m], None if multiplicity is None else multiplicity[m]) for m in members)
    return low, high


def rank_sorted(negatives: Sorted, positives: Sorted) -> Ranks:
    """`Ranks` of the scores of each class."""
    values = positives.values
    ends = np.flatnonzero(values[1:] != values[:-1]) + 1
    starts = np.concatenate([ends[:0] if not len(values) else [0], ends]).astype(np.int64)
    first, distinct = positives.rows_before(starts), values[starts]
    last = np.append(first[1:], positives.n_rows)[: len(first)]
    below, upto = negatives.around(distinct)
    return Ranks(distinct, first, last, below, upto, positives.n_rows, negatives.n_rows)


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
    return float(rank(labels, scores).curve().roc_auc())


def put_areas(
    scores: Scores,
    curve: Curve,
    keys: tuple[str, str],
    classes: tuple[str, str],
    one_class: str = "only one class in the references",
) -> None:
    """The ROC-AUC and the average precision of a curve.

    With one class only both are named as undefined: the ROC-AUC is nan, and so is the average precision without
    positives; with nothing else it is 1 for any model.

    Args:
        scores: gets them.
        curve: its areas may have leading axes.
        keys: of the ROC-AUC, and of the average precision.
        classes: a positive and a negative row, such as "reference is threat".
        one_class: what to say of a ROC-AUC without one of them.

    >>> scores = Scores()
    >>> put_areas(scores, rank(np.array([1, 1]), np.array([0.2, 0.9])).curve(), ("roc", "ap"), ("row is A", "row is B"))
    >>> float(scores.values["ap"]), scores.undefined["ap"]
    (1.0, 'no row is B, 1.0 for any model')
    """
    n, m = curve.n_positives, curve.n_negatives
    put_roc_auc(scores, curve, keys[0], one_class)
    reasons = {f"no {classes[0]}, set to nan": n == 0, f"no {classes[1]}, 1.0 for any model": (m == 0) & (n != 0)}
    scores.area(keys[1], curve.average_precision(), reasons, n)


def put_roc_auc(scores: Scores, curve: Curve, key: str, one_class: str = "only one class in the references") -> None:
    """The ROC-AUC alone; arguments as in `put_areas`."""
    n, m = curve.n_positives, curve.n_negatives
    scores.area(key, curve.roc_auc(), {f"{one_class}, set to nan": (n == 0) | (m == 0)}, n, m)


#: Up to here harmonic sums are looked up.
_HARMONIC = np.append(0.0, np.cumsum(1.0 / np.arange(1, 2049)))


def harmonic_sums(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Sums of 1/i over i = start + 1 ... end, for whole numbers 0 <= start <= end; shape (g,).

    Beyond 2048, H(b) - H(a) = ln(b/a) + 1/2 (1/b - 1/a) - 1/12 (1/b^2 - 1/a^2), as exact as float64.

    >>> harmonic_sums(np.array([0, 1, 5000]), np.array([3, 3, 5000])).round(4).tolist()
    [1.8333, 0.8333, 0.0]
    """
    most = len(_HARMONIC) - 1
    near = [np.minimum(ends_, most).astype(np.int64) for ends_ in (starts, ends)]
    a, b = np.maximum(starts, most).astype(np.float64), np.maximum(ends, most).astype(np.float64)
    far = np.log1p((b - a) / a) - (b - a) / (2 * a * b) + (b - a) * (b + a) / (12 * (a * b) ** 2)
    sums: np.ndarray = _HARMONIC[near[1]] - _HARMONIC[near[0]] + far
    return sums


# --- grouped rows -------------------------------------------------------------------------------------------------


def rank_table(
    labels: np.ndarray, scores: np.ndarray, multiplicity: np.ndarray | None = None, *, max_groups: int = 512
) -> np.ndarray:
    """All that rank metrics know of rows, as counts: for resampling, where it costs the same however many rows are.

    Args:
        labels, scores, multiplicity: as in `rank`.
        max_groups: with up to so many distinct scores among the positives nothing is lost. With more, positives are
            cut into so many groups of equal size, and each is a tie with the negatives it meets.

    Returns:
        int64 array of shape (2, g): negatives and positives in each group of rows, ascending.

    >>> rank_table(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.4, 0.9]))
    array([[1, 1, 0, 0, 0],
           [0, 1, 0, 1, 0]])
    """
    negatives, positives = sort_classes(labels, scores, multiplicity)
    ranks = rank_sorted(negatives, positives)
    if len(ranks.distinct) > max_groups:
        cuts = np.unique(positives.nth(np.arange(1, max_groups) * positives.n_rows // max_groups))
        ends = [np.append(part.below(cuts), part.n_rows) for part in (negatives, positives)]
        return np.diff(np.stack(ends), prepend=0)
    table = np.zeros((2, 2 * len(ranks.distinct) + 1), dtype=np.int64)
    table[1, 1::2] = ranks.last - ranks.first
    table[0, 1::2] = ranks.upto - ranks.below
    table[0, 0::2] = np.append(ranks.below, ranks.n_negatives) - np.append(0, ranks.upto)
    return table


def table_curve(table: np.ndarray, reviewed: Any = 0.0) -> Curve:
    """The curve of tables such as `rank_table`'s.

    Args:
        table: negatives and positives in each group of equal scores, ascending, shape (..., 2, g).
        reviewed: how much of each an oracle takes out (negatives) or puts above all others (positives), of that shape.

    >>> float(table_curve(np.array([[1, 1, 0, 0, 0], [0, 1, 0, 1, 0]])).roc_auc())
    0.875
    """
    totals = table.sum(axis=-1, dtype=np.float64)  # int64 is too small for the pairs of billions of rows
    left = table - reviewed
    above = np.cumsum(left[..., ::-1], axis=-1)[..., ::-1]
    head = totals[..., 1] - above[..., 1, 0]
    return Curve(
        weight=left[..., 1, :],
        tp=head[..., None] + above[..., 1, :],
        fp=above[..., 0, :],
        fp_above=above[..., 0, :] - left[..., 0, :],
        head=head,
        n_positives=totals[..., 1],
        n_negatives=totals[..., 0],
    )
