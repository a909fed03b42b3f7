"""Which columns of a table are which input of a metric, and what the texts of a CSV file mean there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import toxeval
from toxeval.core.inputs import COLUMN_NAMES, FIELD_PREFIXES, GROUP, NUMBER, SCORE, SEQUENCE, describe, refuse
from toxeval.tables import Table, read_json

#: What a row of an input holds that has several fields by name. The other kinds are in `toxeval.core.inputs`.
RECORD = "record"

#: The names under which an input, or the rows' ids, are looked for.
NAMES = COLUMN_NAMES | {
    "rationales": ("references", "reference", "rationales"),  # of tokens: the label is the post's
    "cluster": ("cluster",),
    "id": ("id", "post_id"),
}
#: Inputs that are looked for in the references' file first.
GOLD = ("categories", "cluster")
#: An input's column, or, for records in two columns, the column of each field.
Place = str | dict[str, str]


@cache
def kinds(metric: str, config: str) -> Mapping[str, str]:
    """Input name -> kind, as the module's features say.

    Raises:
        ValueError: for an unknown metric or configuration.

    >>> kinds("threat_f1", "default")
    {'predictions': 'label', 'references': 'label', 'prediction_scores': 'score'}
    """
    return {name: RECORD if isinstance(kind, dict) else kind for name, kind in _kinds(metric, config).items()}


@cache
def fields(metric: str, config: str) -> Mapping[str, Mapping[str, str]]:
    """The inputs that are records -> field -> kind.

    >>> fields("conda_joint", "default")["predictions"]
    {'intent': 'label', 'slots': 'sequence'}
    """
    return {name: kind for name, kind in _kinds(metric, config).items() if isinstance(kind, dict)}


def _kinds(metric: str, config: str) -> Mapping[str, str | dict[str, str]]:
    module_kinds: Mapping[str, str | dict[str, str]] = toxeval.load(metric, config).kinds
    return module_kinds


# --- where inputs are ---------------------------------------------------------------------------------------------


def find_inputs(
    metric: str, config: str, tables: Sequence[Table], mapping: Mapping[str, str]
) -> list[dict[str, Place]]:
    """For each table, which inputs are in which of its columns.

    Args:
        metric, config: see `kinds`.
        tables: the predictions' table, and perhaps the references'.
        mapping: input (or ``predictions.slots``, or ``id``) -> column, as the user says; else `NAMES` are tried.

    Returns:
        A dict a table, input -> column; with ``id`` where both tables have one.

    Raises:
        ValueError: if a mapped column or input doesn't exist, there are no predictions, or an input may be in several
            columns. What else is missing the metric itself says.
    """
    wanted, records = kinds(metric, config), fields(metric, config)
    _check_mapping(metric, config, tables, mapping)
    found: list[dict[str, Place]] = [{} for _ in tables]
    # those first of which the user says where they are: what is left is for the others
    for name in sorted(wanted, key=lambda name: not _mapped(name, mapping)):
        for i in _whereabouts(name, len(tables)):
            ways = _ways(name, wanted[name], list(records.get(name, ())), tables[i], mapping, alone=len(tables) == 1)
            taken = set(columns_of(found[i]))
            ways = [way for way in ways if taken.isdisjoint(columns_of({name: way}))]
            if len(ways) > 1:
                option = how_to_say(metric, config, name)
                _refuse_choice(metric, name, tables[i], [", ".join(columns_of({name: way})) for way in ways], option)
            if ways:
                found[i][name] = ways[0]
                break
        else:
            _refuse_unused(metric, _mapped(name, mapping), [tables[i] for i in _whereabouts(name, len(tables))])
    if not any(name in found[0] for name in ("predictions", "prediction_scores")):
        ways_to_say = [how_to_say(metric, config, name) for name in ("predictions", "prediction_scores")]
        hint = f"say which one it is with {' or '.join(filter(None, ways_to_say))}"
        refuse(metric, "predictions", f"no such column in {tables[0].name}", _columns(tables[:1]), hint)
    if len(tables) == 2:
        if not found[1]:
            hint = f"say which one it is with {how_to_say(metric, config, 'references')}"
            refuse(metric, "references", f"no such column in {tables[1].name}", _columns(tables[1:]), hint)
        ids = _ids(metric, tables, mapping)
        if all(ids):
            for places, column in zip(found, ids):
                places["id"] = column
    return found


def watched(metric: str, config: str, i: int, n_tables: int, mapping: Mapping[str, str]) -> set[str]:
    """The names under which table ``i`` of ``n_tables`` may have an input or ids, where the user doesn't say."""
    names = set(NAMES["id"]) if n_tables == 2 and "id" not in mapping else set()
    for name, kind in kinds(metric, config).items():
        if i in _whereabouts(name, n_tables) and not _mapped(name, mapping):
            names.update(NAMES["rationales" if kind == SEQUENCE and name == "references" else name])
    return names


