"""What is to be scored, and the tables and the metric that this means."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toxeval.answers import with_answers
from toxeval.core.declarations import Definition
from toxeval.core.metric import Metric
from toxeval.core.refusals import OptionName, Text, refuse
from toxeval.loading import definition
from toxeval.read import Rows, Table, add_rows, open_table
from toxeval.result_files import settable_options
from toxeval.signature import Result, combined, digest, full_options
from toxeval.systems import Summary, aggregate, summarise
from toxeval.systems.files import Progress, read_files


@dataclass(frozen=True)
class Job:
    """What is to be scored and how.

    Attributes:
        metric, config: the metric and its configuration.
        predictions: files of predictions; several are runs with different seeds, or systems to compare.
        references: a file with the references, or "".
        dataset: a benchmark dataset to take them from, ``NAME[/CONFIG]:SPLIT``, or "".
        data_dir: folder with the user's own copy of the dataset, or "".
        columns: input -> column.
        multiline: whether quoted cells may hold whole rows.
        options: options of the metric.
        answers, aliases: the rule by which predictions are read as labels, and other words for these; "" without.
        confidence: keyword arguments of ``compute`` that ask for intervals.
        human: a file with human labels of some of the rows, or "".
        judge_on: a file with verdicts of the same judge on other rows, all with labels, or "".
        judge_by_category: whether the judge's rates are those in each category.
        detailed: whether to add the detailed scores.
    """

    metric: str
    predictions: tuple[str, ...]
    config: str = "default"
    references: str = ""
    dataset: str = ""
    data_dir: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    multiline: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    answers: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    confidence: Mapping[str, Any] = field(default_factory=dict)
    human: str = ""
    judge_on: str = ""
    judge_by_category: bool = False
    detailed: bool = False

    @property
    def definition(self) -> Definition:
        """What the metric takes."""
        found = definition(self.metric, self.config)
        return with_answers(found, self.answers, self.aliases) if self.answers else found

    def load(self) -> Metric:
        """The metric, its options fixed.

        Raises:
            Refusal: for an unknown metric, configuration or option, and for files that exclude each other.
        """
        self.check()
        return Metric(self.definition, **{**self.options, "detailed": self.wants_details()})

    def check(self) -> None:
        """Refuse files that exclude each other."""
        if self.references and self.dataset:
            refuse("a file and a dataset", "one of them", metric=self.metric, inputs=("references",))
        if self.judge_by_category and not self.judge_on:
            allowed: Text = ("beside ", OptionName("judge_on"))
            refuse("True", allowed, metric=self.metric, option="judge_by_category")
        if self.human and self.judge_on:
            allowed = (OptionName("human"), " or ", OptionName("judge_on"))
            refuse("labels of these rows and of others", allowed, metric=self.metric, where="judge")
        files = (*self.predictions, self.references, self.human, self.judge_on)
        for path in files:
            if files.count(path) > 1 and _is_stream(path):
                name = "standard input" if path == "-" else path
                refuse("wanted more than once", f"one file from {name}", metric=self.metric, where=name)

    def wants_details(self) -> bool:
        """Whether the detailed scores are wanted, one way or the other."""
        return self.detailed or self.options.get("detailed") is True

    def table(self, path: str) -> Table:
        """The table in a file."""
        return open_table(path, multiline=self.multiline)

    def references_table(self) -> Table | None:
        """The table with the references, None if they are in the predictions' file."""
        if self.dataset:
            return dataset_table(self.definition, self.dataset, self.data_dir)
        return self.table(self.references) if self.references else None

    def confidence_options(self, metric: Metric) -> dict[str, Any]:
        """How the intervals are made: every option of them."""
        return {**metric.interval_options, **self.confidence} if self.confidence else {}


def _is_stream(path: str) -> bool:
    """Whether a path is standard input, a pipe or the like."""
    if path == "-":
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def dataset_table(metric: Definition, dataset: str, data_dir: str) -> Table:
    """The references of a benchmark dataset, ``NAME[/CONFIG]:SPLIT``.

    Raises:
        Refusal: for an unknown dataset or split, or one that isn't annotated.
    """
    from toxeval.data import load_dataset
    from toxeval.read.parquet import from_dataset

    name, colon, split = dataset.partition(":")
    name, _, config = name.partition("/")
    where = f"dataset {dataset}"
    if not colon:
        refuse("no split; write NAME:SPLIT, such as sold:test", metric=metric.name, where=where)
    data: Any = load_dataset(name, config or None, split=split, data_dir=data_dir or None)
    wanted = {column for each in metric.inputs for part in (each, *each.fields) for column in part.columns}
    for column in wanted.intersection(data.column_names):
        if hasattr(data.features[column], "names") and min(data[column], default=0) < 0:
            found = f"not annotated ({column} is -1); choose another split"
            refuse(found, metric=metric.name, where=where)
    return from_dataset(data, dataset)


