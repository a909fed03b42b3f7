"""The boundary of every metric: what users pass becomes NumPy arrays, and everything wrong is refused.

Nothing here guesses, clips, drops or repairs a value. Labels and row numbers are quoted, running text never is.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .dataset_columns import read_column
from .refusals import BOOLS, SetOption, Text, ThisRow, describe, is_number, refuse

#: How far two probability columns may be from summing to 1: float32 softmax, or figures printed to three digits.
COLUMN_SUM_TOLERANCE = 1e-3
#: The same for half precision, whose own rounding step near 1 is 0.0005 (float16) to 0.004 (bfloat16).
HALF_PRECISION_TOLERANCE = 1e-2
#: Logits in two columns don't sum to 1 in so many rows by chance.
SURE_ROWS = 10
#: Of numbers of few bits: how many of nine decimal digits may be too many.
SPARE_DIGITS = {np.dtype(np.float32): 4, np.dtype(np.float16): 8}
#: The types of such numbers.
NARROW = (np.float32, np.float16)
#: Powers of ten that float64 holds exactly.
POWERS = np.array([float(f"1e{n}") for n in range(23)])

#: Python objects that are looked at several times are taken so many at a time: they then stay in the processor's cache.
ROWS_AT_A_TIME = 2048

FROM_LOGITS = SetOption("from_logits", True)


class Place(NamedTuple):  # a tuple, since one is made for every input of every small batch
    """What is being read: an input, a field of its records, a single row of it."""

    name: str
    field: str = ""
    row: int | None = None

    def refuse(
        self, found: Text, allowed: Text = "", hint: Text = "", row: int | None = None, position: int | None = None
    ) -> NoReturn:
        """Refuse something in it."""
        row = self.row if row is None else row
        refuse(found, allowed, hint, inputs=(self.name,), row=row, field=self.field, position=position)


def same_length(**lengths: int) -> None:
    """Refuse inputs of different lengths, and inputs without a row.

    >>> same_length(predictions=2, references=3)
    Traceback (most recent call last):
    ...
    toxeval.core.refusals.Refusal: predictions and references: 2 and 3 rows; allowed: one row of each an item
    """
    first, *others = lengths
    for name in others:
        if lengths[name] != lengths[first]:
            refuse(f"{lengths[first]} and {lengths[name]} rows", "one row of each an item", inputs=(first, name))
    if lengths[first] == 0:
        refuse("no rows", "at least one row", inputs=(first,))


# --- containers ---------------------------------------------------------------------------------------------------


def materialise(place: Place, values: Any) -> Any:
    """Whatever holds the rows (list, tuple, NumPy, torch, pandas, pyarrow, ``datasets`` column) as a list, a NumPy
    array, or (strings and lists in Arrow) a pyarrow array.

    Raises:
        Refusal: for anything without an order and a length: a scalar, a string, a dict, a set, a generator.
    """
    if isinstance(values, (list, np.ndarray)):
        if isinstance(values, np.ndarray) and values.ndim == 0:
            place.refuse("a single number", "one value a row")
        return _unmasked(place, values) if isinstance(values, np.ma.MaskedArray) else values
    if isinstance(values, tuple):
        return list(values)
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step)
    if values is None:
        place.refuse("missing", "one value a row")
    library = type(values).__module__.partition(".")[0]
    if library == "datasets":
        if not hasattr(values, "__len__"):
            hint = "a stream has no column: give its batches to add_batch"
            place.refuse(describe(values), "a list, an array or a column with one value a row", hint)
        return materialise(place, read_column(values))
    if library == "pyarrow":
        return from_arrow(place, values)
    if hasattr(values, "detach"):
        return _from_torch(place, values)
    if library == "polars" and values.dtype.is_nested():  # whose lists and records are objects of its own
        return from_arrow(place, values.to_arrow())
    if hasattr(values, "to_numpy"):  # pandas and polars: by position, whatever the index
        return values.to_numpy()
    if hasattr(values, "__array__"):
        return materialise(place, np.asarray(values))
    place.refuse(describe(values), "a list, an array or a column with one value a row")


def _unmasked(place: Place, values: np.ma.MaskedArray) -> np.ndarray:
    """A masked array's values; what lies under a mask is none."""
    mask = np.asarray(values.mask)  # without dimensions if there is none
    if mask.any():
        place.refuse("a masked value", "a value in every row", row=int(np.argwhere(mask)[0][0]))
    array: np.ndarray = np.asarray(values)
    return array


