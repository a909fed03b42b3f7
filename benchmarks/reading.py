"""Reading files: ``toxeval score`` against pyarrow's reader, which parses all and checks nothing.

    python benchmarks/reading.py [--rows 1000 10000 ...] [--runs 5]

Each is a whole process on a file of n rows and four columns (id, score, label, text), less the same process on a file
of ten rows: what the rows take, start-up aside, of which importing pyarrow is a part in both. They take turns, and
medians are given, of the time that passes and of the processors' time, which others on the machine change less.
pyarrow's reader uses both processors, ours one. A dash: start-ups differ by as much. Prints a table and writes it to
benchmarks/reading.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).parent
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)
#: Of the start-up, so that only the rows are left.
FEW = 10
#: Seconds by which two start-ups may differ.
NOISE = 0.05
#: How many times pyarrow's processor time we may take at 10^6 rows.
ALLOWED = {"csv": 3.0, "jsonl": 5.0}
OURS = "import sys, pyarrow.csv; from toxeval.cli import main; sys.argv[1:] = {arguments!r}; main()"
READERS = {"csv": "import pyarrow.csv as r; r.read_csv", "jsonl": "import pyarrow.json as r; r.read_json"}
WORDS = ("good", "game", "all", "mid", "next", "round", "ward", "please", "thanks", "again")


class Cost(NamedTuple):
    """Seconds that passed, seconds of all processors, and the peak of memory in MB."""

    wall: float
    cpu: float
    memory: float


def write(folder: Path, kind: str, n: int) -> Path:
    """A file of n rows."""
    path = folder / f"rows_{n}.{kind}"
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        if kind == "csv":
            file.write("id,prediction_scores,references,text\n")
        for start in range(0, n, 10**5):
            size = min(10**5, n - start)
            scores = rng.random(size).round(6).tolist()
            labels = (np.arange(size) % 10 == 0).astype(int).tolist()  # both classes, in few rows too: no warning
            words = rng.integers(0, len(WORDS), (size, 6)).tolist()
            for i, (score, label, row) in enumerate(zip(scores, labels, words), start):
                text = " ".join(WORDS[word] for word in row)
                record = {"id": f"r{i}", "prediction_scores": score, "references": label, "text": text}
                file.write(f"r{i},{score},{label},{text}\n" if kind == "csv" else json.dumps(record) + "\n")
    return path


def run(command: list[str]) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return Cost(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def median(costs: list[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs)))


def compare(folder: Path, kind: str, n: int, runs: int) -> tuple[Cost, Cost]:
    """What the rows cost ours and pyarrow's."""
    files = {size: write(folder, kind, size) for size in (FEW, n)}
    commands = {
        (who, size): [sys.executable, "-c", code]
        for size, path in files.items()
        for who, code in {
            "ours": OURS.format(arguments=["score", "threat_f1", "--predictions", str(path)]),
            "pyarrow": f"{READERS[kind]}({str(path)!r})",
        }.items()
    }
    costs: dict[tuple[str, int], list[Cost]] = {key: [] for key in commands}
    for _ in range(runs):
        for key, command in commands.items():
            costs[key].append(run(command))
    medians = {key: median(values) for key, values in costs.items()}
    for path in files.values():
        path.unlink()
    ours, theirs = (
        Cost(
            medians[who, n].wall - medians[who, FEW].wall,
            medians[who, n].cpu - medians[who, FEW].cpu,
            medians[who, n].memory,
        )
        for who in ("ours", "pyarrow")
    )
    return ours, theirs


def ratio(ours: float, theirs: float) -> str:
    """How many times theirs ours is; a dash where theirs is no more than two start-ups differ by."""
    return f"{ours / theirs:.1f}" if theirs > NOISE else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    head = ["file", "rows", "ours, s", "pyarrow, s", "ratio", "processors: ours, s", "pyarrow, s", "ratio", "allowed"]
    lines = [[*head, "memory, MB"], ["---", *["--:"] * len(head)]]
    with tempfile.TemporaryDirectory() as folder:
        for kind in READERS:
            for n in given.rows:
                ours, theirs = compare(Path(folder), kind, n, max(2, given.runs if n < 10**7 else given.runs // 2))
                row = [kind, f"{n:,}", f"{ours.wall:.3f}", f"{theirs.wall:.3f}", ratio(ours.wall, theirs.wall)]
                row += [f"{ours.cpu:.3f}", f"{theirs.cpu:.3f}", ratio(ours.cpu, theirs.cpu)]
                row += [f"{ALLOWED[kind]:g}" if n == 10**6 else "", f"{ours.memory:.0f}"]
                lines.append(row)
                print(" ".join(row), flush=True)
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    about = f"Python {platform.python_version()}, pyarrow {version('pyarrow')}, {os.cpu_count()} processors."
    (HERE / "reading.md").write_text(f"{(__doc__ or '').partition('Prints')[0].strip()}\n\n{about}\n\n{table}")


if __name__ == "__main__":
    main()
