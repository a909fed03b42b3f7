"""Scores by group: every group's result is that of its rows, whatever groups are called and however rows came in."""

import json
import math
import pickle
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from generated import DATA, LONG, labels, probabilities, replies, utterances
from hypothesis import given
from hypothesis import strategies as st
from plain.subgroup_auc import power_mean, subgroup_aucs
from samples import SAMPLES, Sample, assert_same, close, columns, ids
from sklearn.exceptions import UndefinedMetricWarning

import toxeval
from toxeval.core.group_states import GroupStates, merge_groups
from toxeval.core.refusals import Refusal
from toxeval.core.state import State, merge, subtract
from toxeval.loading import plain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

NAMES = ("a", "b", None, math.nan)
EVERY = pytest.mark.parametrize("sample", SAMPLES, ids=ids)


def where(flags: Sequence[bool]) -> list[int]:
    return [row for row, flag in enumerate(flags) if flag]


def by_name(column: Sequence[Any]) -> dict[Any, list[int]]:
    """The rows of each name; all NaN are one."""
    rows: dict[Any, list[int]] = {}
    for row, name in enumerate(column):
        rows.setdefault(math.nan if name != name else name, []).append(row)
    return rows


# --- every group's result is that of its rows ---------------------------------------------------------------------


@EVERY
@given(data=st.data())
def test_each_group_has_the_result_of_its_rows(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows(max_size=20))
    column = data.draw(st.lists(st.sampled_from(NAMES), min_size=len(rows), max_size=len(rows)))
    least = data.draw(st.integers(1, 4))
    option, values = data.draw(st.sampled_from(sorted(sample.options.items())))
    metric = sample.load(**sample.needed | {option: data.draw(st.sampled_from(values))})
    found = metric.compute_by(column, min_rows=least, **columns(rows))
    assert_same(found.all, metric.compute(**columns(rows)))
    members = by_name(column)
    assert found.sizes == {name: len(members[name]) for name in found.sizes}
    assert set(map(repr, found.groups)) == set(map(repr, members))
    for name, result in found.groups.items():
        if len(members[name]) < least:
            assert result is None
        else:
            assert result is not None
            assert_same(result, metric.compute(**columns([rows[row] for row in members[name]])))


@EVERY
@given(data=st.data())
def test_groups_may_overlap_and_be_empty_and_have_intervals(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows(min_size=2, max_size=20))
    answers = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    flags = {"women": data.draw(answers), "none": [False] * len(rows), "men": data.draw(answers)}
    options = {"confidence_level": data.draw(st.sampled_from([0.5, 0.95])), "n_resamples": 20, "seed": 5}
    metric = sample.load(**sample.needed)
    found = metric.compute_by(flags, min_rows=1, **columns(rows), **options)
    assert list(found.groups) == ["women", "none", "men"]
    assert found.sizes == {name: sum(flag) for name, flag in flags.items()}
    for name, flag in flags.items():
        result = found.groups[name]
        if not any(flag):
            assert result is None
        else:
            assert result is not None
            assert_same(result, metric.compute(**columns([rows[row] for row in where(flag)]), **options))
    json.dumps(found.to_dict())


@EVERY
@given(data=st.data())
def test_states_by_group_add_up(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows(min_size=2, max_size=20))
    column = data.draw(st.lists(st.sampled_from(NAMES), min_size=len(rows), max_size=len(rows)))
    cut = data.draw(st.integers(1, len(rows) - 1))
    metric = sample.load(**sample.needed)
    parts = [metric.states_by(column[piece], **columns(rows[piece])) for piece in (slice(None, cut), slice(cut, None))]
    travelled = GroupStates(
        {pickle.loads(pickle.dumps(n)): State.from_bytes(s.to_bytes()) for n, s in parts[1].groups.items()},
        parts[1].all,
    )
    both, options = merge_groups([parts[0], travelled]), {"confidence_level": 0.9, "n_resamples": 20}
    small = both.compact()
    mixed = GroupStates({n: (s, small.groups[n])[i % 2] for i, (n, s) in enumerate(both.groups.items())}, both.all)
    for states, chosen in ((parts[0] + parts[1], {}), (both, {}), (mixed, {}), (small, {}), (small, options)):
        found = metric.score_by(states, min_rows=1, **chosen)
        assert_alike(found, metric.compute_by(column, min_rows=1, **chosen, **columns(rows)))


