"""Labels and sequences of labels: names or ids become int8 ids, anything undeclared is refused with its row."""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from .inputs import describe, from_arrow, is_arrow, is_number, materialise, refuse, same_length

#: The label value the Trainer pads token sequences with; positions whose reference has it are left out.
IGNORE = -100


@dataclass(frozen=True)
class _Input:
    """What is being read, for messages."""

    module: str
    name: str
    labels: Sequence[str]
    what: str = "label"
    scores_input: str = ""
    field: str = ""
    hints: Mapping[Any, str] = dataclass_field(default_factory=dict)
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
        return rows.view(np.int8)
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
        rows = rows.view(f"u{rows.dtype.itemsize}") if rows.dtype.isnative else rows.astype(np.int64).view(np.uint64)
    return bool(rows.max() < n_labels and (rows.dtype.kind == "u" or rows.min() >= 0))


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
        plain = [row.item() if getattr(row, "ndim", None) == 0 else row for row in rows]  # 0-d tensors and arrays
        if any(a is not b for a, b in zip(plain, rows)) and all(not hasattr(row, "ndim") for row in plain):
            return _ids_from_list(source, plain, where, padding)
        for row, value in enumerate(plain):
            if not isinstance(value, (str, int, float)) or value not in table:
                _refuse_label(source, where(row), value, ids=not names)
        raise
    if not names and len(labels) > 2 and bool in set(map(type, rows)):  # True equals 1 in a dictionary
        row = next(row for row, value in enumerate(rows) if isinstance(value, bool))
        _refuse_label(source, where(row), rows[row], ids=True)
    return ids


def _refuse_label(source: _Input, where: str, value: Any, ids: bool) -> NoReturn:
    module, labels, what, hint = source.module, source.labels, source.what, ""
    allowed = source.allowed or allowed_labels(labels)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        refuse(module, where, f"missing {what} ({value})", allowed, source.hints.get(None, ""))
    if hasattr(value, "__len__") and not isinstance(value, str):
        hint = "one value a row is wanted: for logits or one column a class, take the argmax first"
        refuse(module, where, f"a {type(value).__name__} where one {what} is wanted", allowed, hint)
    if isinstance(value, str) and ids or is_number(value) and not ids:
        kinds = ("an id", "a name") if ids else ("a name", "an id")
        found = f"{kinds[1]} ({describe(value, labels)}) in an input that starts with {kinds[0]}"
        refuse(module, where, found, allowed, "give names or ids, not both in one input")
    if isinstance(value, (str, int, float)) and value in source.hints:
        hint = source.hints[value]
    elif is_number(value) and not float(value).is_integer() and source.scores_input:
        hint = f"probabilities and other scores go to {source.scores_input}, where the threshold applies"
    elif is_number(value) and not float(value).is_integer():
        hint = "a score is no label: turn scores into labels first"
    elif value == IGNORE and not isinstance(value, str):
        hint = "-100 marks positions to leave out, and only in the references of token sequences"
    elif isinstance(value, str) and value.strip() in labels:
        hint = f"did you mean {value.strip()!r}? White space is not stripped"
    elif isinstance(value, str) and value.isdigit():
        hint = "ids are integers, not texts"
    elif isinstance(value, str):
        close = difflib.get_close_matches(value, labels, n=1)
        hint = f"did you mean {close[0]!r}?" if close else ""
    refuse(module, where, f"unknown {what} {describe(value, labels)}", allowed, hint)


def _refuse_dimensions(source: _Input, shape: tuple[int, ...]) -> NoReturn:
    hint = "for logits or probabilities take the argmax over the last axis first"
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
    rows = materialise(module, name, values)
    if is_arrow(rows):
        flat, lengths = _flatten_arrow(module, f"{name}{field}", rows, what)
    elif isinstance(rows, np.ndarray) and rows.dtype != object:
        if rows.ndim != 2:
            hint = "for logits take the argmax over the last axis first" if rows.ndim == 3 else ""
            refuse(module, name + field, f"an array of shape {rows.shape}", f"one sequence of {what}s a row", hint)
        flat, lengths = rows.ravel(), np.full(len(rows), rows.shape[1], dtype=np.int64)
    else:
        flat, lengths = _flatten_list(module, name, list(rows), what, field)

    def where(position: int) -> str:
        ends = np.cumsum(lengths)
        row = int(np.searchsorted(ends, position, side="right"))
        return f"{name}[{row}]{field}[{position - int(ends[row] - lengths[row])}]"

    if isinstance(flat, np.ndarray) and flat.dtype.kind in "iufb":
        return _ids_with_padding(module, where, flat, labels, what), lengths
    if isinstance(flat, np.ndarray):
        flat = flat.tolist()
    if is_arrow(flat):
        try:
            return _labels_from_arrow(module, name, flat, labels, what, ""), lengths
        except ValueError:  # the list path below says row and position
            flat = flat.to_pylist()
    return _ids_from_list(flat, labels, where, module, what, "", padding=True), lengths


