"""Several runs of one system (random seeds), and two systems compared on the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from toxeval.metrics.base import Metric
from toxeval.core.inputs import check_choice, describe, is_number, refuse
from toxeval.core.intervals import check_options, normal_quantile, percentiles
from toxeval.core.scoring import sigmoid, warn_undefined
from toxeval.systems import Systems, run_systems

# --- several seeds ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """Scores over runs.

    Attributes:
        runs: each run's scores, in the order given: the table by seed.
        n_runs: how many.
        mean: the mean of the runs' scores, by key; never a score of mean precision and recall.
        std: their sample standard deviation (divisor n - 1), nan for one run: the spread over seeds.
        min, max: the smallest and the largest.
        low, high: bounds of the mean over other rows like these, if a confidence level was given: the uncertainty over
            items, of which ``std`` says nothing.
    """

    runs: list[dict[str, float]]
    n_runs: int
    mean: dict[str, float]
    std: dict[str, float]
    min: dict[str, float]
    max: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]

    def to_dict(self) -> dict[str, float]:
        """Flat: ``<key>_mean``, ``<key>_seed_std``, ``<key>_min``, ``<key>_max``, ``<key>_mean_low`` and ``_high``."""
        flat: dict[str, float] = {"n_runs": self.n_runs}
        for key in self.mean:
            flat |= {f"{key}_mean": self.mean[key], f"{key}_seed_std": self.std[key]}
            flat |= {f"{key}_min": self.min[key], f"{key}_max": self.max[key]}
            if key in self.low:
                flat |= {f"{key}_mean_low": self.low[key], f"{key}_mean_high": self.high[key]}
        return flat


def aggregate(results: Sequence[Mapping[str, float]]) -> Summary:
    """Summarise what ``compute`` returned for each of several runs.

    Args:
        results: at least one dict of scores, all with the same keys.

    Raises:
        ValueError: if there is none, or keys differ.

    >>> summary = aggregate([{"f1_macro": 0.80}, {"f1_macro": 0.82}, {"f1_macro": 0.81}])
    >>> round(summary.mean["f1_macro"], 6), round(summary.std["f1_macro"], 6), summary.n_runs
    (0.81, 0.01, 3)
    """
    results = _listed("toxeval.runs", "results", results, "a list with what compute returned for each run")
    for i, result in enumerate(results):
        if not isinstance(result, Mapping):
            refuse("toxeval.runs", f"run {i}", describe(result), "a dict of scores")
        for key, value in result.items():
            if not is_number(value):
                refuse("toxeval.runs", f"run {i}: {key}", describe(value), "a number")
    runs = [{key: float(value) for key, value in result.items()} for result in results]
    if not runs:
        refuse("toxeval.runs", "results", "no runs", "at least one run")
    for i, run in enumerate(runs):
        if set(run) != set(runs[0]):
            odd = sorted(set(run) ^ set(runs[0]))
            refuse("toxeval.runs", f"run {i}", f"{', '.join(odd)} not in every run", "the same keys in all runs")
    columns = {key: np.array([run[key] for run in runs]) for key in runs[0]}
    std = {key: float(values.std(ddof=1)) if len(runs) > 1 else math.nan for key, values in columns.items()}
    return Summary(
        runs=runs,
        n_runs=len(runs),
        mean={key: float(values.mean()) for key, values in columns.items()},
        std=std,
        min={key: float(values.min()) for key, values in columns.items()},
        max={key: float(values.max()) for key, values in columns.items()},
        low={},
        high={},
    )


def _listed(module: str, argument: str, given: Any, allowed: str) -> list[Any]:
    """An argument that holds several things, as a list; a text and a dict are one thing."""
    if isinstance(given, (str, Mapping)) or not np.iterable(given):
        refuse(module, argument, describe(given), allowed)
    return list(given)


def _names(given: Any, n: int) -> list[Any]:
    allowed = f"a list of {n} names"
    names = _listed("toxeval.runs", "names", given, allowed)
    if len(names) != n:
        refuse("toxeval.runs", "names", f"{len(names)} names", allowed)
    return names


def summarise(
    metric: str | Metric,
    runs: Sequence[Any],
    references: Any = None,
    *,
    ids: Any = None,
    run_ids: Sequence[Any] | None = None,
    confidence_level: float | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> Summary:
    """Score several runs against the same references.

    Args:
        metric: a name, or what ``toxeval.load`` gave, with its options.
        runs: for each run its predictions, or a dict of the inputs that are its own.
        references: the references, or a dict of the inputs all runs share.
        ids: the id of each row of ``references``; run_ids: for each run those of its rows. Rows are then matched by
            id; else by position.
        confidence_level: in (0, 1), for the bounds of the mean over other rows: the percentiles of the runs' mean
            score on ``n_resamples`` resamples of the rows, the same for all runs, drawn with ``seed``.
        names: what messages call each run; by default ``run 0`` and so on.

    Raises:
        ValueError: for a run of another length (``run 1: 2499 rows, 2500 in the references``), ids that don't match,
            and what the metric refuses.

    >>> references = ["OFF", "NOT", "OFF", "NOT"]
    >>> runs = [["OFF", "NOT", "OFF", "NOT"], ["OFF", "NOT", "NOT", "NOT"]]
    >>> summary = summarise("sold_macro_f1", runs, references)
    >>> summary.mean["accuracy"], [run["accuracy"] for run in summary.runs]
    (0.875, [1.0, 0.75])
    """
    check_options("toxeval.runs", confidence_level, n_resamples, seed)
    runs = _listed("toxeval.runs", "runs", runs, "a list with the predictions of each run")
    if not runs:
        refuse("toxeval.runs", "runs", "no runs", "at least one run")
    run_ids = (
        run_ids if run_ids is None else _listed("toxeval.runs", "run_ids", run_ids, "a list with the ids of each run")
    )
    names = [f"run {i}" for i in range(len(runs))] if names is None else _names(names, len(runs))
    systems = run_systems(metric, names, runs, references, ids, run_ids)
    results = [scores.as_dict(systems.metric.headline) for scores in systems.scores]
    _warn(systems, names)
    summary = aggregate(results)
    if confidence_level is None:
        return summary
    keys = [key for key in summary.mean if key not in systems.scores[0].notes]
    drawn = systems.resample(keys, int(n_resamples), int(seed))
    for key in keys:
        means = np.mean([run[key] for run in drawn], axis=0)
        summary.low[key], summary.high[key] = _around(summary.mean[key], means[~np.isnan(means)], confidence_level)
    return summary


# --- two systems --------------------------------------------------------------------------------------------------


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
    accuracy), get McNemar's exact test, and Tango's (1998) score interval of the difference. All others get a paired
    bootstrap: resamples of the rows, the same for both systems, whose differences d* give the interval (percentiles)
    and p = (1 + #{|d* - d| >= |d|}) / (1 + resamples).

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
    check_choice("toxeval.runs", "method", method, ("auto", "bootstrap"))
    check_options("toxeval.runs", confidence_level, n_resamples, seed)
    own_ids = None if ids_a is None and ids_b is None else [ids_a, ids_b]
    names = _names(names, 2)
    systems = run_systems(metric, names, [predictions_a, predictions_b], references, ids, own_ids)
    a, b = systems.scores
    wanted = [next(iter(a.as_dict(systems.metric.headline)))]
    if keys is not None:
        wanted = _listed(systems.metric.name, "keys", keys, f"a list such as {wanted}")
    for key in wanted:
        if not isinstance(key, str) or key not in a.values or key not in b.values or key in a.notes:
            allowed = ", ".join(k for k in a.values if k in b.values and k not in a.notes)
            refuse(systems.metric.name, "keys", describe(key), allowed)
    _warn(systems, names)
    right = _right_rows(systems, wanted) if method == "auto" else {}
    others = [key for key in wanted if key not in right]
    drawn = systems.resample(others, int(n_resamples), int(seed)) if others else [{}, {}]
    result: dict[str, Comparison] = {}
    for key in wanted:
        x, y = float(a.values[key]), float(b.values[key])
        if key in right:
            result[key] = _mcnemar(key, x, y, systems.n_rows, *right[key], confidence_level)
        else:
            result[key] = _bootstrap(key, x, y, systems, drawn[0][key], drawn[1][key], confidence_level)
    return result


def _bootstrap(
    key: str, x: float, y: float, systems: Systems, drawn_a: np.ndarray, drawn_b: np.ndarray, level: float
) -> Comparison:
    differences = drawn_a - drawn_b
    defined = differences[~np.isnan(differences)]
    difference = x - y
    low, high = _around(difference, defined, level)
    further = np.count_nonzero(np.abs(defined - difference) >= abs(difference) - 1e-12)
    p = float((1 + further) / (1 + len(defined))) if not math.isnan(difference) else math.nan
    n_undefined = len(differences) - len(defined)
    return Comparison(
        key, x, y, difference, low, high, p, "bootstrap", systems.n_rows, systems.differing(), None, None, n_undefined
    )


def _mcnemar(key: str, x: float, y: float, n_rows: int, n: int, only_a: int, only_b: int, level: float) -> Comparison:
    from scipy.stats import binomtest  # comes with scikit-learn; slow to import

    discordant = only_a + only_b
    p = float(binomtest(only_a, discordant).pvalue) if discordant else 1.0
    low, high = _tango(only_a, only_b, n, level) if n else (math.nan, math.nan)
    return Comparison(key, x, y, x - y, low, high, p, "mcnemar", n_rows, discordant, only_a, only_b)


def _tango(only_a: int, only_b: int, n: int, level: float) -> tuple[float, float]:
    """Score interval of the difference of paired proportions (Tango 1998): all d with |z(d)| within the quantile."""
    z, difference = normal_quantile(level), (only_a - only_b) / n

    def inside(d: float) -> bool:
        b = (2 * n - only_a + only_b) * d - only_a - only_b
        q = (math.sqrt(max(b * b + 8 * n * only_b * d * (1 - d), 0.0)) - b) / (4 * n)
        variance = n * (2 * q + d * (1 - d))
        return bool(abs(only_a - only_b - n * d) <= z * math.sqrt(max(variance, 0.0)) + 1e-12)

    bounds = []
    for end in (-1.0, 1.0):
        near, far = difference, end
        for _ in range(60):
            d = (near + far) / 2
            near, far = (d, far) if inside(d) else (near, d)
        bounds.append(near)
    return bounds[0], bounds[1]


def _right_rows(systems: Systems, keys: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """For shares of right rows: key -> (rows it is a share of, rows only a has right, rows only b has right)."""
    if systems.units is None:
        return _right_decisions(systems) if "accuracy" in keys else {}
    a, b = systems.unit_scores()
    result = {}
    for key in keys:
        if key not in a.proportions:
            continue
        (right_a, rows), (right_b, rows_b) = (np.broadcast_arrays(*s.proportions[key]) for s in (a, b))
        if (rows != rows_b).any() or rows.max() > 1:
            continue
        result[key] = tuple(int((systems.size * part).sum()) for part in (rows, right_a > right_b, right_b > right_a))
    return result  # type: ignore[return-value]


def _right_decisions(systems: Systems) -> dict[str, tuple[int, int, int]]:
    """The same of ``accuracy``, for metrics that keep whole rows: labels as given, or scores above the threshold."""
    threshold = float(systems.options.get("threshold", 0.5))
    right = []
    for arrays in systems.arrays:
        decisions = arrays.get("predictions")
        if decisions is None:
            decisions = (
                arrays["probabilities"] if "probabilities" in arrays else sigmoid(arrays["logits"])
            ) > threshold
        right.append(decisions == arrays["references"])
    only_a, only_b = (int(np.count_nonzero(x & ~y)) for x, y in (right, right[::-1]))
    return {"accuracy": (systems.n_rows, only_a, only_b)}


# --- both ---------------------------------------------------------------------------------------------------------


def _around(value: float, samples: np.ndarray, level: float) -> tuple[float, float]:
    """Percentile interval of samples, widened to ``value`` where it isn't inside."""
    if math.isnan(value):
        return math.nan, math.nan
    low, high = percentiles(samples, level, (value, value))
    return min(low, value), max(high, value)


def _warn(systems: Systems, names: Sequence[str]) -> None:
    for name, scores in zip(names, systems.scores):
        warn_undefined(f"{systems.metric.name}: {name}", scores.undefined)
