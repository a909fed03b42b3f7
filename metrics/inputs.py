"""The boundary of every metric: what users pass becomes NumPy arrays, and everything wrong is refused.

Nothing here guesses, clips, drops or repairs a value. A refusal is a ``ValueError`` that names the metric, the
input, the row, what was found and what is allowed. Labels and row numbers are quoted, running text never is.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

#: How far two probability columns may be from summing to 1: float32 softmax, or figures printed to three digits.
COLUMN_SUM_TOLERANCE = 1e-3
#: The same for half precision, whose own rounding step near 1 is 0.0005 (float16) to 0.004 (bfloat16).
HALF_PRECISION_TOLERANCE = 1e-2
#: Logits in two columns don't sum to 1 in so many rows by chance.
SURE_ROWS = 10

#: What a row of an input holds: a label's name or id; a number or two; several labels; what tells groups of rows apart.
LABEL, SCORE, SEQUENCE, GROUP = "label", "score", "sequence", "group"

#: The columns of a table in which an input is looked for, and what stands before a field's name where a record is in
#: several columns. Two of them for one input are refused.
COLUMN_NAMES = {
    "predictions": ("predictions", "prediction"),
    "prediction_scores": ("prediction_scores", "prediction_score"),
    "review_scores": ("review_scores", "review_score"),
    "references": ("references", "reference", "label", "labels"),
    "categories": ("categories", "category"),
}
FIELD_PREFIXES = {
    "predictions": ("predictions.", "predictions_", "prediction_", "pred_"),
    "references": ("references.", "references_", "reference_", "ref_"),
}

#: Texts that are numbers, in a cell of a table or a file.
WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?|[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)

#: What `bool` is in Python and in NumPy.
BOOLS = (bool, np.bool_)

#: Python objects that are looked at several times are taken so many at a time: they then stay in the processor's cache.
ROWS_AT_A_TIME = 2048


def refuse(module: str, where: str, found: str, allowed: str = "", hint: str = "") -> NoReturn:
    """Raise the one kind of error bad input gets.

    >>> refuse("sold_macro_f1", "predictions[1]", "unknown label 'UNK'", "NOT, OFF")
    Traceback (most recent call last):
    ...
    ValueError: sold_macro_f1: predictions[1]: unknown label 'UNK'; allowed: NOT, OFF
    """
    message = f"{module}: {where}: {found}"
    if allowed:
        message += f"; allowed: {allowed}"
    if hint:
        message += f" ({hint})"
    raise ValueError(message)


def same_length(module: str, **lengths: int) -> None:
    """Refuse inputs of different lengths, and inputs without a row.

    >>> same_length("sold_macro_f1", predictions=2, references=3)
    Traceback (most recent call last):
    ...
    ValueError: sold_macro_f1: predictions and references: 2 and 3 rows; allowed: one row of each an item
    """
    names = list(lengths)
    for name in names[1:]:
        if lengths[name] != lengths[names[0]]:
            found = f"{lengths[names[0]]} and {lengths[name]} rows"
            refuse(module, f"{names[0]} and {name}", found, "one row of each an item")
    if lengths[names[0]] == 0:
        refuse(module, names[0], "no rows", "at least one row")


def check_number(module: str, option: str, value: Any, low: float, high: float) -> float:
    """An option that must be a number in [low, high].

    >>> check_number("threat_f1", "threshold", 1.5, 0.0, 1.0)
    Traceback (most recent call last):
    ...
    ValueError: threat_f1: option threshold: 1.5; allowed: a number from 0.0 to 1.0
    """
    if not is_number(value) or not low <= value <= high:
        refuse(module, f"option {option}", describe(value), f"a number from {low} to {high}")
    return float(value)


def check_choice(module: str, option: str, value: Any, choices: Sequence[Any]) -> Any:
    """An option that must be one of a few values.

    >>> check_choice("oracle_collab", "review_strategy", "random", ("uncertainty", "toxicity"))
    Traceback (most recent call last):
    ...
    ValueError: oracle_collab: option review_strategy: 'random'; allowed: 'uncertainty', 'toxicity'
    """
    for choice in choices:
        both_nan = is_number(value) and is_number(choice) and math.isnan(value) and math.isnan(choice)
        if both_nan or (type(value) is type(choice) or (is_number(value) and is_number(choice))) and value == choice:
            return choice
    refuse(module, f"option {option}", describe(value), ", ".join(map(repr, choices)))


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number: Python's or NumPy's, but no bool and no span of time."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.timedelta64))


def describe(value: Any, labels: Sequence[str] = ()) -> str:
    """``value`` as an error message may show it: numbers and label-like words, never the user's text.

    >>> describe("UNK"), describe("what a nice long sentence"), describe(None)
    ("'UNK'", 'a text of 25 characters', 'None')
    """
    if isinstance(value, str):
        # twenty characters without a space are a word here, and a sentence in Chinese or Thai
        label_like = len(value) <= 20 and value.isascii() and value.isprintable() and " " not in value
        if label_like or (len(value) <= 40 and difflib.get_close_matches(value, labels, n=1, cutoff=0.8)):
            return repr(value)
        return f"a text of {len(value)} characters"
    if is_number(value):
        return str(value)
    if value is None or isinstance(value, bool):
        return repr(value)
    return f"a {type(value).__name__}"


# --- containers ---------------------------------------------------------------------------------------------------


def materialise(module: str, name: str, values: Any) -> Any:
    """Whatever holds the rows (list, tuple, NumPy, torch, pandas, pyarrow, ``datasets`` column) as a list, a NumPy
    array, or (strings and lists in Arrow) a pyarrow array.

    Raises:
        ValueError: for anything without an order and a length: a scalar, a string, a dict, a set, a generator.
    """
    if isinstance(values, (list, np.ndarray)):
        if isinstance(values, np.ndarray) and values.ndim == 0:
            refuse(module, name, "a single number", "one value a row")
        return _unmasked(module, name, values) if isinstance(values, np.ma.MaskedArray) else values
    if isinstance(values, tuple):
        return list(values)
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step)
    if values is None:
        refuse(module, name, "missing", "one value a row")
    library = type(values).__module__.partition(".")[0]
    if library == "datasets":
        return materialise(module, name, _read_column(module, name, values))
    if library == "pyarrow":
        return from_arrow(module, name, values)
    if hasattr(values, "detach"):
        return _from_torch(module, name, values)
    if hasattr(values, "to_numpy"):  # pandas and polars: by position, whatever the index
        return values.to_numpy()
    if hasattr(values, "__array__"):
        return materialise(module, name, np.asarray(values))
    refuse(module, name, describe(values), "a list, an array or a column with one value a row")


def _read_column(module: str, name: str, column: Any) -> Any:
    """A lazy column of ``datasets``, as it is stored: the formats of tensors make float32 of float64."""
    if not hasattr(column, "__len__"):
        hint = "a stream has no column: give its batches to add_batch"
        refuse(module, name, describe(column), "a list, an array or a column with one value a row", hint)
    source = getattr(column, "source", None)
    if getattr(source, "format", {}).get("type") in ("numpy", "torch", "tensorflow", "jax"):
        column = source.with_format(None)[column.column_name]  # type: ignore[union-attr]
    return column[:]


def _unmasked(module: str, name: str, values: np.ma.MaskedArray) -> np.ndarray:
    """A masked array's values; what lies under a mask is none."""
    mask = np.asarray(values.mask)  # without dimensions if there is none
    if mask.any():
        refuse(module, f"{name}[{int(np.argwhere(mask)[0][0])}]", "a masked value", "a value in every row")
    array: np.ndarray = np.asarray(values)
    return array


