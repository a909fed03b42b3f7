"""OracleCollab: the figures to check against, logits and labels, undefined values, bad input."""

import json
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from samples import assert_same
from sklearn.exceptions import UndefinedMetricWarning
from toxeval.metrics.oracle_collab.rows import reliability, sort_rows
from toxeval.metrics.oracle_collab.scores import FRACTIONS

import toxeval


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        yield


def compute(predictions: Any, references: Any, **kwargs: Any) -> dict[str, float]:
    return toxeval.load("oracle_collab").compute(predictions=predictions, references=references, **kwargs)


# --- figures ------------------------------------------------------------------------------------------------------


def test_hand_worked_example() -> None:
    # Predicted: no, yes, no, yes. Wrong: the two in the middle, which are also the two least sure.
    scores = compute([0.1, 0.6, 0.45, 0.9], [0, 0, 1, 1], review_fractions=[0.0, 0.25, 0.5, 1.0], detailed=True)
    assert scores["accuracy"] == 0.5
    assert [scores[f"oc_accuracy_at_{a}"] for a in (0.0, 0.25, 0.5, 1.0)] == [0.5, 0.75, 1.0, 1.0]
    assert [scores[f"review_efficiency_at_{a}"] for a in (0.25, 0.5, 1.0)] == [1.0, 1.0, 0.5]
    assert [scores[f"review_effectiveness_at_{a}"] for a in (0.0, 0.25, 0.5, 1.0)] == [0.0, 0.5, 1.0, 1.0]
    # One of the four (toxic, non-toxic) pairs is in the wrong order: 0.45 and 0.6. Reviewing 0.45 mends it.
    assert [scores[f"oc_auroc_at_{a}"] for a in (0.0, 0.25)] == [0.75, 1.0]
    assert scores["auprc"] == pytest.approx((1 + 2 / 3) / 2, abs=1e-15)
    assert scores["calibration_auroc"] == scores["calibration_auprc"] == 1.0
    assert scores["n_reviewed_at_0.25"] == 1
    assert scores["oc_recall_at_0.25"] == 1.0
    assert scores["oc_precision_at_0.25"] == pytest.approx(2 / 3)


def test_all_exact_cases(shipped: Any) -> None:
    cases = json.loads((shipped / "oracle_collab/cases.json").read_text())
    assert len(cases) == 80
    for case in cases:
        options = {key: case[key] for key in ("review_fractions", "review_strategy", "threshold")}
        scores = compute(case["predictions"], case["references"], **options)
        wanted = {}
        for key, value in case["expected"].items():
            name, at, fraction = key.partition("_at_")
            wanted[f"{name}_at_{float(fraction)!r}" if at else key] = math.nan if value is None else value
        assert_same(scores, wanted)


def test_default_keys_and_their_number() -> None:
    scores = compute([0.2, 0.9], [0, 1])
    per_fraction = ("oc_accuracy", "review_efficiency", "review_effectiveness", "oc_auroc", "oc_auprc")
    alone = {"accuracy", "auroc", "auprc", "brier", "ece", "calibration_auroc", "calibration_auprc"}
    assert set(scores) == alone | {f"{key}_at_{fraction}" for key in per_fraction for fraction in FRACTIONS}
    assert {type(value) for value in scores.values()} == {float}


# --- logits, labels -----------------------------------------------------------------------------------------------


def test_saturated_logits_make_no_ties() -> None:
    logits, references = [40.0, 41.0, 42.0, -50.0], [0, 1, 1, 0]
    scores = compute(logits, references, from_logits=True, review_fractions=[0.25])
    assert scores["auroc"] == scores["auprc"] == 1.0
    assert scores["oc_accuracy_at_0.25"] == 1.0  # the least sure is 40.0, the wrong one
    as_probabilities = compute([1 / (1 + math.exp(-x)) for x in logits], references, review_fractions=[0.25])
    assert as_probabilities["auroc"] < 1.0


def test_two_columns_are_one() -> None:
    logits = np.random.default_rng(0).normal(size=(50, 2))
    odds = np.exp(logits)
    softmax = odds / odds.sum(axis=1, keepdims=True)
    y = np.arange(50) % 2
    one = compute(softmax[:, 1], y)
    assert_same(compute(softmax, y), one)
    assert_same(compute(logits, y, from_logits=True), one)
    assert_same(compute(logits[:, 1] - logits[:, 0], y, from_logits=True), one)


