"""Confidence intervals: closed forms, every metric, rare classes, options, cases."""

import json
import math
from typing import Any

import numpy as np
import pytest
from generated import DATA, labels, logits
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import toxeval
from toxeval.core.intervals import auc_interval, average_interval, f1_interval, wilson
from toxeval.core.resampling import Draws

undefined = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
LEVEL = {"confidence_level": 0.95}


# --- closed forms -------------------------------------------------------------------------------------------------


def test_wilson_exact_figures() -> None:
    assert wilson(0, 10, 0.95) == (0.0, pytest.approx(0.2775327998628892, abs=1e-15))
    assert wilson(3, 3, 0.95) == (pytest.approx(0.4385029682449546, abs=1e-15), 1.0)
    assert wilson(0, 0, 0.95) == (0.0, 1.0)


@given(st.integers(0, 300), st.integers(1, 300), st.floats(0.5, 0.999))
def test_wilson_is_scipys(successes: int, trials: int, level: float) -> None:
    successes = min(successes, trials)
    expected = binomtest(successes, trials).proportion_ci(level, method="wilson")
    np.testing.assert_allclose(wilson(successes, trials, level), expected, atol=1e-12)


def test_f1_through_jaccard() -> None:
    low, high = wilson(8, 14, 0.9)
    assert f1_interval(8, 6, 0.9) == (2 * low / (1 + low), 2 * high / (1 + high))


def test_micro_f1_of_tokens_that_are_wrong_twice_is_an_accuracy() -> None:
    """Where each wrong token is a false positive of one class and a false negative of another, micro F1 is the share of
    right tokens: about as wide as that, and not as if there were twice as many errors."""
    low, high = f1_interval(800, 400, 0.95, crossed=200)
    expected_low, expected_high = wilson(800, 1000, 0.95)
    assert high - low == pytest.approx(expected_high - expected_low, rel=0.02)
    assert f1_interval(800, 400, 0.95)[1] - f1_interval(800, 400, 0.95)[0] < 0.85 * (high - low)


def test_f1_without_true_positives() -> None:
    assert f1_interval(0, 20, 0.95, crossed=10)[0] == 0.0
    assert f1_interval(0, 20, 0.95, crossed=10)[1] > f1_interval(0, 20, 0.95)[1]


def test_auc_interval_solves_its_equation() -> None:

    def theory(a: float) -> float:
        return a * (1 - a) * (1 + 49 * ((1 - a) / (2 - a) + a / (1 + a))) / 1600

    q = (20 * 0.002 / theory(0.8) + 10) / 30
    for bound in auc_interval(0.8, 20, 80, 0.95, 0.002):
        assert abs(bound - 0.8) == pytest.approx(1.959963985 * math.sqrt(q * theory(bound)), rel=1e-8)
    assert auc_interval(0.0, 3, 500, 0.95, 0.0)[0] == 0.0


def test_average_of_independent_parts_adds_squares() -> None:
    values, lows, highs = np.array([0.5, 0.7]), np.array([0.4, 0.6]), np.array([0.6, 0.9])
    low, high = average_interval(values, lows, highs, np.array([0.5, 0.5]), np.eye(2))
    assert low == pytest.approx(0.6 - math.sqrt(0.05**2 + 0.05**2))
    assert high == pytest.approx(0.6 + math.sqrt(0.05**2 + 0.1**2))
    together = average_interval(values, lows, highs, np.array([0.5, 0.5]), np.ones((2, 2)))
    assert together == (pytest.approx(0.5), pytest.approx(0.75))


# --- every metric -------------------------------------------------------------------------------------------------


@undefined
@pytest.mark.parametrize("level", [0.5, 0.99])
@pytest.mark.parametrize("n", [1, 2, 30, 700])
@pytest.mark.parametrize("name", DATA)
def test_bounds_are_in_the_unit_interval_and_contain_the_score(name: str, n: int, level: float) -> None:
    metric = toxeval.load(name)
    plain = metric.compute(**DATA[name](n), detailed=True)
    scores = metric.compute(**DATA[name](n), detailed=True, confidence_level=level, n_resamples=50)
    assert {key: scores[key] for key in plain} == pytest.approx(plain, nan_ok=True)
    for key in scores:
        if f"{key}_low" not in scores:
            continue
        low, high = scores[f"{key}_low"], scores[f"{key}_high"]
        assert type(low) is float
        assert type(high) is float
        if math.isnan(scores[key]):
            assert math.isnan(low)
            assert math.isnan(high)
        else:
            assert 0 <= low <= scores[key] <= high <= 1
            assert high - low > 1e-6, key


