"""What all tests share: Hugging Face caches of their own, the checkout, the real data, Hypothesis settings."""

import os
import shutil
import tempfile
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

# A test run must give the same answer every time; `HYPOTHESIS_PROFILE=explore` looks for new counterexamples.
quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=30, suppress_health_check=quiet
)
settings.register_profile("explore", database=None, deadline=None, max_examples=1000, suppress_health_check=quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_unconfigure() -> None:
    shutil.rmtree(CACHE, ignore_errors=True)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the project."""
    return CHECKOUT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the benchmarks' real files and the figures to check against."""
    folder = Path(os.environ.get("TOXEVAL_SHARED", CHECKOUT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no folder with the real data at {folder} (set TOXEVAL_SHARED)")
    return folder


@pytest.fixture
def hf_home() -> Path:
    """The Hugging Face cache folder of this test run."""
    return CACHE


@pytest.fixture
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout as current folder, where ``evaluate.load("metrics/<name>")`` finds the scripts."""
    monkeypatch.chdir(CHECKOUT)
    return CHECKOUT
