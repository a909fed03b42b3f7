"""Several runs of one system, with different seeds: their mean and spread."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from toxeval.core.declarations import INTERVAL_OPTIONS
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, describe, is_number, refuse
from toxeval.core.scoring import warn_undefined

from .rows import Systems, run_systems

#: What messages begin with that are about no metric.
WHO = "toxeval.systems"


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
    low: dict[str, float] = field(default_factory=dict)
    high: dict[str, float] = field(default_factory=dict)

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
    results = listed(WHO, "results", results, "a list with what compute returned for each run")
    for i, result in enumerate(results):
        if not isinstance(result, Mapping):
            refuse(describe(result), "a dict of scores", metric=WHO, where=f"run {i}")
        for key, value in result.items():
            if not is_number(value):
                refuse(describe(value), "a number", metric=WHO, where=f"run {i}: {key}")
    runs = [{key: float(value) for key, value in result.items()} for result in results]
    if not runs:
        refuse("no runs", "at least one run", metric=WHO, where="results")
    for i, run in enumerate(runs):
        if set(run) != set(runs[0]):
            odd = ", ".join(sorted(set(run) ^ set(runs[0])))
            refuse(f"{odd} not in every run", "the same keys in all runs", metric=WHO, where=f"run {i}")
    columns = {key: np.array([run[key] for run in runs]) for key in runs[0]}

    def each(statistic: Callable[[np.ndarray], Any]) -> dict[str, float]:
        return {key: float(statistic(values)) for key, values in columns.items()}

    spread = each(lambda values: values.std(ddof=1) if len(runs) > 1 else math.nan)
    return Summary(runs, len(runs), each(np.mean), spread, each(np.min), each(np.max))


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
    check_intervals(confidence_level, n_resamples, seed)
    runs = listed(WHO, "runs", runs, "a list with the predictions of each run")
    if not runs:
        refuse("no runs", "at least one run", metric=WHO, where="runs")
    if run_ids is not None:
        run_ids = listed(WHO, "run_ids", run_ids, "a list with the ids of each run")
    names = [f"run {i}" for i in range(len(runs))] if names is None else listed_names(names, len(runs))
    systems = run_systems(metric, names, runs, references, ids, run_ids)
    results = [scores.as_dict(systems.metric.definition.headlines) for scores in systems.scores]
    warn(systems, names)
    summary = aggregate(results)
    if confidence_level is None:
        return summary
    keys = [key for key in summary.mean if key not in systems.scores[0].notes]
    drawn = systems.resample(keys, int(n_resamples), int(seed))
    for key in keys:
        means = np.mean([run[key] for run in drawn], axis=0)
        summary.low[key], summary.high[key] = around(summary.mean[key], means[~np.isnan(means)], confidence_level)
    return summary


# --- also for comparisons -----------------------------------------------------------------------------------------


def check_intervals(confidence_level: Any, n_resamples: Any, seed: Any) -> None:
    """Refuse options of intervals that are out of range."""
    given = {"confidence_level": confidence_level, "n_resamples": n_resamples, "seed": seed}
    with Known(metric=WHO):
        for option in INTERVAL_OPTIONS:
            if option.name in given:
                option.check(given[option.name])


def listed(metric: str, argument: str, given: Any, allowed: str) -> list[Any]:
    """An argument that holds several things, as a list; a text and a dict are one thing."""
    if isinstance(given, (str, Mapping)) or not np.iterable(given):
        refuse(describe(given), allowed, metric=metric, where=argument)
    return list(given)


def listed_names(given: Any, n: int) -> list[Any]:
    """The names of n systems."""
    allowed = f"a list of {n} names"
    names = listed(WHO, "names", given, allowed)
    if len(names) != n:
        refuse(f"{len(names)} names", allowed, metric=WHO, where="names")
    return names


def around(value: float, samples: np.ndarray, level: float) -> tuple[float, float]:
    """The percentile interval of samples (Efron 1981), widened to ``value`` where that isn't inside.

    A share q lies at rank q (n + 1) of n samples (type 6 of Hyndman and Fan 1996), as `comparing.p_value` assumes.
    """
    if math.isnan(value):
        return math.nan, math.nan
    if not len(samples):
        return value, value
    low, high = np.quantile(samples, (0.5 - level / 2, 0.5 + level / 2), method="weibull")
    return min(float(low), value), max(float(high), value)


def warn(systems: Systems, names: Sequence[str]) -> None:
    """Name the undefined scores of each system."""
    for name, scores in zip(names, systems.scores):
        warn_undefined(f"{systems.metric.name}: {name}", scores.undefined)
