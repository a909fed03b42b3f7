"""Labels and sequences of labels: names or ids become int8 ids, anything undeclared is refused with its row."""

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .inputs import BOOLS, ROWS_AT_A_TIME, describe, from_arrow, is_arrow, is_number, materialise, refuse, same_length

#: The label value the Trainer pads token sequences with; positions whose reference has it are left out.
IGNORE = -100

#: Bytes -> the unsigned type of as many.
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class _Input(NamedTuple):  # a tuple, since one is made for every input of every small batch
    """What is being read, for messages."""

    module: str
    name: str
    labels: Sequence[str]
    what: str = "label"
    scores_input: str = ""
    field: str = ""
    hints: Mapping[Any, str] = MappingProxyType({})
    allowed: str = ""

    def row(self, row: int) -> str:
        return f"{self.name}[{row}]{self.field}"


def encode_labels(
    module: str,
    name: str,
    values: Any,
    labels: Sequence[str],
    *,
    what: str = "label",
    scores_input: str = "",
    field: str = "",
    hints: Mapping[Any, str] | None = None,
    allowed: str = "",
) -> np.ndarray:
    """Names or ids as ids.

    Args:
        module: the metric's name, for messages.
        name: the input's name, for messages.
        values: n names or n ids, never both; ids may be whole floats (``1.0``).
        labels: the declared names; a name's position is its id.
        what: what one value is called in messages.
        scores_input: the input that takes probabilities, where the metric has one.
        field: what follows the row in messages, such as ``["intent"]``.
        hints: value -> what to tell those who give it, for values that are wrong for a reason worth knowing.
        allowed: what messages call allowed, where that isn't all labels and all ids.

    Returns:
        int8 array of shape (n,).

    >>> encode_labels("sold_macro_f1", "predictions", ["OFF", "NOT"], ("NOT", "OFF"))
    array([1, 0], dtype=int8)
    """
    source = _Input(module, name, labels, what, scores_input, field, hints or {}, allowed)
    rows = materialise(module, name + field, values)
    names = getattr(getattr(values, "features", None), "names", None)  # of a column of ``datasets`` with class labels
    if names and list(names) != list(labels) and set(names) == set(labels):  # its ids are in another order
        listed = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
        rows = [names[row] if type(row) is int and 0 <= row < len(names) else row for row in listed]
    if is_arrow(rows):
        return _labels_from_arrow(source, rows)
    if isinstance(rows, np.ndarray):
        if rows.ndim != 1:
            _refuse_dimensions(source, rows.shape)
        if rows.dtype.kind not in "OSTUV":
            return _ids_from_numbers(source, rows)
        if rows.dtype.kind == "U":
            return _ids_from_unicode(source, rows)
        rows = rows.tolist()
    return _ids_from_list(source, rows, source.row)


def allowed_labels(labels: Sequence[str]) -> str:
    """The allowed values, as messages print them.

    >>> allowed_labels(("NOT", "OFF"))
    'NOT, OFF (ids 0 to 1)'
    """
    return f"{', '.join(labels)} (ids 0 to {len(labels) - 1})"


def _ids_from_numbers(source: _Input, rows: np.ndarray) -> np.ndarray:
    kind, n_labels = rows.dtype.kind, len(source.labels)
    if kind == "b" and n_labels == 2:
        return rows.astype(np.int8)  # a copy: states are kept, and buffers are filled again
    if kind not in "iuf":
        refuse(source.module, source.name + source.field, f"an array of {rows.dtype}", allowed_labels(source.labels))
    if not _within(rows, n_labels):
        row = int(np.argmax(~((rows >= 0) & (rows < n_labels))))
        _refuse_label(source, source.row(row), rows[row].item(), ids=True)
    ids = rows.astype(np.int8)
    if kind == "f" and (ids != rows).any():
        row = int(np.argmax(ids != rows))
        _refuse_label(source, source.row(row), rows[row].item(), ids=True)
    return ids


def _within(rows: np.ndarray, n_labels: int) -> bool:
    """Whether all numbers lie in [0, n_labels); NaN doesn't."""
    if not rows.size:
        return True
    if rows.dtype.kind == "i":  # read as unsigned, a negative id is a huge one: one pass instead of two
        rows = rows.view(UNSIGNED[rows.dtype.itemsize]) if rows.dtype.isnative else rows.astype("i8").view(np.uint64)
    # the ufunc itself: the method of an array takes as long again for a small batch
    return bool(np.maximum.reduce(rows) < n_labels and (rows.dtype.kind == "u" or rows.min() >= 0))


