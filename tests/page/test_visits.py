"""All five pages in a browser, as they go on the Hub: what a visitor sees, does, takes away and can verify."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import toxeval as command
from pages import Visitor, file_of, serving
from samples import SAMPLES, Sample, columns

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

#: metric -> what to choose for an option, and what it then is.
OPTIONS: dict[str, tuple[str, Any, Any]] = {
    "conda_joint": ("zero_division", "1.0", 1.0),
    "sold_macro_f1": ("zero_division", "nan", float("nan")),
    "oracle_collab": ("review_fractions", "0.1", [0.1]),
    "dia_safety_rate": ("verdicts", "two-way", "two-way"),
    "threat_f1": ("threshold", "0.9", 0.9),
}
#: A way of calling each metric.
VISITED = [s for s in SAMPLES if s.id in ("threat_f1-scores", *(m for m in OPTIONS if m != "threat_f1"))]
LEVEL = {"confidence_level": 0.95}
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 50
SCRIPT = "<img src=x onerror=window.hacked=1>"


#: Visits of all pages, half a minute each, and one that takes seconds.
ALL = [pytest.param(sample, False, marks=pytest.mark.slow, id=sample.metric) for sample in VISITED]
ALL += [pytest.param(sample, True, id="in a hurry") for sample in VISITED if sample.metric == "sold_macro_f1"]


@pytest.mark.parametrize(("sample", "in_a_hurry"), ALL)
def test_a_visit(
    sample: Sample, in_a_hurry: bool, browser: Any, published: Callable[[str], Path], tmp_path: Path, hf_home: Path
) -> None:
    """One visit does everything: starting a page takes longer than most of it."""
    with serving(published(sample.metric), tmp_path / "server", hf_home, alone=True) as server:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        visitor = Visitor(context.new_page(), server, sample.metric)
        visitor.arrive()
        sees_an_example(visitor)
        if not in_a_hurry:
            pastes_and_takes_away(visitor, sample, tmp_path)
            brings_files(visitor, sample)
            says_which_column_is_which(visitor, sample)
            is_refused(visitor, sample)
            gives_numbers_by_name(visitor)
            uses_the_keyboard_alone(visitor, sample)
            has_a_phone_and_likes_it_dark(visitor)
        means_harm(visitor)
        assert visitor.complaints == []
        assert visitor.outside == []
        context.close()
        assert server.left() == []


def wanted(sample: Sample, rows: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
    result: dict[str, Any] = sample.load().compute(**columns(rows), **options)
    return result


def without_bounds(result: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in result.items() if not (k.endswith(("_low", "_high")) and k.rpartition("_")[0] in result)}


def same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return {k: repr(v) for k, v in found.items()} == {k: repr(v) for k, v in expected.items()}


def sees_an_example(visitor: Visitor) -> None:
    """The page opens with rows, their scores and their picture; the card is folded below the tool."""
    page, at_first = visitor.page, visitor.scores()
    assert len(at_first) > 3
    first = page.locator(".tox-card strong").first.inner_text()
    assert first == f"{next(iter(at_first.values())):.4f}"
    assert first in visitor.status()
    image = page.locator(".tox-picture img")
    assert image.evaluate("image => image.complete && image.naturalWidth > 300")
    assert len(image.get_attribute("alt")) > 20
    assert page.get_by_text("offensive language").first.is_visible()
    assert not page.get_by_role("heading", name="Metric Card").is_visible()
    assert visitor.barriers() == []
    assert not visitor.stale()
    for number in range(page.locator("[data-example]").count()):
        page.locator(f"[data-example='{number}']").click()
        page.wait_for_function("!document.querySelector('#tox-result.tox-stale')")
        seen = visitor.scores()
        assert same(visitor.compute(), seen)
    page.locator("[data-example='0']").click()
    page.wait_for_function("!document.querySelector('#tox-result.tox-stale')")


def pastes_and_takes_away(visitor: Visitor, sample: Sample, folder: Path) -> None:
    """What is saved verifies; lines of Python and of the command, and the endpoint, give the same."""
    rows, page = sample.complete[:30], visitor.page
    visitor.paste(file_of(rows, "tsv").decode())
    assert visitor.stale()
    assert "Compute again" in visitor.status()
    option, value, given = OPTIONS[sample.metric]
    visitor.choose(option, value)
    result = wanted(sample, rows, **LEVEL, **{option: given})
    assert same(visitor.compute(), without_bounds(result))
    assert not visitor.stale()
    key = next(iter(result))
    assert f"{result[f'{key}_low']:.4f} – {result[f'{key}_high']:.4f}" in page.inner_text("#tox-result")

    home = folder / "taken"
    home.mkdir()
    for name in ("rows.tsv", "result.json", "result.md", "result.tex", "result.csv"):
        (home / name).write_bytes(visitor.saved(name))
    page.locator(".tox-picture img").wait_for()
    assert visitor.saved("picture.png").startswith(b"\x89PNG")
    assert b"<svg" in visitor.saved("picture.svg")
    assert command("verify", "result.json", "--predictions", "rows.tsv", cwd=home).status == 0
    saved = json.loads((home / "result.json").read_bytes())
    first, second = (shlex.split(line) for line in visitor.code("As a command").splitlines())
    assert command(*first[1:-2], cwd=home).json() == saved
    assert command(*second[1:], cwd=home).status == 0
    names: dict[str, Any] = {}
    code = visitor.code("In Python").replace("open_table('", f"open_table('{home}/")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)
    assert same(names["scores"], result)
    signature = saved["signature_short"]
    assert f"Signature: `{signature}`" in (home / "result.md").read_text()
    assert f"% signature: {signature}" in (home / "result.tex").read_text()
    table = list(csv.DictReader((home / "result.csv").read_text().splitlines()))
    assert {row["score"]: row["value"] for row in table} == {k: repr(v) for k, v in without_bounds(result).items()}

    from gradio_client import Client

    client = Client(visitor.server.address, verbose=False, download_files=False)
    options = {option: None if given != given else given, **LEVEL}
    assert client.predict(columns(rows), options, api_name="/score") == saved


def brings_files(visitor: Visitor, sample: Sample) -> None:
    """Files of every kind are read, and scored from the start."""
    rows = sample.complete[:100]
    result = without_bounds(wanted(sample, rows, **LEVEL))
    visitor.arrive()
    for ending in ("csv", "semicolons", "json", "jsonl", "parquet"):
        name = "rows.csv" if ending == "semicolons" else f"my rows.{ending}"
        assert f"{len(rows)} rows" in visitor.upload(name, file_of(rows, ending))
        assert visitor.stale() or ending == "csv"
        assert same(visitor.compute(), result)
        assert f"--predictions '{name}'" in visitor.code("As a command") or " " not in name
    assert not visitor.page.locator("#tox-text").is_visible()
    visitor.page.get_by_role("button", name="Remove the file").click()
    assert visitor.stale()
    assert visitor.page.locator("#tox-text").is_visible()


def says_which_column_is_which(visitor: Visitor, sample: Sample) -> None:
    """Rows under other names, or without any, are scored once the visitor has chosen."""
    rows = sample.complete[:20]
    names, *cells = csv.reader(io.StringIO(file_of(rows, "csv").decode()))
    result = without_bounds(wanted(sample, rows, **LEVEL))
    foreign = [f"y{i}" for i in range(len(names))]
    for header, columns_, text in (
        (foreign, foreign, "with a header"),
        (None, [f"column {i}" for i in range(1, len(names) + 1)], "without a header"),
    ):
        lines = io.StringIO()
        csv.writer(lines).writerows([header, *cells] if header else cells)
        said = visitor.paste(lines.getvalue())
        assert f"{text}: {len(rows)} rows" in said
        assert "no such column" in said or "predictions" not in names  # of an optional input nothing has to be said
        assert visitor.compute() == {}
        said = visitor.pick(**{name.replace(".", "__"): column for name, column in zip(names, columns_)})
        assert "no such column" not in said
        assert same(visitor.compute(), result)
        saved = json.loads(visitor.saved("result.json"))
        assert saved["columns"] == dict(zip(names, columns_))
        file = visitor.server.folder / "rows.csv"
        (visitor.server.folder / "result.json").write_text(json.dumps(saved))
        file.write_bytes(visitor.saved("rows.csv"))
        assert command("verify", "result.json", "--predictions", "rows.csv", cwd=visitor.server.folder).status == 0
        file.unlink()


def is_refused(visitor: Visitor, sample: Sample) -> None:
    """What is wrong is said beside the input, in one sentence with rows as they are seen; nothing old stays."""
    rows = sample.complete[:10]
    name = next(reversed(rows[1]))
    bad = [dict(row) for row in rows]
    bad[1][name] = {"intent": "WRONG", "slots": []} if isinstance(bad[1][name], dict) else "WRONG"
    visitor.paste(file_of(rows, "csv").decode())
    assert visitor.compute()
    visitor.paste(file_of(bad, "csv").decode())
    assert visitor.compute() == {}
    assert visitor.message().startswith(f"Row 2, {name}")
    assert "; allowed: " in visitor.message()
    visitor.paste(file_of(rows, "csv").decode())
    assert visitor.message() == ""
    assert visitor.compute()
    for file, content, said in (
        ("notes.txt", b"x", "notes.txt: this kind of file isn't read here; allowed: .json, .jsonl"),
        ("rows.csv", PNG, "not UTF-8"),
        ("rows.parquet", b"PAR1", "not a whole Parquet file"),
        ("rows.json", b"[{", "line 1: broken JSON at character"),
    ):
        assert said in visitor.upload(file, content)
        assert visitor.scores() == {}
        assert visitor.compute() == {}
        assert said in visitor.message()
    large, before = visitor.server.folder / "rows.csv", sum(visitor.sent)
    large.write_bytes(b"x" * 30_000_000)
    assert visitor.upload("rows.csv", large) == "rows.csv: 30.0 MB; allowed: up to 10 MB."
    assert sum(visitor.sent) - before < 10_000  # it wasn't even sent
    visitor.choose("n_resamples", "1000000")
    visitor.upload("rows.csv", file_of(rows, "csv"))
    assert visitor.compute() == {}
    assert visitor.message() == "Number of resamples: 1000000; allowed: up to 5000 here."
    assert visitor.page.locator("#tox-n_resamples").get_attribute("aria-invalid") == "true"
    visitor.choose("n_resamples", "100")
    assert visitor.compute()


def gives_numbers_by_name(visitor: Visitor) -> None:
    """Sliders and small boxes write into the option's own box; chances that are all 0 are none."""
    if visitor.metric != "oracle_collab":
        return
    visitor.arrive()
    page, box = visitor.page, visitor.page.locator("#tox-moderator_error")
    page.locator("[data-part-of=moderator_error]").first.focus()
    page.keyboard.press("ArrowRight")
    assert box.input_value() == "false_positive=0.01, false_negative=0"
    page.keyboard.press("ArrowLeft")
    assert box.input_value() == ""
    page.get_by_text("More options").click()
    for part, cost in zip(page.locator("[data-part-of=costs]").all(), ("1", "2", "5.5"), strict=True):
        part.fill(cost)
    assert page.locator("#tox-costs").input_value() == "review=1, false_positive=2, false_negative=5.5"
    assert visitor.compute()["cost_at_cheapest"] > 0


