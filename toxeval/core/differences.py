"""Differences between the scores of independent sets of rows: intervals, p-values, and the gap between the extremes.

An interval of a difference follows from those of its two parts (the method of variance estimates recovery, Zou and
Donner 2008; for proportions Newcombe 1998, method 10), so it is as honest as they are where positives are few.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from .intervals import normal_quantile

#: No p-value is smaller: levels nearer to 1 can't be told from 1.
SMALLEST_P = 1e-15
#: How near the normal quantile of a p-value is found.
NEAR = 1e-10

#: Level -> bounds of a score.
Bounds = Callable[[float], tuple[float, float]]
#: Lows and highs of several scores.
ArrayBounds = tuple[np.ndarray, np.ndarray]


def difference_interval(
    first: float, first_bounds: tuple[float, float], second: float, second_bounds: tuple[float, float]
) -> tuple[float, float]:
    """The interval of ``first - second`` from the intervals of both.

    >>> [round(bound, 4) for bound in difference_interval(0.8, (0.6, 0.9), 0.5, (0.4, 0.6))]
    [0.0764, 0.4414]
    """
    difference = first - second
    down = math.hypot(first - first_bounds[0], second_bounds[1] - second)
    up = math.hypot(first_bounds[1] - first, second - second_bounds[0])
    return difference - down, difference + up


def p_value(first: float, first_bounds: Bounds, second: float, second_bounds: Bounds) -> float:
    """How improbable so large a difference is if there is none: the p for which the interval of the difference at the
    level 1 - p just touches 0, so that p < 0.05 says what the interval at 0.95 says.

    >>> from toxeval.core.intervals import wilson
    >>> round(p_value(0.8, lambda level: wilson(80, 100, level), 0.5, lambda level: wilson(50, 100, level)), 6)
    8e-06
    """

    def reach(level: float) -> float:
        low, high = difference_interval(first, first_bounds(level), second, second_bounds(level))
        return high if first < second else -low

    return p_value_of(reach)


def p_value_of(reach: Callable[[float], float]) -> float:
    """The p for which an interval at the level 1 - p just touches 0; at least `SMALLEST_P`, at most 1.

    Args:
        reach: level -> how far the interval reaches beyond 0, below 0 if it doesn't.
    """
    from scipy.optimize import brentq

    def reach_at(z: float) -> float:
        """The same at the level at which a normal variable is within z, in which an interval grows about linearly."""
        return reach(math.erf(z / math.sqrt(2)))

    low, high = 1e-9, normal_quantile(1.0 - SMALLEST_P)
    if reach_at(low) >= 0.0:
        return 1.0
    if reach_at(high) < 0.0:
        return SMALLEST_P
    z = float(brentq(reach_at, low, high, xtol=NEAR))
    return max(math.erfc(z / math.sqrt(2)), SMALLEST_P)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for their number (Holm 1979): if those below 0.05 count, the probability that any of them is
    a false alarm is at most 0.05. The i-th smallest of m is multiplied by m - i + 1, and none is smaller than one
    before it.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(np.asarray(p_values)[order] * factors), 1.0)
    return [float(p) for p in corrected]


# --- the gap ------------------------------------------------------------------------------------------------------


def gap_interval(values: np.ndarray, each: ArrayBounds, joint: ArrayBounds) -> tuple[float, float]:
    """The interval of the largest of k scores minus the smallest.

    Resampling would fail here: the observed gap is larger than the true one, and those of resamples larger still; where
    the true one is 0, no interval around them holds it. Instead:

    * The true gap is at least the lower bound of the difference of any pair, if these bounds hold for all pairs at
      once: they do if each score is bounded at the level of the studentised range (Tukey's method; for proportions
      Agresti et al. 2008, Biometrics 64).
    * It is the difference of a single pair, and so at most the highest upper bound minus the lowest lower bound, unless
      one of two intervals misses on its outer side. That needs no correction for k.

    Args:
        values: the scores of k independent sets of rows, shape (k,), k at least 2.
        each: (lows, highs) of each at the level wanted.
        joint: the same at `range_level` of k and that level, exact, since Wilson's is too short at such levels.

    Returns:
        (low, high); low is 0 where the scores may all be the same.
    """
    low = 0.0
    for i, value in enumerate(values):  # against all others at once
        down = np.hypot(value - joint[0][i], joint[1] - values)
        low = max(low, float((value - values - down).max()))
    return low, float(each[1].max() - each[0].min())


@cache
def range_level(k: int, level: float) -> float:
    """The level at which each of k means has to be bounded for the differences of all pairs to hold at ``level``: that
    of the studentised range's quantile q over sqrt(2), with known variances.

    >>> round(range_level(2, 0.95), 4), round(range_level(20, 0.95), 6)
    (0.95, 0.999606)
    """
    from scipy.optimize import brentq

    x = np.linspace(-9.0, 9.0, 401)  # of a function as smooth as this the sum is exact
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    below = _normal_cdf(x)

    def within(z: float) -> float:
        """P(largest - smallest of k standard normals <= z sqrt(2)), over where the smallest is."""
        between = _normal_cdf(x + z * math.sqrt(2)) - below
        return float((k * density * between ** (k - 1)).sum() * (x[1] - x[0]))

    least = normal_quantile(level)
    if k < 2 or within(least) >= level:  # with two means it is the level itself
        return level
    z = float(brentq(lambda z: within(z) - level, least, 40.0, xtol=NEAR))  # scipy's own quantile ends short of this
    return min(math.erf(z / math.sqrt(2)), 1.0 - SMALLEST_P)


def _normal_cdf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in x.tolist()])
