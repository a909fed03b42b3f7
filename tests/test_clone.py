"""A copy of the tree without an installation, as a ZIP of it gives: its root is where Python finds the package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
from sources import CONDA, DIA, REPLIES, SOLD, jigsaw, write

import toxeval
from toxeval.data import DATASETS

#: As if toxeval weren't installed; Python looks in the current folder only.
UNINSTALLED = """\
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in getattr(finder, "__module__", "")]
import warnings
warnings.simplefilter("ignore")
"""


@pytest.fixture(scope="module")
def clone(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree's code and cards, links left as what they are."""
    root = tmp_path_factory.mktemp("clone") / "clone"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("metrics", "datasets_scripts", "toxeval"):
        shutil.copytree(checkout / name, root / name, symlinks=True, ignore=ignored)
    assert not any(path.is_symlink() for path in root.rglob("*"))
    return root


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", UNINSTALLED + code], cwd=folder, capture_output=True, encoding="utf-8", timeout=300
    )


def test_metrics_load_from_its_root(clone: Path) -> None:
    done = run(
        "import evaluate, json\n"
        f"for name in {toxeval.METRICS}:\n"
        '    metric = evaluate.load(f"metrics/{name}")\n'
        "    import toxeval\n"
        "    print(metric.name, isinstance(metric.state(**metric.definition.example), toxeval.State))\n"
        "print(toxeval.__file__, toxeval.metrics.__file__)",
        clone,
    )
    assert done.returncode == 0, done.stderr
    *metrics, places = done.stdout.splitlines()
    assert metrics == [f"{name} True" for name in toxeval.METRICS]
    assert places.split() == [str(clone / name / "__init__.py") for name in ("toxeval", "metrics")]


@pytest.mark.parametrize("name", toxeval.METRICS[:1])
def test_elsewhere_the_error_says_what_is_missing(clone: Path, name: str, tmp_path: Path) -> None:
    done = run(f"import evaluate; evaluate.load({str(clone / 'metrics' / name)!r})", tmp_path)
    assert done.returncode == 1
    assert "ImportError: To be able to use" in done.stderr
    assert "'toxeval'" in done.stderr.splitlines()[-1]


@pytest.mark.skipif(int(datasets.__version__.split(".")[0]) >= 4, reason="datasets 4 and later run no loading scripts")
def test_loading_scripts_load_from_its_root(clone: Path, tmp_path: Path) -> None:
    for name, files in zip(DATASETS, (CONDA, SOLD, {**DIA, **REPLIES}, jigsaw())):
        write(tmp_path / name, files)
    done = run(
        "import datasets\n"
        f"for name in {DATASETS}:\n"
        "    data = datasets.load_dataset(\n"
        '        f"datasets_scripts/{name}", trust_remote_code=True, verification_mode="no_checks",\n'
        f"        data_dir={str(tmp_path)!r} + '/' + name, cache_dir={str(tmp_path / 'cache')!r},\n"
        "    )\n"
        "    print(name, *data)\n"
        "import toxeval; print(toxeval.__file__)",
        clone,
    )
    assert done.returncode == 0, done.stderr
    *found, place = done.stdout.splitlines()
    assert [line.split()[0] for line in found] == list(DATASETS)
    assert all("train" in line and "test" in line for line in found)
    assert place == str(clone / "toxeval" / "__init__.py")


def test_the_demo_runs_in_it(clone: Path) -> None:
    done = run("from toxeval import demo; demo.main()", clone)
    assert done.returncode == 0, done.stderr
    assert all(f"\n{name} (" in done.stdout for name in toxeval.METRICS)
