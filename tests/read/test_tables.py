"""What stands in tables: quotes, names that are there twice, nested fields, folders, pasted texts."""

import io
import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toxeval.loading import definition, plain
from toxeval.read import Rows, add_rows, from_columns, open_bytes, open_pasted, open_table

SOLD = definition("sold_macro_f1")


def rows(metric: str, name: str, content: str | bytes, config: str = "default", **columns: str) -> Any:
    data = content if isinstance(content, bytes) else content.encode()
    return Rows(definition(metric, config), open_bytes(name, data), columns=columns).collect()


# --- quotes -------------------------------------------------------------------------------------------------------

RAW = (
    'id\ttext\tprediction\tlabel\n1\t"what a game\tOFF\tNOT\n2\tnice one\tNOT\tNOT\n'
    '3\twell done"\tOFF\tOFF\n4\tok\tNOT\tNOT\n'
)


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("swallowed", [0, 1])
def test_a_quoted_cell_that_holds_rows_is_refused(separator: str, swallowed: int) -> None:
    """road-06: two of four rows were scored."""
    text = RAW.replace("\t", separator)
    if not swallowed:
        text = text.replace(f"2{separator}nice one{separator}NOT{separator}NOT\n", "")
    name = "q.tsv" if separator == "\t" else "q.csv"
    found = f"{name}: line 2: row 0: a quoted cell of {swallowed + 2} lines that holds as many separators as rows do"
    with pytest.raises(ValueError, match=found + r" \(.*multiline=True\)"):
        rows("sold_macro_f1", name, text)
    table = open_bytes(name, text.encode(), multiline=True)
    assert Rows(SOLD, table).collect()["predictions"] == ["OFF", "NOT"]


def test_a_text_of_several_lines_is_a_cell() -> None:
    text = 'text,id,prediction,label\n"one, two,\nthree",1,OFF,NOT\n"a\n""b""\n\nc, d",2,NOT,NOT\n'
    assert rows("sold_macro_f1", "p.csv", text)["predictions"] == ["OFF", "NOT"]


@given(st.lists(st.lists(st.text(st.sampled_from('ab"\n,'), max_size=4), min_size=2, max_size=2), min_size=1))
def test_cells_come_back_as_they_were_written(cells: list[list[str]]) -> None:
    import csv

    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([["x", "y"], *cells])
    table = open_bytes("p.csv", stream.getvalue().encode(), multiline=True)
    found = [list(row) for batch in table.batches(["x", "y"]) for row in zip(*batch.values())]
    assert found == cells


# --- names that are there twice -----------------------------------------------------------------------------------


def test_columns_that_nobody_wants_may_have_one_name_or_none() -> None:
    """road-21"""
    found = {"predictions": ["OFF", "NOT"], "references": ["OFF", "OFF"]}
    assert rows("sold_macro_f1", "t.csv", "prediction,label,,\nOFF,OFF,,\nNOT,OFF,,\n") == found
    assert rows("sold_macro_f1", "t.csv", "prediction,label,x,x\nOFF,OFF,1,2\nNOT,OFF,,\n") == found
    twice = pa.Table.from_arrays([pa.array(["OFF"])] * 4, ["prediction", "label", "x", "x"])
    stream = io.BytesIO()
    pq.write_table(twice, stream)
    assert rows("sold_macro_f1", "t.parquet", stream.getvalue())["references"].to_pylist() == ["OFF"]
    for name, content in (
        ("t.csv", b"prediction,label,label\nOFF,OFF,NOT\n"),
        ("t.parquet", _parquet(twice.rename_columns(["prediction", "label", "label", "x"]))),
    ):
        with pytest.raises(ValueError, match=f"{name}: header: two columns have the same name .*: label"):
            rows("sold_macro_f1", name, content)


