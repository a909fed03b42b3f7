"""Confidence intervals from counts, for every kind of score: proportion, F1, average, area under a curve, any other.

A proportion has Wilson's interval and an F1 Wilson's through the Jaccard index: both hold their level with a handful of
examples, and are never empty because a rare class had luck. Everything else has the percentile interval of resamples
(`resampling`), widened to an interval in closed form where that reaches further: resamples know nothing of an error
that happens not to be in the data.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from .refusals import refuse
from .resampling import Draws, resample
from .scoring import Scores
from .state import State

#: How many positives the theoretical variance of a ROC-AUC weighs against the resamples': a handful of positives says
#: little of a variance.
PRIOR_POSITIVES = 10

Interval = tuple[Any, Any]
#: (successes, trials, level) -> the interval of a proportion.
Proportion = Callable[[Any, Any, float], Interval]


# --- closed forms -------------------------------------------------------------------------------------------------


def normal_quantile(level: float) -> float:
    """z such that a standard normal variable is in [-z, z] with probability ``level``."""
    return -NormalDist().inv_cdf((1.0 - level) / 2)  # 1 - level is exact where 0.5 + level / 2 would round to 1


def wilson(successes: Any, trials: Any, level: float) -> Interval:
    """Wilson's score interval of a proportion (Wilson 1927), without continuity correction.

    Args:
        successes, trials: numbers or arrays, fractions allowed; 0 <= successes <= trials.
        level: confidence level in (0, 1).

    Returns:
        (low, high), each of the shape of the inputs; without trials nothing is known: (0, 1).

    >>> [round(float(bound), 4) for bound in wilson(0, 10, 0.95)]
    [0.0, 0.2775]
    >>> [round(float(bound), 4) for bound in wilson(3, 3, 0.95)]
    [0.4385, 1.0]
    """
    z2 = normal_quantile(level) ** 2
    successes, trials = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    whole = trials + z2
    centre = (successes + z2 / 2) / whole
    spread = z2 * (successes * (1 - successes / np.where(trials > 0, trials, 1)) + z2 / 4)
    half = np.sqrt(np.maximum(spread, 0.0)) / whole
    low = np.where(successes > 0, np.maximum(centre - half, 0.0), 0.0)
    high = np.where(successes < trials, np.minimum(centre + half, 1.0), 1.0)
    return low, high


def clopper_pearson(successes: Any, trials: Any, level: float) -> Interval:
    """The exact interval of a proportion (Clopper and Pearson 1934), which is longer than Wilson's: for comparisons of
    many groups, at levels so high that Wilson's is too short for a handful of trials. Arguments as in `wilson`.

    >>> [round(float(bound), 4) for bound in clopper_pearson(3, 10, 0.95)]
    [0.0667, 0.6525]
    """
    from scipy.special import betaincinv  # comes with scikit-learn; slow to import

    successes, trials = np.asarray(successes, dtype=float), np.asarray(trials, dtype=float)
    failures, tail = trials - successes, (1.0 - level) / 2
    some, all_but_some = successes > 0, failures > 0
    low = betaincinv(np.where(some, successes, 1.0), failures + 1, tail)
    high = betaincinv(successes + 1, np.where(all_but_some, failures, 1.0), 1.0 - tail)
    return np.where(some, low, 0.0), np.where(all_but_some, high, 1.0)


def f1_interval(tp: Any, errors: Any, level: float, crossed: Any = 0, proportion: Proportion = wilson) -> Interval:
    """Interval of F1 = 2J / (1 + J) from Wilson's for J = TP / (TP + FP + FN) (Lam et al. 2023, arXiv 2309.14621).

    Args:
        tp: true positives; a number or an array.
        errors: false positives plus false negatives.
        level: confidence level in (0, 1).
        crossed: how many rows are among the errors twice: in a micro F1, a row of one class given to another is a
            false negative of the first and a false positive of the second. The trials are divided by the design effect
            of that, the factor by which it raises the variance of F1.
        proportion: the interval of J.

    >>> [round(float(bound), 4) for bound in f1_interval(3, 0, 0.95)]
    [0.6097, 1.0]
    """
    tp, errors = np.asarray(tp, dtype=float), np.asarray(errors, dtype=float)
    f1 = np.where(tp > 0, 2 * tp / np.maximum(2 * tp + errors, 1), 1.0)  # without TP the squares below cancel
    once = errors / 4
    effect = np.where(crossed, (tp * (1 - f1) ** 2 + (once + crossed / 2) * f1**2), 1.0)
    effect = effect / np.where(crossed, tp * (1 - f1) ** 2 + once * f1**2, 1.0)
    low, high = proportion(tp / effect, (tp + errors) / effect, level)
    return _f1(low), _f1(high)


def _f1(jaccard: Any) -> Any:
    return 2 * jaccard / (1 + jaccard)


def _jaccard(f1: Any) -> Any:
    return f1 / (2 - f1)


def auc_interval(auc: float, n_positives: int, n_negatives: int, level: float, variance: float) -> Interval:
    """Score interval of a ROC-AUC: all a with |a - auc| <= z sqrt(q V(a)) (Newcombe 2006, method 5).

    V(a) is the variance Hanley and McNeil (1982) derive, made symmetric in the classes. q is the ratio of the
    estimated variance to V(auc), drawn towards 1 as if `PRIOR_POSITIVES` more positives said so.

    Args:
        auc: the area, in [0, 1].
        n_positives, n_negatives: at least 1 each.
        level: confidence level in (0, 1).
        variance: of the resampled areas.

    >>> [round(bound, 3) for bound in auc_interval(1.0, 3, 500, 0.95, 0.0)]
    [0.707, 1.0]
    """
    pairs, others = float(n_positives) * n_negatives, (n_positives + n_negatives) / 2 - 1
    difference = np.polynomial.Polynomial([0.0, 1.0])
    a = auc + difference
    # V(a) = a (1 - a) (1 + others ((1 - a) / (2 - a) + a / (1 + a))) / pairs = numerator / denominator
    shared = (2 - a) * (1 + a)
    numerator, denominator = a * (1 - a) * (shared / pairs + others / pairs * (1 + 2 * a - 2 * a**2)), shared
    fewer, known = min(n_positives, n_negatives), numerator(0.0) / denominator(0.0)
    q = (fewer * variance / known + PRIOR_POSITIVES) / (fewer + PRIOR_POSITIVES) if known > 0 else 1.0
    ends = (difference**2 * denominator - normal_quantile(level) ** 2 * q * numerator).roots()
    real = ends[np.abs(ends.imag) < 1e-9].real
    below, above = real[real < -1e-12], real[real > 1e-12]
    return float(max(0.0, auc + below.max(initial=-1.0))), float(min(1.0, auc + above.min(initial=1.0)))


def average_interval(
    values: np.ndarray, lows: np.ndarray, highs: np.ndarray, weights: np.ndarray, correlation: np.ndarray
) -> Interval:
    """Interval of a weighted average from its parts' (method of variance estimates recovery, Zou and Donner 2008).

    Args:
        values, lows, highs: the k parts and their bounds.
        weights: k weights that sum to 1.
        correlation: of the parts' estimates, shape (k, k).
    """
    centre = float(weights @ values)
    down, up = weights * (values - lows), weights * (highs - values)
    return (
        max(0.0, centre - math.sqrt(max(0.0, down @ correlation @ down))),
        min(1.0, centre + math.sqrt(max(0.0, up @ correlation @ up))),
    )


def moment_interval(value: float, variance: float, units: float, level: float) -> Interval:
    """Wilson's interval with the trials that would give ``value`` in [0, 1] this variance; ``units`` where it is 0."""
    trials = value * (1 - value) / variance if variance > 0 else units
    return wilson(value * trials, trials, level)


