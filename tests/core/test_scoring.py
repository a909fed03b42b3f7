"""Counting combinations of ids: what one loop over the rows counts, over one block of them or several."""

import numpy as np
import pytest

from toxeval.core.scoring import BLOCK, confusion_matrix, count_codes


@pytest.mark.parametrize("sizes", [(1,), (2, 2), (8, 8), (5, 2, 5), (127,), (12, 12)])
@pytest.mark.parametrize("n", [0, 1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 4 * BLOCK, 4 * BLOCK + 1])
def test_codes_over_blocks_of_rows(sizes: tuple[int, ...], n: int) -> None:
    rng = np.random.default_rng(n)
    columns = [rng.integers(0, size, n).astype(np.int8) for size in sizes]
    wanted = np.zeros(sizes, dtype=np.int64)
    np.add.at(wanted, tuple(columns), 1)
    found = count_codes(wanted.size, *zip(columns, sizes))
    assert found.dtype == np.int64
    assert found.tolist() == wanted.ravel().tolist()


def test_rows_of_a_confusion_matrix_are_references() -> None:
    references, predictions = np.array([0, 0, 1], np.int8), np.array([0, 1, 1], np.int8)
    assert confusion_matrix(references, predictions, 2).tolist() == [[1, 1], [0, 1]]
    assert confusion_matrix(references, predictions, 2, np.array([5, 3, 2])).tolist() == [[5, 3], [0, 2]]


def test_ids_are_left_as_they_were() -> None:
    ids = np.full(BLOCK + 1, 3, dtype=np.int8)
    count_codes(16, (ids, 4), (ids, 4))
    assert (ids == 3).all()
