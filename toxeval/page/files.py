"""A visitor's file, or pasted text, as columns of cells.

Only JSON, CSV and Parquet are read, nothing is evaluated, nothing is written, and how much is read is limited.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from toxeval.page.cells import MAX_BYTES, MAX_ROWS, MAX_VALUES, Refused

#: Under which names a file's column is found.
COLUMN_NAMES = {
    "predictions": ("predictions", "prediction"),
    "prediction_scores": ("prediction_scores", "prediction_score"),
    "review_scores": ("review_scores", "review_score"),
    "references": ("references", "reference", "label", "labels"),
    "categories": ("categories", "category"),
}
FIELD_PREFIXES = {
    "predictions": ("predictions.", "predictions_", "prediction_", "pred_"),
    "references": ("references.", "references_", "reference_", "ref_"),
}

FORMATS = (".json", ".jsonl", ".csv", ".tsv", ".parquet")

Columns = dict[str, list[Any]]


def read_file(name: str, content: bytes, wanted: Sequence[str]) -> Columns:
    """The wanted columns of a file, as many of them as it has.

    Args:
        name: its ending says the format; "" is pasted text.
        content: JSON (rows, or an object of columns), JSON lines, CSV, TSV or Parquet.
        wanted: inputs, in columns of any of their `COLUMN_NAMES`, as the command takes them; ``predictions.intent`` may
            be a column with one of the `FIELD_PREFIXES`, or a field.

    Raises:
        Refused: for anything that isn't such a file, is too large or has none of the columns.
    """
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    if len(content) > MAX_BYTES:
        raise Refused("file", too_large(len(content)))
    if name and ending not in FORMATS:
        raise Refused("file", f"This kind of file isn't read here; allowed: {', '.join(FORMATS)}.")
    table = _parquet(content, wanted) if ending == ".parquet" else _text(ending, content, wanted)
    columns = pick(table, wanted)
    lengths = {column: len(cells) for column, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{column} {length}" for column, length in lengths.items())
        raise Refused("file", f"The columns have different numbers of rows: {found}.")
    n = next(iter(lengths.values()))
    if not 1 <= n <= MAX_ROWS:
        raise Refused("file", f"{n:,} rows; allowed: 1 to {MAX_ROWS:,}.")
    for column, cells in columns.items():
        _check_cells(column, cells)
    return columns


def too_large(size: int) -> str:
    """The sentence for a file over the limit."""
    return f"{size / 1e6:.1f} MB are more than this page takes; allowed: {MAX_BYTES / 1e6:.0f} MB."


def pick(table: Mapping[str, Any], wanted: Sequence[str]) -> Columns:
    """The wanted columns of a table, under their own names.

    >>> pick({"reference": [1], "prediction": [0], "text": [""]}, ["predictions", "references", "categories"])
    {'predictions': [0], 'references': [1]}
    """
    columns = {column: cells for column in wanted if (cells := _find(table, column)) is not None}
    if not columns:
        names = ", ".join(map(_shown, list(table)[:8]))
        raise Refused("file", f"None of the columns {', '.join(wanted)} is there; found: {names or 'no columns'}.")
    there = {column.partition(".")[0] for column in columns}
    for column in wanted:
        name, _, field = column.partition(".")
        if field and name in there and column not in columns:
            raise Refused("file", f"No field {field} in {name}, and no column {column}.")
    return columns


def _places(column: str) -> tuple[list[str], list[str]]:
    """The names under which a column may be found, and those of records it may be a field of."""
    name, _, field = column.partition(".")
    whole = list(COLUMN_NAMES.get(name, [name]))
    return ([prefix + field for prefix in FIELD_PREFIXES[name]], whole) if field else (whole, [])


def _find(table: Mapping[str, Any], column: str) -> list[Any] | None:
    alone, records = _places(column)
    field = column.partition(".")[2]
    places = {place: table.get(place) for place in alone}
    places |= {place: _field(place, table.get(place), field) for place in records}
    found = {place: cells for place, cells in places.items() if cells is not None}
    if len(found) > 1:
        raise Refused("file", f"The column {column} is there as {' and as '.join(found)}; allowed: one of them.")
    for cells in found.values():
        if not isinstance(cells, list):
            raise Refused("file", f"The column {column} is no list of values.")
        return list(cells)
    return None


def _field(place: str, records: Any, field: str) -> Any:
    """A field of records, or of a record of columns; None where there are none."""
    if isinstance(records, dict):
        return records.get(field)
    if not isinstance(records, list) or not any(isinstance(record, dict) for record in records):
        return None
    for row, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise Refused("file", f"Row {row}, {place}: no record; allowed: a record in every row.")
        if field not in record:
            raise Refused("file", f"Row {row}, {place}: no field {field}; allowed: all fields in every row.")
    return [record[field] for record in records]


def _check_cells(column: str, cells: list[Any]) -> None:
    """Refuse what a cell of the table can't show: there a missing list would be an empty one, and True a text."""
    lists = any(isinstance(cell, list) for cell in cells)
    for row, cell in enumerate(cells, start=1):
        if cell is None and lists:
            raise Refused("file", f"Row {row}, {column}: no list; allowed: a list in every row, which may be empty.")
        if cell is None and "." in column:
            raise Refused("file", f"Row {row}, {column}: no value; allowed: every field in every row.")
        parts = cell if isinstance(cell, list) else [cell]
        if any(isinstance(part, bool) for part in parts):
            raise Refused("file", f"Row {row}, {column}: true or false; allowed: numbers and texts, such as 1 and 0.")
        if any(isinstance(part, (list, tuple, dict)) for part in parts):
            found = "an object" if isinstance(cell, dict) else "lists or objects in a list"
            raise Refused("file", f"Row {row}, {column}: {found}; allowed: a value, or a list of values.")


