"""Files of every kind give the same columns; broken ones are refused with the place and without the text."""

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toxeval.read import open_table, separated, sources, tables

ROWS = [
    {"id": "a", "predictions": "OFF", "references": "NOT", "text": 'gg, "wp"'},
    {"id": "b", "predictions": "NOT", "references": "NOT", "text": "two\nlines"},
    {"id": "NA", "predictions": "OFF", "references": "OFF", "text": "NA"},
]
COLUMNS = ["id", "predictions", "references", "text"]
CSV = 'id,predictions,references,text\na,OFF,NOT,"gg, ""wp"""\nb,NOT,NOT,"two\nlines"\nNA,OFF,OFF,NA\n'


def read(path: Path | str, columns: list[str] = COLUMNS) -> list[dict[str, Any]]:
    rows = []
    for batch in open_table(str(path)).batches(columns):
        lists = {name: values if isinstance(values, list) else values.to_pylist() for name, values in batch.items()}
        rows += [dict(zip(lists, row)) for row in zip(*lists.values())]
    return rows


def json_lines(rows: list[dict[str, Any]] = ROWS) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("crlf", [False, True], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.tsv", "p.json", "unnamed"])
def test_text_files(tmp_path: Path, name: str, crlf: bool, bom: bytes) -> None:
    tsv = CSV.replace('"gg, ""wp"""', '"gg; ""wp"""').replace(",", "\t").replace("gg;", "gg,")
    text = {"p.csv": CSV, "p.tsv": tsv, "p.json": json.dumps(ROWS, indent=1)}.get(name, json_lines())
    if crlf:
        text = text.replace("\n", "\r\n").replace("two\r\nlines", "two\nlines")
    path = write(tmp_path / name, bom + text.encode())
    assert read(path) == ROWS
    assert read(path, ["references"]) == [{"references": row["references"]} for row in ROWS]
    assert open_table(str(path)).columns == tuple(COLUMNS)
    assert open_table(str(path)).text == (name in ("p.csv", "p.tsv"))


def test_unnamed_files_are_recognised_by_what_is_in_them(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "p")
    for name, text in {"c": CSV, "j": json_lines(), "a": json.dumps(ROWS)}.items():
        write(tmp_path / name, text)
    assert [read(tmp_path / name) for name in "pcja"] == [ROWS] * 4


def test_parquet_and_folders(tmp_path: Path) -> None:
    data = datasets.Dataset.from_list(ROWS)
    data.to_parquet(tmp_path / "p.parquet")
    data.save_to_disk(tmp_path / "saved")
    datasets.DatasetDict({"test": data, "train": data.select([0])}).save_to_disk(tmp_path / "splits")
    (tmp_path / "shards").mkdir()
    data.select([0]).to_parquet(tmp_path / "shards" / "test-00000-of-00002.parquet")
    data.select([1, 2]).to_parquet(tmp_path / "shards" / "test-00001-of-00002.parquet")
    paths = [tmp_path / "p.parquet", tmp_path / "saved", f"{tmp_path}/splits:test", tmp_path / "shards"]
    assert [read(path) for path in paths] == [ROWS] * 4
    assert [open_table(str(path)).n_rows for path in paths] == [3] * 4
    data.to_parquet(tmp_path / "shards" / "train-00000-of-00001.parquet")
    assert read(f"{tmp_path}/shards:test") == ROWS
    with pytest.raises(ValueError, match="several splits; give one of them: .*:test, .*:train"):
        open_table(str(tmp_path / "shards"))
    with pytest.raises(ValueError, match="several splits"):
        open_table(str(tmp_path / "splits"))
    with pytest.raises(ValueError, match="no split 'dev'"):
        open_table(f"{tmp_path}/splits:dev")


@pytest.mark.parametrize("form", ["file", "saved"])
def test_class_labels_come_as_names(tmp_path: Path, form: str) -> None:
    """The order of ids in a dataset needn't be the metric's."""
    label = datasets.ClassLabel(names=["OFF", "NOT"])
    features = datasets.Features({"label": label, "tokens": datasets.Sequence(label)})
    data = datasets.Dataset.from_dict({"label": [0, 1, -1], "tokens": [[0, 1], [], [1]]}, features=features)
    path = tmp_path / "data.parquet"
    if form == "file":
        data.to_parquet(path)
    else:
        data.save_to_disk(path)
    expected = [("OFF", ["OFF", "NOT"]), ("NOT", []), (None, ["NOT"])]
    assert [(row["label"], row["tokens"]) for row in read(path, ["label", "tokens"])] == expected


def test_every_format_in_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": i, "predictions": "OFF" if i % 3 else "NOT"} for i in range(10)]
    write(tmp_path / "p.jsonl", json_lines(rows))
    write(tmp_path / "p.csv", "id,predictions\n" + "".join(f"{r['id']},{r['predictions']}\n" for r in rows))
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "p.parquet", row_group_size=3)
    monkeypatch.setattr(tables, "BATCH_ROWS", 4)
    monkeypatch.setattr(separated, "ROWS", 4)
    monkeypatch.setattr(sources, "BLOCK", 32)
    for name in ("p.jsonl", "p.csv", "saved", "p.parquet"):
        table = open_table(str(tmp_path / name))
        sizes = [len(batch["id"]) for batch in table.batches(["id"])]
        assert max(sizes) <= 4
        assert sum(sizes) == 10
        assert [row["predictions"] for row in read(tmp_path / name, ["predictions"])] == [
            r["predictions"] for r in rows
        ]


