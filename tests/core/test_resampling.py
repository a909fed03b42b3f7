"""Resampled counts against resampled rows, and whole clusters."""

import math
from typing import Any

import numpy as np
import pytest
from generated import DATA, labels, logits, probabilities, utterances
from samples import replicate
from scipy.stats import bootstrap
from sklearn.metrics import average_precision_score, roc_auc_score

import toxeval
from toxeval.core.resampling import Draws, cluster_counts, resample

undefined = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
LEVEL = {"confidence_level": 0.95}


def drawn(name: str, inputs: dict[str, Any], n: int, encode: dict | None = None, **options: Any) -> dict[str, Any]:
    metric = toxeval.load(name)
    state = metric.count(metric.encode(**inputs, **(encode or {})))
    return resample(replicate(metric, state, **options), n, 1)


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
    still = replicate(metric, state)(Draws(np.random.default_rng(0), 0))
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
