"""What can't be read twice is read once and right, or refused by name; what changes is refused."""

import io
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toxeval.loading import definition
from toxeval.read import Limits, Rows, open_bytes, open_table, sources, tables

ROWS = [("OFF", "NOT") if i % 3 else ("NOT", "NOT") for i in range(5000)]
CSV = "prediction,label\n" + "".join(f"{p},{r}\n" for p, r in ROWS)
EXPECTED = {"predictions": [p for p, _ in ROWS], "references": [r for _, r in ROWS]}
SOLD = definition("sold_macro_f1")


def feed(path: Path, content: bytes) -> threading.Thread:
    """A writer at the other end of a named pipe."""
    thread = threading.Thread(target=lambda: path.write_bytes(content))
    thread.start()
    return thread


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_named_pipe_is_read_once_and_whole(pipe: Path) -> None:
    """road-03: it was opened to look at it, and again for its rows."""
    writer = feed(pipe, CSV.encode())
    table = open_table(str(pipe))
    assert table.once
    assert Rows(SOLD, table).collect() == EXPECTED
    writer.join()
    with pytest.raises(ValueError, match=f"{pipe}: wanted more than once, and can be read once .save it to a file"):
        list(table.batches(["prediction"]))


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_other_formats_through_a_pipe(pipe: Path, tmp_path: Path, form: str) -> None:
    content = "".join(f'{{"prediction": "{p}", "label": "{r}"}}\n' for p, r in ROWS).encode()
    if form == "parquet":
        pq.write_table(pa.table(dict(zip(("prediction", "label"), zip(*ROWS)))), tmp_path / "p")
        content = (tmp_path / "p").read_bytes()
    writer = feed(pipe, content)
    found = Rows(SOLD, open_table(str(pipe))).collect()
    assert {name: values if isinstance(values, list) else values.to_pylist() for name, values in found.items()} == (
        EXPECTED
    )
    writer.join()


def test_a_process_substitution_is_read_whole() -> None:
    """road-01: <(...) is a pipe under /dev/fd."""
    reads, writes = os.pipe()

    def write() -> None:
        with os.fdopen(writes, "wb") as stream:
            stream.write(CSV.encode())

    writer = threading.Thread(target=write)
    writer.start()
    assert Rows(SOLD, open_table(f"/dev/fd/{reads}")).collect() == EXPECTED
    writer.join()
    os.close(reads)


def test_the_same_pipe_in_two_places_is_refused_and_waits_for_nobody(pipe: Path) -> None:
    writer = feed(pipe, CSV.encode())
    table = open_table(str(pipe))
    with pytest.raises(ValueError, match="wanted more than once"):
        open_table(str(pipe))
    assert Rows(SOLD, table).collect() == EXPECTED
    writer.join()
    del table
    writer = feed(pipe, b"prediction,label\nOFF,OFF\n")  # another writer, later
    assert Rows(SOLD, open_table(str(pipe))).collect() == {"predictions": ["OFF"], "references": ["OFF"]}
    writer.join()


class _Standard:
    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def test_standard_input_has_two_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", _Standard(CSV.encode()))
    table = open_table("-")
    with pytest.raises(ValueError, match="standard input: wanted more than once"):
        open_table("-")
    assert Rows(SOLD, table).collect() == EXPECTED


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_a_file_that_changes_between_two_readings_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"p{ending}"
    write: dict[str, Callable[[list[tuple[str, str]]], Any]] = {
        ".csv": lambda rows: path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)),
        ".jsonl": lambda rows: path.write_text("".join(f'{{"a": "{a}", "b": "{b}"}}\n' for a, b in rows)),
        ".parquet": lambda rows: pq.write_table(pa.table({"a": [a for a, _ in rows]}), path),
    }
    write[ending](ROWS[:10])
    table = open_table(str(path))
    assert len(list(table.batches(["a"]))) == 1
    assert len(list(table.batches(["a"]))) == 1
    write[ending](ROWS[:11])
    with pytest.raises(ValueError, match=f"{path}: the file changed while it was read"):
        list(table.batches(["a"]))


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK", 1 << 10)
    monkeypatch.setattr(tables, "BATCH_ROWS", 100)
    path = tmp_path / "p.csv"
    path.write_text(CSV)
    reading = iter(Rows(SOLD, open_table(str(path))))
    next(reading)
    with path.open("a") as stream:
        stream.write("OFF,OFF\n")
    with pytest.raises(ValueError, match="the file changed while it was read"):
        list(reading)


def test_what_the_system_refuses_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.csv"
    path.write_text(CSV)

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ValueError, match=rf"^{path}: can't be read \(permission denied\)$"):
        open_table(str(path))
    monkeypatch.undo()
    monkeypatch.setattr(Path, "open", lambda *_, **__: Broken())
    with pytest.raises(ValueError, match=rf"^{path}: can't be read \(input/output error\)$"):
        open_table(str(path))


class Broken(io.BytesIO):
    """A file on a disk that fails."""

    def fileno(self) -> int:
        return 0

    def read(self, *_: Any) -> bytes:
        raise OSError(5, "Input/output error")


def test_limits() -> None:
    content = CSV.encode()
    assert open_bytes("p.csv", content, limits=Limits(bytes=len(content), rows=5000)).columns
    with pytest.raises(ValueError, match=r"^p.csv: 0\.0 MB; allowed: up to 0 MB"):
        open_bytes("p.csv", content, limits=Limits(bytes=100))
    with pytest.raises(ValueError, match=r"^p.csv: 5,000 rows; allowed: up to 4,999$"):
        Rows(SOLD, open_bytes("p.csv", content, limits=Limits(rows=4999))).collect()
    lines = b'{"prediction": 1, "label": 1}\n' * 20
    with pytest.raises(ValueError, match=r"^p.jsonl: 20 rows; allowed: up to 19$"):
        Rows(SOLD, open_bytes("p.jsonl", lines, limits=Limits(rows=19))).collect()
    with pytest.raises(ValueError, match=r"^p.json: 2 rows; allowed: up to 1$"):
        open_bytes("p.json", b'[{"a": 1}, {"a": 2}]', limits=Limits(rows=1))


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["OFF"] * 100_001}, "100,001 rows; allowed: up to 100,000"),
        ({"a": ["x" * 1_000_000] * 101}, "more than 100 MB, unpacked"),
        ({"a": ["x" * 50_000_000]}, "more than 40 MB, unpacked"),
        ({"a": [[1] * 2_000_001]}, "more values than are read here; allowed: up to 2,000,000"),
    ],
    ids=["rows", "texts", "a text", "values"],
)
def test_a_parquet_file_may_unpack_to_anything(columns: dict[str, Any], message: str) -> None:
    limits = Limits(bytes=10_000_000, rows=100_000, values=2_000_000)
    with pytest.raises(ValueError, match=message):
        list(open_bytes("p.parquet", parquet(columns), limits=limits).batches(["a"]))