def _from_torch(module: str, name: str, tensor: Any) -> np.ndarray:
    try:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        # NumPy has no bfloat16; float32 holds each of its values
        array: np.ndarray = (tensor.float() if _torch_type(tensor) == "torch.bfloat16" else tensor).numpy()
    except (TypeError, RuntimeError):  # sparse, nested, quantised, without data, or of a type NumPy hasn't
        refuse(module, name, f"a tensor of {tensor.dtype} that NumPy can't hold", "a dense tensor of numbers")
    return array


def _torch_type(values: Any) -> str:
    return str(getattr(values, "dtype", ""))


def from_arrow(module: str, name: str, values: Any) -> Any:
    """Numbers as a NumPy array, anything else as one pyarrow array; a null is refused with its row."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # pyarrow keeps several chunks where one would overflow
            values = pa.concat_arrays(values.chunks)
    if not isinstance(values, pa.Array):
        refuse(module, name, describe(values), "a list, an array or a column with one value a row")
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        row = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        refuse(module, f"{name}[{row}]", "None", "a value in every row")
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return values.to_numpy(zero_copy_only=False)
    return values


def is_arrow(values: Any) -> bool:
    """Whether ``values`` is a pyarrow array (pyarrow itself is imported only when it is)."""
    return type(values).__module__.partition(".")[0] == "pyarrow"


# --- scores -------------------------------------------------------------------------------------------------------


def encode_floats(module: str, name: str, values: Any) -> np.ndarray:
    """Any finite numbers, one a row, as float64 of shape (n,); NaN, inf, None and texts are refused with their row."""
    array = _as_numbers(module, name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        refuse(module, name, f"an array of shape {array.shape}", "one number a row")
    floats = array.astype(np.float64)  # a copy: states are kept, and buffers are filled again
    _check_finite(module, name, floats)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        for row in np.flatnonzero(np.abs(floats) >= 2.0**53).tolist():
            if int(floats[row]) != int(array[row]):
                hint = "beyond 2^53 float64 hasn't every whole number, and different ones would be tied"
                refuse(module, f"{name}[{row}]", str(array[row]), "numbers that float64 can hold", hint)
    return floats


def encode_scores(module: str, name: str, values: Any, *, from_logits: bool = False) -> np.ndarray:
    """P(positive) of every row, or its logit.

    Args:
        module, name: for messages.
        values: n numbers, n x 1, or n x 2 with the columns (negative, positive).
        from_logits: the numbers are logits. Otherwise they are probabilities: in [0, 1], two columns summing to 1.

    Returns:
        float64 array of shape (n,): the probability of the positive class; with ``from_logits`` the logit of it (for
        two columns their difference, whose sigmoid is the softmax), raw, so that ranks survive saturation.

    >>> encode_scores("threat_f1", "prediction_scores", [[0.9, 0.1], [0.2, 0.8]])
    array([0.1, 0.8])
    """
    array = _as_numbers(module, name, values)
    if array.ndim == 2 and array.shape[1] == 2:
        first = values[0] if isinstance(values, (list, tuple)) else values
        half = array.dtype.itemsize == 2 or _torch_type(first) in ("torch.float16", "torch.bfloat16")
        columns = array.astype(np.float64, copy=False)
        _check_finite(module, name, columns)
        if from_logits:
            with np.errstate(over="ignore"):
                logits: np.ndarray = columns[:, 1] - columns[:, 0]
            if not np.isfinite(logits).all():
                row = int(np.argmin(np.isfinite(logits)))
                refuse(module, f"{name}[{row}]", "logits whose difference is no float64", "logits below 1e308")
            # the first rows tell nearly always that they are none, and spare a look at the others
            if len(columns) >= SURE_ROWS and _sum_to_1(columns[:SURE_ROWS]) and _sum_to_1(columns):
                found = "two columns that sum to 1 in every row: these look like probabilities"
                refuse(module, name, found, "logits", "pass from_logits=False; for a Trainer, at load")
            return logits
        _check_unit(module, name, columns)
        sums = columns.sum(axis=1)
        wrong = np.abs(sums - 1.0) > (HALF_PRECISION_TOLERANCE if half else COLUMN_SUM_TOLERANCE)
        if wrong.any():
            row = int(np.argmax(wrong))
            hint = "two columns are P(negative) and P(positive); for logits pass from_logits=True"
            refuse(module, f"{name}[{row}]", f"row {row} sums to {sums[row]:.6g}", "two columns that sum to 1", hint)
        positive: np.ndarray = columns[:, 1].copy()
        return positive
    if array.ndim == 2 and array.shape[1] != 1 or array.ndim > 2:
        allowed = "one score a row, or two columns (negative, positive)"
        refuse(module, name, f"an array of shape {array.shape}", allowed)
    scores = encode_floats(module, name, array)
    if not from_logits:
        _check_unit(module, name, scores)
    return scores


def _sum_to_1(columns: np.ndarray) -> bool:
    return bool(columns.min() >= 0.0 and (np.abs(columns.sum(axis=1) - 1.0) <= COLUMN_SUM_TOLERANCE).all())


def _as_numbers(module: str, name: str, values: Any) -> np.ndarray:
    rows = materialise(module, name, values)
    if is_arrow(rows):
        rows = rows.to_pylist()
    if isinstance(rows, np.ndarray) and rows.dtype == object:
        rows = rows.tolist()
    if isinstance(rows, list) and rows and hasattr(rows[0], "detach"):  # a list of tensors
        rows = [
            _from_torch(module, f"{name}[{i}]", row).tolist() if hasattr(row, "detach") else row
            for i, row in enumerate(rows)
        ]
    try:
        array = np.asarray(rows)
    except (ValueError, TypeError, RuntimeError):  # rows of different lengths, or no numbers at all
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "iuf" and not _has_bools(rows) or len(rows) == 0:
        return array.astype(np.float64) if array.dtype.kind == "O" else array
    for row, value in enumerate(rows):
        value = value.item() if getattr(value, "ndim", None) == 0 else value
        parts = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
        for part in parts:
            if not is_number(part):
                refuse(module, f"{name}[{row}]", describe(part), "finite numbers")
            if abs(part) >= 2**63 and isinstance(part, int):
                refuse(module, f"{name}[{row}]", "a whole number of more than 64 bits", "numbers that float64 can hold")
    refuse(module, name, "rows of different lengths", "one number a row, or two in every row")


def _has_bools(rows: Any) -> bool:
    """Whether a list, or a list or array in it, holds a bool: among numbers NumPy makes 1.0 of True."""
    if not isinstance(rows, list):
        return False
    kinds = set(map(type, rows))
    if kinds & {list, tuple}:
        kinds |= set(map(type, chain.from_iterable(row for row in rows if isinstance(row, (list, tuple)))))
    if np.ndarray in kinds:
        kinds |= {row.dtype.type for row in rows if isinstance(row, np.ndarray)}
    return not kinds.isdisjoint(BOOLS)


def _check_finite(module: str, name: str, array: np.ndarray) -> None:
    # A sum is finite only if every term is, and costs no temporary; one that overflows sends us to the slow check.
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    if math.isfinite(total):
        return
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argmax(bad if array.ndim == 1 else bad.any(axis=1)))
        value = array[row] if array.ndim == 1 else array[row][bad[row]][0]
        refuse(module, f"{name}[{row}]", str(float(value)), "finite numbers")


def _check_unit(module: str, name: str, array: np.ndarray) -> None:
    if array.size == 0 or (array.min() >= 0.0 and array.max() <= 1.0):
        return
    bad = (array < 0.0) | (array > 1.0)
    row = int(np.argmax(bad if array.ndim == 1 else bad.any(axis=1)))
    value = array[row] if array.ndim == 1 else array[row][bad[row]][0]
    hint = "these look like logits: apply a sigmoid or softmax first, or pass from_logits=True"
    if array.min() >= 0.0:  # of logits some are negative
        hint = "these look like logits: pass from_logits=True; or like percentages: divide by 100"
    refuse(module, f"{name}[{row}]", str(float(value)), "probabilities from 0 to 1", hint)


def encode_ids(module: str, name: str, values: Any) -> np.ndarray:
    """Ids, one a row: whole numbers as int64 or texts as str, never both; shape (n,).

    >>> encode_ids("conda_joint", "cluster", ["m1", "m1", "m2"])
    array(['m1', 'm1', 'm2'], dtype='<U2')
    """
    rows = materialise(module, name, values)
    if is_arrow(rows):
        rows = rows.to_pylist()
    if isinstance(rows, np.ndarray):
        if rows.ndim != 1:
            refuse(module, name, f"an array of shape {rows.shape}", "one id a row")
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
            refuse(module, f"{name}[{row}]", describe(rows[row]), "ids: whole numbers or texts, one kind for all rows")
    try:
        return np.array(rows, dtype=np.str_ if texts else np.int64)
    except OverflowError:
        row = next(row for row, value in enumerate(rows) if not -(2**63) <= value < 2**63)
        hint = "give longer ones as texts"
        refuse(module, f"{name}[{row}]", "a whole number of more than 64 bits", "64 bits, signed", hint)


def columns_of(module: str, name: str, values: Any, fields: Iterable[str]) -> dict[str, Any]:
    """The fields of records: given as a list of dicts, a dict of columns, or a struct column.

    >>> columns_of("conda_joint", "references", [{"intent": "E", "slots": []}], ("intent", "slots"))
    {'intent': ['E'], 'slots': [[]]}
    """
    fields = tuple(fields)
    allowed = f"records with the fields {', '.join(fields)}"
    if isinstance(values, Mapping):
        if set(values) != set(fields):
            refuse(module, name, f"the fields {', '.join(map(describe, values)) or '(none)'}", allowed)
        return {field: values[field] for field in fields}
    if hasattr(values, "columns") or hasattr(values, "column_names"):  # of pandas, polars, pyarrow, ``datasets``
        parts = ", ".join(f'"{field}": table["{field}"]' for field in fields)
        refuse(module, name, f"a {type(values).__name__}", allowed, f"of a table give {{{parts}}}")
    rows = materialise(module, name, values)
    if not len(rows):  # an empty Arrow column has no type
        return {field: [] for field in fields}
    if is_arrow(rows):
        import pyarrow as pa

        if not pa.types.is_struct(rows.type) or {f.name for f in rows.type} != set(fields):
            refuse(module, name, f"an Arrow column of {rows.type}", allowed)
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
                refuse(module, f"{name}[{row}]", describe(record), allowed)
            if set(record) != set(fields):
                missing = [field for field in fields if field not in record]
                found = f"no field {missing[0]!r}" if missing else "more fields than that"
                refuse(module, f"{name}[{row}]", found, allowed)
    return columns
