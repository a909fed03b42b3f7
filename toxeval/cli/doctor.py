"""``toxeval doctor``."""

from typing import Any

import click

from .options import FOUND, INPUTS, JUDGES, OPTIONS, MetricCommand, clock, metric_argument, with_options
from .words import CommandWords


@click.command(cls=MetricCommand)
@metric_argument
@with_options(*INPUTS, *OPTIONS, *JUDGES)
def doctor(metric: str, **given: Any) -> int:
    """Say what looks wrong with predictions.

    Logits where probabilities are wanted, swapped labels, a class that is
    never predicted, -100, repeated or mismatched ids, and so on: everything
    at once. Exit status 1 if there is anything. With --judge-on or --human:
    whether these labels can correct the judge's errors on these predictions.

    \b
    Example:
      $ toxeval doctor sold_macro_f1 --predictions predictions.jsonl
    """
    from toxeval.doctor import examine

    from . import correcting
    from .job import Job

    job, words, n_found = Job(metric, **given), CommandWords(), 0
    scored = job.load()
    for tables in correcting.tables_of(job):
        with clock():
            if job.corrected_by:
                findings = list(correcting.examined(job, tables, words))
            else:
                findings = examine(scored, *tables[:2], job.columns, words)
        for finding in findings:
            rows = ""
            if finding.rows:
                rows = f" (row{'s' if len(finding.rows) > 1 else ''} {', '.join(map(str, finding.rows))})"
            click.echo(f"{click.style(finding.where, fg='yellow')}: {finding.what}{rows}\n    {finding.advice}")
            n_found += 1
    if not n_found:
        click.secho("nothing looks wrong", fg="green")
    return FOUND if n_found else 0
