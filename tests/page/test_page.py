"""What a page answers, without a browser: reading, options, refusals in its words, files that verify."""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import toxeval as command
from pages import file_of
from samples import ONE_EACH, Sample, columns

import toxeval
from toxeval.core.declarations import Choice, Flag
from toxeval.core.refusals import Refusal, SayColumns, SetOption
from toxeval.page import results
from toxeval.page.controls import control, shown, values_of
from toxeval.page.rows import asked
from toxeval.page.words import sentence

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

SECRET = "a secret text of some visitor"


@pytest.fixture(scope="module", params=toxeval.METRICS)
def page(request: pytest.FixtureRequest, page_of: Callable[[str], Any]) -> Any:
    """What an ``app.py`` says of its page."""
    return page_of(request.param)


@pytest.fixture(scope="module")
def sold(page_of: Callable[[str], Any]) -> Any:
    return page_of("sold_macro_f1")


def a_file(name: str, content: bytes) -> dict[str, Any]:
    return {"file": {"name": name, "data": base64.b64encode(content).decode()}}


def parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


# --- what is on it ------------------------------------------------------------------------------------------------


def test_every_input_and_option_of_the_metric_is_there(page: Any) -> None:
    for config, definition in page.definitions.items():
        metric = toxeval.load(page.name, config)
        more = {"id", "groups"} | ({"human"} if definition.judged else set())
        assert {name.partition(".")[0] for name, _, _ in asked(definition)} == set(metric.inputs) | more
        own = {**metric.options, **metric.interval_options}
        own.pop("score_resolution", None)  # bounds the memory of more rows than a page takes
        assert set(page.controls) >= set(own)
        assert values_of(page.controls, {name: shown(page.controls[name], value) for name, value in own.items()}) == {}
    html = page.options_html(0)
    for name in page.controls:
        assert f'data-option="{name}"' in html


def test_every_example_works_with_every_choice(page: Any) -> None:
    for number, example in enumerate(page.examples):
        config, text = {"config_name": example.config}, example.text
        first = page.score({"text": text, "options": {"confidence_level": "0.95", "n_resamples": "50", **config}})
        assert "message" not in first, first
        assert "<img" in page.draw({"text": text, "options": config})["html"], number
        assert next(name for key, name in page.cards.items() if f'data-key="{key}"' in first["html"]) in first["status"]
        for option in page.controls.values():
            for value in option.choices if isinstance(option, Choice) else (False, True):
                if isinstance(option, (Choice, Flag)):
                    answer = page.score({"text": text, "options": {option.name: shown(option, value), **config}})
                    assert "html" in answer or answer["option"] == option.name or "score" in answer["message"], answer


def test_the_first_card_is_the_score_the_inputs_ask_for(page_of: Callable[[str], Any]) -> None:
    page = page_of("dia_safety_rate")
    labels, categories = ["Safe", "Unsafe"] * 5, ["Biased Opinion", "Risk Ignorance"] * 5
    table = {"predictions": labels, "references": labels, "categories": categories}
    for names, first in (
        (["predictions", "categories"], "unsafe, mean of categories"),
        (["predictions", "references"], "macro F1 of the classifier"),
        (["predictions", "references", "categories"], "macro F1 of the classifier"),
    ):
        given = {"text": json.dumps({name: table[name] for name in names})}
        assert page.score(given)["html"].partition('class="tox-card"><div>')[2].startswith(first)


# --- refusals -----------------------------------------------------------------------------------------------------


def test_refusals_in_the_words_of_the_page() -> None:
    where = {"metric": "m", "inputs": ("references",), "row": 17, "field": "slots", "position": 3}
    columns = SayColumns((("predictions", None),))
    for refusal, said in (
        (Refusal("None", allowed="NOT, OFF", inputs=("predictions",), row=0), "Row 1, predictions: None; allowed: NOT"),
        (Refusal("unknown slot '<PAD>'", **where), "Row 18, references, slots, position 4: unknown slot '<PAD>'."),
        (Refusal("2 and 3 rows", inputs=("a", "b")), "A and b: 2 and 3 rows."),
        (Refusal("1.5", option="threshold"), "Threshold: 1.5."),
        (Refusal("1 cells", file="r.csv", line=3, row=1), "r.csv: line 3: row 2: 1 cells."),
        (Refusal("x", hint=("pass ", SetOption("from_logits", True))), "X (pass choose yes for “From logits”)"),
        (Refusal("none", inputs=("moderator_labels",)), "moderator_labels: none."),
        (Refusal("none", hint=("say it with ", columns)), "None (say it with the choice beside predictions)"),
    ):
        assert sentence(refusal).startswith(said)


