"""From a table and what the controls show to scores, and to what a visitor takes away of them."""

import json
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toxeval import pictures, plots, report
from toxeval.answers import with_answers
from toxeval.core.corrections import CONFIDENCE_LEVEL, corrected_scores
from toxeval.core.declarations import INTERVAL_OPTIONS, Definition, Picture
from toxeval.core.formulas import DOUBTED_ROWS
from toxeval.core.group_scores import GroupScores
from toxeval.core.judged import HUMAN
from toxeval.core.metric import Metric
from toxeval.core.refusals import Refusal, refuse
from toxeval.core.state import State
from toxeval.page.rows import meant
from toxeval.page.words import sentence
from toxeval.read import Rows, Table, add_rows, count_groups
from toxeval.signature import Result, combined, correction, digest, full_options

#: What the picture calls whose rows they are.
SYSTEM = "system"
#: How the command calls the options of intervals that it has options of its own for.
FLAGS = {"confidence_level": "--confidence", "n_resamples": "--resamples", "seed": "--seed"}
#: matplotlib's settings are global, and pictures are drawn with settings of their own.
_DRAWING = threading.Lock()


@dataclass(frozen=True, eq=False)
class Scored:
    """Some rows, scored.

    Attributes:
        metric: with its options.
        result: what ``toxeval score --json`` writes.
        state: what was counted of the rows.
        options: those that aren't at their defaults, of scores and intervals.
        undefined: key -> why a score has no value.
        doubts: what looks wrong, as sentences.
        groups: the scores of groups, if that was asked for.
        cards: key -> what it is called, of the most important scores of a corrected rate; else the page's own.
    """

    metric: Metric
    result: Result
    state: State
    options: Mapping[str, Any]
    undefined: Mapping[str, str]
    doubts: tuple[str, ...]
    groups: GroupScores | None = None
    cards: Mapping[str, str] = field(default_factory=dict)


def score(
    definition: Definition,
    table: Table,
    said: Mapping[str, str],
    options: Mapping[str, Any],
    answers: Mapping[str, Any],
) -> Scored:
    """Score a table, as the command does.

    Args:
        definition: of the metric.
        table: the table.
        said: input -> column.
        options: of scores and intervals, checked.
        answers: ``rule`` and ``aliases`` by which answers are read as labels; empty without.

    Raises:
        Refusal: for what can't be scored.
    """
    if answers:
        definition = with_answers(definition, **answers)
    names = {option.name for option in INTERVAL_OPTIONS}
    intervals = {n: v for n, v in options.items() if n in names and options.get("confidence_level") is not None}
    chosen = {n: v for n, v in options.items() if n not in names}
    counted, said, by = meant(definition, said)
    for name in chosen.keys() - {option.name for option in counted.options}:
        refuse("a corrected rate doesn't depend on it", "as it was at first", option=name)
    metric = Metric(counted, **chosen)
    rows, groups = Rows(counted, table, columns=said, by=by), None
    if by:
        states, inputs = count_groups(metric, rows, by)
        groups, state = metric.score_by(states, **intervals), states.all
        every = combined([digest(each) for each in (state, *states.groups.values())])
    else:
        inputs = add_rows(metric, rows, groups=bool(intervals))
        state = metric.added_state()
        every = digest(state)
    found = groups.to_dict() if groups else {}
    result = Result(
        definition=definition,
        options=full_options(counted, chosen, inputs - {HUMAN}),
        detailed=bool(chosen.get("detailed")),
        confidence={**metric.interval_options, **intervals} if intervals else {},
        dataset="",
        n_rows=state.n_rows,
        digest=every,
        scores=found.pop("all", None) or metric.compute(**intervals) or {},
        groups={"by": by, **found} if by else {},
        columns=dict(said),
        answers=dict(answers),
    )
    if counted is not definition:
        return _corrected(metric, result, state, chosen | intervals)
    undefined = metric.score(state, **metric.score_options).undefined
    doubts = tuple(_doubts(definition, state))
    return Scored(metric, result, state, chosen | intervals, undefined, doubts, groups)


def _corrected(metric: Metric, result: Result, state: State, options: Mapping[str, Any]) -> Scored:
    """With the rates corrected by the human labels in a state, beside those of the verdicts in a result."""
    level = result.level or CONFIDENCE_LEVEL.default
    found = corrected_scores(result.definition, state, judge_by_category=False, level=level)
    result = replace(result, scores=found.scores | result.scores, correction=correction("human", [state], level))
    doubts = tuple(f"{key} is {value:.3f}, which no rate can be." for key, value in found.impossible.items())
    key = next(iter(found.scores))
    cards = {key: "corrected rate", key.removesuffix("_corrected"): "rate of the verdicts"}
    cards |= {"judge_sensitivity": "the judge's sensitivity", "judge_specificity": "the judge's specificity"}
    return Scored(metric, result, state, options, found.undefined, doubts, cards=cards)


