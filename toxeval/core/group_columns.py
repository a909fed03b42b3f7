"""Which rows belong to which group: a column of names, or for each group a column of yes and no."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
#: If an array has more texts than this, they are told apart by hashes of so many bits; so many hashes are tried.
HASHED, HASH_BITS, HASHES = 10**5, 22, 2
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
    if isinstance(groups, Mapping):
        _refuse_table(groups)
        yield from _rows_of_flags(groups, n_rows, beside)
        return
    names, codes = codes_by_name(groups, n_rows, beside)
    order, ends = sort_codes(codes, len(names))
    for name, start, end in zip(names, [0, *ends], ends):
        yield name, order[start:end]


def codes_by_name(groups: Any, n_rows: int, beside: str) -> tuple[list[Name], np.ndarray]:
    """The names of a column in order, and each row's position among them: whole numbers of shape (n,); arguments and
    refusals as in `rows_by_group`.

    >>> codes_by_name(["b", None, "b", "a"], 4, "predictions")
    (['a', 'b', None], array([1, 2, 1, 0]))
    """
    _refuse_table(groups)
    found, codes = _codes(groups)
    _check_length(len(codes), n_rows, beside)
    named = _names(found, codes)
    names = in_order(named)
    if len(names) != len(named) or any(a is not b for a, b in zip(names, named)):
        position = {name: i for i, name in enumerate(names)}
        codes = np.array([position[name] for name in named], dtype=np.int64)[codes]
    return names, codes


def sort_codes(codes: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of each of n groups after those of the one before, shape (m,), and where each group ends, shape (n,)."""
    smallest = np.min_scalar_type(max(n - 1, 0))  # of few bytes codes are sorted by counting them
    return np.argsort(codes.astype(smallest), kind="stable"), np.cumsum(np.bincount(codes, minlength=n))


def _refuse_table(groups: Any) -> None:
    if hasattr(groups, "columns") or hasattr(groups, "column_names"):  # of pandas, polars, pyarrow, ``datasets``
        allowed = "a column of names, or a dict of columns of yes and no"
        refuse(f"a {type(groups).__name__}", allowed, 'such as {"women": table["women"]}', inputs=("groups",))


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
    library = type(values).__module__.partition(".")[0]
    if library == "pyarrow":
        return _codes_from_arrow(values)
    if library == "pandas" and hasattr(getattr(values, "dtype", None), "categories"):
        return _codes_from_categories(values)
    rows = materialise(place, values)
    if isinstance(rows, np.ndarray):
        if rows.ndim != 1:
            place.refuse(f"an array of shape {rows.shape}", "one name a row")
        if rows.dtype.kind in "iubf":
            return _codes_from_numbers(rows)
        if rows.dtype.kind == "U" and len(rows) > HASHED:
            return _codes_from_texts(rows)
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
    if rows.dtype.kind in "iu" and rows.size:
        low, high = int(rows.min()), int(rows.max())
        if high - low <= SPREAD * len(rows) and high < 2**63:
            return _used(range(low, high + 1), rows.astype(np.int64) - low)
    distinct, codes = np.unique(rows, return_inverse=True)
    return distinct.tolist(), codes


def _used(values: Sequence[Any], codes: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """The values that some code stands for, and the codes of these alone."""
    there = np.zeros(len(values), dtype=bool)
    there[codes] = True
    if there.all():
        return list(values), codes
    used = np.flatnonzero(there)
    position = np.empty(len(values), dtype=np.int64)
    position[used] = np.arange(len(used))
    return [values[i] for i in used.tolist()], position[codes]


def _codes_from_categories(values: Any) -> tuple[list[Any], np.ndarray]:
    """Of a categorical column of pandas, which has codes; -1 is a missing value."""
    column = getattr(values, "cat", values)
    names, codes = column.categories.tolist(), np.asarray(column.codes)
    return _used([*names, math.nan], np.where(codes < 0, len(names), codes))


def _codes_from_texts(rows: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Of an array of texts, by a hash of each: far fewer are distinct than there are hashes. Where two distinct texts
    have the same hash, another one is tried, and then a dictionary."""
    letters = np.ascontiguousarray(rows).view(np.uint32).reshape(len(rows), -1)
    for seed in range(HASHES):
        factors = np.random.default_rng(seed).integers(1 << 32, size=letters.shape[1], dtype=np.uint32) | 1
        hashes = (letters @ factors) >> np.uint32(32 - HASH_BITS)  # multiply-shift, Dietzfelbinger et al. 1997
        used, codes = _used(range(1 << HASH_BITS), hashes)
        some = np.empty(len(used), dtype=np.int64)
        some[codes] = np.arange(len(rows))  # any of the rows with this hash
        if (letters[some][codes] == letters).all():
            return rows[some].tolist(), codes
    return _codes_from_list(rows.tolist())


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