# --- results ------------------------------------------------------------------------------------------------------


def result_of(job: Job, progress: Progress = iter) -> Result:
    """Score the predictions; several files of them are runs whose scores are averaged.

    Raises:
        Refusal: for bad input; its rows are rows of the files.
        FileNotFoundError: for a missing file.
    """
    if len(job.predictions) > 1 and job.confidence:  # the mean's interval needs all runs' rows at once
        return _result_of_runs(job, progress)
    metric, references = job.load(), job.references_table()
    results, digests, lengths, matched = [], [], [], []
    for path in job.predictions:
        rows = Rows(job.definition, job.table(path), references, job.columns)
        inputs = add_rows(metric, rows, groups=bool(job.confidence), progress=progress)
        state = metric.added_state()
        lengths.append(state.n_rows)
        digests.append(digest(state))
        matched.append(rows.matched)
        results.append(metric.compute(**job.confidence) or {})
        if lengths[0] != lengths[-1]:
            found = f"{lengths[0]} rows in {job.predictions[0]} and {lengths[-1]} in {path}"
            refuse(found, "the same rows in every run", metric=job.metric, inputs=("predictions",))
    result = signed_result(
        job,
        inputs,
        confidence=job.confidence_options(metric),
        n_rows=lengths[0],
        digest=combined(sorted(digests)),
        scores=results[0],
        matched=" and ".join(dict.fromkeys(filter(None, matched))),
    )
    if len(results) == 1:
        return result
    summary = aggregate(results)
    return replace(result, scores=summary.mean, runs=summary.runs, spread=_spread(summary))


def _result_of_runs(job: Job, progress: Progress) -> Result:
    """The mean scores of several runs, with intervals; the same for any order of the runs."""
    metric = job.load()
    tables = [job.table(path) for path in job.predictions]
    rows = read_files(metric, tables, job.references_table(), job.columns, progress)
    intervals = whole_intervals(job, metric)
    digests = [digest(state) for state in rows.states]
    runs = sorted(range(len(rows.own)), key=digests.__getitem__)
    names = [job.predictions[i] for i in runs]
    summary = summarise(metric, [rows.own[i] for i in runs], rows.shared, **intervals, names=names)
    scores = dict(summary.mean)
    for key in summary.low:
        scores |= {f"{key}_low": summary.low[key], f"{key}_high": summary.high[key]}
    result = signed_result(
        job,
        rows.inputs,
        confidence=intervals,
        n_rows=rows.n_rows,
        digest=combined(sorted(digests)),
        scores=scores,
        matched=rows.matched,
    )
    in_order = [summary.runs[runs.index(i)] for i in range(len(runs))]
    return replace(result, runs=in_order, spread=_spread(summary))


def whole_intervals(job: Job, metric: Metric) -> dict[str, Any]:
    """The options of intervals of several systems, whose resamples are of whole rows."""
    return {key: value for key, value in job.confidence_options(metric).items() if key != "stratify"}


def signed_result(job: Job, inputs: Any, definition: Definition | None = None, **found: Any) -> Result:
    """What was found, with what the job says of it; ``inputs`` are the names of those that were there, and
    ``definition`` is that of their metric, if it isn't the job's."""
    return Result(
        definition=job.definition,
        options=full_options(definition or job.definition, job.options, inputs),
        detailed=job.wants_details(),
        dataset=job.dataset,
        columns=dict(job.columns),
        answers={"rule": job.answers, "aliases": dict(job.aliases)} if job.answers else {},
        **found,
    )


def _spread(summary: Summary) -> dict[str, dict[str, float]]:
    """Key -> std, min and max over runs."""
    return {key: {"std": summary.std[key], "min": summary.min[key], "max": summary.max[key]} for key in summary.mean}


def job_of(result: Result, **files: Any) -> Job:
    """The job whose result is reported.

    Args:
        result: as it was saved.
        **files: predictions, references, human, judge_on, data_dir and multiline, as in `Job`; and columns beside those
            of the result.
    """
    return Job(
        metric=result.metric,
        config=result.config,
        dataset=result.dataset,
        options=settable_options(result),
        answers=result.answers.get("rule", ""),
        aliases=result.answers.get("aliases", {}),
        confidence=result.confidence,
        detailed=result.detailed,
        judge_by_category=result.correction.get("judge_by_category", False),
        **{**files, "columns": {**result.columns, **files.get("columns", {})}},
    )


def short_names(paths: tuple[str, ...]) -> list[str]:
    """Names for tables and legends: the files' without folder and ending where that is clear."""
    stems = ["predictions" if path == "-" else Path(path).stem for path in paths]
    return stems if len(set(stems)) == len(stems) else list(paths)