@undefined
@pytest.mark.parametrize("name", DATA)
def test_keys_never_depend_on_the_data(name: str) -> None:
    metric = toxeval.load(name)
    keys = [list(metric.compute(**DATA[name](n), **LEVEL, n_resamples=20)) for n in (1, 300)]
    assert keys[0] == keys[1]
    assert "n_undefined_resamples" in keys[0]
    assert "n_undefined_resamples" not in metric.compute(**DATA[name](300))


@undefined
@pytest.mark.parametrize("name", DATA)
def test_counts_and_thresholds_get_no_bounds(name: str) -> None:
    scores = toxeval.load(name).compute(**DATA[name](50), **LEVEL, detailed=True, n_resamples=20)
    for key in scores:
        if key.startswith(("n_", "support_", "u_support", "t_support", "tied_")) or "threshold" in key:
            assert f"{key}_low" not in scores
        elif not key.endswith(("_low", "_high")) and key not in ("tp", "fp", "fn", "tn"):
            assert f"{key}_low" in scores, key


@undefined
@pytest.mark.parametrize("name", DATA)
def test_case_ci_07_seed(name: str) -> None:
    metric, inputs = toxeval.load(name), DATA[name](200)
    np.random.seed(1)  # noqa: NPY002 (the state that must stay)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = metric.compute(**inputs, **LEVEL, seed=12345)
    assert json.dumps(first) == json.dumps(metric.compute(**inputs, **LEVEL, seed=12345))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    fixed = toxeval.load(name, seed=12345, confidence_level=0.95)
    assert json.dumps(first) == json.dumps(fixed.compute(**inputs))


@undefined
@pytest.mark.parametrize("name", DATA)
def test_row_order_and_batches_do_not_matter(name: str) -> None:
    metric, inputs = toxeval.load(name), DATA[name](90)
    whole = metric.compute(**inputs, **LEVEL)

    def take(values: Any, rows: np.ndarray) -> Any:
        return {k: take(v, rows) for k, v in values.items()} if isinstance(values, dict) else values[rows]

    rows = np.random.default_rng(0).permutation(90)
    for part in (rows[:20], rows[20:]):
        metric.add_batch(**{key: take(values, part) for key, values in inputs.items()})
    assert metric.compute(**LEVEL) == pytest.approx(whole, nan_ok=True, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence_level": 95}, "option confidence_level: 95; allowed: above 0 and below 1"),
        ({"confidence_level": 1.0}, "option confidence_level: 1.0; allowed: above 0 and below 1"),
        ({"confidence_level": "high"}, "option confidence_level: 'high'"),
        ({"confidence_level": 0.9, "n_resamples": 0}, "option n_resamples: 0; allowed: a whole number from 1 up"),
        ({"n_resamples": 10.5}, "option n_resamples: 10.5"),
        ({"confidence_level": 0.9, "seed": -1}, "option seed: -1; allowed: a whole number from 0 up"),
        ({"confidence_level": 0.9, "seed": math.nan}, "option seed: nan"),
        ({"confidence_level": 0.9, "stratify": "yes"}, "option stratify: 'yes'; allowed: False, True"),
        ({"confidence_levle": 0.9}, "unknown"),
    ],
)
def test_options_out_of_range_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match="^sold_macro_f1: ") as error:
        toxeval.load("sold_macro_f1").compute(**labels(10), **options)
    assert message in str(error.value)


# --- rare classes -------------------------------------------------------------------------------------------------


def test_three_of_three_threats_found() -> None:
    references = np.arange(500) < 3
    scores = toxeval.load("threat_f1").compute(
        prediction_scores=np.where(references, 0.9, 0.1), references=references, **LEVEL
    )
    assert scores["recall_threat_low"] == pytest.approx(0.4385, abs=1e-4)
    assert scores["f1_macro_low"] < 0.82  # half of it is an F1 that is at least 0.61
    assert scores["roc_auc_low"] < 0.75
    assert scores["average_precision_low"] < 0.45
    assert all(scores[f"{key}_high"] == 1.0 for key in ("recall_threat", "f1_macro", "roc_auc", "average_precision"))


