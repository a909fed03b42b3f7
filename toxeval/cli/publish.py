"""``toxeval publish``."""

import sys

import click


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
    _import_evaluate()
    from toxeval.hub.publish import publish as send

    send(name, repo, dataset=dataset, dry_run=dry_run, out=out, data_dir=data_dir, tell=click.echo)


def _import_evaluate() -> None:
    """Import ``evaluate`` without ``transformers``, and so PyTorch: seconds, for its evaluators only."""
    hidden = "transformers" not in sys.modules
    if hidden:
        sys.modules["transformers"] = None  # type: ignore[assignment]
    try:
        import evaluate  # noqa: F401
    finally:
        if hidden:
            del sys.modules["transformers"]