def test_blank_lines(tmp_path: Path) -> None:
    assert read(write(tmp_path / "end.jsonl", json_lines() + "\n \n")) == ROWS
    with pytest.raises(ValueError, match="line 4: empty"):
        read(write(tmp_path / "middle.jsonl", json_lines() + "\n" + json_lines()))
    # in a file of one column an empty line is an empty cell, which no reader may drop
    assert read(write(tmp_path / "one.csv", "predictions\nOFF\n\nNOT\n"), ["predictions"]) == [
        {"predictions": label} for label in ("OFF", "", "NOT")
    ]
    assert read(write(tmp_path / "four.csv", CSV + "\n\n")) == ROWS


SECRET = "nice game everyone"

BROKEN = {
    "empty.jsonl": ("", "no rows"),
    "empty.csv": ("", "no rows"),
    "blank.jsonl": (" \n\n", "no rows"),
    "header.csv": ("id,predictions\n", "nothing but a header"),
    "empty.json": ("[]", "no rows"),
    "cut.jsonl": (json_lines() + f'{{"id": "{SECRET}', "line 4: broken JSON at character 8"),
    "unclosed.jsonl": (json_lines() + '{"id": "a"\n', "line 4: broken JSON at character 11"),
    "unclosed.json": ('[\n{"id": "a"\n\n', "line 2: broken JSON at character 11"),
    "text.jsonl": (json_lines() + SECRET, "line 4: broken JSON"),
    "list.jsonl": (json_lines() + "[1]", "line 4: a list"),
    "list.json": ('[{"id": 1}, 2]', "row 1: a int"),
    "cut.json": (f'[{{"id": 1}}, {{"id": "{SECRET}"', "line 1: broken JSON"),
    "wide.csv": (CSV + f"d,OFF,NOT,{SECRET},{SECRET}\n", "row 3: 5 cells where the header has 4"),
    "narrow.csv": (CSV + f"d,{SECRET}\n", "row 3: 2 cells where the header has 4"),
    "quote.csv": (CSV + f'd,OFF,NOT,"{SECRET}\ne,OFF,NOT,f\n', "row 3: not readable as a table .a quote isn't closed"),
    "last quote.csv": (CSV + f'd,OFF,NOT,"{SECRET}', "row 3: not readable as a table .a quote isn't closed"),
    "twice.csv": ("id,id\n1,2\n", "two columns have the same name .the first row must be the header"),
    "latin.csv": (CSV.encode() + b"d,OFF,NOT,caf\xe9\n", "not UTF-8"),
    "latin.jsonl": (json_lines().encode() + b'{"id": "caf\xe9"}\n', "line 4: not UTF-8"),
    "utf16.csv": (CSV.encode("utf-16"), "UTF-16"),
    "text.parquet": (SECRET, "not a whole Parquet file"),
    "zipped.csv": (gzip.compress(CSV.encode()), "compressed with gzip; unpack it first"),
    "zipped.jsonl": (gzip.compress(json_lines().encode()), "compressed with gzip"),
    "workbook.csv": (b"PK\x03\x04" + b"\x00" * 20, "an Excel workbook or a ZIP archive; save the table as CSV"),
    "old.xls": (b"\xd0\xcf\x11\xe0" + b"\x00" * 20, "an old Excel workbook; save the table as CSV"),
    "semicolons.tsv": ("id;predictions\na;OFF\n", "header: separated by semicolons, .* or with tabs as .tsv"),
    "tabs.csv": ("id\tpredictions\na\tOFF\n", "header: separated by tabs"),
    "old mac.csv": (CSV.replace("two\nlines", "").replace("\n", "\r"), "header: .*a carriage return without"),
    "a return.csv": (CSV + "d,OFF,NOT,gg\rwp\n", "row 3: .*a carriage return without a line feed.*quote the cell"),
    "header quote.csv": ('id,"predictions\n', "header: not readable as a table .a quote isn't closed"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(tmp_path: Path, name: str) -> None:
    text, message = BROKEN[name]
    path = write(tmp_path / name, text)
    with pytest.raises(ValueError, match=message) as refused:
        read(path)
    assert str(path) in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_parquet_file_cut_in_half(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"predictions": ["OFF"] * 1000}), path)
    write(path, path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match="not a whole Parquet file"):
        open_table(str(path))
    write(tmp_path / "shard-0.parquet", path.read_bytes())
    with pytest.raises(ValueError, match="not a whole Parquet file"):
        open_table(str(tmp_path))


