"""The demo page every metric shows: rows in, scores, intervals, picture and code out. Each `app.py` fills it in.

A file is read in the visitor's browser and travels with the request: nothing of it is written here.
Tables and files wait in queues of their own, so that a few large files don't keep anybody with a table waiting.
"""

import base64
import binascii
import csv
import io
import json
import os
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # read when gradio is imported

import gradio as gr

from toxeval.page.cells import MAX_BYTES, TABLE_ROWS, Refused, cell_of
from toxeval.page.controls import Option
from toxeval.page.files import Columns, pick, read_file, refuse_twice, too_large
from toxeval.page.look import RECEIVE_JS, ROW_JS, SHOW_JS, UPLOAD_HTML
from toxeval.page.page import Page
from toxeval.page.results import SAVE_JS, card_text, columns_hint, message_html

NOTE = (
    "This metric scores systems that detect offensive language. Labels and scores are all it needs: please leave the "
    "texts themselves out. Nothing you enter is stored; the server forgets it within a minute."
)


def build(page: Page) -> gr.Blocks:
    """The page, filled with its first example."""
    first = page.example(0)
    n_controls = len(page.controls)
    result_at_first = first[1 + n_controls :]
    with gr.Blocks(title=f"{page.name}: {page.title}", analytics_enabled=False, delete_cache=(600, 600)) as demo:
        gr.HTML(
            f"<h1>{escape(page.title)}</h1><p>{escape(page.question)}</p><p class='tox-warning'>{escape(NOTE)}</p>",
            elem_classes="tox-head",
        )
        with gr.Row(equal_height=False, elem_classes="tox-columns"):
            with gr.Column(scale=5, min_width=320):
                gr.HTML("<h2 class='tox-step'>1. Rows</h2>")
                with gr.Row(elem_classes="tox-examples"):
                    examples = [gr.Button(example.name, size="sm", min_width=140) for example in page.examples]
                gr.HTML(f"<p class='tox-hint'>{escape(columns_hint(page.kinds, page.required))}</p>")
                with gr.Column() as table_group:
                    table = _table(page, first[0])
                    with gr.Row():
                        add_row = gr.Button("Add a row", size="sm", min_width=120)
                        clear = gr.Button("Clear the table", size="sm", min_width=120)
                with gr.Column(visible=False) as file_group:
                    file_text = gr.HTML()
                    remove = gr.Button("Remove the file", size="sm")
                rows_error = gr.HTML(result_at_first[0], elem_classes="tox-message")
                with gr.Accordion("Paste rows or upload a file", open=False):
                    upload = gr.HTML("", html_template=UPLOAD_HTML, js_on_load=RECEIVE_JS, elem_id="tox-upload")
                    file_message = gr.HTML(elem_classes="tox-message")
                    pasted = gr.Textbox(
                        label="Pasted rows", info="CSV with a header, JSON or JSON lines.", lines=4, max_lines=8
                    )
                    with gr.Row():
                        put = gr.Button("Put into the table", size="sm")
                        as_csv = gr.Button("Example as CSV", size="sm")
                        as_json = gr.Button("Example as JSON", size="sm")
                gr.HTML("<h2 class='tox-step'>2. Options</h2>")
                controls = _controls(page, first[1 : 1 + n_controls])
                options_error = gr.HTML(result_at_first[1], elem_classes="tox-message")
                score_table = gr.Button("Compute", variant="primary", elem_classes="tox-compute")
                score_file = gr.Button(
                    "Compute from the file", variant="primary", visible=False, elem_classes="tox-compute"
                )
            with gr.Column(scale=6, min_width=320):
                gr.HTML("<h2 class='tox-step'>3. Result</h2>")
                scores = gr.HTML(result_at_first[2], elem_id="tox-result")
                picture = gr.HTML(result_at_first[3], elem_id="tox-picture")
                code = gr.Code(
                    result_at_first[4],
                    language="python",
                    label="The same numbers in Python",
                    interactive=False,
                    max_lines=24,
                    elem_id="tox-code",
                )
                downloads = gr.HTML(result_at_first[5], js_on_load=SAVE_JS)
        gr.Markdown(
            card_text((page.folder / "README.md").read_text(encoding="utf-8")),
            latex_delimiters=[],
            elem_classes="tox-card-text",
        )

        outputs = [rows_error, options_error, scores, picture, code, downloads]
        sources = [table, upload, file_group, file_text, table_group, score_table, score_file, file_message]

        def private(**given: Any) -> dict[str, Any]:
            return {"api_visibility": "private", "queue": False, **given}

        for number, button in enumerate(examples):
            button.click(
                lambda number=number: [*_source(page.example(number)[0]), *page.example(number)[1:]],
                outputs=[*sources, *controls, *outputs],
                show_progress_on=[scores],
                **private(),
            )
        add_row.click(None, table, table, js=ROW_JS, **private())
        clear.click(lambda: [[""] * len(page.columns)], outputs=table, **private())
        upload.upload(lambda sent: _received(page, sent), upload, sources, concurrency_id="file", **private(queue=True))
        put.click(lambda text: _pasted(page, text), pasted, sources, concurrency_id="file", **private(queue=True))
        remove.click(lambda: _source(gr.skip()), outputs=sources, **private())
        as_csv.click(lambda: _as_csv(page), outputs=pasted, **private())
        as_json.click(lambda: _as_json(page), outputs=pasted, **private())
        score_table.click(
            lambda frame, *shown: _computed(page, lambda: _columns(page, frame), shown),
            [table, *controls],
            outputs,
            api_name="compute",
            api_description="Scores of the rows of a table.",
            concurrency_id="table",
            concurrency_limit=2,
            show_progress_on=[scores],
        ).then(None, js=SHOW_JS, **private())
        score_file.click(
            lambda sent, *shown: _computed(page, lambda: _sent(page, sent)[1], shown),
            [upload, *controls],
            outputs,
            concurrency_id="file",
            concurrency_limit=1,
            show_progress_on=[scores],
            **private(queue=True),
        ).then(None, js=SHOW_JS, **private())
    return demo.queue(max_size=100)


