"""``toxeval list``."""

import click


@click.command("list")
def list_() -> None:
    """List the metrics, their inputs and options, and the datasets.

    \b
    Example:
      $ toxeval list
    """
    from toxeval.data import BUILDERS
    from toxeval.loading import METRICS, definitions

    from .words import written

    for metric in [metric for name in METRICS for metric in definitions(name).values()]:
        config = "" if metric.config == "default" else f" --config {metric.config}"
        click.secho(f"{metric.name}{config}", bold=True)
        inputs = [f"{each.name} ({each.kind})" for each in metric.inputs]
        options = [f"{option.name}={written(option.default)}" for option in metric.options if option.changes_numbers]
        for what, values in (("inputs", inputs), ("options", options), ("main score", metric.headlines[:1])):
            lead = f"  {what}: "
            indent = " " * len(lead)
            click.echo(click.wrap_text(", ".join(values), 78, initial_indent=lead, subsequent_indent=indent))
    click.secho("datasets", bold=True)
    click.echo(f"  {', '.join(BUILDERS)}")
