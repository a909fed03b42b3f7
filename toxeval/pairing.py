"""Predictions and their references, row by row or by id, in batches that know where in the files their rows are."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toxeval.columns import NAMES, Parser, Place, as_list, columns_of, find_inputs, shown, watched
from toxeval.core.inputs import refuse
from toxeval.tables import STANDARD_INPUT, Table


@dataclass(frozen=True)
class Batch:
    """Some rows, ready for a metric.

    Attributes:
        inputs: input name -> values.
        n_rows: how many.
        row: (input name, row in this batch) -> its row in its file.
    """

    inputs: dict[str, Any]
    n_rows: int
    row: Callable[[str, int], int]

    def explain(self, message: str) -> str:
        """A metric's message about this batch with the rows of the files."""
        names = "|".join(self.inputs)
        message = re.sub(
            rf"\b({names})\[(\d+)\]", lambda found: f"{found[1]}[{self.row(found[1], int(found[2]))}]", message
        )
        scores = next((name for name in self.inputs if name in ("prediction_scores", "predictions")), "")
        return re.sub(r"\brow (\d+)\b", lambda found: f"row {self.row(scores, int(found[1]))}", message)


def paired(
    metric: str, config: str, predictions: Table, references: Table | None, mapping: Mapping[str, str]
) -> Iterator[Batch]:
    """The rows of one or two tables as a metric's inputs.

    Where both tables have ids (a column ``id`` or ``post_id``, or the one that ``mapping`` calls ``id``), rows are
    matched by them, and the references are held in memory; else by position. The index of pandas is no id.

    Warns:
        UserWarning: if rows are matched by position though the tables have further columns in common.

    Raises:
        ValueError: for missing columns, ids that are repeated or don't match, tables of different lengths.
    """
    tables = [predictions] if references is None else [predictions, references]
    places = find_inputs(metric, config, tables, mapping)
    if references is None:
        return _numbered(_parsed(metric, config, predictions, places[0], watched(metric, config, 0, 1, mapping)))
    left, right = (
        _parsed(metric, config, table, where, watched(metric, config, i, 2, mapping))
        for i, (table, where) in enumerate(zip(tables, places))
    )
    if "id" in places[0]:
        return _by_id(metric, tables, left, right)
    _warn_of_position(metric, tables, places)
    return _in_step(metric, tables, left, right)


def _parsed(
    metric: str, config: str, table: Table, places: Mapping[str, Place], watched: set[str]
) -> Iterator[dict[str, Any]]:
    parse = Parser(metric, config, table, places)
    row = 0
    for columns in table.batches(columns_of(places)):
        n = len(next(iter(columns.values())))
        for name in watched.intersection(table.late):  # it would be left out without a word
            found = f"the first {name!r}; an input is in every record or in none"
            raise ValueError(f"{table.name}: {table.late[name]}: {found}")
        try:
            yield parse(columns)
        except ValueError as error:
            raise ValueError(Batch(dict.fromkeys(places), n, _after(row)).explain(str(error))) from None
        row += n


def _numbered(batches: Iterator[dict[str, Any]]) -> Iterator[Batch]:
    start = 0
    for inputs in batches:
        n = n_rows(inputs)
        yield Batch(inputs, n, _after(start))
        start += n


def _after(start: int) -> Callable[[str, int], int]:
    """The rows of a batch before which there were ``start`` others."""
    return lambda _, row: start + row


def _looked_up(rows: Mapping[str, np.ndarray]) -> Callable[[str, int], int]:
    return lambda name, row: int(rows[name][row])


# --- by position --------------------------------------------------------------------------------------------------


def _warn_of_position(metric: str, tables: Sequence[Table], places: Sequence[Mapping[str, Place]]) -> None:
    """Say so where other columns could tell whether two tables have their rows in the same order."""
    first, second = tables
    if first.name == second.name:
        return
    inputs = {*columns_of(places[0]), *columns_of(places[1])}.union(*NAMES.values())
    common = [column for column in first.columns if column in second.columns and column not in inputs]
    said = f"{metric}: rows of {first.name} and {second.name} are matched by position, as they have no column id"
    named = [column for column in common if column]
    if common and _same_start(tables, common):
        return
    if named:
        names = f"{', '.join(map(shown, named[:5]))}{', …' if len(named) > 5 else ''}"
        hint = "if one of them is there once for each row, --columns id=COLUMN matches by it"
        compared = "both have" if STANDARD_INPUT in (first.name, second.name) else "they differ in"
        warnings.warn(f"{said}, and {compared} {names}; {hint}", stacklevel=3)
    # in CSV it has no name; in Parquet pandas keeps it only of rows that aren't in their first order
    elif common or any("__index_level_0__" in table.columns for table in tables):
        warnings.warn(f"{said}; there is an index of pandas: is the order the same?", stacklevel=3)


def _same_start(tables: Sequence[Table], columns: Sequence[str]) -> bool:
    """Whether two tables say the same in some columns, as far as their first batches go."""
    if STANDARD_INPUT in (table.name for table in tables):
        return False  # it can be read once
    first, second = (next(iter(table.batches(columns)), {}) for table in tables)
    return all(a == b for column in columns for a, b in zip(as_list(first[column]), as_list(second[column])))