def test_rows_that_are_missing(sold: Any) -> None:
    for text in ("", " \n", None, 3):
        answer = sold.read({"text": text})
        assert answer["refused"]
        assert "There are no rows yet" in answer["html"]
        assert "There are no rows yet" in sold.score({"text": text})["message"]
    assert sold.score({"text": "predictions,references\n"})["message"].startswith("No rows (nothing but a header)")
    assert sold.score({"text": "predictions\nOFF\n"})["message"].startswith(
        "References: missing; allowed: one value a r"
    )
    assert sold.score({"text": "id,predictions,references\n1,OFF,OFF\n1,NOT,OFF\n"})["message"].startswith(
        "Id: rows 1 and 2 of the pasted text have the same one"
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows", b"predictions\nOFF", "rows: this kind of file isn't read here"),
        ("../../etc/rows.pkl", b"\x80\x04.", "rows.pkl: this kind of file isn't read here"),
        ("rows.csv", b"x" * 10_000_001, "rows.csv: 10.0 MB; allowed: up to 10 MB."),
        ("rows.csv", b"predictions\n\xff", "rows.csv: "),
        ("rows.csv", b"predictions,references\n" + b"OFF,OFF\n" * 100_001, "rows.csv: 100,"),
        ("rows.json", b'[{"predictions"', "rows.json: line 1: broken JSON"),
        ("rows.json", b"[" * 100_000, "rows.json: "),
        ("rows.json", b'{"predictions": 1, "predictions": 0}', "rows.json: "),
        ("rows.parquet", b"PAR1PAR1", "rows.parquet: not a whole Parquet file"),
        ("rows.parquet", lambda: parquet({"predictions": ["OFF"] * 100_001}), "rows.parquet: 100,001 rows"),
        ("rows.parquet", lambda: parquet({"predictions": ["x" * 50_000_000]}), "rows.parquet: "),
        ("rows.parquet", lambda: parquet({"predictions": [[1] * 2_000_001]}), "rows.parquet: "),
    ],
)
def test_bad_files_are_refused(sold: Any, name: str, content: Any, said: str) -> None:
    file = a_file(name, content if isinstance(content, bytes) else content())
    answer = sold.score(file)
    assert answer["message"].startswith(said)
    assert "/" not in answer["message"].replace("and/or", "")
    assert said.partition(":")[0] in sold.read(file)["html"]


def test_texts_are_never_quoted(sold: Any, page_of: Callable[[str], Any]) -> None:
    oracle = page_of("oracle_collab")
    for page, text in (
        (sold, f"predictions,references\n{SECRET},OFF\n"),
        (sold, f'predictions,references\n"[{SECRET}",OFF\n'),
        (oracle, f"predictions,references\n{SECRET},1\n"),
        (sold, f'[{{"{SECRET} {SECRET}": 1, "{SECRET}'),
        (sold, f"{SECRET} {SECRET}\n{SECRET}\n"),
    ):
        assert "secret" not in page.score({"text": text})["message"]


def test_a_file_that_did_not_arrive(sold: Any) -> None:
    for file in ({"name": "a.csv"}, {"name": "a.csv", "data": "?"}, {"data": ""}, "x", 3, [1]):
        assert "didn't arrive whole" in sold.score({"file": file})["message"]


def test_what_tampered_requests_can_send(page: Any) -> None:
    given = {"text": page.examples[0].text}
    for value in ({"a": 1}, ["x"], "__import__('os')", 10**400, None, math.inf, "<img src=x onerror=alert(1)>"):
        for name in (*page.controls, "answers", "aliases", "rule_part"):
            answer = page.score({**given, "options": {name: value}})
            assert "<img src=x" not in answer.get("html", "")
        for part in ("options", "columns", "header", "text", "file"):
            answer = page.score({**given, part: value})
            assert {"message", "html"} & set(answer)
            page.read({**given, part: value})
        for column in page.examples[0].columns:
            text = json.dumps({**page.examples[0].columns, column: [value]})
            assert "message" in page.score({"text": text})
    with pytest.raises(Refusal, match="option config_name: 'other'"):
        page.read({"options": {"config_name": "other"}})


