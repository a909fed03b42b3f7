"""Sequences of labels, one sequence a row: one flat array of ids and the rows' lengths."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from .inputs import ROWS_AT_A_TIME, Place, from_arrow, is_arrow, materialise, same_length
from .labels import IGNORE, Refuse, Wanted, ids_from_arrow, ids_from_list, refuse_label
from .refusals import describe, refuse


def encode_sequences(
    name: str, values: Any, labels: Sequence[str], *, what: str, field: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of names or ids, one sequence a row, as one flat array and the rows' lengths.

    Args:
        name, labels, what: as in `encode_labels`.
        values: n sequences of any lengths, or a 2-D array; -100 may stand among names or ids (see `align_sequences`).
        field: of the input's records, such as ``slots``.

    Returns:
        int8 array of all labels, row after row, -100 kept; int64 array of shape (n,) with the rows' lengths.

    >>> encode_sequences("references", [["T", "O"], []], ("T", "O"), what="slot")
    (array([0, 1], dtype=int8), array([2, 0]))
    """
    wanted = Wanted(Place(name, field), labels, what)
    rows = materialise(wanted.place, values)
    if not len(rows):  # an empty array has no second dimension, an empty Arrow column no type
        return np.empty(0, dtype=np.int8), np.empty(0, dtype=np.int64)
    if is_arrow(rows):
        flat, lengths = _flatten_arrow(wanted, rows)
    elif isinstance(rows, np.ndarray) and rows.dtype != object:
        if rows.ndim != 2:
            hint = "for logits take the argmax over the last axis first" if rows.ndim == 3 else ""
            wanted.place.refuse(f"an array of shape {rows.shape}", f"one sequence of {what}s a row", hint)
        flat, lengths = rows.ravel(), np.full(len(rows), rows.shape[1], dtype=np.int64)
    else:
        flat, lengths = _flatten_list(wanted, list(rows))

    def refuse_at(position: int, value: Any, ids: bool) -> NoReturn:
        refuse_label(wanted, *_row_and_position(lengths, position), value, ids)

    if isinstance(flat, np.ndarray) and flat.dtype.kind in "iufb":
        return _ids_with_padding(wanted, flat, refuse_at), lengths
    if is_arrow(flat):
        return ids_from_arrow(wanted, flat, refuse_at), lengths
    return ids_from_list(wanted, list(flat), refuse_at, padding=True), lengths


def _row_and_position(lengths: np.ndarray, at: int) -> tuple[int, int]:
    """Row and position within it of an entry of the flat array."""
    ends = np.cumsum(lengths)
    row = int(np.searchsorted(ends, at, side="right"))
    return row, at - int(ends[row] - lengths[row])


def _flatten_list(wanted: Wanted, rows: list[Any]) -> tuple[list[Any], np.ndarray]:
    flat: list[Any] = []
    lengths = np.empty(len(rows), dtype=np.int64)
    for start in range(0, len(rows), ROWS_AT_A_TIME):
        block = rows[start : start + ROWS_AT_A_TIME]
        if not set(map(type, block)) <= {list, tuple}:
            block = [_sequence(wanted, start + i, row) for i, row in enumerate(block)]
        lengths[start : start + len(block)] = np.fromiter(map(len, block), dtype=np.int64, count=len(block))
        flat.extend(chain.from_iterable(block))
    return flat, lengths


def _sequence(wanted: Wanted, row: int, value: Any) -> Any:
    """One row as a list. A text has a length too, and would fall apart into characters."""
    place = wanted.place._replace(row=row)
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        place.refuse(f"{describe(value)} instead of a sequence", f"a sequence of {wanted.what}s in every row")
    labels = materialise(place, value)
    if is_arrow(labels):
        return labels.to_pylist()
    return labels.tolist() if isinstance(labels, np.ndarray) else labels


def _flatten_arrow(wanted: Wanted, rows: Any) -> tuple[Any, np.ndarray]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if str(rows.type).startswith(("list_view", "large_list_view")):
        return _flatten_list(wanted, rows.to_pylist())
    if not (pa.types.is_list(rows.type) or pa.types.is_large_list(rows.type) or pa.types.is_fixed_size_list(rows.type)):
        wanted.place.refuse(f"an Arrow column of {rows.type}", f"a list of {wanted.what}s in every row")
    lengths = pc.list_value_length(rows).to_numpy(zero_copy_only=False).astype(np.int64)
    flat = rows.flatten()
    if flat.null_count:  # the list path says row and position
        return flat.to_pylist(), lengths
    return from_arrow(wanted.place, flat), lengths


def _ids_with_padding(wanted: Wanted, flat: np.ndarray, refuse_at: Refuse) -> np.ndarray:
    """The ids of an array of numbers, -100 among them."""
    if flat.dtype.kind == "b":
        return ids_from_list(wanted, flat.tolist(), refuse_at)
    n_labels = len(wanted.labels)
    if flat.size == 0 or bool(flat.min() >= IGNORE and flat.max() < n_labels):  # False for NaN
        ids = flat.astype(np.int8)
        between = np.count_nonzero(ids < 0) != np.count_nonzero(ids == IGNORE)
        if not between and not (flat.dtype.kind == "f" and (ids != flat).any()):
            return ids
    right = (flat == IGNORE) | (flat >= 0) & (flat < n_labels) & (flat == np.floor(flat))
    position = int(np.argmin(right))
    refuse_at(position, flat[position].item(), True)


def align_sequences(
    predictions: tuple[np.ndarray, np.ndarray],
    references: tuple[np.ndarray, np.ndarray],
    *,
    field: str = "",
    left_out: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predicted and reference sequences position by position, without the positions whose reference is -100.

    Where a row's lengths differ, its trailing -100s are taken for the padding of a 2-D array and go first.

    Args:
        predictions, references: what `encode_sequences` returned.
        field: as in `encode_sequences`.
        left_out: instead of dropping positions whose reference is -100, give them this id on both sides (cheaper); it
            must be larger than any label's.

    Returns:
        int8 predictions and references of shape (t,), and int64 lengths of shape (n,) of what is left in each row.

    Raises:
        Refusal: if a row's sequences aren't equally long (zip would hide lost tokens), or a prediction is -100 where
            its reference is not.
    """
    (flat_p, lengths_p), (flat_r, lengths_r) = predictions, references
    same_length(predictions=len(lengths_p), references=len(lengths_r))
    if not np.array_equal(lengths_p, lengths_r):
        differ = lengths_p != lengths_r
        flat_p, lengths_p = _trim_padding(flat_p, lengths_p, differ)
        flat_r, lengths_r = _trim_padding(flat_r, lengths_r, differ)
        if not np.array_equal(lengths_p, lengths_r):
            row = int(np.argmax(lengths_p != lengths_r))
            found = f"{lengths_p[row]} predicted and {lengths_r[row]} in the reference"
            refuse(found, "equally long sequences", inputs=("predictions", "references"), row=row, field=field)
    if flat_r.size == 0 or min(flat_r.min(), flat_p.min()) >= 0:
        return flat_p, flat_r, lengths_r
    ignored = flat_r == IGNORE
    stray = flat_p == IGNORE
    stray &= ~ignored
    if stray.any():
        row, position = _row_and_position(lengths_r, int(np.argmax(stray)))
        found, allowed = "-100 where the reference is a label", "-100 only where the reference is -100"
        Place("predictions", field).refuse(found, allowed, row=row, position=position)
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
