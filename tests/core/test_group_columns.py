"""Columns that say which group a row is in: names of every kind, yes and no, and what is neither."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from generated import LONG
from hypothesis import given
from hypothesis import strategies as st

from toxeval.core import group_columns
from toxeval.core.group_columns import codes_by_name, rows_by_group
from toxeval.core.refusals import Refusal
from toxeval.loading import plain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

COLUMNS = {
    "texts": (["b", "a", "b"], ["a", "b"]),
    "array of texts": (np.array(["b", "a", "b"]), ["a", "b"]),
    "objects": (np.array(["b", None, math.nan], dtype=object), ["b", None, math.nan]),
    "numbers": ([10, 9, 10], [9, 10]),
    "array": (np.array([10, 9, 10], dtype=np.uint8), [9, 10]),
    "numbers far apart": (np.array([2**62, -(2**62), 0]), [-(2**62), 0, 2**62]),
    "whole floats": (np.array([2.0, np.nan, 1.0]), [1, 2, math.nan]),
    "bools": ([True, False, True], [False, True]),
    "bools and none": ([True, None, False], [False, True, None]),
    "Series": (pd.Series(["b", "a", "b"], index=[7, 7, 8]), ["a", "b"]),
    "Series with missing": (pd.Series([1, None, 2]), [1, 2, math.nan]),
    "nullable Series": (pd.Series([1, None, 2], dtype="Int64").astype(object), [1, 2, None]),
    "categories": (pd.Series(["b", "a", "b"], dtype=pd.CategoricalDtype(["a", "b", "c"])), ["a", "b"]),
    "categories with missing": (pd.Categorical(["b", None, "a"], categories=["b", "c", "a"]), ["a", "b", math.nan]),
    "fractions among categories": (pd.Series([2.0, 1.0, 2.0], dtype=pd.CategoricalDtype([0.5, 1.0, 2.0])), [1, 2]),
    "Arrow": (pa.array(["b", None, "a"]), ["a", "b", None]),
    "Arrow chunks": (pa.chunked_array([["b"], ["a", None]]), ["a", "b", None]),
    "Arrow dictionary": (pa.array(["b", None, "a"]).dictionary_encode(), ["a", "b", None]),
    "Arrow floats": (pa.array([1.0, None, float("nan")]), [1, None, math.nan]),
    "Arrow nulls": (pa.array([None, None, None]), [None]),
    "several NaN": ([float("nan"), float("nan"), "x"], ["x", math.nan]),
    "NumPy's texts": ([np.str_("b"), "a", "b"], ["a", "b"]),
    "tuple": (("b", "a", "b"), ["a", "b"]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_names(kind: str) -> None:
    column, names = COLUMNS[kind]
    found = plain("sold_macro_f1").compute_by(column, min_rows=1, predictions=[0, 1, 1], references=[0, 1, 0])
    assert list(map(repr, found.groups)) == list(map(repr, names))
    assert list(map(type, found.groups)) == list(map(type, names))
    for name in names:
        assert found.groups[name] is not None  # NaN is found by math.nan
    assert sum(found.sizes.values()) == 3


def test_tensors_are_columns_too() -> None:
    torch = pytest.importorskip("torch")
    found = plain("sold_macro_f1").compute_by(
        torch.tensor([3, 1, 3]), min_rows=1, predictions=[0, 1, 1], references=[0, 1, 0]
    )
    assert found.sizes == {1: 1, 3: 2}


@pytest.mark.parametrize(
    "flags",
    [[True, False, True], [1, 0, 1], np.array([1.0, 0.0, 1.0]), ["yes", "no", "yes"], pa.array([True, False, True])],
    ids=["bools", "numbers", "floats", "words", "Arrow"],
)
def test_columns_of_yes_and_no(flags: Any) -> None:
    found = plain("sold_macro_f1").compute_by({"w": flags}, min_rows=1, predictions=[0, 1, 1], references=[0, 1, 0])
    assert found.sizes == {"w": 2}
    assert found.groups["w"] is not None
    assert found.groups["w"]["accuracy"] == 0.5


REFUSED = {
    "another length": (["a"], "groups: 1 rows, and 3 of predictions"),
    "a fraction": ([0.5, 1, 1], "groups\\[0\\]: 0.5"),
    "a list": ([["a"], "b", "c"], "groups\\[0\\]: a list"),
    "bytes": ([b"a", b"b", b"c"], "groups\\[0\\]: a bytes"),
    "texts and numbers": (["a", 1, "b"], "numbers and texts"),
    "bools and numbers": ([True, 1, 0], "bools and numbers"),
    "two dimensions": (np.zeros((3, 2)), "shape \\(3, 2\\)"),
    "a text": ("abc", "'abc'"),
    "a table": (pd.DataFrame({"w": [1, 0, 1]}), "a DataFrame"),
    "no group": ({}, "no group"),
    "flags of another length": ({"w": [1, 0]}, 'groups\\["w"\\]: 2 rows, and 3 of predictions'),
    "fractions as flags": ({"w": [0.0, 0.7, 1.0]}, 'groups\\[1\\]\\["w"\\]: unknown answer 0.7'),
    "flags that are missing": ({"w": [True, None, False]}, 'groups\\[1\\]\\["w"\\]: missing answer'),
    "a long name": ({LONG: [1, 0]}, 'groups\\["a text of 45 characters"\\]: 2 rows'),
    "a long text among answers": ({"w": [1, 0, LONG]}, "a text of 45 characters"),
    "no name of a group": ({1.5: [1, 0, 1]}, "groups: 1.5"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_group_is_refused(case: str) -> None:
    groups, message = REFUSED[case]
    with pytest.raises(Refusal, match=message) as refused:
        plain("sold_macro_f1").compute_by(groups, predictions=[0, 1, 1], references=[0, 1, 0])
    assert refused.value.metric == "sold_macro_f1"
    assert LONG not in str(refused.value)


@pytest.mark.parametrize("hold", [list, np.array, pa.array])
def test_a_group_has_one_zero(hold: Any) -> None:
    """Arrow tells -0.0 from 0.0: half of the group's rows were lost."""
    found = dict(rows_by_group(hold([0.0, -0.0, 1.0, 0.0]), 4, "predictions"))
    assert {name: rows.tolist() for name, rows in found.items()} == {0: [0, 1, 3], 1: [2]}


@pytest.mark.parametrize("bits", [22, 1, 3])
@given(texts=st.lists(st.text("aé😀 ", max_size=3), min_size=1))
def test_texts_are_told_apart_though_their_hashes_are_the_same(bits: int, texts: list[str]) -> None:
    column = np.array(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_columns, "HASH_BITS", bits)
        patch.setattr(group_columns, "HASHED", 0)
        names, codes = codes_by_name(column, len(column), "predictions")
    assert [names[code] for code in codes] == column.tolist()
    assert names == sorted(set(column.tolist()))
