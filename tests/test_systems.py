"""Several seeds and two systems: aggregation, ids, McNemar, paired bootstrap, and the cases."""

import itertools
import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap
from sklearn.metrics import f1_score, roc_auc_score

import toxeval
import toxeval.loading
from toxeval.systems import aggregate, compare, comparing, summarise
from toxeval.systems.rows import _counted as counted

undefined = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def flipped(references: np.ndarray, share: float, seed: int) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(len(references)) < share, 1 - references, references)


REFERENCES = np.random.default_rng(9).integers(2, size=500)
A, B = flipped(REFERENCES, 0.2, 1), flipped(REFERENCES, 0.26, 2)


# --- runs ---------------------------------------------------------------------------------------------------------


def test_case_seed_01_mean_of_f() -> None:
    runs = [{"f1": 2 * p * r / (p + r)} for p, r in zip((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))]
    assert aggregate(runs).mean["f1"] == pytest.approx(0.28190476190476194, abs=1e-15)


def test_case_seed_02_ddof() -> None:
    summary = aggregate([{"f1_macro": score} for score in (0.8, 0.82, 0.81, 0.79, 0.83)])
    assert summary.mean["f1_macro"] == pytest.approx(0.81)
    assert summary.std["f1_macro"] == pytest.approx(0.015811388300841858, abs=1e-15)
    assert (summary.min["f1_macro"], summary.max["f1_macro"], summary.n_runs) == (0.79, 0.83, 5)


@pytest.mark.filterwarnings("error")
def test_case_seed_05_one_run() -> None:
    summary = aggregate([{"f1_macro": 0.8}])
    assert (summary.mean["f1_macro"], summary.n_runs) == (0.8, 1)
    assert math.isnan(summary.std["f1_macro"])


def test_case_seed_04_std_of_what() -> None:
    flat = summarise("sold_macro_f1", [A, B], REFERENCES, confidence_level=0.95).to_dict()
    scores = [f1_score(REFERENCES, run, average="macro") for run in (A, B)]
    assert flat["f1_macro_mean"] == pytest.approx(np.mean(scores))
    assert flat["f1_macro_seed_std"] == pytest.approx(np.std(scores, ddof=1))
    assert flat["f1_macro_mean_low"] < flat["f1_macro_mean"] < flat["f1_macro_mean_high"]
    assert "f1_macro_mean_low" not in summarise("sold_macro_f1", [A, B], REFERENCES).to_dict()
    assert all(type(value) in (float, int) for value in json.loads(json.dumps(flat)).values())


def test_the_interval_of_the_mean_is_a_row_bootstraps() -> None:
    def mean(a: np.ndarray, b: np.ndarray, r: np.ndarray) -> float:
        return (f1_score(r, a, average="macro") + f1_score(r, b, average="macro")) / 2

    slow = bootstrap(
        (A, B, REFERENCES), mean, paired=True, vectorized=False, n_resamples=500, method="percentile",
        rng=np.random.default_rng(0),
    )  # fmt: skip
    fast = summarise("sold_macro_f1", [A, B], REFERENCES, confidence_level=0.95, n_resamples=4000)
    bounds = fast.low["f1_macro"], fast.high["f1_macro"]
    np.testing.assert_allclose(bounds, slow.confidence_interval, atol=0.5 * slow.standard_error)


def test_case_seed_06_runs_misaligned() -> None:
    runs = [np.zeros(2500, int), np.zeros(2499, int)]
    with pytest.raises(ValueError, match="^sold_macro_f1: run 1: 2499 rows, 2500 in the references$"):
        summarise("sold_macro_f1", runs, np.zeros(2500, int))


def test_runs_are_matched_by_id_and_not_by_position() -> None:
    ids = [f"post{i}" for i in range(500)]
    order = np.random.default_rng(0).permutation(500)
    shuffled = summarise("sold_macro_f1", [A, B[order]], REFERENCES, ids=ids, run_ids=[ids, [ids[i] for i in order]])
    assert shuffled == summarise("sold_macro_f1", [A, B], REFERENCES)