def test_a_parquet_file_damaged_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"predictions": [f"label {i}" for i in range(10_000)]}), path)
    content = bytearray(path.read_bytes())
    content[100:2000] = b"\xff" * 1900
    write(path, bytes(content))
    with pytest.raises(ValueError, match="damaged"):
        read(path, ["predictions"])


def test_missing_and_strange_places(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_table(str(tmp_path / "nothing.csv"))
    with pytest.raises(ValueError, match="neither a folder saved by datasets nor one with Parquet files"):
        open_table(str(tmp_path))


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_standard_input_is_read_once(tmp_path: Path, form: str) -> None:
    content = {"csv": CSV.encode(), "jsonl": json_lines().encode()}.get(form)
    if content is None:
        pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "p.parquet")
        content = (tmp_path / "p.parquet").read_bytes()
    code = (
        "from toxeval.read import open_table\n"
        "table = open_table('-')\n"
        "print([len(b['id']) for b in table.batches(['id'])], table.columns)"
    )
    out = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=True).stdout
    assert out.decode().strip() == f"[3] {tuple(COLUMNS)}"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"predictions": "OFF", "predictions": "NOT", "references": "OFF"}', "a field twice"),
        ('{"predictions": ' + "9" * 5000 + ', "references": 1}', "limit"),
        ('{"predictions": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
    ],
)
def test_json_that_would_be_misread(line: str, found: str, tmp_path: Path) -> None:
    for name, text, where in (
        ("p.jsonl", '{"predictions": "OFF", "references": "OFF"}\n' + line + "\n", "p.jsonl: line 2: "),
        ("p.json", f"[{line}]", "p.json: "),
    ):
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises(ValueError, match=found) as refusal:
            list(open_table(str(file)).batches(["predictions"]))
        assert where in str(refusal.value)


def test_fields_that_come_late_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns are those of the first record."""
    monkeypatch.setattr(sources, "BLOCK", 256)
    rows: list[dict[str, Any]] = [{"predictions": "OFF", "references": "OFF"} for _ in range(10)]
    rows[6] |= {"label": 1, "note": "gg wp"}
    for name, text, place in (("p.jsonl", json_lines(rows), "line 7"), ("p.json", json.dumps(rows), "row 6")):
        table = open_table(str(write(tmp_path / name, text)))
        assert sum(len(batch["predictions"]) for batch in table.batches(["predictions"])) == 10
        assert table.late == dict.fromkeys(("label", "note"), place)


def test_standard_input_that_comes_in_pieces() -> None:
    code = "from toxeval.read import open_table; print('ready', flush=True); print(open_table('-').columns)"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        process.stdin.write(b"predictions")
        process.stdin.flush()
        time.sleep(0.2)
        process.stdin.write(b"\treferences\nOFF\tNOT\n")
        process.stdin.close()
        assert process.stdout.read().decode().strip() == "('predictions', 'references')"