def _twice(what: str, name: str) -> Refused:
    return Refused("file", f"The {what} {_shown(name)} is there twice.")


def _shown(name: str) -> str:
    """A name in a sentence; it may be a text in the wrong place."""
    return name if re.fullmatch(r"[\w.-]{1,30}", name) else "(…)"


def _text(ending: str, content: bytes, wanted: Sequence[str]) -> Mapping[str, Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("file", f"Not a text in UTF-8 (at byte {error.start + 1}).") from None
    is_json = ending in (".json", ".jsonl") or not ending and text.lstrip()[:1] in ("{", "[")
    return _json(text, ending) if is_json else _csv(text, "\t" if _tabs(ending, text) else ",", wanted)


def _tabs(ending: str, text: str) -> bool:
    return ending == ".tsv" or not ending and "\t" in text.partition("\n")[0]


def _json(text: str, ending: str) -> Mapping[str, Any]:
    try:
        if ending == ".jsonl":  # of line breaks only this one can't stand in a text
            document = [json.loads(line, object_pairs_hook=_object) for line in text.split("\n") if line.strip()]
        else:
            document = json.loads(text, object_pairs_hook=_object)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        if not ending and text.count("\n"):  # pasted: perhaps JSON lines
            return _json(text, ".jsonl")
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) and ending != ".jsonl" else ""
        raise Refused("file", f"Not a whole JSON document{line}.") from None
    if isinstance(document, dict):
        return document
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
        raise Refused("file", "The JSON document is neither a list of rows nor an object of columns.")
    names = dict.fromkeys(name for row in document for name in row)
    if len(names) > 100:
        raise Refused("file", f"{len(names)} columns; allowed: 100.")
    return {name: [row.get(name) for row in document] for name in names}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; Python's own reader would keep the last of a field's values without a word."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise _twice("field", name)
        fields[name] = value
    return fields