def _parquet(table: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


# --- strictness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.csv", "prediction,label\nOFF,OFF \n", r"references\[0\]: unknown label 'OFF '"),
        ("p.csv", "prediction ,label\nOFF,OFF\n", r"predictions: no such column in p.csv"),
        ("p.jsonl", '{"prediction": "1", "label": "1"}\n', r"predictions\[0\]: unknown label '1'; .* not texts"),
        ("p.csv", "prediction,label\nOFF,OFF\n,\n", r"predictions\[1\]: missing label"),
        ("p.jsonl", '{"prediction": 1, "label": 1}\nnull\n', r"p.jsonl: line 2: a NoneType; a JSON object in every"),
        ("p.csv", "prediction,label\ntrue,OFF\n", r"predictions\[0\]: unknown label 'true'"),
    ],
)
def test_what_the_pages_once_forgave(name: str, text: str, message: str) -> None:
    """road-41: the strict reader is right."""
    with pytest.raises(ValueError, match=message):
        add_rows(plain("sold_macro_f1"), Rows(SOLD, open_bytes(name, text.encode())))


def test_lines_that_are_json_together_only() -> None:
    """Many lines are read at once, as an array: none may lean on its neighbours."""
    for lines in (
        ['{"a": 1},{"a": 2}', '{"a": [[1', "2]]}"],
        ['{"a": [{"b": 1}', '{"b": 2}]}', '{"a": 1},{"a": 2}'],
        ['{"a": 1}', "", '{"a": 2}'],
        ['{"a": 1', '"b": 2}', "{}"],
    ):
        with pytest.raises(ValueError, match="p.jsonl: line [12]: "):
            list(open_bytes("p.jsonl", "\n".join(lines).encode()).batches(["a"]))


@pytest.mark.parametrize("colon", [":", " :", "\t:", ": "])
@pytest.mark.parametrize("text", ['""', '"gg :)"', '":)"', '"a \\": b"', '{"c": 1, "c": 2}', "[{}]"])
def test_a_field_twice_is_found_among_any_colons(colon: str, text: str) -> None:
    good = [f'{{"a"{colon}1, "b"{colon}2, "c"{colon}{text if "c" not in text else 3}}}'] * 20
    list(open_bytes("p.jsonl", "\n".join(good).encode()).batches(["a"]))
    for bad in (
        f'{{"a"{colon}1, "b"{colon}2, "a"{colon}3}}',
        f'{{"a":{text}, "a"{colon}2, "b":1}}',
        '{"b": {"a": 1, "a": 2}}',
    ):
        content = "\n".join([*good, bad, *good]).encode()
        with pytest.raises(ValueError, match="p.jsonl: line 21: an object has a field twice"):
            list(open_bytes("p.jsonl", content).batches(["a"]))


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers() | st.text() | st.none()), min_size=1), st.data())
def test_json_lines_come_back_as_they_were_written(records: list[dict[str, Any]], data: st.DataObject) -> None:
    ends = data.draw(st.sampled_from(["\n", "\r\n", " \n"]))
    text = "".join(json.dumps(record, ensure_ascii=False) + ends for record in records)
    table = open_bytes("p.jsonl", text.encode("utf-8", "surrogatepass")) if _plain(text) else None
    if table is not None:
        found = [value for batch in table.batches(["a"]) for value in batch["a"]]
        assert found == [record.get("a") for record in records]


def _plain(text: str) -> bool:
    try:
        return bool(text.encode())
    except UnicodeEncodeError:
        return False


# --- nested fields ------------------------------------------------------------------------------------------------

NESTED = [{"id": i, "scores": {"THREAT": {"summary": {"value": i / 10}}}, "label": i % 2} for i in range(5)]


