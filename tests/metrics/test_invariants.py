"""What holds for all five metrics, whatever their formulas: order, batches, merging, keys, types, clean-up."""

import json
import os
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SAMPLES, Row, Sample, assert_same, columns, ids, to_ids
from sklearn.exceptions import UndefinedMetricWarning

every = pytest.mark.parametrize("sample", SAMPLES, ids=ids)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def one(row: Row) -> dict[str, Any]:
    """A row as ``add`` takes it."""
    singular = {"predictions": "prediction", "references": "reference"}
    return {singular.get(name, name): item for name, item in row.items()}


@every
@quiet
@given(data=st.data())
def test_row_order_never_matters(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows())
    shuffled = data.draw(st.permutations(rows))
    assert_same(sample.compute(shuffled, detailed=True), sample.compute(rows, detailed=True))


@every
@quiet
@given(data=st.data())
def test_any_split_into_batches_gives_the_result_of_one_compute(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows())
    metric, rest = sample.load(**sample.needed), list(rows)
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        batch, rest = rest[:size], rest[size:]
        how = data.draw(st.sampled_from(["add", "add_batch", "compute"]))
        if how == "compute":  # the rows given to compute join those added before
            rest, batch = [], batch + rest
            found = metric.compute(**columns(batch), detailed=True)
            break
        if how == "add_batch":
            metric.add_batch(**columns(batch))
        else:
            for row in batch:
                metric.add(**one(row))
    else:
        assert len(metric) == len(rows)
        found = metric.compute(detailed=True)
    assert len(metric) == 0
    assert_same(found, sample.compute(rows, detailed=True))


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.names or s.id == "conda_joint"], ids=ids)
@quiet
@given(data=st.data())
def test_names_and_ids_on_either_side(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows())
    wanted = sample.compute(rows)
    inputs = list(rows[0])
    for as_ids in [inputs, *([name] for name in inputs)]:
        assert sample.compute(to_ids(sample, rows, as_ids.__contains__)) == pytest.approx(wanted, nan_ok=True, abs=0)


@every
@quiet
@given(data=st.data())
def test_merging_states_is_associative_and_commutative(sample: Sample, data: st.DataObject) -> None:
    parts = [data.draw(sample.rows()) for _ in range(3)]
    a, b, c = map(sample.state, parts)
    wanted = sample.compute(sum(parts, []), detailed=True)
    for merged in [(a + b) + c, a + (b + c), (c + a) + b]:
        assert merged.n_rows == sum(map(len, parts))
        assert_same(sample.score(merged, detailed=True).as_dict(""), wanted)


@every
@quiet
@given(data=st.data())
def test_a_state_survives_the_way_through_bytes(sample: Sample, data: st.DataObject) -> None:
    state = sample.state(data.draw(sample.rows()))
    back = type(state).from_bytes(state.to_bytes())
    assert back.n_rows == state.n_rows
    assert repr(sample.score(back).as_dict("")) == repr(sample.score(state).as_dict(""))


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not s.state(s.complete).rows], ids=ids)
@quiet
@given(data=st.data())
def test_counts_with_a_leading_axis_are_scored_slice_by_slice(sample: Sample, data: st.DataObject) -> None:
    """Rows can't be stacked: resampling picks them one resample at a time."""
    states = [sample.state(data.draw(sample.rows())) for _ in range(3)]
    counts = {key: np.stack([state.counts[key] for state in states]) for key in states[0].counts}
    together = sample.score(type(states[0])(states[0].n_rows, counts), detailed=True).values
    for i, state in enumerate(states):
        alone = sample.score(state, detailed=True).as_dict("")
        assert_same({key: float(np.broadcast_to(values, 3)[i]) for key, values in together.items()}, alone)


@every
@quiet
@pytest.mark.parametrize("detailed", [False, True])
@given(data=st.data())
def test_keys_never_depend_on_the_data(sample: Sample, detailed: bool, data: st.DataObject) -> None:
    ordinary = list(sample.compute(sample.complete, detailed=detailed))
    assert list(sample.compute(sample.single, detailed=detailed)) == ordinary
    assert list(sample.compute(data.draw(sample.rows()), detailed=detailed)) == ordinary
    leading = [key for key in sample.load().definition.headlines if key in ordinary]
    assert ordinary[:1] == leading[:1] or not leading


