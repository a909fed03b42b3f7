"""Confidence intervals from counts, for every kind of score: proportion, F1, average, area under a curve, any other.

A proportion has Wilson's interval and an F1 Wilson's through the Jaccard index: both hold their level with a handful of
examples, and are never empty because a rare class had luck. Everything else has the percentile interval of resamples
(`resampling`), widened to an interval in closed form where that reaches further: resamples know nothing of an error
that happens not to be in the data.
"""

import math
from collections.abc import Callable, Mapping
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


def f1_interval(tp: Any, errors: Any, level: float, crossed: Any = 0) -> Interval:
    """Interval of F1 = 2J / (1 + J) from Wilson's for J = TP / (TP + FP + FN) (Lam et al. 2023, arXiv 2309.14621).

    Args:
        tp: true positives; a number or an array.
        errors: false positives plus false negatives.
        level: confidence level in (0, 1).
        crossed: how many rows are among the errors twice: in a micro F1, a row of one class given to another is a
            false negative of the first and a false positive of the second. The trials are divided by the design effect
            of that, the factor by which it raises the variance of F1.

    >>> [round(float(bound), 4) for bound in f1_interval(3, 0, 0.95)]
    [0.6097, 1.0]
    """
    tp, errors = np.asarray(tp, dtype=float), np.asarray(errors, dtype=float)
    f1 = np.where(tp > 0, 2 * tp / np.maximum(2 * tp + errors, 1), 1.0)  # without TP the squares below cancel
    once = errors / 4
    effect = np.where(crossed, (tp * (1 - f1) ** 2 + (once + crossed / 2) * f1**2), 1.0)
    effect = effect / np.where(crossed, tp * (1 - f1) ** 2 + once * f1**2, 1.0)
    low, high = wilson(tp / effect, (tp + errors) / effect, level)
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


# --- all scores of a metric ---------------------------------------------------------------------------------------


def interval_scores(
    state: State,
    scores: Scores,
    replicate: Callable[[], Callable[[Draws], Mapping[str, np.ndarray]]],
    *,
    confidence_level: float | None,
    n_resamples: int,
    seed: int,
    stratify: bool,
) -> dict[str, Any]:
    """``<key>_low`` and ``<key>_high`` of every score.

    Args:
        state: what was counted.
        scores: its scores.
        replicate: makes a function from draws to resampled scores, nan where undefined.
        confidence_level: in (0, 1); None means no intervals.
        n_resamples: number of resamples.
        seed: of the resamples; the global random state is neither read nor changed.
        stratify: resample within each class of the references, so that each keeps its number of rows.

    Returns:
        Bounds in [0, 1] around each score; ``n_undefined_resamples``, how many resamples were left out because a score
        that is defined in the data was not in them; with ``stratify`` ``prevalence_held_fixed``, 1.

    Raises:
        Refusal: for ``stratify`` beside clusters.
    """
    if confidence_level is None:
        return {}
    clusters = len(np.unique(state.rows["cluster"])) if "cluster" in state.rows else 0
    if clusters and stratify:
        allowed = "one of them: whole clusters can't keep class sizes"
        refuse("True beside cluster", allowed, option="stratify")
    wanted = [key for key in scores.values if key not in scores.notes]
    drawn: Mapping[str, np.ndarray] = {}
    if clusters or any(key not in scores.proportions and key not in scores.f1_counts for key in wanted):
        scores_of = replicate()
        drawn = resample(scores_of, n_resamples, seed, stratify)
        if state.rows and not clusters:  # rows were grouped: as far as that moved a score, its resamples move back
            grouped = scores_of(Draws(np.random.default_rng(0), 0))
            moved = {key: scores.values[key] - grouped[key][0] for key in drawn if key in scores.values}
            drawn = {key: drawn[key] + by for key, by in moved.items()}
    bounds, n_undefined = _bounds(scores, wanted, drawn, state.n_rows, clusters, confidence_level)
    result: dict[str, Any] = {}
    for key in wanted:
        result[f"{key}_low"], result[f"{key}_high"] = (float(bound) for bound in bounds[key])
    result["n_undefined_resamples"] = n_undefined
    if stratify:
        result["prevalence_held_fixed"] = 1
    return result


