"""``toxeval score``."""

import difflib
import math
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from .options import (
    FOUND,
    GROUPS,
    INPUTS,
    INTERVALS,
    JUDGES,
    OPTIONS,
    STYLES,
    THRESHOLD_RULES,
    VALIDATION,
    MetricCommand,
    clock,
    job_of_options,
    metric_argument,
    pairs,
    progress_bar,
    with_options,
)

if TYPE_CHECKING:
    from toxeval.signature import Result

#: What a score is that doesn't get through, what it should be, and when it is; an undefined score never is.
GATES = {"--fail-under": ("below", "at least", operator.ge), "--fail-over": ("above", "at most", operator.le)}

#: So many keys of scores fit into a message.
FEW = 12


@click.command(cls=MetricCommand)
@metric_argument
@with_options(*INPUTS, *OPTIONS)
@with_options(VALIDATION, *THRESHOLD_RULES, *JUDGES, *GROUPS)
@click.option("--key", metavar="KEY", help="The score to compare groups by; else the main one.")
@click.option("--confidence", type=float, metavar="LEVEL", help="Add confidence intervals, such as 0.95.")
@with_options(*INTERVALS)
@click.option("--detailed", is_flag=True, help="Add counts, support and other details.")
@click.option("--fail-under", multiple=True, callback=pairs, metavar="KEY=VALUE", help="Exit with 1 if it is below.")
@click.option("--fail-over", multiple=True, callback=pairs, metavar="KEY=VALUE", help="Exit with 1 if it is above.")
@with_options(*STYLES)
def score(metric: str, fail_under: dict[str, str], fail_over: dict[str, str], style: str | None, **given: Any) -> int:
    """Score predictions.

    Several files of predictions are runs with different seeds: the table has
    the mean of their scores and its spread. References are in the same file,
    in another (--references) or in a benchmark dataset (--dataset). Two
    tables are matched by a column id or post_id in both, or the one named
    with --columns id=COLUMN; else row by row, in the order of the files.

    \b
    Examples:
      $ toxeval score sold_macro_f1 --predictions predictions.jsonl
      $ toxeval score sold_macro_f1 --predictions predictions.jsonl \\
          --confidence 0.95 --fail-under f1_macro_low=0.1 --json

    A rate of a metric with two labels, where a judge gave the verdicts, is
    corrected for the judge's errors by human labels: --human has those of a
    random part of the rows (or a column, --columns human=COLUMN, empty in the
    others), --judge-on other rows with both.

    KEY_low is the lower end of the interval, for --fail-under; KEY_high is
    the upper end, for --fail-over of rates that should be small.
    """
    from toxeval import report

    from .correcting import result_of

    job = job_of_options(metric, given)
    if job.detailed and job.corrected_by:
        raise click.UsageError("--detailed: there are no details of corrected rates")
    with clock():
        result = result_of(job, progress_bar)
    failures = _failures(result, {"--fail-under": fail_under, "--fail-over": fail_over})
    click.echo(result.to_json() if style == "json" else report.render(result, style or "text"))
    for failure in failures:
        click.secho(failure, fg="red", err=True)
    return FOUND if failures else 0


def _failures(result: "Result", given: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What to say of the scores that don't get through; ``given`` is the bounds by option of `GATES`."""
    from toxeval.core.refusals import NUMBER

    failures = []
    for option, bounds in given.items():
        failed, wanted, passes = GATES[option]
        for key, text in bounds.items():
            if key not in result.scores:
                raise click.UsageError(f"{option}: no score {key}{_instead(key, list(result.scores))}")
            if not NUMBER.fullmatch(text) or math.isnan(float(text)):
                raise click.UsageError(f"{option}: {key}={text}: not a number")
            bound = float(text)
            if not passes(result.scores[key], bound):
                failures.append(f"{failed}: {key} is {result.scores[key]:.6g}, wanted {wanted} {bound:g}")
    return failures


def _instead(key: str, keys: Sequence[str]) -> str:
    """What to say after a score that isn't there: which ones are, as far as that helps."""
    if key.rpartition("_")[0] in keys and key.endswith(("_low", "_high")):
        return " (add --confidence)"
    close = difflib.get_close_matches(key, keys, n=5)
    if close or len(keys) <= FEW:
        meant = f"; did you mean {close[0]}?" if close else ""
        return f"{meant}{' There' if close else '; there'} are {', '.join(keys if len(keys) <= FEW else close)}"
    return f"; there are {', '.join(keys[:FEW])}, … (all of them: --json)"
