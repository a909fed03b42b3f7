"""``toxeval score``, ``compare`` and ``verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from toxeval.options import (
    FOUND,
    INPUTS,
    INTERVALS,
    OPTIONS,
    STYLES,
    ManyFiles,
    import_evaluate,
    intervals,
    make_job,
    metric_argument,
    pairs,
    progress_bar,
    with_options,
)

if TYPE_CHECKING:
    from toxeval.signature import Result


@click.command(cls=ManyFiles)
@metric_argument
@with_options(*INPUTS, *OPTIONS)
@click.option("--confidence", type=float, metavar="LEVEL", help="Add confidence intervals, such as 0.95.")
@with_options(*INTERVALS)
@click.option("--detailed", is_flag=True, help="Add counts, support and other details.")
@click.option("--fail-under", multiple=True, callback=pairs, metavar="KEY=VALUE", help="Exit with 1 if it is below.")
@with_options(*STYLES)
def score(
    metric: str,
    confidence: float | None,
    resamples: int | None,
    seed: int | None,
    fail_under: dict[str, str],
    style: str | None,
    **given: Any,
) -> int:
    """Score predictions.

    Several files of predictions are runs with different seeds: the table has
    the mean of their scores and its spread. References are in the same file,
    in another (--references) or in a benchmark dataset (--dataset); two
    tables are matched by their column id, else row by row.

    \b
    Examples:
      $ toxeval score sold_macro_f1 --predictions predictions.jsonl
      $ toxeval score sold_macro_f1 --predictions predictions.jsonl \\
          --confidence 0.95 --fail-under f1_macro_low=0.1 --json

    KEY_low of --fail-under is the lower end of the interval.
    """
    import_evaluate()
    from toxeval import jobs, report

    job = make_job(metric, confidence=intervals(confidence, resamples, seed), **given)
    result = jobs.score(job, progress_bar)
    bounds = _bounds(result, fail_under)
    click.echo(result.to_json() if style == "json" else report.render(result, style or "text"))
    below = {key: bound for key, bound in bounds.items() if not result.scores[key] >= bound}  # an undefined score is
    for key, bound in below.items():
        click.secho(f"below: {key} is {result.scores[key]:.6g}, wanted {bound:g}", fg="red", err=True)
    return FOUND if below else 0


def _bounds(result: Result, fail_under: dict[str, str]) -> dict[str, float]:
    """What the scores must not be below."""
    bounds = {}
    for key, text in fail_under.items():
        if key not in result.scores:
            hint = " (add --confidence)" if key.endswith("_low") else ""
            raise click.UsageError(f"--fail-under: no score {key}{hint}; there are {', '.join(result.scores)}")
        try:
            bounds[key] = float(text)
        except ValueError:
            raise click.UsageError(f"--fail-under: {key}={text}: not a number") from None
    return bounds


@click.command(cls=ManyFiles)
@metric_argument
@with_options(*INPUTS, *OPTIONS)
@click.option("--key", "keys", multiple=True, metavar="KEY", help="A score to compare; else the main one.")
@click.option("--confidence", type=float, default=0.95, metavar="LEVEL", help="Of the intervals; 0.95.")
@with_options(*INTERVALS, *STYLES)
def compare(
    metric: str,
    keys: tuple[str, ...],
    confidence: float,
    resamples: int | None,
    seed: int | None,
    style: str | None,
    **given: Any,
) -> None:
    """Compare systems on the same rows.

    Each further file of predictions is compared with the first: the
    difference, its interval, and p of no difference (McNemar's exact test
    for shares of right rows, else a paired bootstrap).

    \b
    Example:
      $ toxeval compare sold_macro_f1 --key f1_macro --key accuracy \\
          --predictions predictions.jsonl predictions_b.jsonl
    """
    import_evaluate()
    from toxeval import jobs, report
    from toxeval.together import contest

    job = make_job(metric, confidence=intervals(confidence, resamples, seed), **given)
    found = contest(job, keys, progress_bar)
    names = jobs.short_names(job.predictions)
    if style == "json":
        click.echo(found.to_json(names))
    else:
        style = style or "text"
        click.echo(report.signed(report.table(*found.table(names), style), found.result.signature(short=True), style))


@click.command(cls=ManyFiles)
@click.argument("result", metavar="RESULT.json")
@with_options(*INPUTS[:2], *INPUTS[3:])
def verify(result: str, **given: Any) -> int:
    """Recompute a saved result and say whether it matches.

    RESULT.json is what score --json wrote. Options and dataset are read from
    it, files are given again.

    \b
    Example:
      $ toxeval score sold_macro_f1 --predictions predictions.jsonl --json \\
          > result.json
      $ toxeval verify result.json --predictions predictions.jsonl
    """
    import_evaluate()
    from toxeval import jobs
    from toxeval.report import table
    from toxeval.signature import read_result

    reported, signature = read_result(result)
    job = jobs.job_of(reported, **given)
    found = jobs.mismatches(reported, signature, jobs.score(job, progress_bar))
    if not found:
        click.secho(f"match: {len(reported.scores)} scores, {reported.n_rows} rows", fg="green")
        return 0
    click.secho("mismatch", fg="red")
    click.echo(table(["", "reported", "recomputed"], [[key, str(old), str(new)] for key, old, new in found]))
    return FOUND