# --- rows and results ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", ONE_EACH, ids=lambda sample: sample.metric)
def test_the_same_rows_give_the_same_file_by_every_road(
    sample: Sample, page_of: Callable[[str], Any], tmp_path: Path
) -> None:
    page, rows = page_of(sample.metric), sample.complete[:30]
    (tmp_path / "rows.csv").write_bytes(file_of(rows, "csv"))
    options = ["--confidence", "0.9", "--resamples", "50"]
    wanted = command("score", sample.metric, "--predictions", "rows.csv", *options, "--json", cwd=tmp_path).json()
    given = {"options": {"confidence_level": "0.9", "n_resamples": "50"}}
    for ending in ("csv", "semicolons", "tsv", "json", "jsonl"):
        answer = page.score({**given, "text": file_of(rows, ending).decode()})
        assert json.loads(answer["files"]["result.json"]) == wanted
    for ending in ("csv", "json", "jsonl", "parquet", "tsv"):
        answer = page.score({**given, **a_file(f"x.{ending}", file_of(rows, ending))})
        assert json.loads(answer["files"]["result.json"]) == wanted
    assert page.result(columns(rows), {"confidence_level": 0.9, "n_resamples": 50}) == wanted


def test_what_the_first_row_is(sold: Any) -> None:
    for text, header, read_as in (
        ("predictions,references\nOFF,NOT\n", None, "CSV, with a header: 1 row, 2 columns."),
        ("a\tb\nOFF\tNOT\n", None, "TSV, with a header: 1 row, 2 columns."),
        ("OFF,OFF\nOFF,NOT\n", None, "CSV, without a header: 2 rows, 2 columns."),
        ("1;x\n0;y\n", None, "CSV with semicolons, without a header: 2 rows, 2 columns."),
        ("OFF,NOT\nOFF,NOT\n", True, "CSV, with a header: 1 row, 2 columns."),
        ("a,b\nOFF,NOT\n", False, "CSV, without a header: 2 rows, 2 columns."),
        ('{"predictions": "OFF"}\n{"predictions": "NOT"}', None, "JSON Lines: 2 rows, 1 column."),
    ):
        html = sold.read({"text": text, "header": header})["html"]
        assert read_as in html
        assert ('id="tox-header" checked' in html) == ("with a header" in read_as)


def test_columns_that_the_visitor_says(sold: Any, page_of: Callable[[str], Any]) -> None:
    text = "a,b\nOFF,NOT\n"
    said = {"predictions": "a", "references": "b"}
    html = sold.read({"text": text, "columns": said})["html"]
    assert "<option selected>a</option>" in html
    assert "<option selected>b</option>" in html
    assert json.loads(sold.score({"text": text, "columns": said})["files"]["result.json"])["columns"] == said
    gone = sold.read({"text": text, "columns": {"predictions": "other"}})["html"]
    assert "no such column" in gone
    conda = page_of("conda_joint")
    rows = '{"guess": {"intent": "E", "slots": ["T"]}, "references": {"intent": "E", "slots": ["T"]}}'
    html = conda.read({"text": rows, "columns": {"predictions": "guess"}})["html"]
    assert "<option selected>guess.slots</option>" in html
    dia = page_of("dia_safety_rate")
    rows = "predictions,references,categories\nSafe,Safe,Biased Opinion\n"
    html = dia.score({"text": rows, "columns": {"categories": ""}})["html"]
    assert "f1_macro_by_category" not in html


def test_rows_without_names_can_be_saved_with_them(sold: Any) -> None:
    columns = {"predictions": "column 1", "references": "column 2"}
    answer = sold.score({"text": "OFF;NOT\nOFF;OFF", "columns": columns})
    assert answer["rows"] == {"name": "rows.csv", "header": "column 1;column 2\n"}
    answer = sold.score({"text": '[{"predictions": "OFF", "references": "OFF"}]'})
    assert answer["rows"] == {"name": "rows.json", "header": ""}
    answer = sold.score(a_file("own.csv", b"predictions,references\nOFF,OFF\n"))
    assert answer["rows"] == {"name": "own.csv", "header": ""}
    assert 'data-file="own.csv"' not in answer["html"]


