"""Many programs at a page's endpoint at once: do they get their own results, how long do they wait, what stays?

    python benchmarks/space_load.py oracle_collab --users 10 --seconds 60

First one user asks alone. Then each of many asks over and over, every time with 100 new rows; one more sends many rows
meanwhile. The page's own questions wait in the same lines. On two cores ten users shouldn't wait longer than 1.5 times
ten questions of one alone.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from pages import serving  # noqa: E402

import toxeval  # noqa: E402

Rows = dict[str, list[Any]]
OPTIONS = {"confidence_level": 0.95}


def rows_of(metric: str, rng: random.Random, n: int) -> Rows:
    """Columns of n random rows."""

    def some(*labels: Any) -> list[Any]:
        return [rng.choice(labels) for _ in range(n)]

    if metric == "conda_joint":
        slots = [[rng.choice("TSCDPO") for _ in range(3)] for _ in range(n)]
        guesses = [{"intent": rng.choice("EIAO"), "slots": [rng.choice("TSCDPO") for _ in range(3)]} for _ in slots]
        return {"predictions": guesses, "references": [{"intent": rng.choice("EIAO"), "slots": s} for s in slots]}
    if metric == "sold_macro_f1":
        return {"predictions": some("OFF", "NOT"), "references": some("OFF", "NOT")}
    if metric == "dia_safety_rate":
        return {"predictions": some("Safe", "Unsafe"), "references": some(0, 1), "categories": some(0, 1, 2, 3, 4)}
    name = "predictions" if metric == "oracle_collab" else "prediction_scores"
    return {name: [rng.random() for _ in range(n)], "references": some(0, 1)}


@dataclass
class Report:
    """What the users met with.

    Attributes:
        alone: seconds of each answer to a single user.
        waits, long_waits: seconds of each answer to the crowd, and to the one with many rows.
        errors: what was no answer.
        foreign: how often a user got numbers that aren't those of the rows sent.
        memory_before, memory_after: of the server, in bytes.
    """

    alone: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    long_waits: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    foreign: int = 0
    memory_before: int = 0
    memory_after: int = 0

    def __str__(self) -> str:
        lines = [f"{len(self.errors)} errors, {self.foreign} results of other rows"]
        for kind, waits in (("alone", self.alone), ("crowd", self.waits), ("many rows", self.long_waits)):
            if waits:
                late = sorted(waits)[int(0.95 * (len(waits) - 1))]
                median = statistics.median(waits)
                lines.append(f"{kind}: {len(waits)} results, median {median:.3f} s, 95 % {late:.3f} s")
        if self.alone and self.waits:
            lines.append(f"crowd / ten alone: {statistics.median(self.waits) / statistics.median(self.alone) / 10:.2f}")
        lines.append(f"memory of the server: {self.memory_before >> 20} MB before, {self.memory_after >> 20} MB after")
        return "\n".join([*lines, *sorted(set(self.errors))[:5]])


class User:
    """A program at the endpoint."""

    def __init__(self, address: str, metric: str, seed: int) -> None:
        self.metric, self.rng = metric, random.Random(seed)
        self.http = httpx.Client(base_url=f"{address}/gradio_api/call/score", timeout=300)

    def ask(self, rows: Rows) -> dict[str, Any]:
        """The result of some rows."""
        sent = self.http.post("", json={"data": [rows, OPTIONS]})
        with self.http.stream("GET", f"/{sent.raise_for_status().json()['event_id']}") as lines:
            events = list(filter(None, lines.iter_lines()))
        if events[-2] != "event: complete":
            raise RuntimeError(events[-2:])
        answer: dict[str, Any] = json.loads(events[-1].removeprefix("data: "))[0]
        return answer

    def visit(self, report: Report, waits: list[float], until: float, n_rows: int) -> None:
        """Ask until the time is over."""
        while time.monotonic() < until:
            rows = rows_of(self.metric, self.rng, n_rows)
            started = time.monotonic()
            try:
                answer = self.ask(rows)
            except (httpx.HTTPError, RuntimeError, ValueError, KeyError, IndexError) as error:
                report.errors.append(f"{type(error).__name__}: {error}")
                continue
            waits.append(time.monotonic() - started)
            wanted = toxeval.load(self.metric).compute(**rows, **OPTIONS)
            found = {key: float("nan") if value is None else value for key, value in answer["scores"].items()}
            report.foreign += repr(wanted) != repr(found)


def memory(pid: int) -> int:
    """Resident bytes of a process (Linux), 0 where that can't be read."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


def load(
    address: str, pid: int, metric: str, users: int, seconds: float, *, rest: float = 0, many: int = 20_000
) -> Report:
    """Let so many users at a page for so long, and one with ``many`` rows, if any; read memory after a rest."""
    report = Report()
    crowd = [User(address, metric, seed) for seed in range(users + 1)]
    for _ in range(10):
        crowd[0].visit(Report(), report.alone, time.monotonic() + 1e-3, 100)
    report.memory_before = memory(pid)
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=user.visit, args=(report, report.waits, until, 100)) for user in crowd[1:]]
    if many:
        threads.append(threading.Thread(target=crowd[0].visit, args=(report, report.long_waits, until, many)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(rest)
    report.memory_after = memory(pid)
    return report


def main() -> None:
    """Run it for one metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metric", choices=toxeval.METRICS)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--many", type=int, default=20_000, help="rows of the one with many; 0: there is none")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = ROOT / "metrics" / given.metric / "app.py"
        with serving(app, Path(folder, "server"), Path(folder, "home")) as server:
            report = load(
                server.address, server.pid, given.metric, given.users, given.seconds, rest=30, many=given.many
            )
            print(report)


if __name__ == "__main__":
    main()
