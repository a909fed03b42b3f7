"""``toxeval plot``."""

import importlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .options import (
    GROUPS,
    INPUTS,
    JUDGES,
    OPTIONS,
    MetricCommand,
    clock,
    job_of_options,
    metric_argument,
    progress_bar,
    with_options,
)


@click.command(cls=MetricCommand)
@metric_argument
@with_options(*INPUTS, *OPTIONS, *JUDGES, *GROUPS)
@click.option("--key", metavar="KEY", help="The score of groups to draw; else the main one.")
@click.option("--out", required=True, metavar="FILE", help="The picture to write: .png, .svg or .pdf.")
def plot(metric: str, out: str, **given: Any) -> None:
    """Draw the metric's picture.

    Oracle curves and reliability, precision-recall and ROC, confusion
    matrices, or bars with intervals, at the size a paper prints. Several
    files of predictions are drawn together where that is legible. With
    --human or --judge-on: the rates as they are and as corrected. With --by:
    the score of each group with its interval. Needs matplotlib: pip install 'toxeval[plot]'.

    \b
    Example:
      $ toxeval plot sold_macro_f1 --predictions predictions.jsonl \\
          --out confusion.png
    """
    from toxeval import pictures, plots
    from toxeval.read import Rows

    from . import correcting
    from .job import result_by, short_names

    if not out.endswith(tuple(plots.METADATA)):
        raise click.UsageError(f"--out {out}: must end in .png, .svg or .pdf")
    if not Path(out).parent.is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {Path(out).parent}")
    os.environ.pop("MPLBACKEND", None)  # a file needs no display, whatever a notebook has set for its own
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise click.UsageError("pictures need matplotlib: pip install 'toxeval[plot]'") from None
    job = job_of_options(metric, given)
    scored = job.load()
    names = short_names(job.predictions)
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    with clock():
        if job.corrected_by:
            picture = correcting.picture_of(job, names, progress_bar)
        elif job.by:
            job = replace(job, confidence={"confidence_level": 0.95})
            picture = pictures.groups_picture(result_by(job, progress_bar)[1])
        else:
            rows = {name: Rows(job.definition, *tables, job.columns) for name, tables in zip(names, job.tables())}
            picture = pictures.picture_of(scored, rows, progress_bar)
        plots.save(plots.draw(picture), out)
    click.echo(out)
