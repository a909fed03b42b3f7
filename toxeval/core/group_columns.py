"""Which rows belong to which group: a column of names, or for each group a column of yes and no."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

import numpy as np

from .containers import Place, materialise, plain_values
from .labels import encode_labels
from .refusals import BOOLS, describe, is_missing, is_number, refuse

#: What a group may be called: a text, a whole number, a bool, None or NaN (always `math.nan` itself, so that it is
#: found in a dict).
Name = str | int | float | None

NAMES = "names: texts or whole numbers, one kind for all rows; None and NaN are groups, too"
ANSWERS = "True and False, or 1 and 0; of fractions give a comparison, such as column >= 0.5"
#: A number is looked up in a table of all numbers between the least and the greatest if there are at most so many for
#: each row.
SPREAD = 4
#: What names may be of in a list; a tensor, a decimal or a fraction is made one of these first.
SIMPLE = (str, int, float, np.generic)
#: A name that is one word is shown up to this length, as column names are.
WORD = re.compile(r"[\w.-]{1,40}", re.ASCII)


def as_name(value: Any) -> Name:
    """A group's name in its one form; TypeError for what can be none.

    >>> as_name(np.int64(3)), as_name(2.0), as_name(np.nan) is math.nan, as_name("a")
    (3, 2, True, 'a')
    """
    if is_missing(value):
        return math.nan if isinstance(value, (float, np.floating)) else None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, BOOLS):
        return bool(value)
    if is_number(value) and value % 1 == 0:  # pandas makes floats of whole numbers beside a missing one
        return int(value)
    raise TypeError(value)


def in_order(names: Iterable[Name]) -> list[Name]:
    """Different names in ascending order, None and NaN last.

    >>> in_order([None, "b", math.nan, "a"])
    ['a', 'b', None, nan]
    """
    names = list(names)
    real: list[Any] = [name for name in names if not is_missing(name)]
    if len(set(map(_kind, real))) > 1:
        refuse(" and ".join(sorted(set(map(_kind, real)))), NAMES, inputs=("groups",))
    return sorted(set(real)) + [None] * (None in names) + [math.nan] * any(name != name for name in names)


def _kind(name: Name) -> str:
    return "texts" if isinstance(name, str) else "bools" if isinstance(name, bool) else "numbers"


def shown(name: Name) -> str:
    """A name as messages show it: a word, never a long text.

    >>> shown("muslim"), shown("a whole sentence that somebody wrote"), shown(None)
    ("'muslim'", 'a text of 36 characters', 'None')
    """
    return repr(name) if isinstance(name, str) and WORD.fullmatch(name) else describe(name)


def label(name: Name) -> str:
    """What a group is called in tables and pictures.

    >>> label("en"), label(3), label(None), label(math.nan)
    ('en', '3', '(none)', '(none)')
    """
    return "(none)" if is_missing(name) else str(name)


def rows_by_group(groups: Any, n_rows: int, beside: str) -> Iterator[tuple[Name, np.ndarray]]:
    """The rows of each group, as whole numbers of shape (m,) in ascending order.

    Args:
        groups: n names; or group -> n answers, True and False or 1 and 0: a row may be in several groups, or in none.
        n_rows: how many rows there are.
        beside: an input that has so many, for messages.

    Yields:
        Names in ascending order, None and NaN last; of a mapping in its own order. A group may be empty there.

    Raises:
        Refusal: for another number of rows, and for what is neither a name nor yes or no.

    >>> [(name, rows.tolist()) for name, rows in rows_by_group(["b", None, "b", "a"], 4, "predictions")]
    [('a', [3]), ('b', [0, 2]), (None, [1])]
    """
    if hasattr(groups, "columns") or hasattr(groups, "column_names"):  # of pandas, polars, pyarrow, ``datasets``
        allowed = "a column of names, or a dict of columns of yes and no"
        refuse(f"a {type(groups).__name__}", allowed, 'such as {"women": table["women"]}', inputs=("groups",))
    if isinstance(groups, Mapping):
        yield from _rows_of_flags(groups, n_rows, beside)
    else:
        yield from _rows_of_names(groups, n_rows, beside)


def _rows_of_flags(groups: Mapping[Any, Any], n_rows: int, beside: str) -> Iterator[tuple[Name, np.ndarray]]:
    if not groups:
        refuse("no group", "at least one", inputs=("groups",))
    for given, values in groups.items():
        name = name_of(given)
        field = str(name) if shown(name) == repr(name) else shown(name)
        flags = encode_labels("groups", values, ("no", "yes"), what="answer", field=field, allowed=ANSWERS)
        _check_length(len(flags), n_rows, beside, field)
        yield name, np.flatnonzero(flags)


def name_of(given: Any, row: int | None = None) -> Name:
    """A group's name in its one form, refused if it can be none."""
    try:
        return as_name(given)
    except TypeError:
        refuse(describe(given), NAMES, inputs=("groups",), row=row)


