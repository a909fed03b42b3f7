"""``toxeval doctor``."""

from typing import Any

import click

from .options import FOUND, INPUTS, OPTIONS, MetricCommand, metric_argument, with_options
from .words import CommandWords


@click.command(cls=MetricCommand)
@metric_argument
@with_options(*INPUTS, *OPTIONS)
def doctor(metric: str, **given: Any) -> int:
    """Say what looks wrong with predictions.

    Logits where probabilities are wanted, swapped labels, a class that is
    never predicted, -100, repeated or mismatched ids, and so on: everything
    at once. Exit status 1 if there is anything.

    \b
    Example:
      $ toxeval doctor sold_macro_f1 --predictions predictions.jsonl
    """
    from toxeval.doctor import examine

    from .job import Job

    job = Job(metric, **given)
    scored, n_found = job.load(), 0
    for predictions, references in job.tables():
        words = CommandWords()
        for finding in examine(scored, predictions, references, job.columns, words):
            rows = ""
            if finding.rows:
                rows = f" (row{'s' if len(finding.rows) > 1 else ''} {', '.join(map(str, finding.rows))})"
            click.echo(f"{click.style(finding.where, fg='yellow')}: {finding.what}{rows}\n    {finding.advice}")
            n_found += 1
    if not n_found:
        click.secho("nothing looks wrong", fg="green")
    return FOUND if n_found else 0
