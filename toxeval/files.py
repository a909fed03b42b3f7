"""Tables in files, read in batches: JSON Lines, CSV, TSV, Parquet, ``datasets`` folders, standard input.

Nothing is guessed about a value: CSV and TSV cells stay texts (``NA`` is a text too), a broken row stops the reading
with its number, and no message shows what a row says.
"""

from __future__ import annotations

import codecs
import csv
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast
from weakref import WeakSet

from toxeval.tables import BATCH_ROWS, STANDARD_INPUT, Columns, Table, from_folder, from_parquet, read_json

_TAKEN: WeakSet[BufferedReader] = WeakSet()
#: Characters a cell of CSV may have; Python's own limit is short of a long document.
LONGEST_CELL = 1 << 27
TAB = "\t"
#: How files begin that are no text, though their names may say so.
PACKED = {
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"PK\x03\x04": "an Excel workbook or a ZIP archive; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the table as CSV",
}


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
        return _from_stream(Path(STANDARD_INPUT), cast(BufferedReader, sys.stdin.buffer), once=True)
    file = Path(path).expanduser()
    split = ""
    if not file.exists() and ":" in path:
        folder, _, split = path.rpartition(":")
        file = Path(folder).expanduser()
    if file.is_dir():
        return from_folder(file, split)
    if split or not file.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if file.suffix == ".parquet":
        return from_parquet([file], str(file))
    with file.open("rb") as stream:
        return _from_stream(file, stream, once=False)


def _from_stream(file: Path, stream: BufferedReader, *, once: bool) -> Table:
    """A table from a file or from standard input, recognised by the file's name or else by its first bytes."""
    head = stream.peek(8)
    kind = file.suffix
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{file}: UTF-16 text; save it as UTF-8")
    for magic, what in PACKED.items():
        if head.startswith(magic):
            raise ValueError(f"{file}: {what}")
    if not head.strip():
        raise ValueError(f"{file}: no rows (the file is empty)")
    if head.startswith(b"PAR1"):
        return from_parquet([stream], str(file)) if once else from_parquet([file], str(file))
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if kind in (".csv", ".tsv") or (kind not in (".json", ".jsonl", ".ndjson") and start not in (b"{", b"[")):
        return _separated(file, stream, TAB if kind == ".tsv" else "," if kind == ".csv" else "", once)
    return _json_array(file, stream) if start == b"[" else _json_lines(file, stream, once)


def _taken(stream: BufferedReader) -> BufferedReader:
    """A stream that can't be read from its start again; refused the second time."""
    if stream in _TAKEN:
        raise ValueError("standard input is wanted more than once; save it to a file")
    _TAKEN.add(stream)
    return stream


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json_lines(file: Path, stream: BufferedReader, once: bool) -> Table:
    late: dict[str, str] = {}
    first = next(stream)
    names = tuple(_record(file, 1, first.removeprefix(codecs.BOM_UTF8)))

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        if once:
            yield from _records(file, chain([first], _taken(stream)), names, columns, late)
        else:
            with file.open("rb") as again:
                yield from _records(file, again, names, columns, late)

    return Table(str(file), names, False, None, batches, late)


def _records(
    file: Path, lines: Iterable[bytes], names: Sequence[str], columns: Sequence[str], late: dict[str, str]
) -> Iterator[Columns]:
    numbered = enumerate(lines, 1)
    while block := list(islice(numbered, BATCH_ROWS)):
        if block[0][0] == 1:
            block[0] = (1, block[0][1].removeprefix(codecs.BOM_UTF8))
        ends = not block[-1][1].strip()
        while block and not block[-1][1].strip():
            block.pop()
        records = [_record(file, number, line) for number, line in block]
        for name, i in _late(names, records, late):
            late[name] = f"line {block[i][0]}"
        if records:
            yield {name: [record.get(name) for record in records] for name in columns}
        if ends:  # only white space may follow
            for number, line in numbered:
                if line.strip():
                    raise ValueError(f"{file}: line {number - 1}: empty; a JSON object in every line is wanted")