def test_soft_labels_need_a_threshold_and_are_toxic_strictly_above_it() -> None:
    p, soft = [0.2, 0.9, 0.6, 0.4], [0.0, 1.0, 0.7, 0.7000001]
    assert_same(compute(p, soft, label_threshold=0.7), compute(p, [0, 1, 0, 1]))
    with pytest.raises(ValueError, match=r"references\[2\].*label_threshold"):
        compute(p, soft)
    with pytest.raises(ValueError, match=r"references\[1\]: 1\.5; allowed: fractions from 0 to 1"):
        compute(p, [0.0, 1.5, 0.0, 0.0], label_threshold=0.7)


def test_names_and_booleans_are_labels_too() -> None:
    p = [0.2, 0.9, 0.6]
    wanted = compute(p, [0, 1, 0])
    assert_same(compute(p, ["non-toxic", "toxic", "non-toxic"]), wanted)
    assert_same(compute(p, np.array([False, True, False])), wanted)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("threshold", [0.1, 0.2, 0.3, 0.6, 0.7, 0.8])
def test_fractions_mean_the_same_decimals_whatever_holds_them(threshold: float, kind: Any) -> None:
    fractions = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9], dtype=kind)
    state = toxeval.load("oracle_collab").state(predictions=[0.5] * 7, references=fractions, label_threshold=threshold)
    assert state.rows["references"].tolist() == [int(f > threshold) for f in (0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9)]


# --- the strategy in force, decisions, picture --------------------------------------------------------------------

ROWS = {"predictions": [0.2, 0.9, 0.6, 0.4], "references": [0, 1, 0, 1]}


def test_the_strategy_in_force_gives_the_same_result_by_name() -> None:
    for inputs, name in ((ROWS, "uncertainty"), (ROWS | {"review_scores": [3.0, 1.0, 2.0, 4.0]}, "review_scores")):
        metric = toxeval.load("oracle_collab")
        options = metric.definition.in_force(metric.score_options, inputs)
        assert options == metric.score_options | {"review_strategy": name}
        assert_same(compute(**inputs, **options), compute(**inputs))
        assert_same(toxeval.load("oracle_collab", review_strategy=name).compute(**inputs), compute(**inputs))


def test_review_scores_are_a_strategy_exactly_where_they_are_given() -> None:
    with pytest.raises(ValueError, match="option review_strategy: 'review_scores' without review_scores; allowed: "):
        compute(**ROWS, review_strategy="review_scores")
    with pytest.raises(ValueError, match="option review_strategy: 'uncertainty' beside review_scores; allowed: "):
        compute(**ROWS, review_scores=[1, 2, 3, 4], review_strategy="uncertainty")
    with pytest.raises(ValueError, match="option review_strategy: 'review_scores' without review_scores"):
        toxeval.load("oracle_collab", review_strategy="review_scores", score_resolution=0.25)


@pytest.mark.parametrize("from_logits", [False, True])
def test_decisions_are_those_that_are_scored(from_logits: bool) -> None:
    metric = toxeval.load("oracle_collab", from_logits=from_logits)
    arrays = metric.encode(**ROWS)
    for threshold in (0.3, 0.6, 0.65):
        decided = metric.definition.decisions(arrays, **metric.score_options | {"threshold": threshold})
        assert decided.dtype == np.int8
        right = (decided == arrays["references"]).mean()
        assert right == metric.compute(**ROWS, threshold=threshold)["accuracy"]


def test_the_picture_shows_each_systems_curves_and_reliability() -> None:
    metric = toxeval.load("oracle_collab", n_bins=4)
    own = ROWS | {"review_scores": [1.0, 2.0, 3.0, 4.0]}
    states = {"a": metric.state(**ROWS), "b": metric.state(**own)}
    kind, data = metric.definition.picture(states, {}, metric.score_options)
    assert kind == "collaboration"
    assert {name: list(curves) for name, curves in data["curves"].items()} == {
        "a": ["uncertainty", "toxicity"],
        "b": ["uncertainty", "toxicity", "review_scores"],
    }
    for name, inputs in (("a", ROWS), ("b", own)):
        last = list(data["curves"][name])[-1]
        scores = compute(**inputs, review_fractions=[0.5], review_strategy=last)
        at = data["curves"][name][last].fraction == 0.5
        assert data["curves"][name][last].oc_accuracy[at][0] == scores["oc_accuracy_at_0.5"]
        assert data["reliabilities"][name].n_rows.tolist() == [0, 0, 2, 2]
        assert data["reliabilities"][name].ece == compute(**inputs, n_bins=4)["ece"]


