"""What the commands have in common: how they take files, columns and options, their help and their progress bar."""

import json
import math
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from toxeval.answers import RULES
from toxeval.core.declarations import Option
from toxeval.core.refusals import Refusal
from toxeval.loading import METRICS, definitions
from toxeval.read import LAYOUTS, Batch, Rows
from toxeval.read.json_texts import read_json

from .words import CommandWords, written

if TYPE_CHECKING:
    from .job import Job

F = TypeVar("F", bound=Callable[..., Any])

#: How Python writes what isn't JSON, for those who know the options from there.
WORDS = {"True": True, "False": False, "None": None, "nan": math.nan}

#: Exit status: a score is below --fail-under or above --fail-over, a result doesn't verify, something looks wrong.
FOUND = 1

#: The options of which one is chosen at most.
STYLE_NAMES = ("--json", "--markdown", "--latex")

#: Seconds without a progress bar.
PATIENCE = 2.0


class MetricCommand(click.Command):
    """A command about a metric, whose ``--predictions`` takes one file or several: ``--predictions A B``.

    Its help lists the options of the metric that is named beside ``--help``.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeats the option before each further file."""
        styles = sorted({arg for arg in args if arg in STYLE_NAMES})
        if len(styles) > 1:  # else the last one counts
            raise click.UsageError(f"{' and '.join(styles)}: one of them", ctx)
        ctx.meta["metric"] = args[0] if args and args[0] in METRICS else ""  # --help is looked at before it
        repeated: list[str] = []
        several = False
        for arg in args:
            is_option = arg.startswith("-") and arg != "-"
            if several and not is_option and repeated[-1] != "--predictions":
                repeated.append("--predictions")
            several = arg == "--predictions" or several and not is_option
            repeated.append(arg)
        return super().parse_args(ctx, repeated)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the command, and those of the metric."""
        super().format_options(ctx, formatter)
        name = ctx.meta.get("metric", "")
        if not any(parameter.name == "options" for parameter in self.params):
            return
        for metric in definitions(name).values() if name else ():
            config = "" if metric.config == "default" else f" --config {metric.config}"
            with formatter.section(f"Options of {metric.name}{config}, as --option NAME=VALUE"):
                formatter.write_dl([(option.name, _about(option)) for option in metric.options])
        if not name:
            with formatter.section("Options of a metric"):
                formatter.write_text(f"{ctx.command_path} METRIC --help lists them.")


def _about(option: Option) -> str:
    default = "" if option.default is None else f" Default: {written(option.default)}."
    return f"{option.about}{default}"


def pairs(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """``k=v`` or ``k=v,k=v`` as a dict. A comma separates only before a name and ``=``: columns have commas, too."""
    found: dict[str, str] = {}
    for value in values:
        for part in re.split(r",\s*(?=[\w.]+=)", value) if parameter.name == "columns" else [value]:
            key, equals, text = part.partition("=")
            if not equals or not key:
                raise click.BadParameter(f"{part!r} is not NAME=VALUE", ctx, parameter)
            if key in found:
                raise click.BadParameter(f"{key} is there twice", ctx, parameter)
            found[key] = text
    return found


def _values(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, Any]:
    """``k=v`` with v as JSON where it is JSON (numbers, true, lists), or one of `WORDS`, else as a text."""
    options: dict[str, Any] = {}
    for key, text in pairs(ctx, parameter, values).items():
        try:
            options[key] = WORDS[text] if text in WORDS else read_json(text)
        except json.JSONDecodeError:
            options[key] = text
        except Refusal as refusal:
            raise click.BadParameter(f"{key}: {refusal.text(CommandWords())}", ctx, parameter) from None
    return options


INPUTS = [
    click.option("--predictions", multiple=True, required=True, metavar="FILE ...", help="The predictions."),
    click.option("--references", default="", metavar="FILE", help="The references, if they are in another file."),
    click.option("--dataset", default="", metavar="NAME:SPLIT", help="Take the references from a benchmark dataset."),
    click.option("--data-dir", default="", metavar="DIR", help="Your own copy of that dataset."),
    click.option(
        "--columns",
        multiple=True,
        callback=pairs,
        metavar="INPUT=COLUMN,...",
        help="Which column is which input, or the id, if they have other names; a field in records by a dotted path.",
    ),
    click.option("--multiline", is_flag=True, help="Quoted cells of CSV may hold whole rows."),
    click.option(
        "--format",
        "layout",
        type=click.Choice(list(LAYOUTS)),
        callback=lambda ctx, parameter, name: name or "",
        metavar="NAME",
        help=f"How the files are laid out that are no tables: {', '.join(LAYOUTS)}. toxeval list says more.",
    ),
]
#: Those of them that a saved result knows.
OF_A_RESULT = (INPUTS[2], INPUTS[6])
OPTIONS = [
    click.option("--config", default="default", metavar="NAME", help="Configuration, such as token of sold_macro_f1."),
    click.option(
        "--option",
        "options",
        multiple=True,
        callback=_values,
        metavar="NAME=VALUE",
        help="An option of the metric, as threshold=0.3 or 'review_fractions=[0.02, 0.1]'; once for each.",
    ),
    click.option(
        "--answers",
        default="",
        metavar="RULE",
        help=f"The predictions are answers of a language model, read as labels by a rule: {', '.join(RULES)}.",
    ),
    click.option(
        "--alias",
        "aliases",
        multiple=True,
        callback=pairs,
        metavar="TEXT=LABEL",
        help="Another word for a label in answers; once for each.",
    ),
]
VALIDATION = click.option(
    "--threshold-from",
    default="",
    metavar="FILE",
    help="Choose the threshold on the validation rows in this file, scores and references.",
)
THRESHOLD_RULES = [
    click.option("--maximise", metavar="KEY", help="Choose the threshold with the largest value of this score."),
    click.option(
        "--recall-at-least", type=float, metavar="X", help="Choose that with the best precision at such a recall."
    ),
    click.option(
        "--precision-at-least", type=float, metavar="X", help="Choose that with the best recall at such a precision."
    ),
]
JUDGES = [
    click.option(
        "--human",
        multiple=True,
        metavar="FILE",
        help="Human labels of some of these rows, matched by id: corrects the rate for the judge's errors. "
        "Once for each file of predictions; or --columns human=COLUMN, if they are in it.",
    ),
    click.option(
        "--judge-on",
        default="",
        metavar="FILE",
        help="Other rows with the judge's verdicts and human labels: corrects the rate for the judge's errors.",
    ),
    click.option("--judge-by-category", is_flag=True, help="The judge's rates in each category, not in all of them."),
]
INTERVALS = [
    click.option("--resamples", type=int, metavar="N", help="Bootstrap resamples of the intervals."),
    click.option("--seed", type=int, metavar="N", help="Seed of the bootstrap."),
]
GROUPS = [
    click.option(
        "--by",
        multiple=True,
        metavar="COLUMN",
        help="Score groups of rows: a column of their names, or several columns of yes and no, once for each.",
    ),
    click.option("--min-rows", type=int, metavar="N", help="Smaller groups are listed without scores; 10."),
]
STYLES = [
    click.option("--json", "style", flag_value="json", help="All of it as JSON."),
    click.option("--markdown", "style", flag_value="markdown", help="A Markdown table."),
    click.option("--latex", "style", flag_value="latex", help="A LaTeX table (booktabs)."),
]


def job_of_options(metric: str, given: dict[str, Any]) -> "Job":
    """What a command's options ask for."""
    from .job import Job

    def taken(*names: str) -> dict[str, Any]:
        values = {name: given.pop(name, None) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    threshold_rule = taken("maximise", "recall_at_least", "precision_at_least")
    group_rule = taken("min_rows", "key")
    for rule, beside in ((threshold_rule, "threshold_from"), (group_rule, "by")):
        if rule and not given[beside]:
            raise click.UsageError(f"--{_dashed(next(iter(rule)))} is for --{_dashed(beside)}")
    intervals = taken("confidence", "resamples", "seed")
    if intervals and "confidence" not in intervals:
        raise click.UsageError("--resamples and --seed are for --confidence")
    as_in_python = {"confidence": "confidence_level", "resamples": "n_resamples", "seed": "seed"}
    confidence = {as_in_python[name]: value for name, value in intervals.items()}
    return Job(metric, confidence=confidence, threshold_rule=threshold_rule, group_rule=group_rule, **given)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def with_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


metric_argument = click.argument("metric", type=click.Choice(METRICS), metavar="METRIC")


def progress_bar(rows: Rows) -> Iterable[Batch]:
    """The batches of some rows as they come, with a progress bar on a terminal if they take their time."""
    if not sys.stderr.isatty():
        yield from rows
        return
    from tqdm import tqdm

    with tqdm(total=rows.n_rows, desc=rows.name, unit=" rows", unit_scale=True, leave=False, delay=PATIENCE) as bar:
        for batch in rows:
            yield batch
            bar.update(batch.n_rows)


@contextmanager
def clock() -> Iterator[None]:
    """On a terminal the time that has passed, where it is long: not all of it goes by with rows that are read."""
    if not sys.stderr.isatty():
        yield
        return
    start, done = time.time(), threading.Event()

    def show() -> None:
        if done.wait(PATIENCE):
            return
        from tqdm import tqdm

        with tqdm(bar_format="{elapsed}", leave=False) as bar:
            bar.start_t = start
            while not done.wait(0.5):
                bar.refresh()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
