"""`docs/scaling.md`: its examples run, and what it says of files is so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import toxeval as command
from samples import assert_same

import toxeval

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "scaling.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def rows() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    return {"prediction_scores": p, "references": (rng.random(len(p)) < p).astype(np.int8)}


@pytest.mark.slow
def test_the_example_with_processes(rows: dict[str, np.ndarray], tmp_path: Path) -> None:
    (example,) = [block for block in BLOCKS if "ProcessPoolExecutor" in block]
    np.savez(tmp_path / "rows.npz", **rows)
    script = tmp_path / "example.py"
    script.write_text(
        f"{example}\n\nif __name__ == '__main__':\n"
        "    import json\n    import numpy\n    rows = numpy.load('rows.npz')\n"
        "    parts = [slice(0, 1), slice(1, 15_000), slice(15_000, None)]\n"
        "    print(json.dumps(score([{key: rows[key][part] for key in rows} for part in parts])))\n"
    )
    done = subprocess.run([sys.executable, script], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert_same(json.loads(done.stdout), toxeval.load("threat_f1").compute(**rows, detailed=True))


def test_the_example_with_ray(rows: dict[str, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    """The block as it stands, with a ray that has one machine."""
    (example,) = [block for block in BLOCKS if "@ray.remote" in block]
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    batches = [{key: values[part] for key, values in rows.items()} for part in (slice(0, 9), slice(9, None))]
    exec(example.replace("import ray\n", ""), {"ray": _Ray, "batches": batches})
    found = json.loads(capsys.readouterr().out.replace("'", '"'))
    assert_same(found, toxeval.load("threat_f1").compute(**rows, detailed=True))


class _Ray:
    @staticmethod
    def remote(function):
        function.remote = lambda *args: lambda: function(*args)
        return function

    @staticmethod
    def get(tasks):
        return [task() for task in tasks]


@pytest.mark.parametrize("resolution", [None, 2.0**-10])
def test_a_folder_of_many_files(rows: dict[str, np.ndarray], tmp_path: Path, resolution: float | None) -> None:
    """Named as Spark names them, an empty one among them."""
    table = pa.table(rows)
    ends = [0, 0, 1, 700, 701, 12_000, 20_000]
    for i, (start, end) in enumerate(zip(ends, ends[1:])):
        pq.write_table(table.slice(start, end - start), tmp_path / f"part-{i:05}-0c0ffee0-c000.snappy.parquet")
    (tmp_path / "_SUCCESS").touch()
    options = [] if resolution is None else ["--option", f"score_resolution={resolution}"]
    found = command("score", "threat_f1", "--predictions", tmp_path, "--detailed", "--json", *options).json()
    wanted = toxeval.load("threat_f1").compute(**rows, detailed=True, score_resolution=resolution)
    assert_same(found["scores"], wanted)
    assert found["n_rows"] == 20_000
    result = tmp_path / "result.json"
    result.write_text(json.dumps(found))
    assert command("verify", result, "--predictions", tmp_path).status == 0
