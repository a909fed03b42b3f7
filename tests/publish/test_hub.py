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

PROGRAM = """
import importlib.util, json, sys, warnings
warnings.simplefilter("ignore")
import evaluate
assert importlib.util.find_spec("toxeval") is None
results = {}
for name, inputs in json.load(open(sys.argv[1])).items():
    results[name] = evaluate.load(f"jane/{name}").compute(**inputs, detailed=True)
print(json.dumps(results))
"""


def scores(python: Path, inputs: Path, folder: Path, **environment: str) -> dict[str, Any]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "PYTHON"))}
    clean |= {"HF_HOME": str(folder / "home"), "HF_UPDATE_DOWNLOAD_COUNTS": "0"} | environment
    run = subprocess.run(
        [python, "-c", PROGRAM, inputs], env=clean, cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.slow_env
@pytest.mark.skipif(
    Version(datasets.__version__) < Version("4"),
    reason="the environment it builds is the same whatever datasets is here",
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_modules_from_the_hub_in_an_environment_of_their_own(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({sample.metric: columns(sample.complete) for sample in ONE_EACH}))
    with running() as hub:
        wanted_files = []
        for name in toxeval.METRICS:
            publish(name, f"jane/{name}", out=tmp_path / name, tell=lambda line: None)
            hub.add_folder("space", f"jane/{name}", tmp_path / name)
            wanted_files += ["-r", str(tmp_path / name / "requirements.txt")]
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted_files]
        subprocess.run(install, check=True, timeout=900)
        first = scores(python, inputs, tmp_path, HF_ENDPOINT=hub.endpoint)
        assert any(f"resolve/main/{name}.py" in request for name in toxeval.METRICS for request in hub.requests)
    for sample in ONE_EACH:
        wanted = sample.compute(sample.complete, detailed=True)
        assert list(first[sample.metric]) == list(wanted)
        assert_same(first[sample.metric], wanted)
    # the Hub is gone now: a refused connection, and the switch that spares even the try
    for offline in ({"HF_ENDPOINT": hub.endpoint}, {"HF_EVALUATE_OFFLINE": "1"}):
        again = scores(python, inputs, tmp_path, **offline)
        assert repr(again) == repr(first)
    # each folder is a Space that starts, with nothing but its own files and requirements
    for name in toxeval.METRICS:
        with serving(tmp_path / name / "app.py", tmp_path / f"{name}-server", tmp_path / "home", str(python)) as server:
            assert urlopen(server.address).status == 200
            titles = [
                part["props"].get("value") for part in json.load(urlopen(f"{server.address}/config"))["components"]
            ]
            assert "Compute" in titles