def _in_step(
    metric: str, tables: Sequence[Table], left: Iterator[dict[str, Any]], right: Iterator[dict[str, Any]]
) -> Iterator[Batch]:
    sides = [left, right]
    held: list[dict[str, Any] | None] = [None, None]
    start = 0
    while True:
        held = [part if part is not None else next(side, None) for part, side in zip(held, sides)]
        first, second = held
        if first is None or second is None:
            break
        n = min(n_rows(first), n_rows(second))
        inputs = slice_rows(first, 0, n) | slice_rows(second, 0, n)
        yield Batch(inputs, n, _after(start))
        start += n
        held = [slice_rows(part, n, None) if n_rows(part) > n else None for part in (first, second)]
    if held != [None, None]:
        lengths = [start + (n_rows(part) if part else 0) + sum(map(n_rows, side)) for part, side in zip(held, sides)]
        found = f"{lengths[0]} rows in {tables[0].name} and {lengths[1]} in {tables[1].name}"
        refuse(metric, "predictions and references", found, "one row of each an item")


# --- by id --------------------------------------------------------------------------------------------------------


def _by_id(
    metric: str, tables: Sequence[Table], left: Iterator[dict[str, Any]], right: Iterator[dict[str, Any]]
) -> Iterator[Batch]:
    import pandas as pd

    gold = list(right)
    ids = pd.Index([i for batch in gold for i in batch.pop("id")], dtype=object)
    _refuse_repeated(metric, tables[1], ids)
    references = join(gold)
    # the row of the predictions' file at which each reference's id was seen
    seen = np.full(len(ids), -1, dtype=np.int64)
    start, strangers = 0, []
    for inputs in left:
        own = pd.Index(inputs.pop("id"), dtype=object)
        positions = ids.get_indexer(own)
        rows = np.arange(start, start + len(own))
        start += len(own)
        strangers.extend(rows[positions < 0].tolist())
        known = positions[positions >= 0]
        again = np.flatnonzero((seen[known] >= 0) | pd.Index(known).duplicated())
        if len(again):
            position = known[again[0]]
            row = rows[positions >= 0][again[0]]
            first = seen[position] if seen[position] >= 0 else rows[positions == position][0]
            _refuse_pair(metric, tables[0], int(first), int(row))
        seen[known] = rows[positions >= 0]
        if strangers:
            continue  # only to count them
        at = dict.fromkeys(inputs, rows) | dict.fromkeys(references, positions)
        yield Batch(inputs | take(references, positions), len(own), _looked_up(at))
    missing = np.flatnonzero(seen < 0).tolist()
    found = []
    if strangers:
        found.append(f"{len(strangers)} of {tables[0].name} aren't in {tables[1].name} ({_some(strangers)})")
    if missing:
        found.append(f"{len(missing)} of {tables[1].name} aren't in {tables[0].name} ({_some(missing)})")
    if found:
        refuse(metric, "id", " and ".join(found), "the same ids in both")


def _refuse_repeated(metric: str, table: Table, ids: Any) -> None:
    again = np.flatnonzero(ids.duplicated())
    if len(again):
        first = int(np.flatnonzero(ids == ids[again[0]])[0])
        _refuse_pair(metric, table, first, int(again[0]))


def _refuse_pair(metric: str, table: Table, first: int, again: int) -> None:
    refuse(metric, "id", f"rows {first} and {again} of {table.name} have the same one", "each id once")


def _some(rows: list[int]) -> str:
    few = ", ".join(map(str, rows[:5]))
    return f"row{'s' if len(rows) > 1 else ''} {few}{' …' if len(rows) > 5 else ''}"


# --- rows of inputs -----------------------------------------------------------------------------------------------


def n_rows(inputs: Mapping[str, Any]) -> int:
    """How many rows some inputs have."""
    values = next(iter(inputs.values()))
    return n_rows(values) if isinstance(values, dict) else len(values)


def slice_rows(inputs: Mapping[str, Any], start: int, stop: int | None) -> dict[str, Any]:
    """Some rows of inputs."""
    return {k: slice_rows(v, start, stop) if isinstance(v, dict) else v[start:stop] for k, v in inputs.items()}


def take(inputs: Mapping[str, Any], positions: np.ndarray) -> dict[str, Any]:
    """The rows at some positions."""

    def part(values: Any) -> Any:
        if isinstance(values, dict):
            return take(values, positions)
        if isinstance(values, list):
            return [values[i] for i in positions]
        return values.take(positions)  # NumPy or Arrow

    return {name: part(values) for name, values in inputs.items()}


def join(batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Batches end to end."""

    def part(values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return join(values)
        if any(isinstance(each, list) for each in values):
            return [value for each in values for value in as_list(each)]
        if isinstance(values[0], np.ndarray):
            return np.concatenate(values)
        import pyarrow as pa

        return pa.concat_arrays(values)

    return {name: part([batch[name] for batch in batches]) for name in batches[0]}


def collect(batches: Iterator[Batch]) -> dict[str, Any]:
    """All rows at once, in memory."""
    return join([batch.inputs for batch in batches])