# --- the scores of a metric ---------------------------------------------------------------------------------------


class Intervals:
    """The intervals of a state's scores, at any level: the resamples they rest on are drawn once, if at all.

    Args:
        state: what was counted.
        scores: its scores.
        replicate: makes a function from draws to resampled scores, nan where undefined.
        n_resamples: number of resamples.
        seed: of the resamples; the global random state is neither read nor changed.
        stratify: resample within each class of the references, so that each keeps its number of rows.

    Raises:
        Refusal: for ``stratify`` beside clusters.
    """

    def __init__(
        self,
        state: State,
        scores: Scores,
        replicate: Callable[[], Callable[[Draws], Mapping[str, np.ndarray]]],
        *,
        n_resamples: int,
        seed: int,
        stratify: bool,
    ) -> None:
        self._state, self._scores, self._replicate = state, scores, replicate
        self._n_resamples, self._seed, self._stratify = n_resamples, seed, stratify
        self._clusters = len(np.unique(state.rows["cluster"])) if "cluster" in state.rows else 0
        self._known: dict[tuple[str, float, bool], Interval] = {}
        self._averaged_parts: dict[str, tuple[list[str], np.ndarray]] = {}
        if self._clusters and stratify:
            allowed = "one of them: whole clusters can't keep class sizes"
            refuse("True beside cluster", allowed, option="stratify")

    @cached_property
    def _drawn(self) -> Mapping[str, np.ndarray]:
        """The resampled scores, arrays of shape (n_resamples,)."""
        scores_of = self._replicate()
        drawn = resample(scores_of, self._n_resamples, self._seed, self._stratify)
        if not self._state.rows or self._clusters:
            return drawn
        # rows were grouped: as far as that moved a score, its resamples move back
        grouped, values = scores_of(Draws(np.random.default_rng(0), 0)), self._scores.values
        return {key: drawn[key] + (values[key] - grouped[key][0]) for key in drawn if key in values}

    def bounds(self, key: str, level: float, *, exact: bool = False) -> Interval:
        """The interval of a score: (low, high) around it, in [0, 1] or its own range; nan, nan if it is nan.

        Args:
            key: of a score, and not of a note.
            level: confidence level in (0, 1).
            exact: with `clopper_pearson` of what is counted, for comparisons.
        """
        if (key, level, exact) not in self._known:
            value = float(self._scores.values[key])
            low, high = (math.nan, math.nan) if math.isnan(value) else self._bounds(key, level, exact)
            least, greatest = self._range(key)[:2]
            self._known[key, level, exact] = min(max(low, least), value), max(min(high, greatest), value)
        return self._known[key, level, exact]

    def _bounds(self, key: str, level: float, exact: bool) -> Interval:
        if self._is_counted(key):
            return self._counted(key, level, clopper_pearson if exact else wilson)
        return self._averaged(key, level, exact) if key in self._scores.averages else self._resampled(key, level)

    def _range(self, key: str) -> tuple[float, float, Any]:
        """The least and the greatest value a score may have, and how many trials it rests on."""
        return self._scores.ranges.get(key, (0.0, 1.0, self._state.n_rows))

    def undefined_resamples(self, key: str) -> np.ndarray:
        """Which resamples were left out of a score's interval since it is undefined there, though not in the data;
        bools of shape (n_resamples,), or a single one where it rests on none."""
        value = float(self._scores.values[key])
        if math.isnan(value) or self._is_counted(key) or self._is_conventional(key):
            return np.zeros(1, dtype=bool)
        parts = self._parts(key)[0] if key in self._scores.averages else []
        missing: np.ndarray = np.isnan([self._drawn[k] for k in (*parts, key)]).any(axis=0)
        return missing

    def _is_counted(self, key: str) -> bool:
        return key in self._scores.proportions or key in self._scores.f1_counts

    def _is_conventional(self, key: str) -> bool:
        """Whether a score has a value by convention, or one of its parts: of these resamples know nothing."""
        if key in self._scores.undefined or key not in self._scores.averages:
            return key in self._scores.undefined
        return any(self._is_conventional(k) for k in self._parts(key)[0])

    def _parts(self, key: str) -> tuple[list[str], np.ndarray]:
        """The keys that an average is made of, with the weights they have in it, which sum to 1."""
        if key not in self._averaged_parts:
            keys, weights = self._scores.averages[key]
            values = np.array([float(self._scores.values[k]) for k in keys])
            weights = np.where(np.isnan(values), 0.0, np.asarray(weights, dtype=float))
            used = np.flatnonzero(weights > 0) if weights.any() else np.flatnonzero(~np.isnan(values))
            weight = weights[used] / weights[used].sum() if weights.any() else np.full(len(used), 1 / len(used))
            self._averaged_parts[key] = [keys[int(i)] for i in used], weight
        return self._averaged_parts[key]

    def _counted(self, key: str, level: float, interval: Proportion) -> Interval:
        """A proportion or an F1; with clusters their resamples say how much fewer trials they are worth."""
        proportion = key in self._scores.proportions
        successes, trials = self._scores.proportions[key] if proportion else self._scores.f1_counts[key][:2]
        if not proportion:
            successes, trials = successes, successes + trials
        if not self._clusters or not trials:
            if proportion:
                return _floats(interval(successes, trials, level))
            tp, errors, crossed = self._scores.f1_counts[key]
            return _floats(f1_interval(tp, errors, level, crossed, interval))
        values = self._drawn[key]
        share, shares = successes / trials, values if proportion else _jaccard(values)
        variance = float(np.nanvar(shares)) if not np.isnan(shares).all() else 0.0
        alone = share * (1 - share) / trials
        worth = min(trials, trials * alone / variance if variance > 0 else self._clusters)
        low, high = _floats(interval(share * worth, worth, level))
        return (low, high) if proportion else (_f1(low), _f1(high))

    def _averaged(self, key: str, level: float, exact: bool) -> Interval:
        """An average: percentiles of its resamples, and its parts' intervals combined."""
        keys, weights = self._parts(key)
        values = np.array([float(self._scores.values[k]) for k in keys])
        lows, highs = np.array([self.bounds(k, level, exact=exact) for k in keys]).T
        if self._is_conventional(key):
            return average_interval(values, lows, highs, weights, np.eye(len(keys)))
        missing = self.undefined_resamples(key)
        parts = np.stack([self._drawn[k] for k in keys])
        low, high = average_interval(values, lows, highs, weights, _correlation(parts[:, ~missing]))
        inner = percentiles(self._drawn[key][~missing], level, (low, high))
        return min(low, inner[0]), max(high, inner[1])

    def _resampled(self, key: str, level: float) -> Interval:
        """Any other score: percentiles of its resamples, and the closed form their variance gives."""
        values = self._drawn[key][~np.isnan(self._drawn[key])]
        value, variance = float(self._scores.values[key]), float(values.var()) if len(values) > 1 else 0.0
        variance = variance if variance > 1e-24 else 0.0  # what rounding makes of samples that are all the same
        least, greatest, trials = self._range(key)
        n_positives, n_negatives = self._scores.areas.get(key, (trials, None))
        if n_negatives is not None:
            low, high = auc_interval(value, n_positives, n_negatives, level, variance)
        else:
            units, width = min(n_positives, self._clusters) if self._clusters else n_positives, greatest - least
            share = (value - least) / width if width else 0.0
            bounds = _floats(moment_interval(share, variance / width**2 if width else 0.0, units, level))
            low, high = (least + width * bound for bound in bounds)
        inner = percentiles(values, level, (low, high))
        return min(low, inner[0]), max(high, inner[1])


