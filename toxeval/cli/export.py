"""``toxeval export``."""

import click


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
