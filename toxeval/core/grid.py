"""Scores on a grid: a state of bounded size, and how far some scores can be from what the exact ones would give.

The grid has the points 0, r, 2r, ... 1 for a power of two r. A probability on a point keeps its value; one between two
points becomes their middle. So a state knows of each row either its score or the open interval of width r around what
it has instead: a *cell*. The order of rows in different cells is known, and within a point they are tied; within an
interval any order, ties included, is possible. Each bound here is the furthest that any of these orders moves a score.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .ranking import harmonic_sums
from .refusals import refuse
from .scoring import ratio


class Cells(NamedTuple):
    """Rows by cell, in ascending order of score.

    Attributes:
        values: float64 of shape (g,): the point, or the middle of the interval.
        negatives, positives: how many rows of each class, int64 of shape (g,).
        within: bool of shape (g,): whether it is an interval.
    """

    values: np.ndarray
    negatives: np.ndarray
    positives: np.ndarray
    within: np.ndarray


def refuse_with_grid(resolution: float | None, *, from_logits: bool = False, beside: str = "") -> None:
    """Refuse a grid for what needn't lie in [0, 1]: logits, or the input ``beside``."""
    if resolution is None or not (from_logits or beside):
        return
    hint = "a grid bounds only what lies in [0, 1]"
    if from_logits:
        hint += ": apply a sigmoid or softmax first"
    found = f"{resolution} beside {'from_logits' if from_logits else beside}"
    refuse(found, "probabilities" if from_logits else "None", hint, option="score_resolution")


def refuse_off_grid(threshold: float, resolution: float) -> None:
    """Refuse a threshold that isn't a point of the grid: which side of it some rows are on wouldn't be known."""
    if resolution and threshold % resolution:
        nearest = round(threshold / resolution) * resolution
        refuse(str(threshold), f"a multiple of score_resolution, {resolution}, such as {nearest!r}", option="threshold")


def to_grid(scores: np.ndarray, resolution: float) -> np.ndarray:
    """Probabilities as what their cells have instead; exact, as the resolution is a power of two.

    >>> to_grid(np.array([0.0, 0.1, 0.25, 0.3, 0.5, 1.0]), 0.25).tolist()
    [0.0, 0.125, 0.25, 0.375, 0.5, 1.0]
    """
    steps = scores / resolution
    below = np.floor(steps)
    gridded: np.ndarray = (below + 0.5 * (below != steps)) * resolution + 0.0
    return gridded


def cells_of(labels: np.ndarray, scores: np.ndarray, multiplicity: np.ndarray | None, resolution: float) -> Cells:
    """The cells of rows with scores on a grid; arguments as in `ranking.rank`."""
    values, at = np.unique(scores, return_inverse=True)
    sizes = np.bincount(2 * at + labels, multiplicity, minlength=2 * len(values)).astype(np.int64).reshape(-1, 2)
    return Cells(values, sizes[:, 0], sizes[:, 1], np.floor(values / resolution) * resolution != values)


def furthest(value: Any, bounds: Any) -> float:
    """How far a score can be from ``value`` if it lies between the least and the greatest of ``bounds``; nan if a bound
    is undefined, or the value."""
    bounds = np.asarray(bounds, dtype=float)
    if np.isnan(bounds).any() or math.isnan(value):
        return math.nan
    return max(0.0, float(bounds.max() - value), float(value - bounds.min()))


def roc_auc_error(cells: Cells) -> float:
    """Bound of the ROC-AUC's error.

    A pair of a positive and a negative within an interval counts 1/2, and truly 0, 1/2 or 1; all other pairs are in
    known order. So the area is off by at most half the share of such pairs, and is when all positives lie above all
    negatives in every interval, or all below.
    """
    n_pairs = float(cells.positives.sum()) * float(cells.negatives.sum())
    unknown = float((cells.positives * cells.negatives.astype(np.float64))[cells.within].sum())
    return unknown / (2.0 * n_pairs) if n_pairs else math.nan


def average_precision_bounds(cells: Cells) -> tuple[float, float]:
    """The least and the greatest average precision; nan without positives.

    T positives and F negatives lie above an interval with b positives and a negatives. At each of its positives
    TP <= T + b and FP >= F, with equality if they are tied above its negatives: at most b (T + b) / (T + b + F).
    The j-th from above has TP >= T + j and FP <= F + a, with equality if they have different scores and lie below its
    negatives: at least the sum of (T + j) / (T + j + F + a) over j = 1 ... b.
    """
    b, a = cells.positives, cells.negatives
    n = int(b.sum())
    if not n:
        return math.nan, math.nan
    t, f = (sizes[::-1].cumsum()[::-1] - sizes for sizes in (b, a))
    tied = ratio(b * (t + b), t + b + f + a, 0.0)
    best = np.where(cells.within, ratio(b * (t + b), t + b + f, 0.0), tied)
    low, high = t, f + a
    worst = np.where(cells.within, b - high * harmonic_sums(low + high, low + high + b), tied)
    return float(worst.sum()) / n, float(best.sum()) / n