def _ids_from_unicode(source: _Input, rows: np.ndarray) -> np.ndarray:
    ids = np.full(len(rows), -1, dtype=np.int8)
    for i, label in enumerate(source.labels):  # a comparison a label, each vectorised
        ids[rows == label] = i
    if (ids < 0).any():
        row = int(np.argmax(ids < 0))
        _refuse_label(source, source.row(row), str(rows[row]), ids=False)
    return ids


def _labels_from_arrow(source: _Input, rows: Any) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(rows.type):  # the type of an empty list
        return np.empty(0, dtype=np.int8)
    if not (pa.types.is_string(rows.type) or pa.types.is_large_string(rows.type)):
        return _ids_from_list(source, rows.to_pylist(), source.row)
    positions = pc.index_in(rows, value_set=pa.array(source.labels, type=rows.type))
    if positions.null_count:
        row = int(np.flatnonzero(positions.is_null().to_numpy(zero_copy_only=False))[0])
        _refuse_label(source, source.row(row), rows[row].as_py(), ids=False)
    ids: np.ndarray = positions.to_numpy(zero_copy_only=False).astype(np.int8)
    return ids


def _ids_from_list(source: _Input, rows: list[Any], where: Callable[[int], str], padding: bool = False) -> np.ndarray:
    """A list's names or ids by one dictionary look-up each; the loop runs inside ``bytearray`` and ``map``."""
    if not rows:
        return np.empty(0, dtype=np.int8)
    labels, names = source.labels, isinstance(rows[0], str)
    table: dict[Any, int] = (
        {label: i for i, label in enumerate(labels)} if names else {i: i for i in range(len(labels))}
    )
    if padding and not names:
        table[IGNORE] = IGNORE % 256  # as a byte, which int8 reads as -100
    try:
        ids = np.frombuffer(bytearray(map(table.__getitem__, rows)), dtype=np.int8)  # twice as fast as np.fromiter
    except (KeyError, TypeError):
        masked = np.ma.masked
        # 0-d tensors and arrays as numbers
        plain = [None if row is masked else row.item() if getattr(row, "ndim", None) == 0 else row for row in rows]
        if any(a is not b for a, b in zip(plain, rows)) and all(not hasattr(row, "ndim") for row in plain):
            return _ids_from_list(source, plain, where, padding)
        for row, value in enumerate(plain):
            if not isinstance(value, (str, int, float)) or value not in table:
                _refuse_label(source, where(row), value, ids=not names)
        raise
    if not names and len(labels) > 2 and not set(map(type, rows)).isdisjoint(BOOLS):  # True equals 1 in a dictionary
        row = next(row for row, value in enumerate(rows) if isinstance(value, BOOLS))
        _refuse_label(source, where(row), bool(rows[row]), ids=True)
    return ids


def _refuse_label(source: _Input, where: str, value: Any, ids: bool) -> NoReturn:
    module, labels, what, hint = source.module, source.labels, source.what, ""
    allowed = source.allowed or allowed_labels(labels)
    is_nan = isinstance(value, float) and math.isnan(value)
    empty = isinstance(value, str) and not value
    if value is None or is_nan or empty or type(value).__name__ in ("NAType", "NaTType"):  # pandas' have no truth value
        found = f"missing {what} ({repr(value) if empty else value})"
        refuse(module, where, found, allowed, source.hints.get(None, ""))
    if hasattr(value, "__len__") and not isinstance(value, str):
        hint = "one value a row is wanted: for logits or one column a class, take the argmax first"
        if len(value) == 1:  # whose argmax is always 0
            hint = "one value a row is wanted, not a sequence of one"
        if isinstance(value, dict):
            hint = "one value a row is wanted: of a pipeline's dicts the label"
        refuse(module, where, f"a {type(value).__name__} where one {what} is wanted", allowed, hint)
    if isinstance(value, str) and ids or is_number(value) and not ids:
        kinds = ("an id", "a name") if ids else ("a name", "an id")
        found = f"{kinds[1]} ({describe(value, labels)}) in an input that starts with {kinds[0]}"
        refuse(module, where, found, allowed, "give names or ids, not both in one input")
    if isinstance(value, (str, int, float)) and value in source.hints:
        hint = source.hints[value]
    elif is_number(value) and value % 1 != 0 and source.scores_input:
        hint = f"probabilities and other scores go to {source.scores_input}, where the threshold applies"
    elif is_number(value) and value % 1 != 0:
        hint = "a score is no label: turn scores into labels first"
    elif is_number(value) and value == IGNORE:
        hint = "-100 marks positions to leave out, and only in the references of token sequences"
    elif isinstance(value, str) and value.strip() in labels:
        hint = f"did you mean {value.strip()!r}? White space is not stripped"
    elif isinstance(value, str) and re.fullmatch(r"LABEL_\d+", value):
        hint = "so a model calls its labels whose config has no id2label: set that, or give ids"
    elif isinstance(value, str) and value.isdigit():
        hint = "ids are integers, not texts"
    elif isinstance(value, str):
        close = [label for label in labels if label.lower() == value.lower()]  # "safe" is closer to "Unsafe"
        close = close or difflib.get_close_matches(value, labels, n=1)
        hint = f"did you mean {close[0]!r}?" if close else ""
    refuse(module, where, f"unknown {what} {describe(value, labels)}", allowed, hint)


