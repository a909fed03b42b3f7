"""Labels: names or ids become int8 ids, anything undeclared is refused with its row."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .containers import Place, is_arrow, materialise, plain_values
from .invalid import codes_of, holds_label
from .refusals import BOOLS, describe, is_missing, is_number

#: The label value the Trainer pads token sequences with; positions whose reference has it are left out.
IGNORE = -100

#: Bytes -> the unsigned type of as many.
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Wanted(NamedTuple):  # a tuple, since one is made for every input of every small batch
    """What is being read, and what messages say of it.

    Attributes:
        place: the input.
        labels: the declared names; a name's position is its id.
        what: what one value is called in messages.
        scores_input: the input that takes probabilities, where the metric has one.
        hints: value -> what to tell those who give it, for values that are wrong for a reason worth knowing.
        allowed: what messages call allowed, where that isn't all labels and all ids.
        bools: what to say to bools where they don't tell which label they mean.
        invalid: whether invalid values are counted: their ids come after the labels' (`invalid.REASONS`).
    """

    place: Place
    labels: Sequence[str]
    what: str = "label"
    scores_input: str = ""
    hints: Mapping[Any, str] = MappingProxyType({})
    allowed: str = ""
    bools: str = ""
    invalid: bool = False


#: What refuses a value: (position in a flat list, the value, whether the input holds ids).
Refuse = Callable[[int, Any, bool], NoReturn]


def encode_labels(
    name: str,
    values: Any,
    labels: Sequence[str],
    *,
    what: str = "label",
    scores_input: str = "",
    field: str = "",
    hints: Mapping[Any, str] | None = None,
    allowed: str = "",
    bools: str = "",
    invalid: bool = False,
) -> np.ndarray:
    """Names or ids as ids.

    Args:
        name, field: the input, or the field of its records, for messages.
        values: n names or n ids, never both; ids may be whole floats (``1.0``), and of two labels bools.
        labels, what, scores_input, hints, allowed, bools, invalid: see `Wanted`.

    Returns:
        int8 array of shape (n,).

    >>> encode_labels("predictions", ["OFF", "NOT"], ("NOT", "OFF"))
    array([1, 0], dtype=int8)
    """
    wanted = Wanted(Place(name, field), labels, what, scores_input, hints or {}, allowed, bools, invalid)

    def refuse(row: int, value: Any, ids: bool) -> NoReturn:
        refuse_label(wanted, row, None, value, ids)

    if invalid:
        return _with_invalid(wanted, values, refuse)
    rows = materialise(wanted.place, values)
    if is_arrow(rows):
        return ids_from_arrow(wanted, rows, refuse)
    return _ids(wanted, rows, refuse)


def encode_sparse_labels(name: str, values: Any, labels: Sequence[str]) -> np.ndarray:
    """The same of an input that some rows are without: these have None, NaN or an empty text, and ``len(labels)``.

    >>> encode_sparse_labels("moderator_labels", ["OFF", None, ""], ("NOT", "OFF")).tolist()
    [1, 2, 2]
    """
    ids = encode_labels(name, values, labels, invalid=True)
    unread = ids > len(labels)
    if unread.any():
        allowed = f"{allowed_labels(labels)}, or nothing"
        Place(name).refuse("a text that is no label", allowed, row=int(np.argmax(unread)))
    return ids


def _ids(wanted: Wanted, rows: Any, refuse: Refuse) -> np.ndarray:
    """The ids of a list or an array."""
    if isinstance(rows, np.ndarray):
        if rows.ndim != 1:
            _refuse_dimensions(wanted, rows.shape)
        if rows.dtype.kind not in "OSTUV":
            return _ids_from_numbers(wanted, rows, refuse)
        if rows.dtype.kind == "U":
            return _ids_from_unicode(wanted, rows, refuse)
        rows = rows.tolist()
    return ids_from_list(wanted, rows, refuse)


def _with_invalid(wanted: Wanted, values: Any, refuse: Refuse) -> np.ndarray:
    """The ids of labels among which some are invalid."""
    rows = materialise(wanted.place, values.to_pylist() if is_arrow(values) else values)  # before nulls are refused
    if is_arrow(rows):
        rows = rows.to_pylist()
    if isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind not in "iub":
        rows = rows.tolist()
    if not isinstance(rows, list):
        return _ids(wanted, rows, refuse)
    try:  # distinct values are few, and the loop over rows runs inside `map`
        codes = codes_of(rows, wanted.labels)
        invalid = np.fromiter(map(codes.__contains__, rows), dtype=bool, count=len(rows))
    except TypeError:  # a list or a dict, which is refused with its row
        return _ids(wanted, rows, refuse)
    if not invalid.any():
        return _ids(wanted, rows, refuse)
    by_name = invalid.all() or isinstance(rows[int(np.argmin(invalid))], str)
    stand_in = wanted.labels[0] if by_name else 0
    ids = _ids(wanted, [stand_in if row in codes else row for row in rows], refuse).copy()
    ids[invalid] = [codes[rows[i]] for i in np.flatnonzero(invalid)]
    return ids


def allowed_labels(labels: Sequence[str]) -> str:
    """The allowed values, as messages print them.

    >>> allowed_labels(("NOT", "OFF"))
    'NOT, OFF (ids 0 to 1)'
    """
    return f"{', '.join(labels)} (ids 0 to {len(labels) - 1})"


def _ids_from_numbers(wanted: Wanted, rows: np.ndarray, refuse: Refuse) -> np.ndarray:
    kind, n_labels = rows.dtype.kind, len(wanted.labels)
    if kind == "b" and len(rows):
        if n_labels != 2 or wanted.bools:
            refuse(0, bool(rows[0]), True)
        return rows.astype(np.int8)  # a copy: states are kept, and buffers are filled again
    if kind not in "iufb":
        wanted.place.refuse(f"an array of {rows.dtype}", allowed_labels(wanted.labels))
    if not _within(rows, n_labels):
        row = int(np.argmax(~((rows >= 0) & (rows < n_labels))))
        refuse(row, rows[row].item(), True)
    ids = rows.astype(np.int8)
    if kind == "f" and (ids != rows).any():
        row = int(np.argmax(ids != rows))
        refuse(row, rows[row].item(), True)
    return ids


def _within(rows: np.ndarray, n_labels: int) -> bool:
    """Whether all numbers lie in [0, n_labels); NaN doesn't."""
    if not rows.size:
        return True
    if rows.dtype.kind == "i":  # read as unsigned, a negative id is a huge one: one pass instead of two
        rows = rows.view(UNSIGNED[rows.dtype.itemsize]) if rows.dtype.isnative else rows.astype("i8").view(np.uint64)
    # the ufunc itself: the method of an array takes as long again for a small batch
    return bool(np.maximum.reduce(rows) < n_labels and (rows.dtype.kind == "u" or rows.min() >= 0))