def test_groups_of_billions_of_rows() -> None:
    """Each row counts 5 * 10^9 times: areas stay what they are, though pairs of rows are more than int64 holds."""
    scores, references, column = [0.1, 0.6, 0.4, 0.9, 0.3, 0.8], [0, 0, 1, 1, 1, 0], ["a", "a", "a", "a", "b", "b"]
    metric = plain("threat_f1")
    states = metric.states_by(column, prediction_scores=scores, references=references).compact()

    def many(state: State) -> State:
        rows = state.rows | {"multiplicity": state.rows["multiplicity"] * 5 * 10**9}
        return replace(state, n_rows=state.n_rows * 5 * 10**9, rows=rows)

    huge = GroupStates({name: many(state) for name, state in states.groups.items()}, many(states.all))
    found, wanted = metric.score_by(huge, min_rows=1), metric.score_by(states, min_rows=1)
    for name in ("a", "b"):
        assert found.groups[name] == pytest.approx(wanted.groups[name], nan_ok=True)
    assert wanted.groups["a"]["roc_auc"] == 0.75


def assert_alike(found: Any, wanted: Any) -> None:
    """Equal to the last digits, NaN among names and numbers included."""

    def check(a: Any, b: Any, at: str) -> None:
        if isinstance(b, dict):
            assert list(map(repr, a)) == list(map(repr, b)), at
            for (key, x), y in zip(a.items(), b.values()):
                check(x, y, f"{at}.{key}")
        elif isinstance(b, list):
            assert len(a) == len(b), at
            for i, (x, y) in enumerate(zip(a, b)):
                check(x, y, f"{at}[{i}]")
        elif isinstance(b, (int, float)):
            assert close(a, b, 1e-9), (at, a, b)
        else:
            assert a == b, (at, a, b)

    check(found.to_dict(), wanted.to_dict(), "")


@EVERY
@given(data=st.data())
def test_the_rows_outside_are_all_without_the_group(sample: Sample, data: st.DataObject) -> None:
    """Of all rows minus some what counts is what counts of the others."""
    rows = data.draw(sample.rows(min_size=2, max_size=20))
    flags = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)).filter(any))
    metric = sample.load(**sample.needed)
    everyone, inside = (metric.state(**columns(each)) for each in (rows, [rows[row] for row in where(flags)]))
    rest = subtract(everyone, inside)
    outside = [row for row, flag in zip(rows, flags) if not flag]
    assert rest.n_rows == len(outside)
    if outside:
        assert rest.to_bytes() == metric.state(**columns(outside)).compact().to_bytes()


def test_the_rest_of_clusters_has_no_cluster_that_is_only_in_the_group() -> None:
    metric = plain("conda_joint")
    n = 60
    given_, cluster, inside = utterances(n), np.arange(n) // 4, np.arange(n) < 22
    everyone = metric.state(**given_, cluster=cluster)
    parts = [
        metric.state(
            **{side: {field: values[which] for field, values in given_[side].items()} for side in given_},
            cluster=cluster[which],
        )
        for which in (inside, ~inside)
    ]
    assert subtract(everyone, parts[0]).to_bytes() == parts[1].compact().to_bytes()
    assert subtract(merge(parts), parts[0]).to_bytes() == parts[1].compact().to_bytes()


def test_rows_that_are_not_among_all_are_refused() -> None:
    metric = plain("threat_f1")
    a = metric.state(prediction_scores=[0.2, 0.3], references=[0, 1])
    b = metric.state(prediction_scores=[0.4], references=[0])
    with pytest.raises(Refusal, match="not among all rows"):
        subtract(a, b)
    with pytest.raises(Refusal, match="not among all rows"):
        metric.score_by(GroupStates({"x": b}, a), min_rows=1, confidence_level=0.9)


@pytest.mark.parametrize("name", [name for name in DATA if name in toxeval.METRICS])
def test_row_order_plays_no_part(name: str) -> None:
    n = 200
    given_, order = DATA[name](n), np.random.default_rng(0).permutation(n)

    def shuffled(values: Any) -> Any:
        return {k: shuffled(v) for k, v in values.items()} if isinstance(values, dict) else np.asarray(values)[order]

    groups = np.arange(n) % 7 % 4
    metric = plain(name)
    options = {"confidence_level": 0.95, "n_resamples": 50}
    assert_alike(
        metric.compute_by(groups[order], **shuffled(given_), **options),
        metric.compute_by(groups, **given_, **options),
    )


def test_what_auto_means_is_settled_by_all_rows() -> None:
    """A group that is all safe has the rates of both kinds, as the others have."""
    verdicts = ["Context-Unsafe", "Safe", "Safe", "Safe"]
    metric = plain("dia_safety_rate")
    for options in ({}, {"confidence_level": 0.9, "n_resamples": 20}):
        found = metric.compute_by(
            ["x", "x", "y", "y"], min_rows=1, predictions=verdicts, categories=[0, 1, 2, 3], **options
        )
        assert set(found.groups["x"]) == set(found.groups["y"]) == set(found.all)
        assert found.groups["y"]["context_unsafe_rate_micro"] == 0.0
    assert metric.compute_by(
        ["x", "x", "y", "y"], min_rows=1, predictions=verdicts, categories=[0, 1, 2, 3], key="context_unsafe_rate_micro"
    ).worst == ["x"]


