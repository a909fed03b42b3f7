"""``toxeval plot``, ``doctor``, ``list``, ``export`` and ``publish``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from toxeval.options import (
    FOUND,
    INPUTS,
    OPTIONS,
    ManyFiles,
    import_evaluate,
    make_job,
    metric_argument,
    progress_bar,
    with_options,
)


@click.command(cls=ManyFiles)
@metric_argument
@with_options(*INPUTS, *OPTIONS)
@click.option("--out", required=True, metavar="FILE", help="The picture to write: .png, .svg or .pdf.")
def plot(metric: str, out: str, **given: Any) -> None:
    """Draw the metric's picture.

    Oracle curves and reliability, precision-recall and ROC, confusion
    matrices, or bars with intervals, at the size a paper prints. Several
    files of predictions are drawn together where that is legible. Needs
    matplotlib: pip install 'toxeval[plot]'.

    \b
    Example:
      $ toxeval plot sold_macro_f1 --predictions predictions.jsonl \\
          --out confusion.png
    """
    import importlib

    from toxeval.metrics import plots

    if not out.endswith(tuple(plots.METADATA)):
        raise click.UsageError(f"--out {out}: must end in .png, .svg or .pdf")
    if not Path(out).parent.is_dir():
        raise click.UsageError(f"--out {out}: there is no folder {Path(out).parent}")
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise click.UsageError("pictures need matplotlib: pip install 'toxeval[plot]'") from None
    import_evaluate()
    from toxeval import pictures

    plots.save(pictures.draw(make_job(metric, **given), progress_bar), out)
    click.echo(out)


@click.command(cls=ManyFiles)
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
    import_evaluate()
    from toxeval.doctor import examine

    findings = examine(make_job(metric, **given))
    for finding in findings:
        rows = (
            f" (row{'s' if len(finding.rows) > 1 else ''} {', '.join(map(str, finding.rows))})" if finding.rows else ""
        )
        click.echo(f"{click.style(finding.where, fg='yellow')}: {finding.what}{rows}\n    {finding.advice}")
    if not findings:
        click.secho("nothing looks wrong", fg="green")
    return FOUND if findings else 0


@click.command("list")
def list_() -> None:
    """List the metrics, their inputs and options, and the datasets.

    \b
    Example:
      $ toxeval list
    """
    import_evaluate()
    from toxeval import load
    from toxeval.columns import kinds
    from toxeval.data import BUILDERS
    from toxeval.loading import METRICS, metric_class

    for metric, config in [(name, config) for name in METRICS for config in metric_class(name).configs]:
        module = load(metric, config)
        click.secho(metric if config == "default" else f"{metric} --config {config}", bold=True)
        wanted = [f"{name} ({kind})" for name, kind in kinds(metric, config).items()]
        shown = [f"{key}={json.dumps(value)}" for key, value in module.options.items() if key != "detailed"]
        for what, values in (("inputs", wanted), ("options", shown), ("main score", [module.headline])):
            lead = f"  {what}: "
            indent = " " * len(lead)
            click.echo(click.wrap_text(", ".join(values), 78, initial_indent=lead, subsequent_indent=indent))
    click.secho("datasets", bold=True)
    click.echo(f"  {', '.join(BUILDERS)}")


@click.command()
@click.argument("name", metavar="DATASET")
@click.argument("out", metavar="OUT")
@click.option("--config", metavar="NAME", help="One configuration; else all of them.")
@click.option("--split", metavar="NAME", help="One split, which needs only its own files; else all of them.")
@click.option("--data-dir", metavar="DIR", help="Your own copy of the dataset.")
@click.option("--no-checks", is_flag=True, help="Only warn if a file isn't the published one.")
def export(name: str, out: str, config: str | None, split: str | None, data_dir: str | None, no_checks: bool) -> None:
    """Write a benchmark dataset to a folder of Parquet files.

    Plain datasets.load_dataset("OUT") reads it, without any code.

    \b
    Example:
      $ toxeval export conda conda_parquet --data-dir CONDA
    """
    from toxeval.hub.export import export as write

    mode = "no_checks" if no_checks else None
    click.echo(write(name, out, config=config, split=split, data_dir=data_dir, verification_mode=mode))


@click.command()
@click.argument("name", metavar="NAME")
@click.option("--repo", required=True, metavar="OWNER/NAME", help="The Space or dataset on the Hub.")
@click.option("--dataset", is_flag=True, help="NAME is a dataset, not a metric.")
@click.option("--data-dir", metavar="DIR", help="Your own copy of the dataset.")
@click.option("--out", metavar="DIR", help="Write the folder there and send nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would be uploaded and send nothing.")
def publish(name: str, repo: str, dataset: bool, data_dir: str | None, out: str | None, dry_run: bool) -> None:
    """Publish a metric as a Space, or a dataset, on the Hub.

    Then evaluate.load("OWNER/NAME") gives the metric. What is built is
    checked and shown before anything is sent.

    \b
    Example:
      $ toxeval publish threat_f1 --repo jane/threat_f1 --dry-run
    """
    import_evaluate()
    from toxeval.hub.publish import publish as send

    send(name, repo, dataset=dataset, dry_run=dry_run, out=out, data_dir=data_dir, tell=click.echo)