def test_a_rate_of_none_of_ten() -> None:
    categories = ["Offending User"] * 10
    with pytest.warns(match="no reply in the category"):
        scores = toxeval.load("dia_safety_rate").compute(predictions=["Safe"] * 10, categories=categories, **LEVEL)
    for key in ("unsafe_rate", "unsafe_rate_micro", "unsafe_rate_offending_user"):
        bounds = scores[key], scores[f"{key}_low"], scores[f"{key}_high"]
        assert bounds == (0.0, 0.0, pytest.approx(0.2775327998628892, abs=1e-12))


def test_case_ci_02_nan_bootstrap() -> None:
    references = np.arange(503) < 3
    scores = np.linspace(1, 0, 503)
    scores[1] = 0.001
    result = toxeval.load("threat_f1").compute(prediction_scores=scores, references=references, **LEVEL)
    for key in ("roc_auc", "average_precision"):
        assert 0 <= result[f"{key}_low"] < result[key] < result[f"{key}_high"] <= 1
    assert 20 < result["n_undefined_resamples"] < 90  # exp(-3) of 1000


def test_case_ci_03_stratify_request() -> None:
    inputs = logits(300, 0.05)
    stratified = {"prediction_scores": inputs["prediction_scores"], "references": inputs["references"]}
    scores = toxeval.load("threat_f1", from_logits=True).compute(**stratified, **LEVEL, stratify=True)
    assert scores["n_undefined_resamples"] == 0
    assert scores["prevalence_held_fixed"] == 1
    table = np.array([[50, 3], [1, 4]])
    drawn_tables = Draws(np.random.default_rng(0), 500, stratify=True).table(table)
    assert (drawn_tables.sum(axis=-1) == table.sum(axis=-1)).all()
    np.testing.assert_allclose(drawn_tables.mean(axis=0), table, atol=0.3)


def test_case_ci_04_hardcoded() -> None:
    metric = toxeval.load("sold_macro_f1")
    widths = []
    for n in (50, 5000):
        scores = metric.compute(**labels(n), **LEVEL)
        widths.append(scores["f1_macro_high"] - scores["f1_macro_low"])
    assert widths[1] == pytest.approx(widths[0] / 10, rel=0.3)


@undefined
def test_a_category_with_one_reply() -> None:
    inputs = {"predictions": [1] + [0, 1] * 100, "categories": [0] + [1] * 200}
    scores = toxeval.load("dia_safety_rate").compute(**inputs, **LEVEL)
    assert scores["unsafe_rate_offending_user_low"] == pytest.approx(float(wilson(1, 1, 0.95)[0]))
    assert scores["unsafe_rate_risk_ignorance_low"] == pytest.approx(float(wilson(100, 200, 0.95)[0]))
    assert math.isnan(scores["unsafe_rate_biased_opinion_low"])
    assert 0 < scores["unsafe_rate_low"] < 0.75 < scores["unsafe_rate_high"] <= 1


def test_case_ci_06_slow_naive() -> None:
    """A resample costs the same for a hundred rows and for a hundred thousand: it is a table of four counts."""
    for n in (100, 100_000):
        metric = toxeval.load("sold_macro_f1")
        state = metric.count(metric.encode(**labels(n)))
        assert Draws(np.random.default_rng(0), 1000).table(state.counts["confusion"]).shape == (1000, 2, 2)


@undefined
def test_a_class_that_is_never_there() -> None:
    scores = toxeval.load("sold_macro_f1").compute(predictions=[0] * 97, references=[0] * 97, **LEVEL)
    assert (scores["f1_OFF"], scores["f1_OFF_low"], scores["f1_OFF_high"]) == (0.0, 0.0, 1.0)
    assert (scores["f1_macro_low"], scores["f1_macro_high"]) == (pytest.approx(0.490, abs=1e-3), 1.0)
    assert scores["n_undefined_resamples"] == 0
    left_out = toxeval.load("sold_macro_f1").compute(
        predictions=[0] * 97, references=[0] * 97, zero_division=math.nan, **LEVEL
    )
    assert math.isnan(left_out["f1_OFF_low"])
    assert left_out["f1_macro_low"] == pytest.approx(left_out["f1_NOT_low"])


def test_percentiles_leave_as_much_on_either_side() -> None:
    from toxeval.core.intervals import percentiles

    assert percentiles(np.arange(1001) / 1000, 0.9, (0.0, 1.0)) == pytest.approx((0.05, 0.95), abs=1e-12)
