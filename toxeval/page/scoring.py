"""From a table and what the controls show to scores, and to what a visitor takes away of them."""

import json
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pprint import pformat
from typing import Any

from toxeval import pictures, plots, report
from toxeval.core.declarations import INTERVAL_OPTIONS, Definition, Picture
from toxeval.core.metric import DOUBTED_ROWS, Metric
from toxeval.core.refusals import Refusal
from toxeval.core.state import State
from toxeval.page.words import sentence
from toxeval.read import Rows, Table, add_rows
from toxeval.signature import Result, digest, full_options

#: So many rows are written out in the lines of Python; more are read from the file.
INLINE_ROWS = 40
#: What the picture calls whose rows they are.
SYSTEM = "system"
#: matplotlib's settings are global, and pictures are drawn with settings of their own.
_DRAWING = threading.Lock()


@dataclass(frozen=True, eq=False)
class Scored:
    """Some rows, scored.

    Attributes:
        metric: with its options.
        result: what ``toxeval score --json`` writes.
        state: what was counted of the rows.
        inputs: the inputs; None where there are many rows.
        options: those that aren't at their defaults, of scores and intervals.
        undefined: key -> why a score has no value.
        doubts: what looks wrong, as sentences.
    """

    metric: Metric
    result: Result
    state: State
    inputs: Mapping[str, Any] | None
    options: Mapping[str, Any]
    undefined: Mapping[str, str]
    doubts: tuple[str, ...]


def score(definition: Definition, table: Table, said: Mapping[str, str], options: Mapping[str, Any]) -> Scored:
    """Score a table, as the command does.

    Args:
        definition: of the metric.
        table: the table.
        said: input -> column.
        options: of scores and intervals, checked.

    Raises:
        Refusal: for what can't be scored.
    """
    intervals = {option.name: options[option.name] for option in INTERVAL_OPTIONS if option.name in options}
    if "confidence_level" not in intervals:
        intervals = {}
    chosen = {name: value for name, value in options.items() if definition_has(definition, name)}
    metric = Metric(definition, **chosen)
    rows = Rows(definition, table, columns=said)
    inputs = add_rows(metric, rows, groups=bool(intervals))
    state = metric.added_state()
    result = Result(
        metric=definition.name,
        config=definition.config,
        options=full_options(definition, chosen, inputs),
        detailed=bool(chosen.get("detailed")),
        confidence={**metric.interval_options, **intervals} if intervals else {},
        dataset="",
        n_rows=state.n_rows,
        digest=digest(state),
        scores=metric.compute(**intervals) or {},
        columns=dict(said),
    )
    few = {name: values for name, values in rows.collect().items() if name in inputs} if state.n_rows <= INLINE_ROWS else None
    undefined = metric.score(state, **metric.score_options).undefined
    return Scored(metric, result, state, few, chosen | intervals, undefined, tuple(_doubts(definition, state)))


def _doubts(definition: Definition, state: State) -> Iterator[str]:
    """What looks wrong with the rows, of which ``compute`` warns: warnings are of all visitors, and not of one."""
    if definition.doubts is not None and state.n_rows >= DOUBTED_ROWS:
        for name, found, hint in definition.doubts(state):
            yield sentence(Refusal(found, hint=hint, inputs=(name,)))


def definition_has(definition: Definition, option: str) -> bool:
    """Whether it is an option of the metric, and not one of intervals."""
    return any(each.name == option for each in definition.options)


# --- taken away ---------------------------------------------------------------------------------------------------


def tables(scored: Scored) -> dict[str, str]:
    """Files of a result: name -> text."""
    result = scored.result
    return {
        "result.json": result.to_json(),
        "result.md": report.render(result, "markdown"),
        "result.tex": report.render(result, "latex"),
        "result.csv": report.render(result, "csv"),
    }


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


def python_lines(scored: Scored, module: str, file: str) -> str:
    """Python that gives the same scores.

    Args:
        scored: the result.
        module: the Space's id, or "" where the metric is one of the package.
        file: where the rows are.
    """
    result = scored.result
    named = [result.metric] + [result.config] * (result.config != "default")
    lines = ["import evaluate" if module and scored.inputs is not None else "import toxeval"]
    load = f"evaluate.load({_arguments([module, *named[1:]])})" if module and scored.inputs is not None else ""
    load = load or f"toxeval.load({_arguments(named)})"
    given = [f"    {name}={_literal(value)},\n" for name, value in scored.options.items()]
    if scored.inputs is None:
        lines.append("from toxeval.read import Rows, open_table")
        columns = f", columns={_literal(result.columns)}" if result.columns else ""
        rows = f"rows = Rows(metric.definition, open_table({file!r}){columns})\n"
        given.insert(0, "    **rows.collect(),\n")
    else:
        rows = ""
        given = [f"    {name}={_literal(value)},\n" for name, value in scored.inputs.items()] + given
    return "\n".join([*lines, "", f"metric = {load}\n{rows}scores = metric.compute(\n{''.join(given)})\nprint(scores)\n"])


def _arguments(names: list[str]) -> str:
    return ", ".join(map(json.dumps, names))


def _literal(value: Any) -> str:
    if isinstance(value, float) and value != value:
        return 'float("nan")'
    plain = value.tolist() if hasattr(value, "tolist") else value
    return pformat(plain, width=58, compact=True, sort_dicts=False).replace("\n", "\n    ")


def command_lines(scored: Scored, file: str) -> str:
    """The commands that give the same scores, and verify them."""
    result, parts = scored.result, ["toxeval", "score", scored.result.metric, "--predictions", file]
    if result.config != "default":
        parts += ["--config", result.config]
    if result.columns:
        parts += ["--columns", ",".join(f"{name}={column}" for name, column in result.columns.items())]
    flags = {"confidence_level": "--confidence", "n_resamples": "--resamples", "seed": "--seed"}
    for name, value in scored.options.items():
        if name in flags:
            parts += [flags[name], str(value)]
        elif name == "detailed":
            parts.append("--detailed")
        else:
            parts += ["--option", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    quoted = shlex.quote(file)
    return f"{shlex.join(parts)} --json > result.json\ntoxeval verify result.json --predictions {quoted}\n"
