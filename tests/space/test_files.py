"""Files become cells; what is no use is refused in one sentence, without the visitor's text."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import KINDS, file_of
from samples import ONE_EACH, columns

space_inputs = pytest.importorskip("space_inputs")

from inputs import LABEL, SCORE, SEQUENCE  # noqa: E402
from space_files import read_file  # noqa: E402
from space_inputs import MAX_BYTES, MAX_ROWS, Refused, cell_of, inputs_of  # noqa: E402


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("sample", ONE_EACH, ids=lambda sample: sample.metric)
def test_every_kind_of_file_gives_the_same_inputs(sample: Any, ending: str) -> None:
    kinds = KINDS[sample.metric]
    content = file_of(sample.complete, "csv" if ending == "tsv" else ending)
    if ending == "tsv":
        content = content.replace(b",", b"\t")
    wanted = columns(sample.complete)
    if sample.metric == "conda_joint":
        fields = ("intent", "slots")
        wanted = {name: {f: [item[f] for item in items] for f in fields} for name, items in wanted.items()}
    cells = read_file(f"rows.{ending}", content, list(kinds))
    assert inputs_of(cells, kinds, ["predictions"]) == wanted
    shown = {column: [cell_of(cell) for cell in values] for column, values in cells.items()}
    assert inputs_of(shown, kinds, ["predictions"]) == wanted  # by way of the table
    if ending in ("csv", "json", "jsonl", "tsv"):
        assert read_file("", content, list(kinds)) == cells  # pasted


@given(st.lists(st.floats(0, 1) | st.just(1e-300), min_size=1), st.data())
def test_scores_survive_every_format_to_the_last_bit(scores: list[float], data: st.DataObject) -> None:
    rows = [{"predictions": score, "references": 1} for score in scores]
    ending = data.draw(st.sampled_from(["csv", "json", "jsonl", "parquet"]))
    cells = read_file(f"rows.{ending}", file_of(rows, ending), ["predictions", "references"])
    shown = {"predictions": list(map(cell_of, cells["predictions"])), "references": cells["references"]}
    kinds = {"predictions": SCORE, "references": LABEL}
    assert inputs_of(shown, kinds, [])["predictions"] == scores


def test_columns_as_an_object_and_as_records() -> None:
    wanted = {"predictions.intent": ["E", "O"], "predictions.slots": [["T"], []]}
    for document in (
        {"predictions": {"intent": ["E", "O"], "slots": [["T"], []]}},
        {"predictions": [{"intent": "E", "slots": ["T"]}, {"intent": "O", "slots": []}]},
        [{"predictions": {"intent": "E", "slots": ["T"]}}, {"predictions": {"intent": "O", "slots": []}}],
        [{"predictions_intent": "E", "predictions_slots": ["T"]}, {"predictions_intent": "O", "predictions_slots": []}],
    ):
        assert read_file("a.json", json.dumps(document).encode(), list(wanted)) == wanted


def test_class_labels_of_datasets_come_by_name(tmp_path: Path) -> None:
    import datasets

    features = datasets.Features(
        {
            "predictions": datasets.ClassLabel(names=["OFF", "NOT"]),  # not the metric's order
            "references": datasets.Sequence(datasets.ClassLabel(names=["OFF", "NOT"])),
        }
    )
    data = datasets.Dataset.from_dict({"predictions": [0, 1], "references": [[0, 1], []]}, features=features)
    data.to_parquet(tmp_path / "rows.parquet")
    content = (tmp_path / "rows.parquet").read_bytes()
    assert read_file("rows.parquet", content, ["predictions", "references"]) == {
        "predictions": ["OFF", "NOT"],
        "references": [["OFF", "NOT"], []],
    }


@pytest.mark.parametrize("before_4", [False, True])
def test_class_labels_in_lists_come_by_name_whoever_wrote_them(before_4: bool) -> None:
    label = {"names": ["OFF", "NOT"], "_type": "ClassLabel"}
    listed = [label] if before_4 else {"feature": label, "_type": "List"}
    rows = {"predictions": [[0, 1, 1], []], "references": [[{"a": 0}], [{"a": 1}]], "label": [{"a": [1]}, {"a": [0]}]}
    features = {"predictions": listed, "references": [{"a": label}], "label": {"a": listed}}
    cells = read_file("a.parquet", parquet_of_datasets(rows, features), ["predictions"])
    assert cells == {"predictions": [["OFF", "NOT", "NOT"], []]}
    records = {"predictions": rows["label"]}
    content = parquet_of_datasets(records, {"predictions": features["label"]})
    assert read_file("a.parquet", content, ["predictions.a"]) == {"predictions.a": [["NOT"], ["OFF"]]}


def test_class_labels_without_a_name_are_refused() -> None:
    label = {"names": ["OFF", "NOT"], "_type": "ClassLabel"}
    for cells, feature in (([1, 2], label), ([1, -2], label), ([[0], [0, 2]], [label]), ([[0], [0, -100]], [label])):
        content = parquet_of_datasets({"predictions": cells}, {"predictions": feature})
        with pytest.raises(Refused, match=r"^Row 2, predictions: class label -?\d+ has no name; allowed: 0 to 1\.$"):
            read_file("a.parquet", content, ["predictions"])
    content = parquet_of_datasets({"predictions": [0, -1]}, {"predictions": label})
    assert read_file("a.parquet", content, ["predictions"]) == {"predictions": ["OFF", None]}


def parquet_of_datasets(columns: dict[str, Any], features: dict[str, Any]) -> bytes:
    """What ``datasets`` writes, of any version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), buffer)
    return buffer.getvalue()


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, **options)
    return buffer.getvalue()


