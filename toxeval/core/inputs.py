"""Numbers and ids: what users pass becomes NumPy arrays, and everything wrong is refused.

Nothing here guesses, clips, drops or repairs a value. Labels and row numbers are quoted, running text never is.
"""

import math
from itertools import chain
from typing import Any

import numpy as np

from .containers import Place, is_arrow, materialise, numbers_of_tensor, plain_values, tensor_type
from .refusals import BOOLS, SetOption, Text, ThisRow, describe, is_number

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

FROM_LOGITS = SetOption("from_logits", True)


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
        half = array.dtype.itemsize == 2 or tensor_type(first) in ("torch.float16", "torch.bfloat16")
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
        rows = [numbers_of_tensor(place, x, row) if hasattr(x, "detach") else x for row, x in enumerate(rows)]
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
    hint: Text = ("these look like logits: apply a sigmoid or softmax first (or ", FROM_LOGITS, ")")
    if array.min() >= 0.0:  # of logits some are negative
        hint = ("these look like percentages: divide by 100; or like logits: ", FROM_LOGITS)
    place.refuse(str(float(value)), "probabilities from 0 to 1", hint, row)


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
