"""States: counted anywhere, compacted, merged in any order, sent as bytes, scored once, like all rows at once."""

import multiprocessing
import pickle
import re
from functools import reduce
from itertools import permutations
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SAMPLES, Row, Sample, assert_same, columns, ids, replicate

import toxeval
from toxeval.core.resampling import Draws
from toxeval.core.state import State, merge, merge_compact

every = pytest.mark.parametrize("sample", SAMPLES, ids=ids)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


@every
@quiet
@given(data=st.data())
def test_states_of_parts_score_like_compute(sample: Sample, data: st.DataObject) -> None:
    parts = data.draw(st.lists(sample.rows(), min_size=1, max_size=4))
    metric = sample.load(**sample.needed)
    states = [metric.state(**columns(rows)) for rows in parts]
    compacted = [state.compact() if data.draw(st.booleans()) else state for state in states]
    sent = [State.from_bytes(state.to_bytes()) for state in compacted]
    wanted = sample.compute(sum(parts, []), detailed=True)
    for whole in (reduce(add, sent), merge(sent[::-1]), merge(sent).compact(), merge(sent).compact().compact()):
        assert whole.n_rows == sum(map(len, parts))
        assert_same(metric.score_state(whole, detailed=True), wanted)
    assert len(metric) == 0


@every
@quiet
@given(data=st.data())
def test_intervals_of_a_compacted_state_are_those_of_its_rows(sample: Sample, data: st.DataObject) -> None:
    metric = sample.load(**sample.needed)
    state = metric.state(**columns(data.draw(sample.rows())))
    plain, compacted = (
        replicate(metric, each)(Draws(np.random.default_rng(0), 3)) for each in (state, state.compact())
    )
    for key, values in plain.items():
        np.testing.assert_allclose(compacted[key], values, rtol=0, atol=1e-12)


@every
@quiet
@given(data=st.data())
def test_a_compacted_state_doesnt_depend_on_order(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows())
    metric = sample.load(**sample.needed)
    one, other = (metric.state(**columns(r)).compact() for r in (rows, data.draw(st.permutations(rows))))
    assert one.to_bytes() == other.to_bytes()


def test_rows_that_are_added_stay_few_where_they_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toxeval.core.metric.COMPACT_FROM", 1000)
    rng, metric, all_rows = np.random.default_rng(0), toxeval.load("oracle_collab"), []
    for _ in range(30):
        p = rng.integers(0, 101, 100) / 100
        all_rows.append((p, (rng.random(100) < p).astype(int)))
        metric.add_batch(predictions=all_rows[-1][0], references=all_rows[-1][1])
        assert sum(len(state.rows["references"]) for state in metric._pending) <= 1000
    p, y = map(np.concatenate, zip(*all_rows))
    assert len(metric) == 3000
    assert_same(
        metric.compute(detailed=True), toxeval.load("oracle_collab").compute(predictions=p, references=y, detailed=True)
    )


@pytest.mark.parametrize("n", [1000, 2**20 + 50_000])
def test_risk_and_coverage_of_many_rows_in_few_entries(n: int) -> None:
    rng = np.random.default_rng(0)
    p = rng.integers(0, 300, n) / 299
    metric = toxeval.load("oracle_collab")
    state = metric.state(predictions=p, references=(rng.random(n) < p).astype(int))
    assert_same(metric.score_state(state.compact(), detailed=True), metric.score_state(state, detailed=True))
    # E_i / i, row by row
    unsure = np.minimum(p, 1 - p)
    wrong = (p > 0.5) != state.rows["references"]
    values, at, sizes = np.unique(unsure, return_inverse=True, return_counts=True)
    expected = np.cumsum((np.bincount(at, wrong) / sizes)[np.sort(at)])
    aurc = (expected / np.arange(1, n + 1)).mean()
    assert metric.score_state(state, detailed=True)["aurc"] == pytest.approx(aurc, abs=1e-11)


def test_what_cannot_be_merged_is_refused() -> None:
    metric = toxeval.load("threat_f1")
    labels = metric.state(predictions=[1], references=[1])
    scores = metric.state(prediction_scores=[0.5], references=[1])
    with pytest.raises(ValueError, match="states of different inputs: confusion and probabilities, references"):
        merge([labels, scores])
    assert merge([State(0), labels]) is labels
    with pytest.raises(ValueError, match="threat_f1: predictions: no rows"):
        metric.score_state(State(0))
    with pytest.raises(ValueError, match="threat_f1: option detail: unknown.*did you mean detailed"):
        metric.score_state(labels, detail=True)
    with pytest.raises(ValueError, match="threat_f1: input threshold: unknown"):
        metric.state(prediction_scores=[0.5], references=[1], threshold=0.3)
    with pytest.raises(ValueError, match="format 1; this version reads format 4"):
        _read_old_format(labels)


