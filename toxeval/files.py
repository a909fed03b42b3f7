"""Tables in files, read in batches: JSON Lines, CSV, TSV, Parquet, ``datasets`` folders, standard input.

Nothing is guessed about a value: CSV and TSV cells stay texts (``NA`` is a text too), a broken row stops the reading
with its number, and no message shows what a row says.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from toxeval.tables import BATCH_ROWS, Columns, Table, from_folder, from_parquet

#: A cell of the row after the last one.
LAST_ROW = "toxeval: end of the table"
#: Bytes of CSV read at a time; a row must fit.
BLOCK_BYTES = 1 << 23


def open_table(path: str) -> Table:
    """The table in a file or folder.

    Args:
        path: a ``.jsonl``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file; a folder that ``datasets`` saved or of
            Parquet files (``FOLDER:SPLIT`` where it holds several splits); or ``-``, standard input. Files with other
            names are recognised by their first bytes.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is empty or not what it seems to be.
    """
    if path == "-":
        return _from_stream(Path("standard input"), cast(BufferedReader, sys.stdin.buffer), once=True)
    file = Path(path).expanduser()
    split = ""
    if not file.exists() and ":" in path:
        folder, _, split = path.rpartition(":")
        file = Path(folder).expanduser()
    if file.is_dir():
        return from_folder(file, split)
    if split or not file.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if file.suffix == ".parquet":
        return from_parquet([file], str(file))
    with file.open("rb") as stream:
        return _from_stream(file, stream, once=False)


def _from_stream(file: Path, stream: BufferedReader, *, once: bool) -> Table:
    """A table from a file or from standard input, recognised by the file's name or else by its first bytes."""
    head = stream.peek(8)[:8]
    kind = file.suffix
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{file}: UTF-16 text; save it as UTF-8")
    if not head.strip():
        raise ValueError(f"{file}: no rows (the file is empty)")
    if head.startswith(b"PAR1"):
        return from_parquet([stream], str(file)) if once else from_parquet([file], str(file))
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if kind in (".csv", ".tsv") or (kind not in (".json", ".jsonl", ".ndjson") and start not in (b"{", b"[")):
        return _separated(file, stream, "\t" if kind == ".tsv" else "," if kind == ".csv" else "", once)
    return _json_array(file, stream) if start == b"[" else _json_lines(file, stream, once)


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json_lines(file: Path, stream: BufferedReader, once: bool) -> Table:
    first = next(stream)
    names = tuple(_record(file, 1, first.removeprefix(codecs.BOM_UTF8)))

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        if once:
            yield from _records(file, chain([first], stream), columns)
        else:
            with file.open("rb") as again:
                yield from _records(file, again, columns)

    return Table(str(file), names, False, None, batches)


def _records(file: Path, lines: Iterable[bytes], columns: Sequence[str]) -> Iterator[Columns]:
    numbered = enumerate(lines, 1)
    while block := list(islice(numbered, BATCH_ROWS)):
        if block[0][0] == 1:
            block[0] = (1, block[0][1].removeprefix(codecs.BOM_UTF8))
        ends = not block[-1][1].strip()
        while block and not block[-1][1].strip():
            block.pop()
        records = [_record(file, number, line) for number, line in block]
        if records:
            yield {name: [record.get(name) for record in records] for name in columns}
        if ends:  # only white space may follow
            for number, line in numbered:
                if line.strip():
                    raise ValueError(f"{file}: line {number - 1}: empty; a JSON object in every line is wanted")


def _record(file: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: line {number}: not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        found = f"broken JSON at character {error.colno} ({error.msg})" if line.strip() else "empty"
        raise ValueError(f"{file}: line {number}: {found}; a JSON object in every line is wanted") from None
    if not isinstance(record, dict):
        found = f"a {type(record).__name__}"
        raise ValueError(f"{file}: line {number}: {found}; a JSON object in every line is wanted")
    return record


def _json_array(file: Path, stream: BufferedReader) -> Table:
    """A JSON array of objects. It is in memory as a whole: JSON Lines is the format for what doesn't fit."""
    try:
        records = json.loads(stream.read().removeprefix(codecs.BOM_UTF8))
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}: line {error.lineno}: broken JSON at character {error.colno} ({error.msg})") from None
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(f"{file}: row {row}: a {type(record).__name__}; an array of JSON objects is wanted")
    if not records:
        raise ValueError(f"{file}: no rows (an empty array)")

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        for start in range(0, len(records), BATCH_ROWS):
            block = records[start : start + BATCH_ROWS]
            yield {name: [record.get(name) for record in block] for name in columns}

    return Table(str(file), tuple(records[0]), False, len(records), batches)


