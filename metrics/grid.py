"""Scores on a grid: a state of bounded size, and how far each score can be from what the exact scores would give.

The grid has the points 0, r, 2r, ... 1 for a power of two r. A probability on a point keeps its value; one between two
points becomes their middle. So a state knows of each row either its score or the open interval of width r around what
it has instead: a *cell*. The order of rows in different cells is known, and within a point they are tied; within an
interval any order, ties included, is possible. Each bound here is the furthest that any of these orders moves a score.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .inputs import describe, is_number, refuse
from .ranking import harmonic_sums

#: The finest grid: its points and middles, and 1 minus them, are float64 numbers.
FINEST = 2.0**-40


class Cells(NamedTuple):
    """Rows by cell, in ascending order of score.

    Attributes:
        values: float64 of shape (g,): the point, or the middle of the interval.
        negatives, positives: how many rows of each class, int64 of shape (g,) (or float64 weights).
        within: bool of shape (g,): whether it is an interval.
    """

    values: np.ndarray
    negatives: np.ndarray
    positives: np.ndarray
    within: np.ndarray


def check_resolution(module: str, resolution: Any, from_logits: bool) -> float:
    """The option ``score_resolution``: 0.0 for None.

    Raises:
        ValueError: unless it is a power of two from 2^-40 to 1/2, and there are probabilities.
    """
    if resolution is None:
        return 0.0
    if from_logits:
        hint = "a grid bounds only what lies in [0, 1]: apply a sigmoid or softmax first"
        refuse(module, "option score_resolution", f"{describe(resolution)} beside from_logits", "probabilities", hint)
    if not is_number(resolution) or not FINEST <= resolution <= 0.5 or math.frexp(resolution)[0] != 0.5:
        refuse(module, "option score_resolution", describe(resolution), "a power of two from 2**-40 to 2**-1, or None")
    return float(resolution)


def to_grid(scores: np.ndarray, resolution: float) -> np.ndarray:
    """Probabilities as what their cells have instead; exact, as the resolution is a power of two.

    >>> to_grid(np.array([0.0, 0.1, 0.25, 0.3, 0.5, 1.0]), 0.25).tolist()
    [0.0, 0.125, 0.25, 0.375, 0.5, 1.0]
    """
    steps = scores / resolution
    below = np.floor(steps)
    gridded: np.ndarray = (below + 0.5 * (below != steps)) * resolution + 0.0
    return gridded


def cells_of(labels: np.ndarray, scores: np.ndarray, counts: np.ndarray | None, resolution: float) -> Cells:
    """The cells of rows with scores on a grid; arguments as in `ranking.rank`."""
    values, at = np.unique(scores, return_inverse=True)
    sizes = np.bincount(2 * at + labels, counts, minlength=2 * len(values)).astype(np.int64).reshape(-1, 2)
    return Cells(values, sizes[:, 0], sizes[:, 1], np.floor(values / resolution) * resolution != values)


def furthest(value: Any, bounds: Any) -> float:
    """How far a score can be from ``value`` if it lies between the least and the greatest of ``bounds``; nan if a bound
    is undefined, or the value."""
    bounds = np.asarray(bounds, dtype=float)
    if np.isnan(bounds).any() or math.isnan(value):
        return math.nan
    return max(0.0, float(bounds.max() - value), float(value - bounds.min()))


def _above(sizes: np.ndarray) -> np.ndarray:
    """Rows in the cells above each."""
    above: np.ndarray = sizes[::-1].cumsum()[::-1] - sizes
    return above


def roc_auc_error(cells: Cells) -> float:
    """Bound of the ROC-AUC's error.

    A pair of a positive and a negative within an interval counts 1/2, and truly 0, 1/2 or 1; all other pairs are in
    known order. So the area is off by at most half the share of such pairs, and is when all positives lie above all
    negatives in every interval, or all below.
    """
    n_pairs = float(cells.positives.sum()) * float(cells.negatives.sum())
    unknown = float((cells.positives * cells.negatives.astype(np.float64))[cells.within].sum())
    return unknown / (2.0 * n_pairs) if n_pairs else math.nan


def average_precision_bounds(cells: Cells, head: float = 0.0, loose: Any = False) -> tuple[float, float]:
    """The least and the greatest average precision; nan without positives.

    T positives and F negatives lie above an interval with b positives and a negatives. At each of its positives
    TP <= T + b and FP >= F, with equality if they are tied above its negatives: at most b (T + b) / (T + b + F).
    The j-th from above has TP >= T + j and FP <= F + a, with equality if they have different scores and lie below its
    negatives: at least the sum of (T + j) / (T + j + F + a) over j = 1 ... b.

    Args:
        cells: weights of rows that no oracle reviews.
        head: weight of the positives above all cells.
        loose: in which cells weights may be fractions of rows: the sum is then replaced by the integral over j from 0
            to b, which is smaller, as its terms rise with j, and remains so however rows are divided.
    """
    b, a = cells.positives, cells.negatives
    n = head + float(b.sum())
    if not n:
        return math.nan, math.nan
    t, f = head + _above(b), _above(a)
    tied = _share(b * (t + b), t + b + f + a)
    best = np.where(cells.within, _share(b * (t + b), t + b + f), tied)
    low, high = np.floor(t + 1e-9), np.ceil(f + a - 1e-9)  # whole rows: precision rises with TP and falls with FP
    whole = b - high * harmonic_sums(low + high, low + high + np.floor(b + 1e-9))
    worst = np.where(cells.within, np.where(loose, _integral(t, f + a, b), whole), tied)
    return (head + float(worst.sum())) / n, (head + float(best.sum())) / n


def interpolated_area_bounds(cells: Cells, head: float = 0.0) -> tuple[float, float]:
    """The least and the greatest area under the interpolated precision-recall curve; nan without positives.

    From T to T + b true positives within an interval the curve has between F and F + a false positives, so its area
    lies between the integrals of x / (x + F + a) and x / (x + F).
    """
    b, a = cells.positives, cells.negatives
    n = head + float(b.sum())
    if not n:
        return math.nan, math.nan
    t, f = head + _above(b), _above(a)
    step = _share(b + a, b)  # the straight line between two points, as in `ranking.Curve.interpolated_area`
    c = f - (step - 1.0) * t
    line = _share(b, step) - _share(c, step**2) * np.log1p(_share(b + a, t + f))  # c is 0 where t + f is
    worst = np.where(cells.within, _integral(t, f + a, b), line)
    best = np.where(cells.within, _integral(t, f, b), line)
    return (head + float(worst.sum())) / n, (head + float(best.sum())) / n


def _integral(t: np.ndarray, f: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The integral of x / (x + f) over x from t to t + b."""
    integral: np.ndarray = b - f * np.log1p(_share(b, t + f))
    return integral


def _share(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """A quotient; 0 where the denominator is."""
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    quotient = np.zeros(shape)
    np.divide(numerator, denominator, out=quotient, where=np.broadcast_to(denominator, shape) != 0)
    return quotient
