"""Confidence intervals: closed forms, resampled counts against resampled rows, rare classes, options, cases."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap
from sklearn.metrics import average_precision_score, roc_auc_score
from toxeval.metrics.intervals import auc_interval, average_interval, f1_interval, wilson
from toxeval.metrics.resampling import Draws, cluster_counts, resample

import toxeval

undefined = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
LEVEL = {"confidence_level": 0.95}


def labels(n: int, positives: float = 0.4, right: float = 0.8, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    references = (rng.random(n) < positives).astype(int)
    return {"predictions": np.where(rng.random(n) < right, references, 1 - references), "references": references}


def logits(n: int, positives: float = 0.2, shift: float = 1.5, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    references = (rng.random(n) < positives).astype(int)
    return {"prediction_scores": rng.normal(size=n) + shift * references, "references": references}


def probabilities(n: int, seed: int = 0, decimals: int | None = None) -> dict[str, Any]:
    scores = logits(n, seed=seed)
    p = 1 / (1 + np.exp(1 - scores["prediction_scores"]))
    return {"predictions": p if decimals is None else p.round(decimals), "references": scores["references"]}


def utterances(n: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    references = {"intent": rng.integers(4, size=n), "slots": rng.integers(7, size=(n, 3))}
    predictions = {
        "intent": np.where(rng.random(n) < 0.7, references["intent"], rng.integers(4, size=n)),
        "slots": np.where(rng.random((n, 3)) < 0.8, references["slots"], rng.integers(7, size=(n, 3))),
    }
    return {"predictions": predictions, "references": references}


def replies(n: int, seed: int = 0) -> dict[str, Any]:
    return labels(n, seed=seed) | {"categories": np.random.default_rng(seed).integers(5, size=n)}


#: Metric -> inputs of n rows.
DATA = {
    "conda_joint": utterances,
    "sold_macro_f1": labels,
    "oracle_collab": probabilities,
    "dia_safety_rate": replies,
    "threat_f1": lambda n, seed=0: (
        labels(n, 0.1, seed=seed) | {"prediction_scores": probabilities(n, seed)["predictions"]}
    ),
}


def drawn(name: str, inputs: dict[str, Any], n: int, encode: dict | None = None, **options: Any) -> dict[str, Any]:
    metric = toxeval.load(name)
    state = metric.count(metric.encode(**inputs, **(encode or {})))
    return resample(metric.replicate(metric.score, state, **options), n, 1)


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
    low, high = f1_interval(800, 400, 0.95, twice=200)
    expected_low, expected_high = wilson(800, 1000, 0.95)
    assert high - low == pytest.approx(expected_high - expected_low, rel=0.02)
    assert f1_interval(800, 400, 0.95)[1] - f1_interval(800, 400, 0.95)[0] < 0.85 * (high - low)


def test_f1_without_true_positives() -> None:
    assert f1_interval(0, 20, 0.95, twice=10)[0] == 0.0
    assert f1_interval(0, 20, 0.95, twice=10)[1] > f1_interval(0, 20, 0.95)[1]


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


# --- resampled counts are resampled rows --------------------------------------------------------------------------


def macro_f1(predictions: np.ndarray, references: np.ndarray, axis: int = -1) -> np.ndarray:
    right = predictions == references
    parts = []
    for label in (0, 1):
        tp = (right & (references == label)).sum(axis=axis)
        parts.append(2 * tp / ((predictions == label).sum(axis=axis) + (references == label).sum(axis=axis)))
    return sum(parts) / 2


def test_counts_against_a_row_bootstrap() -> None:
    inputs = labels(400)
    rows = (inputs["predictions"], inputs["references"])
    by_rows = bootstrap(
        rows,
        macro_f1,
        paired=True,
        vectorized=True,
        n_resamples=5000,
        method="percentile",
        rng=np.random.default_rng(3),
    )
    by_counts = drawn("sold_macro_f1", inputs, 5000)["f1_macro"]
    spread = by_rows.standard_error
    assert by_counts.std() == pytest.approx(spread, rel=0.05)
    # a percentile of 5000 resamples is off by 0.04 standard errors
    np.testing.assert_allclose(np.quantile(by_counts, [0.025, 0.975]), by_rows.confidence_interval, atol=0.2 * spread)
    scores = toxeval.load("sold_macro_f1").compute(**inputs, **LEVEL, n_resamples=5000)
    bounds = scores["f1_macro_low"], scores["f1_macro_high"]
    np.testing.assert_allclose(bounds, by_rows.confidence_interval, atol=0.2 * spread)


def test_rank_tables_against_a_row_bootstrap() -> None:
    inputs = logits(300)
    s, y = inputs["prediction_scores"].round(1), inputs["references"]  # ties
    by_counts = drawn("threat_f1", {"prediction_scores": s, "references": y}, 3000, {"from_logits": True})
    rng = np.random.default_rng(3)
    samples = [rng.integers(300, size=300) for _ in range(1000)]
    for key, slow in (("roc_auc", roc_auc_score), ("average_precision", average_precision_score)):
        by_rows = np.array([slow(y[rows], s[rows]) for rows in samples])
        assert by_counts[key].mean() == pytest.approx(by_rows.mean(), abs=0.15 * by_rows.std())
        assert by_counts[key].std() == pytest.approx(by_rows.std(), rel=0.1)


@undefined
@pytest.mark.parametrize(
    ("n", "decimals", "own"),
    [(300, None, False), (4000, 2, False), (4000, None, False), (300, None, True), (3000, None, True)],
)
def test_groups_against_a_row_bootstrap(n: int, decimals: int | None, own: bool) -> None:
    """Exact with up to 512 distinct predictions, and grouped beyond."""
    inputs = probabilities(n, decimals=decimals)
    if own:
        inputs["review_scores"] = np.random.default_rng(7).normal(size=n) - np.abs(inputs["predictions"] - 0.5)
    options = {"review_fractions": (0.0, 0.1), "detailed": True, "threshold": 0.3}
    metric = toxeval.load("oracle_collab", **options)
    fast = drawn("oracle_collab", inputs, 2000, **options)
    rng = np.random.default_rng(5)
    slow: dict[str, list[float]] = {key: [] for key in fast}
    for _ in range(300):
        rows = rng.integers(n, size=n)
        scores = metric.compute(**{name: values[rows] for name, values in inputs.items()})
        for key in fast:
            slow[key].append(scores[key])
    for key, values in fast.items():
        by_rows = np.array(slow[key])
        assert values.std() == pytest.approx(by_rows.std(), rel=0.2), key
        assert values.mean() == pytest.approx(by_rows.mean(), abs=0.35 * by_rows.std()), key


@undefined
@pytest.mark.parametrize("name", DATA)
def test_draws_of_the_data_as_they_are_give_the_scores(name: str) -> None:
    metric = toxeval.load(name)
    state = metric.count(metric.encode(**DATA[name](200)))
    still = metric.replicate(metric.score, state)(Draws(np.random.default_rng(0), 0))
    scores = metric.score(state)
    for key, values in still.items():
        if key in scores.values:
            assert float(values[0]) == pytest.approx(float(scores.values[key]), abs=1e-9, nan_ok=True), key


def test_clusters_are_drawn_whole() -> None:
    tables = {"a": np.array([[1, 0], [0, 2], [5, 0]])}
    for row in Draws(np.random.default_rng(0), 200).clusters(tables)["a"]:
        weights = [(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)]
        assert any(np.array_equal(row, np.array(w) @ tables["a"]) for w in weights)


def test_many_clusters_are_drawn_in_random_groups() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(1.0, 3.0, size=10_000))[:, None]
    drawn_sums = Draws(rng, 4000).clusters({"a": counts})["a"]
    assert drawn_sums.mean() == pytest.approx(counts.sum(), rel=0.005)
    assert drawn_sums.std() == pytest.approx(math.sqrt(10_000) * counts.std(), rel=0.05)


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
        ({"confidence_level": 95}, "option confidence_level: 95; allowed: a number from 0.0 to 1.0"),
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


# --- clusters -----------------------------------------------------------------------------------------------------


def test_clusters_over_batches_are_added_up_by_id() -> None:
    metric, inputs = toxeval.load("conda_joint"), utterances(120)
    ids = np.arange(120) // 8
    whole = metric.compute(**inputs, cluster=ids, **LEVEL, detailed=True)
    rows = np.random.default_rng(0).permutation(120)
    for part in (rows[:50], rows[50:51], rows[51:]):
        side = {name: {field: column[part] for field, column in inputs[name].items()} for name in inputs}
        metric.add_batch(**side, cluster=ids[part].tolist())
    assert metric.compute(**LEVEL, detailed=True) == whole


def test_cluster_counts_are_the_counts_of_each() -> None:
    metric, inputs = toxeval.load("conda_joint"), utterances(60)
    ids = np.array([f"m{i % 7}" for i in range(60)])
    state = metric.count(metric.encode(**inputs, cluster=ids))
    tables = cluster_counts(state)
    for i, name in enumerate(sorted(set(ids))):
        rows = ids == name
        side = {key: {field: column[rows] for field, column in inputs[key].items()} for key in inputs}
        alone = metric.count(metric.encode(**side))
        for key in tables:
            assert np.array_equal(tables[key][i], alone.counts[key])
    for key in tables:
        assert np.array_equal(tables[key].sum(axis=0), state.counts[key])


def test_cluster_without_level_changes_nothing() -> None:
    metric, inputs = toxeval.load("conda_joint"), utterances(40)
    assert metric.compute(**inputs, cluster=list(range(40))) == metric.compute(**inputs)


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ([1, 2], "predictions and cluster: 4 and 2 rows"),
        ([1, 2, None, 4], r"cluster\[2\]: None; allowed: ids"),
        ([1, 2, "x", 4], r"cluster\[2\]: 'x'; allowed: ids"),
        ([1.0, 2.0, 3.0, 4.0], r"cluster\[0\]: 1.0; allowed: ids"),
        ([True, False, True, False], r"cluster\[0\]: True; allowed: ids"),
        (np.zeros((4, 2), int), r"cluster: an array of shape \(4, 2\); allowed: one id a row"),
    ],
)
def test_clusters_that_are_refused(cluster: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        toxeval.load("conda_joint").compute(**utterances(4), cluster=cluster)


def test_cluster_and_stratify_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="option stratify: True beside cluster"):
        toxeval.load("conda_joint").compute(**utterances(4), cluster=[1, 1, 2, 2], **LEVEL, stratify=True)
