"""What is to be scored, and the tables and the metric that this means."""

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toxeval.answers import with_answers
from toxeval.core.declarations import THRESHOLD, Definition
from toxeval.core.group_scores import GroupScores
from toxeval.core.judged import HUMAN
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, OptionName, SetOption, refuse
from toxeval.loading import definition
from toxeval.read import Rows, Table, add_rows, count_groups, open_files, open_table
from toxeval.read.columns import ID, REFERENCE_ID
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
        layout: how the files are laid out that are no tables, one of `toxeval.read.LAYOUTS`, or "".
        options: options of the metric.
        answers, aliases: the rule by which predictions are read as labels, and other words for these; "" without.
        threshold_from: a file with validation rows, on which the option ``threshold`` is chosen, or "".
        threshold_rule: how it is chosen, a keyword argument of ``choose_threshold``; empty for the metric's usual rule.
        confidence: keyword arguments of ``compute`` that ask for intervals.
        human: for each file of predictions one with human labels of some of its rows; empty without.
        judge_on: a file with verdicts of the same judge on other rows, all with labels, or "".
        judge_by_category: whether the judge's rates are those in each category.
        by: columns that say which group a row is in.
        group_rule: keyword arguments of ``score_by``, beside options of the metric.
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
    layout: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    answers: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    threshold_from: str = ""
    threshold_rule: Mapping[str, Any] = field(default_factory=dict)
    confidence: Mapping[str, Any] = field(default_factory=dict)
    human: tuple[str, ...] = ()
    judge_on: str = ""
    judge_by_category: bool = False
    by: tuple[str, ...] = ()
    group_rule: Mapping[str, Any] = field(default_factory=dict)
    detailed: bool = False

    @property
    def corrected_by(self) -> str:
        """What rates are corrected by: ``judge_on``, ``human`` (in files, or in a column of the predictions), or ""."""
        return "judge_on" if self.judge_on else "human" if self.human or HUMAN in self.columns else ""

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
        with Known(metric=self.metric):
            if self.references and self.dataset:
                refuse("a file and a dataset", "one of them", inputs=("references",))
            if self.aliases and not self.answers:
                refuse("given", ("beside ", OptionName("answers")), option="alias")
            if self.judge_by_category and not self.judge_on:
                refuse("True", ("beside ", OptionName("judge_on")), option="judge_by_category")
            if self.human and self.judge_on:
                allowed = (OptionName("human"), " or ", OptionName("judge_on"))
                refuse("labels of these rows and of others", allowed, where="judge")
            if self.human and len(self.human) != len(self.predictions):
                found = f"{len(self.human)} files, and {len(self.predictions)} of predictions"
                refuse(found, "one for each", inputs=(HUMAN,))
            if self.threshold_from and self.corrected_by:
                wanted = "labels that correct a rate, at a threshold that is given"
                refuse("a threshold to choose and a correction", wanted, where="judge")
            if self.by and self.corrected_by:
                refuse("groups and a correction", (OptionName("by"), " or labels that correct a rate"), where="by")
            files = (*self.predictions, self.references, self.threshold_from, *self.human, self.judge_on)
            for path in files:
                if files.count(path) > 1 and _is_stream(path):
                    name = "standard input" if path == "-" else path
                    refuse("wanted more than once", f"one file from {name}", where=name)

    def wants_details(self) -> bool:
        """Whether the detailed scores are wanted, one way or the other."""
        return self.detailed or self.options.get("detailed") is True

    def tables(self) -> Iterator[tuple[Table, Table | None]]:
        """For each file of predictions its table and that of the references, None if they are in the same one."""
        shared = None
        if self.dataset:
            shared = dataset_table(self.definition, self.dataset, self.data_dir)
        elif self.references and not self.layout:
            shared = open_table(self.references, multiline=self.multiline)
        references = self.references if self.layout else ""
        how: dict[str, Any] = {"format": self.layout, "data_dir": self.data_dir, "multiline": self.multiline}
        for path in self.predictions:
            table, own = open_files(path, references, **how)
            yield table, own if shared is None else shared

    def human_tables(self) -> list[Table | None]:
        """For each file of predictions the table with human labels, None if they are in the same one or nowhere."""
        return [open_table(path, multiline=self.multiline) for path in self.human] or [None] * len(self.predictions)

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
    if job.threshold_from:
        return _result_at_chosen(job, progress)
    if job.by:
        return result_by(job, progress)[0]
    if len(job.predictions) > 1 and job.confidence:  # the mean's interval needs all runs' rows at once
        return _result_of_runs(job, progress)
    metric = job.load()
    results, digests, lengths, matched = [], [], [], []
    for path, tables in zip(job.predictions, job.tables()):
        rows = Rows(job.definition, *tables, job.columns)
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
        left_out=rows.left_out,
    )
    if len(results) == 1:
        return result
    summary = aggregate(results)
    return replace(result, scores=summary.mean, runs=summary.runs, spread=_spread(summary))