def how_to_say(metric: str, config: str, name: str) -> str:
    """The options that say where an input is, "" if the metric has no such input.

    >>> how_to_say("conda_joint", "default", "predictions")
    '--columns predictions=COLUMN or --columns predictions.intent=COLUMN,predictions.slots=COLUMN'
    """
    if name not in kinds(metric, config):
        return ""
    parts = ",".join(f"{name}.{field}=COLUMN" for field in fields(metric, config).get(name, ()))
    return f"--columns {name}=COLUMN" + (f" or --columns {parts}" if parts else "")


def _check_mapping(metric: str, config: str, tables: Sequence[Table], mapping: Mapping[str, str]) -> None:
    wanted, records = kinds(metric, config), fields(metric, config)
    known = {*wanted, "id"} | {f"{name}.{field}" for name in records for field in records[name]}
    for name, column in mapping.items():
        if name not in known:
            refuse(metric, f"columns {name}", "unknown input", ", ".join(sorted(known)))
        if not column or not any(column in table.columns for table in tables):
            two = "," in column and wanted.get(name) == SCORE
            hint = "one column is enough: that with P(positive)" if two else ""
            refuse(metric, f"columns {name}={column}", "no such column", _columns(tables), hint)
    for name, parts in records.items():
        given = _mapped(name, mapping)
        lacking = [f"{name}.{part}" for part in parts if f"{name}.{part}" not in given]
        if lacking and set(given) - {name}:
            refuse(metric, f"columns {lacking[0]}", "no column for it", f"a column for every field of {name}")
        if name in given and len(given) > 1:
            refuse(metric, f"columns {name}", "given as a whole and by field", "one of them")


def _mapped(name: str, mapping: Mapping[str, str]) -> dict[str, str]:
    """What the user says of an input and its fields."""
    return {key: column for key, column in mapping.items() if key.partition(".")[0] == name}


def _whereabouts(name: str, n_tables: int) -> list[int]:
    """The tables in which an input is looked for: a second one is the references'."""
    if name == "references":
        return [n_tables - 1]
    if name in GOLD:
        return list(range(n_tables))[::-1]
    return [0]


def _ways(
    name: str, kind: str, parts: Sequence[str], table: Table, mapping: Mapping[str, str], *, alone: bool
) -> list[Place]:
    """The places in a table where an input may be."""
    there = set(table.columns)

    def whole(ways: Sequence[Place]) -> list[Place]:
        return [way for way in ways if there.issuperset(columns_of({name: way}))]

    given = _mapped(name, mapping)
    if given:
        return whole([given.get(name) or {part: given[f"{name}.{part}"] for part in parts}])
    named: list[Place] = list(NAMES["rationales" if kind == SEQUENCE and name == "references" else name])
    bare: list[Place] = [{part: part for part in parts}] if parts else []
    if parts:
        named += [{part: prefix + part for part in parts} for prefix in FIELD_PREFIXES.get(name, ())]
    if name == "references":
        named += bare
    # beside predictions that are called so, a dataset's own columns are no candidates
    return whole(named) or ([] if alone else whole(bare))


def _refuse_unused(metric: str, given: Mapping[str, str], tables: Sequence[Table]) -> None:
    """Refuse that an input isn't where the user says it is."""
    for key, column in given.items():
        if not any(column in table.columns for table in tables):
            refuse(metric, f"columns {key}={column}", f"no such column in {tables[0].name}", _columns(tables[:1]))
    if given:
        said = ", ".join(f"{key}={column}" for key, column in given.items())
        refuse(metric, f"columns {said}", "the column of another input, too", "a column of its own")


def _ids(metric: str, tables: Sequence[Table], mapping: Mapping[str, str]) -> list[str]:
    """The columns with ids in two tables, "" where a table has none: if possible one that is in both."""
    given = mapping.get("id", "")
    there = [
        [given] if given and given in table.columns else [name for name in NAMES["id"] if name in table.columns]
        for table in tables
    ]
    both = set(there[0]).intersection(there[1])
    there = [[name for name in names if name in both] or names for names in there]
    for table, names in zip(tables, there):
        if len(names) > 1 and all(there):
            _refuse_choice(metric, "id", table, names, "--columns id=COLUMN")
    ids = [names[0] if names else "" for names in there]
    if given and not all(ids):
        refuse(metric, "columns id", f"no ids in {tables[ids.index('')].name}", "ids in both files")
    return ids


def _refuse_choice(metric: str, name: str, table: Table, columns: Sequence[str], option: str) -> None:
    found = f"{table.name} has {' and '.join(columns)}"
    refuse(metric, name, found, "one of them", f"say which one it is with {option}")


def columns_of(places: Mapping[str, Place]) -> list[str]:
    """The columns to read, each once."""
    columns = [c for place in places.values() for c in ([place] if isinstance(place, str) else place.values())]
    return list(dict.fromkeys(columns))


def _columns(tables: Sequence[Table]) -> str:
    return f"one of the columns {', '.join(shown(name) for table in tables for name in table.columns)}"


def shown(column: str) -> str:
    """A column's name, as messages show it: where a header is missing, it may be anything."""
    return (column if column.isprintable() and len(column) <= 40 else "(…)") or "(unnamed)"


# --- what is in them ----------------------------------------------------------------------------------------------


