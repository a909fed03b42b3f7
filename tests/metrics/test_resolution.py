"""Scores on a grid: no exact score is further away than its ``_error`` says, and some data are about as far away."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import assert_same

import toxeval
from toxeval.core.state import merge

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

PROBABILITY = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.30001, 0.5, 0.5000000001, 0.75, 1.0]) | st.floats(0.0, 1.0)
CROWDED = PROBABILITY | st.floats(0.2, 0.3) | st.floats(0.7, 0.8)
ROWS = st.lists(st.tuples(CROWDED, st.integers(0, 1)), min_size=1, max_size=40)
TARGETS = {"oc_accuracy": 0.9, "oc_auroc": 0.95, "oc_recall": 0.7, "oc_precision": 1.0}
THREAT, ORACLE = ("threat_f1", "prediction_scores"), ("oracle_collab", "predictions")


def both(metric: tuple[str, str], p: Any, y: Any, resolution: float, **options: Any) -> tuple[dict, dict]:
    """Scores of the exact and of the gridded probabilities."""
    module, rows = toxeval.load(metric[0]), {metric[1]: np.asarray(p, dtype=float), "references": np.asarray(y)}
    return module.compute(**rows, **options), module.compute(**rows, **options, score_resolution=resolution)


#: How scores begin that a grid moves and that have no bound.
WITHOUT_BOUND = ("brier", "ece", "aurc", "augrc", "oc_auroc", "oc_auprc", "oc_precision", "oc_recall", "oc_f1")
WITHOUT_BOUND += ("tied_at_cutoff", "n_reviews_for", "review_fraction_for", "best_f1_threat", "best_threshold")


def shares(exact: dict[str, Any], gridded: dict[str, Any]) -> dict[str, float]:
    """Key -> how much of its error it has; no more than all of it. What has none is exact, or without a bound."""
    assert set(exact) == {key for key in gridded if not key.endswith("_error")}
    found = {}
    for key, value in exact.items():
        assert not (key.startswith(WITHOUT_BOUND) and f"{key}_error" in gridded)
        if key.startswith(WITHOUT_BOUND) or math.isnan(value) and math.isnan(gridded[key]):
            continue
        off, error = abs(value - gridded[key]), gridded.get(f"{key}_error", 0.0)
        assert off <= error + 1e-12, (key, value, gridded[key], error)
        found[key] = off / error if error > 1e-12 else 0.0
    return found


# --- the bounds hold ----------------------------------------------------------------------------------------------


@given(ROWS, st.integers(2, 6), st.sampled_from([0.5, 0.0, 1.0, 0.25, 0.75]), st.sampled_from([0.0, 1.0, math.nan]))
def test_no_threat_score_is_further_off(rows: list, bits: int, threshold: float, zero_division: float) -> None:
    p, y = zip(*rows)
    shares(*both(THREAT, p, y, 2.0**-bits, threshold=threshold, zero_division=zero_division, detailed=True))


@given(
    rows=ROWS,
    bits=st.integers(1, 6),
    threshold=st.sampled_from([0.5, 0.0, 1.0]),
    zero_division=st.sampled_from([0.0, 1.0, math.nan]),
    strategy=st.sampled_from(["uncertainty", "toxicity"]),
    n_bins=st.integers(1, 20),
    fractions=st.lists(st.floats(0, 1), max_size=4),
)
def test_no_collaboration_score_is_further_off(
    rows: list, bits: int, fractions: list, strategy: str, **rest: Any
) -> None:
    p, y = zip(*rows)
    options = {"review_strategy": strategy, "review_fractions": [0.0, 0.25, 0.5, *fractions], "targets": TARGETS}
    shares(*both(ORACLE, p, y, 2.0**-bits, **options, **rest, detailed=True))


@pytest.mark.parametrize("strategy", ["uncertainty", "toxicity"])
@given(rows=ROWS, ups=st.tuples(*[st.booleans()] * 4), tied=st.booleans())
def test_no_score_is_further_off_at_the_edges_of_cells(strategy: str, rows: list, ups: tuple, tied: bool) -> None:
    p, y = map(np.array, zip(*rows))
    p = arranged(p, y, 1 / 8, ups, tied)
    shares(
        *both(
            ORACLE, p, y, 1 / 8, review_strategy=strategy, targets=TARGETS, detailed=True, review_fractions=[0.2, 0.6]
        )
    )
    shares(*both(THREAT, p, y, 1 / 8, threshold=0.25, detailed=True))


# --- and are tight ------------------------------------------------------------------------------------------------


def smooth(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 2.5, n)
    return p, (rng.random(n) < p).astype(int)


def arranged(p: np.ndarray, y: np.ndarray, resolution: float, ups: Any, tied: bool) -> np.ndarray:
    """Scores in the same cells, at their upper or lower edges: by class, below 1/2 and above."""
    cell = np.floor(p / resolution)
    up = np.array(ups)[2 * (p > 0.5) + y]
    within = np.where(up, 0.998, 0.002)
    within += 0.0 if tied else np.random.default_rng(0).random(len(p)) * 0.001
    return np.where(cell != p / resolution, (cell + within) * resolution, p)


@pytest.mark.parametrize(("n", "bits"), [(300, 5), (1500, 8)])
@pytest.mark.parametrize("strategy", ["uncertainty", "toxicity"])
def test_some_collaboration_scores_are_nearly_as_far_off(strategy: str, n: int, bits: int) -> None:
    p, y = smooth(n, bits)
    targets = dict.fromkeys(TARGETS, 0.9)
    options = {"review_strategy": strategy, "review_fractions": [0.02, 0.1, 0.2], "targets": targets, "detailed": True}
    most: dict[str, float] = {}
    for ups in itertools.product([False, True], repeat=4):
        for tied in (False, True):
            q = arranged(p, y, 2.0**-bits, ups, tied)
            for key, share in shares(*both(ORACLE, q, y, 2.0**-bits, **options)).items():
                most[key] = max(most.get(key, 0.0), share)
    _, gridded = both(ORACLE, p, y, 2.0**-bits, **options)
    assert not [key for key, share in most.items() if share < 0.1 and gridded.get(f"{key}_error", 0.0) > 0]


@pytest.mark.parametrize(("n", "bits"), [(300, 5), (3000, 8)])
def test_some_threat_scores_are_nearly_as_far_off(n: int, bits: int) -> None:
    p, y = smooth(n, bits)
    most: dict[str, float] = {}
    for ups in itertools.product([False, True], repeat=2):
        for tied in (False, True):
            q = arranged(p, y, 2.0**-bits, ups * 2, tied)
            for key, share in shares(*both(THREAT, q, y, 2.0**-bits, threshold=0.25, detailed=True)).items():
                most[key] = max(most.get(key, 0.0), share)
    assert most["roc_auc"] > 0.1
    assert most["average_precision"] > 0.1


def test_errors_shrink_with_the_grid() -> None:
    p, y = smooth(20_000, 0)
    coarse, fine = (both(ORACLE, p, y, 2.0**-bits)[1] for bits in (8, 16))
    errors = [key for key in coarse if key.endswith("_error")]
    assert len(errors) == 3 * 8 + 4
    assert all(fine[key] < coarse[key] / 20 for key in errors if coarse[key])


# --- what else a grid does ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [THREAT, ORACLE], ids=lambda metric: metric[0])
def test_scores_on_the_grid_are_exact(metric: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    p = rng.integers(0, 257, 2000) / 256
    exact, gridded = both(metric, p, rng.random(2000) < p, 1 / 256, detailed=True)
    for key, value in exact.items():
        assert gridded[key] == value
        assert gridded.get(f"{key}_error", 0.0) < 1e-12


@pytest.mark.parametrize("metric", [THREAT, ORACLE], ids=lambda metric: metric[0])
def test_states_on_a_grid_are_small_and_merge(metric: tuple[str, str]) -> None:
    p, y = smooth(50_000, 1)
    module = toxeval.load(metric[0], score_resolution=1 / 64)
    parts = [module.state(**{metric[1]: p[s], "references": y[s]}) for s in (slice(0, 7), slice(7, None))]
    whole = merge([part.compact() for part in parts]).compact()
    assert max(map(len, whole.rows.values())) <= 2 * 129
    result = module.score_state(whole, detailed=True, confidence_level=0.9, n_resamples=10)
    wanted = toxeval.load(metric[0]).compute(
        **{metric[1]: p, "references": y, "score_resolution": 1 / 64, "confidence_level": 0.9},
        n_resamples=10,
        detailed=True,
    )
    assert_same(result, wanted)
    assert not any("error_low" in key for key in result)
    module.add_batch(**{metric[1]: p, "references": y})
    assert_same(
        module.compute(detailed=True),
        {k: v for k, v in wanted.items() if k in module.score_state(whole, detailed=True)},
    )


def test_labels_given_beside_scores_are_exact() -> None:
    rows = {"predictions": [0, 1, 1], "prediction_scores": [0.1, 0.2, 0.3], "references": [0, 1, 0]}
    result = toxeval.load("threat_f1").compute(**rows, score_resolution=0.5)
    assert [key for key in result if key.endswith("_error")] == ["roc_auc_error", "average_precision_error"]
    assert result["roc_auc_error"] == 0.5


def test_what_has_no_grid_is_refused() -> None:
    threat, oracle = toxeval.load("threat_f1"), toxeval.load("oracle_collab")
    for value in (0.3, 1.0, 0, 2.0**-41, "fine", True):
        with pytest.raises(ValueError, match="option score_resolution: .*allowed: a power of two from 2..-40 to 2..-1"):
            threat.compute(prediction_scores=[0.5], references=[1], score_resolution=value)
    for kind in (threat, oracle):
        name = "predictions" if kind is oracle else "prediction_scores"
        with pytest.raises(ValueError, match="score_resolution: 0.25 beside from_logits; allowed: probabilities"):
            kind.compute(**{name: [0.5], "references": [1]}, from_logits=True, score_resolution=0.25)
    with pytest.raises(ValueError, match="oracle_collab: option score_resolution: 0.25 beside review_scores"):
        oracle.compute(predictions=[0.5], references=[1], review_scores=[1], score_resolution=0.25)
    for kind, name in ((threat, "prediction_scores"), (oracle, "predictions")):
        with pytest.raises(
            ValueError, match="option threshold: 0.3; allowed: a multiple of score_resolution, 0.125, such as 0.25"
        ):
            kind.compute(**{name: [0.5], "references": [1]}, threshold=0.3, score_resolution=0.125)
    states = [threat.state(prediction_scores=[0.5], references=[1], score_resolution=r) for r in (0.25, 0.5, None)]
    with pytest.raises(ValueError, match="merge: states of different score_resolution: 0.25 and 0.5"):
        merge(states)
    threat.add_batch(prediction_scores=[0.5], references=[1], score_resolution=0.25)
    with pytest.raises(ValueError, match="threat_f1: option score_resolution: 0.5 here and 0.25 in the batches before"):
        threat.add_batch(prediction_scores=[0.5], references=[1], score_resolution=0.5)