def test_rows_added_before_stay_where_they_are() -> None:
    metric = toxeval.load("sold_macro_f1")
    metric.add_batch(predictions=[1], references=[1])
    metric.compute_by(["a", "b"], min_rows=1, predictions=[0, 1], references=[0, 1])
    assert len(metric) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_rows": 0}, "min_rows: 0; allowed: a whole number from 1 up"),
        ({"min_rows": 2.5}, "min_rows: 2.5"),
        ({"min_rows": True}, "min_rows"),
        ({"key": "f1_macr"}, "did you mean f1_macro"),
        ({"key": "support_OFF", "detailed": True}, "option key"),
        ({"key": 3}, "option key: 3"),
        ({"key": LONG}, "option key: a text of 45 characters"),
        ({"colour": 1}, "colour"),
        ({"zero_division": 3}, "zero_division"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=message) as refused:
        plain("sold_macro_f1").compute_by(["a"] * 3, predictions=[0, 1, 1], references=[0, 1, 0], **options)
    assert refused.value.metric == "sold_macro_f1"
    assert LONG not in str(refused.value)


def test_states_of_another_metric_are_refused() -> None:
    states = plain("sold_macro_f1").states_by(["a", "a"], predictions=[0, 1], references=[0, 1])
    with pytest.raises(Refusal, match="counted by sold_macro_f1"):
        plain("threat_f1").score_by(states)


# --- what is said of them -----------------------------------------------------------------------------------------


def test_worst_and_gap() -> None:
    metric = plain("sold_macro_f1")
    given_ = {"predictions": [1, 1, 0, 1, 0, 0, 1], "references": [1, 1, 1, 1, 1, 1, 1]}
    found = metric.compute_by(list("aabbccd"), key="recall_OFF", min_rows=2, **given_)
    assert (found.key, found.better, found.worst, found.sizes["d"], found.groups["d"]) == (
        *("recall_OFF", "higher", ["c"], 1, None),
    )
    assert found.gap is not None
    assert (found.gap.value, found.gap.largest, found.gap.smallest, found.gap.low) == (1.0, ["a"], ["c"], None)
    assert metric.compute_by(list("aabbccd"), key="recall_OFF", min_rows=3, **given_).gap is None
    tied = metric.compute_by(list("abaabba"), key="recall_OFF", min_rows=7, **given_)
    assert (tied.worst, tied.gap) == ([], None)


def test_differences_of_decisions_by_scores_are_those_of_labels() -> None:
    given_, groups = probabilities(400), np.arange(400) % 3
    scores, options = given_.pop("predictions"), {"confidence_level": 0.9, "n_resamples": 50}
    by_score = plain("threat_f1").compute_by(groups, prediction_scores=scores, threshold=0.4, **given_, **options)
    by_label = plain("threat_f1").compute_by(groups, predictions=(scores > 0.4).astype(int), **given_, **options)
    assert by_score.differences == by_label.differences
    assert by_score.gap == by_label.gap


def test_a_rate_of_unsafe_replies_is_worst_where_it_is_highest() -> None:
    metric = plain("dia_safety_rate")
    found = metric.compute_by([0, 0, 1, 1], min_rows=1, predictions=[1, 0, 0, 0], categories=[0, 1, 2, 3])
    assert (found.key, found.better, found.worst) == ("unsafe_rate", "lower", [0])


def test_a_prevalence_is_neither_good_nor_bad() -> None:
    found = plain("threat_f1").compute_by(
        list("aabb"), min_rows=1, key="prevalence", predictions=[0, 1, 0, 0], references=[1, 1, 0, 0]
    )
    assert (found.better, found.worst) == ("", [])
    assert found.gap is not None
    assert found.gap.value == 1.0


def test_a_score_by_convention_says_nothing_of_a_group() -> None:
    """Without a positive recall is set to 0.0, and that isn't the worst recall."""
    given_ = {"predictions": [1, 0, 1, 1, 0, 0], "references": [1, 1, 1, 1, 0, 0]}
    for options in ({}, {"confidence_level": 0.9}, {"zero_division": math.nan}):
        found = plain("sold_macro_f1").compute_by(list("aabbcc"), min_rows=1, key="recall_OFF", **given_, **options)
        assert found.worst == ["a"]
        assert found.gap is not None
        assert found.gap.value == 0.5
        assert "c" not in found.differences