def _ids_from_unicode(wanted: Wanted, rows: np.ndarray, refuse: Refuse) -> np.ndarray:
    ids = np.full(len(rows), -1, dtype=np.int8)
    for i, label in enumerate(wanted.labels):  # a comparison a label, each vectorised
        ids[rows == label] = i
    if (ids < 0).any():
        row = int(np.argmax(ids < 0))
        refuse(row, str(rows[row]), False)
    return ids


def ids_from_arrow(wanted: Wanted, rows: Any, refuse: Refuse) -> np.ndarray:
    """The ids of an Arrow array of texts, or of anything else by way of a list."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_null(rows.type):  # the type of an empty list
        return np.empty(0, dtype=np.int8)
    if not (pa.types.is_string(rows.type) or pa.types.is_large_string(rows.type)):
        return ids_from_list(wanted, rows.to_pylist(), refuse)
    positions = pc.index_in(rows, value_set=pa.array(wanted.labels, type=rows.type))
    if positions.null_count:
        row = int(np.flatnonzero(positions.is_null().to_numpy(zero_copy_only=False))[0])
        refuse(row, rows[row].as_py(), False)
    ids: np.ndarray = positions.to_numpy(zero_copy_only=False).astype(np.int8)
    return ids


def ids_from_list(wanted: Wanted, rows: list[Any], refuse: Refuse, padding: bool = False) -> np.ndarray:
    """A list's names or ids by one dictionary look-up each; the loop runs inside ``bytearray`` and ``map``.

    With ``padding`` -100 is taken, too.
    """
    if not rows:
        return np.empty(0, dtype=np.int8)
    labels = wanted.labels
    names = isinstance(_first(rows) if padding else rows[0], str)
    table: dict[Any, int] = dict(zip(labels, range(len(labels)))) if names else {i: i for i in range(len(labels))}
    if padding:
        table[IGNORE] = IGNORE % 256  # as a byte, which int8 reads as -100
    try:
        ids = np.frombuffer(bytearray(map(table.__getitem__, rows)), dtype=np.int8)  # twice as fast as np.fromiter
    except (KeyError, TypeError):
        plain = plain_values(rows)
        if any(a is not b for a, b in zip(plain, rows)) and all(not hasattr(row, "ndim") for row in plain):
            return ids_from_list(wanted, plain, refuse, padding)
        for row, value in enumerate(plain):
            if not isinstance(value, (str, int, float)) or value not in table:
                refuse(row, value, not names)
        raise
    no_ids = (
        (complex, *BOOLS) if len(labels) > 2 or wanted.bools else (complex,)
    )  # True and 1 + 0j equal 1 in a dictionary
    if not names and any(issubclass(kind, no_ids) for kind in set(map(type, rows))):
        row = next(row for row, value in enumerate(rows) if isinstance(value, no_ids))
        refuse(row, bool(rows[row]) if isinstance(rows[row], BOOLS) else rows[row], True)
    return ids


def _first(rows: Iterable[Any]) -> Any:
    """The first one that isn't -100."""
    return next((row for row in rows if not (isinstance(row, int) and row == IGNORE)), 0)


