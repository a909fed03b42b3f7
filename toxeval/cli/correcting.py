"""A rate corrected for its judge: the files with human labels, and what is reported of them."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toxeval.core.corrections import CONFIDENCE_LEVEL, correct
from toxeval.core.declarations import Picture
from toxeval.core.judged import HUMAN, judged
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, Refusal, Words, refuse
from toxeval.core.state import State
from toxeval.doctor import Finding, examine, examine_judge
from toxeval.pictures import corrected_picture
from toxeval.read import Rows, Table, add_rows, open_table
from toxeval.read.human_labels import columns_of_judge, columns_of_verdicts
from toxeval.signature import Result, correction, digest
from toxeval.systems.files import Progress

from .job import Job, signed_result
from .job import result_of as uncorrected

#: The table of predictions, that of their references and that of human labels if they are others.
Tables = tuple[Table, Table | None, Table | None]


class Judged(NamedTuple):
    """What was read for a correction.

    Attributes:
        metric: which counts verdicts and labels, with the rows in it.
        state: of the rows.
        judge_on: of the rows that tell how the judge errs, None if labels of the same rows do.
        inputs: the names of the inputs that were there.
        matched: see `Rows`.
    """

    metric: Metric
    state: State
    judge_on: State | None
    inputs: set[str]
    matched: str


def result_of(job: Job, progress: Progress = iter) -> Result:
    """As `job.result_of`; with human labels of some rows or of others the corrected rates.

    Raises:
        Refusal: for bad input; its rows are rows of the files.
        FileNotFoundError: for a missing file.
    """
    if not job.corrected_by:
        return uncorrected(job, progress)
    job.check()
    if len(job.predictions) > 1:
        refuse(f"{len(job.predictions)} files", "one, to correct", metric=job.metric, inputs=("predictions",))
    judge_on = read_judge(job) if job.judge_on else None
    rows = read(job, next(tables_of(job)), judge_on, progress)
    scores = scores_of(job, rows)
    return signed_result(
        job,
        rows.inputs - {HUMAN},
        definition=rows.metric.definition,
        confidence=job.confidence_options(rows.metric),
        n_rows=rows.state.n_rows,
        digest=digest(rows.state),
        scores=scores,
        matched=rows.matched,
        correction=correction_of(job, [rows.state], rows.judge_on),
    )


def scores_of(job: Job, rows: Judged) -> dict[str, Any]:
    """The corrected rates, what labels say of the judge, and the raw rates, whose intervals have to be asked for."""
    with Known(metric=job.metric):
        scores = correct(
            job.definition, rows.state, rows.judge_on, judge_by_category=job.judge_by_category, level=level_of(job)
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is undefined was said already
        return scores | (rows.metric.compute(**job.confidence) or {})


def correction_of(job: Job, states: Sequence[State], judge_on: State | None) -> dict[str, Any]:
    """What a result says of its correction, and a signature too; ``states`` are of all systems."""
    by_category = None if judge_on is None else job.judge_by_category
    labelled = states if judge_on is None else [judge_on]
    return correction(job.corrected_by, labelled, level_of(job), judge_by_category=by_category)


def level_of(job: Job) -> float:
    """The level of the intervals of corrected rates, which are always there."""
    level: float = CONFIDENCE_LEVEL.check(job.confidence.get("confidence_level", CONFIDENCE_LEVEL.default))
    return level


def read(job: Job, tables: Tables, judge_on: State | None, progress: Progress = iter) -> Judged:
    """The rows of a file of verdicts, and the labels that correct their rates."""
    metric, (predictions, references, human) = load(job), tables
    rows = Rows(metric.definition, predictions, references, columns_of(job), human)
    inputs = add_rows(metric, rows, progress=progress)
    return Judged(metric, metric.added_state(), judge_on, inputs, rows.matched)


def picture_of(job: Job, names: Sequence[str], progress: Progress = iter) -> Picture:
    """The picture of the raw and the corrected rates of each file, under its name."""
    job = replace(job, confidence={"confidence_level": level_of(job)})
    judge_on = read_judge(job) if job.judge_on else None
    results = {name: scores_of(job, read(job, each, judge_on, progress)) for name, each in zip(names, tables_of(job))}
    return corrected_picture(job.definition, results, level_of(job))


def examined(job: Job, tables: Tables, words: Words) -> Iterator[Finding]:
    """What looks wrong with a file of verdicts and with the labels that are to correct them."""
    metric = Metric(judged(job.definition, False), **job.options)
    yield from examine(metric, *tables[:2], columns_of_verdicts(job.columns, labelled=False), words)
    try:
        rows = read(job, tables, read_judge(job) if job.judge_on else None)
    except Refusal as refusal:
        yield Finding("labels", refusal.text(words), "mend this first: the judge couldn't be looked at")
        return
    yield from examine_judge(job.definition, rows.state, rows.judge_on, job.judge_by_category, words)


def load(job: Job) -> Metric:
    """The metric that counts the verdicts, and labels of some of them if there are any."""
    return Metric(judged(job.definition, False if job.judge_on else None), **job.options)


def columns_of(job: Job) -> dict[str, str]:
    """What is said of the columns of verdicts."""
    return columns_of_verdicts(job.columns, labelled=not job.judge_on)


def tables_of(job: Job) -> Iterator[Tables]:
    """The tables of each file of predictions."""
    return ((*tables, human) for tables, human in zip(job.tables(), job.human_tables()))


def read_judge(job: Job) -> State:
    """The state of the rows that tell how the judge errs."""
    metric = Metric(judged(job.definition, True), **job.options)
    table = open_table(job.judge_on, multiline=job.multiline)
    with Known(file=table.name):
        add_rows(metric, Rows(metric.definition, table, None, columns_of_judge(job.columns)))
    return metric.added_state()
