"""What all tests share: Hugging Face caches of their own, the checkout, the real data, Hypothesis settings."""

import gzip
import os
import runpy
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

CHECKOUT = Path(__file__).resolve().parent.parent

# `evaluate` and `datasets` read these when they are imported, so before any test module is.
CACHE = Path(tempfile.mkdtemp(prefix="toxeval-tests-"))
for variable in [name for name in os.environ if name.startswith("HF_") and name.endswith(("_CACHE", "_HOME"))]:
    del os.environ[variable]
os.environ["HF_HOME"] = str(CACHE)
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
# One thread a process, for the processes already share the cores: PyTorch's threads wait for each other by spinning.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What every Python does when it starts, this one and those that the tests start.
STARTUP = Path(__file__).with_name("startup")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(STARTUP), os.environ.get("PYTHONPATH")]))
runpy.run_path(str(STARTUP / "sitecustomize.py"))

# A test run must give the same answer every time; `HYPOTHESIS_PROFILE=explore` looks for new counterexamples.
quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=20, suppress_health_check=quiet
)
settings.register_profile(
    "explore", database=None, deadline=None, max_examples=1000, print_blob=True, suppress_health_check=quiet
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


#: The benchmarks' real files, where they are.
SHARED = Path(os.environ.get("TOXEVAL_SHARED", CHECKOUT.parent / "shared"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests on real rows that may not be passed on are for those who have them, and those of whole runs of the
    harnesses for an environment with these; the first lines of a run say so."""
    left_out = set()
    if not SHARED.is_dir():
        left_out |= {item for item in items if "shared" in getattr(item, "fixturenames", ())}
    left_out |= {item for item in items if item.path.parent.name == "harness" and _lacks_an_extra(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _lacks_an_extra(item: pytest.Item) -> bool:
    return any(mark.args and mark.args[0] for mark in item.iter_markers("skipif"))


def pytest_report_header() -> list[str]:
    """What a run leaves out, and how to have it."""
    rows = "tests on real rows of CONDA and DiaSafety are left out: name a folder with them in TOXEVAL_SHARED"
    runs = "whole runs of the harnesses are left out: install the extras lm-eval and inspect, apart from the others"
    there = find_spec("lm_eval") and find_spec("inspect_ai")
    return [rows] * (not SHARED.is_dir()) + [runs] * (not there)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the project."""
    return CHECKOUT


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder with the files that the tests read, which anyone has; packed ones unpacked."""
    folder = tmp_path_factory.mktemp("files") / "shipped"
    shutil.copytree(CHECKOUT / "tests" / "shipped", folder)
    for path in folder.rglob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """A folder with real files of the benchmarks, those that may not be passed on among them."""
    if not SHARED.is_dir():
        pytest.skip("no real rows of CONDA: name a folder with them in TOXEVAL_SHARED")
    return SHARED


@pytest.fixture
def hf_home() -> Path:
    """The Hugging Face cache folder of this test run."""
    return CACHE


@pytest.fixture
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout as current folder, where ``evaluate.load("metrics/<name>")`` finds the scripts."""
    monkeypatch.chdir(CHECKOUT)
    return CHECKOUT