@pytest.mark.parametrize(
    ("run_ids", "message"),
    [
        ([[0, 1, 2], [0, 1, 1]], r"ids of run 1\[2\]: an id that an earlier row has"),
        ([[0, 1, 2], [0, 1, 7]], "ids of run 1: 1 ids that the references don't have, the first in row 2"),
        ([[0, 1, 2], ["0", "1", "2"]], "ids of run 1: texts and numbers"),
        ([[0, 1, 2], [0, 1]], "ids of run 1: 1 ids of the references are missing, the first that of row 2"),
        ([[0, 1, 2], None], "ids: of some rows only"),
        (None, "ids: of some rows only"),
    ],
)
def test_ids_that_are_refused(run_ids: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        summarise("sold_macro_f1", [[0, 1, 1], [0, 1, 1]], [0, 1, 1], ids=[0, 1, 2], run_ids=run_ids)


def test_a_bad_run_is_named() -> None:
    with pytest.raises(ValueError, match=r"^sold_macro_f1: run 1: predictions\[2\]: unknown label 'UNK'"):
        summarise("sold_macro_f1", [["OFF"] * 3, ["OFF", "NOT", "UNK"]], [0, 1, 1])
    with pytest.raises(ValueError, match="runs: no runs"):
        summarise("sold_macro_f1", [], [0, 1, 1])
    with pytest.raises(ValueError, match="run 1: b not in every run"):
        aggregate([{"a": 1.0}, {"a": 1.0, "b": 2.0}])


@undefined
def test_runs_of_every_metric() -> None:
    utterances = {"intent": A % 4, "slots": np.stack([A, B], axis=1)}
    for name, runs, references in (
        ("conda_joint", [utterances, utterances], utterances),
        ("sold_macro_f1", [A, {"predictions": B}], {"references": REFERENCES}),
        ("oracle_collab", [A * 0.5 + 0.2, {"predictions": A * 0.3, "review_scores": B}], REFERENCES),
        ("dia_safety_rate", [A, B], {"categories": np.arange(500) % 5}),
        ("threat_f1", [{"prediction_scores": A * 0.8}, {"prediction_scores": B * 0.7}], REFERENCES),
    ):
        summary = summarise(name, runs, references, confidence_level=0.9, n_resamples=5)
        for i, run in enumerate(summary.runs):
            inputs = runs[i] if isinstance(runs[i], dict) and "intent" not in runs[i] else {"predictions": runs[i]}
            known = isinstance(references, dict) and "intent" not in references
            shared = references if known else {"references": references}
            assert run == pytest.approx(toxeval.load(name).compute(**inputs, **shared), nan_ok=True), name


# --- comparisons --------------------------------------------------------------------------------------------------


def test_case_ci_08_mcnemar_identical() -> None:
    for key in ("accuracy", "f1_macro"):
        result = compare("sold_macro_f1", [0, 1], [0, 1], [0, 1], keys=[key])[key]
        assert (result.p_value, result.n_discordant, result.difference) == (1.0, 0, 0.0)
        assert result.low <= 0.0 <= result.high


@undefined
def test_identical_systems_of_every_metric() -> None:
    utterances = {"intent": A % 4, "slots": np.stack([A, B], axis=1)}
    gold = {"intent": B % 4, "slots": np.stack([A, A], axis=1)}
    for name, system, shared, keys in (
        ("conda_joint", utterances, gold, ["jsa", "t_f1"]),
        ("conda_joint", utterances, {"references": gold, "cluster": np.arange(500) // 5}, ["jsa", "t_f1"]),
        ("sold_macro_f1", A, REFERENCES, ["f1_macro", "accuracy", "f1_weighted"]),
        ("oracle_collab", A * 0.5 + 0.2, REFERENCES, ["accuracy", "auroc", "oc_auroc_at_0.1"]),
        ("dia_safety_rate", A, {"categories": np.arange(500) % 5}, ["unsafe_rate", "unsafe_rate_micro"]),
        ("threat_f1", {"prediction_scores": A * 0.8}, REFERENCES, ["accuracy", "roc_auc", "f1_macro"]),
        ("threat_f1", {"predictions": A, "prediction_scores": A * 0.8}, REFERENCES, ["accuracy"]),
    ):
        for result in compare(name, system, system, shared, keys=keys, n_resamples=20).values():
            assert (result.difference, result.p_value, result.n_discordant) == (0.0, 1.0, 0), name


def test_mcnemar_against_counting_by_hand() -> None:
    result = compare("sold_macro_f1", A, B, REFERENCES, keys=["accuracy", "recall_OFF"])
    for key, rows in (("accuracy", slice(None)), ("recall_OFF", REFERENCES == 1)):
        right_a, right_b = (A == REFERENCES)[rows], (B == REFERENCES)[rows]
        only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
        comparison = result[key]
        assert comparison.method == "mcnemar"
        assert (comparison.n_only_a, comparison.n_only_b, comparison.n_discordant) == (only_a, only_b, only_a + only_b)
        ways = [math.comb(only_a + only_b, k) for k in range(only_a + only_b + 1)]
        exact = sum(w for w in ways if w <= ways[only_a]) / 2 ** (only_a + only_b)
        assert comparison.p_value == pytest.approx(exact, rel=1e-9)
        assert comparison.difference == pytest.approx((only_a - only_b) / len(right_a))
        assert comparison.low < comparison.difference < comparison.high
    assert compare("sold_macro_f1", A, B, REFERENCES, keys=["precision_OFF"])["precision_OFF"].method == "bootstrap"


@undefined
def test_interval_of_paired_proportions() -> None:
    """36 rows right in both, 12 and 2 in one only: at the bounds the score statistic, with the shares that are most
    likely under that difference, is the normal quantile."""
    references = np.zeros(50, int)
    a = np.repeat([0, 0, 1], [36, 12, 2])
    b = np.repeat([0, 1, 0], [36, 12, 2])
    result = compare("sold_macro_f1", a, b, references, keys=["accuracy"])["accuracy"]
    for bound, sign in ((result.low, 1), (result.high, -1)):
        shares = np.linspace(1e-6, (1 - bound) / 2 - 1e-6, 400_001)  # of rows that only b has right
        likelihood = 12 * np.log(shares + bound) + 2 * np.log(shares) + 36 * np.log(1 - 2 * shares - bound)
        share = shares[likelihood.argmax()]
        statistic = (12 - 2 - 50 * bound) / math.sqrt(50 * (2 * share + bound * (1 - bound)))
        assert statistic == pytest.approx(sign * 1.959964, abs=1e-4)
    mirrored = compare("sold_macro_f1", b, a, references, keys=["accuracy"])["accuracy"]
    assert (mirrored.low, mirrored.high) == (pytest.approx(-result.high), pytest.approx(-result.low))


def test_paired_bootstrap_against_rows() -> None:
    def difference(a: np.ndarray, b: np.ndarray, r: np.ndarray) -> float:
        return f1_score(r, a, average="macro") - f1_score(r, b, average="macro")

    slow = bootstrap(
        (A, B, REFERENCES), difference, paired=True, vectorized=False, n_resamples=500, method="percentile",
        rng=np.random.default_rng(0),
    )  # fmt: skip
    result = compare("sold_macro_f1", A, B, REFERENCES, n_resamples=4000)["f1_macro"]
    bounds = result.low, result.high
    np.testing.assert_allclose(bounds, slow.confidence_interval, atol=0.5 * slow.standard_error)
    shifted = np.abs(slow.bootstrap_distribution - result.difference) >= abs(result.difference)
    assert result.p_value == pytest.approx(shifted.mean(), abs=0.02)


def test_rows_are_resampled_for_rank_metrics() -> None:
    rng = np.random.default_rng(0)
    p, q = (np.clip(REFERENCES * 0.2 + noise * rng.random(500), 0, 1) for noise in (0.6, 0.8))
    result = compare("threat_f1", {"prediction_scores": p}, {"prediction_scores": q}, REFERENCES, keys=["roc_auc"])
    expected = roc_auc_score(REFERENCES, p) - roc_auc_score(REFERENCES, q)
    assert result["roc_auc"].difference == pytest.approx(expected)
    samples = [rng.integers(500, size=500) for _ in range(400)]
    slow = [roc_auc_score(REFERENCES[s], p[s]) - roc_auc_score(REFERENCES[s], q[s]) for s in samples]
    width = result["roc_auc"].high - result["roc_auc"].low
    assert width == pytest.approx(2 * 1.96 * np.std(slow), rel=0.15)


@undefined
def test_clusters_widen_a_comparison() -> None:
    conversations = np.arange(400) // 20
    rng = np.random.default_rng(0)
    gold = {"intent": rng.integers(4, size=400), "slots": np.zeros((400, 1), int)}
    systems = []
    for _ in range(2):
        wrong = (rng.random(20) < 0.3)[conversations]
        systems.append({"intent": np.where(wrong, (gold["intent"] + 1) % 4, gold["intent"]), "slots": gold["slots"]})
    alone = compare("conda_joint", *systems, gold, keys=["uca"])["uca"]
    together = compare("conda_joint", *systems, {"references": gold, "cluster": conversations}, keys=["uca"])["uca"]
    assert (alone.method, together.method) == ("mcnemar", "bootstrap")
    assert together.high - together.low > 2.5 * (alone.high - alone.low)
    assert together.difference == alone.difference


def test_rows_of_systems_are_matched_by_id() -> None:
    order = np.random.default_rng(1).permutation(500)
    by_position = compare("sold_macro_f1", A, B, REFERENCES)
    ids = np.arange(500) + 10**12
    by_id = compare("sold_macro_f1", A.tolist(), B[order], REFERENCES, ids=ids, ids_a=ids, ids_b=ids[order])
    assert by_id == by_position
    with pytest.raises(ValueError, match="ids of system b: 1 ids that the references don't have"):
        compare("sold_macro_f1", A, B, REFERENCES, ids=ids, ids_a=ids, ids_b=np.append(ids[1:], 5))


def test_comparisons_repeat_and_leave_the_global_state_alone() -> None:
    np.random.seed(3)  # noqa: NPY002 (the state that must stay)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (compare("sold_macro_f1", A, B, REFERENCES, seed=seed)["f1_macro"] for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_the_p_value_is_uniform_where_there_is_no_difference() -> None:
    """Of two systems that err alike the p value is below 0.05 in about 5 % of samples."""
    references = np.arange(200) % 2
    below = {"mcnemar": 0, "bootstrap": 0}
    for seed in range(300):
        a, b = flipped(references, 0.3, 2 * seed), flipped(references, 0.3, 2 * seed + 1)
        for key in ("accuracy", "f1_macro"):
            result = compare("sold_macro_f1", a, b, references, keys=[key], n_resamples=199)[key]
            below[result.method] += result.p_value < 0.05
    assert 5 <= below["mcnemar"] <= 24
    assert 6 <= below["bootstrap"] <= 27


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": ["f1_makro"]}, "sold_macro_f1: keys: 'f1_makro'; allowed: precision_OFF"),
        ({"method": "ttest"}, "toxeval.systems: option method: 'ttest'"),
        ({"confidence_level": 0}, "toxeval.systems: option confidence_level"),
        ({"n_resamples": 0}, "toxeval.systems: option n_resamples"),
    ],
)
def test_refusals(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare("sold_macro_f1", A, B, REFERENCES, **options)
    with pytest.raises(ValueError, match="^sold_macro_f1: system b: 499 rows, 500 in the references$"):
        compare("sold_macro_f1", A, B[1:], REFERENCES)


SOME = [0, 1, 1]


@pytest.mark.parametrize("given", [None, 5, "OFF", {}, np.array(3), iter(SOME), object()])
def test_what_is_no_argument_is_refused_by_name(given: Any) -> None:
    for message, call in (
        ("system a: predictions", lambda: compare("sold_macro_f1", given, SOME, SOME)),
        ("system b: predictions", lambda: compare("sold_macro_f1", SOME, given, SOME)),
        ("system a: references", lambda: compare("sold_macro_f1", SOME, SOME, given)),
        ("unknown metric", lambda: compare(given, SOME, SOME, SOME)),
        ("ids", lambda: compare("sold_macro_f1", SOME, SOME, SOME, ids=[1, 2, 3], ids_a=given, ids_b=[1, 2, 3])),
        ("run 0: predictions", lambda: summarise("sold_macro_f1", [given], SOME)),
        ("run 0: references", lambda: summarise("sold_macro_f1", [SOME], given)),
        ("ids", lambda: summarise("sold_macro_f1", [SOME], SOME, ids=[1, 2, 3], run_ids=given)),
        ("runs", lambda: summarise("sold_macro_f1", given, SOME)),
        ("results|run 0", lambda: aggregate(given)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    if given is not None and not hasattr(given, "__next__"):  # which has been read by now
        with pytest.raises(ValueError, match="keys: "):
            compare("sold_macro_f1", SOME, SOME, SOME, keys=given)


def test_messages_call_systems_by_their_names() -> None:
    with pytest.raises(ValueError, match="sold_macro_f1: theirs: 2 rows, 3 in the references"):
        compare("sold_macro_f1", SOME, SOME[1:], SOME, names=["ours", "theirs"])
    with pytest.warns(UserWarning, match="sold_macro_f1: ours: undefined: "):
        summarise("sold_macro_f1", [[0, 0, 0]], SOME, names=["ours"])


def test_inputs_of_any_container() -> None:
    torch = pytest.importorskip("torch")
    pd = pytest.importorskip("pandas")
    expected = compare("sold_macro_f1", A, B, REFERENCES)
    ids = list(range(500))
    for a, b in itertools.product((A.tolist(), torch.tensor(A), pd.Series(A, index=ids[::-1])), (B,)):
        assert compare("sold_macro_f1", a, b, REFERENCES, ids=ids, ids_a=ids, ids_b=ids) == expected


def test_names_are_as_many_as_there_are_systems() -> None:
    gold, other = ["OFF", "NOT"], ["NOT", "NOT"]
    for names in (["x"], ["x", "y", "z"], "xy", []):
        with pytest.raises(ValueError, match="^toxeval.systems: names: .*; allowed: a list of 2 names"):
            summarise("sold_macro_f1", [gold, other], gold, names=names)
        with pytest.raises(ValueError, match="^toxeval.systems: names: .*; allowed: a list of 2 names"):
            compare("sold_macro_f1", gold, other, gold, names=names)
    assert summarise("sold_macro_f1", [gold, other], gold, names=np.array(["x", "y"])).mean["accuracy"] == 0.75


# --- what a comparison depends on ---------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.5]) | st.floats(-1, 1), min_size=1, max_size=60),
    st.sampled_from([-0.25, 0.0, 0.125, 0.25]) | st.floats(-1, 1),
    st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]),
)
def test_the_interval_excludes_0_exactly_where_p_is_small(
    samples: list[float], difference: float, level: float
) -> None:
    systems = SimpleNamespace(n_rows=10, differing=lambda: 1)
    found = comparing._bootstrap("key", difference, 0.0, systems, np.array(samples), level)  # type: ignore[arg-type]
    assert found.low <= difference <= found.high
    assert 2 / (len(samples) + 1) <= found.p_value <= 1 or found.p_value == 1
    assert (found.low > 0 or found.high < 0) == (found.p_value < 1 - level)


@pytest.mark.filterwarnings("ignore:.*undefined")
@pytest.mark.parametrize("name", ["threat_f1", "conda_joint", "sold_macro_f1"])
def test_the_order_of_the_rows_is_no_matter(name: str) -> None:
    order = np.random.default_rng(2).permutation(500)
    rng = np.random.default_rng(0)
    p, q = (np.clip(REFERENCES * 0.2 + noise * rng.random(500), 0, 1) for noise in (0.6, 0.8))
    slots = rng.integers(7, size=(3, 500, 2))

    def given(rows: Any) -> list[Any]:
        if name == "threat_f1":
            return [{"prediction_scores": p[rows]}, {"prediction_scores": q[rows]}, REFERENCES[rows]]
        if name == "conda_joint":
            return [{"intent": x[rows] % 4, "slots": s[rows]} for x, s in zip((A, B, REFERENCES), slots)]
        return [A[rows], B[rows], REFERENCES[rows]]

    keys = {"threat_f1": ["roc_auc", "f1_macro"], "conda_joint": ["t_f1"]}.get(name)
    first, again = (compare(name, *given(rows), keys=keys, n_resamples=50) for rows in (slice(None), order))
    assert first == again


def test_invalid_predictions_of_tokens_are_compared_by_post() -> None:
    gold = [[0, 1], [1], [0, 0, 1], [1, 1]] * 10
    mine = [[0, 1], None, [0, 0, 1], [1, 0]] * 10
    other = [[0, 0], [1], None, [1, 1]] * 10
    metric = toxeval.loading.plain("sold_macro_f1", "token", invalid="count")
    found = compare(metric, mine, other, gold, keys=["invalid_rate", "f1_macro"], n_resamples=50)
    assert found["invalid_rate"].difference == 0.0
    assert found["f1_macro"].score_a == (metric.compute(predictions=mine, references=gold) or {})["f1_macro"]
    assert found["f1_macro"].n_rows == 40


@undefined
def test_as_many_tokens_as_posts_are_still_tokens() -> None:
    """Posts of 2, 0 and 1 tokens with invalid predictions: what is resampled are posts."""
    metric = toxeval.loading.plain("sold_macro_f1", "token", invalid="count")
    references = [[1, 1], [], [0]]
    systems = [[[1, 0], None, [1]], [None, [], [0]]]
    encoded = [metric.encode(predictions=predictions, references=references) for predictions in systems]
    found = counted(metric, encoded)
    assert found.units is not None
    for predictions, units in zip(systems, found.units):
        for post, (prediction, reference) in enumerate(zip(predictions, references)):
            alone = metric.state(predictions=[prediction], references=[reference])
            for key, counts in alone.counts.items():
                np.testing.assert_array_equal(units[key][post], counts)
