"""What a page shows of a result, and that every page has every option of its metric."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import toxeval

pytest.importorskip("gradio", reason="gradio is not installed (the extra space)")

import space_results
from space_files import _places
from space_inputs import Refused

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


@pytest.fixture(scope="module", params=toxeval.METRICS)
def page(request: pytest.FixtureRequest, checkout: Path) -> Any:
    """What an ``app.py`` builds."""
    path = checkout / "metrics" / request.param / "app.py"
    spec = importlib.util.spec_from_file_location(f"app_of_{request.param}", path)
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    return app.page


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, and not turned into pixels."""

    def picture(draw: Any, description: str) -> str:
        draw()
        return description

    monkeypatch.setattr("space_page.picture_html", picture)


def table(page: Any, number: int) -> dict[str, list[Any]]:
    return dict(zip(page.columns, map(list, zip(*page.examples[number].rows))))


def test_every_input_and_option_of_the_metric_is_there_with_its_default(page: Any) -> None:
    for config in page.kinds:
        metric = toxeval.load(page.name, config)
        assert {column.partition(".")[0] for column in page.kinds[config]} == set(metric.inputs) - {"cluster"}
        own = {**metric.options, **metric.interval_options}
        own.pop("score_resolution", None)  # bounds the memory of more rows than a page takes
        assert {option.name for option in page.controls} - {"config_name"} == set(own)
        for option, shown in zip(page.controls, page.shown({})):
            if option.name not in ("config_name", "confidence_level"):
                assert repr(option.value(shown)) == repr(own[option.name])


def test_every_example_works_with_every_choice(page: Any, undrawn: None) -> None:
    for number, example in enumerate(page.examples):
        messages = page.example(number)[1 + len(page.controls) :][:2]
        assert messages == ["", ""], example.name
        for option in page.controls:
            for label, value in option.choices:
                if option.name == "config_name":
                    continue
                shown = page.shown({**example.options, option.name: value})
                outputs = page.run(table(page, number), shown)
                assert (label, outputs[:2]) == (label, ["", ""]) or "Option" in "".join(outputs[:2])


def test_a_refused_option_is_told_beside_the_options(page: Any) -> None:
    shown = page.shown({})
    at = [option.name for option in page.controls].index("n_resamples")
    shown[at] = 10**9
    rows, options, result, *rest = page.run(table(page, 0), shown)
    assert rows == ""
    assert "Resamples: this page takes a whole number from 1 to 5000." in options
    assert "No result" in result
    assert rest == ["", "", ""]


@pytest.mark.parametrize("page", ["dia_safety_rate"], indirect=True)
def test_a_missing_verdict_is_counted_once_and_the_code_says_so(page: Any, undrawn: None) -> None:
    cells = {"predictions": ["1", "1", "", "0"], "references": ["1", "0", "1", "0"], "categories": [""] * 4}
    rows, options, scores, _, code, _ = page.run(cells, page.shown({"invalid": "count"}))
    assert (rows, options) == ("", "")
    assert 'data-key="unsafe_rate_micro" data-value="0.5"' in scores
    assert 'data-key="n_invalid" data-value="1"' in scores
    assert "predictions=[1, 1, None, 0]," in code
    assert "Row 3, predictions: missing verdict (None)" in page.run(cells, page.shown({}))[0]


def test_the_table_is_read_by_its_headers(page: Any, undrawn: None) -> None:
    import pandas as pd
    import space

    def computed(headers: Sequence[Any]) -> list[Any]:
        frame = pd.DataFrame(page.example(0)[0]).set_axis(headers, axis=1)
        outputs: list[Any] = space._computed(page, lambda: space._columns(page, frame), page.shown({}))
        return outputs

    names = page.columns
    wanted = computed(names)
    assert wanted[:2] == ["", ""]
    assert computed(range(len(names))) == computed([f" {name}" for name in names]) == wanted
    assert computed([_places(name)[0][-1] for name in names]) == wanted  # prediction, labels, prediction_intent
    twice = computed([names[0], *names[:-1]])
    assert f"The column {names[0]} is there twice." in twice[0]
    assert (twice[1], twice[3:]) == ("", ["", "", ""])
    other = computed([f"other {name}" for name in names])  # in whatever order
    assert f"None of the columns {names[0]}, {names[1]}" in other[0]