def _floats(interval: Interval) -> Interval:
    return float(interval[0]), float(interval[1])


def interval_scores(intervals: Intervals, keys: Iterable[str], level: float) -> dict[str, Any]:
    """``<key>_low`` and ``<key>_high`` of scores, and ``n_undefined_resamples``: how many resamples were left out as a
    score was undefined in them that is defined in the data.

    Args:
        intervals: of the scores.
        keys: which of them.
        level: confidence level in (0, 1).
    """
    result: dict[str, Any] = {}
    undefined: Any = False
    for key in keys:
        result[f"{key}_low"], result[f"{key}_high"] = intervals.bounds(key, level)
        undefined = undefined | intervals.undefined_resamples(key)
    return result | {"n_undefined_resamples": int(np.sum(undefined))}


def _correlation(samples: np.ndarray) -> np.ndarray:
    """Correlation matrix of k samples; a sample that doesn't vary is taken for independent."""
    k, n = samples.shape
    if n < 2:
        return np.eye(k)
    centred = samples - samples.mean(axis=1, keepdims=True)
    covariance = centred @ centred.T
    scale = np.sqrt(np.diag(covariance))
    scale = np.where(scale > 1e-12 * n, scale, np.inf)
    correlation: np.ndarray = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def percentiles(values: np.ndarray, level: float, otherwise: Interval) -> Interval:
    """The central ``level`` of samples (Efron 1981), interpolated; without samples ``otherwise``."""
    if not len(values):
        return otherwise
    low, high = np.quantile(values, (0.5 - level / 2, 0.5 + level / 2))
    return float(low), float(high)
