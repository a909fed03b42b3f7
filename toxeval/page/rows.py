"""What a visitor gives, a text or a file, as a table; and which of its columns is what."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toxeval.core.declarations import GROUP, LABEL, SCORE, SEQUENCE, Definition, Input
from toxeval.core.judged import GOLD, HUMAN, judged
from toxeval.core.refusals import NUMBER, Refusal, refuse
from toxeval.page.words import base_name
from toxeval.read import Limits, Table, open_bytes, open_pasted
from toxeval.read.columns import ID, find_inputs
from toxeval.read.tables import as_list, follow

#: What the page calls the column with the names of groups.
BY = "groups"
#: How much a public page reads: bytes of a file or a text, rows, and values in lists.
LIMITS = Limits(bytes=10_000_000, rows=100_000, values=2_000_000)
#: So many values of a column are shown.
VALUES_SHOWN = 4


@dataclass(frozen=True)
class Given:
    """The rows that a browser sent.

    Attributes:
        table: what they were read as.
        named: whether they came with the names of the columns.
        file: the name of the visitor's own file, or "".
    """

    table: Table
    named: bool
    file: str

    @property
    def saved_as(self) -> str:
        """The file that has these rows with the columns' names: the visitor's own, or one that the page gives."""
        ending = {"\t": "tsv", "": "json"}.get(self.table.separator, "csv")
        return self.file if self.named and self.file else f"rows.{ending}"

    @property
    def header(self) -> str:
        """What lacks before the rows in that file."""
        return "" if self.named else self.table.separator.join(self.table.columns) + "\n"


def open_given(definition: Definition, given: Mapping[str, Any]) -> Given:
    """The table that a browser sent.

    Args:
        definition: of the metric.
        given: ``text``, or ``file`` with ``name`` and ``data`` (in base64); ``header`` is whether the first row has
            the columns' names, None if the visitor doesn't say.

    Raises:
        Refusal: if there is none, or it can't be read.
    """
    text, file, header, name = given.get("text"), given.get("file"), given.get("header"), ""
    if file:
        try:
            name, content = str(file["name"]), base64.b64decode(file["data"], validate=True)
        except (ValueError, KeyError, TypeError, binascii.Error):
            refuse("the file didn't arrive whole; please choose it again")

    def read(header: bool) -> Table:
        if file:
            return open_bytes(name, content, header=header, limits=LIMITS)
        if not isinstance(text, str) or not text.strip():
            refuse("there are no rows yet: paste some, choose a file, or take an example")
        return open_pasted(text, header=header, limits=LIMITS)

    named = header is not False
    table = read(named)
    if table.separator and header is None and _is_row(definition, table.columns):
        named, table = False, read(False)
    return Given(table, named, base_name(name))


def _is_row(definition: Definition, cells: Sequence[str]) -> bool:
    """Whether a first row is one of the rows: it has a number or a label, and no name that an input has."""
    labels = {label for each in definition.inputs for part in (each, *each.fields) for label in part.labels}
    if any(not {*each.columns}.isdisjoint(cells) for each in definition.inputs):
        return False
    return any(NUMBER.fullmatch(cell) or cell and labels.issuperset(cell.split()) for cell in cells)


# --- columns ------------------------------------------------------------------------------------------------------


@dataclass
class Reading:
    """How some rows were read, as far as that went.

    Attributes:
        given: the rows.
        n_rows: how many there are.
        first: column -> its first values.
        found: input, or field of one (``predictions.slots``) -> column.
        refusal: why they can't be scored as they are.
    """

    given: Given | None = None
    n_rows: int = 0
    first: Mapping[str, Any] | None = None
    found: Mapping[str, str] | None = None
    refusal: Refusal | None = None

    def values(self, column: str) -> list[Any]:
        """The first values of a column."""
        assert self.given is not None
        name, path = self.given.table.path(column)
        return follow(as_list(self.first[name][:VALUES_SHOWN]), path) if self.first and name in self.first else []


def read_given(definition: Definition, given: Mapping[str, Any]) -> Reading:
    """How rows are read, and what is still to be said of them."""
    reading = Reading()
    try:
        reading.given = open_given(definition, given)
        table = reading.given.table
        once = [name for name in table.columns if name not in table.repeated] or table.columns
        reading.first = next(iter(table.batches(once)), {})
        lengths = (len(batch[once[0]]) for batch in table.batches(once[:1]))
        reading.n_rows = sum(lengths) if table.n_rows is None else table.n_rows
        reading.found = said = columns_said(definition, given, table)
        counted, columns, _ = meant(definition, said)
        (places,) = find_inputs(counted, [table], columns)
    except Refusal as refusal:
        reading.refusal = refusal
        return reading
    reading.found = {}
    for name, place in places.items():
        each = definition.input(name)
        fields = [field.name for field in each.fields] if each else []
        parts = place if isinstance(place, dict) else {field: f"{place}.{field}" for field in fields}
        reading.found |= {f"{name}.{field}": column for field, column in parts.items()} or {name: str(place)}
    if said.get(BY):
        reading.found |= {BY: said[BY]}
    return reading


def columns_said(definition: Definition, given: Mapping[str, Any], table: Table) -> dict[str, str]:
    """Input -> column, as far as the visitor says and the table has it; "" for one to be left out. A column ``human``
    is taken for human labels where there are no references."""
    said = given.get("columns")
    pairs = said.items() if isinstance(said, dict) else ()
    found = {name: column for name, column in pairs if isinstance(column, str) and (not column or table.has(column))}
    gold = definition.input(GOLD)
    if definition.judged and gold and HUMAN in table.columns and not {GOLD, HUMAN} & found.keys():
        found |= {} if {*gold.columns} & {*table.columns} else {HUMAN: HUMAN}
    return found


def meant(definition: Definition, said: Mapping[str, str]) -> tuple[Definition, dict[str, str], list[str]]:
    """The metric that counts the rows (`judged`, if some have human labels), what it is told of columns, and those that
    name groups."""
    columns = {name: column for name, column in said.items() if name != BY and (column or name != HUMAN)}
    by = [said[BY]] if said.get(BY) else []
    if HUMAN not in columns:
        return definition, columns, by
    if by:
        refuse("groups and human labels", "one of them", where=BY)
    return judged(definition), columns, by


def asked(definition: Definition, *, human: bool = False) -> Iterator[tuple[str, str, bool]]:
    """What is asked of the columns: the name of an input or field, what a cell holds, whether it must be there;
    ``human`` is whether there are human labels of some rows, and then no references are wanted."""
    for each in definition.inputs:
        for part in each.fields or (each,) if not human or each.name != GOLD else ():
            yield f"{each.name}.{part.name}" if each.fields else each.name, _about(part), each.required
    yield ID, "what tells rows apart", False
    if definition.judged:
        yield HUMAN, "human labels of some rows, drawn at random: corrects the rate for its judge's errors", False
    yield BY, "whose groups of rows are scored by themselves, too", False


def _about(each: Input) -> str:
    labels = ", ".join(each.labels)
    about = {
        LABEL: labels + " or fractions" * each.numbers,
        SEQUENCE: f"labels between spaces: {labels}",
        SCORE: "a number",
        GROUP: "the name of a group of rows",
    }
    return about.get(each.kind, "")
