"""All five pages in a browser: what a visitor sees is what ``compute`` returns, and nothing leaves the machine."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import Visitor, file_of, serving
from samples import SAMPLES, Sample, columns

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

#: metric -> another example; what to choose for an option, and what it then is.
ELSEWHERE = {
    "conda_joint": ("Everything O", "1", {"zero_division": 1.0}),
    "sold_macro_f1": ("Words of 5 posts", "nan", {"zero_division": float("nan")}),
    "oracle_collab": ("Overconfident", "0.1, 0.5", {"review_fractions": (0.1, 0.5)}),
    "dia_safety_rate": ("A safety classifier", "count", {"invalid": "count"}),
    "threat_f1": ("60 labels", "0.9", {"threshold": 0.9}),
}
#: A way of calling each metric.
VISITED = [s for s in SAMPLES if s.id in ("threat_f1-scores", *(m for m in ELSEWHERE if m != "threat_f1"))]
LEVEL = {"confidence_level": 0.95}


@pytest.fixture
def visitor(
    browser: Any, request: pytest.FixtureRequest, tmp_path: Path, checkout: Path, hf_home: Path
) -> Iterator[Any]:
    sample: Sample = request.param
    with serving(checkout / "metrics" / sample.metric / "app.py", tmp_path / "server", hf_home) as server:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        visitor = Visitor(context.new_page(), sample.metric)
        visitor.arrive(server.address)
        yield visitor
        context.close()


def wanted(metric: str, inputs: dict[str, Any], **options: Any) -> dict[str, Any]:
    result = toxeval.load(metric).compute(**inputs, **options)
    assert result is not None
    return result


def without_bounds(result: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in result.items() if not (k.endswith(("_low", "_high")) and k.rpartition("_")[0] in result)}


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return {k: repr(v) for k, v in found.items()} == {k: repr(v) for k, v in expected.items()}


@pytest.mark.parametrize("visitor", VISITED, indirect=True, ids=lambda sample: sample.metric)
def test_a_visit(visitor: Visitor, tmp_path: Path, checkout: Path) -> None:
    """One visit does everything: starting a page takes longer than all of it."""
    page, sample = visitor.page, next(s for s in VISITED if s.metric == visitor.metric)
    example, value, option = ELSEWHERE[sample.metric]

    # The page opens with an example, its scores and its picture, and is usable with a keyboard and by ear.
    at_first = visitor.scores()
    assert len(at_first) > 3
    assert_a_picture_is_seen(page)
    assert page.locator(".tox-card strong").count() >= 2
    assert page.get_by_text("offensive language").first.is_visible()
    page.get_by_role("heading", name="Metric Card").wait_for()
    assert "sdk_version" not in page.inner_text("body")
    assert nameless(page) == []
    assert visitor.compute().keys() == at_first.keys()
    assert same(visitor.scores(), at_first)
    assert_the_code_agrees(visitor, tmp_path / "first", checkout)

    # Another example at a click.
    visitor.click(example)
    assert not same(visitor.scores(), at_first)
    assert_the_code_agrees(visitor, tmp_path / "second", checkout)

    # Files of every kind go into the table, and their scores are those of `compute`.
    rows = sample.complete[:100]
    inputs = columns(rows)
    page.reload()
    page.get_by_role("button", name="Paste rows or upload a file").click()
    for ending in ("csv", "jsonl", "json", "parquet"):
        assert f"rows.{ending}: {len(rows)} rows, now in the table" in visitor.upload(
            f"rows.{ending}", file_of(rows, ending)
        )
        assert same(visitor.compute(), without_bounds(wanted(sample.metric, inputs, **LEVEL)))
    result = wanted(sample.metric, inputs, **LEVEL)
    saved = visitor.saved("result.json")
    assert same(saved["scores"], result)
    assert (saved["metric"], saved["options"], saved["n_rows"]) == (
        f"metrics/{sample.metric}/{sample.metric}.py",
        LEVEL,
        len(rows),
    )
    key = next(iter(result))
    assert f"{result[f'{key}_low']:.4f} – {result[f'{key}_high']:.4f}" in page.inner_text("#tox-result")

    # What is pasted works alike.
    page.get_by_label("Pasted rows").fill(file_of(rows[:1] * 3, "csv").decode())
    page.get_by_role("button", name="Put into the table").click()
    page.get_by_text("Pasted: 3 rows, now in the table.").wait_for()
    visitor.upload("rows.json", file_of(rows, "json"))

    # Options change the result.
    page.get_by_role("button", name="More options").click()
    choose(page, next(iter(option)), value)
    assert same(visitor.compute(), without_bounds(wanted(sample.metric, inputs, **LEVEL, **option)))
    choose(page, "confidence_level", "none")
    assert same(visitor.compute(), wanted(sample.metric, inputs, **option))
    assert_the_code_agrees(visitor, tmp_path / "third", checkout)

    # What is wrong is said beside the input, in one sentence, and the page goes on.
    bad = [dict(row) for row in rows]
    name = next(reversed(bad[1]))
    bad[1][name] = {"intent": "WRONG", "slots": []} if isinstance(bad[1][name], dict) else "WRONG"
    visitor.upload("bad.csv", file_of(bad, "csv"))
    visitor.compute()
    message = page.locator(".tox-error:visible").inner_text()
    assert message.startswith(f"Row 2, {name}")
    assert "; allowed: " in message
    assert page.locator("#tox-result").inner_text() == "No result: see the message beside the input."
    for file, content, said in (
        ("notes.txt", b"x", "This kind of file isn't read here; allowed: .json, .jsonl, .csv, .tsv, .parquet."),
        ("rows.json", b"[{", "Not a whole JSON document (line 1)."),
        ("rows.parquet", b"PAR1", "Not a whole Parquet file."),
        ("rows.csv", b"text\nx\n", "None of the columns"),
    ):
        assert said in visitor.upload(file, content)
    before = sum(visitor.sent)
    assert visitor.upload("rows.csv", b"x" * 10_000_001) == "10.0 MB are more than this page takes; allowed: 10 MB."
    assert sum(visitor.sent) - before < 10_000  # it wasn't even sent
    choose(page, "confidence_level", "95 %")
    visitor.upload("rows.json", file_of(rows, "json"))
    assert same(visitor.compute(), without_bounds(wanted(sample.metric, inputs, **LEVEL, **option)))
    assert page.locator(".tox-error:visible").count() == 0

    # More rows than a table can show are scored from the file.
    many = rows * (1500 // len(rows))
    assert f"{len(many):,} rows with" in visitor.upload("many.parquet", file_of(many, "parquet"))
    assert page.locator("#tox-table").is_hidden()
    assert same(visitor.compute(), without_bounds(wanted(sample.metric, columns(many), **LEVEL, **option)))
    assert_the_code_agrees(visitor, tmp_path / "fourth", checkout)
    page.get_by_role("button", name="Remove the file").click()
    page.locator("#tox-table").wait_for()

    # A phone in the dark.
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate("document.body.classList.add('dark')")
    assert_a_picture_is_seen(page)

    # With the keyboard alone.
    page.get_by_role("button", name=example).focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#tox-result td[data-key]').innerText")
    assert reachable(page) == []

    assert visitor.complaints == []
    assert visitor.outside == []
    left = [path for path in (tmp_path / "server" / "temporary").rglob("*") if path.is_file()]
    assert [path for path in left if path.stat().st_size] == []


def choose(page: Any, option: str, value: str) -> None:
    control = page.locator(f"#tox-option-{option}")
    control.wait_for()
    if control.get_by_role("radio").count():
        control.get_by_role("radio", name=value, exact=True).check()
    else:
        control.locator("input, textarea").fill(value)
        page.keyboard.press("Tab")


def assert_a_picture_is_seen(page: Any) -> None:
    seen = page.locator("#tox-picture img:visible")
    assert seen.count() == 1
    assert seen.evaluate("image => image.complete && image.naturalWidth > 300")
    assert len(seen.get_attribute("alt")) > 20


def nameless(page: Any) -> list[str]:
    """Controls without a name."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('input, textarea, select, button')]
          .filter(e => e.offsetParent && !e.closest('[aria-hidden=true]'))
          .filter(e => !(e.labels?.length || e.ariaLabel || e.title || e.innerText?.trim()
                         || e.getAttribute('aria-labelledby')))
          .map(e => e.outerHTML.slice(0, 200))"""
    )
    return found


def reachable(page: Any) -> list[str]:
    """Buttons and inputs the Tab key never comes to."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('.tox-columns :is(input, textarea, button)')]
          .filter(e => e.offsetParent && !e.closest('#tox-table') && e.tabIndex < 0)
          .map(e => e.outerHTML.slice(0, 200))"""
    )
    return found


def assert_the_code_agrees(visitor: Visitor, folder: Path, checkout: Path) -> None:
    """The copied code, run in a folder with nothing but what the page says it needs, gives the page's numbers."""
    folder.mkdir()
    (folder / "metrics").symlink_to(checkout / "metrics")
    code = visitor.copied()
    if "inputs.json" in code:
        (folder / "inputs.json").write_text(json.dumps(visitor.saved("inputs.json")))
    names: dict[str, Any] = {}
    here = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
    finally:
        os.chdir(here)
    assert same(visitor.scores(), without_bounds(names["scores"]))
    assert same(visitor.saved("result.json")["scores"], names["scores"])