def _doubts(definition: Definition, state: State) -> Iterator[str]:
    """What looks wrong with the rows, of which ``compute`` warns: warnings are of all visitors, and not of one."""
    if definition.doubts is not None and state.n_rows >= DOUBTED_ROWS:
        for name, found, hint in definition.doubts(state):
            yield sentence(Refusal(found, hint=hint, inputs=(name,)))


# --- taken away ---------------------------------------------------------------------------------------------------


def tables(result: Result) -> dict[str, str]:
    """Files of a result: name -> text."""
    styles = {"result.md": "markdown", "result.tex": "latex", "result.csv": "csv"}
    return {"result.json": result.to_json()} | {file: report.render(result, style) for file, style in styles.items()}


def picture(scored: Scored, draw: Callable[..., Picture] | None, *, narrow: bool) -> dict[str, bytes]:
    """The picture in two formats, name of the file -> content.

    Args:
        scored: the result.
        draw: makes the `Picture`; else the metric's definition does.
        narrow: whether it is for a phone.
    """
    definition, result = scored.metric.definition, scored.result
    if draw is not None:
        definition = replace(definition, picture=draw)
    options = scored.metric.score_options | {"confidence_level": result.confidence.get("confidence_level")}
    if result.correction:
        drawn = pictures.corrected_picture(result.definition, {SYSTEM: result.scores}, result.level or 0.95)
    elif scored.groups is not None:
        drawn = pictures.groups_picture(scored.groups)
    else:
        drawn = pictures.picture_of_states(definition, {SYSTEM: scored.state}, {SYSTEM: result.scores}, options)
    with _DRAWING:
        figure = plots.draw(drawn, narrow=narrow)
        return {f"picture.{kind}": plots.image(figure, kind) for kind in ("png", "svg")}


def python_lines(scored: Scored, file: str) -> str:
    """Python that gives the same scores of the rows in a file."""
    result = scored.result
    named = ", ".join(map(repr, [result.metric] + [result.config] * (result.config != "default")))
    imports, metric = ["import toxeval"], f"toxeval.load({named})"
    if result.answers:
        imports = ["from toxeval.answers import with_answers", "from toxeval.core.metric import Metric"]
        imports += ["from toxeval.loading import definition"]
        metric = f"Metric(with_answers(definition({named}), **{result.answers!r}))"
    columns = f", columns={result.columns!r}" if result.columns else ""
    options = "".join(f", {name}={_literal(value)}" for name, value in scored.options.items())
    if by := result.groups.get("by"):
        lines = [*imports, "from toxeval.read import Rows, open_table, split_groups", "", f"metric = {metric}"]
        lines += [f"rows = Rows(metric.definition, open_table({file!r}){columns}, by={by!r})"]
        lines += [f"inputs, groups = split_groups(rows.collect(), {by!r})"]
        lines += [f"found = metric.compute_by(groups, **inputs{options})"]
        return "\n".join([*lines, "scores = found.all", "print(found.to_dict())", ""])
    lines = [*imports, "from toxeval.read import Rows, open_table", "", f"metric = {metric}"]
    if result.correction:
        names = {option.name for option in INTERVAL_OPTIONS}
        own = ", ".join(f"{name}={_literal(value)}" for name, value in scored.options.items() if name not in names)
        level = f", confidence_level={result.level}"
        intervals = "".join(f", {n}={_literal(v)}" for n, v in scored.options.items() if n in names)
        lines += [f"judged = metric.judged({own})"]
        lines += [f"inputs = Rows(judged.definition, open_table({file!r}){columns}).collect()"]
        lines += [f"scores = metric.corrected_rate(**inputs{own and ', '}{own}{level})"]
        return "\n".join([*lines, f"scores |= judged.compute(**inputs{intervals})", "print(scores)\n"])
    lines += [f"rows = Rows(metric.definition, open_table({file!r}){columns})"]
    return "\n".join([*lines, f"scores = metric.compute(**rows.collect(){options})", "print(scores)\n"])


def _literal(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and value != value else repr(value)


def command_lines(scored: Scored, file: str) -> str:
    """The commands that give the same scores, and verify them."""
    result = scored.result
    parts = ["toxeval", "score", result.metric, "--predictions", file]
    parts += ["--config", result.config] * (result.config != "default")
    if result.columns:
        parts += ["--columns", ",".join(f"{name}={column}" for name, column in result.columns.items())]
    parts += [part for column in result.groups.get("by", ()) for part in ("--by", column)]
    if result.answers:
        parts += ["--answers", result.answers["rule"]]
        parts += [part for word, label in result.answers["aliases"].items() for part in ("--alias", f"{word}={label}")]
    for name, value in scored.options.items():
        written = value if isinstance(value, str) else json.dumps(value)
        parts += [FLAGS[name], written] if name in FLAGS else ["--option", f"{name}={written}"]
    return f"{shlex.join(parts)} --json > result.json\ntoxeval verify result.json --predictions {shlex.quote(file)}\n"