def test_a_state_is_of_the_metric_and_configuration_that_counted_it() -> None:
    rows = {"predictions": [1, 0], "references": [1, 0]}
    posts, threat = (toxeval.load(name) for name in ("sold_macro_f1", "threat_f1"))
    words = toxeval.load("sold_macro_f1", "token")
    a, b, c = posts.state(**rows), threat.state(**rows), words.state(predictions=[[1, 0]], references=[[1, 0]])
    assert [state.metric for state in (a, b, c)] == ["sold_macro_f1", "threat_f1", "sold_macro_f1 (token)"]
    for one, other in permutations([a, b, c], 2):
        with pytest.raises(ValueError, match=re.escape(f"different metrics: {one.metric} and {other.metric}")):
            toxeval.merge([one, State(0), one, other])
    for metric, own in ((posts, a), (threat, b), (words, c)):
        assert metric.score_state(own)
        for other in (each for each in (a, b, c) if each is not own):
            found = f"{metric.name}: state: counted by {other.metric}; allowed: states of {own.metric}"
            with pytest.raises(ValueError, match=re.escape(found) + "$"):
                metric.score_state(other)


@every
@quiet
def test_a_state_keeps_its_metric(sample: Sample) -> None:
    metric = sample.load(**sample.needed)
    wanted = sample.metric + (f" ({sample.config})" if sample.config else "")
    rows = columns(sample.complete)
    metric.add_batch(**rows)
    state = metric.state(**rows)
    compacted = state.compact()
    for each in (
        state,
        compacted,
        compacted.compact(),
        state + state,
        state + compacted,
        merge([State(0), state]),
        merge_compact([state, state, compacted]),
        State.from_bytes(compacted.to_bytes()),
        pickle.loads(pickle.dumps(state)),
        metric.added_state(),
        metric.without_rows().state(**rows),
        pickle.loads(pickle.dumps(metric)).added_state(),
    ):
        assert each.metric == wanted
        assert_same(metric.score_state(each), metric.score_state(merge([state] * (each.n_rows // state.n_rows))))


def test_a_state_of_count_alone_is_of_no_metric() -> None:
    metric = toxeval.load("sold_macro_f1")
    rows = {"predictions": [1, 0], "references": [1, 0]}
    alone, named = metric.definition.count(metric.encode(**rows)), metric.state(**rows)
    assert alone.metric == State.from_bytes(alone.to_bytes()).metric == ""
    assert metric.score_state(alone + alone) == metric.score_state(named + named)
    with pytest.raises(ValueError, match="merge: states of different metrics: unknown and sold_macro_f1"):
        merge([alone, named])


def test_what_is_no_state_is_refused() -> None:
    metric = toxeval.load("threat_f1")
    state = metric.state(predictions=[1], references=[1])
    for found, said in (
        ({"a": 1}, r"a dict; allowed: a State$"),
        (None, r"None; allowed: a State$"),
        ([state], r"a list; allowed: a State$"),
        (state.to_bytes(), r"a bytes; allowed: a State \(State.from_bytes reads what to_bytes wrote\)"),
    ):
        with pytest.raises(ValueError, match=f"threat_f1: state: {said}"):
            metric.score_state(found)
        with pytest.raises(ValueError, match=rf"merge: states\[1\]: {said}"):
            toxeval.merge([state, found])
    for empty in ([], iter([])):
        with pytest.raises(ValueError, match="merge: states: none; allowed: at least one"):
            toxeval.merge(empty)
    with pytest.raises(ValueError, match="merge: states: a State; allowed: a list of them"):
        toxeval.merge(state)
    assert toxeval.merge(each for each in (state, state)).n_rows == 2


def _read_old_format(state: State) -> None:
    import io

    buffer = io.BytesIO()
    np.savez(buffer, format=np.array(1), n_rows=np.array(state.n_rows))
    State.from_bytes(buffer.getvalue())


def _count(part: list[Row]) -> bytes:
    return toxeval.load("threat_f1").state(**columns(part)).compact().to_bytes()


@pytest.mark.slow
def test_processes_of_any_engine() -> None:
    """The example of the documentation, with a pool of processes as engine."""
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = [
        {"prediction_scores": p, "references": int(rng.random() < p)} for p in rng.random(1000).round(2).tolist()
    ]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        states = map(State.from_bytes, pool.map(_count, [rows[:100], rows[100:101], rows[101:]]))
        result = toxeval.load("threat_f1").score_state(merge(list(states)))
    assert_same(result, toxeval.load("threat_f1").compute(**columns(rows)))
