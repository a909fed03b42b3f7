"""``toxeval verify``."""

from typing import Any

import click

from .options import FOUND, INPUTS, JUDGES, OF_A_RESULT, VALIDATION, MetricCommand, clock, progress_bar, with_options


@click.command(cls=MetricCommand)
@click.argument("result", metavar="RESULT.json")
@with_options(*(option for option in INPUTS if option not in OF_A_RESULT), VALIDATION, *JUDGES[:2])
def verify(result: str, **given: Any) -> int:
    """Recompute a saved result and say whether it matches.

    RESULT.json is what score --json wrote, or - for standard input. Options,
    dataset, columns and format are read from it, files are given again.

    \b
    Example:
      $ toxeval score sold_macro_f1 --predictions predictions.jsonl --json \\
          > result.json
      $ toxeval verify result.json --predictions predictions.jsonl
    """
    from toxeval.report import table
    from toxeval.result_files import read_result
    from toxeval.signature import mismatches

    from .correcting import result_of
    from .job import job_of

    reported, signature = read_result(result)
    job = job_of(reported, **given)
    for name in ("human", "judge_on"):
        if (job.corrected_by == name) != (reported.correction.get("corrected_by") == name):
            was = "wasn't corrected by such a file" if given[name] else "was corrected by such a file: give it again"
            raise click.UsageError(f"--{name.replace('_', '-')}: {result} {was}")
    with clock():
        fresh = result_of(job, progress_bar)
    found = mismatches(reported, signature, fresh)
    if not found:
        click.secho(f"match: {len(reported.scores)} scores, {reported.n_rows} rows", fg="green")
        return 0
    click.secho("mismatch", fg="red", nl=False)
    off = fresh.n_rows - reported.n_rows
    click.echo(f": {abs(off)} rows {'are missing' if off < 0 else 'too many'}, which explains all the rest" * bool(off))
    click.echo(table(["", "reported", "recomputed"], [[key, str(old), str(new)] for key, old, new in found]))
    return FOUND
