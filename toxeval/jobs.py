"""From files to results: what the commands do, without the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toxeval
from toxeval.columns import how_to_say
from toxeval.data import load_dataset
from toxeval.files import open_table
from toxeval.core.inputs import refuse
from toxeval.core.state import State
from toxeval.pairing import Batch, paired
from toxeval.runs import Summary, aggregate
from toxeval.signature import Result, combined, default_options, differences, digest, full_options
from toxeval.tables import Table, from_dataset

if TYPE_CHECKING:
    from toxeval.metrics.base import Metric

#: (batches, what is read, its number of rows if known) -> the same batches.
Progress = Callable[[Iterable[Batch], str, "int | None"], Iterator[Batch]]


@dataclass(frozen=True)
class Job:
    """What is to be scored and how.

    Attributes:
        metric, config: the module and its configuration.
        predictions: files of predictions; several are runs with different seeds, or systems to compare.
        references: a file with the references, or "".
        dataset: a benchmark dataset to take them from, ``NAME[/CONFIG]:SPLIT``, or "".
        data_dir: folder with the user's own copy of the dataset, or "".
        columns: input -> column.
        options: options of the metric.
        confidence: keyword arguments of ``compute`` that ask for intervals.
        detailed: whether to add the detailed scores.
    """

    metric: str
    predictions: tuple[str, ...]
    config: str = "default"
    references: str = ""
    dataset: str = ""
    data_dir: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    confidence: Mapping[str, Any] = field(default_factory=dict)
    detailed: bool = False

    def module(self) -> Metric:
        """The metric module, its options fixed.

        Raises:
            ValueError: for an unknown metric, configuration or option.
        """
        if self.references and self.dataset:
            refuse(self.metric, "references", "a file and a dataset", "one of them")
        files = (*self.predictions, self.references)
        if files.count("-") > 1:
            refuse(self.metric, "standard input", "wanted more than once", "one file from standard input")
        return toxeval.load(self.metric, self.config, **{**self.options, "detailed": self.wants_details()})

    def wants_details(self) -> bool:
        """Whether the detailed scores are wanted, one way or the other."""
        return self.detailed or self.options.get("detailed") is True


def score(job: Job, progress: Progress | None = None) -> Result:
    """Score the predictions; several files of them are runs whose scores are averaged.

    Raises:
        ValueError: for bad input; rows in the message are rows of the files.
        FileNotFoundError: for a missing file.
    """
    if len(job.predictions) > 1 and job.confidence:  # the mean's interval needs all runs' rows at once
        from toxeval.together import score_runs

        return score_runs(job, progress)
    module, results, digests, lengths = job.module(), [], [], []
    inputs: set[str] = set()
    references = references_of(job)
    for path in job.predictions:
        state, inputs = accumulate(module, job, open_table(path), references, progress)
        lengths.append(state.n_rows)
        digests.append(digest(state))
        results.append(module.compute(**job.confidence) or {})
        if lengths[0] != lengths[-1]:
            found = f"{lengths[0]} rows in {job.predictions[0]} and {lengths[-1]} in {path}"
            refuse(job.metric, "predictions", found, "the same rows in every run")
    result = result_of(
        job,
        inputs,
        confidence=confidence_of(module, job),
        n_rows=lengths[0],
        digest=combined(sorted(digests)),
        scores=results[0],
    )
    if len(results) == 1:
        return result
    summary = aggregate(results)
    return replace(result, scores=summary.mean, runs=summary.runs, spread=spread_of(summary))


def result_of(
    job: Job, inputs: Collection[str], *, confidence: dict[str, Any], n_rows: int, digest: str, scores: dict[str, Any]
) -> Result:
    """What was found, with what the job says of it; ``inputs`` are the names of those that were there."""
    return Result(
        metric=job.metric,
        config=job.config,
        options=full_options(job.metric, job.config, job.options, inputs),
        detailed=job.wants_details(),
        confidence=confidence,
        dataset=job.dataset,
        n_rows=n_rows,
        digest=digest,
        scores=scores,
    )


def spread_of(summary: Summary) -> dict[str, dict[str, float]]:
    """Key -> std, min and max over runs."""
    return {key: {"std": summary.std[key], "min": summary.min[key], "max": summary.max[key]} for key in summary.mean}


def confidence_of(module: Metric, job: Job) -> dict[str, Any]:
    """How the intervals were made: every option of them."""
    return {**module.interval_options, **job.confidence} if job.confidence else {}


def accumulate(
    module: Metric, job: Job, predictions: Table, references: Table | None, progress: Progress | None = None
) -> tuple[State, set[str]]:
    """Add the rows of a file to a metric module, batch by batch: in constant memory, if its state is.

    Returns:
        The state of the rows, and the names of the inputs that were there.
    """
    inputs: set[str] = set()
    for batch in batches(job, predictions, references, progress):
        if not job.confidence:
            batch.inputs.pop("cluster", None)  # only intervals depend on it
        inputs = set(batch.inputs)
        try:
            module.add_batch(**batch.inputs)
        except ValueError as error:
            raise ValueError(explain(module, inputs, batch.explain(str(error)))) from None
    if not inputs:
        refuse(job.metric, "predictions", f"no rows in {predictions.name}", "at least one row")
    return module.added_state(), inputs


def batches(
    job: Job, predictions: Table, references: Table | None, progress: Progress | None = None
) -> Iterator[Batch]:
    """The rows of a file with their references."""
    rows = paired(job.metric, job.config, predictions, references, job.columns)
    return progress(rows, predictions.name, predictions.n_rows) if progress else rows


def explain(module: Metric, inputs: Collection[str], message: str) -> str:
    """A metric's message as those need it who have files: options as ``--option``, and how to say where an input is.

    Args:
        module: the metric that refused.
        inputs: the names of the inputs it got.
        message: what it said.
    """
    options = "|".join(module.options)
    # in a hint of the metric; elsewhere it may be a user's label
    message = re.sub(
        rf"\bpass ({options})=(\w+)", lambda found: f"pass --option {found[1]}={found[2].lower()}", message
    )
    for name in module.inputs:
        if name not in inputs and message.startswith(f"{module.name}: {name}: missing"):
            option = how_to_say(module.name, module.config_name, name)
            message += f" (if they are there: {option}; in another file: --references FILE)"
    return message


def short_names(paths: Sequence[str]) -> list[str]:
    """Names for tables and legends: the files' without folder and ending where that is clear."""
    stems = ["predictions" if path == "-" else Path(path).stem for path in paths]
    return stems if len(set(stems)) == len(stems) else list(paths)


