"""Two systems compared on the same rows: McNemar's test for shares of right rows, a paired bootstrap for the rest."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from toxeval.core.declarations import Choice
from toxeval.core.intervals import normal_quantile
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, describe, refuse
from toxeval.core.state import State

from .rows import Systems, run_systems
from .runs import WHO, around, check_intervals, listed, listed_names, warn

_METHOD = Choice("method", "McNemar's test where it applies, or a bootstrap for all.", choices=("auto", "bootstrap"))


@dataclass(frozen=True)
class Comparison:
    """Two systems' difference in one score.

    Attributes:
        key: the score.
        score_a, score_b: of each system.
        difference: score_a - score_b.
        low, high: its confidence interval.
        p_value: two-sided, of the hypothesis that there is no difference.
        method: "mcnemar" or "bootstrap".
        n_rows: how many rows there are.
        n_discordant: the rows that only one system has right (mcnemar), or on which they don't do the same.
        n_only_a, n_only_b: the rows that only this one has right (mcnemar), else None.
        n_undefined_resamples: resamples left out since the score was undefined in them.
    """

    key: str
    score_a: float
    score_b: float
    difference: float
    low: float
    high: float
    p_value: float
    method: str
    n_rows: int
    n_discordant: int
    n_only_a: int | None = None
    n_only_b: int | None = None
    n_undefined_resamples: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As a dict."""
        return asdict(self)


def compare(
    metric: str | Metric,
    predictions_a: Any,
    predictions_b: Any,
    references: Any = None,
    *,
    keys: Sequence[str] | None = None,
    ids: Any = None,
    ids_a: Any = None,
    ids_b: Any = None,
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    names: Sequence[str] = ("system a", "system b"),
) -> dict[str, Comparison]:
    """Compare two systems on the same rows.

    Scores that are a share of right rows, out of rows that don't depend on the system (accuracy, recall, joint semantic
    accuracy), get McNemar's exact test (1947), and Tango's score interval of the difference (1998). All others get a
    paired bootstrap (Efron and Tibshirani 1993, chapters 13 and 15): resamples of the rows, the same for both systems.
    The interval has the percentiles of their differences, and p is the level at which it would just reach 0, so that
    the interval excludes 0 exactly where p < 1 - confidence_level.

    Args:
        metric: a name, or what ``toxeval.load`` gave, with its options.
        predictions_a, predictions_b: the predictions of each system, or a dict of the inputs that are its own
            (``{"prediction_scores": ...}``).
        references: the references, or a dict of the inputs both share (``{"references": ..., "categories": ...}``; for
            conda_joint also ``cluster``, and clusters are then resampled).
        keys: which scores, among those ``compute`` returns; by default the metric's headline score.
        ids, ids_a, ids_b: ids of the rows of references and of each system. Rows are then matched by id; else by
            position.
        method: "auto", or "bootstrap" for all keys.
        confidence_level: of the interval, in (0, 1).
        n_resamples, seed: of the bootstrap.
        names: what messages call the systems.

    Returns:
        key -> `Comparison`.

    Raises:
        ValueError: for an unknown key, ids that are repeated or don't match, and what the metric refuses.

    >>> same = compare("sold_macro_f1", [0, 1, 1], [0, 1, 1], [0, 1, 0], keys=["accuracy"])["accuracy"]
    >>> same.difference, same.p_value, same.n_discordant
    (0.0, 1.0, 0)
    """
    with Known(metric=WHO):
        _METHOD.check(method)
    check_intervals(confidence_level, n_resamples, seed)
    own_ids = None if ids_a is None and ids_b is None else [ids_a, ids_b]
    names = listed_names(names, 2)
    systems = run_systems(metric, names, [predictions_a, predictions_b], references, ids, own_ids)
    a, b = systems.scores
    wanted = [next(iter(a.as_dict(systems.metric.definition.headlines)))]
    if keys is not None:
        wanted = listed(systems.metric.name, "keys", keys, f"a list such as {wanted}")
    for key in wanted:
        if not isinstance(key, str) or key not in a.values or key not in b.values or key in a.notes:
            allowed = ", ".join(k for k in a.values if k in b.values and k not in a.notes)
            refuse(describe(key), allowed, metric=systems.metric.name, where="keys")
    warn(systems, names)
    right = _right_rows(systems, wanted) if method == "auto" else {}
    others = [key for key in wanted if key not in right]
    drawn = systems.resample(others, int(n_resamples), int(seed)) if others else [{}, {}]
    result: dict[str, Comparison] = {}
    for key in wanted:
        x, y = float(a.values[key]), float(b.values[key])
        if key in right:
            result[key] = _mcnemar(key, x, y, systems.n_rows, *right[key], confidence_level)
        else:
            result[key] = _bootstrap(key, x, y, systems, drawn[0][key] - drawn[1][key], confidence_level)
    return result