def _nested_files(folder: Path) -> list[Path]:
    (folder / "n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NESTED))
    (folder / "n.json").write_text(json.dumps(NESTED))
    columns = {name: [row[name] for row in NESTED] for name in NESTED[0]}
    (folder / "columns.json").write_text(json.dumps(columns))
    (folder / "records.json").write_text(
        json.dumps(columns | {"scores": {"THREAT": [r["THREAT"] for r in columns["scores"]]}})
    )
    pq.write_table(pa.Table.from_pylist(NESTED), folder / "n.parquet")
    datasets.Dataset.from_list(NESTED).save_to_disk(folder / "saved")
    return [folder / name for name in ("n.jsonl", "n.json", "columns.json", "records.json", "n.parquet", "saved")]


def test_nested_fields_by_a_dotted_path(tmp_path: Path) -> None:
    said = {"prediction_scores": "scores.THREAT.summary.value"}
    for path in _nested_files(tmp_path):
        found = Rows(definition("threat_f1"), open_table(str(path)), columns=said).collect()["prediction_scores"]
        assert (found if isinstance(found, list) else found.to_pylist()) == [i / 10 for i in range(5)], path
        wrong = {"prediction_scores": "score.THREAT"}
        with pytest.raises(ValueError, match="columns prediction_scores=score.THREAT: no such column"):
            Rows(definition("threat_f1"), open_table(str(path)), columns=wrong)
    with pytest.raises(ValueError, match=r"n.parquet: no field CALM.x in scores"):
        Rows(
            definition("threat_f1"),
            open_table(str(tmp_path / "n.parquet")),
            columns={"prediction_scores": "scores.CALM.x"},
        ).collect()


def test_a_path_that_ends_early() -> None:
    """A record that is missing is a missing value, which the metric refuses; anything else there is refused here."""
    rows_ = [NESTED[0], {"id": 1, "scores": None, "label": 1}]
    content = "".join(json.dumps(row) + "\n" for row in rows_).encode()
    said = {"prediction_scores": "scores.THREAT.summary.value"}
    found = Rows(definition("threat_f1"), open_bytes("n.jsonl", content), columns=said)
    assert found.collect()["prediction_scores"] == [0.0, None]
    content = "".join(json.dumps(row) + "\n" for row in [NESTED[0], {"scores": 3, "label": 1}]).encode()
    with pytest.raises(ValueError, match="n.jsonl: row 1: 3 where a record with the field THREAT is wanted"):
        Rows(definition("threat_f1"), open_bytes("n.jsonl", content), columns=said).collect()


def test_a_column_whose_name_has_dots_is_itself() -> None:
    text = "a.b,label\n0.5,1\n"
    found = Rows(definition("threat_f1"), open_bytes("p.csv", text.encode()), columns={"prediction_scores": "a.b"})
    assert found.collect()["prediction_scores"].tolist() == [0.5]


# --- folders ------------------------------------------------------------------------------------------------------


def test_what_is_no_data_in_a_folder_is_skipped(tmp_path: Path) -> None:
    """road-04: as Spark, Hive and Arrow do."""
    table = pa.table({"prediction": ["OFF", "NOT", "OFF", "NOT"], "label": ["OFF", "NOT", "NOT", "NOT"]})
    other = pa.table({"prediction": ["NOT"] * 4, "label": ["OFF"] * 4})
    folder = tmp_path / "_out"  # the folder's own name is no matter
    for name in ("_temporary/0/t/part-1.parquet", ".part-0.parquet", "_part.parquet", ".hidden/part.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(other, folder / name)
    pq.write_table(table, folder / "part-0.parquet")
    metric = plain("sold_macro_f1")
    add_rows(metric, Rows(SOLD, open_table(str(folder))))
    assert len(metric) == 4
    assert (metric.compute() or {})["accuracy"] == 0.75


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("_delta_log/00000.json", "Delta"),
        ("metadata/v1.metadata.json", "Iceberg"),
        (".hoodie/hoodie.properties", "Hudi"),
    ],
)
def test_tables_of_other_formats_are_refused_by_name(tmp_path: Path, part: str, name: str) -> None:
    pq.write_table(pa.table({"prediction": ["OFF"]}), tmp_path / "part-0.parquet")
    (tmp_path / part).parent.mkdir()
    (tmp_path / part).write_text("{}")
    with pytest.raises(ValueError, match=f"{tmp_path}: a table of {name}, whose folder also holds files of other"):
        open_table(str(tmp_path))