def refuse_label(wanted: Wanted, row: int, position: int | None, value: Any, ids: bool) -> NoReturn:
    """Refuse a value that is no label, with the best advice there is.

    Args:
        wanted: what it was looked for.
        row, position: where it is.
        value: what it is.
        ids: whether the input holds ids.
    """
    labels, what, hint = wanted.labels, wanted.what, ""
    allowed = wanted.allowed or allowed_labels(labels)

    def refuse(found: str, hint: str = "") -> NoReturn:
        wanted.place.refuse(found, allowed, hint, row, position)

    empty = isinstance(value, str) and not value
    if is_missing(value) or empty:
        refuse(f"missing {what} ({repr(value) if empty else value})", wanted.hints.get(None, ""))
    if isinstance(value, BOOLS) and wanted.bools:
        refuse(f"the bool {value}", wanted.bools)
    if hasattr(value, "__len__") and not isinstance(value, str):
        hint = "one value a row is wanted: for logits or one column a class, take the argmax first"
        if len(value) == 1:  # whose argmax is always 0
            hint = "one value a row is wanted, not a sequence of one"
        if isinstance(value, dict):
            hint = "one value a row is wanted: of a pipeline's dicts the label"
        refuse(f"a {type(value).__name__} where one {what} is wanted", hint)
    if isinstance(value, str) and ids or is_number(value) and not ids and value not in wanted.hints:
        kinds = ("an id", "a name") if ids else ("a name", "an id")
        found = f"{kinds[1]} ({describe(value, labels)}) in an input that starts with {kinds[0]}"
        refuse(found, "give names or ids, not both in one input")
    if isinstance(value, (str, int, float)) and value in wanted.hints:
        hint = wanted.hints[value]
    elif is_number(value) and value % 1 != 0 and wanted.scores_input:
        hint = f"probabilities and other scores go to {wanted.scores_input}, where the threshold applies"
    elif is_number(value) and value % 1 != 0:
        hint = "a score is no label: turn scores into labels first"
    elif is_number(value) and value == IGNORE:
        hint = "-100 marks positions to leave out, and only in the references of token sequences"
    elif isinstance(value, str):
        hint = _hint_for_text(value, labels)
        answer = wanted.place == Place("predictions") and position is None
        if answer and not hint and value.replace(" ", "").replace("-", "").isalpha():
            hint = "labels in other words are read by a rule of toxeval.answers, with aliases"
        if wanted.invalid and holds_label(value, labels):
            answers = "a text that holds a label isn't counted as missing: read it by a rule of toxeval.answers"
            hint = "; ".join(filter(None, [hint, answers]))
    shown = describe(value, labels)
    refuse(f"{shown} where a {what} is wanted" if shown.startswith("a ") else f"unknown {what} {shown}", hint)


def _hint_for_text(value: str, labels: Sequence[str]) -> str:
    if value.strip() in labels:
        return f"did you mean {value.strip()!r}? White space is not stripped"
    if re.fullmatch(r"LABEL_\d+", value):
        return "so a model calls its labels whose config has no id2label: set that, or give ids"
    if value.isdigit():
        return "ids are integers, not texts"
    close = [label for label in labels if label.lower() == value.lower()]  # "safe" is closer to "Unsafe"
    close = close or difflib.get_close_matches(value, labels, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def _refuse_dimensions(wanted: Wanted, shape: tuple[int, ...]) -> NoReturn:
    hint = "for logits or probabilities take the argmax over the last axis first"
    if shape[-1] == 1:  # whose argmax is 0 in every row
        hint = "labels in one column lose the last axis; scores need a threshold first"
    if wanted.scores_input:
        hint += f", or give P({wanted.what}) as a single column in {wanted.scores_input}"
    wanted.place.refuse(f"an array of shape {shape}", f"one {wanted.what} a row, shape ({shape[0]},)", hint)