def uses_the_keyboard_alone(visitor: Visitor, sample: Sample) -> None:
    """From the first Tab to the download."""
    page = visitor.page
    visitor.arrive()

    def tab_to(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(f"document.activeElement.matches({selector!r})"):
                shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert shown == "solid" or "#tox-file" in selector
                return
        raise AssertionError(f"Tab never comes to {selector}")

    tab_to("#tox-text")
    page.keyboard.press("Control+A")
    rows = sample.complete[:3]
    page.keyboard.insert_text(file_of(rows, "csv").decode())
    page.locator(".tox-good", has_text="3 rows").wait_for()
    tab_to("#tox-file")
    tab_to("select[data-column]")
    radios = page.locator("#tox-options > fieldset")
    if radios.count():
        tab_to("#tox-options > fieldset input")
        before = page.evaluate("document.activeElement.value")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.value") != before
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.value") == before
    tab_to("[data-option=confidence_level]")
    tab_to("summary")
    tab_to(".tox-compute")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#tox-status').textContent.startsWith('Result of 3 rows')")
    tab_to("[data-file='result.json']")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert json.loads(Path(download.value.path()).read_text())["n_rows"] == 3


def has_a_phone_and_likes_it_dark(visitor: Visitor) -> None:
    """Nothing is out of reach at 390 pixels; the page moves to the result; enough contrast in the dark."""
    page = visitor.page
    for theme in ("light", "dark"):
        visitor.arrive(f"/?__theme={theme}")
        page.get_by_text("About this metric").click()
        page.get_by_role("heading", name="Metric Card").wait_for()
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") == width
            for inside in (".tox-columns :is(input, select, textarea, button)", ".tox-card-text *"):
                right = "all => Math.max(...all.map(each => each.getBoundingClientRect().right))"
                assert page.locator(inside).evaluate_all(right) <= width
        assert visitor.barriers() == []
    page.evaluate("scrollTo(0, 0)")
    visitor.compute()
    page.wait_for_function("Math.abs(document.querySelector('#tox-step-3').getBoundingClientRect().top) < 100")
    image = page.locator(".tox-picture img")
    image.wait_for()
    assert image.evaluate("image => image.naturalWidth") < 1100  # nothing stands side by side
    page.set_viewport_size({"width": 1280, "height": 900})


def means_harm(visitor: Visitor) -> None:
    """What a visitor types or sends is text wherever it is shown."""
    page = visitor.page
    visitor.paste(f"predictions,{SCRIPT}\n{SCRIPT},{SCRIPT}\n")
    visitor.compute()
    visitor.upload(f"../../{SCRIPT}.csv", f"{SCRIPT};predictions\n1;{SCRIPT}\n".encode())
    visitor.compute()
    visitor.choose("confidence_level", SCRIPT)
    visitor.compute()
    assert visitor.message() == "Confidence level: a text of 35 characters; allowed: above 0 and below 1."
    assert page.locator(".tox-columns img").count() == 0
    assert page.evaluate("window.hacked") is None