def _refuse_dimensions(source: _Input, shape: tuple[int, ...]) -> NoReturn:
    hint = "for logits or probabilities take the argmax over the last axis first"
    if shape[-1] == 1:  # whose argmax is 0 in every row
        hint = "labels in one column lose the last axis; scores need a threshold first"
    if source.scores_input:
        hint += f", or give P({source.what}) as a single column in {source.scores_input}"
    allowed = f"one {source.what} a row, shape ({shape[0]},)"
    refuse(source.module, source.name + source.field, f"an array of shape {shape}", allowed, hint)


# --- sequences of labels ------------------------------------------------------------------------------------------


def encode_sequences(
    module: str, name: str, values: Any, labels: Sequence[str], *, what: str, field: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of names or ids, one sequence a row, as one flat array and the rows' lengths.

    Args:
        module, name, labels, what: as in `encode_labels`.
        values: n sequences of any lengths, or a 2-D array; ids may include -100 (see `align_sequences`).
        field: what stands between row and position in messages, such as ``["slots"]``.

    Returns:
        int8 array of all labels, row after row, -100 kept; int64 array of shape (n,) with the rows' lengths.

    >>> encode_sequences("conda_joint", "references", [["T", "O"], []], ("T", "O"), what="slot")
    (array([0, 1], dtype=int8), array([2, 0]))
    """
    source = _Input(module, name, labels, what, field=field)
    rows = materialise(module, name + field, values)
    if not len(rows):  # an empty array has no second dimension, an empty Arrow column no type
        return np.empty(0, dtype=np.int8), np.empty(0, dtype=np.int64)
    if is_arrow(rows):
        flat, lengths = _flatten_arrow(source, rows)
    elif isinstance(rows, np.ndarray) and rows.dtype != object:
        if rows.ndim != 2:
            hint = "for logits take the argmax over the last axis first" if rows.ndim == 3 else ""
            refuse(module, name + field, f"an array of shape {rows.shape}", f"one sequence of {what}s a row", hint)
        flat, lengths = rows.ravel(), np.full(len(rows), rows.shape[1], dtype=np.int64)
    else:
        flat, lengths = _flatten_list(source, list(rows))

    def where(position: int) -> str:
        row, within = _place(lengths, position)
        return f"{source.row(row)}[{within}]"

    if isinstance(flat, np.ndarray) and flat.dtype.kind in "iufb":
        return _ids_with_padding(source, where, flat), lengths
    if is_arrow(flat):
        try:
            return _labels_from_arrow(source, flat), lengths
        except ValueError:  # the list path below says row and position
            flat = flat.to_pylist()
    return _ids_from_list(source, list(flat), where, padding=True), lengths


def _place(lengths: np.ndarray, position: int) -> tuple[int, int]:
    """Row and position within it of an entry of the flat array."""
    ends = np.cumsum(lengths)
    row = int(np.searchsorted(ends, position, side="right"))
    return row, position - int(ends[row] - lengths[row])


def _flatten_list(source: _Input, rows: list[Any]) -> tuple[list[Any], np.ndarray]:
    flat: list[Any] = []
    lengths = np.empty(len(rows), dtype=np.int64)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        block = rows[start : start + ROWS_AT_A_TIME]
        if not set(map(type, block)) <= {list, tuple}:
            block = [_sequence(source, start + i, row) for i, row in enumerate(block)]
        lengths[start : start + len(block)] = np.fromiter(map(len, block), dtype=np.int64, count=len(block))
        flat.extend(chain.from_iterable(block))
    return flat, lengths


def _sequence(source: _Input, row: int, value: Any) -> Any:
    """One row as a list. A text has a length too, and would fall apart into characters."""
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        allowed = f"a sequence of {source.what}s in every row"
        refuse(source.module, source.row(row), f"{describe(value)} instead of a sequence", allowed)
    labels = materialise(source.module, source.row(row), value)
    if is_arrow(labels):
        return labels.to_pylist()
    return labels.tolist() if isinstance(labels, np.ndarray) else labels


def _flatten_arrow(source: _Input, rows: Any) -> tuple[Any, np.ndarray]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if str(rows.type).startswith(("list_view", "large_list_view")):
        return _flatten_list(source, rows.to_pylist())
    if not (pa.types.is_list(rows.type) or pa.types.is_large_list(rows.type) or pa.types.is_fixed_size_list(rows.type)):
        found = f"an Arrow column of {rows.type}"
        refuse(source.module, source.name + source.field, found, f"a list of {source.what}s in every row")
    lengths = pc.list_value_length(rows).to_numpy(zero_copy_only=False).astype(np.int64)
    flat = rows.flatten()
    if flat.null_count:  # the list path says row and position
        return flat.to_pylist(), lengths
    return from_arrow(source.module, source.name + source.field, flat), lengths


def _ids_with_padding(source: _Input, where: Callable[[int], str], flat: np.ndarray) -> np.ndarray:
    """Like `_ids_from_numbers`, with -100 allowed."""
    if flat.dtype.kind == "b":
        return _ids_from_numbers(source, flat)
    n_labels = len(source.labels)
    if flat.size == 0 or bool(flat.min() >= IGNORE and flat.max() < n_labels):  # False for NaN
        ids = flat.astype(np.int8)
        between = np.count_nonzero(ids < 0) != np.count_nonzero(ids == IGNORE)
        if not between and not (flat.dtype.kind == "f" and (ids != flat).any()):
            return ids
    right = (flat == IGNORE) | (flat >= 0) & (flat < n_labels) & (flat == np.floor(flat))
    position = int(np.argmin(right))
    _refuse_label(source, where(position), flat[position].item(), ids=True)


def align_sequences(
    module: str,
    predictions: tuple[np.ndarray, np.ndarray],
    references: tuple[np.ndarray, np.ndarray],
    *,
    field: str = "",
    left_out: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted and reference sequences position by position, without the positions whose reference is -100.

    Where a row's lengths differ, its trailing -100s are taken for the padding of a 2-D array and go first.

    Args:
        module: the metric's name, for messages.
        predictions, references: what `encode_sequences` returned.
        field: as in `encode_sequences`.
        left_out: instead of dropping positions whose reference is -100, give them this id on both sides (cheaper); it
            must be larger than any label's.

    Returns:
        int8 predictions and references of shape (t,), and int64 lengths of shape (n,) of what is left in each row.

    Raises:
        ValueError: if a row's sequences aren't equally long (zip would hide lost tokens), or a prediction is -100
            where its reference is not.
    """
    (flat_p, lengths_p), (flat_r, lengths_r) = predictions, references
    same_length(module, predictions=len(lengths_p), references=len(lengths_r))
    if not np.array_equal(lengths_p, lengths_r):
        differ = lengths_p != lengths_r
        flat_p, lengths_p = _trim_padding(flat_p, lengths_p, differ)
        flat_r, lengths_r = _trim_padding(flat_r, lengths_r, differ)
        if not np.array_equal(lengths_p, lengths_r):
            row = int(np.argmax(lengths_p != lengths_r))
            found = f"{lengths_p[row]} predicted and {lengths_r[row]} in the reference"
            refuse(module, f"predictions[{row}]{field} and references[{row}]{field}", found, "equally long sequences")
    if flat_r.size == 0 or min(flat_r.min(), flat_p.min()) >= 0:
        return flat_p, flat_r, lengths_r
    ignored = flat_r == IGNORE
    stray = flat_p == IGNORE
    stray &= ~ignored
    if stray.any():
        row, within = _place(lengths_r, int(np.argmax(stray)))
        place = f"predictions[{row}]{field}[{within}]"
        refuse(module, place, "-100 where the reference is a label", "-100 only where the reference is -100")
    if left_out is not None:  # no id is larger, and a maximum is several times as fast as a choice
        mark = ignored.view(np.int8) * np.int8(left_out)
        return np.maximum(flat_p, mark), np.maximum(flat_r, mark), lengths_r
    keep, ends = ~ignored, np.cumsum(lengths_r)
    before = np.concatenate(([0], np.cumsum(keep)))
    return flat_p[keep], flat_r[keep], before[ends] - before[ends - lengths_r]


def _trim_padding(flat: np.ndarray, lengths: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Flat array and lengths without the trailing -100s of the rows that ``which`` marks."""
    if not (flat == IGNORE).any():
        return flat, lengths
    rows = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    real = np.flatnonzero(flat != IGNORE)
    last = np.zeros(len(lengths), dtype=np.int64)
    last[rows[real]] = real + 1 - starts[rows[real]]  # positions rise, so a row's last one stays
    last[~which] = lengths[~which]
    within = np.arange(len(flat)) - starts[rows]
    return flat[within < last[rows]], last