@pytest.mark.parametrize("config", ["default", "token"])
def test_the_lines_of_python_give_the_same(sold: Any, config: str, tmp_path: Path) -> None:
    cell = ["OFF NOT", "NOT OFF"] if config == "token" else ["OFF", "NOT"]
    text = f"predictions,references\n{cell[0]},{cell[1]}\n{cell[1]},{cell[1]}\n"
    (tmp_path / "rows.csv").write_text(text)
    options = {"config_name": config, "zero_division": "nan", "detailed": True}
    answer = sold.score({"text": text, "options": options})
    code = results_code(answer["html"]).replace("'rows.csv'", repr(str(tmp_path / "rows.csv")))
    names: dict[str, Any] = {}
    exec(code, names)
    assert repr(names["scores"]) == repr(sold_scores(answer))


@pytest.mark.parametrize("sample", ONE_EACH, ids=lambda sample: sample.metric)
def test_groups_of_rows(sample: Sample, page_of: Callable[[str], Any], tmp_path: Path) -> None:
    """By the page, the command, a program, and the lines of Python."""
    page = page_of(sample.metric)
    rows = [row | {"team": ("x", "y", "<b>")[i % 3]} for i, row in enumerate((sample.complete * 40)[:60])]
    text = file_of(rows, "csv").decode()
    (tmp_path / "rows.csv").write_text(text)
    run = [
        "score",
        sample.metric,
        "--predictions",
        "rows.csv",
        "--by",
        "team",
        "--confidence",
        "0.9",
        "--resamples",
        "20",
    ]
    wanted = command(*run, "--json", cwd=tmp_path).json()
    given = {"text": text, "columns": {"groups": "team"}, "options": {"confidence_level": "0.9", "n_resamples": "20"}}
    reading = page.read(given)["html"]
    assert "<option selected>team</option>" in reading
    answer = page.score(given)
    assert json.loads(answer["files"]["result.json"]) == wanted
    assert "&lt;b&gt;" in answer["html"]
    assert "<b>" not in answer["html"]
    assert "--by team" in answer["html"]
    assert "gap of" in answer["files"]["result.md"]
    assert "picture.png" in page.draw(given)["files"]
    options = {"confidence_level": 0.9, "n_resamples": 20, "groups": "team"}
    assert page.result({name: [row[name] for row in rows] for name in rows[0]}, options) == wanted
    names: dict[str, Any] = {}
    exec(results_code(answer["html"]).replace("'rows.csv'", repr(str(tmp_path / "rows.csv"))), names)
    assert repr(names["scores"]) == repr(sold_scores(answer))


@pytest.mark.parametrize("name", ["human", "truth"])
@pytest.mark.parametrize("metric", ["dia_safety_rate", "sold_macro_f1", "threat_f1"])
def test_human_labels_of_some_rows(metric: str, name: str, page_of: Callable[[str], Any], tmp_path: Path) -> None:
    """A column called so is taken for them, another one if the visitor says so; as by the command, and verified."""
    page = page_of(metric)
    no, yes = page.definitions["default"].input("references").labels
    verdicts = [yes if i % 7 < 2 else no for i in range(120)]
    labels = ["" if i % 3 else yes if i % 6 == 0 and i % 7 < 3 else no for i in range(120)]
    kinds = [("Biased Opinion", "Risk Ignorance")[i % 2] for i in range(120)]
    rows = "".join(f"{v},{y},{c}\n" for v, y, c in zip(verdicts, labels, kinds))
    text = f"predictions,{name},categories\n{rows}"
    (tmp_path / "rows.csv").write_text(text)
    said = {} if name == "human" else {"human": name}
    given = {"text": text, "columns": said, "options": {"confidence_level": "0.9"}}
    options = ["--columns", f"human={name}", "--confidence", "0.9"]
    wanted = command("score", metric, "--predictions", "rows.csv", *options, "--json", cwd=tmp_path).json()
    reading = page.read(given)["html"]
    assert 'data-column="human"' in reading
    assert f"<option selected>{name}</option>" in reading
    assert 'data-column="references"' not in reading
    answer = page.score(given)
    assert json.loads(answer["files"]["result.json"]) == wanted
    assert answer["html"].partition('class="tox-card"><div>')[2].startswith("corrected rate")
    assert "corrected rate" in answer["status"]
    assert f"human={name}" in answer["html"]
    assert "picture.png" in page.draw(given)["files"]
    (tmp_path / "result.json").write_text(answer["files"]["result.json"])
    assert command("verify", "result.json", "--predictions", "rows.csv", cwd=tmp_path).out.startswith("match")
    names: dict[str, Any] = {}
    exec(results_code(answer["html"]).replace("'rows.csv'", repr(str(tmp_path / "rows.csv"))), names)
    assert repr(names["scores"]) == repr(sold_scores(answer))
    for option, value in {"zero_division": "1.0", "detailed": True}.items():
        answer = page.score({**given, "options": {option: value}})
        assert (answer["option"], "a corrected rate doesn't depend on it" in answer["message"]) == (option, True)
    both = page.score({**given, "columns": {**said, "groups": "categories"}})
    assert both["message"] == "Groups: groups and human labels; allowed: one of them."
    if name == "human":
        columns = {"predictions": verdicts, "human": [y or None for y in labels], "categories": kinds}
        assert page.result(columns, {"confidence_level": 0.9})["scores"] == wanted["scores"]
        plain = page.read({"text": text, "columns": {"human": ""}})["html"]
        assert 'data-column="references"' in plain


