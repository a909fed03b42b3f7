"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
import toxeval.datasets_scripts
import toxeval.metrics


def modules() -> list[str]:
    """Every module of the package."""
    found = list(pkgutil.walk_packages(toxeval.__path__, "toxeval."))
    for home in (toxeval.metrics, toxeval.datasets_scripts):  # these two stand elsewhere in a checkout
        found += pkgutil.walk_packages(home.__path__, f"{home.__name__}.")
    names = {module.name for module in found if not module.ispkg}
    # an app starts a server, and what it imports is at home in a Space (its examples run in tests/space)
    elsewhere = {name for name in names if name.endswith(".app") or ".space" in name}
    return sorted(names - elsewhere)


@pytest.mark.parametrize("name", modules())
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch, checkout) -> None:
    monkeypatch.chdir(checkout)
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"an extra is not installed: {error.name}")
    failures, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failures == 0


def test_the_examples_are_found() -> None:
    assert {"toxeval.core.scoring", "toxeval.metrics.threat_f1.threat_f1", "toxeval.loading"} <= set(modules())
