"""Several files of predictions on the same rows: runs to average, systems to compare. They are held in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from toxeval.files import open_table
from toxeval.jobs import Job, Progress, batches, confidence_of, explain, references_of, result_of, spread_of
from toxeval.metrics.base import Metric
from toxeval.core.inputs import refuse
from toxeval.pairing import join, take
from toxeval.report import number
from toxeval.runs import Comparison, compare, summarise
from toxeval.signature import Result, combined, digest, plain

#: Inputs that all systems share.
SHARED = ("references", "categories", "cluster")


@dataclass(frozen=True)
class Rows:
    """The rows of several files, in the same order.

    Attributes:
        own: for each file the inputs that are its own.
        shared: the inputs that all share.
        digests: of each file's rows, see `toxeval.signature.digest`.
        n_rows: how many.
    """

    own: list[dict[str, Any]]
    shared: dict[str, Any]
    digests: list[str]
    n_rows: int

    @property
    def inputs(self) -> list[str]:
        """The names of all inputs."""
        return [*self.own[0], *self.shared]


def read_together(module: Metric, job: Job, progress: Progress | None = None) -> Rows:
    """The rows of all files of predictions, matched by id or else by position.

    Without a file or dataset of references, those of the first file are taken, and the others' must be the same.

    Raises:
        ValueError: for rows that don't match, references that differ, and what the metric refuses.
    """
    gold = references_of(job)
    inputs: list[dict[str, Any]] = []
    arrays: list[dict[str, np.ndarray]] = []
    for path in job.predictions:
        table = open_table(path)
        parts, rows = [], []
        for batch in batches(job, table, gold or open_table(job.predictions[0]), progress):
            parts.append(batch.inputs)
            # where each row's references are: every file in the order of the references
            shared = next((name for name in SHARED if name in batch.inputs), "predictions")
            rows += [batch.row(shared, row) for row in range(batch.n_rows)]
        order = np.argsort(np.array(rows))
        inputs.append(take(join(parts), order))
        arrays.append(_encode(module, inputs[-1], path))
        if gold is None and path != job.predictions[0]:
            alone = take(join([batch.inputs for batch in batches(job, table, None)]), order)
            _refuse_other_references(job, arrays[-1], _encode(module, alone, path), path)
    digests = [digest(module.count(each)) for each in arrays]
    order = _order(arrays, len(rows))
    inputs = [take(each, order) for each in inputs]
    return Rows(
        own=[{name: values for name, values in each.items() if name not in SHARED} for each in inputs],
        shared={name: values for name, values in inputs[0].items() if name in SHARED},
        digests=digests,
        n_rows=len(rows),
    )


def _order(systems: Sequence[Mapping[str, np.ndarray]], n: int) -> np.ndarray:
    """An order of the rows that doesn't depend on the files': resamples then don't either."""
    keys: list[Any] = []
    for arrays in systems:
        lengths = arrays.get("lengths", np.zeros(0, dtype=np.int64))
        for array in arrays.values():
            if array.shape == (n,):
                keys.append(array)
            elif array.shape == (lengths.sum(),):
                ends = np.cumsum(lengths)
                keys.append([array[end - length : end].tobytes().hex() for end, length in zip(ends, lengths)])
    return np.lexsort(keys) if keys else np.arange(n)


def _encode(module: Metric, inputs: Mapping[str, Any], path: str) -> dict[str, np.ndarray]:
    try:
        arrays: dict[str, np.ndarray] = module.encoded(**inputs)
        return arrays
    except ValueError as error:
        raise ValueError(f"{path}: {explain(module, inputs, str(error))}") from None


def _refuse_other_references(
    job: Job, first: Mapping[str, np.ndarray], own: Mapping[str, np.ndarray], path: str
) -> None:
    for name, array in first.items():
        if name in own and not np.array_equal(array, own[name]):
            found = f"those of {path} aren't those of {job.predictions[0]}"
            refuse(job.metric, "references", found, "the same rows in all files; where the order differs, with ids")


# --- runs ---------------------------------------------------------------------------------------------------------


def score_runs(job: Job, progress: Progress | None = None) -> Result:
    """The mean scores of several runs, with intervals; the same for any order of the runs."""
    module = job.module()
    rows = read_together(module, job, progress)
    intervals = {key: value for key, value in confidence_of(module, job).items() if key != "stratify"}
    runs = sorted(range(len(rows.own)), key=rows.digests.__getitem__)
    names = [job.predictions[i] for i in runs]
    summary = summarise(module, [rows.own[i] for i in runs], rows.shared, **intervals, names=names)
    scores = dict(summary.mean)
    for key in summary.low:
        scores |= {f"{key}_low": summary.low[key], f"{key}_high": summary.high[key]}
    result = result_of(
        job,
        rows.inputs,
        confidence=intervals,
        n_rows=rows.n_rows,
        digest=combined(sorted(rows.digests)),
        scores=scores,
    )
    in_order = [summary.runs[runs.index(i)] for i in range(len(runs))]
    return replace(result, runs=in_order, spread=spread_of(summary))


# --- comparison ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contest:
    """Systems compared with the first of them.

    Attributes:
        result: the first system's scores, with the options and intervals; its digest is of all systems, in order.
        comparisons: for each other system, key -> `Comparison`, of which it is a and the first system b.
    """

    result: Result
    comparisons: list[dict[str, Comparison]]

    def table(self, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
        """Head and rows, for `toxeval.report.table`; ``names`` are the systems'."""
        level = self.result.confidence["confidence_level"] * 100
        head = [self.result.metric, "system", "score", names[0], "difference", f"{level:g} % interval", "p", "test"]
        rows = [
            [
                key,
                name,
                number(each.score_a),
                number(each.score_b),
                f"{each.difference:+.4f}",
                f"[{each.low:+.4f}, {each.high:+.4f}]",
                f"{each.p_value:.4g}",
                each.method,
            ]
            for name, comparison in zip(names[1:], self.comparisons)
            for key, each in comparison.items()
        ]
        return head, rows

    def to_json(self, names: Sequence[str]) -> str:
        """As a JSON document; ``names`` are the systems'."""
        whole = json.loads(self.result.to_json())
        del whole["scores"], whole["detailed"]
        whole["baseline"] = names[0]
        whole["comparisons"] = {
            name: {key: plain(each.to_dict()) for key, each in comparison.items()}
            for name, comparison in zip(names[1:], self.comparisons)
        }
        return json.dumps(whole, indent=2, allow_nan=False)


def contest(job: Job, keys: Sequence[str], progress: Progress | None = None) -> Contest:
    """Compare each further file of predictions with the first.

    Args:
        job: with at least two files, and a confidence level.
        keys: the scores to compare; if empty, the metric's headline score.
    """
    if len(job.predictions) < 2:
        refuse(job.metric, "predictions", "one file", "at least two, to compare the others with the first")
    module = job.module()
    rows = read_together(module, job, progress)
    intervals = {key: value for key, value in confidence_of(module, job).items() if key != "stratify"}
    first, *others = job.predictions
    comparisons = [
        compare(module, own, rows.own[0], rows.shared, keys=list(keys) or None, **intervals, names=(path, first))
        for path, own in zip(others, rows.own[1:])
    ]
    result = result_of(
        job,
        rows.inputs,
        confidence=intervals,
        n_rows=rows.n_rows,
        digest=combined(rows.digests),
        scores={key: each.score_b for key, each in comparisons[0].items()},
    )
    return Contest(result, comparisons)
