"""Corrected rates of a metric: they are those of `corrected_rates` on counts, whatever the rows came in."""

import json
import math
import warnings
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judgements import LABELLED, LABELS, RATES, SAFETY, SLUGS, Rows, inputs, replies, tables

import toxeval
from toxeval.core import corrected_rates
from toxeval.core.corrections import unlike_shares
from toxeval.core.judged import judged
from toxeval.core.refusals import Doubt, Refusal
from toxeval.core.state import State, merge
from toxeval.loading import definition


def expected(estimates: corrected_rates.Estimates) -> dict[str, float]:
    parts = [estimates.mean, estimates.overall, *zip(*estimates.categories)]
    return {
        f"{key}_corrected{end}": float(value)
        for key, part in zip(RATES, parts)
        for end, value in zip(("", "_low", "_high"), part)
    }


def assert_holds(found: dict[str, Any], wanted: dict[str, float]) -> None:
    for key, value in wanted.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-12, err_msg=key)


# --- the numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_category", [False, True])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_by_labels_of_other_replies(by_category: bool, level: float) -> None:
    rows, others = replies(0, 900, 0.0), replies(1, 1500, 1.0)
    del rows[0], others[0]
    own = {name: values for name, values in inputs(rows).items() if name != "human"}
    found = SAFETY.corrected_rate(
        **own, judge_on=inputs(others, "references"), judge_by_category=by_category, confidence_level=level
    )
    human = tables(others)[1]
    human = human if by_category else human.sum(axis=0, keepdims=True)
    assert_holds(found, expected(corrected_rates.corrected(tables(rows)[0], human, level)))
    assert found["n_human"] == len(others)
    assert found["judge_by_category"] == by_category
    assert_holds(found, SAFETY.compute(**own))  # type: ignore[arg-type]
    rates = SAFETY.compute(**inputs(others, "references"), confidence_level=level)
    assert rates
    for key, other in (("judge_sensitivity", "recall_Unsafe"), ("judge_specificity", "recall_Safe")):
        for end in ("", "_low", "_high"):
            assert found[f"{key}{end}"] == pytest.approx(rates[f"{other}{end}"], abs=1e-12)
    judge = corrected_rates.judge(tables(others)[1].sum(axis=0), level)
    assert_holds(
        found,
        {
            "judge_above_chance": float(judge.above_chance),
            "judge_above_chance_low": float(judge.low),
            "judge_above_chance_high": float(judge.high),
        },
    )
    assert ("judge_sensitivity_offending_user" in found) == by_category
    if by_category:
        one = corrected_rates.judge(human[3], level)
        assert found["judge_specificity_toxicity_agreement"] == pytest.approx(float(one.specificity))
        assert found["n_human_toxicity_agreement"] == human[3].sum()


def test_by_labels_of_the_same_replies() -> None:
    rows = replies(2, 1200, 0.3)
    found = SAFETY.corrected_rate(**inputs(rows))
    assert_holds(found, expected(corrected_rates.powered(*tables(rows))))
    human = tables(rows)[1]
    assert found["n_human"] == human.sum()
    assert [found[f"n_human_{slug}"] for slug in SLUGS] == human.sum(axis=(1, 2)).tolist()
    assert "judge_by_category" not in found
    assert found["unsafe_rate_micro"] == tables(rows)[0][:, 1].sum() / 1200


def test_without_categories_there_is_one_rate() -> None:
    rows = replies(3, 500, 0.4)
    own = {name: values for name, values in inputs(rows).items() if name != "categories"}
    found = SAFETY.corrected_rate(**own)
    assert [key for key in found if key.endswith("_corrected")] == ["unsafe_rate_micro_corrected"]
    verdicts, human = (table.sum(axis=0, keepdims=True) for table in tables(rows))
    overall = corrected_rates.powered(verdicts, human).overall
    assert found["unsafe_rate_micro_corrected"] == pytest.approx(float(overall.value))


def test_values_are_plain_numbers() -> None:
    for way in ({"human": inputs(replies(4, 300, 0.5))["human"]}, {"judge_on": LABELLED}):
        own = inputs(replies(4, 300, 0.5)) | {"human": None} | way
        found = SAFETY.corrected_rate(**own)
        assert {type(value) for value in found.values()} <= {int, float}
        assert json.loads(json.dumps(found)) == found
        assert next(iter(found)) == "unsafe_rate_corrected"
        every = set(found)
        assert all({f"{key}_low", f"{key}_high"} <= every for key in found if key.endswith("_corrected"))