def _record(file: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = read_json(line)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: line {number}: not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        found = f"broken JSON at character {_break(error)[1]} ({error.msg})" if line.strip() else "empty"
        raise ValueError(f"{file}: line {number}: {found}; a JSON object in every line is wanted") from None
    except ValueError as error:  # a field twice, a number too long, nesting too deep
        raise ValueError(f"{file}: line {number}: {error}") from None
    if not isinstance(record, dict):
        found = f"a {type(record).__name__}"
        raise ValueError(f"{file}: line {number}: {found}; a JSON object in every line is wanted")
    return record


def _break(error: json.JSONDecodeError) -> tuple[int, int]:
    """Line and character at which JSON breaks; where the text ends too early, Python counts the line end, too."""
    position = min(error.pos, len(error.doc.rstrip()))
    return error.doc.count("\n", 0, position) + 1, position - error.doc.rfind("\n", 0, position)


def _late(
    names: Sequence[str], records: Sequence[Mapping[str, Any]], known: Collection[str]
) -> Iterator[tuple[str, int]]:
    """The fields that the first record of a file hasn't, and where they are: columns are those of the first one."""
    for name in set().union(*records).difference(names, known):
        yield name, next(i for i, record in enumerate(records) if name in record)


def _json_array(file: Path, stream: BufferedReader) -> Table:
    """A JSON array of objects. It is in memory as a whole: JSON Lines is the format for what doesn't fit."""
    try:
        records = read_json(stream.read().removeprefix(codecs.BOM_UTF8))
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        line, character = _break(error)
        raise ValueError(f"{file}: line {line}: broken JSON at character {character} ({error.msg})") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(f"{file}: row {row}: a {type(record).__name__}; an array of JSON objects is wanted")
    if not records:
        raise ValueError(f"{file}: no rows (an empty array)")
    late = {name: f"row {i}" for name, i in _late(list(records[0]), records, ())}

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        for start in range(0, len(records), BATCH_ROWS):
            block = records[start : start + BATCH_ROWS]
            yield {name: [record.get(name) for record in block] for name in columns}

    return Table(str(file), tuple(records[0]), False, len(records), batches, late)


# --- CSV and TSV --------------------------------------------------------------------------------------------------


def _separated(file: Path, stream: BufferedReader, separator: str, once: bool) -> Table:
    first = next(stream)
    separator = separator or (TAB if b"\t" in first else ",")
    rows = _rows(file, chain([first], stream), separator)
    names = next(rows)
    other = next((mark for mark in (TAB, ";") if mark in names[0] and mark != separator), "")
    if len(names) == 1 and other:  # tables of one column have no such name
        found = f"separated by {'semicolons' if other == ';' else 'tabs'}, it seems"
        raise ValueError(f"{file}: header: {found}; save it with commas as .csv, or with tabs as .tsv")
    if len(set(names)) < len(names):
        raise ValueError(f"{file}: header: two columns have the same name (the first row must be the header)")

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        if once:
            _taken(stream)
            yield from _cells(file, rows, names, columns)
        else:
            with file.open("rb") as again:
                yield from _cells(file, islice(_rows(file, again, separator), 1, None), names, columns)

    return Table(str(file), tuple(names), True, None, batches)


def _cells(file: Path, rows: Iterator[list[str]], names: Sequence[str], columns: Sequence[str]) -> Iterator[Columns]:
    import pyarrow as pa

    empty = True
    while block := list(islice(rows, BATCH_ROWS)):
        empty = False
        by_column = list(zip(*block))
        yield {name: pa.array(by_column[names.index(name)], pa.string()) for name in columns}
    if empty:
        raise ValueError(f"{file}: no rows (nothing but a header)")


def _rows(file: Path, binary: Iterator[bytes], separator: str) -> Iterator[list[str]]:
    """The header and the rows, each with as many cells as the header.

    Python's reader and no faster one: it is strict, and says where a quote isn't closed instead of taking the rest of
    the file for one cell.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    lines = (line.decode() for line in chain([next(binary).removeprefix(codecs.BOM_UTF8)], binary))
    width, row = 0, -1  # the header is row -1
    try:
        for cells in csv.reader(lines, delimiter=separator, strict=True):
            cells = cells or [""] * (width == 1)  # an empty line: in a single column an empty cell, else no row
            if cells:
                width = width or len(cells)
                if len(cells) != width:
                    hint = f"quote cells with a {'tab' if separator == TAB else 'comma'} or a line break in them"
                    raise ValueError(f"{file}: row {row}: {len(cells)} cells where the header has {width}; {hint}")
                yield cells
                row += 1
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: {_place(row)}: not UTF-8 (byte {error.start + 1})") from None
    except csv.Error as error:
        raise ValueError(f"{file}: {_place(row)}: not readable as a table ({_csv_problem(str(error))})") from None


def _place(row: int) -> str:
    return "header" if row < 0 else f"row {row}"


def _csv_problem(message: str) -> str:
    if "new-line character" in message:
        return "a carriage return without a line feed: save it with other line ends, LF or CRLF, or quote the cell"
    return "a quote isn't closed" if "unexpected end of data" in message else message
