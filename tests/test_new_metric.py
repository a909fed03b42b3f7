"""A metric is one folder: `docs/adding_a_metric.md` is followed to the letter in a copy of the tree."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import evaluate
import numpy as np
import pytest
import samples
from samples import Sample

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

HERE = Path(__file__).resolve().parent
GUIDE = (HERE.parent / "docs" / "adding_a_metric.md").read_text(encoding="utf-8")
NAME = "mild_f1"


def blocks(language: str) -> list[str]:
    """The guide's code blocks; those within lists are indented."""
    return [block[1] for block in re.finditer(rf"^ *```{language}\n(.*?)^ *```$", GUIDE, re.MULTILINE | re.DOTALL)]


def files() -> dict[str, str]:
    """The files that the guide shows whole."""
    found = re.findall(rf"^`(metrics/{NAME}/[\w.]+)`:\n\n(`{{3,}})\w+\n(.*?)^\2$", GUIDE, re.MULTILINE | re.DOTALL)
    return {path: text for path, _, text in found}


@pytest.fixture(scope="module")
def tree(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the new folder in it, and nothing else changed."""
    root = tmp_path_factory.mktemp("tree")
    for name in ("metrics", "datasets_scripts", "toxeval"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / name, root / name, symlinks=True, ignore=ignored)
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(checkout / name, root)
    (commands,) = blocks("sh")
    subprocess.run(["sh", "-euc", commands], cwd=root, check=True)
    for path, text in files().items():
        assert not (root / path).exists()
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def sixth(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Sample:
    """The `Sample` that the guide shows; ``toxeval.load`` finds the metric in the copy."""
    folder, load = str(tree / "metrics" / NAME), toxeval.load

    def load_here(name: str, config_name: str | None = None, **options: Any) -> Any:
        return evaluate.load(folder, config_name, **options) if name == NAME else load(name, config_name, **options)

    monkeypatch.setattr(toxeval, "load", load_here)
    (code,) = [block for block in blocks("python") if block.lstrip().startswith("Sample(")]
    zero = {"zero_division": (0.0, 1.0), "detailed": (False, True)}
    sample: Sample = eval(inspect.cleandoc(code), vars(samples) | {"zero": zero})
    return sample


# --- what is tested of the five -----------------------------------------------------------------------------------


def family(path: str, *parameters: str) -> tuple[ModuleType, list[str]]:
    """A file of tests, and the names of those that take no more than these parameters."""
    spec = importlib.util.spec_from_file_location(f"family_{Path(path).stem}", HERE / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_") and callable(test)}
    return module, [name for name, test in tests.items() if set(inspect.signature(test).parameters) <= set(parameters)]


INVARIANTS, invariants = family("metrics/test_invariants.py", "sample")
CARDS, cards = family("test_cards.py", "name", "in_checkout")


def test_the_families_are_found() -> None:
    assert "test_any_split_into_batches_gives_the_result_of_one_compute" in invariants
    assert "test_tables_list_what_compute_returns" in cards


@pytest.mark.parametrize("test", invariants)
def test_what_holds_for_every_metric(test: str, sixth: Sample) -> None:
    getattr(INVARIANTS, test)(sample=sixth)


@pytest.mark.parametrize("test", [name for name in cards if name != "test_every_metric_has_a_sample_of_each_way"])
def test_its_card(test: str, sixth: Sample, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CARDS, "card", lambda name: (tree / "metrics" / name / "README.md").read_text("utf-8"))
    monkeypatch.setattr(CARDS, "SAMPLES", [sixth])
    monkeypatch.chdir(tree)  # where the card's evaluate.load("metrics/mild_f1") finds it
    run: Callable[..., None] = getattr(CARDS, test)
    run(**{"name": NAME, "in_checkout": tree} if "in_checkout" in inspect.signature(run).parameters else {"name": NAME})


# --- its own ------------------------------------------------------------------------------------------------------


def test_scores_intervals_and_the_trainer(sixth: Sample) -> None:
    metric = sixth.load()
    predictions, references = [1, 1, 0, 1, 0], ["rude", "rude", "rude", "fine", "fine"]
    scores = metric.compute(predictions=predictions, references=references)
    assert scores == {"f1_rude": 2 / 3, "precision_rude": 2 / 3, "recall_rude": 2 / 3, "accuracy": 3 / 5}
    surer = metric.compute(predictions=predictions, references=references, confidence_level=0.95)
    for key, value in scores.items():
        assert surer[key] == value
        assert 0 <= surer[f"{key}_low"] < value < surer[f"{key}_high"] <= 1
    logits = np.array([[-1.0, 1.0] if p else [1.0, -1.0] for p in predictions])
    given = SimpleNamespace(predictions=logits, label_ids=np.array([1, 1, 1, 0, 0]))
    assert metric.compute_metrics(given) == scores
    with pytest.raises(ValueError, match=r"^mild_f1: predictions\[1\]: unknown label 'OFF'; allowed: fine, rude"):
        metric.compute(predictions=["rude", "OFF"], references=["rude", "fine"])
    with pytest.raises(ValueError, match="^mild_f1: option config_name: 'token'; allowed: 'default'"):
        toxeval.load(NAME, "token")


def test_its_page_shows_its_scores(tree: Path) -> None:
    pytest.importorskip("gradio", reason="gradio is not installed (the extra space)")
    code = (
        "import sys; sys.meta_path[:] = [finder for finder in sys.meta_path if 'editable' not in finder.__module__]\n"
        f"sys.path.append('metrics/{NAME}'); import json, app; print(json.dumps(app.page.example(0)))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    shown = json.loads(run.stdout.splitlines()[-1])
    assert "F1 of rude" in shown["score"]["html"]
    assert "<img" in shown["draw"]["html"]


# --- installed ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_wheel_and_the_command_have_it(tree: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", "77", reason="no setuptools that builds wheels (the extra test)")

    def run(*command: str, **environment: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True, encoding="utf-8"
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    build = "import os, sys; os.chdir(sys.argv[1]); from setuptools import build_meta as b; b.build_wheel(sys.argv[2])"
    run(sys.executable, "-c", build, str(tree), str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    there = tmp_path / "installed" / "toxeval" / "metrics"
    folders = (there / NAME, tree / "metrics" / NAME)
    installed, written = ({path.name for path in folder.iterdir()} - {"__pycache__"} for folder in folders)
    assert installed == written

    command = tmp_path / "toxeval"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toxeval.cli "$@"\n')
    command.chmod(0o755)
    search = {"PYTHONPATH": str(tmp_path / "installed"), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    where = "import toxeval; print(toxeval.load('mild_f1').definition.headlines[0], toxeval.__file__)"
    assert run(sys.executable, "-c", where, **search).split() == ["f1_rude", str(there.parent / "__init__.py")]
    (lines,) = blocks("bash")
    said = run("sh", "-euc", lines, **search)
    assert "mild_f1\n  inputs: predictions (label), references (label)\n  options: zero_division=0.0" in said
    assert re.search(r"f1_rude.* 0\.6667", said)
    assert "space jane/mild_f1:" in said
    run("toxeval", "plot", NAME, "--predictions", "lines.csv", "--out", "picture.svg", **search)
    assert "rude" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
