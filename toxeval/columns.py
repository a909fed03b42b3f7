"""Which columns of a table are which input of a metric, and what the texts of a CSV file mean there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

import toxeval
from toxeval.metrics.inputs import GROUP, NUMBER, SCORE, SEQUENCE, describe, refuse
from toxeval.tables import Table

#: What a row of an input holds that has several fields by name. The other kinds are in `toxeval.metrics.inputs`.
RECORD = "record"

#: The names under which an input is looked for; the first that is there is taken.
NAMES = {
    "predictions": ("predictions", "prediction"),
    "prediction_scores": ("prediction_scores", "prediction_score"),
    "review_scores": ("review_scores", "review_score"),
    "references": ("references", "reference", "label", "labels"),
    "rationales": ("references", "reference", "rationales"),  # of tokens: the label is the post's
    "categories": ("categories", "category"),
    "cluster": ("cluster",),
    "id": ("id", "post_id"),
}
#: Inputs that are looked for in the references' file first.
GOLD = ("categories", "cluster")
#: What a field's column may be called instead of ``predictions.intent`` and so on: these before the field's name.
PREFIXES = {"predictions": ("pred_", "prediction_"), "references": ("ref_", "reference_")}

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
        ValueError: if a mapped column or input doesn't exist, or there are no predictions. What else is missing the
            metric itself says.
    """
    wanted, records = kinds(metric, config), fields(metric, config)
    known = {*wanted, "id"} | {f"{name}.{field}" for name in records for field in records[name]}
    for name, column in mapping.items():
        if name not in known:
            refuse(metric, f"columns {name}", "unknown input", ", ".join(sorted(known)))
        if not any(column in table.columns for table in tables):
            refuse(metric, f"columns {name}={column}", "no such column", _columns(tables))
    found: list[dict[str, Place]] = [{} for _ in tables]
    for name, kind in wanted.items():
        for i in _whereabouts(name, len(tables)):
            parts = list(records.get(name, ()))
            place = _find(name, kind, parts, tables[i], mapping, found[i], alone=len(tables) == 1)
            if place:
                found[i][name] = place
                break
    if not any(name in found[0] for name in ("predictions", "prediction_scores")):
        hint = "say which one it is with --columns predictions=COLUMN"
        refuse(metric, "predictions", f"no such column in {tables[0].name}", _columns(tables[:1]), hint)
    if len(tables) == 2:
        if not found[1]:
            hint = "say which one it is with --columns references=COLUMN"
            refuse(metric, "references", f"no such column in {tables[1].name}", _columns(tables[1:]), hint)
        ids = [_first(table, "id", mapping) or _first(table, "id", {}) for table in tables]
        if "id" in mapping and not all(ids):
            refuse(metric, "columns id", f"no ids in {tables[ids.index('')].name}", "ids in both files")
        if all(ids):
            for places, column in zip(found, ids):
                places["id"] = column
    return found


def _whereabouts(name: str, n_tables: int) -> list[int]:
    """The tables in which an input is looked for: a second one is the references'."""
    if name == "references":
        return [n_tables - 1]
    if name in GOLD:
        return list(range(n_tables))[::-1]
    return [0]


def _find(
    name: str,
    kind: str,
    parts: Sequence[str],
    table: Table,
    mapping: Mapping[str, str],
    found: Mapping[str, Place],
    *,
    alone: bool,
) -> Place:
    """The place of an input in a table, "" if it has none."""
    taken = set(columns_of(found))
    column = _first(table, "rationales" if kind == SEQUENCE and name == "references" else name, mapping)
    if column:
        return "" if column in taken else column
    if not parts:
        return ""
    ways = [{part: mapping.get(f"{name}.{part}", "") for part in parts}]
    ways += [{part: prefix + part for part in parts} for prefix in PREFIXES.get(name, ())]
    if name == "references" or not alone:
        ways.append({part: part for part in parts})
    return next((way for way in ways if set(way.values()) <= set(table.columns) - taken), "")


def _first(table: Table, name: str, mapping: Mapping[str, str]) -> str:
    given = mapping.get("references" if name == "rationales" else name)
    names = (given,) if given else NAMES[name]
    return next((column for column in names if column in table.columns), "")


def columns_of(places: Mapping[str, Place]) -> list[str]:
    """The columns to read, each once."""
    columns = [c for place in places.values() for c in ([place] if isinstance(place, str) else place.values())]
    return list(dict.fromkeys(columns))


def _columns(tables: Sequence[Table]) -> str:
    names = ", ".join(name if name.isprintable() and len(name) <= 40 else "(…)" for t in tables for name in t.columns)
    return f"one of the columns {names}"


# --- what is in them ----------------------------------------------------------------------------------------------


class Parser:
    """Turns the columns of a table's batches into a metric's inputs.

    Values with types of their own pass as they are. Of texts (CSV, TSV) the first row of a column says whether it
    holds numbers; a later row that doesn't fit is refused, so that nothing changes meaning half way.
    """

    def __init__(self, metric: str, config: str, table: Table, places: Mapping[str, Place]) -> None:
        self._metric, self._table, self._places = metric, table, places
        self._kinds, self._fields = kinds(metric, config), fields(metric, config)
        self._numeric: dict[str, bool] = {}

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs in one batch of the table, ``id`` as a list of texts among them."""
        inputs: dict[str, Any] = {}
        for name, place in self._places.items():
            if name == "id":
                inputs[name] = self._ids(_as_list(batch[str(place)]))
            elif isinstance(place, dict):
                inputs[name] = {
                    field: self._column(name, self._fields[name][field], batch[column], f'["{field}"]')
                    for field, column in place.items()
                }
            else:
                inputs[name] = self._column(name, self._kinds[name], batch[place], "")
        return inputs

    def _column(self, name: str, kind: str, values: Any, field: str) -> Any:
        if not self._table.text:
            return values.to_pylist() if getattr(values, "null_count", 0) else values
        if kind == GROUP:
            return values
        if kind in (RECORD, SEQUENCE) or kind == SCORE and values[0].as_py().startswith("["):
            return self._nested(name, kind, values, field)
        key = name + field
        if key not in self._numeric:
            self._numeric[key] = kind == SCORE or _is_number(values[0].as_py())
        return self._numbers(name, kind, values, field) if self._numeric[key] else values

    def _numbers(self, name: str, kind: str, values: Any, field: str) -> Any:
        import pyarrow as pa

        try:
            return values.cast(pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            for row, text in enumerate(values.to_pylist()):
                if not _is_number(text):
                    found = describe(text) if text else "an empty cell"
                    allowed = "a number in every row" if kind == SCORE else "ids or names, not both in one column"
                    refuse(self._metric, f"{name}[{row}]{field}", found, allowed)
            return np.array(list(map(float, values.to_pylist())))

    def _nested(self, name: str, kind: str, values: Any, field: str) -> list[Any]:
        """Sequences as JSON lists or words between white space, records as JSON objects."""
        parsed = []
        for row, text in enumerate(values.to_pylist()):
            if kind == SEQUENCE and not text.startswith("["):
                words = text.split()
                parsed.append([float(w) for w in words] if words and all(map(_is_number, words)) else words)
                continue
            try:
                parsed.append(json.loads(text))
            except json.JSONDecodeError:
                allowed = "a JSON object" if kind == RECORD else "a JSON list, or words between white space"
                refuse(self._metric, f"{name}[{row}]{field}", describe(text), allowed)
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


def _as_list(values: Any) -> list[Any]:
    plain: Callable[[], list[Any]] | None = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
    return plain() if plain else list(values)
