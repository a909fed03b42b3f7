"""The folders with invented source files, and a web server for the download tests."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sources import CONDA, DIA, REPLIES, SOLD, jigsaw, write

from toxeval.data import load_dataset


@pytest.fixture
def conda(tmp_path: Path) -> Path:
    return write(tmp_path / "conda", CONDA)


@pytest.fixture
def sold(tmp_path: Path) -> Path:
    return write(tmp_path / "sold", SOLD)


@pytest.fixture
def dia(tmp_path: Path) -> Path:
    return write(tmp_path / "dia", {**DIA, **REPLIES})


@pytest.fixture
def kaggle(tmp_path: Path) -> Path:
    return write(tmp_path / "jigsaw", jigsaw())


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def real_conda(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return load_dataset("conda", data_dir=shared / "data" / "conda", cache_dir=tmp_path_factory.mktemp("conda"))


@dataclass
class Site:
    """What the server gives out: path -> body; `cut` bodies break off half-way, `unsized` ones without a length."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict, repr=False)  # real ones too: not for a failure report
    cut: set[str] = field(default_factory=set)
    unsized: bool = False
    asked: list[str] = field(default_factory=list)

    def serve(self, folder: Path, prefix: str = "") -> None:
        self.files.update({f"/{prefix}{path.name}": path.read_bytes() for path in folder.iterdir() if path.is_file()})


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def do_GET(self) -> None:
            site.asked.append(self.path)
            self.answer(with_body=True)

        def answer(self, with_body: bool) -> None:
            body = site.files.get(self.path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            cut = self.path in site.cut
            if not (cut and site.unsized):
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if with_body:
                self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site.url = f"http://127.0.0.1:{server.server_port}/"
    yield site
    server.shutdown()
    server.server_close()