def test_files_of_one_folder_have_the_same_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"prediction": ["OFF"], "label": ["OFF"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"prediction": ["OFF"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="b.parquet: without the columns label; allowed: the same columns in all"):
        Rows(SOLD, open_table(str(tmp_path))).collect()


# --- rationales ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["tsv", "jsonl", "parquet"])
def test_a_post_without_rationale_counts_as_all_0(form: str, shipped: Path) -> None:
    """road-48"""
    source = shipped / "sold" / "synthetic_SOLD_test.tsv"
    (batch,) = open_table(str(source)).batches(["post_id", "tokens", "rationales"])
    lengths = [len(tokens.split(" ")) for tokens in batch["tokens"]]
    gold = [json.loads(cell) or [0] * n for cell, n in zip(batch["rationales"], lengths)]
    table = open_table(str(source))
    if form != "tsv":
        whole = {
            "tokens": [t.split(" ") for t in batch["tokens"]],
            "rationales": list(map(json.loads, batch["rationales"])),
        }
        posts = [dict(zip(("post_id", *whole), row)) for row in zip(batch["post_id"], *whole.values())]
        content = "".join(json.dumps(row) + "\n" for row in posts).encode()
        table = open_bytes(f"p.{form}", content if form == "jsonl" else _parquet(pa.Table.from_pylist(posts)))
    mine = from_columns("mine", {"post_id": batch["post_id"], "predictions": [[1] * n for n in lengths]})
    found = Rows(definition("sold_macro_f1", "token"), mine, table)
    assert found.matched == "post_id"
    assert found.collect()["references"] == gold


# --- pasted texts and tables of pages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "header", "read_as"),
    [
        ("predictions,references\nOFF,NOT\nNOT,NOT\n", True, "CSV, with a header"),
        ("predictions\treferences\nOFF\tNOT\nNOT\tNOT", True, "TSV, with a header"),
        ("predictions;references\nOFF;NOT\nNOT;NOT\n", True, "CSV with semicolons, with a header"),
        ("OFF;NOT\nNOT;NOT\n", False, "CSV with semicolons, without a header"),
        ("OFF,NOT\nNOT,NOT\n", False, "CSV, without a header"),
        (
            '{"predictions": "OFF", "references": "NOT"}\n{"predictions": "NOT", "references": "NOT"}',
            True,
            "JSON Lines",
        ),
        (
            '[{"predictions": "OFF", "references": "NOT"}, {"predictions": "NOT", "references": "NOT"}]',
            True,
            "a JSON array",
        ),
        ('{"predictions": ["OFF", "NOT"], "references": ["NOT", "NOT"]}', True, "a JSON object of columns"),
    ],
)
def test_pasted_texts(text: str, header: bool, read_as: str) -> None:
    table = open_pasted(text, header=header)
    assert table.read_as == read_as
    said = {} if header else {"predictions": "column 1", "references": "column 2"}
    assert Rows(SOLD, table, columns=said).collect() == {"predictions": ["OFF", "NOT"], "references": ["NOT", "NOT"]}


def test_a_pasted_text_is_not_mended() -> None:
    with pytest.raises(ValueError, match="the pasted text: no rows"):
        open_pasted(" \n")
    with pytest.raises(ValueError, match=r"the pasted text: line 2: row 1: 1 cells where the header has 2"):
        Rows(SOLD, open_pasted("OFF,NOT\nNOT\n", header=False), columns={"predictions": "column 1"}).collect()
    with pytest.raises(ValueError, match="predictions: no such column in the pasted text"):
        Rows(SOLD, open_pasted("OFF,NOT\nNOT,NOT\n"))