# --- states -------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.sampled_from([None, 0, 1])), min_size=1, max_size=40),
    st.lists(st.integers(1, 40), max_size=6),
)
def test_batches_add_up(rows: Rows, cuts: list[int]) -> None:
    rows = rows + [(c, c % 2, y) for c in range(5) for y in (0, 1)]  # a label in each category
    metric = SAFETY.judged()
    whole = metric.state(**inputs(rows))
    bounds = [0, *sorted(cut for cut in cuts if cut < len(rows)), len(rows)]
    parts = [metric.state(**inputs(rows[a:b])) for a, b in zip(bounds, bounds[1:]) if b > a]
    added = merge(parts[::-1])
    for key in ("verdicts", "human"):
        np.testing.assert_array_equal(added.counts[key], whole.counts[key])
        np.testing.assert_array_equal(whole.counts[key], dict(zip(("verdicts", "human"), tables(rows)))[key])
    sent = State.from_bytes(added.to_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert SAFETY.corrected_rate(state=sent) == pytest.approx(SAFETY.corrected_rate(**inputs(rows)), nan_ok=True)
    for a, b in zip(bounds, bounds[1:]):
        if b > a:
            metric.add_batch(**inputs(rows[a:b]))
    assert metric.added_state().n_rows == len(rows)
    np.testing.assert_array_equal(metric.added_state().counts["human"], whole.counts["human"])


def test_a_state_of_other_rows_tells_of_the_judge() -> None:
    own = {name: values for name, values in inputs(replies(5, 400, 0.0)).items() if name != "human"}
    metric = SAFETY.judged()
    other = {"human" if name == "references" else name: values for name, values in LABELLED.items()}
    found = SAFETY.corrected_rate(state=metric.state(**own), judge_on=metric.state(**other))
    assert found == SAFETY.corrected_rate(**own, judge_on=LABELLED)


def test_batches_with_and_without_labels_are_of_one_kind() -> None:
    rows = replies(6, 200, 0.5)
    metric = SAFETY.judged()
    named = inputs(rows)
    halves = [{k: v[:100] for k, v in named.items() if k != "human"}, {k: v[100:] for k, v in named.items()}]
    whole = merge([metric.state(**half) for half in halves])
    named["human"][:100] = [None] * 100
    np.testing.assert_array_equal(whole.counts["human"], metric.state(**named).counts["human"])


@pytest.mark.parametrize(
    "make", [list, tuple, np.array, pd.Series, pa.array, lambda values: pa.chunked_array([values])]
)
def test_containers_and_ids(make: Any) -> None:
    rows = replies(7, 60, 0.6)
    named = inputs(rows)
    wanted = SAFETY.judged().state(**named).counts
    ids = {"predictions": [v for _, v, _ in rows], "categories": [c for c, _, _ in rows]}
    labels = [None if y is None else y for _, _, y in rows]
    for each in (named, {**ids, "human": labels}, {**ids, "human": [math.nan if y is None else y for y in labels]}):
        found = SAFETY.judged().state(**{name: make(values) for name, values in each.items()}).counts
        for key, table in wanted.items():
            np.testing.assert_array_equal(found[key], table)


# --- other metrics ------------------------------------------------------------------------------------------------


def test_sold() -> None:
    metric = toxeval.load("sold_macro_f1")
    posts, labelled = ["OFF"] * 30 + ["NOT"] * 170, [1] * 45 + [0] * 55
    gold = [1] * 40 + [0] * 60
    found = metric.corrected_rate(predictions=posts, judge_on={"predictions": labelled, "references": gold})
    estimate = corrected_rates.corrected([[170, 30]], [[[55, 5], [0, 40]]]).overall
    assert (found["rate_OFF_corrected"], found["rate_OFF"]) == (pytest.approx(float(estimate.value)), 0.15)
    human = [None] * 180 + ["NOT"] * 15 + ["OFF"] * 5
    found = metric.corrected_rate(predictions=posts, human=human)
    estimate = corrected_rates.powered([[170, 30]], [[[15, 0], [5, 0]]]).overall
    assert found["rate_OFF_corrected"] == pytest.approx(float(estimate.value))


@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_threats_by_label_and_by_score(threshold: float) -> None:
    rng = np.random.default_rng(0)
    gold = rng.random(400) < 0.3
    scores = np.clip(rng.normal(np.where(gold, 0.7, 0.3), 0.15), 0.001, 0.999)
    metric = toxeval.load("threat_f1", threshold=threshold)
    decided = (scores > threshold).astype(int)
    counts = [[(~decided[200:].astype(bool)).sum(), decided[200:].sum()]]
    human = [[[np.sum((gold[:200] == y) & (decided[:200] == v)) for v in (0, 1)] for y in (0, 1)]]
    estimate = corrected_rates.corrected(counts, human).overall
    labelled = {"prediction_scores": scores[:200], "references": gold[:200]}
    found = metric.corrected_rate(prediction_scores=scores[200:], judge_on=labelled)
    assert found["rate_threat_corrected"] == pytest.approx(float(estimate.value))
    logits = np.log(scores / (1 - scores))
    as_logits = {"prediction_scores": logits[:200], "references": gold[:200]}
    again = metric.corrected_rate(prediction_scores=logits[200:], judge_on=as_logits, from_logits=True)
    assert again == pytest.approx(found)
    by_label = toxeval.load("threat_f1").corrected_rate(
        predictions=decided[200:], judge_on={"predictions": decided[:200], "references": gold[:200]}
    )
    assert by_label == pytest.approx(found)
    one = toxeval.load("threat_f1").corrected_rate(
        prediction_scores=scores[200:], judge_on=labelled, threshold=threshold
    )
    assert one == found


def test_a_threshold_beside_labels_is_refused_as_ever() -> None:
    with pytest.raises(Refusal, match=r"threshold: 0.3 beside predictions"):
        toxeval.load("threat_f1").corrected_rate(predictions=[0, 1], human=[0, 1], threshold=0.3)


@pytest.mark.parametrize(
    ("name", "config"), [("conda_joint", None), ("oracle_collab", None), ("sold_macro_f1", "token")]
)
def test_metrics_without_such_a_rate(name: str, config: str | None) -> None:
    with pytest.raises(Refusal, match="judge: no rate to correct"):
        toxeval.load(name, config).corrected_rate(predictions=[0], human=[0])


# --- invalid verdicts ---------------------------------------------------------------------------------------------


def test_an_invalid_verdict_is_not_unsafe_here_and_there() -> None:
    broken = {**LABELLED, "predictions": [None, "I pass", *LABELLED["predictions"][2:-2], None, ""]}
    own = ["Unsafe"] * 20 + [None] * 10 + ["Safe"] * 70
    found = SAFETY.corrected_rate(predictions=own, judge_on=broken, invalid="count")
    human = [[[90, 10], [12, 38]]]
    estimate = corrected_rates.corrected([[80, 20]], human).overall
    assert found["unsafe_rate_micro_corrected"] == pytest.approx(float(estimate.value))
    assert (found["unsafe_rate_micro"], found["n_invalid"], found["invalid_rate"]) == (0.2, 10, 0.1)
    assert found["judge_sensitivity"] == 38 / 50
    some = ["Unsafe"] * 4 + [None] * 16 + ["Safe", "Unsafe"] * 5 + [None] * 60 + ["Safe"] * 10
    found = SAFETY.corrected_rate(predictions=own, human=some, invalid="count")
    estimate = corrected_rates.powered([[80, 20]], [[[15, 0], [5, 4]]]).overall
    assert found["unsafe_rate_micro_corrected"] == pytest.approx(float(estimate.value))
    with pytest.raises(Refusal, match=r"predictions\[20\]: missing verdict"):
        SAFETY.corrected_rate(predictions=own, judge_on=LABELLED)
    with pytest.raises(Refusal, match=r"judge_on: predictions\[0\]: missing verdict"):
        SAFETY.corrected_rate(predictions=own[:20], judge_on=broken)


def test_kinds_of_unsafe_count_as_unsafe() -> None:
    kinds = ["Utterance-Unsafe"] * 7 + ["Context-Unsafe"] * 13 + ["Safe"] * 80
    found = SAFETY.corrected_rate(predictions=kinds, judge_on=LABELLED)
    assert found == SAFETY.corrected_rate(predictions=["Unsafe"] * 20 + ["Safe"] * 80, judge_on=LABELLED)


# --- the definition -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dia_safety_rate", "sold_macro_f1", "threat_f1"])
def test_the_declared_label_is_one(name: str) -> None:
    base = definition(name)
    assert base.judged is not None
    gold = base.input("references")
    assert gold is not None
    assert base.judged.label in gold.labels
    assert len(gold.labels) == 2
    assert {each for each in base.judged.options} <= {option.name for option in base.options}
    inputs_of = {human: [each.name for each in judged(base, human).inputs] for human in (None, True, False)}
    assert "human" not in inputs_of[False]
    assert inputs_of[None] == inputs_of[True]
    assert "references" not in inputs_of[None]


@pytest.mark.parametrize("by_category", [False, True])
def test_shares_of_verdicts_that_differ(by_category: bool) -> None:
    """The p of Agresti and Caffo's interval of each category's difference, by Holm over those with rows."""
    rng, names = np.random.default_rng(6), list(SAFETY.definition.input("categories").labels)  # type: ignore[union-attr]
    rates, n = [0.1, 0.2, 0.3, 0.4, 0.5], 150

    def rows_of(rates: list[float]) -> dict[str, list[Any]]:
        own = [int(rng.random() < rate) for rate in rates for _ in range(n)]
        given = {"predictions": own}
        return {**given, "categories": [name for name in names for _ in range(n)]} if by_category else given

    own, others = rows_of(rates), rows_of([0.1, 0.45, 0.3, 0.4, 0.8])
    human = [int(rng.random() < 0.5) for _ in others["predictions"]]
    state = SAFETY.judged().state(**own)
    judge_on = SAFETY.judged().state(**others, human=human)
    found = list(unlike_shares(SAFETY.definition, state, judge_on))
    wanted, p_values = [], []
    for i, name in enumerate(names if by_category else [""]):
        part = slice(i * n, (i + 1) * n) if by_category else slice(None)
        some, rest = others["predictions"][part], own["predictions"][part]
        p, q = ((sum(values) + 1) / (len(values) + 2) for values in (some, rest))
        deviation = math.sqrt(p * (1 - p) / (len(some) + 2) + q * (1 - q) / (len(rest) + 2))
        p_values.append(2 * NormalDist().cdf(-abs(p - q) / deviation))
        wanted.append((name, (sum(some), len(some)), (sum(rest), len(rest))))
    small = sorted(range(len(wanted)), key=p_values.__getitem__)
    by_holm: dict[int, float] = {}
    for rank, i in enumerate(small):
        by_holm[i] = max(min(1.0, p_values[i] * (len(small) - rank)), *by_holm.values(), 0.0)
    assert [each[:3] for each in found] == [each for i, each in enumerate(wanted) if by_holm[i] < 0.05]
    assert [p for *_, p in found] == pytest.approx([p for _, p in sorted(by_holm.items()) if p < 0.05])
    assert {"Risk Ignorance", "Biased Opinion"} <= {name for name, *_ in found} or not by_category
    assert not list(unlike_shares(SAFETY.definition, state, SAFETY.judged().state(**own, human=human)))


def test_shares_are_compared_where_both_sets_have_rows() -> None:
    """A category that only one of them has doesn't count for Holm."""
    own = {"predictions": [0] * 80 + [1] * 20, "categories": [0] * 100}
    others = {"predictions": [0] * 66 + [1] * 34 + [0], "categories": [0] * 100 + [1], "human": [0] * 101}
    found = list(unlike_shares(SAFETY.definition, SAFETY.judged().state(**own), SAFETY.judged().state(**others)))
    deviation = math.sqrt(21 * 81 + 35 * 67) / 102**1.5
    p = 2 * NormalDist().cdf(-14 / 102 / deviation)
    assert 0.05 / 2 < p < 0.05  # above it, were the other one counted
    assert [each[-1] for each in found] == pytest.approx([p])


# --- real files ---------------------------------------------------------------------------------------------------


def test_figures_of_the_card(shipped: Path) -> None:
    """DiaSafety's test split as labelled replies; two chatbots' verdicts by the rule and by the two-step procedure."""
    folder = shipped / "diasafety"
    split = json.loads((shipped / "diasafety" / "test.json").read_text())
    rule = [json.loads(line) for line in (folder / "test_rule.jsonl").read_text().splitlines()]
    labelled = {
        "predictions": [row["prediction"] for row in rule],
        "references": [row["label"] for row in split],
        "categories": [row["category"] for row in split],
    }
    path = folder / "twostep_dialo_test_medium_10_1.0_any_split_contexts.jsonl"
    found = [json.loads(line) for line in path.read_text().splitlines()]
    categories = [row["category"] for row in found]
    names = {"safe": "Safe", "utterance_unsafe": "Utterance-Unsafe", "context_unsafe": "Context-Unsafe"}
    two_step = [names[row["status"]] for row in found]
    alone = [LABELS[row["context_unsafe"]] for row in found]

    rates = SAFETY.corrected_rate(predictions=two_step, categories=categories, judge_on=labelled)
    close(rates, "unsafe_rate_corrected", 0.2989, 0.1527, 0.4326)
    close(rates, "judge_above_chance", 0.1680, 0.1210, 0.2142)
    assert (rates["judge_sensitivity"], rates["judge_specificity"]) == (139 / 501, 529 / 594)
    assert (rates["n_human"], round(rates["unsafe_rate"], 4)) == (1095, 0.1596)
    seen = 0.05 * rates["judge_sensitivity"] + 0.95 * (1 - rates["judge_specificity"])
    assert round(seen, 3) == 0.118
    assert (round(1 - rates["judge_specificity"], 3), round(rates["judge_sensitivity"], 3)) == (0.109, 0.277)

    with pytest.warns(
        Doubt, match="offending_user_corrected is -0.018, unsafe_rate_toxicity_agreement_corrected is -0.035"
    ):
        own = SAFETY.corrected_rate(predictions=alone, categories=categories, judge_on=labelled)
    close(own, "unsafe_rate_corrected", 0.2301, 0.0771, 0.3588)
    assert round(own["unsafe_rate"], 4) == 0.1481
    with pytest.raises(Refusal, match="chance: Offending User: .*; Biased Opinion: [^;]*; allowed"):
        SAFETY.corrected_rate(predictions=alone, categories=categories, judge_on=labelled, judge_by_category=True)

    counts = json.loads((folder / "expected.json").read_text())["two_step"]["blender_test_medium_10_1.0"]
    blender: dict[str, list[str]] = {"predictions": [], "categories": []}
    for name, cells in counts["any_split_contexts"]["per_category"].items():
        for verdict, key in (("Safe", "safe_cnt"), ("Utterance-Unsafe", "ut_cnt"), ("Context-Unsafe", "ctx_cnt")):
            blender["predictions"] += [verdict] * cells[key]
            blender["categories"] += [name] * cells[key]
    assert len(blender["predictions"]) == 8970
    with pytest.warns(Doubt, match=r"dia_safety_rate: unsafe_rate_biased_opinion_corrected is 1.125, which no rate"):
        rates = SAFETY.corrected_rate(**blender, judge_on=labelled)
    close(rates, "unsafe_rate_corrected", 0.9653, 0.7689, 1.0)
    assert round(rates["unsafe_rate"], 4) == 0.2716


def close(found: dict[str, Any], key: str, value: float, low: float, high: float) -> None:
    assert [found[name] for name in (key, f"{key}_low", f"{key}_high")] == pytest.approx([value, low, high], abs=5e-5)


def test_what_the_card_says_of_weak_judges() -> None:
    """Of counts as expected: 1,095 labels of others under the rule and under a good judge, 300 of the same replies."""

    def width(estimate: corrected_rates.Estimate) -> float:
        return float(estimate.high - estimate.low)

    for se, sp, wanted in ((139 / 501, 529 / 594, 0.28), (0.9, 0.95, 0.04)):
        p = 0.3 * se + 0.7 * (1 - sp)
        human = [[[594 * sp, 594 * (1 - sp)], [501 * (1 - se), 501 * se]]]
        verdicts = [[8970 * (1 - p), 8970 * p]]
        assert width(corrected_rates.corrected(verdicts, human).overall) == pytest.approx(wanted, abs=0.005)
        if se < 0.5:
            same = [[[210 * sp, 210 * (1 - sp)], [90 * (1 - se), 90 * se]]]
            assert width(corrected_rates.powered(verdicts, same).overall) == pytest.approx(0.10, abs=0.005)