# --- bootstrap ----------------------------------------------------------------------------------------------------


def _bootstrap(key: str, x: float, y: float, systems: Systems, differences: np.ndarray, level: float) -> Comparison:
    defined = differences[~np.isnan(differences)]
    difference = x - y
    low, high = around(difference, defined, level)
    p = p_value(difference, defined)
    if p >= 1.0 - level:  # so few resamples have no percentiles at that level
        low, high = min(low, 0.0), max(high, 0.0)
    elif low <= 0.0 <= high:  # rounded to 0
        low, high = (math.ulp(0.0), high) if difference > 0 else (low, -math.ulp(0.0))
    n_undefined = len(differences) - len(defined)
    return Comparison(
        key, x, y, difference, low, high, p, "bootstrap", systems.n_rows, systems.differing(), None, None, n_undefined
    )


def p_value(difference: float, samples: np.ndarray) -> float:
    """Twice the share of resamples on the other side of 0 than ``difference``: 1 minus the level of the percentile
    interval (`around`) that just reaches 0. At least 2 / (n + 1), at most 1.

    >>> p_value(0.5, np.linspace(0.1, 1.0, 19)), p_value(0.0, np.zeros(9))
    (0.1, 1.0)
    """
    if math.isnan(difference):
        return math.nan
    if difference == 0 or not len(samples):
        return 1.0
    # how far the samples, each at rank 1 to n of n + 1, are from 0 on the side of the difference
    towards = np.sort(samples if difference > 0 else -samples)
    n, below = len(towards), int(np.searchsorted(towards, 0.0, side="right"))
    rank = max(below, 1.0)
    if 0 < below < n:  # between two of them
        rank = below + (0.0 - towards[below - 1]) / (towards[below] - towards[below - 1])
    return float(min(1.0, 2 * rank / (n + 1)))


# --- McNemar ------------------------------------------------------------------------------------------------------


def _mcnemar(key: str, x: float, y: float, n_rows: int, n: int, only_a: int, only_b: int, level: float) -> Comparison:
    from scipy.stats import binomtest  # comes with scikit-learn; slow to import

    discordant = only_a + only_b
    p = float(binomtest(only_a, discordant).pvalue) if discordant else 1.0
    low, high = _tango(only_a, only_b, n, level) if n else (math.nan, math.nan)
    return Comparison(key, x, y, x - y, low, high, p, "mcnemar", n_rows, discordant, only_a, only_b)


def _tango(only_a: int, only_b: int, n: int, level: float) -> tuple[float, float]:
    """Score interval of the difference of paired proportions (Tango 1998): all d with |z(d)| within the quantile."""
    from scipy.optimize import brentq

    z, difference = normal_quantile(level), (only_a - only_b) / n

    def beyond(d: float) -> float:
        b = (2 * n - only_a + only_b) * d - only_a - only_b
        q = (math.sqrt(max(b * b + 8 * n * only_b * d * (1 - d), 0.0)) - b) / (4 * n)
        variance = n * (2 * q + d * (1 - d))
        return abs(only_a - only_b - n * d) - z * math.sqrt(max(variance, 0.0))

    ends = (min(difference, -1.0), max(difference, 1.0))
    return tuple(  # type: ignore[return-value]
        float(brentq(beyond, difference, end, xtol=1e-15)) if beyond(difference) < 0 < beyond(end) else end
        for end in ends
    )


def _right_rows(systems: Systems, keys: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """For shares of right rows: key -> (rows it is a share of, rows only a has right, rows only b has right)."""
    if systems.units is None:
        return _right_decisions(systems) if "accuracy" in keys else {}
    a, b = (systems.metric.score(State(1, counts)) for counts in systems.units)
    result = {}
    for key in keys:
        if key not in a.proportions:
            continue
        (right_a, rows), (right_b, rows_b) = (np.broadcast_arrays(*s.proportions[key]) for s in (a, b))
        if (rows != rows_b).any() or rows.max() > 1:
            continue
        n, only_a, only_b = (int((systems.size * part).sum()) for part in (rows, right_a > right_b, right_b > right_a))
        result[key] = n, only_a, only_b
    return result


def _right_decisions(systems: Systems) -> dict[str, tuple[int, int, int]]:
    """The same of ``accuracy``, for metrics that keep whole rows, from the labels they decide on."""
    decide = systems.metric.definition.decisions
    if decide is None:
        return {}
    right = [decide(arrays, **systems.metric.score_options) == arrays["references"] for arrays in systems.arrays]
    only_a, only_b = (int(np.count_nonzero(x & ~y)) for x, y in (right, right[::-1]))
    return {"accuracy": (systems.n_rows, only_a, only_b)}
