"""The command, run as a user runs it: in this process, or where the process is the point in one of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

from toxeval.cli import main


def toxeval(*args: str | Path, stdin: bytes = b"", cwd: Path | None = None, **env: str) -> "Answer":
    """Run ``toxeval`` with some arguments in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    status = 0
    before = Path.cwd()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["toxeval", *map(str, args)]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        mock.patch.dict(os.environ, env),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        os.chdir(cwd or before)
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            os.chdir(before)
    return Answer(status, *(part.buffer.getvalue().decode() for part in (out, err)))  # type: ignore[attr-defined]


def started(*args: str | Path, stdin: bytes = b"", cwd: Path | None = None, **env: str) -> "Answer":
    """Run ``toxeval`` in a process of its own; no run may end in a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "toxeval.cli", *map(str, args)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": "", **env},
        check=False,
    )
    answer = Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in answer.err, answer.err
    return answer


class Answer:
    """What came of a run."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    def json(self) -> dict[str, Any]:
        assert self.status == 0, self.err
        result: dict[str, Any] = json.loads(self.out)
        return result

    def refused(self) -> str:
        """The message of a run that was refused."""
        assert self.status == 2, (self.status, self.out, self.err)
        assert not self.out
        return self.err
