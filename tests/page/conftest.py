"""A browser, and the folders that the pages run in."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import FLAGS, chromium

from toxeval.hub.publish import build_space


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    pytest.importorskip("gradio", reason="gradio is not installed (the extra space)")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (the extra browser)")
    pytest.importorskip("axe_playwright_python", reason="axe is not installed (the extra browser)")
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[f"--{flag}" for flag in FLAGS])
        yield browser
        browser.close()


@pytest.fixture
def published(tmp_path: Path) -> Callable[[str], Path]:
    """A metric -> the ``app.py`` of its folder as it goes on the Hub."""

    def build(metric: str) -> Path:
        build_space(metric, f"jane/{metric}", tmp_path / metric)
        return tmp_path / metric / "app.py"

    return build


@pytest.fixture(scope="session")
def page_of(checkout: Path) -> Callable[[str], Any]:
    """A metric -> what its ``app.py`` says of the page."""
    pytest.importorskip("gradio", reason="gradio is not installed (the extra space)")

    def load(metric: str) -> Any:
        spec = importlib.util.spec_from_file_location(f"app_of_{metric}", checkout / "metrics" / metric / "app.py")
        assert spec is not None
        assert spec.loader is not None
        app = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(app)
        return app.page

    return load
