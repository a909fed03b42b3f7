"""`evaluate.load("owner/name")` in an environment with a Space's requirements and nothing else, from a Hub that holds
exactly what `publish` built; then once more with the Hub gone.
"""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import datasets
import pytest
from hub import running
from packaging.version import Version
from pages import serving
from samples import ONE_EACH, assert_same, columns

import toxeval
from toxeval.hub.publish import publish

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        Version(datasets.__version__) < Version("4"),
        reason="the environment it builds is the same whatever datasets is here",
    ),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]

PROGRAM = Path(__file__).with_name("loaded.py")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published folder for each metric."""
    folder = tmp_path_factory.mktemp("published")
    for name in toxeval.METRICS:
        publish(name, f"jane/{name}", out=folder / name, tell=lambda line: None)
    return folder


@pytest.fixture(scope="module")
def python(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with what the published folders require."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    wanted = [part for name in toxeval.METRICS for part in ("-r", str(published / name / "requirements.txt"))]
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    subprocess.run(install, check=True, timeout=900)
    return python


def scores(python: Path, inputs: Path, folder: Path, **environment: str) -> dict[str, Any]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "PYTHON"))}
    clean |= {"HF_HOME": str(folder / "home"), "HF_UPDATE_DOWNLOAD_COUNTS": "0"} | environment
    run = subprocess.run(
        [python, PROGRAM, inputs, folder / "exchange"],
        env=clean,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_modules_from_the_hub_in_an_environment_of_their_own(published: Path, python: Path, tmp_path: Path) -> None:
    samples = [sample for sample in ONE_EACH if sample.metric in toxeval.METRICS]
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({sample.metric: columns(sample.complete) for sample in samples}))
    with running() as hub:
        for name in toxeval.METRICS:
            hub.add_folder("space", f"jane/{name}", published / name)
        first = scores(python, inputs, tmp_path, HF_ENDPOINT=hub.endpoint)
        assert any(f"resolve/main/{name}.py" in request for name in toxeval.METRICS for request in hub.requests)
        assert not any("page" in request or "app.py" in request for request in hub.requests)
    for sample in samples:
        wanted = sample.compute(sample.complete, detailed=True)
        for way, found in first[sample.metric].items():
            assert list(found) == list(wanted), way
            assert_same(found, wanted)
    # the Hub is gone now: a refused connection, and the switch that spares even the try
    for offline in ({"HF_ENDPOINT": hub.endpoint}, {"HF_EVALUATE_OFFLINE": "1"}):
        again = scores(python, inputs, tmp_path, **offline)
        assert repr(again) == repr(first)


@pytest.mark.parametrize("name", toxeval.METRICS)
def test_each_folder_is_a_space_that_starts(name: str, published: Path, python: Path, tmp_path: Path) -> None:
    """With nothing but its own files and requirements."""
    with serving(published / name / "app.py", tmp_path / "server", tmp_path / "home", str(python)) as server:
        assert urlopen(server.address).status == 200
        titles = [part["props"].get("value") for part in json.load(urlopen(f"{server.address}/config"))["components"]]
        assert any("Compute</button>" in str(title) for title in titles)
