"""A page as a Gradio app: one form with code of its own in the browser, one endpoint for programs, the card below."""

import asyncio
import os
import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported

import gradio as gr

from toxeval.core.refusals import Refusal
from toxeval.page.form import form_html
from toxeval.page.look import theme
from toxeval.page.page import Page
from toxeval.page.script import SCRIPT
from toxeval.page.server import Doors, forgetting

#: Bytes from which on rows wait in a line of their own, so that a few large files don't keep everybody waiting.
MANY = 200_000


def serve(page: Page, name: str) -> gr.Blocks:
    """The app of a page, which runs if that is what Python was started with.

    Args:
        page: the page, whose first example is computed while nobody has come yet.
        name: of the module, ``__name__``.
    """
    demo = _build(page)
    if name == "__main__":
        warnings.simplefilter("ignore")  # what a metric warns of is on the page
        threading.Thread(target=partial(page.example, 0, False), daemon=True).start()
        demo.launch(
            theme=theme(),
            app_kwargs={"middleware": [(Doors, (), {})], "lifespan": forgetting},
            run_history=False,
            footer_links=["api", "gradio"],
            ssr_mode=False,
            enable_monitoring=False,
            mcp_server=False,
        )
    return demo


def _build(page: Page) -> gr.Blocks:
    lines = {kind: asyncio.Semaphore(n) for kind, n in {"few": 2, "many": 1, "draw": 1}.items()}

    async def in_line(kind: str, work: Callable[..., Any], *about: Any) -> Any:
        async with lines[kind]:
            return await asyncio.to_thread(work, *about)

    def size(given: Any) -> str:
        if not isinstance(given, dict):
            raise gr.Error("A question has rows and options.")
        file = given.get("file")
        data = file.get("data") if isinstance(file, dict) else given.get("text")
        return "many" if isinstance(data, str) and len(data) > MANY else "few"

    async def read(given: Any) -> Any:
        return await in_line(size(given), page.read, given)

    async def score(given: Any) -> Any:
        return await in_line(size(given), page.score, given)

    async def draw(given: Any) -> Any:
        return await in_line("many" if size(given) == "many" else "draw", page.draw, given)

    async def example(given: Any) -> Any:
        number = range(len(page.examples))[int(given["number"])]
        return await in_line("draw", page.example, number, given["narrow"] is True)

    async def result(columns: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await in_line("few", page.result, columns, options)
        except Refusal as refusal:
            raise gr.Error(str(refusal), print_exception=False) from None
        return answer

    inputs = ", ".join(dict.fromkeys(i.name for each in page.definitions.values() for i in each.inputs))
    with gr.Blocks(title=f"{page.name}: {page.title}", analytics_enabled=False, delete_cache=(600, 600)) as demo:
        functions = [read, score, draw, example]
        gr.HTML(form_html(page), js_on_load=SCRIPT, server_functions=functions, apply_default_css=False)
        with gr.Accordion("About this metric: its card", open=False):
            gr.Markdown(page.card, latex_delimiters=[], elem_classes="tox-card-text")
        gr.api(
            result,
            api_name="score",
            api_description=(
                f"Scores some rows with {page.name}. columns: a list of values for each of {inputs}. options: those of "
                "compute in Python; config_name; groups, a column of names; answers, a rule by which predictions are "
                "read as labels, and aliases. Gives what `toxeval score --json` writes."
            ),
            concurrency_limit=8,
        )
    return demo.queue(max_size=100)
