"""What is said of ids that don't tell rows apart."""

from typing import Any

from toxeval.core.declarations import Definition
from toxeval.core.refusals import RowNumber, refuse

from .columns import ID
from .tables import Table


def refuse_repeated(definition: Definition, table: Table, first: int, again: int, hint: Any = "") -> None:
    """Refuse two rows with one id."""
    found = ("rows ", RowNumber(first), " and ", RowNumber(again), f" of {table.name} have the same one")
    refuse(found, "each id once", hint, metric=definition.name, inputs=(ID,))


def some(rows: list[int]) -> str:
    """The first few of some rows.

    >>> some([3]), some([1, 2, 3, 4, 5, 6])
    ('row 3', 'rows 1, 2, 3, 4, 5 …')
    """
    few = ", ".join(map(str, rows[:5]))
    return f"row{'s' if len(rows) > 1 else ''} {few}{' …' if len(rows) > 5 else ''}"
