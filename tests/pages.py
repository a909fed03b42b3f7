"""A metric's demo page, running, and a visitor in headless Chromium."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FLAGS = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking") + (
    "disable-component-update",
    "disable-sync",
)
#: metric -> column of its page -> what a cell holds.
KINDS = {
    "conda_joint": {
        "predictions.intent": "label",
        "predictions.slots": "sequence",
        "references.intent": "label",
        "references.slots": "sequence",
    },
    "sold_macro_f1": {"predictions": "label", "references": "label"},
    "oracle_collab": {"predictions": "score", "references": "label", "review_scores": "score"},
    "dia_safety_rate": {"predictions": "label", "references": "label", "categories": "label"},
    "threat_f1": {"predictions": "label", "references": "label", "prediction_scores": "score"},
}
#: Patience on a busy machine.
WAIT = 60_000


@dataclass(frozen=True)
class Server:
    """A page that runs here."""

    address: str
    pid: int


@contextmanager
def serving(app: Path, folder: Path, home: Path, python: str = sys.executable) -> Iterator[Server]:
    """A page that runs while the context is open.

    Args:
        app: its ``app.py``.
        folder: for temporary files and the log.
        home: Hugging Face's caches.
        python: the interpreter.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "temporary").mkdir(parents=True)
    environment = os.environ | {
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_TEMP_DIR": str(folder / "temporary"),
        "TMPDIR": str(folder / "temporary"),
        "HF_HOME": str(home),
        "PYTHONWARNINGS": "ignore",
        "PYTHONUNBUFFERED": "1",  # a file gets what the server says at once
    }
    with open(folder / "log", "w+") as log:
        server = subprocess.Popen([python, str(app)], env=environment, cwd=app.parents[2], stdout=log, stderr=log)
        try:
            until = time.monotonic() + 180
            while True:
                text = (folder / "log").read_text()
                if "Running on local URL" in text:
                    break
                assert server.poll() is None, text
                assert time.monotonic() < until, text
                time.sleep(0.2)
            yield Server(f"http://127.0.0.1:{port}", server.pid)
        finally:
            server.kill()
            server.wait()


def chromium() -> str | None:
    """Where Chromium is, if it is."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@dataclass
class Visitor:
    """A browser's page, and what went wrong in it."""

    page: Any
    metric: str
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)

    def arrive(self, address: str) -> None:
        """Open the page and note what it says and asks for."""
        said = {"error", "warning"}
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in said else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._note(request, address))
        self.page.set_default_timeout(WAIT)
        self.page.goto(address)
        self.page.get_by_role("button", name="Compute", exact=True).wait_for()

    def _note(self, request: Any, address: str) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            self.outside.append(request.url)
        self.sent.append(len(request.post_data_buffer or b""))

    def click(self, name: str) -> None:
        """Press a button that fills in an example, and wait for what it brings."""
        self._press(self.page.get_by_role("button", name=name, exact=True))

    def compute(self) -> dict[str, Any]:
        """Compute, and the scores the page then shows."""
        self._press(self.page.locator(".tox-compute:visible"))
        return self.scores()

    def _press(self, button: Any) -> None:
        """Press, and wait until the spinner over the result has come and gone."""
        self.page.evaluate(
            """() => {
              window.done = false;
              const spinner = document.querySelector('#tox-result > .wrap');
              let busy = false;
              new MutationObserver((_, observer) => {
                if (!spinner.classList.contains('hide')) busy = true;
                else if (busy) { window.done = true; observer.disconnect(); }
              }).observe(spinner, {attributes: true, attributeFilter: ['class']});
            }"""
        )
        button.click()
        self.page.wait_for_function("window.done")
        self.page.wait_for_timeout(100)

    def scores(self) -> dict[str, Any]:
        """The scores in the table."""
        cells = self.page.locator("#tox-result td[data-key]").evaluate_all(
            "cells => cells.map(cell => [cell.dataset.key, cell.dataset.value, cell.innerText])"
        )
        for _, value, shown in cells:
            number = float(value)
            wanted = "undefined" if number != number else f"{number:.4f}" if "." in value else f"{int(value):,}"
            assert shown == wanted
        return {key: float(value) if "." in value or "n" in value else int(value) for key, value, _ in cells}

    def upload(self, name: str, content: bytes) -> str:
        """Choose a file; what the page says to it."""
        self.page.evaluate("document.querySelectorAll('.tox-message .prose').forEach(e => e.firstChild?.remove())")
        self.page.locator("#tox-upload input").set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        )
        message = self.page.locator(":is(.tox-good, .tox-error):visible").first
        message.wait_for()
        text: str = message.inner_text()
        return text

    def saved(self, name: str) -> Any:
        """What a download button saves."""
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=f"Download {name}").click()
        return json.loads(Path(download.value.path()).read_text())

    def copied(self) -> str:
        """What the copy button of the code copies."""
        self.page.locator("#tox-code button[aria-label*='opy'], #tox-code button[title*='opy']").first.click()
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text


def file_of(rows: list[dict[str, Any]], ending: str) -> bytes:
    """Rows as a file of each kind."""
    if ending == "json":
        return json.dumps(rows).encode()
    if ending == "jsonl":
        return "\n".join(map(json.dumps, rows)).encode()
    if ending == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer)
        return buffer.getvalue()
    flat = [dict(_flat(row)) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, flat[0])
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue().encode()


def _flat(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, item in row.items():
        for field_, value in item.items() if isinstance(item, dict) else [("", item)]:
            key = f"{name}.{field_}" if field_ else name
            yield key, " ".join(map(str, value)) if isinstance(value, list) else value
