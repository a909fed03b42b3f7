"""Many visitors of a demo page at once: do they get their own results, how long do they wait, and is memory given back?

    python benchmarks/space_load.py oracle_collab --users 10 --seconds 60

Each user computes over and over, every time with new rows in the table; one more sends files with many rows meanwhile.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import random
import re
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


def rows_of(metric: str, rng: random.Random, n: int) -> Rows:
    """Columns of n random rows."""

    def some(*labels: Any) -> list[Any]:
        return [rng.choice(labels) for _ in range(n)]

    if metric == "conda_joint":
        slots = [[rng.choice("TSCDPO") for _ in range(3)] for _ in range(n)]
        return {
            "predictions.intent": some(*"EIAO"),
            "predictions.slots": slots,
            "references.intent": some(*"EIAO"),
            "references.slots": [rng.choice(slots) for _ in range(n)],
        }
    if metric == "sold_macro_f1":
        return {"predictions": some("OFF", "NOT"), "references": some("OFF", "NOT")}
    if metric == "oracle_collab":
        return {"predictions": [rng.random() for _ in range(n)], "references": some(0, 1), "review_scores": [""] * n}
    if metric == "dia_safety_rate":
        return {"predictions": some("Safe", "Unsafe"), "references": some(0, 1), "categories": some(0, 1, 2, 3, 4)}
    return {"predictions": [""] * n, "prediction_scores": [rng.random() for _ in range(n)], "references": some(0, 1)}


def inputs_of(rows: Rows) -> dict[str, Any]:
    """The rows as ``compute`` takes them."""
    inputs: dict[str, Any] = {}
    for column, cells in rows.items():
        name, _, part = column.partition(".")
        if any(cell != "" for cell in cells):
            if part:
                inputs.setdefault(name, {})[part] = cells
            else:
                inputs[name] = cells
    return inputs


@dataclass
class Report:
    """What the users met with."""

    waits: list[float] = field(default_factory=list)
    file_waits: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    #: how often a user got numbers that aren't those of the rows sent
    foreign: int = 0
    memory_before: int = 0
    memory_after: int = 0

    def __str__(self) -> str:
        lines = [f"{len(self.errors)} errors, {self.foreign} results of other rows"]
        for kind, waits in (("table", sorted(self.waits)), ("file", sorted(self.file_waits))):
            if waits:
                late = waits[int(0.95 * (len(waits) - 1))]
                lines.append(f"{kind}: {len(waits)} results, median {waits[len(waits) // 2]:.2f} s, 95 % {late:.2f} s")
        lines.append(f"memory of the server: {self.memory_before >> 20} MB before, {self.memory_after >> 20} MB after")
        return "\n".join([*lines, *sorted(set(self.errors))[:5]])


class User:
    """One browser, as the server sees it."""

    def __init__(self, address: str, metric: str, seed: int) -> None:
        self.metric, self.rng = metric, random.Random(seed)
        self.http = httpx.Client(base_url=address, timeout=300)
        config = self.http.get("/config").json()
        components = {component["id"]: component["props"] for component in config["components"]}
        table = next(d for d in config["dependencies"] if d["api_name"] == "compute")
        self.controls = [components[i].get("value") for i in table["inputs"][1:]]
        button = next(i for i, props in components.items() if props.get("value") == "Compute from the file")
        from_file = next(d for d in config["dependencies"] if [button, "click"] in [list(t) for t in d["targets"]])
        self.table, self.file = table["id"], from_file["id"]

    def send(self, function: int, first: Any) -> dict[str, Any]:
        """Press a button; the saved result."""
        session = f"{self.rng.getrandbits(64):x}"
        request = {"data": [first, *self.controls], "fn_index": function, "session_hash": session}
        self.http.post("/gradio_api/queue/join", json=request).raise_for_status()
        answer: dict[str, Any] = {}
        with self.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as lines:
            for line in lines.iter_lines():
                event = json.loads(line.removeprefix("data:")) if line.startswith("data:") else {}
                if event.get("msg") == "process_completed":
                    outputs = event["output"]["data"]
                    saved = re.search(r'data-file="result.json".*?<pre hidden>(.*?)</pre>', outputs[5], flags=re.DOTALL)
                    if not saved:
                        raise RuntimeError(f"refused: {outputs[0]}{outputs[1]}")
                    answer = json.loads(html.unescape(saved[1]))
        if not answer:
            raise RuntimeError("the answer broke off")
        return answer

    def visit(self, report: Report, until: float, n_rows: int, *, as_file: bool = False) -> None:
        """Compute until the time is over."""
        while time.monotonic() < until:
            rows = rows_of(self.metric, self.rng, n_rows if as_file else self.rng.randint(n_rows // 2, n_rows))
            started = time.monotonic()
            try:
                if as_file:
                    data = base64.b64encode(json.dumps(rows).encode()).decode()
                    sent = json.dumps({"name": "rows.json", "size": len(data) * 3 // 4, "data": data})
                    answer = self.send(self.file, sent)
                else:
                    cells = [
                        [c if isinstance(c, str) else " ".join(c) if isinstance(c, list) else repr(c) for c in row]
                        for row in zip(*rows.values())
                    ]
                    answer = self.send(self.table, {"headers": list(rows), "data": cells, "metadata": None})
            except (httpx.HTTPError, RuntimeError, KeyError, TypeError) as error:
                report.errors.append(f"{type(error).__name__}: {error}")
                continue
            (report.file_waits if as_file else report.waits).append(time.monotonic() - started)
            wanted = toxeval.load(self.metric).compute(**inputs_of(rows), **answer["options"])
            report.foreign += repr(wanted) != repr(answer["scores"])


def memory(pid: int) -> int:
    """Resident bytes of a process (Linux), 0 where that can't be read."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


def load(address: str, pid: int, metric: str, users: int, seconds: float, rest: float = 0) -> Report:
    """Let so many users at a page for so long, after a first round that warms it up; read memory after a rest."""
    report = Report()
    crowd = [User(address, metric, seed) for seed in range(users + 1)]
    for duration, kept in ((min(5.0, seconds), Report()), (seconds, report)):
        kept.memory_before = memory(pid)
        until = time.monotonic() + duration
        threads = [threading.Thread(target=user.visit, args=(kept, until, 60)) for user in crowd[1:]]
        heavy = {"as_file": True}
        threads.append(threading.Thread(target=crowd[0].visit, args=(kept, until, 20_000), kwargs=heavy))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        report.errors += kept.errors if kept is not report else []
    time.sleep(rest)
    report.memory_after = memory(pid)
    return report


def main() -> None:
    """Run it for one metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metric", choices=toxeval.METRICS)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        app = ROOT / "metrics" / given.metric / "app.py"
        with serving(app, Path(folder, "server"), Path(folder, "home")) as server:
            print(load(server.address, server.pid, given.metric, given.users, given.seconds, rest=30))


if __name__ == "__main__":
    main()
