"""Whether two tables whose rows are matched by position have them in the same order, as far as their columns tell."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from toxeval.core.refusals import Doubt, SayColumns, Text, refuse

from .columns import ID, REFERENCE_ID
from .tables import Table, as_list, shown

#: The columns in which pandas writes an index: in CSV without a name, in Parquet only one that isn't 0, 1, 2 and so on.
INDEX = ("", "__index_level_0__")
#: A text that may tell rows apart, and isn't running text, has so many characters at most.
LONGEST_ID = 64


class _Pair:
    """A column of each table.

    Attributes:
        names: what they are called.
        distinct: whether the first rows all differ.
        equal: whether they agree in every row seen.
        sums: of the hashes of their values: equal where both have the same values in any order.
    """

    def __init__(self, first: str, second: str) -> None:
        self.names = first, second
        self.distinct, self.equal, self.sums = True, True, [0, 0]

    def see(self, first: list[Any], second: list[Any]) -> None:
        if self.equal and first != second:
            self.equal = list(map(str, first)) == list(map(str, second))
        for i, values in enumerate((first, second)):
            self.sums[i] += sum(map(hash, map(str, values)))

    @property
    def moved(self) -> bool:
        """Whether they have the same values, but in other rows."""
        return not self.equal and self.sums[0] == self.sums[1]


class Order:
    """Compares the columns that are no inputs, some rows at a time.

    Columns of one name tell that the order is the same, or another one; so do two of different names that look like
    ids.

    Args:
        inputs: names of columns that are, or may be, inputs, and tell nothing.
    """

    def __init__(self, metric: str, tables: Sequence[Table], inputs: Iterable[str]) -> None:
        skipped = set(inputs)
        self._metric, self._tables = metric, tables
        self._free = [[c for c in table.columns if c not in skipped | table.repeated] for table in tables]
        self._common = [_Pair(name, name) for name in self._free[0] if name in self._free[1]]
        self._pairs: list[_Pair] | None = None  # the first rows tell which columns look like ids
        #: (table, column) of an index that the other table hasn't -> its last value, or None if it doesn't rise
        self._rising: dict[tuple[int, str], float | None] = {
            (i, name): -np.inf
            for i in (0, 1)
            for name in INDEX
            if name in self._free[i] and name not in self._free[1 - i]
        }

    def columns(self, i: int) -> list[str]:
        """The columns to read of table ``i``."""
        return self._free[i]

    def see(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
        """Look at the same rows of both tables."""
        sides = [{name: as_list(values) for name, values in side.items()} for side in (first, second)]
        if self._pairs is None:
            ids = [[name for name in free if _like_ids(side[name])] for free, side in zip(self._free, sides)]
            self._pairs = [*self._common, *(_Pair(a, b) for a in ids[0] for b in ids[1] if a != b)]
            for pair in self._common:
                pair.distinct = len(set(map(str, sides[0][pair.names[0]]))) == len(sides[0][pair.names[0]])
        for pair in self._pairs:
            pair.see(*(side[name] for side, name in zip(sides, pair.names)))
        for (i, name), last in self._rising.items():
            self._rising[i, name] = None if last is None else _last_of_rising(last, sides[i][name])

    def judge(self) -> None:
        """Refuse rows that are known to be in another order, and warn of those that may be."""
        pairs = self._pairs or []
        if any(pair.equal and pair.distinct for pair in pairs):
            return
        first, second = (table.name for table in self._tables)
        for pair in pairs:
            if pair.moved:
                a, b = map(_column, pair.names)
                what = f"{a} has" if pair.names[0] == pair.names[1] else f"{a} and {b} have"
                found = f"{first} and {second} have no ids in common, and {what} the same values in another order"
                refuse(found, "rows in the same order, or ids", _way(pair), metric=self._metric, where="rows")
        for (i, name), last in self._rising.items():
            if last is None:
                found = f"{_column(name)} of {self._tables[i].name} says that its rows aren't in their first order"
                refuse(found, "rows in the same order, or ids", _way(None), metric=self._metric, where="rows")
        differing = [_column(pair.names[0]) for pair in self._common if not pair.equal]
        if differing:
            names = f"{', '.join(differing[:5])}{', …' if len(differing) > 5 else ''}"
            said = f"rows of {first} and {second} are matched by position, as they have no ids in common"
            way: Text = ("a column that is there once for each row matches them with ", SayColumns(((ID, None),)))
            doubt = Doubt(f"{said}, and they differ in {names}", hint=way, metric=self._metric)
            warnings.warn(doubt, stacklevel=2)


def _like_ids(values: list[Any]) -> bool:
    """Whether values may tell rows apart."""
    if set(map(type, values)) - {str, int} or len(set(values)) < len(values):
        return False
    return all(0 < len(value) <= LONGEST_ID for value in values if isinstance(value, str))


def _last_of_rising(last: float, values: list[Any]) -> float | None:
    """The last of some values, if they are numbers that rise from ``last`` on."""
    try:
        numbers = np.array([last, *map(float, values)])
    except (ValueError, TypeError):
        return last  # no index at all
    return float(numbers[-1]) if bool((np.diff(numbers) > 0).all()) else None


def _column(name: str) -> str:
    return "an index of pandas" if name in INDEX else shown(name)


def _way(pair: _Pair | None) -> Text:
    """What to do: match rows by a pair of columns, if they may tell rows apart, or say that the order is right."""
    no_ids = ("if the order is right all the same: ", SayColumns(((ID, ""),)))
    if pair is None or not pair.distinct or set(INDEX).intersection(pair.names):
        return no_ids
    first, second = pair.names
    said = ((ID, first),) if first == second else ((ID, first), (REFERENCE_ID, second))
    return ("to match them by it: ", SayColumns(said), "; ", *no_ids)