def _result_of_runs(job: Job, progress: Progress) -> Result:
    """The mean scores of several runs, with intervals; the same for any order of the runs."""
    metric = job.load()
    rows = read_files(metric, list(job.tables()), job.columns, progress)
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
        left_out=rows.left_out,
    )
    in_order = [summary.runs[runs.index(i)] for i in range(len(runs))]
    return replace(result, runs=in_order, spread=_spread(summary))


def result_by(job: Job, progress: Progress = iter) -> tuple[Result, GroupScores]:
    """The scores of all rows of one file and of groups of them."""
    metric, columns = job.load(), list(job.by)
    if len(job.predictions) > 1:
        refuse(f"{len(job.predictions)} files", "one, to score by group", metric=job.metric, inputs=("predictions",))
    rows = Rows(job.definition, *next(job.tables()), job.columns, by=columns)
    states, inputs = count_groups(metric, rows, columns, progress)
    scores = metric.score_by(states, **job.group_rule, **job.confidence)
    groups = scores.to_dict()
    result = signed_result(
        job,
        inputs,
        confidence=job.confidence_options(metric),
        n_rows=states.all.n_rows,
        digest=combined([digest(state) for state in (states.all, *states.groups.values())]),
        scores=groups.pop("all"),
        matched=rows.matched,
        left_out=rows.left_out,
        groups={"by": columns, **groups},
    )
    return result, scores


def _result_at_chosen(job: Job, progress: Progress) -> Result:
    """The scores at the threshold that is chosen on validation rows, which can't be the rows that are scored."""
    metric = job.load()
    rule = metric.threshold_rule(**job.threshold_rule)
    if len(job.predictions) > 1:
        allowed = "one: each system has a threshold of its own"
        refuse("several files", allowed, metric=job.metric, inputs=("predictions",))
    if THRESHOLD.name in job.options:
        refuse("given, and to be chosen", "one of them", metric=job.metric, option=THRESHOLD.name)
    columns = {name: column for name, column in job.columns.items() if name not in (ID, REFERENCE_ID)}
    validation = open_table(job.threshold_from, multiline=job.multiline)
    add_rows(metric, Rows(job.definition, validation, None, columns), groups=False, progress=progress)
    state = metric.added_state()
    threshold = metric.threshold_of_state(state, rule)
    result = result_of(replace(job, threshold_from="", options={**job.options, THRESHOLD.name: threshold}), progress)
    chosen = {"rule": {rule.kind: rule.value}, "n_rows": state.n_rows, "sha256": digest(state)}
    if chosen["sha256"] == result.digest:
        allowed = "others: a threshold chosen with the labels it is scored on is no result"
        refuse("the rows that are scored", allowed, where="validation rows")
    return replace(result, threshold_from=chosen)


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
        layout=job.layout,
        **found,
    )


def _spread(summary: Summary) -> dict[str, dict[str, float]]:
    """Key -> std, min and max over runs."""
    return {key: {"std": summary.std[key], "min": summary.min[key], "max": summary.max[key]} for key in summary.mean}


def job_of(result: Result, **files: Any) -> Job:
    """The job whose result is reported.

    Args:
        result: as it was saved.
        **files: predictions, references, threshold_from, human, judge_on, data_dir and multiline, as in `Job`; and
            columns beside those of the result.
    """
    options = settable_options(result)
    if bool(result.threshold_from) != bool(files.get("threshold_from")):
        found = "chosen on validation rows, which aren't given" if result.threshold_from else "not chosen on other rows"
        hint = (SetOption("threshold_from", "FILE", reader=True),)
        refuse(found, hint=hint, metric=result.metric, option=THRESHOLD.name)
    if result.threshold_from:
        options.pop(THRESHOLD.name, None)
    return Job(
        metric=result.metric,
        config=result.config,
        dataset=result.dataset,
        layout=result.layout,
        options=options,
        answers=result.answers.get("rule", ""),
        aliases=result.answers.get("aliases", {}),
        threshold_rule=result.threshold_from.get("rule", {}),
        confidence=result.confidence,
        detailed=result.detailed,
        judge_by_category=result.correction.get("judge_by_category", False),
        by=tuple(result.groups.get("by", ())),
        group_rule={name: result.groups[name] for name in ("key", "min_rows") if result.groups},
        **{**files, "columns": {**result.columns, **files.get("columns", {})}},
    )


def short_names(paths: tuple[str, ...]) -> list[str]:
    """Names for tables and legends: the files' without folder and ending where that is clear."""
    stems = ["predictions" if path == "-" else Path(path).stem for path in paths]
    return stems if len(set(stems)) == len(stems) else list(paths)