class Parser:
    """Turns the columns of a table's batches into a metric's inputs.

    Values with types of their own pass as they are. Of texts (CSV, TSV) the first cell of a column that isn't empty
    says whether it holds numbers; a later one that doesn't fit is refused, so that nothing changes meaning half way.
    Among ids an empty cell is None, a missing label.
    """

    def __init__(self, metric: str, config: str, table: Table, places: Mapping[str, Place]) -> None:
        self._metric, self._table, self._places = metric, table, places
        self._kinds, self._fields = kinds(metric, config), fields(metric, config)
        self._numeric: dict[str, bool] = {}
        self._required = toxeval.load(metric, config).inputs
        self._empty: dict[str, bool] = {}

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs in one batch of the table, ``id`` as a list of texts among them."""
        inputs: dict[str, Any] = {}
        for name, place in self._places.items():
            if self._left_out(name, batch):
                continue
            if name == "id":
                inputs[name] = self._ids(as_list(batch[str(place)]))
            elif isinstance(place, dict):
                inputs[name] = {
                    field: self._column(name, self._fields[name][field], batch[column], f'["{field}"]')
                    for field, column in place.items()
                }
            else:
                inputs[name] = self._column(name, self._kinds[name], batch[place], "")
        return inputs

    def _left_out(self, name: str, batch: Mapping[str, Any]) -> bool:
        """Whether an optional input's cells are all empty: as in a table with room for it."""
        if not self._table.text or self._required.get(name, True) or self._empty.get(name) is False:
            return False
        columns = columns_of({name: self._places[name]})
        row = next((row for c in columns for row, text in enumerate(batch[c].to_pylist()) if text), None)
        if self._empty.setdefault(name, row is None) and row is not None:
            found = "the first value after empty cells"
            refuse(self._metric, f"{name}[{row}]", found, "a value in every row or in none")
        return self._empty[name]

    def _column(self, name: str, kind: str, values: Any, field: str) -> Any:
        if not self._table.text:
            return values.to_pylist() if getattr(values, "null_count", 0) else values
        if kind == GROUP:
            return values
        if kind in (RECORD, SEQUENCE) or kind == SCORE and values[0].as_py().startswith("["):
            return self._nested(name, kind, values, field)
        if kind == SCORE:
            return self._numbers(name, kind, values, field)
        key = name + field
        if key not in self._numeric:
            first = next((text for text in values.to_pylist() if text and text.lower() != "nan"), "")
            if not first:
                return [None] * len(values)
            self._numeric[key] = _is_number(first)
        return self._numbers(name, kind, values, field) if self._numeric[key] else values

    def _numbers(self, name: str, kind: str, values: Any, field: str) -> Any:
        import pyarrow as pa

        if kind == SCORE:
            try:  # beyond 2^53 floats would be tied, which the metric refuses of whole numbers
                return values.cast(pa.int64()).to_numpy()
            except pa.ArrowInvalid:
                pass
        try:
            return values.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            texts = values.to_pylist()
        for row, text in enumerate(texts):
            if not _is_number(text) and (text or kind == SCORE):
                allowed, hint = self._scores(name) if kind == SCORE else ("ids or names, not both in one column", "")
                found = describe(text) if text else "an empty cell"
                refuse(self._metric, f"{name}[{row}]{field}", found, allowed, hint)
        numbers = [float(text) if text else None for text in texts]
        return numbers if None in numbers else np.array(numbers)

    def _scores(self, name: str) -> tuple[str, str]:
        """What cells with scores may be, and a hint."""
        if name == "review_scores":
            return "a number in every row", ""
        return "a number in every row, or two as in [0.1, 0.9]", "one column with P(positive) is enough"

    def _nested(self, name: str, kind: str, values: Any, field: str) -> list[Any]:
        """Sequences as JSON lists or words between white space, records as JSON objects, scores as JSON lists."""
        parsed = []
        for row, text in enumerate(values.to_pylist()):
            if kind == SEQUENCE and not text.startswith("["):
                words = text.split()
                parsed.append([float(w) for w in words] if words and all(map(_is_number, words)) else words)
                continue
            where = f"{name}[{row}]{field}"
            try:
                parsed.append(read_json(text))
            except json.JSONDecodeError:
                allowed, hint = "a JSON list, or words between white space", ""
                if kind == RECORD:
                    allowed = "a JSON object"
                elif kind == SCORE:
                    allowed, hint = self._scores(name)
                refuse(self._metric, where, describe(text), allowed, hint)
            except ValueError as error:
                refuse(self._metric, where, str(error))
        return parsed

    def _ids(self, values: list[Any]) -> list[str]:
        """Ids as texts, so that 12 in one file is "12" in the other."""
        for row, value in enumerate(values):
            if not isinstance(value, (str, int)) or isinstance(value, bool) or value == "":
                found = f"{describe(value)} in {self._table.name}"
                refuse(self._metric, f"id[{row}]", found, "a text or a whole number in every row")
        return list(map(str, values))


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def as_list(values: Any) -> list[Any]:
    """A list of what is in a list or an array, NumPy's or Arrow's."""
    plain: Callable[[], list[Any]] | None = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
    return plain() if plain else list(values)
