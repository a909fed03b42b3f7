"""What a visitor gives, a text or a file, as a table; and what is in which of its columns."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toxeval.core.declarations import GROUP, LABEL, SCORE, SEQUENCE, Definition, Input
from toxeval.core.refusals import NUMBER, Refusal, refuse
from toxeval.read import Limits, Table, open_bytes, open_pasted
from toxeval.read.columns import ID, Place, find_inputs
from toxeval.read.tables import as_list, follow

#: How much a public page reads: bytes of a file or a text, rows, and values in lists.
LIMITS = Limits(bytes=10_000_000, rows=100_000, values=2_000_000)
TAB = "\t"
#: So many rows of a column are shown, and so many characters of a value.
ROWS_SHOWN, LONGEST_SHOWN = 4, 24


@dataclass(frozen=True)
class Column:
    """What is asked of a column, or of the field of a record.

    Attributes:
        name: of the input, ``predictions.slots`` for a field.
        about: what its cells hold.
        required: whether it must be there.
        column: where it was found, or "".
        values: its first values.
    """

    name: str
    about: str
    required: bool
    column: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How some rows were read.

    Attributes:
        read_as: what they were taken for.
        header: whether the first row has the columns' names; None where that is no question.
        n_rows: how many there are.
        choices: the columns there are.
        columns: what the metric takes, and where it is.
        refusal: why they can't be scored as they are.
    """

    read_as: str = ""
    header: bool | None = None
    n_rows: int = 0
    choices: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    refusal: Refusal | None = None


# --- tables -------------------------------------------------------------------------------------------------------


def open_given(definition: Definition, given: Mapping[str, Any]) -> tuple[Table, bool]:
    """The table that a browser sent, and whether it has its columns' names.

    Args:
        definition: of the metric.
        given: ``text``, or ``file`` with ``name`` and ``data`` (in base64); ``header`` is whether the first row has
            the columns' names, or None.

    Raises:
        Refusal: if there is none, or it can't be read.
    """
    text, file, header = given.get("text"), given.get("file"), given.get("header")
    if file:
        try:
            name, content = str(file["name"]), base64.b64decode(file["data"], validate=True)
        except (ValueError, KeyError, TypeError, binascii.Error):
            refuse("the file didn't arrive whole; please choose it again")
    elif not isinstance(text, str) or not text.strip():
        refuse("there are no rows yet: paste some, choose a file, or take an example")

    def read(header: bool) -> Table:
        if file:
            return open_bytes(name, content, header=header, limits=LIMITS)
        return open_pasted(text, header=header, limits=LIMITS)

    named = header is not False
    try:
        table = read(named)
        if table.separator and header is None and _is_row(definition, table.columns):
            named, table = False, read(False)
    except Refusal as refusal:
        refusal.file = shown_name(refusal.file) if file else ""
        raise
    return table, named


def shown_name(name: str) -> str:
    """A file's name without folders."""
    return name.replace("\\", "/").rpartition("/")[2][:100]


def file_name(given: Mapping[str, Any], table: Table, named: bool) -> str:
    """What the file with the rows is called: an own one, if it has its columns' names, or one that the page gives."""
    if named and given.get("file"):
        return shown_name(table.name)
    return f"rows{'.tsv' if table.separator == TAB else '.csv' if table.separator else '.json'}"


def _is_row(definition: Definition, cells: Sequence[str]) -> bool:
    """Whether a first row is one of the rows: it has a number or a label, and no name that an input has."""
    inputs = [part for each in definition.inputs for part in (each, *each.fields)]
    if {column for each in definition.inputs for column in each.columns}.intersection(cells):
        return False
    labels = {label for each in inputs for label in each.labels}
    return any(NUMBER.fullmatch(cell) or labels.issuperset(cell.split() or [""]) for cell in cells)


# --- columns ------------------------------------------------------------------------------------------------------


def read_given(definition: Definition, given: Mapping[str, Any]) -> Reading:
    """How rows are read, and what is still to be said of them."""
    asked = list(_asked(definition))
    try:
        table, named = open_given(definition, given)
        n_rows, first = _looked_through(table)
    except Refusal as refusal:
        return Reading(columns=tuple(asked), refusal=refusal)
    said, refused = columns_said(given, table), None
    try:
        found = _by_name(definition, find_inputs(definition, [table], said)[0])
    except Refusal as refusal:
        found, refused = said, refusal
    if ID in found or ID in said:
        asked.append(Column(ID, "what tells rows apart", required=False))
    columns = [
        replace(each, column=found.get(each.name, ""), values=_values(table, first, found.get(each.name, "")))
        for each in asked
    ]
    choices = dict.fromkeys([*table.columns, *(each.column for each in columns if each.column)])
    header = named if table.separator else None
    return Reading(table.read_as, header, n_rows, tuple(choices), tuple(columns), refused)


def columns_said(given: Mapping[str, Any], table: Table) -> dict[str, str]:
    """Input -> column, as far as the visitor says and the table has it; "" for one to be left out."""
    said = given.get("columns")
    pairs = said.items() if isinstance(said, dict) else ()
    return {str(name): column for name, column in pairs if isinstance(column, str) and (not column or table.has(column))}


def _asked(definition: Definition) -> Iterator[Column]:
    for each in definition.inputs:
        for part in each.fields or (each,):
            name = f"{each.name}.{part.name}" if each.fields else each.name
            yield Column(name, _about(part), each.required)


def _about(each: Input) -> str:
    """What a cell holds."""
    labels = ", ".join(each.labels)
    if each.kind == SEQUENCE:
        return f"labels between spaces: {labels}"
    if each.kind == LABEL:
        return f"{labels}{' or fractions' * each.numbers}"
    return {SCORE: "a number", GROUP: "the name of a group of rows"}.get(each.kind, "")


def _looked_through(table: Table) -> tuple[int, dict[str, Any]]:
    """How many rows there are, and the first of them."""
    once = [name for name in table.columns if name not in table.repeated]
    first = next(iter(table.batches(once or table.columns)), {})
    if table.n_rows is not None:
        return table.n_rows, first
    return sum(len(batch[once[0]]) for batch in table.batches(once[:1])), first


def _values(table: Table, first: Mapping[str, Any], column: str) -> tuple[str, ...]:
    """The first values of a column."""
    name, path = table.path(column)
    values = follow(as_list(first[name][:ROWS_SHOWN]), path) if name in first else []
    return tuple(_short(value if isinstance(value, str) else json.dumps(value, default=str)) for value in values)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _by_name(definition: Definition, places: Mapping[str, Place]) -> dict[str, str]:
    """Input, or field of one -> column."""
    found = {}
    for name, place in places.items():
        each = definition.input(name)
        fields = [field.name for field in each.fields] if each else []
        parts = place if isinstance(place, dict) else {field: f"{place}.{field}" for field in fields}
        found |= {f"{name}.{field}": column for field, column in parts.items()} or {name: str(place)}
    return found