def _flatten_list(module: str, name: str, rows: list[Any], what: str, field: str) -> tuple[Any, np.ndarray]:
    kinds = set(map(type, rows))
    if not kinds <= {list, tuple}:  # a text has a length too, and would fall apart into characters
        for row, value in enumerate(rows):
            if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
                allowed = f"a sequence of {what}s in every row"
                refuse(module, f"{name}[{row}]{field}", f"{describe(value)} instead of a sequence", allowed)
        rows = [materialise(module, f"{name}[{row}]{field}", value) for row, value in enumerate(rows)]
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return list(chain.from_iterable(rows)), lengths


def _flatten_arrow(module: str, where: str, rows: Any, what: str) -> tuple[Any, np.ndarray]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_list(rows.type) or pa.types.is_large_list(rows.type) or pa.types.is_fixed_size_list(rows.type)):
        refuse(module, where, f"an Arrow column of {rows.type}", f"a list of {what}s in every row")
    lengths = pc.list_value_length(rows).to_numpy(zero_copy_only=False).astype(np.int64)
    return from_arrow(module, f"{where}, all rows joined", rows.flatten()), lengths


def _ids_with_padding(module: str, where: Any, flat: np.ndarray, labels: Sequence[str], what: str) -> np.ndarray:
    """Like `_ids_from_numbers`, with -100 allowed."""
    if flat.dtype.kind == "b" and len(labels) == 2:
        return flat.view(np.int8)
    if not _within(flat, len(labels)):
        bad = ~((flat >= 0) & (flat < len(labels)) | (flat == IGNORE))
        if bad.any():
            position = int(np.argmax(bad))
            _refuse_label(module, where(position), flat[position].item(), labels, what, "", ids=True)
    ids = flat.astype(np.int8)
    if flat.dtype.kind == "f" and (ids != flat).any():
        position = int(np.argmax(ids != flat))
        _refuse_label(module, where(position), flat[position].item(), labels, what, "", ids=True)
    return ids


def align_sequences(
    module: str,
    predictions: tuple[np.ndarray, np.ndarray],
    references: tuple[np.ndarray, np.ndarray],
    *,
    field: str = "",
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted and reference sequences position by position, without the positions whose reference is -100.

    Where a row's lengths differ, trailing -100s are taken for the padding of a 2-D array and go first.

    Returns:
        int8 predictions and references of shape (t,), and int64 lengths of shape (n,) of what is left in each row.

    Raises:
        ValueError: if a row's sequences aren't equally long (zip would hide lost tokens), or a prediction is -100
            where its reference is not.
    """
    (flat_p, lengths_p), (flat_r, lengths_r) = predictions, references
    same_length(module, predictions=len(lengths_p), references=len(lengths_r))
    if not np.array_equal(lengths_p, lengths_r):
        trimmed_p, trimmed_r = _trim_padding(flat_p, lengths_p), _trim_padding(flat_r, lengths_r)
        if not np.array_equal(trimmed_p[1], trimmed_r[1]):
            row = int(np.argmax(trimmed_p[1] != trimmed_r[1]))
            found = f"{trimmed_p[1][row]} predicted and {trimmed_r[1][row]} in the reference"
            refuse(module, f"predictions[{row}]{field} and references[{row}]{field}", found, "equally long sequences")
        (flat_p, lengths_p), (flat_r, lengths_r) = trimmed_p, trimmed_r
    if flat_r.size and min(flat_r.min(), flat_p.min()) < 0:
        keep = flat_r != IGNORE
        ends = np.cumsum(lengths_r)
        stray = (flat_p == IGNORE) & keep
        if stray.any():
            position = int(np.argmax(stray))
            row = int(np.searchsorted(ends, position, side="right"))
            place = f"predictions[{row}]{field}[{position - int(ends[row] - lengths_r[row])}]"
            refuse(module, place, "-100 where the reference is a label", "-100 only where the reference is -100")
        before = np.concatenate(([0], np.cumsum(keep)))
        lengths_r = before[ends] - before[ends - lengths_r]
        flat_p, flat_r = flat_p[keep], flat_r[keep]
    return flat_p, flat_r, lengths_r


def _trim_padding(flat: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row without its trailing -100s."""
    if not (flat == IGNORE).any():
        return flat, lengths
    rows = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    real = np.flatnonzero(flat != IGNORE)
    last = np.zeros(len(lengths), dtype=np.int64)
    last[rows[real]] = real + 1 - starts[rows[real]]  # positions rise, so a row's last one stays
    within = np.arange(len(flat)) - starts[rows]
    return flat[within < last[rows]], last
