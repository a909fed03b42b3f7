"""A page in public: few doors, limits, nothing kept; each of ten programs at once gets its own results."""

from __future__ import annotations

import datetime
import statistics
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from files import module_of
from pages import Server, serving

pytestmark = [
    pytest.mark.skipif(find_spec("gradio") is None, reason="gradio is not installed (the extra space)"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]
SECRET = "a secret text of some visitor"


@pytest.fixture
def server(published: Callable[[str], Path], tmp_path: Path, hf_home: Path) -> Iterator[Server]:
    with serving(published("sold_macro_f1"), tmp_path / "server", hf_home, alone=True) as server:
        yield server


def test_what_is_open_and_what_is_closed(server: Server) -> None:
    import httpx

    http = httpx.Client(base_url=server.address)
    assert list(http.get("/gradio_api/info").json()["named_endpoints"]) == ["/score"]
    assert http.get("/gradio_api/info").json()["unnamed_endpoints"] == {}
    described = http.get("/gradio_api/info").json()["named_endpoints"]["/score"]
    assert [each["parameter_name"] for each in described["parameters"]] == ["columns", "options"]
    assert "predictions, references" in described["description"]
    for method, path in (
        ("GET", "/gradio_api/deep_link?session_hash=x"),
        ("GET", "/gradio_api/file=/etc/passwd"),
        ("GET", "/gradio_api/file=../../../etc/passwd"),
        ("GET", "/gradio_api/queue/status"),
        ("GET", "/gradio_api/openapi.json"),
        ("GET", "/monitoring"),
        ("GET", "/proxy=http://example.org"),
        ("GET", "/static/../../../../../../etc/passwd"),
        ("GET", "/assets/..%2f..%2f..%2f..%2fetc%2fpasswd"),
        ("GET", "/%2e%2e/%2e%2e/app.py"),
        ("POST", "/gradio_api/upload"),
        ("POST", "/gradio_api/run/score"),
        ("POST", "/gradio_api/api/score"),
        ("POST", "/gradio_api/call/lambda"),
        ("POST", "/gradio_api/call/lambda_5"),
        ("POST", "/gradio_api/process_recording"),
        ("PUT", "/config"),
        ("DELETE", "/"),
    ):
        answer = http.request(method, path)
        assert answer.status_code in (403, 404, 405), path
        assert "root:" not in answer.text
    question = {"data": {"text": SECRET}, "component_id": 1, "session_hash": "x"}
    for name in ("launch", "postprocess", "__init__", "get_config", "preprocess"):
        assert http.post("/gradio_api/component_server", json={**question, "fn_name": name}).status_code == 404

    body = b"x" * 20_000_000
    for path in ("/gradio_api/queue/join", "/gradio_api/component_server", "/gradio_api/call/score"):
        assert http.post(path, content=body).status_code == 413
        assert http.post(path, content=iter([body])).status_code == 411
        assert http.post(path, files={"files": ("a.csv", SECRET.encode())}).status_code == 415

    # what is wrong is said to who asks, and to nobody else
    rows = {"predictions": [SECRET], "references": ["OFF"]}
    sent = http.post("/gradio_api/call/score", json={"data": [rows, {}]}).json()
    answer = http.get(f"/gradio_api/call/score/{sent['event_id']}").text
    assert "predictions[0]: a text of 29 characters" in answer
    assert SECRET not in answer
    assert SECRET not in (server.folder / "log").read_text()
    assert server.left() == []


def test_a_page_starts_without_what_it_does_not_need(published: Callable[[str], Path]) -> None:
    import subprocess

    program = (
        "import sys; before = set(sys.modules); import gradio; mid = set(sys.modules); sys.modules['toxeval'] = None\n"
        "import app; print(*sorted({n.partition('.')[0] for n in set(sys.modules) - mid}))"
    )
    folder = published("threat_f1").parent
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.splitlines()[-1].split())
    assert not loaded & {"evaluate", "datasets", "matplotlib", "sklearn", "scipy", "pyarrow", "torch", "transformers"}


@pytest.mark.slow
def test_ten_programs_at_once(server: Server, checkout: Path) -> None:
    space_load = module_of(checkout / "benchmarks" / "space_load.py")
    report = space_load.load(server.address, server.pid, "sold_macro_f1", users=10, seconds=10)
    assert report.errors == []
    assert report.foreign == 0
    assert len(report.waits) >= 50
    assert len(report.long_waits) >= 1
    assert statistics.median(report.waits) < 10  # how long exactly benchmarks/space_load.py says
    assert report.memory_after - report.memory_before < 250e6  # malloc's; see the test below for what is kept
    assert server.left() == []


def test_visits_are_forgotten() -> None:
    import gradio as gr
    from gradio.state_holder import StateHolder

    from toxeval.page.server import forget

    with gr.Blocks(analytics_enabled=False) as demo:
        box = gr.Textbox()
    holder: Any = StateHolder()
    holder.set_blocks(demo)
    holder["quiet"]._update_value_in_config(box._id, "rows of somebody")
    middle = datetime.datetime.now()
    holder["busy"]._update_value_in_config(box._id, "rows of somebody else")
    forget(holder, middle)
    assert ("quiet" in holder, "busy" in holder) == (False, True)
    assert set(holder.time_last_used) == {"busy"}
