"""Encoded arrays taken apart by rows: some have an entry a row, some an entry a token, some are scalars."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

#: The array that says how many tokens each row has, where a metric has arrays with an entry a token.
LENGTHS = "lengths"


class RowArrays:
    """What a metric's ``encode`` made of some rows, for taking some of them as often as need be.

    Args:
        arrays: of shape (n, ...), an entry a row; of shape (t,), an entry a token, row after row; or of no dimension,
            which belong to all rows.
        per_token: the names of those with an entry a token; ``arrays["lengths"]`` has the rows' lengths, and where it
            is missing every entry is a row.

    >>> arrays = {"slots": np.array([7, 8, 9]), "lengths": np.array([2, 0, 1]), "width": np.array(0.5)}
    >>> taken = RowArrays(arrays, ["slots"]).take([2, 0])
    >>> taken["slots"], taken["lengths"], taken["width"]
    (array([9, 7, 8]), array([1, 2]), array(0.5))
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], per_token: Sequence[str] = ()) -> None:
        self._arrays, self._per_token = arrays, per_token if LENGTHS in arrays else ()
        self._ends = np.cumsum(arrays[LENGTHS]) if self._per_token else np.zeros(0, dtype=np.int64)

    def take(self, rows: Any) -> dict[str, np.ndarray]:
        """The arrays of some rows, in the order of their numbers; a row may be taken several times.

        Args:
            rows: whole numbers, shape (m,).
        """
        rows = np.asarray(rows, dtype=np.intp)
        tokens = self._tokens(rows) if self._per_token else rows
        return {
            name: array[tokens if name in self._per_token else rows] if array.ndim else array
            for name, array in self._arrays.items()
        }

    def _tokens(self, rows: np.ndarray) -> np.ndarray:
        """Where the tokens of some rows are."""
        lengths = self._arrays[LENGTHS][rows]
        ends = np.cumsum(lengths)
        shifts = self._ends[rows] - ends  # from where a row's tokens will be to where they are
        places: np.ndarray = np.arange(ends[-1] if len(ends) else 0) + np.repeat(shifts, lengths)
        return places
