"""Ours against what people use today: the same inputs, in one run, taking turns; medians and their ratios.

    python benchmarks/bench.py [--quick] [--only WORD]

Prints a table and writes it to benchmarks/results.md and benchmarks/results.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import workloads

HERE = Path(__file__).parent

#: What "stock evaluate" is, for the results.
STOCK = "Stock evaluate is the Hub's module, or without a network the same machinery around the same scikit-learn call."

#: A call slower than this is repeated less often.
SLOW_SECONDS = 3.0


@dataclass
class Row:
    """One comparison: ours and a peer on the same input."""

    work: str
    n: int
    peer: str
    ours_seconds: float
    peer_seconds: float
    target: str = ""

    @property
    def ratio(self) -> float:
        return self.ours_seconds / self.peer_seconds


def alternate(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each call; the calls take turns, so that a change of the machine's speed meets all alike."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            if turn > 1 and statistics.median(times[name]) > SLOW_SECONDS:
                continue
            start = time.perf_counter()
            call()
            elapsed = time.perf_counter() - start
            if turn or elapsed > SLOW_SECONDS:  # the first turn warms caches up
                times[name].append(elapsed)
    return {name: statistics.median(values) for name, values in times.items()}


def speed(only: str, quick: bool) -> list[Row]:
    rows = []
    for work in workloads.WORK:
        if only not in work.name:
            continue
        for n in work.sizes:
            if quick and n > 10**5:
                continue
            calls = work.calls(n)
            medians = alternate(calls, 5 if n >= 10**6 else 15)
            ours = medians.pop("ours")
            rows += [
                Row(work.name, n, peer, ours, seconds, work.targets.get((peer, n), ""))
                for peer, seconds in medians.items()
            ]
            for row in rows[-len(medians) :]:
                print(
                    f"{row.work:46} n={row.n:<9} {row.ours_seconds * 1e3:10.2f} ms  {row.ratio:9.4f} x {row.peer}",
                    flush=True,
                )
    return rows


def peak_memory(n: int) -> float:
    """Peak of what ``sold_macro_f1.compute`` allocates above its inputs, as a share of the inputs' size."""
    calls, size = workloads.memory_call(n)
    tracemalloc.start()
    calls()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / size


def import_ratio(repeats: int) -> tuple[float, float]:
    """Seconds to import toxeval and load a module, and to import evaluate alone, in fresh interpreters taking turns."""

    def run(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    medians = alternate(
        {"ours": run("import toxeval; toxeval.load('sold_macro_f1')"), "evaluate": run("import evaluate")}, repeats
    )
    return medians["ours"], medians["evaluate"]


def machine() -> str:
    names = ("numpy", "scikit-learn", "evaluate", "datasets", "pyarrow", "torch", "torchmetrics", "seqeval")
    libraries = ", ".join(f"{name} {version(name)}" for name in names)
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    return f"{cpu}; Python {platform.python_version()}; {libraries}"


def markdown(rows: list[Row], memory: float, imports: tuple[float, float]) -> str:
    lines = ["| work | rows | ours | peer | peer's time | ours / peer | target |", "|---|--:|--:|---|--:|--:|---|"]
    for r in rows:
        ours, theirs = f"{r.ours_seconds * 1e3:.3g} ms", f"{r.peer_seconds * 1e3:.3g} ms"
        lines.append(f"| {r.work} | {r.n:,} | {ours} | {r.peer} | {theirs} | {r.ratio:.4f} | {r.target} |")
    lines.append("")
    lines.append(
        f"Peak memory of `sold_macro_f1.compute` above its inputs (10^7 ids): {memory:.2f} x theirs (target 0.6)."
    )
    lines.append("")
    ratio = imports[0] / imports[1]
    lines.append(f"Import of toxeval and load of a module: {ratio:.3f} x `import evaluate` alone (target 1.1).")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="at most 10^5 rows")
    parser.add_argument("--only", default="", help="only work whose name contains this")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = speed(args.only, args.quick)
    stored = HERE / "results.json"
    if args.only and not args.quick and stored.exists():  # what was measured anew takes the place of what was there
        old = json.loads(stored.read_text())
        measured = {(row.work, row.n, row.peer): row for row in rows}
        before = [Row(**{key: value for key, value in row.items() if key != "ratio"}) for row in old["rows"]]
        rows = [measured.get((row.work, row.n, row.peer), row) for row in before]
        memory, imports = old["peak_memory_share"], (old["import_seconds"], old["import_evaluate_seconds"])
    else:
        memory = peak_memory(10**5 if args.quick else 10**7)
        imports = import_ratio(3 if args.quick else 9)
    text = f"Measured on {machine()}. Medians of calls that take turns in one process. {STOCK}\n\n"
    text += markdown(rows, memory, imports)
    print(text)
    if not args.quick:
        (HERE / "results.md").write_text(text)
        result = {"machine": machine(), "rows": [asdict(r) | {"ratio": r.ratio} for r in rows]}
        result |= {"peak_memory_share": memory, "import_seconds": imports[0], "import_evaluate_seconds": imports[1]}
        stored.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
