"""From a table and what the controls show to scores, and to what a visitor takes away of them."""

import json
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pprint import pformat
from typing import Any

from toxeval import pictures, plots, report
from toxeval.answers import with_answers
from toxeval.core.declarations import INTERVAL_OPTIONS, Definition, Picture
from toxeval.core.formulas import DOUBTED_ROWS
from toxeval.core.metric import Metric
from toxeval.core.refusals import Refusal
from toxeval.core.state import State
from toxeval.page.words import sentence
from toxeval.read import Rows, Table, add_rows
from toxeval.signature import Result, digest, full_options

#: So many rows are written out in the lines of Python; more are read from the file.
INLINE_ROWS = 40
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
        inputs: the inputs; empty where there are many rows.
        options: those that aren't at their defaults, of scores and intervals.
        undefined: key -> why a score has no value.
        doubts: what looks wrong, as sentences.
    """

    metric: Metric
    result: Result
    state: State
    inputs: Mapping[str, Any]
    options: Mapping[str, Any]
    undefined: Mapping[str, str]
    doubts: tuple[str, ...]


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
    metric = Metric(definition, **chosen)
    rows = Rows(definition, table, columns=said)
    inputs = add_rows(metric, rows, groups=bool(intervals))
    state = metric.added_state()
    result = Result(
        definition=definition,
        options=full_options(definition, chosen, inputs),
        detailed=bool(chosen.get("detailed")),
        confidence={**metric.interval_options, **intervals} if intervals else {},
        dataset="",
        n_rows=state.n_rows,
        digest=digest(state),
        scores=metric.compute(**intervals) or {},
        columns=dict(said),
        answers=dict(answers),
    )
    few = rows.collect() if state.n_rows <= INLINE_ROWS else {}
    given = {name: values for name, values in few.items() if name in inputs}
    undefined = metric.score(state, **metric.score_options).undefined
    return Scored(metric, result, state, given, chosen | intervals, undefined, tuple(_doubts(definition, state)))


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


def picture(scored: Scored, draw: Callable[..., Picture] | None = None) -> tuple[dict[str, bytes], bool]:
    """The picture in two formats, name of the file -> content; and whether it is as wide as a page.

    Args:
        scored: the result.
        draw: makes the `Picture`; else the metric's definition does.
    """
    definition, result = scored.metric.definition, scored.result
    if draw is not None:
        definition = replace(definition, picture=draw)
    options = scored.metric.score_options | {"confidence_level": result.confidence.get("confidence_level")}
    drawn = pictures.picture_of_states(definition, {SYSTEM: scored.state}, {SYSTEM: result.scores}, options)
    with _DRAWING:
        figure = plots.draw(drawn)
        files = {f"picture.{kind}": plots.image(figure, kind) for kind in ("png", "svg")}
    return files, bool(figure.get_figwidth() > plots.COLUMN)


def python_lines(scored: Scored, space: str, file: str) -> str:
    """Python that gives the same scores.

    Args:
        scored: the result.
        space: the Space's id, or "".
        file: where the rows are.
    """
    result, answers = scored.result, scored.result.answers
    config = [result.config] * (result.config != "default")
    load = f"toxeval.load({_arguments([result.metric, *config])})"
    imports, rows, inputs = ["import toxeval"], "", scored.inputs
    if answers:
        imports = ["from toxeval.answers import with_answers", "from toxeval.core.metric import Metric"]
        imports.append("from toxeval.loading import definition")
        load = f"Metric(with_answers(definition({_arguments([result.metric, *config])}), **{_literal(answers)}))"
    elif space and inputs:
        imports, load = ["import evaluate"], f"evaluate.load({_arguments([space, *config])})"
    if not inputs:
        imports.append("from toxeval.read import Rows, open_table")
        columns = f", columns={_literal(result.columns)}" if result.columns else ""
        rows = f"rows = Rows(metric.definition, open_table({file!r}){columns})\n"
    given = [f"{name}={_literal(value)}" for name, value in {**inputs, **scored.options}.items()]
    lines = "".join(f"    {each},\n" for each in ([] if inputs else ["**rows.collect()"]) + given)
    return "\n".join(
        [*imports, "", f"metric = {load}", f"{rows}scores = metric.compute(", f"{lines})", "print(scores)\n"]
    )


def _arguments(names: list[str]) -> str:
    return ", ".join(map(json.dumps, names))


def _literal(value: Any) -> str:
    if isinstance(value, float) and value != value:
        return 'float("nan")'
    plain = value.tolist() if hasattr(value, "tolist") else value
    return pformat(plain, width=58, compact=True, sort_dicts=False).replace("\n", "\n    ")


def command_lines(scored: Scored, file: str) -> str:
    """The commands that give the same scores, and verify them."""
    result = scored.result
    parts = ["toxeval", "score", result.metric, "--predictions", file]
    parts += ["--config", result.config] * (result.config != "default")
    if result.columns:
        parts += ["--columns", ",".join(f"{name}={column}" for name, column in result.columns.items())]
    if result.answers:
        parts += ["--answers", result.answers["rule"]]
        parts += [part for word, label in result.answers["aliases"].items() for part in ("--alias", f"{word}={label}")]
    for name, value in scored.options.items():
        written = value if isinstance(value, str) else json.dumps(value)
        parts += [FLAGS[name], written] if name in FLAGS else ["--option", f"{name}={written}"]
    return f"{shlex.join(parts)} --json > result.json\ntoxeval verify result.json --predictions {shlex.quote(file)}\n"