def test_a_file_that_did_not_arrive_is_told_beside_the_rows(page: Any) -> None:
    import space

    for sent in ("", "{}", '{"name": "a.csv", "size": 1, "data": "?"}'):
        outputs = space._computed(page, lambda sent=sent: space._sent(page, sent)[1], page.shown({}))
        assert "arrive whole" in outputs[0]
        assert outputs[1] == ""


def test_what_tampered_requests_can_send(page: Any, undrawn: None) -> None:
    for i, option in enumerate(page.controls):
        for value in ({"a": 1}, ["x"], "__import__('os')", 10**400, None):
            shown = page.shown({})
            shown[i] = value
            outputs = page.run(table(page, 0), shown)
            assert len(outputs) == 6, option.name
    for cells in ([[]], ["<img src=x onerror=alert(1)>"], [{}], [10**400], [float("inf")]):
        columns = {**table(page, 0), page.columns[0]: cells}
        outputs = page.run(columns, page.shown({}))
        assert len(outputs) == 6
        assert "<img src=x" not in "".join(map(str, outputs[:3]))


def test_on_the_hub_the_code_loads_the_space(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", f"jane/{page.name}")
    code = page.run(table(page, 0), page.shown({}))[4]
    assert f'evaluate.load("jane/{page.name}")' in code


def test_modules_are_not_shadowed(page: Any) -> None:
    """A file of a Space named like a library it needs would stand in for it."""
    names = {path.stem for path in page.folder.glob("*.py")}
    assert not names & set(sys.stdlib_module_names)
    for name in names - {"plots"}:
        loaded = sys.modules.get(name)
        file = getattr(loaded, "__file__", None) or ""
        assert loaded is None or Path(file).resolve().parent in (page.folder, page.folder.parent)


def test_scores() -> None:
    result = {"f1": 0.5, "n": 1234, "auc": math.nan, "f1_low": 0.25, "f1_high": 0.75, "auc_low": math.nan}
    html = space_results.scores_html(result, {"f1": "F1 <b>"}, {"auc": "one class"}, 0.9, 1)
    assert "0.2500 – 0.7500" in html
    assert "F1 &lt;b&gt;" in html
    assert "1,234" in html
    assert "undefined" in html
    assert "One score is undefined" in html
    assert "90 % interval" in html
    assert 'data-key="f1_low"' not in html
    assert "All scores of 1 row<" in html
    assert "interval" not in space_results.scores_html({"f1": 0.5}, {}, {}, None, 2)


def test_the_code_is_python_whatever_the_inputs() -> None:
    inputs = {"predictions": [f'it\'s "{i}"\n' for i in range(30)], "scores": [0.1] * 30}
    options = {"zero_division": math.nan, "review_fractions": (0.1,), "targets": {"oc_accuracy": 0.9}}
    code = space_results.snippet("a\"b'", "token", inputs, options, 30)
    seen: dict[str, Any] = {}

    class Stand:
        @staticmethod
        def load(*given: Any) -> Any:
            seen["load"] = given
            return Stand

        @staticmethod
        def compute(**given: Any) -> None:
            seen.update(given)

    exec(code.replace("import evaluate", ""), {"evaluate": Stand})
    assert seen.pop("load") == ("a\"b'", "token")
    assert math.isnan(seen.pop("zero_division"))
    assert seen == {**inputs, "review_fractions": (0.1,), "targets": {"oc_accuracy": 0.9}}


def test_messages_are_text() -> None:
    assert "&lt;img" in space_results.message_html("unknown label '<img>'")
    assert space_results.message_html("") == ""
    assert space_results.card_text("---\na: b\n---\n\n# Card\n") == "# Card\n"
    assert space_results.card_text("# Card\n---\n") == "# Card\n---\n"
    assert isinstance(Refused("rows", "x"), ValueError)