def test_human_labels_beside_references_are_nothing_that_was_asked_for(page_of: Callable[[str], Any]) -> None:
    rows = {"predictions": ["OFF", "NOT"] * 30, "references": ["OFF", "NOT"] * 30}
    beside = rows | {"human": ["OFF", "NOT"] * 30}
    page = page_of("sold_macro_f1")
    assert page.result(beside, {}) == page.result(rows, {})


def results_code(html: str) -> str:
    import html as entities

    block = html.partition('id="tox-code-0"')[2].partition("<pre")[2].partition(">")[2]
    return entities.unescape(block.partition("</pre>")[0])


def sold_scores(answer: dict[str, Any]) -> dict[str, Any]:
    scores = json.loads(answer["files"]["result.json"])["scores"]
    return {key: math.nan if value is None else value for key, value in scores.items()}


def test_answers_of_a_language_model(sold: Any, tmp_path: Path) -> None:
    text = 'predictions,references\n**OFF**,OFF\n"I can\'t, really",NOT\nclean,NOT\n'
    assert sold.score({"text": text})["message"].startswith("Row 1, predictions: unknown label '**OFF**'")
    options = {"invalid": "exact", "aliases": "clean=NOT"}
    answer = sold.score({"text": text, "options": options})
    saved = json.loads(answer["files"]["result.json"])
    assert saved["scores"]["n_invalid"] == 1
    assert saved["answers"] == {"rule": "exact", "aliases": {"clean": "NOT"}}
    (tmp_path / "rows.csv").write_text(text)
    (tmp_path / "result.json").write_text(answer["files"]["result.json"])
    assert command("verify", "result.json", "--predictions", "rows.csv", cwd=tmp_path).status == 0
    names: dict[str, Any] = {}
    exec(results_code(answer["html"]).replace("'rows.csv'", repr(str(tmp_path / "rows.csv"))), names)
    assert repr(names["scores"]) == repr(sold_scores(answer))
    columns = {"predictions": ["**OFF**", "I can't, really", "clean"], "references": ["OFF", "NOT", "NOT"]}
    options = {"answers": "exact", "aliases": {"clean": "NOT"}, "invalid": "count"}
    assert sold.result(columns, options) == saved
    assert sold.score({"text": text, "options": {"invalid": "regex:PATTERN", "rule_part": "("}})["message"].startswith(
        "Answers: not a regular expression"
    )


def test_a_program_is_refused_what_it_asks_wrongly(sold: Any) -> None:
    columns = {"predictions": ["OFF", "UNK"], "references": ["OFF", "NOT"]}
    for given, options, said in (
        (columns, {}, r"predictions\[1\]: unknown label 'UNK'; allowed: NOT, OFF"),
        (columns, {"threshold": 1}, "option threshold: unknown; allowed: "),
        (columns, {"config_name": "other"}, "option config_name: 'other'"),
        ({"predictions": ["OFF"]}, {}, "references: missing"),
        ({}, {}, "predictions: no such column"),
        ({"predictions": "OFF", "references": 3}, {}, r"references\[0\]: unknown label 3"),
    ):
        with pytest.raises(Refusal, match=said):
            sold.result(given, options)


def test_what_is_shown_is_text(sold: Any) -> None:
    option = Choice("a_b", "<b>", "<i>", choices=("<i>", "x"))
    assert "<i>" not in control(option, "<i>")
    assert "<b>" not in control(option, "<i>")
    assert "<img" not in results.note_html("<img>")
    html = sold.read({"text": "<img>,references\n<img>,<img>\n"})["html"]
    assert "<img>" not in html
