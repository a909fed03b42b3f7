"""Sequences of labels, one sequence a row: one flat array of ids and the rows' lengths."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .containers import ROWS_AT_A_TIME, Place, from_arrow, is_arrow, materialise, same_length
from .invalid import REASONS, codes_of, reason_of
from .labels import IGNORE, Refuse, Wanted, ids_from_arrow, ids_from_list, refuse_label
from .refusals import describe, refuse


class Sequences(NamedTuple):
    """Sequences of labels, one a row.

    Attributes:
        flat: int8 ids of all labels, row after row; -100 where a position is left out, the number of labels where a
            prediction is invalid and counted as such.
        lengths: int64 of shape (n,).
        reasons: why a row is invalid, or holds an invalid label: a position in `invalid.REASONS`, -1 for valid rows;
            int8 of shape (n,). None where nothing invalid is counted.
    """

    flat: np.ndarray
    lengths: np.ndarray
    reasons: np.ndarray | None = None


def encode_sequences(
    name: str, values: Any, labels: Sequence[str], *, what: str, field: str = "", invalid: bool = False
) -> Sequences:
    """Sequences of names or ids, one sequence a row, as one flat array and the rows' lengths.

    Args:
        name, labels, what: as in `encode_labels`.
        values: n sequences of any lengths, or a 2-D array; -100 may stand among names or ids (see `align_sequences`).
        field: of the input's records, such as ``slots``.
        invalid: whether rows that are no sequences (None, an answer nobody could read) and labels that are none are
            counted instead of refused.

    >>> encode_sequences("references", [["T", "O"], []], ("T", "O"), what="slot")[:2]
    (array([0, 1], dtype=int8), array([2, 0]))
    """
    wanted = Wanted(Place(name, field), labels, what)
    if invalid:
        return _with_invalid(wanted, values)
    rows = materialise(wanted.place, values)
    if not len(rows):  # an empty array has no second dimension, an empty Arrow column no type
        return Sequences(np.empty(0, dtype=np.int8), np.empty(0, dtype=np.int64))
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
        return Sequences(_ids_with_padding(wanted, flat, refuse_at), lengths)
    if is_arrow(flat):
        return Sequences(ids_from_arrow(wanted, flat, refuse_at), lengths)
    return Sequences(ids_from_list(wanted, list(flat), refuse_at, padding=True), lengths)


def _with_invalid(wanted: Wanted, values: Any) -> Sequences:
    """Sequences among which some rows or labels are invalid."""
    rows = materialise(wanted.place, values.to_pylist() if is_arrow(values) else values)  # before nulls are refused
    rows = rows.to_pylist() if is_arrow(rows) else list(rows)
    n_labels, reasons = len(wanted.labels), np.full(len(rows), -1, dtype=np.int8)
    for row, value in enumerate(rows):
        reason = None if hasattr(value, "__len__") and not isinstance(value, str) else reason_of(value, wanted.labels)
        if reason is not None:
            rows[row], reasons[row] = [], REASONS.index(reason)
    flat, lengths = _flatten_list(wanted, rows)
    codes = {value: code for value, code in codes_of(flat, wanted.labels).items() if code >= n_labels}
    lacking = np.fromiter(map(codes.__contains__, flat), dtype=bool, count=len(flat))
    names = any(isinstance(value, str) and value not in codes for value in set(flat))
    stand_in = wanted.labels[0] if names else 0
    plain = [[stand_in if value in codes else value for value in row] for row in rows] if codes else rows
    found = encode_sequences(wanted.place.name, plain, wanted.labels, what=wanted.what, field=wanted.place.field)
    if lacking.any():
        found = found._replace(flat=np.where(lacking, np.int8(n_labels), found.flat))
        at = np.repeat(np.arange(len(rows)), lengths)[lacking]
        first = np.unique(at, return_index=True)
        reasons[first[0]] = [codes[flat[i]] - n_labels for i in np.flatnonzero(lacking)[first[1]]]
    return found._replace(reasons=reasons)


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
    predictions: Sequences, references: Sequences, *, n_labels: int, field: str = "", left_out: int | None = None
) -> tuple[Sequences, Sequences]:
    """Predicted and reference sequences position by position, without the positions whose reference is -100.

    Where a row's lengths differ, its trailing -100s are taken for the padding of a 2-D array and go first. Where
    predictions have ``reasons``, a row of another length is invalid, and all its positions are.

    Args:
        predictions, references: what `encode_sequences` returned.
        n_labels: how many labels there are; also the id of an invalid prediction.
        field: as in `encode_sequences`.
        left_out: instead of dropping positions whose reference is -100, give them this id on both sides (cheaper); it
            must be larger than any other.

    Raises:
        Refusal: if a row's sequences aren't equally long (zip would hide lost tokens), or a prediction is -100 where
            its reference is not.
    """
    (flat_p, lengths_p, reasons), (flat_r, lengths_r, _) = predictions, references
    same_length(predictions=len(lengths_p), references=len(lengths_r))
    if not np.array_equal(lengths_p, lengths_r):
        differ = lengths_p != lengths_r
        flat_p, lengths_p = _trim_padding(flat_p, lengths_p, differ)
        flat_r, lengths_r = _trim_padding(flat_r, lengths_r, differ)
        differ = lengths_p != lengths_r
        if differ.any() and reasons is None:
            row = int(np.argmax(differ))
            found = f"{lengths_p[row]} predicted and {lengths_r[row]} in the reference"
            refuse(found, "equally long sequences", inputs=("predictions", "references"), row=row, field=field)
        if reasons is not None:
            reasons = np.where(differ & (reasons < 0), np.int8(REASONS.index("wrong_number")), reasons)
            flat_p = _all_invalid(flat_p, lengths_p, lengths_r, differ, n_labels)
    if flat_r.size == 0 or min(flat_r.min(), flat_p.min()) >= 0:
        return Sequences(flat_p, lengths_r, reasons), Sequences(flat_r, lengths_r)
    ignored = flat_r == IGNORE
    stray = flat_p == IGNORE
    stray &= ~ignored
    if stray.any():
        row, position = _row_and_position(lengths_r, int(np.argmax(stray)))
        found, allowed = "-100 where the reference is a label", "-100 only where the reference is -100"
        Place("predictions", field).refuse(found, allowed, row=row, position=position)
    if left_out is not None:  # no id is larger, and a maximum is several times as fast as a choice
        mark = ignored.view(np.int8) * np.int8(left_out)
        return Sequences(np.maximum(flat_p, mark), lengths_r, reasons), Sequences(np.maximum(flat_r, mark), lengths_r)
    keep, ends = ~ignored, np.cumsum(lengths_r)
    before = np.concatenate(([0], np.cumsum(keep)))
    lengths = before[ends] - before[ends - lengths_r]
    return Sequences(flat_p[keep], lengths, reasons), Sequences(flat_r[keep], lengths)


def _all_invalid(
    flat: np.ndarray, lengths: np.ndarray, wanted: np.ndarray, rows: np.ndarray, n_labels: int
) -> np.ndarray:
    """Flat predictions of the ``wanted`` lengths, those of some ``rows`` all invalid."""
    filled = np.full(int(wanted.sum()), n_labels, dtype=np.int8)
    filled[np.repeat(~rows, wanted)] = flat[np.repeat(~rows, lengths)]
    return filled


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
