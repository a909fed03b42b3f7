"""The columns that say which group a row is in."""

from collections.abc import Mapping, Sequence
from typing import Any

from toxeval.core.declarations import Definition
from toxeval.core.refusals import describe, refuse

from .tables import Columns, Table, as_list, shown

#: What stands before a column's name where its values are among a batch's inputs.
BY = "by "
#: How cells of CSV and TSV say yes and no.
ANSWERS = {"1": True, "1.0": True, "true": True, "yes": True, "0": False, "0.0": False, "false": False, "no": False}


class GroupColumns:
    """The columns of one or two tables that say which group a row is in: one with names, or several with yes and no.

    Args:
        definition: of the metric.
        tables: the predictions' table, and perhaps the references'; each column is taken from the first that has it.
        columns: their names.

    Raises:
        Refusal: for a column that no table has, or that is named twice.
    """

    def __init__(self, definition: Definition, tables: Sequence[Table], columns: Sequence[str]) -> None:
        self._metric, self._tables, self._alone = definition.name, tables, len(columns) == 1
        self._wanted: list[list[str]] = [[] for _ in tables]
        for column in columns:
            there = [i for i, table in enumerate(tables) if table.has(column)]
            if not there:
                allowed = f"one of the columns {', '.join(shown(name) for table in tables for name in table.columns)}"
                refuse("no such column", allowed, metric=definition.name, where=f"by {column}")
            if columns.count(column) > 1:
                refuse("named twice", "each column once", metric=definition.name, where=f"by {column}")
            self._wanted[there[0]].append(column)

    def of(self, i: int) -> list[str]:
        """The columns to read of table ``i``."""
        return self._wanted[i]

    def parse(self, i: int, batch: Columns) -> dict[str, list[Any]]:
        """Their values in a batch of table ``i``, by `BY` and the column's name. An empty cell is no name, but None."""
        found = {BY + column: as_list(batch[column]) for column in self._wanted[i]}
        if not self._tables[i].text:
            return found
        if self._alone:
            return {name: [cell or None for cell in cells] for name, cells in found.items()}
        return {
            name: [self._answer(name, row, cell) for row, cell in enumerate(cells)] for name, cells in found.items()
        }

    def _answer(self, name: str, row: int, cell: str) -> bool:
        if cell.lower() not in ANSWERS:
            found = describe(cell) if cell else "an empty cell"
            refuse(found, "yes and no, true and false, or 1 and 0", metric=self._metric, inputs=(name,), row=row)
        return ANSWERS[cell.lower()]


def split_groups(inputs: Mapping[str, Any], columns: Sequence[str]) -> tuple[dict[str, Any], Any]:
    """The inputs of a metric, and the groups as ``compute_by`` takes them.

    >>> split_groups({"predictions": [1, 0], "by language": ["si", "en"]}, ["language"])
    ({'predictions': [1, 0]}, ['si', 'en'])
    """
    groups = {column: inputs[BY + column] for column in columns}
    rest = {name: values for name, values in inputs.items() if not name.startswith(BY)}
    return rest, groups if len(columns) > 1 else groups[columns[0]]
