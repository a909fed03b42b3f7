"""The modules of the demo pages, importable as in a Space; a browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import FLAGS, chromium

sys.path.append(str(Path(__file__).resolve().parents[2] / "metrics"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    pytest.importorskip("gradio", reason="gradio is not installed (the extra space)")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (the extra browser)")
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[f"--{flag}" for flag in FLAGS])
        yield browser
        browser.close()
