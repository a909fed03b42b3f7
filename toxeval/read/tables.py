"""Tables: columns with names, read in batches of rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from toxeval.core.refusals import describe, refuse

#: Rows in a batch.
BATCH_ROWS = 1 << 14

#: Column -> its values in some rows: a list, or an array of NumPy's or Arrow's.
Columns = dict[str, Any]


@dataclass(frozen=True)
class Unscored:
    """Rows that don't count by definition, such as those that a benchmark left without labels.

    Attributes:
        why: what they are, as in "rows whose labels are -1".
        columns: where that can be seen.
        find: the values of these columns -> whether each row is one, bool of shape (n,).
    """

    why: str
    columns: tuple[str, ...]
    find: Callable[[Columns], np.ndarray]


@dataclass(frozen=True)
class Table:
    """A table that is read as often as `batches` is called; one from standard input or a pipe: once.

    Attributes:
        name: what messages call it.
        columns: the names of its columns, each once.
        read_batches: names of columns -> iterator over their values.
        read_as: how it was read, in words: ``CSV``, ``JSON Lines``.
        text: whether every value is a text (CSV, TSV), so that numbers and lists must be parsed.
        separator: what stands between the cells of CSV and TSV, "" of other tables.
        n_rows: how many rows, where the format says so beforehand.
        once: whether it can't be read again.
        repeated: names that several columns have.
        nested: names of columns with records, whose fields may be named with a dotted path.
        spanning: how many lines more than rows there are, as far as it was read: where quoted cells span lines.
        late: fields of JSON that the first record hasn't -> where they first were, as far as it was read.
        line: a row -> its line in the file, for messages; None where that isn't known.
        layout: the layout it was read by, see `layouts`.
        first: columns that are what they are called, whatever other columns there are.
        unscored: which rows don't count.
        otherwise: how its program writes more columns, for messages where one is missing.
    """

    name: str
    columns: tuple[str, ...]
    read_batches: Callable[[Sequence[str]], Iterator[Columns]]
    read_as: str = ""
    text: bool = False
    separator: str = ""
    n_rows: int | None = None
    once: bool = False
    repeated: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()
    spanning: list[int] = field(default_factory=list)
    late: dict[str, str] = field(default_factory=dict)
    line: Callable[[int], int | None] = lambda row: None
    layout: str = ""
    first: tuple[str, ...] = ()
    unscored: Unscored | None = None
    otherwise: str = ""

    def batches(self, columns: Sequence[str]) -> Iterator[Columns]:
        """Some columns, in batches of rows.

        Args:
            columns: their names, or dotted paths of fields in their records.

        Raises:
            Refusal: for a column that is there twice, and for anything that isn't a table with these columns.
        """
        for name in columns:
            if name in self.repeated:
                found = f"two columns have the same name (the first row must be the header): {shown(name)}"
                refuse(found, file=self.name, where="header")
        return self.read_batches(columns)

    def has(self, column: str) -> bool:
        """Whether there is a column of that name, perhaps in later records only, or one with records the name may be a
        path in."""
        return column in self.columns or column in self.late or bool(self.path(column)[1])

    def path(self, column: str) -> tuple[str, list[str]]:
        """A column, and the fields to follow in its records: that is the longest column a dotted name begins with."""
        return split_path(column, self.columns, self.nested)


def split_path(name: str, columns: Sequence[str], nested: frozenset[str]) -> tuple[str, list[str]]:
    """A dotted name as a column and the fields to follow in its records; the whole name if it is no such path.

    >>> split_path("scores.threat.value", ["id", "scores"], frozenset(["scores"]))
    ('scores', ['threat', 'value'])
    """
    if name in columns:
        return name, []
    parts = name.split(".")
    for n in range(len(parts) - 1, 0, -1):
        column = ".".join(parts[:n])
        if column in nested:
            return column, parts[n:]
    return name, []


def follow(values: Sequence[Any], path: Sequence[str], start: int = 0) -> list[Any]:
    """The fields at the end of a path in nested records; None where a record of them is missing.

    Args:
        start: the row of the first record.

    >>> follow([{"threat": {"value": 0.5}}, {}], ["threat", "value"])
    [0.5, None]
    """
    found: list[Any] = list(values)
    for name in path:
        for i, value in enumerate(found):
            if value is not None and not isinstance(value, Mapping):
                refuse(f"{describe(value)} where a record with the field {shown(name)} is wanted", row=start + i)
            found[i] = None if value is None else value.get(name)
    return found


def from_columns(name: str, columns: Mapping[str, Sequence[Any]], *, text: bool = False, read_as: str = "") -> Table:
    """A table of columns in memory.

    Args:
        name: what messages call it.
        columns: lists of the same length.
        text: whether the values are cells of a table, which must be parsed as those of a CSV file are.
        read_as: where it is from, in words.

    >>> list(from_columns("a table", {"prediction": ["1", "0"]}, text=True).batches(["prediction"]))
    [{'prediction': ['1', '0']}]
    """
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{n} in {shown(column)}" for column, n in lengths.items())
        refuse(f"columns of different lengths: {found}", "one value a row in every column", file=name)
    n_rows = next(iter(lengths.values()), 0)
    if not n_rows:
        refuse("no rows", file=name)
    nested = frozenset(column for column, values in columns.items() if isinstance(values[0], Mapping))

    def batches(wanted: Sequence[str]) -> Iterator[Columns]:
        for start in range(0, n_rows, BATCH_ROWS):
            yield {
                column: _column(columns, split_path(column, tuple(columns), nested), start, start + BATCH_ROWS)
                for column in wanted
            }

    return Table(name, tuple(columns), batches, read_as=read_as, text=text, n_rows=n_rows, nested=nested)


def _column(columns: Mapping[str, Sequence[Any]], place: tuple[str, list[str]], start: int, stop: int) -> Any:
    values = columns[place[0]][start:stop]
    return follow(values, place[1], start) if place[1] else values


def gathered(parts: Iterable[dict[str, Any]]) -> Iterator[Columns]:
    """Columns in batches, of parts of few rows: few Python objects at a time stay in the processor's cache. Arrays stay
    as they are, and come before lists."""
    batch: dict[str, Any] = {}
    for part in parts:
        if not isinstance(next(iter(part.values())), list):
            yield part
            continue
        if not batch:
            batch = part
        else:
            for name, values in part.items():
                batch[name].extend(values)
        if len(next(iter(batch.values()))) >= BATCH_ROWS:
            yield batch
            batch = {}
    if batch:
        yield batch


def shown(column: str) -> str:
    """A column's name, as messages show it: where a header is missing, it may be anything."""
    return (column if column.isprintable() and len(column) <= 40 else "(…)") or "(unnamed)"


def as_list(values: Any) -> list[Any]:
    """A list of what is in a list or an array, NumPy's or Arrow's."""
    plain: Callable[[], list[Any]] | None = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
    return plain() if plain else list(values)