def _from_torch(place: Place, tensor: Any, row: int | None = None) -> np.ndarray:
    try:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        # NumPy has no bfloat16; float32 holds each of its values
        array: np.ndarray = (tensor.float() if _torch_type(tensor) == "torch.bfloat16" else tensor).numpy()
    except (TypeError, RuntimeError):  # sparse, nested, quantised, without data, or of a type NumPy hasn't
        place.refuse(f"a tensor of {tensor.dtype} that NumPy can't hold", "a dense tensor of numbers", row=row)
    return array


def _torch_type(values: Any) -> str:
    return str(getattr(values, "dtype", ""))


def from_arrow(place: Place, values: Any) -> Any:
    """Numbers as a NumPy array, anything else as one pyarrow array; a null is refused with its row."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # pyarrow keeps several chunks where one would overflow
            values = pa.concat_arrays(values.chunks)
    if not isinstance(values, pa.Array):
        place.refuse(describe(values), "a list, an array or a column with one value a row")
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        row = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        place.refuse("None", "a value in every row", row=row)
    kind = values.type
    if pa.types.is_decimal(kind):  # cast at once, 0.3 would be 3 * 0.1
        return values.cast(pa.string()).cast(pa.float64()).to_numpy()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return values.to_numpy(zero_copy_only=False)
    return values


def is_arrow(values: Any) -> bool:
    """Whether ``values`` is a pyarrow array (pyarrow itself is imported only when it is)."""
    return type(values).__module__.partition(".")[0] == "pyarrow"


def plain_values(values: Sequence[Any]) -> list[Any]:
    """The items of a list, with tensors and arrays of no dimension as Python's numbers, decimals and fractions as
    floats, and what a masked array masks as None."""
    masked = np.ma.masked
    return [
        None
        if value is masked
        else value.item()
        if getattr(value, "ndim", None) == 0
        else float(value)
        if isinstance(value, (Decimal, Fraction))
        else value
        for value in values
    ]


# --- scores -------------------------------------------------------------------------------------------------------


def encode_floats(name: str, values: Any) -> np.ndarray:
    """Any finite numbers, one a row, as float64 of shape (n,); NaN, inf, None and texts are refused with their row."""
    place = Place(name)
    array = _as_numbers(place, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        place.refuse(f"an array of shape {array.shape}", "one number a row")
    floats = array.astype(np.float64)  # a copy: states are kept, and buffers are filled again
    _check_finite(place, floats)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        for row in np.flatnonzero(np.abs(floats) >= 2.0**53).tolist():
            if int(floats[row]) != int(array[row]):
                hint = "beyond 2^53 float64 hasn't every whole number, and different ones would be tied"
                place.refuse(str(array[row]), "numbers that float64 can hold", hint, row)
    return floats


def encode_fractions(name: str, values: Any) -> np.ndarray:
    """Fractions in [0, 1], one a row, as float64 of shape (n,); see `decimals`.

    >>> encode_fractions("references", np.array([0.6, 0.2], dtype=np.float32))
    array([0.6, 0.2])
    """
    array = _as_numbers(Place(name), values)
    fractions = encode_floats(name, array)
    outside = (fractions < 0.0) | (fractions > 1.0)
    if outside.any():
        row = int(np.argmax(outside))
        Place(name).refuse(str(fractions[row]), "fractions from 0 to 1", row=row)
    return decimals(array.reshape(len(fractions)))


def encode_scores(name: str, values: Any, *, from_logits: bool = False) -> np.ndarray:
    """P(positive) of every row, or its logit.

    Args:
        name: of the input, for messages.
        values: n numbers, n x 1, or n x 2 with the columns (negative, positive).
        from_logits: the numbers are logits. Otherwise they are probabilities: in [0, 1], two columns summing to 1.

    Returns:
        float64 array of shape (n,): the probability of the positive class (see `decimals`); with ``from_logits`` the
        logit of it (for two columns their difference, whose sigmoid is the softmax), raw, so that ranks survive
        saturation.

    >>> encode_scores("prediction_scores", [[0.9, 0.1], [0.2, 0.8]])
    array([0.1, 0.8])
    """
    place = Place(name)
    array = _as_numbers(place, values)
    if array.ndim == 2 and array.shape[1] == 2:
        columns = array.astype(np.float64, copy=False)
        _check_finite(place, columns)
        if from_logits:
            return _difference(place, columns)
        first = values[0] if isinstance(values, (list, tuple)) else values
        half = array.dtype.itemsize == 2 or _torch_type(first) in ("torch.float16", "torch.bfloat16")
        _check_unit(place, columns)
        sums = columns.sum(axis=1)
        wrong = np.abs(sums - 1.0) > (HALF_PRECISION_TOLERANCE if half else COLUMN_SUM_TOLERANCE)
        if wrong.any():
            row = int(np.argmax(wrong))
            hint = ("two columns are P(negative) and P(positive); for logits pass ", FROM_LOGITS)
            place.refuse((ThisRow(), f" sums to {sums[row]:.6g}"), "two columns that sum to 1", hint, row)
        return decimals(array[:, 1])
    if array.ndim == 2 and array.shape[1] != 1 or array.ndim > 2:
        allowed = "one score a row, or two columns (negative, positive)"
        place.refuse(f"an array of shape {array.shape}", allowed)
    scores = encode_floats(name, array)
    if not from_logits:
        _check_unit(place, scores)
        return decimals(array.reshape(len(scores))) if array.dtype in SPARE_DIGITS else scores
    return scores


def decimals(array: np.ndarray) -> np.ndarray:
    """Fractions in [0, 1] as float64 of shape (n,): a float32 (or float16) as the decimal it prints.

    So the same decimals give the same decisions and ties whatever held them on the way, and a table of float32 gives
    what the same table gives as text. Different numbers stay different, in the same order.

    >>> decimals(np.array([0.3, 0.7, 1 / 3], dtype=np.float32)).tolist()
    [0.3, 0.7, 0.33333334]
    """
    floats = array.astype(np.float64)
    if array.dtype not in SPARE_DIGITS:
        return floats
    # nine significant digits tell all float32 numbers apart; of these as many are dropped as are not needed
    size = np.frexp(floats)[1]  # x < 2^size
    scale = POWERS[np.clip(9 - np.floor(size * math.log10(2)).astype(np.int64), 0, len(POWERS) - 1)]
    scaled = floats * scale
    half_step = np.spacing(array).astype(np.float64) * (0.5 * scale)
    digits = np.rint(scaled)
    for unit in POWERS[1 : SPARE_DIGITS[array.dtype] + 1]:
        fewer = np.rint(scaled / unit) * unit
        digits = np.where(np.abs(fewer - scaled) < half_step, fewer, digits)
    tiny = (floats < 1e-12) & (floats > 0)  # these have more places than there are powers
    floats = digits / scale
    floats[tiny] = array[tiny].astype(str).astype(np.float64)
    return floats


def _difference(place: Place, columns: np.ndarray) -> np.ndarray:
    """The logit of the positive class from two columns."""
    with np.errstate(over="ignore"):
        logits: np.ndarray = columns[:, 1] - columns[:, 0]
    if not np.isfinite(logits).all():
        row = int(np.argmin(np.isfinite(logits)))
        place.refuse("logits whose difference is no float64", "logits below 1e308", row=row)
    # the first rows tell nearly always that they are none, and spare a look at the others
    if len(columns) >= SURE_ROWS and _sum_to_1(columns[:SURE_ROWS]) and _sum_to_1(columns):
        found = "two columns that sum to 1 in every row: these look like probabilities"
        hint = ("pass ", SetOption("from_logits", False), "; for a Trainer, at load")
        place.refuse(found, "logits", hint)
    return logits


def _sum_to_1(columns: np.ndarray) -> bool:
    return bool(columns.min() >= 0.0 and (np.abs(columns.sum(axis=1) - 1.0) <= COLUMN_SUM_TOLERANCE).all())


def _as_numbers(place: Place, values: Any) -> np.ndarray:
    rows = materialise(place, values)
    if is_arrow(rows):
        rows = _rows_of_arrow(rows)
    if isinstance(rows, np.ndarray) and rows.dtype == object:
        rows = rows.tolist()
    if isinstance(rows, list) and rows and hasattr(rows[0], "detach"):  # a list of tensors
        rows = [_from_torch(place, value, row) if hasattr(value, "detach") else value for row, value in enumerate(rows)]
    array = _array(rows)
    if array.dtype.kind == "O" and isinstance(rows, list):
        rows = [plain_values(row) if isinstance(row, (list, tuple, np.ndarray)) else row for row in plain_values(rows)]
        array = _array(rows)
    kinds = _kinds(rows)
    if array.dtype.kind in "iuf" and kinds.isdisjoint(BOOLS) or len(rows) == 0:
        if array.dtype == np.float64 and not kinds.isdisjoint(NARROW):  # beside others, which would widen them
            return np.array([_printed(row) for row in rows])
        return array.astype(np.float64) if array.dtype.kind == "O" else array
    for row, value in enumerate(rows):
        value = value.item() if getattr(value, "ndim", None) == 0 else value
        parts = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
        for part in parts:
            if not is_number(part):
                place.refuse(describe(part), "finite numbers", row=row)
            if abs(part) >= 2**63 and isinstance(part, int):
                place.refuse("a whole number of more than 64 bits", "numbers that float64 can hold", row=row)
    place.refuse("rows of different lengths", "one number a row, or two in every row")


def _array(rows: Any) -> np.ndarray:
    """An array of the rows; of objects, if they have different lengths or aren't numbers."""
    try:
        return np.asarray(rows)
    except (ValueError, TypeError, RuntimeError):
        return np.empty(0, dtype=object)