# --- undefined values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "y", "undefined"),
    [
        ([0.2, 0.8], [0, 0], {"auroc", "auprc", "oc_auroc_at_0.5", "oc_auprc_at_0.5"}),
        ([0.2, 0.8], [1, 1], {"auroc", "oc_auroc_at_0.5"}),
        ([0.2, 0.8], [0, 1], {"review_effectiveness_at_0.5", "calibration_auroc", "calibration_auprc"}),
        ([0.8, 0.2], [0, 1], {"calibration_auroc"}),
        ([0.2, 0.8, 0.7, 0.1], [0, 1, 0, 1], set()),
    ],
)
def test_what_is_undefined_is_nan_and_named_in_one_warning(p: list, y: list, undefined: set) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = compute(p, y, review_fractions=[0.5])
    assert {key for key, value in scores.items() if math.isnan(value)} == undefined
    assert len(caught) == bool(undefined)
    assert all(key in str(caught[0].message) for key in undefined)


def test_what_any_model_would_reach_is_named() -> None:
    with pytest.warns(UndefinedMetricWarning) as caught:
        scores = compute([0.0, 0.1], [1, 1], review_fractions=[0.5])
    said = str(caught[0].message)
    assert "oc_auprc_at_0.5, auprc (no reference is non-toxic, 1.0 for any model)" in said
    assert "calibration_auprc (no prediction is right, 1.0 for any model)" in said
    assert scores["auprc"] == scores["oc_auprc_at_0.5"] == scores["calibration_auprc"] == 1.0
    assert math.isnan(scores["auroc"])


def test_no_review_has_no_efficiency() -> None:
    with pytest.warns(UndefinedMetricWarning, match=r"review_efficiency_at_0\.1 \(the fraction allows no review"):
        assert math.isnan(
            compute([0.2, 0.8, 0.7, 0.1], [0, 1, 0, 1], review_fractions=[0.1])["review_efficiency_at_0.1"]
        )


def test_a_target_that_has_no_value_is_nan_with_a_reason() -> None:
    with pytest.warns(UndefinedMetricWarning, match="no number of reviews gives oc_recall a value"):
        scores = compute([0.1, 0.8], [0, 0], targets={"oc_recall": 0.9, "oc_accuracy": 1.0})
    assert math.isnan(scores["n_reviews_for_oc_recall"])
    assert scores["n_reviews_for_oc_accuracy"] == 1


@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_zero_division_is_for_precision_recall_and_f1(zero_division: float) -> None:
    scores = compute([0.2, 0.3], [0, 0], review_fractions=[0.5], detailed=True, zero_division=zero_division)
    for key in ("oc_precision_at_0.5", "oc_recall_at_0.5", "oc_f1_at_0.5"):
        np.testing.assert_equal(scores[key], zero_division)
    assert math.isnan(scores["oc_auprc_at_0.5"])


# --- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"predictions": [0.2, 1.2]}, r"predictions\[1\]: 1\.2; allowed: probabilities from 0 to 1 .*from_logits=True"),
        ({"predictions": [0.2, math.nan]}, r"predictions\[1\]: nan; allowed: finite numbers"),
        ({"predictions": [[0.9, 0.3], [0.2, 0.8]]}, r"predictions\[0\]: row 0 sums to 1\.2"),
        ({"predictions": [0.2]}, r"predictions and references: 1 and 2 rows"),
        ({"references": [0, 2]}, r"references\[1\].*2"),
        ({"references": [0, 0.5]}, r"references\[1\].*0\.5"),
        ({"review_scores": [0.1, math.inf]}, r"review_scores\[1\]: inf; allowed: finite numbers"),
        ({"review_scores": [0.1]}, r"predictions and review_scores: 2 and 1 rows"),
        (
            {"review_scores": [0.1, 0.2], "review_strategy": "toxicity"},
            r"option review_strategy: 'toxicity' beside review_scores",
        ),
        ({"review_strategy": "random"}, r"option review_strategy: 'random'; allowed: 'uncertainty', 'toxicity'"),
        ({"review_strategy": ""}, r"option review_strategy: ''"),
        ({"review_fractions": [0.1, 1.1]}, r"option review_fractions\[1\]: 1\.1; allowed: a number from 0\.0 to 1\.0"),
        ({"review_fractions": [math.nan]}, r"option review_fractions\[0\]: nan"),
        ({"review_fractions": 0.1}, r"option review_fractions: 0\.1; allowed: a list"),
        ({"review_fractions": "0.1"}, r"option review_fractions: '0\.1'; allowed: a list"),
        ({"threshold": -0.1}, r"option threshold: -0\.1; allowed"),
        ({"n_bins": 0}, r"option n_bins: 0; allowed: a whole number from 1 to 1000"),
        ({"n_bins": 2.5}, r"option n_bins: 2\.5"),
        ({"targets": {"accuracy": 0.9}}, r"option targets: 'accuracy'; allowed: 'oc_accuracy'"),
        ({"targets": {"oc_recall": 1.5}}, r"option targets\['oc_recall'\]: 1\.5; allowed: a number from 0\.0 to 1\.0"),
        ({"targets": 0.9}, r"option targets: 0\.9; allowed: a dict"),
        ({"label_threshold": 2.0}, r"option label_threshold: 2\.0"),
        ({"fraction": 0.1}, r"option fraction: unknown"),
        ({"zero_division": 2}, r"option zero_division: 2"),
    ],
)
def test_bad_input_is_refused_and_the_module_works_on(kwargs: dict, message: str) -> None:
    metric = toxeval.load("oracle_collab")
    good = {"predictions": [0.2, 0.8], "references": [0, 1]}
    with pytest.raises(ValueError, match=f"^oracle_collab: {message}"):
        metric.compute(**(good | kwargs))
    assert metric.compute(**good)["accuracy"] == 1.0


