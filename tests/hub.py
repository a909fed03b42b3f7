"""A Hub on 127.0.0.1: takes what `huggingface_hub` uploads, and serves it as `evaluate.load` asks for it."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


@dataclass
class Hub:
    """What a Hub knows.

    Attributes:
        endpoint: the address, for HF_ENDPOINT.
        repos: kind ("space", "dataset") and repository -> path -> content.
        created: what each repository was created with.
        requests: every request that came, as "METHOD path".
    """

    endpoint: str = ""
    repos: dict[tuple[str, str], dict[str, bytes]] = field(default_factory=dict)
    created: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def add_folder(self, kind: str, repo: str, folder: Path) -> None:
        """Put exactly a folder's files on the Hub."""
        files = [path for path in folder.rglob("*") if path.is_file()]
        self.repos[kind, repo] = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def answer(hub: Hub, method: str, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body for a request."""
    if match := re.fullmatch(r"/spaces/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
        repo, revision, file = match.groups()
        content = hub.repos.get(("space", repo), {}).get(file) if revision == "main" else None
        if content is None:
            return 404, {"X-Error-Code": "EntryNotFound"}, b"not found"
        return 200, {"ETag": f'"{hashlib.sha1(content).hexdigest()}"'}, content
    if path == "/api/repos/create":
        wanted = json.loads(body)
        repo = f"{wanted['organization']}/{wanted['name']}" if wanted.get("organization") else wanted["name"]
        hub.created[repo] = wanted
        hub.repos.setdefault((wanted["type"], repo), {})
        return 200, {}, json.dumps({"url": f"{hub.endpoint}/{wanted['type']}s/{repo}", "name": repo}).encode()
    if re.fullmatch(r"/api/(space|dataset)s/[^/]+/[^/]+/preupload/main", path):
        names = [file["path"] for file in json.loads(body)["files"]]
        files = [{"path": name, "uploadMode": "regular", "shouldIgnore": False, "oid": None} for name in names]
        return 200, {}, json.dumps({"files": files}).encode()
    if match := re.fullmatch(r"/api/(space|dataset)s/([^/]+/[^/]+)/commit/main", path):
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                hub.repos[match[1], match[2]][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        address = f"{hub.endpoint}/{match[1]}s/{match[2]}/commit/{'1' * 40}"
        done = {"commitUrl": address, "commitOid": "1" * 40, "success": True}
        return 200, {}, json.dumps(done).encode()
    if path == "/api/validate-yaml":
        return 200, {}, json.dumps({"errors": [], "warnings": []}).encode()
    return 404, {}, b"not found"


@contextmanager
def running() -> Iterator[Hub]:
    """A Hub, up while the block runs."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, content = answer(hub, self.command, self.path.partition("?")[0], body)
            self.send_response(status)
            for key, value in ({"Content-Length": str(len(content))} | headers).items():
                self.send_header(key, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_HEAD = do_POST = do_GET

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