def _check_length(found: int, n_rows: int, beside: str, field: str = "") -> None:
    if found != n_rows:
        refuse(f"{found} rows, and {n_rows} of {beside}", "one row of each an item", inputs=("groups",), field=field)


def _rows_of_names(values: Any, n_rows: int, beside: str) -> Iterator[tuple[Name, np.ndarray]]:
    found, codes = _codes(values)
    _check_length(len(codes), n_rows, beside)
    named = _names(found, codes)
    names = in_order(named)
    if len(names) != len(named) or any(a is not b for a, b in zip(names, named)):
        position = {name: i for i, name in enumerate(names)}
        codes = np.array([position[name] for name in named], dtype=np.int64)[codes]
    smallest = np.min_scalar_type(max(len(names) - 1, 0))  # of few bytes codes are sorted by counting them
    order = np.argsort(codes.astype(smallest), kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    for name, start, end in zip(names, [0, *ends], ends):
        yield name, order[start:end]


def _names(found: list[Any], codes: np.ndarray) -> list[Name]:
    """The values as names; what is none is refused with its row."""
    try:
        return list(map(as_name, found))
    except TypeError:
        return [name_of(value, int(np.argmax(codes == i))) for i, value in enumerate(found)]


# --- codes --------------------------------------------------------------------------------------------------------


def _codes(values: Any) -> tuple[list[Any], np.ndarray]:
    """Distinct values, some perhaps several times, and for each row the position of its value: shape (n,)."""
    place = Place("groups")
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return _codes_from_arrow(values)
    rows = materialise(place, values)
    if isinstance(rows, np.ndarray):
        if rows.ndim != 1:
            place.refuse(f"an array of shape {rows.shape}", "one name a row")
        if rows.dtype.kind in "iu" and rows.size:
            return _codes_from_numbers(rows)
        if rows.dtype.kind in "bf":
            distinct, codes = np.unique(rows, return_inverse=True)
            return distinct.tolist(), codes
        rows = rows.tolist()
    elif not isinstance(rows, list):  # lists and texts of ``datasets`` in Arrow's format
        return _codes_from_arrow(rows)
    return _codes_from_list(rows)


def _codes_from_arrow(values: Any) -> tuple[list[Any], np.ndarray]:
    import pyarrow as pa

    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_decode()
    if pa.types.is_nested(whole.type) or pa.types.is_null(whole.type):
        return _codes_from_list(whole.to_pylist())
    coded = whole.dictionary_encode(null_encoding="encode")
    return coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False)


def _codes_from_numbers(rows: np.ndarray) -> tuple[list[Any], np.ndarray]:
    low, high = int(rows.min()), int(rows.max())
    if high - low > SPREAD * len(rows) or high >= 2**63:
        distinct, codes = np.unique(rows, return_inverse=True)
        return distinct.tolist(), codes
    shifted = rows.astype(np.int64) - low
    there = np.zeros(high - low + 1, dtype=bool)
    there[shifted] = True
    return (np.flatnonzero(there) + low).tolist(), (np.cumsum(there) - 1)[shifted]


def _codes_from_list(rows: list[Any]) -> tuple[list[Any], np.ndarray]:
    table: dict[Any, int] = defaultdict(count().__next__)  # a value that is new gets the next number
    try:
        codes = np.fromiter(map(table.__getitem__, rows), dtype=np.int64, count=len(rows))
        simple = all(isinstance(value, SIMPLE) or is_missing(value) for value in table)
    except TypeError:  # something unhashable, which is no name
        simple = False
    if not simple:
        rows = plain_values(rows)
        for row, value in enumerate(rows):
            name_of(value, row)
        return _codes_from_list(rows)
    if not table.keys().isdisjoint((0, 1)):  # True equals 1 in a dictionary
        kinds = set(map(type, rows))
        if kinds & set(BOOLS) and any(issubclass(kind, (int, np.integer)) for kind in kinds - set(BOOLS)):
            refuse("bools and numbers", NAMES, inputs=("groups",))
    return list(table), codes
