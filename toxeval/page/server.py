"""Serving a demo page in public: what is sent is limited, and what was sent is forgotten."""

import asyncio
import datetime
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from toxeval.page.cells import MAX_BYTES
from toxeval.page.look import CSS, theme

#: A file in a request grows by a third (base64).
MAX_REQUEST = MAX_BYTES * 4 // 3 + 1_000_000
#: Seconds after which Gradio's notes on a visit are dropped, and between looking for such.
FORGET_AFTER, FORGET_EVERY = 20, 5


class BodyLimit:
    """ASGI middleware that answers 413 to a request whose body is over `MAX_REQUEST`."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Pass the request on, or cut it short."""
        declared = dict(scope["headers"]).get(b"content-length", b"0") if scope["type"] == "http" else b"0"
        if not declared.isdigit() or int(declared) > MAX_REQUEST:
            headers = [(b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 413, "headers": headers})
            await send({"type": "http.response.body", "body": b"The request is too large."})
            return
        taken = 0

        async def limited() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= MAX_REQUEST else {"type": "http.disconnect"}

        await self.app(scope, limited, send)


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


def launch(demo: Any) -> Any:
    """Serve a page.

    Args:
        demo: of ``space.build``.
    """
    return demo.launch(
        theme=theme(),
        css=CSS,
        app_kwargs={"middleware": [(BodyLimit, (), {})], "lifespan": forgetting},
        max_file_size=1,  # Gradio's own uploads would be written to disk
        run_history=False,
        footer_links=["gradio"],
        ssr_mode=False,
        enable_monitoring=False,
        mcp_server=False,
    )
