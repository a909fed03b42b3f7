"""More rows than a table in memory should have: a folder of Parquet files through ``toxeval score`` and through Spark.

    python benchmarks/scale.py FOLDER [--rows 1000000 10000000 100000000]

For labels (sold_macro_f1) and for scores on a grid (threat_f1 with score_resolution=2**-20): seconds, memory at its
peak over all processes, and for Spark the seconds of its own ``groupBy().count()`` on the same rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS_A_FILE = 5_000_000
RESOLUTION = 2.0**-20
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "labels": ("sold_macro_f1", {}),
    "scores": ("threat_f1", {"score_resolution": RESOLUTION}),
}

#: Of a Spark on this machine alone.
LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


def write(folder: Path, kind: str, n: int) -> Path:
    """Parquet files of n rows, a file in memory at a time."""
    target = folder / f"{kind}_{n}"
    if target.exists():
        return target
    working = target.with_suffix(".part")
    working.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for start in range(0, n, ROWS_A_FILE):
        size = min(ROWS_A_FILE, n - start)
        p = rng.beta(0.3, 3.0, size)
        labels = (rng.random(size) < p).astype(np.int8)
        columns = {"prediction_scores": p} if kind == "scores" else {"predictions": (p > 0.5).astype(np.int8)}
        pq.write_table(pa.table(columns | {"references": labels}), working / f"rows{start // ROWS_A_FILE:04}.parquet")
    working.rename(target)
    return target


# --- memory -------------------------------------------------------------------------------------------------------


def tree(root: int) -> dict[int, str]:
    """The processes below one, and their commands."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(") ")
                parents[int(entry.name)] = int(rest.split()[1]), name
            except OSError:  # it ended
                continue
    found, wanted = {}, {root}
    while wanted:
        found |= {pid: parents[pid][1] for pid in wanted if pid in parents}
        wanted = {pid for pid, (parent, _) in parents.items() if parent in wanted} - found.keys()
    return found


def memory(pid: int) -> int:
    """Bytes of a process, of shared pages its share."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


def run(command: list[str]) -> tuple[str, float, dict[str, int]]:
    """Output, seconds, and peak memory of the whole process tree and of its JVM."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak, done = {"all": 0, "java": 0}, threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            now = {pid: (name, memory(pid)) for pid, name in tree(process.pid).items()}
            peak["all"] = max(peak["all"], sum(size for _, size in now.values()))
            peak["java"] = max(peak["java"], sum(size for name, size in now.values() if name == "java"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    output, _ = process.communicate()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(process.returncode)
    return output, seconds, peak


# --- the two ways -------------------------------------------------------------------------------------------------


def with_spark(folder: str, kind: str) -> None:
    """Run in a process of its own; prints seconds and result."""
    from pyspark.sql import SparkSession

    import toxeval.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g")
    for key, value in LOCAL.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    df, (metric, options) = spark.read.parquet(folder), KINDS[kind]
    columns = df.columns if kind == "labels" else ["references"]
    calls: dict[str, Callable[[], Any]] = {
        "count": lambda: df.groupBy(*columns).count().collect(),
        "score": lambda: toxeval.spark.score(df, metric, **options),
    }
    toxeval.spark.score(df.limit(1000), metric, **options)  # workers import once
    seconds, results = {}, {}
    for name, call in calls.items():
        started = time.perf_counter()
        results[name] = call()
        seconds[name] = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "scores": results["score"]}))
    spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7, 10**8])
    parser.add_argument("--kind", choices=KINDS, nargs="+", default=list(KINDS))
    parser.add_argument("--in-spark", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.in_spark:
        with_spark(str(given.folder), given.kind[0])
        return
    print("| rows | | toxeval score | memory | Spark | of it groupBy().count() | memory (JVM) |")
    print("|---|---|---|---|---|---|---|")
    for kind in given.kind:
        metric, options = KINDS[kind]
        for n in given.rows:
            files = str(write(given.folder, kind, n))
            command = [sys.executable, "-m", "toxeval.cli", "score", metric, "--predictions", files, "--json"]
            command += [part for key, value in options.items() for part in ("--option", f"{key}={value!r}")]
            output, seconds, peak = run(command)
            ours = json.loads(output)["scores"]
            output, _, in_spark = run([sys.executable, __file__, files, "--kind", kind, "--in-spark"])
            theirs = json.loads(output.splitlines()[-1])
            assert theirs["scores"].keys() == ours.keys()
            assert all(abs(theirs["scores"][key] - ours[key]) <= 1e-12 for key in ours), "not the same numbers"
            took = theirs["seconds"]
            print(
                f"| {n:,} | {kind} | {seconds:.1f} s | {peak['all'] / 2**20:.0f} MiB | {took['score']:.1f} s "
                f"| {took['count']:.1f} s | {in_spark['all'] / 2**20:.0f} ({in_spark['java'] / 2**20:.0f}) MiB |",
                flush=True,
            )


if __name__ == "__main__":
    main()