def test_an_object_of_columns() -> None:
    document = {"predictions": {"intent": ["E", "O"], "slots": [["T"], []]}, "references": {"intent": ["E", "O"]}}
    document["references"]["slots"] = [["T"], []]
    found = rows("conda_joint", "c.json", json.dumps(document, indent=1))
    assert found["predictions"] == [{"intent": "E", "slots": ["T"]}, {"intent": "O", "slots": []}]
    with pytest.raises(ValueError, match="columns of different lengths: 2 in predictions, 1 in references"):
        rows("sold_macro_f1", "c.json", '{"predictions": [1, 0], "references": [1]}')
    with pytest.raises(
        ValueError, match="c.json: an object; an array of JSON objects is wanted, or an object of colum"
    ):
        rows("sold_macro_f1", "c.json", '{\n"predictions": [1, 0], "references": 1}')
    # more than a block, in one line
    many = json.dumps({"predictions": ["OFF"] * 20_000, "references": ["OFF"] * 20_000})
    assert len(rows("sold_macro_f1", "c.json", many)["predictions"]) == 20_000
    one = rows("sold_macro_f1", "c.json", '{"predictions": 1, "references": 1}')
    assert one == {"predictions": [1], "references": [1]}


def test_other_endings_are_refused() -> None:
    with pytest.raises(ValueError, match="rows.pkl: this kind of file isn't read here; allowed: .json, .jsonl"):
        open_bytes("rows.pkl", b"\x80\x04.")


def test_nothing_heavy_is_imported_for_texts(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / "p.csv").write_text("prediction,label\nOFF,OFF\nNOT,NOT\n")
    (tmp_path / "p.jsonl").write_text('{"prediction": 1, "label": 1}\n{"prediction": 0, "label": 0}\n')
    code = (
        "import sys\nfrom toxeval.loading import plain\nfrom toxeval.read import Rows, add_rows, open_table\n"
        "for path in ('p.csv', 'p.jsonl'):\n"
        "    metric = plain('sold_macro_f1')\n"
        "    add_rows(metric, Rows(metric.definition, open_table(path)))\n    metric.compute()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    heavy = {"pyarrow", "pandas", "datasets", "evaluate", "scipy", "sklearn", "matplotlib"}
    assert done.returncode == 0, done.stderr
    assert not heavy & set(done.stdout.split())


@pytest.mark.parametrize("name", ["p.csv", "p", "p.txt"])
def test_semicolons_are_read_and_decimal_commas_are_not_mended(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('id;predictions;references\na;0.5;1\nb;"0.25";0\n')
    table = open_table(str(tmp_path / name))
    assert table.read_as == "CSV with semicolons, with a header"
    assert list(Rows(definition("oracle_collab"), table).collect()["predictions"]) == [0.5, 0.25]
    (tmp_path / name).write_text("id;predictions;references\na;0,5;1\n")
    with pytest.raises(ValueError, match=r"predictions\[0\]: '0,5'; allowed: a number in every row.*a decimal point"):
        Rows(definition("oracle_collab"), open_table(str(tmp_path / name))).collect()


@pytest.mark.parametrize("text", ["OFF,OFF\nNOT,OFF\n", '"OFF",NOT\nNOT,"NOT\n"\n'])
def test_the_first_row_may_be_one_of_the_rows(text: str) -> None:
    table = open_bytes("p.csv", text.encode(), header=False)
    assert table.columns == ("column 1", "column 2")
    for _ in range(2):
        (batch,) = table.batches(["column 1", "column 2"])
        assert batch["column 1"] == ["OFF", "NOT"]
    with pytest.raises(ValueError, match=r"p.csv: line 3: row 2: 3 cells where"):
        list(open_bytes("p.csv", b"OFF,OFF\nNOT,OFF\nNOT,NOT,NOT", header=False).batches(["column 1"]))
    with pytest.raises(ValueError, match=r"p.csv: line 2: row 1: 2 cells where"):
        list(open_bytes("p.csv", b"OFF\nNOT,OFF", header=False).batches(["column 1"]))


def test_an_optional_input_may_be_left_out() -> None:
    columns = {"predictions": ["Safe"], "references": ["Safe"], "categories": ["Biased Opinion"]}
    table = from_columns("a table", columns)
    safety = definition("dia_safety_rate")
    assert Rows(safety, table, columns={"categories": ""}).collect() == {
        "predictions": ["Safe"],
        "references": ["Safe"],
    }
    with pytest.raises(ValueError, match="columns predictions=: no such column"):
        Rows(safety, table, columns={"predictions": ""})