def _kinds(rows: Any) -> set[type]:
    """The types of what a list holds, also in lists and arrays in it."""
    if not isinstance(rows, list):
        return set()
    kinds = set(map(type, rows))
    if kinds & {list, tuple}:
        kinds |= set(map(type, chain.from_iterable(row for row in rows if isinstance(row, (list, tuple)))))
    if np.ndarray in kinds:
        kinds |= {row.dtype.type for row in rows if isinstance(row, np.ndarray)}
    return kinds


def _printed(row: Any) -> Any:
    """A row's numbers, of float32 and float16 the decimals that they print."""
    if isinstance(row, (list, tuple, np.ndarray)):
        return [_printed(number) for number in row]
    return float(str(row)) if isinstance(row, NARROW) else row


def _rows_of_arrow(rows: Any) -> Any:
    """Lists of numbers of one length as an array of shape (n, length), anything else as a list."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = rows.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        numbers = rows.flatten()
        lengths = pc.list_value_length(rows).unique()
        if pa.types.is_floating(kind.value_type) and not numbers.null_count and len(lengths) == 1:
            return numbers.to_numpy(zero_copy_only=False).reshape(len(rows), lengths[0].as_py())
    return rows.to_pylist()


def _check_finite(place: Place, array: np.ndarray) -> None:
    # A sum is finite only if every term is, and costs no temporary; one that overflows sends us to the slow check.
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    if math.isfinite(total):
        return
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argmax(bad if array.ndim == 1 else bad.any(axis=1)))
        value = array[row] if array.ndim == 1 else array[row][bad[row]][0]
        place.refuse(str(float(value)), "finite numbers", row=row)


def _check_unit(place: Place, array: np.ndarray) -> None:
    if array.size == 0 or (array.min() >= 0.0 and array.max() <= 1.0):
        return
    bad = (array < 0.0) | (array > 1.0)
    row = int(np.argmax(bad if array.ndim == 1 else bad.any(axis=1)))
    value = array[row] if array.ndim == 1 else array[row][bad[row]][0]
    hint: Text = ("these look like logits: apply a sigmoid or softmax first, or pass ", FROM_LOGITS)
    if array.min() >= 0.0:  # of logits some are negative
        hint = ("these look like logits: pass ", FROM_LOGITS, "; or like percentages: divide by 100")
    place.refuse(str(float(value)), "probabilities from 0 to 1", hint, row)


# --- ids and records ----------------------------------------------------------------------------------------------


def encode_ids(name: str, values: Any) -> np.ndarray:
    """Ids, one a row: whole numbers as int64 or texts as str, never both; shape (n,).

    >>> encode_ids("cluster", ["m1", "m1", "m2"])
    array(['m1', 'm1', 'm2'], dtype='<U2')
    """
    place = Place(name)
    rows = materialise(place, values)
    if is_arrow(rows):
        rows = rows.to_pylist()
    if isinstance(rows, np.ndarray):
        if rows.ndim != 1:
            place.refuse(f"an array of shape {rows.shape}", "one id a row")
        if rows.dtype.kind == "i" or rows.dtype.kind == "u" and rows.dtype.itemsize < 8:
            return rows.astype(np.int64, copy=False)
        if rows.dtype.kind == "U":
            return rows
        rows = rows.tolist()
    texts = bool(rows) and isinstance(rows[0], str)
    for kind in set(map(type, rows)):
        if not issubclass(kind, str if texts else (int, np.integer)) or kind is bool:
            wrong = [row for row, value in enumerate(rows) if type(value) is kind]
            # pandas makes floats of whole numbers beside a missing one
            row = next((row for row in wrong if kind is float and math.isnan(rows[row])), wrong[0])
            place.refuse(describe(rows[row]), "ids: whole numbers or texts, one kind for all rows", row=row)
    try:
        return np.array(rows, dtype=np.str_ if texts else np.int64)
    except OverflowError:
        row = next(row for row, value in enumerate(rows) if not -(2**63) <= value < 2**63)
        place.refuse("a whole number of more than 64 bits", "64 bits, signed", "give longer ones as texts", row)


def columns_of(name: str, values: Any, fields: Iterable[str]) -> dict[str, Any]:
    """The fields of records: given as a list of dicts, a dict of columns, or a struct column.

    >>> columns_of("references", [{"intent": "E", "slots": []}], ("intent", "slots"))
    {'intent': ['E'], 'slots': [[]]}
    """
    fields, place = tuple(fields), Place(name)
    allowed = f"records with the fields {', '.join(fields)}"
    if isinstance(values, Mapping):
        if set(values) != set(fields):
            place.refuse(f"the fields {', '.join(map(describe, values)) or '(none)'}", allowed)
        return {field: values[field] for field in fields}
    if hasattr(values, "columns") or hasattr(values, "column_names"):  # of pandas, polars, pyarrow, ``datasets``
        parts = ", ".join(f'"{field}": table["{field}"]' for field in fields)
        place.refuse(f"a {type(values).__name__}", allowed, f"of a table give {{{parts}}}")
    rows = materialise(place, values)
    if not len(rows):  # an empty Arrow column has no type
        return {field: [] for field in fields}
    if is_arrow(rows):
        import pyarrow as pa

        if not pa.types.is_struct(rows.type) or {f.name for f in rows.type} != set(fields):
            place.refuse(f"an Arrow column of {rows.type}", allowed)
        return {field: rows.field(field) for field in fields}
    rows = list(rows)
    columns: dict[str, list[Any]] = {field: [] for field in fields}
    sizes: set[int] = set()
    try:
        for start in range(0, len(rows), ROWS_AT_A_TIME):
            block = rows[start : start + ROWS_AT_A_TIME]
            for field in fields:
                columns[field].extend(map(itemgetter(field), block))
            sizes.update(map(len, block))
        whole = sizes <= {len(fields)}
    except (KeyError, TypeError, IndexError):
        whole = False
    if not whole:
        for row, record in enumerate(rows):
            if not isinstance(record, Mapping):
                place.refuse(describe(record), allowed, row=row)
            if set(record) != set(fields):
                missing = [field for field in fields if field not in record]
                found = f"no field {missing[0]!r}" if missing else "more fields than that"
                place.refuse(found, allowed, row=row)
    return columns