@pytest.mark.filterwarnings("default::sklearn.exceptions.UndefinedMetricWarning")
def test_one_warning_names_scores_reasons_and_groups() -> None:
    given_ = {"prediction_scores": [0.9, 0.1, 0.2, 0.3, 0.3, 0.3], "references": [1, 0, 0, 0, 0, 0]}
    with pytest.warns(UndefinedMetricWarning) as caught:
        plain("threat_f1").compute_by(["a", "a", "b", LONG, "b", "b"], min_rows=1, **given_)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "recall_threat (no reference is threat, set to 0.0, in groups a text of 45 characters, 'b')" in message
    assert "bnsp_auc (no positive in the group or no negative outside it, set to nan, in groups a text" in message
    assert "bpsn_auc (no negative in the group or no positive outside it, set to nan, in group 'a'" in message
    assert LONG not in message
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("default::sklearn.exceptions.UndefinedMetricWarning")
def test_each_group_has_its_own_reason() -> None:
    given_ = {"prediction_scores": [0.9, 0.1, 0.2, 0.3, 0.7, 0.4], "references": [1, 1, 0, 0, 1, 0]}
    with pytest.warns(UndefinedMetricWarning) as caught:
        found = plain("threat_f1").compute_by(list("aabbcc"), key="average_precision", min_rows=1, **given_)
    message = str(caught[0].message)
    assert "(no reference is non-threat, 1.0 for any model, in group 'a'; no reference is threat, set to nan" in message
    assert found.worst == ["c"]


@pytest.mark.filterwarnings("default::sklearn.exceptions.UndefinedMetricWarning")
def test_a_warning_names_few_of_many_groups() -> None:
    with pytest.warns(UndefinedMetricWarning, match=r"set to 0.0, in groups 0, 1, 2, 3, 4 and 14 more\)"):
        plain("sold_macro_f1").compute_by(
            np.arange(40) % 20, min_rows=1, predictions=[0] * 40, references=[0] * 39 + [1]
        )


def test_complete_data_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain("threat_f1").compute_by(
            np.arange(300) % 3, **labels(300), prediction_scores=probabilities(300)["predictions"]
        )


def test_an_unknown_name_is_shown_in_the_result() -> None:
    found = plain("sold_macro_f1").compute_by([LONG, LONG], min_rows=1, predictions=[0, 1], references=[0, 1])
    assert found.to_dict()["groups"][0]["group"] == LONG


# --- areas under curves -------------------------------------------------------------------------------------------


@given(data=st.data())
def test_areas_are_those_of_plain_loops(data: st.DataObject) -> None:
    row = st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1), st.booleans())
    rows = data.draw(st.lists(st.tuples(row, st.booleans()), min_size=1, max_size=25))
    references, scores = [r[0][0] for r in rows], [r[0][1] for r in rows]
    flags = {"x": [r[0][2] for r in rows], "y": [r[1] for r in rows]}
    metric = plain("threat_f1")
    states = metric.states_by(flags, prediction_scores=scores, references=references)
    for each in (states, states.compact()):
        found = metric.score_by(each, min_rows=1)
        wanted = {name: subgroup_aucs(references, scores, flag) for name, flag in flags.items() if any(flag)}
        assert set(found.aucs) == set(wanted)
        for name, areas in wanted.items():
            assert all(map(close, found.aucs[name], areas)), (found.aucs[name], areas)
        for i, area in enumerate(("subgroup_auc", "bpsn_auc", "bnsp_auc")):
            if wanted:
                assert close(found.auc_means[area], power_mean([areas[i] for areas in wanted.values()]))


def test_areas_of_logits_are_of_logits() -> None:
    """A sigmoid that saturates would make ties."""
    found = plain("threat_f1").compute_by(
        [0, 0, 1, 1], min_rows=1, prediction_scores=[50.0, 60.0, 55.0, 70.0], references=[0, 1, 0, 1], from_logits=True
    )
    assert found.aucs[0] == (1.0, 1.0, 1.0)


def test_metrics_of_labels_have_no_areas() -> None:
    found = plain("threat_f1").compute_by([0, 1], min_rows=1, predictions=[0, 1], references=[0, 1])
    assert (found.aucs, found.auc_means) == ({}, {})
    assert found.to_dict()["groups"][0]["aucs"] is None


def test_replies_in_many_groups_give_one_difference_each() -> None:
    n = 300
    rng = np.random.default_rng(2)
    flags = {f"g{i}": rng.random(n) < 0.3 for i in range(4)}
    found = plain("dia_safety_rate").compute_by(flags, **replies(n), confidence_level=0.95, key="accuracy")
    for name, difference in found.differences.items():
        right = replies(n)["predictions"] == replies(n)["references"]
        assert difference.value == pytest.approx(right[flags[name]].mean() - right[~flags[name]].mean())
        assert difference.low < difference.value < difference.high
        assert (difference.p_value < 0.05) == (difference.low > 0 or difference.high < 0)
