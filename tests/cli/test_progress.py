"""A bar where something takes its time: on standard error, and only on a terminal."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

#: The command, to which any time is long, on rows that each take a while.
SLOW = """
import sys, time
from toxeval.cli import main, options
from toxeval.core.metric import Metric
options.PATIENCE = {patience}
add = Metric.add_batch
Metric.add_batch = lambda self, **given: (time.sleep(0.2), add(self, **given))
sys.argv[1:] = {arguments}
main()
"""


def run(arguments: list[str], patience: float, terminal: bool) -> tuple[str, str]:
    """What is written on standard output and on standard error."""
    code = SLOW.format(patience=patience, arguments=arguments)
    pty, fcntl, termios = map(pytest.importorskip, ("pty", "fcntl", "termios"))
    ours, theirs = pty.openpty() if terminal else os.pipe()
    if terminal:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}
    )
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # the other side of a terminal is closed
        pass
    out = process.stdout.read().decode() if process.stdout else ""
    assert process.wait() == 0, written
    os.close(ours)
    return out, written.decode()


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path: Path = tmp_path_factory.mktemp("progress") / "p.csv"
    path.write_text("predictions,references\n" + "OFF,OFF\nNOT,OFF\nNOT,NOT\nOFF,NOT\n" * 10_000)
    return ["score", "sold_macro_f1", "--predictions", str(path)]


def test_rows_are_counted_on_a_terminal_once_it_takes_long(arguments: list[str]) -> None:
    plain, nothing = run(arguments, 2.0, terminal=True)
    out, shown = run(arguments, 0.01, terminal=True)
    assert nothing == ""
    assert out == plain
    assert re.search(r"p\.csv: .*\d+\.?\dk? rows", shown)
    assert re.search(r"\r00:00", shown)


def test_nothing_is_shown_where_there_is_no_terminal(arguments: list[str]) -> None:
    assert run(arguments, 0.01, terminal=False)[1] == ""
