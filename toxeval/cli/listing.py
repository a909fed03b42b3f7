"""``toxeval list``."""

import click


@click.command("list")
def list_() -> None:
    """List the metrics, their inputs and options, the datasets and the formats.

    \b
    Example:
      $ toxeval list
    """
    from toxeval.data import BUILDERS
    from toxeval.loading import METRICS, definitions
    from toxeval.read import LAYOUTS

    from .words import written

    for metric in [metric for name in METRICS for metric in definitions(name).values()]:
        config = "" if metric.config == "default" else f" --config {metric.config}"
        click.secho(f"{metric.name}{config}", bold=True)
        inputs = [f"{each.name} ({each.kind})" for each in metric.inputs]
        options = [f"{option.name}={written(option.default)}" for option in metric.options if option.changes_numbers]
        for what, values in (("inputs", inputs), ("options", options), ("main score", metric.headlines[:1])):
            _echo(what, ", ".join(values))
    click.secho("datasets", bold=True)
    click.echo(f"  {', '.join(BUILDERS)}")
    click.secho("formats of files, beside tables", bold=True)
    for layout in LAYOUTS.values():
        _echo(layout.name, layout.about)


def _echo(name: str, about: str) -> None:
    lead = f"  {name}: "
    click.echo(click.wrap_text(about, 78, initial_indent=lead, subsequent_indent=" " * len(lead)))