# --- known failures of other tools --------------------------------------------------------------------------------


def case_rows(confidence: list[float], correct: list[int]) -> tuple[list[float], list[int]]:
    """Probabilities and labels of predictions with these confidences, right or wrong: above 1/2 predicted toxic."""
    return confidence, [int((p > 0.5) == bool(right)) for p, right in zip(confidence, correct)]


@pytest.fixture
def cases(shipped: Any) -> dict[str, dict]:
    lines = (shipped / "cases.jsonl").read_text().splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.mark.parametrize("name", ["oracle-01-fraction-one", "oracle-02-exact-small", "oracle-06-ties-order"])
def test_case_accuracy(cases: dict, name: str) -> None:
    case = cases[name]
    fractions = case["input"].get("fractions") or [case["input"]["fraction"]]
    p, y = case_rows(case["input"]["confidence"], case["input"]["correct"])
    scores = compute(p, y, review_fractions=fractions)
    found = [scores[f"oc_accuracy_at_{fraction!r}"] for fraction in fractions]
    assert found == pytest.approx(np.atleast_1d(case["expected"]["values"]["accuracy"]), abs=1e-15)


def test_case_two_columns_and_another_threshold(cases: dict) -> None:
    case = cases["oracle-04-non-default-threshold"]["input"]
    options = {"threshold": case["threshold"], "review_fractions": [case["fraction"]]}
    a, b = (compute(case[call]["scores"], case["labels"], **options) for call in ("call_a", "call_b"))
    assert_same(a, b)
    assert a["oc_accuracy_at_0.34"] == 1.0


def test_case_budget_rounding(cases: dict) -> None:
    case = cases["oracle-05-budget-rounding"]
    n, fraction = case["input"]["n"], case["input"]["fraction"]
    scores = compute(np.linspace(0, 1, n), np.arange(n) % 2, review_fractions=[fraction], detailed=True)
    assert scores["n_reviewed_at_0.29"] == case["expected"]["values"]["n_reviewed"]


def test_case_monotone_transform(cases: dict) -> None:
    case = cases["oracle-07-monotone-transform"]
    p, y = case_rows(case["input"]["confidence"], case["input"]["correct"])
    assert compute(p, y)["calibration_auroc"] == case["expected"]["values"]["calibration_auc"]
    squeezed = [0.5 + (q - 0.5) ** 3 for q in p]
    assert compute(squeezed, y)["calibration_auroc"] == case["expected"]["values"]["calibration_auc"]


def test_case_first_and_last_bin(cases: dict) -> None:
    case = cases["oracle-12-bin-zero"]["input"]
    assert compute(case["confidence"], case["correct"])["ece"] == 0.0
    case = cases["oracle-13-dropped-tail"]["input"]
    p = np.random.default_rng(0).random(case["n"])
    assert reliability(sort_rows((p > 0.3).astype(int), p), case["bins"]).n_rows.sum() == case["n"]


@pytest.mark.parametrize("name", ["auc-03-zero-hides-misuse", "auc-04-inconsistent-pair", "auc-05-ap-no-positives"])
def test_case_one_class(cases: dict, name: str) -> None:
    case = cases[name]
    with pytest.warns(UndefinedMetricWarning, match="no reference is (non-)?toxic"):
        scores = compute(case["input"]["scores"], case["input"]["labels"])
    assert all(math.isnan(scores[key]) for key in case["expected"]["values"])


def test_case_columns_that_do_not_sum_to_one(cases: dict) -> None:
    case = cases["auc-12-prob-rows"]
    with pytest.raises(ValueError, match="oracle_collab") as error:
        compute(case["input"]["probabilities"], case["input"]["labels"])
    assert all(words in str(error.value) for words in case["expected"]["message_mentions"])
