"""Whatever holds the rows, the numbers are the same, and what the user passed is left as it was."""

import copy
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from samples import SAMPLES, Row, Sample, assert_same, columns, ids, to_ids

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def objects(items: list) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def series(items: list) -> pd.Series:
    return pd.Series(items, index=[7 * i + 3 for i in range(len(items))][::-1])


def chunked(items: list) -> pa.ChunkedArray:
    whole = pa.array(items)
    return pa.chunked_array([whole[:1], whole[1:1], whole[1:]])


def column(items: list) -> Any:
    return datasets.Dataset.from_dict({"rows": items})["rows"]


def frozen(items: list) -> np.ndarray:
    array = np.array(items)
    array.flags.writeable = False
    return array


def padded(sequences: list[list[int]]) -> np.ndarray:
    array = np.full((len(sequences), max(map(len, sequences)) + 1), -100)
    for row, sequence in zip(array, sequences):
        row[: len(sequence)] = sequence
    return array


def tensor(items: list) -> Any:
    return pytest.importorskip("torch", reason="torch is not installed").tensor(items)


def tupled(item: Any) -> Any:
    return tuple(item) if isinstance(item, list) else item


def each_tupled(items: list) -> tuple:
    return tuple({k: tupled(v) for k, v in item.items()} if isinstance(item, dict) else tupled(item) for item in items)


def strided(items: list) -> np.ndarray:
    return np.array([x for item in items for x in (item, items[0])])[::2]


#: Containers of whole columns, whatever the items.
ANY: dict[str, Callable] = {
    "tuples": each_tupled,
    "object_array": objects,
    "series": series,
    "arrow": pa.array,
    "arrow_chunked": chunked,
    "arrow_slice": lambda items: pa.array([items[0], *items, items[0]])[1:-1],
    "datasets_column": column,
}
#: Containers of one label or number a row.
FLAT: dict[str, Callable] = {
    "numpy": frozen,
    "numpy_strided": strided,
    "list_of_numpy_scalars": lambda items: list(np.array(items)),
    "series_category": lambda items: series(items).astype("category"),
    "series_nullable": lambda items: series(items).convert_dtypes(),
    "arrow_dictionary": lambda items: pa.array(items).dictionary_encode(),
    "arrow_large": lambda items: pa.array(items, pa.large_string()) if isinstance(items[0], str) else pa.array(items),
}
#: Containers of ids or numbers.
NUMBERS: dict[str, Callable] = {
    "tensor_with_grad": lambda items: tensor(np.array(items, dtype=np.float64)).requires_grad_(),
    "whole_floats": lambda items: np.array(items, dtype=np.float64),
    "float_list": lambda items: [float(item) for item in items],
    "column_vector_series": lambda items: series(items).astype("float64"),
}
TENSORS: dict[str, Callable] = {"tensor": tensor, "list_of_tensors": lambda items: list(tensor(items))}
#: Containers of one sequence of ids a row.
SEQUENCES: dict[str, Callable] = {
    "list_of_arrays": lambda items: [np.array(item, dtype=np.int64) for item in items],
    "padded": padded,
    "padded_tensor": lambda items: tensor(padded(items)),
    "padded_floats": lambda items: padded(items).astype(float),
    "padded_lists": lambda items: padded(items).tolist(),
    "list_of_tensors": lambda items: [tensor(item).long() for item in items],
    "arrow_large_list": lambda items: pa.array(items, pa.large_list(pa.int16())),
}


few = settings(max_examples=10)


def copied(value: Any) -> Any:
    """Everything in it, and of which kind it is."""
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [copied(v) for v in value]
    listed = getattr(value, "to_pylist", getattr(value, "tolist", None))
    return type(value), copied(listed()) if listed else copy.deepcopy(value)


def check(sample: Sample, rows: list[Row], containers: dict[str, Callable]) -> None:
    """The same scores whatever holds the columns."""
    wanted = sample.compute(rows, detailed=True)
    for container, convert in containers.items():
        note(container)
        given = {name: convert(items) for name, items in columns(rows).items()}
        untouched = {name: copied(value) for name, value in given.items()}
        found = sample.compute_columns(given, detailed=True)
        assert_same(found, wanted)
        assert repr({name: copied(value) for name, value in given.items()}) == repr(untouched)


FLAT_SAMPLES = [s for s in SAMPLES if not s.sequences and s.id != "conda_joint"]


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
@few
@given(data=st.data())
def test_any_container(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows())
    containers = ANY | FLAT if sample in FLAT_SAMPLES else ANY
    check(sample, rows, containers)
    check(sample, to_ids(sample, rows), containers)


def as_float32(name: str, value: float, sample: Sample) -> float:
    """The number that is as good as a float32: of a probability the decimal it prints, else its own value."""
    number = np.float32(value)
    probability = name != "review_scores" and "from_logits" not in sample.needed
    return float(str(number)) if probability else float(number)


@pytest.mark.parametrize("sample", [s for s in FLAT_SAMPLES if s.variant != "three_way"], ids=ids)  # by name only
@few
@given(data=st.data())
def test_numbers(sample: Sample, data: st.DataObject) -> None:
    rows = to_ids(sample, data.draw(sample.rows()))
    check(sample, rows, NUMBERS)
    if "prediction_scores" in rows[0] or sample.metric == "oracle_collab":  # torch makes float32 of Python floats
        rows = [{k: as_float32(k, v, sample) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
    check(sample, rows, TENSORS)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.sequences or s.id == "conda_joint"], ids=ids)
@few
@given(data=st.data())
def test_sequences_of_ids(sample: Sample, data: st.DataObject) -> None:
    rows = to_ids(sample, data.draw(sample.rows()))
    check(sample, rows, SEQUENCES if sample.sequences else {name: columnar(hold) for name, hold in SEQUENCES.items()})


def columnar(hold: Callable) -> Callable:
    """Records as a dict of two columns."""
    return lambda items: {
        "intent": np.array([item["intent"] for item in items]),
        "slots": hold([item["slots"] for item in items]),
    }


def test_float32_would_flip_a_strict_threshold_and_float64_is_kept() -> None:
    for sample in SAMPLES:
        if sample.id in ("threat_f1-scores", "oracle_collab"):
            name = "prediction_scores" if sample.metric == "threat_f1" else "predictions"
            for hold in (list, np.array, pa.array, pd.Series, column):
                result = sample.load().compute(**{name: hold([0.5000000001, 0.1]), "references": [1, 0]})
                assert result["accuracy"] == 1.0
