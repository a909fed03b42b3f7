"""Serving a page in public: few doors, limits on what comes in, and nothing kept of what came."""

import asyncio
import datetime
import re
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from toxeval.page.rows import LIMITS

#: A file in a request grows by a third (base64).
MAX_REQUEST = (LIMITS.bytes or 0) * 4 // 3 + 1_000_000
#: Seconds after which Gradio's notes on a visit are dropped, and between looking for such.
FORGET_AFTER, FORGET_EVERY = 20, 5
#: What of Gradio a page needs. All else is closed: uploads, links that write a visit to disk, files, other functions.
DOORS = {
    "GET": re.compile(
        r"/|/(config|theme\.css|favicon\.ico|manifest\.json|robots\.txt|(assets|static)/.*)"
        r"|/gradio_api/(info|app_id|startup-events|queue/data|heartbeat/\w+|call/score/\w+)/?"
    ),
    "POST": re.compile(r"/gradio_api/(queue/join|call/score|call/v2/score|component_server|reset)/?"),
}


class Doors:
    """ASGI middleware that lets through what a page needs, as JSON of up to `MAX_REQUEST` bytes."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Pass the request on, or turn it away."""
        status, why = _turned_away(scope) if scope["type"] == "http" else (0, b"")
        if not status:
            await self.app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": why})


def _turned_away(scope: MutableMapping[str, Any]) -> tuple[int, bytes]:
    """With which status, and why; 0 for what is let through."""
    headers = dict(scope["headers"])
    method, size = scope["method"].replace("HEAD", "GET"), headers.get(b"content-length", b"")
    if method not in DOORS or not DOORS[method].fullmatch(scope["path"]):
        return 404, b"There is nothing here."
    if method == "GET":
        return 0, b""
    if not size.isdigit():
        return 411, b"A request says how long it is."
    if int(size) > MAX_REQUEST:
        return 413, b"The request is too large."
    if not headers.get(b"content-type", b"").startswith(b"application/json"):
        return 415, b"JSON is wanted."
    return 0, b""


def forget(holder: Any, before: datetime.datetime) -> None:
    """Drop what Gradio keeps of visits that were quiet since then.

    It keeps the last value of every input and output of a visit, for links that reproduce a page. This page needs none
    of that: a browser sends all that counts each time.

    Args:
        holder: Gradio's ``StateHolder``.
        before: visits last active before are dropped.
    """
    with holder.lock:
        for session, last in list(holder.time_last_used.items()):
            if last < before:
                holder.time_last_used.pop(session, None)
                holder.session_data.pop(session, None)


@asynccontextmanager
async def forgetting(app: Any) -> AsyncIterator[None]:
    """For as long as the server runs, `forget`."""

    async def sweep() -> None:
        while True:
            await asyncio.sleep(FORGET_EVERY)
            forget(app.state_holder, datetime.datetime.now() - datetime.timedelta(seconds=FORGET_AFTER))

    task = asyncio.create_task(sweep())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