def deep_parquet(depth: int) -> bytes:
    import pyarrow as pa

    kind: Any = pa.int64()
    value: Any = 1
    for _ in range(depth):
        kind, value = pa.list_(kind), [value]
    return parquet({"predictions": pa.array([value], kind)})


def twice_in_parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([0])], ["predictions"] * 2), buffer)
    return buffer.getvalue()


SECRET = "a secret text of some visitor"
BAD_FILES = {
    "no ending": ("rows", b"predictions\nOFF", "This kind of file"),
    "program": ("rows.py", b"print(1)", "This kind of file"),
    "pickle": ("rows.pkl", b"\x80\x04.", "This kind of file"),
    "too large": ("rows.csv", b"x" * (MAX_BYTES + 1), "10.0 MB are more than this page takes; allowed: 10 MB."),
    "not UTF-8": ("rows.csv", b"predictions\n\xff", r"Not a text in UTF-8 \(at byte 13\)"),
    "empty": ("rows.csv", b"", "None of the columns predictions is there; found: no columns"),
    "only a header": ("rows.csv", b"predictions\n", "0 rows; allowed: 1 to 100,000"),
    "other columns": ("rows.csv", b"text,gold\nx,y\n", "None of the columns predictions is there; found: text, gold"),
    "ragged": ("rows.csv", b"predictions,b\nOFF,1\nOFF\n", "Line 3: 1 cells; the header has 2"),
    "open quote": ("rows.csv", b'predictions\n"OFF', "is not CSV"),
    "JSON cut short": ("rows.json", b'[{"predictions"', r"Not a whole JSON document \(line 1\)"),
    "JSON of a number": ("rows.json", b"3", "neither a list of rows nor an object of columns"),
    "JSON of lists": ("rows.json", b"[[1]]", "neither a list of rows nor an object of columns"),
    "deep JSON": ("rows.json", b"[" * 100_000, "Not a whole JSON document"),
    "long number": ("rows.json", b"[" + b"9" * 5000 + b"]", "Not a whole JSON document|neither a list"),
    "JSON lines": ("rows.jsonl", b'{"predictions": 1}\n{', "Not a whole JSON document"),
    "many columns": ("rows.json", json.dumps([{str(i): i for i in range(101)}]).encode(), "101 columns; allowed: 100"),
    "not Parquet": ("rows.parquet", b"PAR1PAR1", "Not a whole Parquet file"),
    "Parquet cut short": ("rows.parquet", parquet({"predictions": ["OFF"] * 99})[:-9], "Not a whole Parquet file"),
    "deep lists": ("rows.json", b'{"predictions": [' + b"[" * 500 + b"]" * 500 + b"]}", "Row 1, predictions: lists or"),
    "deep objects": ("rows.json", b'{"predictions": [' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"]}", "an object"),
    "deep lines": ("rows.jsonl", b'{"predictions": ' + b"[" * 100_000 + b"\n", "Not a whole JSON document"),
    "deep Parquet": ("rows.parquet", deep_parquet(3), "Row 1, predictions: lists or objects in a list"),
    "deeper Parquet": ("rows.parquet", deep_parquet(400), "Row 1, predictions: lists or|Not a whole Parquet file"),
    "one value": ("rows.json", b'{"predictions": "OFF"}', "^The column predictions is no list of values.$"),
    "no list in between": (
        "rows.json",
        b'{"predictions": [["T"], null]}',
        "^Row 2, predictions: no list; allowed: a list",
    ),
    "twice in CSV": ("rows.csv", b"predictions,b, predictions\n1,0,0", "^The column predictions is there twice.$"),
    "twice in TSV": ("rows.tsv", b"predictions\tb\tpredictions\n1\t0\t0", "^The column predictions is there twice.$"),
    "twice in JSON": (
        "rows.json",
        b'{"predictions": [1], "predictions": [0]}',
        "^The field predictions is there twice.$",
    ),
    "twice in a row": (
        "rows.json",
        b'[{"predictions": 1, "predictions": 0}]',
        "^The field predictions is there twice.$",
    ),
    "twice in JSON lines": (
        "rows.jsonl",
        b'{"predictions": 1, "predictions": 0}',
        "^The field predictions is there twice.$",
    ),
    "twice in pasted JSON": (
        "",
        b'{"a": 1}\n{"predictions": 1, "predictions": 0}',
        "^The field predictions is there twice.$",
    ),
    "a text twice": ("rows.json", f'{{"{SECRET}": 1, "{SECRET}": 2}}'.encode(), r"^The field \(…\) is there twice.$"),
    "twice in Parquet": ("rows.parquet", twice_in_parquet(), "^The column predictions is there twice.$"),
    "too many rows": ("rows.csv", b"predictions\n" + b"OFF\n" * (MAX_ROWS + 1), "100,001 rows"),
    "a bomb of rows": ("rows.parquet", parquet({"predictions": ["OFF"] * (MAX_ROWS + 1)}), "100,001 rows"),
    "a bomb of text": (
        "rows.parquet",
        parquet({"predictions": ["x" * 1_000_000] * 1_000}, use_dictionary=True),
        "unpacks to more than 100 MB",
    ),
    "a long text": ("rows.parquet", parquet({"predictions": ["x" * 50_000_000]}), "unpacks to more than 40 MB"),
    "a bomb of lists": ("rows.parquet", parquet({"predictions": [[1] * 2_000_001]}), "more values than this page"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused(name: str) -> None:
    file, content, message = BAD_FILES[name]
    with pytest.raises(Refused, match=message) as refused:
        read_file(file, content, ["predictions"])
    assert refused.value.beside == "file"
    assert "/" not in str(refused.value)


def test_texts_are_never_quoted() -> None:
    for column, kind in (("predictions", SCORE), ("predictions", SEQUENCE)):
        with pytest.raises(Refused) as refused:
            inputs_of({column: ["0.5" if kind == SCORE else "T", f"[{SECRET}"]}, {column: kind}, [])
        assert "secret" not in str(refused.value)
        assert "Row 2, predictions" in str(refused.value)
    with pytest.raises(Refused) as refused:
        read_file("a.json", f'{{"{SECRET}": 1, "{SECRET}'.encode(), ["predictions"])
    assert "secret" not in str(refused.value)
    with pytest.raises(Refused) as refused:  # a text where the header should be
        read_file("a.csv", f"{SECRET}\n{SECRET}".encode(), ["predictions"])
    assert "secret" not in str(refused.value)


def test_a_record_twice() -> None:
    both = {"predictions.intent": ["E"], "predictions": [{"intent": "O"}]}
    for document in (both, {"predictions_intent": ["E"], "predictions": {"intent": ["O"]}}):
        with pytest.raises(
            Refused, match=r"intent is there as predictions[._]intent and as predictions; allowed: one of"
        ):
            read_file("a.json", json.dumps(document).encode(), ["predictions.intent"])
    with pytest.raises(Refused, match="The field intent is there twice"):
        read_file("a.json", b'[{"predictions": {"intent": "E", "intent": "O"}}]', ["predictions.intent"])


def test_columns_nobody_wants_may_be_there_twice() -> None:
    content = b"predictions,references,,\nOFF,NOT,,\n"
    assert read_file("a.csv", content, ["predictions", "references"]) == {"predictions": ["OFF"], "references": ["NOT"]}


@pytest.mark.parametrize("break_", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_json_lines_end_at_line_feeds_only(break_: str, end: str) -> None:
    rows = [{"text": f"you{break_}are", "predictions": 1}, {"text": break_, "predictions": 0}]
    content = end.join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    assert read_file("a.jsonl", content, ["predictions"]) == {"predictions": [1, 0]}
    assert read_file("", content + end.encode(), ["predictions"]) == {"predictions": [1, 0]}


def test_an_empty_line_in_the_only_column_is_an_empty_cell() -> None:
    assert read_file("a.csv", b"predictions\n1\n\n0\n", ["predictions"]) == {"predictions": ["1", "", "0"]}
    assert read_file("a.csv", b"predictions,b\n1,2\n\n0,2\n", ["predictions"]) == {"predictions": ["1", "0"]}


@pytest.mark.parametrize("cells", [[0, True], [None, False], [[0.5], [True, 0.5]]], ids=str)
@pytest.mark.parametrize("times", [1, 1_000])
def test_true_and_false_are_refused_in_files_of_any_length(cells: list[Any], times: int) -> None:
    message = r"^Row {}, predictions: true or false; allowed: numbers and texts, such as 1 and 0\.$"
    with pytest.raises(Refused, match=message.format(2)):
        read_file("a.json", json.dumps({"predictions": cells * times}).encode(), ["predictions"])
    with pytest.raises(Refused, match=message.format(1)):
        read_file("a.parquet", parquet({"predictions": [True, False] * times}), ["predictions"])


def test_other_names_of_columns() -> None:
    wanted = list(KINDS["oracle_collab"])
    content = b"prediction,label,review_score,text\n0.5,1,0.25,x\n"
    cells = {"predictions": ["0.5"], "references": ["1"], "review_scores": ["0.25"]}
    assert read_file("a.csv", content, wanted) == cells
    values = {"predictions": [0.5], "references": [1], "review_scores": [0.25]}
    content = parquet({"prediction": [0.5], "label": [1], "review_score": [0.25], "text": ["x"]})
    assert read_file("a.parquet", content, wanted) == values
    for names in (("review_score", "review_scores"), ("label", "references"), ("labels", "reference")):
        table = {"predictions": [0.5], "references": [1], **{name: [1] for name in names}}
        table = {name: cells for name, cells in table.items() if name != "references" or name in names}
        for file, content in (("a.json", json.dumps(table).encode()), ("a.parquet", parquet(table))):
            with pytest.raises(Refused, match=r"is there as \w+ and as \w+; allowed: one of them\.$"):
                read_file(file, content, wanted)
    with pytest.raises(Refused, match=r"^The column label is there twice\.$"):
        read_file("a.csv", b"predictions,label,label\n1,0,1\n", wanted)


@pytest.mark.parametrize(
    ("p", "r"), [("pred_", "ref_"), ("prediction_", "reference_"), ("predictions_", "references.")]
)
def test_other_names_of_fields(p: str, r: str) -> None:
    header = f"{p}intent,{p}slots,{r}intent,{r}slots"
    assert read_file("a.csv", f"{header}\nE,T,O,S\n".encode(), list(KINDS["conda_joint"])) == {
        "predictions.intent": ["E"],
        "predictions.slots": ["T"],
        "references.intent": ["O"],
        "references.slots": ["S"],
    }


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([{"predictions": {"intent": "E"}}] * 2, r"^Row 1, predictions: no field slots; allowed"),
        (
            [{"predictions": {"intent": "E", "slots": []}}, {"predictions": {"intent": "E"}}],
            r"^Row 2, predictions: no f",
        ),
        ([{"predictions": {"intent": "E", "slots": []}}, {"predictions": None}], r"^Row 2, predictions: no record"),
        ([{"predictions": {"intent": "E", "slots": None}}] * 2, r"^Row 1, predictions\.slots: no value"),
        ({"predictions": {"intent": ["E"]}}, r"^No field slots in predictions, and no column predictions\.slots\.$"),
        ([{"pred_intent": "E"}], r"^No field slots in predictions, and no column predictions\.slots\.$"),
        ({"predictions": {"slots": [["T"]]}}, "^No field intent in predictions"),
    ],
    ids=str,
)
def test_fields_that_are_missing(document: Any, message: str) -> None:
    with pytest.raises(Refused, match=message):
        read_file("a.json", json.dumps(document).encode(), list(KINDS["conda_joint"]))
