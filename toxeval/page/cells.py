"""What visitors of a demo page put into cells (a table's, a file's) as a metric's inputs, and refusals as sentences.

A sentence quotes labels and row numbers, never running text and never a path.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toxeval.core.declarations import LABEL, SCORE, SEQUENCE
from toxeval.core.refusals import NUMBER, WHOLE

#: Limits of a public page: the size of a file, its rows, the rows an editable table shows, the values in lists.
MAX_BYTES, MAX_ROWS, TABLE_ROWS, MAX_VALUES = 10_000_000, 100_000, 1_000, 2_000_000


class Refused(ValueError):
    """What a visitor gave can't be used; the message is one sentence, shown beside the place it is about.

    Attributes:
        beside: "rows", "file" or "options".
    """

    def __init__(self, beside: str, message: str) -> None:
        super().__init__(message)
        self.beside = beside


def inputs_of(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, str], required: Sequence[str]) -> dict:
    """The metric's inputs.

    Args:
        columns: column -> cells, texts (table, CSV) or values with types of their own (JSON, Parquet). Empty rows at
            the end and columns without any value count as not given.
        kinds: column -> LABEL, SCORE or SEQUENCE; ``predictions.intent`` is the field of a record.
        required: the inputs that must be there.

    >>> inputs_of({"predictions": ["OFF", "NOT", ""], "references": ["1", "0", ""]}, {"predictions": LABEL,
    ...           "references": LABEL}, [])
    {'predictions': ['OFF', 'NOT'], 'references': [1, 0]}
    """
    n = max((i + 1 for cells in columns.values() for i, cell in enumerate(cells) if not _empty(cell)), default=0)
    if n == 0:
        raise Refused("rows", "There are no rows yet: fill in the table, or take an example.")
    if n > MAX_ROWS:
        raise Refused("rows", f"{n:,} rows are more than this page takes; allowed: {MAX_ROWS:,}.")
    inputs: dict[str, Any] = {}
    given = {name.partition(".")[0] for name, cells in columns.items() if not all(map(_empty, cells))}
    for column, kind in kinds.items():
        name, _, field = column.partition(".")
        if name not in given or column not in columns:
            continue
        values = _PARSERS[kind](column, list(columns[column][:n]))
        if field:
            inputs.setdefault(name, {})[field] = values
        else:
            inputs[name] = values
    for name in required:
        if name not in inputs:
            raise Refused("rows", f"The column {name} is empty; every row needs a value there.")
    return inputs


def _empty(cell: Any) -> bool:
    return cell is None or isinstance(cell, str) and not cell.strip() or isinstance(cell, float) and math.isnan(cell)


def _labels(column: str, cells: list[Any]) -> list[Any]:
    """Names or ids; None for an empty cell, which the metric refuses with its row, or counts as it does other texts."""
    for row, cell in enumerate(cells, start=1):
        if isinstance(cell, str) and cell.lstrip().startswith("[") and _is_list(cell):
            raise Refused("rows", f"Row {row}, {column}: a list; allowed: one label.")
    return _numbers_if_all([cell.strip() if isinstance(cell, str) else cell for cell in cells])


def _numbers_if_all(cells: list[Any]) -> list[Any]:
    """Texts as they are, unless all are whole numbers, or all numbers; None for empty ones, which decide nothing."""
    texts = [cell for cell in cells if isinstance(cell, str) and not _empty(cell)]
    kind: Callable[[str], Any] = str
    for pattern, number in ((NUMBER, float), (WHOLE, int)):
        if all(map(pattern.fullmatch, texts)):
            kind = number
    numbers = [kind(cell) if isinstance(cell, str) and not _empty(cell) else cell for cell in cells]
    return [None if _empty(number) else number for number in numbers]


def _scores(column: str, cells: list[Any]) -> list[Any]:
    """One number a cell, or several: between white space, or in brackets between commas or white space."""
    return [
        _score(f"Row {row}, {column}", cell) if isinstance(cell, str) else cell for row, cell in enumerate(cells, 1)
    ]


def _score(place: str, cell: str) -> Any:
    text = cell.strip()
    if not text:
        raise Refused("rows", f"{place}: an empty cell; allowed: a number.")
    listed = re.fullmatch(r"\[(.*)\]", text, re.DOTALL)
    inside = listed[1] if listed else text
    parts = [part.strip() for part in inside.split(",")] if listed and "," in inside else inside.split()
    if parts and all(map(NUMBER.fullmatch, parts)):
        values = list(map(float, parts))
        return values[0] if len(values) == 1 else values
    if "," in text and all(map(NUMBER.fullmatch, text.replace(",", " ").split())):  # 2,5 may be one number or two
        allowed = "a number with a point such as 0.85, or two columns such as [0.2, 0.8] or 0.2 0.8"
        raise Refused("rows", f"{place}: a comma outside of brackets; allowed: {allowed}.")
    raise Refused("rows", f"{place}: a text that is no number; allowed: a number such as 0.85.")


def _sequences(column: str, cells: list[Any]) -> list[Any]:
    """Names or ids between white space, or JSON lists; an empty cell is an empty sequence."""
    sequences: list[Any] = []
    for row, cell in enumerate(cells, start=1):
        if isinstance(cell, str) and cell.strip().startswith("["):
            try:
                cell = json.loads(cell)
            except (ValueError, RecursionError):
                allowed = "labels between spaces, or a JSON list"
                raise Refused("rows", f"Row {row}, {column}: not a JSON list; allowed: {allowed}.") from None
        cell = _words(cell) if isinstance(cell, str) else cell
        if not isinstance(cell, list):
            raise Refused("rows", f"Row {row}, {column}: not a list; allowed: a list of labels, which may be empty.")
        sequences.append(cell)
    return sequences


def _is_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def _words(text: str) -> list[Any]:
    return _numbers_if_all(text.split())


_PARSERS = {LABEL: _labels, SCORE: _scores, SEQUENCE: _sequences}


def cell_of(value: Any) -> str:
    """A value as the table shows it; `inputs_of` reads the same value from it, or refuses it.

    A list keeps its brackets: without them it would do for a label, or for a missing one.

    >>> cell_of(0.1), cell_of("T O"), cell_of(None), cell_of(["T", "O"]), cell_of([])
    ('0.1', 'T O', '', '["T", "O"]', '[]')
    """
    if isinstance(value, list):
        return json.dumps(value, default=repr, ensure_ascii=False)
    return "" if value is None else value if isinstance(value, str) else repr(value)


def refusal(metric: str, message: str) -> Refused:
    """A metric's refusal as a sentence for the page: rows count from 1, as in the table.

    >>> str(refusal("sold_macro_f1", "sold_macro_f1: predictions[1]: unknown label 'UNK'; allowed: NOT, OFF"))
    "Row 2, predictions: unknown label 'UNK'; allowed: NOT, OFF."
    """
    text = message.removeprefix(f"{metric}: ")
    where = re.match(r'(\w+)\[(\d+)\](?:\["(\w+)"\])?(?:\[(\d+)\])?: ', text)
    if where:
        name, row, field, position = where.groups()
        place = f"Row {int(row) + 1}, {name}{f'.{field}' if field else ''}"
        place += f", position {int(position) + 1}" if position else ""
        text = f"{place}: {text[where.end() :]}"
    beside = "options" if text.startswith("option ") else "rows"
    return Refused(beside, text[:1].upper() + text[1:] + ("" if text.endswith(".") else "."))
