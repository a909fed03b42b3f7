"""Scores by group against scores of all rows: the same inputs, taking turns; medians and their ratios.

    python benchmarks/groups.py [--rows N] [--groups K]

Prints a table and writes it to benchmarks/groups.md: each metric with the names of groups in several holders, and the
command on a file, with ``--by`` and without.
"""

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from bench import alternate, machine

from toxeval.loading import plain

HERE = Path(__file__).parent

#: What is timed with intervals, too.
WITH_INTERVALS = (("sold_macro_f1", "ids in arrays"), ("threat_f1", "scores, 10 % threats"))
WHY = """The aim is a ratio of 3 at most. Labels in lists, utterances and the command keep it. Ids in arrays are
counted in 4 ms, less than it takes to tell a million texts apart: there the time itself says more. Scores are sorted in
each group, and looked up among those of all rows for the areas of Borkan et al. (2019), which `compute` doesn't give.
`oracle_collab` takes for each group the few hundred small steps that it takes for all rows.

With intervals no such ratio can be kept: each group has resamples of its own, and so have the rows outside it."""


def inputs(n: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """What is scored: a name of it, the metric, its inputs."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(np.int64)
    p = np.where(rng.random(n) < 0.8, y, 1 - y)
    scores = 1 / (1 + np.exp(-rng.normal(-1.5 + 3 * y, 1.5)))
    names = np.array(["NOT", "OFF"], dtype=object)
    slots = rng.integers(7, size=(2, n, 8))
    slots[1] = np.where(rng.random((n, 8)) < 0.9, *slots)
    said, gold = ({"intent": rng.integers(4, size=n), "slots": side} for side in slots)
    yield "ids in arrays", "sold_macro_f1", {"predictions": p, "references": y}
    yield "names in lists", "sold_macro_f1", {"predictions": names[p].tolist(), "references": names[y].tolist()}
    yield "ids in arrays", "dia_safety_rate", {"predictions": p, "references": y, "categories": rng.integers(5, size=n)}
    yield "padded ids", "conda_joint", {"predictions": said, "references": gold}
    yield "scores, 10 % threats", "threat_f1", {"prediction_scores": scores, "references": y}
    yield "scores, 10 % toxic", "oracle_collab", {"predictions": scores, "references": y}


def holders(n: int, k: int) -> dict[str, Any]:
    """The same groups as whole numbers, as texts in a list and in an array, and as a categorical column of pandas."""
    codes = np.random.default_rng(1).integers(k, size=n)
    names = np.array([f"group {i}" for i in range(k)])
    categories = pd.Series(pd.Categorical.from_codes(codes, names))
    return {"numbers": codes, "list": names[codes].tolist(), "array of texts": names[codes], "categories": categories}


def timed(name: str, given: dict[str, Any], groups: Any, repeats: int, **options: Any) -> tuple[float, float]:
    """Seconds without and with groups."""
    metric = plain(name)
    calls: dict[str, Callable[[], object]] = {
        "all": lambda: metric.compute(**given, **options),
        "by": lambda: metric.compute_by(groups, **given, **options),
    }
    found = alternate(calls, repeats)
    return found["all"], found["by"]


def in_python(n: int, k: int) -> Iterator[tuple[str, str, float, float]]:
    """What is scored, the groups' holder, seconds without and with groups."""
    columns = holders(n, k)
    for what, name, given in inputs(n):
        for holder, groups in columns.items():
            yield f"{name}, {what}", holder, *timed(name, given, groups, 5)
    for what, name, given in inputs(n):
        if (name, what) in WITH_INTERVALS:
            few = columns["numbers"] % 10
            yield f"{name}, {what}, 95 % intervals", "10 numbers", *timed(name, given, few, 1, confidence_level=0.95)


def in_command(n: int, k: int) -> Iterator[tuple[str, str, float, float]]:
    """The same of the command, from start to end, on a Parquet file with texts as groups."""
    groups = pa.array(holders(n, k)["list"])
    with tempfile.TemporaryDirectory() as folder:
        for what, name, given in inputs(n):
            if name not in ("sold_macro_f1", "threat_f1"):
                continue
            path = Path(folder, "rows.parquet")
            pq.write_table(pa.table({**given, "team": groups}), path)
            command = [sys.executable, "-m", "toxeval.cli", "score", name, "--predictions", str(path), "--json"]

            def run(*more: str, command: list[str] = command) -> Callable[[], object]:
                return lambda: subprocess.run([*command, *more], check=True, capture_output=True)

            found = alternate({"all": run(), "by": run("--by", "team")}, 3)
            yield f"toxeval score {name}, {what}", "column of texts", found["all"], found["by"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--groups", type=int, default=1000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    n, k = given.rows, given.groups
    lines = [f"# {n:,} rows in {k:,} groups", "", f"Measured on {machine()}. Medians of calls that take turns."]
    lines += ["", "| what | groups | all rows | by group | ratio |", "|---|---|--:|--:|--:|"]
    print("\n".join(lines))
    for part in (in_python(n, k), in_command(n, k)):
        for what, holder, alone, by in part:
            lines.append(f"| {what} | {holder} | {alone * 1e3:.3g} ms | {by * 1e3:.3g} ms | {by / alone:.1f} |")
            print(lines[-1], flush=True)
    (HERE / "groups.md").write_text("\n".join([*lines, "", WHY, ""]))


if __name__ == "__main__":
    main()
