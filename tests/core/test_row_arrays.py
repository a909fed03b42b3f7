"""Encoded rows taken apart give the arrays that encoding those rows gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SAMPLES, Sample, columns, ids

from toxeval.core.row_arrays import RowArrays


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
@given(data=st.data())
def test_taken_rows_are_the_rows(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows())
    which = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=15))
    metric = sample.load(**sample.needed)
    taken = RowArrays(metric.encode(**columns(rows)), metric.definition.per_token).take(which)
    wanted = metric.encode(**columns([rows[row] for row in which]))
    assert set(taken) == set(wanted)
    for name, array in wanted.items():
        assert taken[name].dtype == array.dtype
        np.testing.assert_array_equal(taken[name], array)


def test_no_row() -> None:
    arrays = {"slots": np.array([7, 8], np.int8), "lengths": np.array([2]), "resolution": np.array(0.5)}
    taken = RowArrays(arrays, ["slots"]).take([])
    assert [len(taken[name]) for name in ("slots", "lengths")] == [0, 0]
    assert taken["resolution"] == 0.5