# --- verification ----------------------------------------------------------------------------------------------


def job_of(result: Result, **files: Any) -> Job:
    """The job whose result is reported.

    Args:
        result: as it was saved.
        **files: predictions, references, data_dir and columns, as in `Job`.
    """
    usual = default_options(result.metric, result.config)
    options = {key: value for key, value in result.options.items() if value != usual.get(key)}
    if options.get("review_strategy") == "review_scores":
        del options["review_strategy"]
    return Job(
        metric=result.metric,
        config=result.config,
        dataset=result.dataset,
        options=options,
        confidence=result.confidence,
        detailed=result.detailed,
        **files,
    )


def mismatches(reported: Result, signature: str, fresh: Result) -> list[tuple[str, Any, Any]]:
    """Where a reported result and a recomputed one differ: key, reported, recomputed.

    Args:
        reported: the result as it was saved.
        signature: as it was saved with it.
        fresh: recomputed from the same options, perhaps by another version.
    """
    found = differences(reported.scores, fresh.scores)
    found += [(f"spread of {key}", old, new) for key, old, new in differences(reported.spread, fresh.spread)]
    for what in ("n_rows", "digest"):
        old, new = getattr(reported, what), getattr(fresh, what)
        if old != new:
            found.append((what, old, new))
    if not found and len(reported.runs) == len(fresh.runs):
        pairs = enumerate(zip(*(sorted(runs, key=str) for runs in (reported.runs, fresh.runs))))
        found += [(f"{key} of run {i}", old, new) for i, (a, b) in pairs for key, old, new in differences(a, b)]
    expected = replace(fresh, version=reported.version).signature()
    if not found and signature != expected:
        found.append(("signature", signature, expected))
    return found


# --- references ---------------------------------------------------------------------------------------------------


def references_of(job: Job) -> Table | None:
    """The table with the references, None if they are in the predictions' file."""
    if job.dataset:
        return dataset_table(job.metric, job.config, job.dataset, job.data_dir)
    return open_table(job.references) if job.references else None


def dataset_table(metric: str, config: str, dataset: str, data_dir: str) -> Table:
    """The references of a benchmark dataset, ``NAME[/CONFIG]:SPLIT``.

    Raises:
        ValueError: for an unknown dataset or split, or one that isn't annotated.
    """
    name, colon, split = dataset.partition(":")
    name, _, dataset_config = name.partition("/")
    if not colon:
        raise ValueError(f"{metric}: dataset {dataset}: no split; write NAME:SPLIT, such as sold:test")
    data: Any = load_dataset(name, dataset_config or None, split=split, data_dir=data_dir or None)
    for column in ("intent", "label", "category"):
        if column in data.column_names and min(data[column], default=0) < 0:
            raise ValueError(f"{metric}: dataset {dataset}: not annotated ({column} is -1); choose another split")
    if config == "token" and "rationales" in data.column_names:
        data = data.map(_whole_rationales, batched=True, keep_in_memory=True)
    return from_dataset(data, dataset)


def _whole_rationales(rows: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """A post without rationale counts as all 0."""
    return {
        "rationales": [
            list(rationale) or [0] * len(tokens) for tokens, rationale in zip(rows["tokens"], rows["rationales"])
        ]
    }