# --- CSV and TSV --------------------------------------------------------------------------------------------------


def _separated(file: Path, stream: BufferedReader, separator: str, once: bool) -> Table:
    names, separator = _header(file, stream, separator)

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        if once:
            yield from _cells(file, stream, names, separator, columns)
        else:
            with file.open("rb") as again:
                _header(file, again, separator)
                yield from _cells(file, again, names, separator, columns)

    return Table(str(file), names, True, None, batches)


def _header(file: Path, stream: BufferedReader, separator: str) -> tuple[tuple[str, ...], str]:
    """The column names and the separator: a tab if the first line has one, where the file's name doesn't say."""
    first = next(stream).removeprefix(codecs.BOM_UTF8)
    separator = separator or ("\t" if b"\t" in first else ",")
    try:
        names = next(csv.reader((line.decode() for line in chain([first], stream)), delimiter=separator))
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: header: not UTF-8 (byte {error.start + 1})") from None
    if len(set(names)) < len(names):
        raise ValueError(f"{file}: header: two columns have the same name")
    return tuple(names), separator


def _cells(
    file: Path, stream: BufferedReader, names: Sequence[str], separator: str, columns: Sequence[str]
) -> Iterator[Columns]:
    import pyarrow as pa
    import pyarrow.csv

    if not stream.peek(1):
        raise ValueError(f"{file}: no rows (nothing but a header)")
    try:
        reader = pyarrow.csv.open_csv(
            _WithLastRow(stream, separator.join([LAST_ROW] * len(names)).encode()),
            # one thread: else errors come without row numbers
            read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=BLOCK_BYTES, use_threads=False),
            # in a single column an empty line is an empty cell
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=columns, column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
        n, complete = 0, False
        for batch in reader:
            if batch.num_rows and batch.column(0)[-1].as_py() == LAST_ROW:
                batch, complete = batch.slice(0, batch.num_rows - 1), True
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield dict(zip(columns, batch.slice(start, BATCH_ROWS).columns))
            n += batch.num_rows
        if not complete:
            raise ValueError(f"{file}: row {n - 1}: a cell without end; close its quotes")
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file}: {_csv_problem(str(error), separator)}") from None


class _WithLastRow:
    """A stream with one more row. pyarrow takes a quote that is never closed for a cell that holds all rows to the end
    of the file, without a word: then this row doesn't come out."""

    closed = False

    def __init__(self, stream: BufferedReader, row: bytes) -> None:
        self._stream, self._rest, self._line_ended = stream, row, True

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        if data:
            self._line_ended = data.endswith((b"\n", b"\r"))
            return data
        rest, self._rest = self._rest, b""
        return rest if self._line_ended or not rest else b"\n" + rest

    def close(self) -> None:
        """Left to whoever opened the stream."""


def _csv_problem(message: str, separator: str) -> str:
    """What pyarrow says of a CSV file without the row it quotes; rows count from 0, as everywhere."""
    row = re.search(r"Row #(\d+): ", message)
    where = f"row {int(row[1]) - 1}: " if row else ""
    fields = re.search(r"Expected (\d+) columns, got (\d+)", message)
    if fields:
        between = "tabs" if separator == "\t" else "commas"
        return f"{where}{fields[2]} cells where the header has {fields[1]} (quote cells with {between} or line breaks)"
    if "UTF8" in message:
        return f"{where}not UTF-8"
    if "straddl" in message or "block" in message:
        return f"{where}a cell without end (is a closing quote missing?)"
    return f"{where}not readable as a table"
