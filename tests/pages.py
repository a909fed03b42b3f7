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
#: Patience on a busy machine.
WAIT = 60_000


@dataclass(frozen=True)
class Server:
    """A page that runs here.

    Attributes:
        address: where.
        pid: its process.
        folder: for its temporary files and the log.
    """

    address: str
    pid: int
    folder: Path

    def left(self) -> list[Path]:
        """Files that it has written and that aren't empty."""
        files = [path for path in (self.folder / "temporary").rglob("*") if path.is_file()]
        return [path for path in files if path.stat().st_size]


@contextmanager
def serving(app: Path, folder: Path, home: Path, python: str = sys.executable, alone: bool = False) -> Iterator[Server]:
    """A page that runs while the context is open.

    Args:
        app: its ``app.py``.
        folder: for temporary files and the log.
        home: Hugging Face's caches.
        python: the interpreter.
        alone: whether it can't import toxeval, as in a Space.
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
        "PYTHONUNBUFFERED": "1",  # a file gets what the server says at once
    }
    program = "import runpy, sys; sys.modules['toxeval'] = None; sys.path.insert(0, '')\n"
    program += "runpy.run_path('app.py', run_name='__main__')"
    command = [python, "-c", program] if alone else [python, "app.py"]
    with open(folder / "log", "w+") as log:
        server = subprocess.Popen(command, env=environment, cwd=app.parent, stdout=log, stderr=log)
        try:
            until = time.monotonic() + 180
            while True:
                text = (folder / "log").read_text()
                if "Running on local URL" in text:
                    break
                assert server.poll() is None, text
                assert time.monotonic() < until, text
                time.sleep(0.1)
            yield Server(f"http://127.0.0.1:{port}", server.pid, folder)
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
    server: Server
    metric: str
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)

    def arrive(self, path: str = "/") -> None:
        """Open the page, and note what it says and asks for from now on."""
        if not self.sent:
            said = {"error", "warning"}
            self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in said else None)
            self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
            self.page.on("request", self._note)
            self.page.set_default_timeout(WAIT)
        self.page.goto(self.server.address + path)
        self.page.locator(".tox-picture img").wait_for()

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.server.address, "data:", "blob:")):
            self.outside.append(request.url)
        self.sent.append(len(request.post_data_buffer or b""))

    def paste(self, text: str) -> str:
        """Put a text into the box; how it was read."""
        return self._read(lambda: self.page.locator("#tox-text").fill(text))

    def upload(self, name: str, content: bytes | Path) -> str:
        """Choose a file, a large one from where it is; how it was read."""
        file: Any = content
        if isinstance(content, bytes):
            file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        return self._read(lambda: self.page.locator("#tox-file").set_input_files(file))

    def pick(self, **columns: str) -> str:
        """Say which columns are what (``predictions__slots`` is a field); how the rows are then read."""
        text = ""
        for name, column in columns.items():
            box = self.page.locator(f'[data-column="{name.replace("__", ".")}"]')
            text = self._read(lambda box=box, column=column: box.select_option(column))
        return text

    def _read(self, act: Any) -> str:
        act()
        self.page.wait_for_function("document.querySelector('#tox-reading').ariaBusy !== 'true'")
        text: str = self.page.locator("#tox-message").inner_text() or self.page.locator("#tox-reading").inner_text()
        return text

    def choose(self, option: str, value: str | bool) -> None:
        """Set an option."""
        control = self.page.locator(f'[data-option="{option}"]')
        if not control.first.is_visible():
            self.page.locator("#tox-options summary").click()
        if isinstance(value, bool):
            control.set_checked(value)
        elif control.first.get_attribute("type") == "radio":
            self.page.locator(f'[data-option="{option}"][value="{value}"]').check()
        elif control.evaluate("e => e.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)

    def compute(self) -> dict[str, Any]:
        """Compute, and the scores the page then shows, with the ends of their intervals; {} if it refuses."""
        self.page.get_by_role("button", name="Compute", exact=True).click()
        self.page.wait_for_function("document.querySelector('form').ariaBusy !== 'true'")
        return self.scores()

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

    def message(self) -> str:
        """What the page refuses."""
        text: str = self.page.locator("#tox-message").inner_text()
        return text

    def status(self) -> str:
        """What the live region says."""
        text: str = self.page.locator("#tox-status").inner_text()
        return text

    def stale(self) -> bool:
        """Whether the page says that its numbers are of other rows, and takes the downloads away."""
        marked = self.page.locator("#tox-result.tox-stale").count() == 1
        kept = self.page.locator("#tox-result button").count()
        assert marked == (kept == 0)
        return marked

    def saved(self, name: str) -> bytes:
        """What a button saves."""
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=name, exact=True).click()
        assert download.value.suggested_filename == name
        return Path(download.value.path()).read_bytes()

    def code(self, title: str) -> str:
        """Lines that the page shows, and copies."""
        block = self.page.locator(f"h3:text-is('{title}') + .tox-code")
        block.get_by_role("button", name="Copy").click()
        text: str = block.locator("pre").inner_text()
        copied = self.page.evaluate("navigator.clipboard.readText()")
        assert copied.split() == text.split()
        return str(copied)

    def barriers(self) -> list[str]:
        """What axe finds of serious or critical barriers."""
        if not self.page.evaluate("'axe' in window"):
            import axe_playwright_python

            self.page.evaluate((Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {each['nodes'][0]['html']}"
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]


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
    writer = csv.DictWriter(text, flat[0], delimiter={"tsv": "\t", "csv": ",", "semicolons": ";"}[ending])
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue().encode()


def _flat(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, item in row.items():
        for field_, value in item.items() if isinstance(item, dict) else [("", item)]:
            key = f"{name}.{field_}" if field_ else name
            yield key, " ".join(map(str, value)) if isinstance(value, list) else value
