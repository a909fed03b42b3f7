"""JSON Lines, and JSON documents: an array of objects, or an object of columns.

Python's own reader, told to refuse what it would take without a word: a field that is there twice.
"""

import json
import secrets
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from toxeval.core.refusals import Known, refuse

from . import tables
from .sources import Source, pieces
from .tables import Columns, Table, follow, from_columns, gathered, shown, split_path

#: Between the lines of a piece of text that is read as one array: no file has it by chance, or by design.
_BETWEEN = secrets.randbits(62)
#: What may stand before the value of a field: the quote that ends its name, or white space after it, and a colon.
COLONS = ('":', " :", "\t:", "\r:")
_SPACE = " \t\r\n"
_WANTED = "a JSON object in every line is wanted"


def read_json(text: str | bytes) -> Any:
    """A JSON value.

    Raises:
        json.JSONDecodeError: if it is none.
        Refusal: for what Python's own reader ends with another error, or takes without a word: of a field that is there
            twice it keeps the last value.
    """
    if isinstance(text, str):  # json.loads would make a reader of its own
        return _strictly(lambda: _DECODER.decode(text))
    return _strictly(lambda: json.loads(text, object_pairs_hook=_object))


def read_json_at(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins at a position, and where it ends; raises as `read_json` does."""
    found: tuple[Any, int] = _strictly(lambda: _DECODER.raw_decode(text, at))
    return found


def _strictly(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except RecursionError:
        refuse("JSON that is nested too deep")
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        if hasattr(error, "found"):
            raise
        refuse("a whole number of more digits than the limit of Python")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        refuse("an object has a field twice")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


# --- lines --------------------------------------------------------------------------------------------------------


def from_lines(source: Source, begun: Iterator[bytes]) -> Table:
    """The table in JSON Lines; its columns are the fields of the first record."""
    reading = _records(source.name, begun)
    first = next(reading, None)
    if first is None:
        refuse("no rows (the file is empty)", file=source.name)
    names = tuple(first[1][0])
    nested = _nested(first[1][0])
    late = {name: f"line {first[0] + i}" for name, i in _late(names, first[1], ())}
    readings = [chain([first], reading)]

    def parts(columns: Sequence[str]) -> Iterator[Columns]:
        n_rows = 0
        for line, records in readings.pop() if readings else _records(source.name, source.blocks()):
            for name, i in _late(names, records, late):
                late[name] = f"line {line + i}"
            n_rows += len(records)
            source.limits.check_rows(source.name, n_rows)
            yield {name: _values(source, records, split_path(name, names, nested), line - 1) for name in columns}

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        return gathered(parts(columns))

    return Table(
        source.name, names, batches, read_as="JSON Lines", once=source.once, nested=nested, late=late, line=(1).__add__
    )


def _records(name: str, blocks: Iterator[bytes]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The records, many at a time, with the line of the first of them."""
    line, empty, width = 1, 0, 0
    for piece in pieces(name, blocks):
        body = piece.rstrip(_SPACE)
        if body and empty:
            refuse(f"empty; {_WANTED}", file=name, line=empty)
        if body:
            records = _parsed(name, line, body, width)
            width = len(records[0])
            yield line, records
        after = piece.count("\n", len(body))
        line += piece.count("\n")
        if not empty and after > bool(body):  # only white space may follow
            empty = line - after + bool(body)


def _parsed(name: str, line: int, body: str, width: int) -> list[dict[str, Any]]:
    """The records of some lines: of all at once, or line by line where something is wrong, to say where.

    ``width`` is how many fields a record may be expected to have. If there are only as many braces and colons as that
    takes, no field can be there twice, and Python's reader needn't call us for each object.
    """
    n = body.count("\n") + 1
    plain = body.count("{") == n and sum(map(body.count, COLONS)) == n * width
    try:
        text = f"[{body.replace(chr(10), f',{_BETWEEN},')}]"
        values = json.loads(text, object_pairs_hook=None if plain else _object)
    except (ValueError, RecursionError):
        values = []
    records: list[dict[str, Any]] = values[::2]
    if (
        len(values) == 2 * n - 1
        and set(map(type, records)) == {dict}
        and all(map(_BETWEEN.__eq__, values[1::2]))
        and (not plain or sum(map(len, records)) == n * width)
    ):
        return records
    return [_record(name, number, text) for number, text in enumerate(body.split("\n"), line)]


def _record(name: str, line: int, text: str) -> dict[str, Any]:
    with Known(file=name, line=line):
        try:
            record = read_json(text)
        except json.JSONDecodeError as error:
            found = f"broken JSON at character {_break(error)[1]} ({error.msg})" if text.strip() else "empty"
            refuse(f"{found}; {_WANTED}")
        if not isinstance(record, dict):
            refuse(f"a {type(record).__name__}; {_WANTED}")
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


def _nested(record: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name, value in record.items() if isinstance(value, dict))


def _values(
    source: Source, records: Sequence[Mapping[str, Any]], place: tuple[str, list[str]], start: int
) -> list[Any]:
    """What some records have in a place, None where they haven't; ``start`` is the row of the first of them."""
    name, path = place
    try:
        values = list(map(itemgetter(name), records))
    except KeyError:
        values = [record.get(name) for record in records]
    with Known(file=source.name):
        return follow(values, path, start) if path else values


# --- documents ----------------------------------------------------------------------------------------------------


def from_json(source: Source, begun: Iterator[bytes]) -> Table:
    """The table in JSON of either kind. A file called ``.json`` may also be one object of columns."""
    head = next(begun, b"").removeprefix(BOM_UTF8)
    blocks: Iterator[bytes] = chain([head], begun)
    if head.lstrip().startswith(b"["):
        return _from_document(source, b"".join(blocks))
    line, _, rest = head.partition(b"\n")
    if source.ending == ".json" and (not rest.strip() or not _is_object(line)):
        content = b"".join(blocks)
        if b"\n" in content.strip() or _is_columns(_is_object(content)):
            return _from_document(source, content)
        blocks = iter([content])
    return from_lines(source, blocks)


def _is_object(line: bytes) -> Any:
    """The object in a line, if it is one by itself."""
    try:
        value = read_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _is_columns(document: Any) -> bool:
    """Whether a JSON object is one of columns: lists, or the fields of records as lists."""
    parts = [part.values() if isinstance(part, dict) else [part] for part in (document or {}).values()]
    return bool(parts) and all(isinstance(values, list) for part in parts for values in part)


def _from_document(source: Source, content: bytes) -> Table:
    """The table in a JSON document, which is in memory as a whole: JSON Lines is the format for what doesn't fit."""
    text = "".join(pieces(source.name, [content]))
    with Known(file=source.name):
        try:
            document = read_json(text)
        except json.JSONDecodeError as error:
            line, character = _break(error)
            refuse(f"broken JSON at character {character} ({error.msg})", line=line)
        if isinstance(document, dict):
            return _from_columns(source, document)
        for row, record in enumerate(document):
            if not isinstance(record, dict):
                refuse(f"a {type(record).__name__}; an array of JSON objects is wanted", row=row)
        if not document:
            refuse("no rows (an empty array)")
        source.limits.check_rows(source.name, len(document))
    names, nested = tuple(document[0]), _nested(document[0])
    late = {name: f"row {i}" for name, i in _late(names, document, ())}

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        for start in range(0, len(document), tables.BATCH_ROWS):
            block = document[start : start + tables.BATCH_ROWS]
            yield {name: _values(source, block, split_path(name, names, nested), start) for name in columns}

    n_rows = len(document)
    return Table(source.name, names, batches, read_as="a JSON array", n_rows=n_rows, nested=nested, late=late)


def _from_columns(source: Source, document: Mapping[str, Any]) -> Table:
    if not _is_columns(document):
        refuse("an object; an array of JSON objects is wanted, or an object of columns, each a list")
    columns = {}
    for name, values in document.items():
        if isinstance(values, dict):
            lengths = set(map(len, values.values()))
            if len(lengths) > 1:
                refuse("fields of different lengths", "one value a row in every field", where=f"column {shown(name)}")
            values = [dict(zip(values, row)) for row in zip(*values.values())]
        columns[name] = values
    table = from_columns(source.name, columns, read_as="a JSON object of columns")
    source.limits.check_rows(source.name, table.n_rows or 0)
    return table
