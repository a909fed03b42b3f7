"""The command, run as a user runs it: in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def toxeval(*args: str | Path, stdin: bytes = b"", cwd: Path | None = None, **env: str) -> "Answer":
    """Run ``toxeval`` with some arguments; no run may end in a traceback."""
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
