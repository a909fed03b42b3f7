"""Ten visitors at once, and one with large files: each gets their own results, and memory is given back.

The same for a minute: ``python benchmarks/space_load.py``.
"""

from __future__ import annotations

import datetime
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import serving

pytest.importorskip("gradio", reason="gradio is not installed (the extra space)")
httpx = pytest.importorskip("httpx", reason="comes with gradio")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def test_ten_visitors(tmp_path: Path, checkout: Path, hf_home: Path) -> None:
    spec = importlib.util.spec_from_file_location("space_load", checkout / "benchmarks" / "space_load.py")
    assert spec is not None
    assert spec.loader is not None

    space_load = importlib.util.module_from_spec(spec)
    sys.modules["space_load"] = space_load  # its dataclasses look themselves up there
    spec.loader.exec_module(space_load)
    with serving(checkout / "metrics" / "sold_macro_f1" / "app.py", tmp_path / "server", hf_home) as server:
        report = space_load.load(server.address, server.pid, "sold_macro_f1", users=10, seconds=10)
        assert report.errors == []
        assert report.foreign == 0
        assert len(report.waits) >= 10
        assert len(report.file_waits) >= 1
        assert report.memory_after - report.memory_before < 250e6  # malloc's; see the test below for what is kept

        # Requests that are too large are turned away, and nothing can be left on the server.
        body = b"x" * 20_000_000
        assert httpx.post(f"{server.address}/gradio_api/queue/join", content=body).status_code == 413
        assert httpx.post(f"{server.address}/gradio_api/queue/join", content=pieces(body)).status_code >= 400
        answer = httpx.post(f"{server.address}/gradio_api/upload", files={"files": ("a.csv", b"predictions")})
        assert answer.status_code == 413
        assert "/" not in answer.text
    left = [path for path in (tmp_path / "server" / "temporary").rglob("*") if path.is_file()]
    assert [path for path in left if path.stat().st_size] == []


def pieces(body: bytes) -> Iterator[bytes]:
    """A body that doesn't say how long it is."""
    for start in range(0, len(body), 1 << 20):
        yield body[start : start + (1 << 20)]


def test_visits_are_forgotten() -> None:
    import gradio as gr
    from gradio.state_holder import StateHolder
    from space_server import forget

    with gr.Blocks(analytics_enabled=False) as demo:
        box = gr.Textbox()
    holder = StateHolder()
    holder.set_blocks(demo)
    holder["quiet"]._update_value_in_config(box._id, "rows of somebody")
    middle = datetime.datetime.now()
    holder["busy"]._update_value_in_config(box._id, "rows of somebody else")
    forget(holder, middle)
    assert ("quiet" in holder, "busy" in holder) == (False, True)
    assert set(holder.time_last_used) == {"busy"}