@every
@quiet
@given(data=st.data())
def test_values_are_plain_numbers_that_json_takes(sample: Sample, data: st.DataObject) -> None:
    result = sample.compute(data.draw(sample.rows()), detailed=True)
    assert type(result) is dict
    assert {type(value) for value in result.values()} <= {int, float}
    assert {type(key) for key in result} == {str}
    assert repr(json.loads(json.dumps(result))) == repr(result)


@every
def test_complete_valid_data_give_no_warning(sample: Sample) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = sample.compute(sample.complete, detailed=True)
        json.dumps(result, allow_nan=False)


@every
def test_undefined_scores_give_one_warning(sample: Sample) -> None:
    with pytest.warns(UndefinedMetricWarning, match=f"^{sample.metric}: undefined: ") as caught:
        sample.compute(sample.single)
    assert len(caught) == 1


@every
@quiet
@given(data=st.data())
def test_options_fixed_at_load_or_given_to_compute(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows())
    for option, values in sample.options.items():
        for value in values:
            metric = sample.load(**{option: value}, **sample.needed)
            assert_same(metric.compute(**columns(rows)), sample.compute(rows, **{option: value}))
            other = sample.load(**{option: values[0]}, **sample.needed)  # what compute says wins
            assert_same(other.compute(**columns(rows), **{option: value}), sample.compute(rows, **{option: value}))


@every
@quiet
@given(data=st.data())
def test_usable_after_an_error_with_nothing_left_over(sample: Sample, data: st.DataObject) -> None:
    before, after = data.draw(sample.rows()), data.draw(sample.rows())
    bad = columns(after) | {"references" if "references" in after[0] else "categories": ["<PAD>"] * len(after)}
    metric = sample.load(**sample.needed)
    for fail in [metric.compute, metric.add_batch]:
        with pytest.raises(ValueError, match=f"^{sample.metric}: "):
            fail(**bad)
        assert_same(metric.compute(**columns(after)), sample.compute(after))

        metric.add_batch(**columns(before))
        with pytest.raises(ValueError, match=f"^{sample.metric}: "):
            fail(**bad)
        assert_same(metric.compute(**columns(after)), sample.compute(before + after))

    for option in ({"detailed": "yes"}, {"no_such_option": 1}):
        with pytest.raises(ValueError, match=f"^{sample.metric}: "):
            metric.compute(**columns(before), **option)
        assert len(metric) == 0
        assert_same(metric.compute(**columns(after)), sample.compute(after))


@every
@quiet
def test_no_file_is_written(sample: Sample, hf_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def listing() -> list[tuple[str, int]]:
        paths = [*hf_home.rglob("*"), *tmp_path.rglob("*")]
        return sorted((str(path), path.stat().st_mtime_ns) for path in paths)

    monkeypatch.chdir(tmp_path)
    before = listing()
    metric = sample.load(**sample.needed)
    metric.add_batch(**columns(sample.complete))
    metric.compute(**columns(sample.single))
    with pytest.raises(ValueError, match=sample.metric):
        metric.compute(**columns(sample.complete) | {"predictions": [None]})
    metric.add(**one(sample.complete[0]))
    with pytest.raises(ValueError, match=sample.metric):
        metric.compute(no_such_option=1)
    metric.compute()
    assert listing() == before
    assert os.getcwd() == str(tmp_path)


@every
@quiet
def test_global_random_state_is_neither_read_nor_changed(sample: Sample) -> None:
    results, states = [], []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 - this is the state that must be left alone
        random.seed(seed)
        before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
        results.append(repr(sample.compute(sample.complete + sample.single, detailed=True)))
        states.append((repr(np.random.get_state()), random.getstate()) == before)  # noqa: NPY002
    assert results[0] == results[1]
    assert all(states)


@every
@quiet
def test_a_module_with_rows_can_be_pickled(sample: Sample) -> None:
    metric = sample.load(**sample.needed)
    metric.add_batch(**columns(sample.complete))
    copy: Any = pickle.loads(pickle.dumps(metric))
    assert_same(copy.compute(**columns(sample.single)), sample.compute(sample.complete + sample.single))
    assert len(metric) == len(sample.complete)