# --- parts --------------------------------------------------------------------------------------------------------


def _table(page: Page, rows: list[list[str]]) -> gr.Dataframe:
    return gr.Dataframe(
        rows,
        headers=page.columns,
        column_count=len(page.columns),
        datatype="str",
        label=f"Rows for {page.name}",
        show_label=False,
        interactive=True,
        show_row_numbers=True,
        max_height=320,
        buttons=[],
        elem_id="tox-table",
    )


def _controls(page: Page, shown: list[Any]) -> list[Any]:
    components: list[Any] = []
    pairs = list(zip(page.controls, shown))
    with gr.Group():
        components += [_control(option, value) for option, value in pairs if not option.more]
    with gr.Accordion("More options", open=False):
        components += [_control(option, value) for option, value in pairs if option.more]
    return components


def _control(option: Option, value: Any) -> Any:
    common = {"label": option.label, "info": option.info or None, "elem_id": f"tox-option-{option.name}"}
    if option.kind == "choice":
        return gr.Radio([label for label, _ in option.choices], value=value, **common)
    if option.kind == "flag":
        return gr.Checkbox(value, **common)
    if option.kind in ("number", "whole"):
        return gr.Number(value, step=1 if option.kind == "whole" else 0.05, **common)
    return gr.Textbox(value, max_lines=1, **common)


# --- rows ---------------------------------------------------------------------------------------------------------


def _source(rows: Any, *, sent: str = "", text: str = "", message: str = "") -> list[Any]:
    """Values for the page's ``sources``: rows in the table, or a file (``sent``) in place of it."""
    large = bool(sent)
    return [
        rows,
        sent,
        gr.update(visible=large),
        f"<p class='tox-good' role='status'>{escape(text)}</p>" if large else "",
        gr.update(visible=not large),
        gr.update(visible=not large),
        gr.update(visible=large),
        message,
    ]


def _filled(page: Page, name: str, columns: Columns, sent: str) -> list[Any]:
    """Few rows go into the table, where they can be changed; many are scored from what was sent."""
    n = len(next(iter(columns.values())))
    if n <= TABLE_ROWS:
        cells = [[cell_of(cell) for cell in columns.get(column, [""] * n)] for column in page.columns]
        text = f"{name}: {n:,} row{'s' * (n != 1)}, now in the table."
        message = f"<p class='tox-good' role='status'>{escape(text)}</p>"
        return _source([list(row) for row in zip(*cells)], message=message)
    if not sent:
        raise Refused("file", f"{n:,} pasted rows; allowed: {TABLE_ROWS:,}, or {'a file'} with more.")
    text = f"{name}: {n:,} rows with {', '.join(columns)}. They are scored from the file instead of the table."
    return _source(gr.skip(), sent=sent, text=text)


def _sent(page: Page, sent: str) -> tuple[str, Columns]:
    """Name and columns of the file that the browser sent."""
    try:
        file = json.loads(sent)
        name, size, content = str(file["name"]), int(file["size"]), base64.b64decode(file["data"], validate=True)
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        raise Refused("file", "The file didn't arrive whole; please choose it again.") from None
    if size > MAX_BYTES:
        raise Refused("file", too_large(size))
    return name, read_file(name, content, page.columns)


def _received(page: Page, sent: str) -> list[Any]:
    try:
        return _filled(page, *_sent(page, sent), sent)
    except Refused as error:
        return _source(gr.skip(), message=message_html(str(error)))


def _pasted(page: Page, text: str) -> list[Any]:
    try:
        return _filled(page, "Pasted", read_file("", (text or "").encode(), page.columns), "")
    except Refused as error:
        return _source(gr.skip(), message=message_html(str(error)))


def _computed(page: Page, columns: Callable[[], Columns], shown: Sequence[Any]) -> list[Any]:
    outputs: list[Any]
    try:
        outputs = page.run(columns(), shown)
    except Refused as error:
        outputs = page.refused(error)
    return outputs


def _columns(page: Page, frame: Any) -> Columns:
    """The table's columns; the headers may be those of a CSV file dropped on it, or mere numbers."""
    headers = [str(name).strip() for name in frame.columns]
    if all(name.isdigit() or not name for name in headers):
        headers = page.columns
    try:
        refuse_twice(headers, page.columns)
        return pick({name: frame.iloc[:, i].tolist() for i, name in enumerate(headers[: frame.shape[1]])}, page.columns)
    except Refused as error:
        raise Refused("rows", str(error)) from None


def _as_csv(page: Page) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([page.columns, *page.example(0)[0]])
    return text.getvalue()


def _as_json(page: Page) -> str:
    rows = [dict(zip(page.columns, row)) for row in page.examples[0].rows]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
