"""The command ``toxeval``: one file a command, and what they share."""

import os
import sys
import warnings
from contextlib import nullcontext
from typing import Any

import click

from toxeval import __version__
from toxeval.core.refusals import Doubt, Refusal

from .compare import compare
from .doctor import doctor
from .export import export
from .listing import list_
from .plot import plot
from .publish import publish
from .score import score
from .verify import verify
from .words import CommandWords

#: Exit status when the input is bad.
BAD_INPUT = 2

#: The libraries whose errors mean that a server didn't answer.
HTTP = ("httpx", "httpx2", "httpcore", "requests", "urllib3")


def main() -> None:
    """Run the command: bad input ends it with the library's message and status 2, not with a traceback."""
    warnings.showwarning = _show_warning
    if not sys.stderr.isatty():
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    if os.environ.get("NO_COLOR"):
        cli.context_settings["color"] = False
    try:
        sys.exit(cli.main(prog_name="toxeval", standalone_mode=False) or 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        # what the Hub's client raises without a network is no OSError
        if not isinstance(error, (ValueError, OSError)) and type(error).__module__.partition(".")[0] not in HTTP:
            raise
        click.echo(f"{click.style('error:', fg='red', bold=True)} {_message(error)}", err=True)
        sys.exit(BAD_INPUT)


def _message(error: Exception) -> str:
    """What an error says to users of the command."""
    if isinstance(error, Refusal):
        return error.text(CommandWords())
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """Each warning once, in a line, without the place in our code."""
    text = message.refusal.text(CommandWords()) if isinstance(message, Doubt) else message
    bars = sys.modules.get("tqdm")
    with bars.tqdm.external_write_mode() if bars else nullcontext():
        click.secho(f"warning: {text}", fg="yellow", err=True)


@click.group("toxeval", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="toxeval")
def cli() -> None:
    """Score toxicity benchmarks, with results that can be checked.

    Files are JSON Lines, CSV, TSV, Parquet, a folder saved by datasets, or -
    for standard input. Each METRIC has inputs (predictions, references, ...);
    toxeval list shows them. A column is found by the name of its input.

    \b
    Example:
      $ printf 'predictions,references\\nOFF,OFF\\nNOT,OFF\\nNOT,NOT\\n' |
          toxeval score sold_macro_f1 --predictions -

    Exit status: 0; 1 if a score is below --fail-under or above --fail-over,
    a result doesn't verify, or doctor found something; 2 for bad input.
    """


for command in (score, compare, verify, plot, doctor, list_, export, publish):
    cli.add_command(command)