def _csv(text: str, delimiter: str, wanted: Sequence[str]) -> Mapping[str, Any]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        refuse_twice(header, wanted)
        lines = []
        for row in rows:
            row = row or [""] * (len(header) == 1)  # an empty line is an empty cell where there is one column
            if row and len(row) != len(header):
                raise Refused("file", f"Line {rows.line_num}: {len(row)} cells; the header has {len(header)}.")
            if row:
                lines.append(row)
    except csv.Error as error:
        raise Refused("file", f"Line {rows.line_num} is not CSV ({error}).") from None
    return {name: [line[i] for line in lines] for i, name in enumerate(header)}


def refuse_twice(names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse wanted columns that are there twice; the others don't matter."""
    for name, n in Counter(names).items():
        if n > 1 and name in _all_places(wanted):
            raise _twice("column", name)


def _parquet(content: bytes, wanted: Sequence[str]) -> Mapping[str, Any]:
    """The wanted columns, read some rows at a time: what a small file unpacks to can be any size."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(
            pa.BufferReader(content),
            pre_buffer=False,
            thrift_string_size_limit=MAX_BYTES,
            thrift_container_size_limit=10_000,
        )
        possible = _all_places(wanted)
        names = [name for name in file.schema_arrow.names if name in possible]
        refuse_twice(names, wanted)
        if file.metadata.num_rows > MAX_ROWS:
            raise Refused("file", f"{file.metadata.num_rows:,} rows; allowed: {MAX_ROWS:,}.")
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        leaves = [group.column(i) for group in groups for i in range(group.num_columns)]
        leaves = [
            leaf for leaf in leaves if leaf.path_in_schema.partition(".")[0] in {n.partition(".")[0] for n in names}
        ]
        if sum(leaf.total_uncompressed_size for leaf in leaves) > 4 * MAX_BYTES:
            raise Refused("file", f"The file unpacks to more than {4 * MAX_BYTES / 1e6:.0f} MB.")
        if sum(leaf.num_values for leaf in leaves) > MAX_VALUES:
            raise Refused("file", f"The file holds more values than this page takes; allowed: {MAX_VALUES:,}.")
        table: dict[str, list[Any]] = {name: [] for name in names}
        size = 0
        for batch in file.iter_batches(batch_size=16, columns=names) if names else ():
            size += batch.nbytes
            if size > 10 * MAX_BYTES:
                raise Refused("file", f"The file unpacks to more than {10 * MAX_BYTES / 1e6:.0f} MB.")
            for name in names:
                table[name].extend(batch.column(name).to_pylist())
    except Refused:
        raise
    except (pa.ArrowException, OSError, MemoryError, ValueError, RecursionError):  # ValueError: a record's field twice
        raise Refused("file", "Not a whole Parquet file.") from None
    features = _features(file.schema_arrow.metadata)
    named = {
        name: [_named(f"Row {row}, {name}", value, features.get(name)) for row, value in enumerate(cells, start=1)]
        for name, cells in table.items()
    }
    return named or dict.fromkeys(file.schema_arrow.names)


def _all_places(wanted: Sequence[str]) -> set[str]:
    return {place for column in wanted for places in _places(column) for place in places}


def _features(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Any]:
    """What ``datasets`` wrote down about the columns."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def _named(place: str, value: Any, feature: Any) -> Any:
    """Ids of class labels by their names: a dataset's order of ids needn't be the metric's."""
    if isinstance(feature, list):  # so ``datasets`` before 4 writes down a list
        feature = {"feature": feature[0]} if feature else None
    if not isinstance(feature, dict):
        return value
    if isinstance(value, list):
        return [_named(place, part, feature.get("feature")) for part in value]
    if isinstance(value, dict):
        return {key: _named(place, part, feature.get(key)) for key, part in value.items()}
    names = feature.get("names") if feature.get("_type") == "ClassLabel" else None
    if not isinstance(names, list) or not isinstance(value, int):
        return value
    if not -1 <= value < len(names):
        raise Refused("file", f"{place}: class label {value} has no name; allowed: 0 to {len(names) - 1}.")
    return names[value] if value >= 0 else None  # -1 is a missing one