def _bounds(
    scores: Scores, wanted: list[str], drawn: Mapping[str, np.ndarray], n_rows: int, clusters: int, level: float
) -> tuple[dict[str, Interval], int]:
    bounds: dict[str, Interval] = {}
    undefined: Any = False
    conventional = set(scores.undefined)  # scores with a value by convention, of which resamples know nothing
    for key in [key for key in wanted if key not in scores.averages] + list(scores.averages):  # parts first
        value = float(scores.values[key])
        values = drawn.get(key)
        if math.isnan(value):
            bounds[key] = math.nan, math.nan
            continue
        if key in scores.proportions or key in scores.f1_counts:
            low, high = _counted(scores, key, values if clusters else None, clusters, level)
        elif key in scores.averages:
            low, high, missing = _averaged(scores, key, bounds, drawn, conventional, level)
            undefined = undefined | missing
        else:
            assert values is not None, key
            missing = np.isnan(values)
            undefined = undefined | missing
            low, high = _resampled(scores, key, values[~missing], n_rows, clusters, level)
        bounds[key] = min(max(low, 0.0), value), max(min(high, 1.0), value)
    return bounds, int(np.sum(undefined))


def _counted(scores: Scores, key: str, values: np.ndarray | None, clusters: int, level: float) -> Interval:
    """A proportion or an F1; with clusters their resamples say how much fewer trials they are worth."""
    proportion = key in scores.proportions
    successes, trials = scores.proportions[key] if proportion else scores.f1_counts[key][:2]
    if not proportion:
        successes, trials = successes, successes + trials
    if values is None or not trials:
        return wilson(successes, trials, level) if proportion else f1_interval(*_parts(scores.f1_counts[key], level))
    share, shares = successes / trials, values if proportion else _jaccard(values)
    variance = float(np.nanvar(shares)) if not np.isnan(shares).all() else 0.0
    alone = share * (1 - share) / trials
    worth = min(trials, trials * alone / variance if variance > 0 else clusters)
    low, high = wilson(share * worth, worth, level)
    return (low, high) if proportion else (_f1(low), _f1(high))


def _parts(counts: tuple[Any, Any, Any], level: float) -> tuple[Any, Any, float, Any]:
    tp, errors, crossed = counts
    return tp, errors, level, crossed


def _averaged(
    scores: Scores,
    key: str,
    bounds: Mapping[str, Interval],
    drawn: Mapping[str, np.ndarray],
    conventional: set[str],
    level: float,
) -> tuple[float, float, np.ndarray]:
    """An average: percentiles of its resamples, and its parts' intervals combined."""
    keys, weights = scores.averages[key]
    values = np.array([float(scores.values[k]) for k in keys])
    weights = np.where(np.isnan(values), 0.0, np.asarray(weights, dtype=float))
    used = np.flatnonzero(weights > 0) if weights.any() else np.flatnonzero(~np.isnan(values))
    keys, values = [keys[int(i)] for i in used], values[used]
    weight = weights[used] / weights[used].sum() if weights.any() else np.full(len(used), 1 / len(used))
    lows, highs = (np.array([bounds[k][side] for k in keys]) for side in (0, 1))
    if not conventional.isdisjoint(keys):
        conventional.add(key)
        return *average_interval(values, lows, highs, weight, np.eye(len(keys))), np.zeros(1, dtype=bool)
    parts = np.stack([drawn[k] for k in keys])
    missing = np.isnan(parts).any(axis=0) | np.isnan(drawn[key])
    low, high = average_interval(values, lows, highs, weight, _correlation(parts[:, ~missing]))
    inner = percentiles(drawn[key][~missing], level, (low, high))
    return min(low, inner[0]), max(high, inner[1]), missing


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


def _resampled(scores: Scores, key: str, values: np.ndarray, n_rows: int, clusters: int, level: float) -> Interval:
    """Any other score: percentiles of its resamples, and the closed form their variance gives."""
    value, variance = float(scores.values[key]), float(values.var()) if len(values) > 1 else 0.0
    variance = variance if variance > 1e-24 else 0.0  # what rounding makes of samples that are all the same
    n_positives, n_negatives = scores.areas.get(key, (n_rows, None))
    if n_negatives is not None:
        low, high = auc_interval(value, n_positives, n_negatives, level, variance)
    else:
        units = min(n_positives, clusters) if clusters else n_positives
        low, high = (float(bound) for bound in moment_interval(value, variance, units, level))
    inner = percentiles(values, level, (low, high))
    return min(low, inner[0]), max(high, inner[1])


def percentiles(values: np.ndarray, level: float, otherwise: Interval) -> Interval:
    """The central ``level`` of samples (Efron 1981), interpolated; without samples ``otherwise``."""
    if not len(values):
        return otherwise
    low, high = np.quantile(values, (0.5 - level / 2, 0.5 + level / 2))
    return float(low), float(high)
