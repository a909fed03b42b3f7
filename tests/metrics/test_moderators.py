"""Moderators who err: every key against all that they might say, one case after the other."""

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import toxeval

METRIC = toxeval.load("oracle_collab")
INF = float("inf")
SCORES = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.7000001, 0.9])
ERRORS = st.sampled_from([0.0, 0.05, 0.2, 0.45])
Row = tuple[float, int, float]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Row], int, dict[str, float], dict[str, Any]]:
    """Rows of (score, label, review score), k, the errors of the moderators, and what else ``compute`` is given."""
    n = draw(st.integers(1, 6))
    rows = [(draw(SCORES), draw(st.integers(0, 1)), draw(st.sampled_from([0.0, 1.0, 2.0]))) for _ in range(n)]
    strategy = draw(st.sampled_from(["uncertainty", "toxicity", "review_scores"]))
    given_: dict[str, Any] = {"review_strategy": strategy}
    if strategy == "review_scores":
        given_["review_scores"] = [row[2] for row in rows]
    else:
        rows = [(p, y, min(p, 1 - p) if strategy == "uncertainty" else p) for p, y, _ in rows]
    errors = {"false_positive": draw(ERRORS), "false_negative": draw(ERRORS)}
    return rows, draw(st.integers(0, n)), errors, given_


def shares(rows: list[Row], k: int) -> list[float]:
    """With which weight each row is reviewed: of m tied rows of which r fit, each with r / m."""
    found = []
    for _, _, review in rows:
        before = sum(other > review for _, _, other in rows)
        tied = sum(other == review for _, _, other in rows)
        found.append(min(1.0, max(0.0, (k - before) / tied)))
    return found


def words(rows: list[Row], k: int, errors: dict[str, float]) -> Iterator[tuple[float, list[int]]]:
    """Everything that may be said of the reviewed rows: how likely it is, and the word on each row."""
    chances = [errors["false_negative"] if y else errors["false_positive"] for _, y, _ in rows]
    reviewed = [i for i, share in enumerate(shares(rows, k)) if share > 0]
    for wrong in itertools.product((0, 1), repeat=len(reviewed)):
        said = [y for _, y, _ in rows]
        chance = 1.0
        for i, is_wrong in zip(reviewed, wrong):
            chance *= chances[i] if is_wrong else 1 - chances[i]
            said[i] ^= is_wrong
        yield chance, said


def expected(rows: list[Row], k: int, errors: dict[str, float]) -> dict[str, float]:
    """The expected counts, and the expected area under the ROC curve, by enumeration."""
    share, n = shares(rows, k), len(rows)
    predicted = [int(p > 0.5) for p, _, _ in rows]
    positives, negatives = ([i for i in range(n) if rows[i][1] == y] for y in (1, 0))
    counts = dict.fromkeys(("right", "tp", "fp", "fn", "auroc"), 0.0)
    for chance, said in words(rows, k, errors):
        for i, (_, y, _) in enumerate(rows):
            for weight, label in ((share[i], said[i]), (1 - share[i], predicted[i])):
                counts["right"] += chance * weight * (label == y)
                counts["tp"] += chance * weight * (label == 1 and y == 1)
                counts["fp"] += chance * weight * (label == 1 and y == 0)
                counts["fn"] += chance * weight * (label == 0 and y == 1)
        places = [((share[i], INF if said[i] else -INF), (1 - share[i], rows[i][0])) for i in range(n)]
        for i, j in itertools.product(positives, negatives):
            for (u, above), (v, below) in itertools.product(places[i], places[j]):
                counts["auroc"] += chance * u * v * ((above > below) + (above == below) / 2)
    pairs = len(positives) * len(negatives)
    counts["auroc"] = counts["auroc"] / pairs if pairs else math.nan
    return counts


def ratio(part: float, whole: float, otherwise: float = math.nan) -> float:
    return part / whole if whole else otherwise


def computed(rows: list[Row], k: int, given_: dict[str, Any], **options: Any) -> dict[str, Any]:
    columns = {"predictions": [p for p, _, _ in rows], "references": [y for _, y, _ in rows]}
    return METRIC.compute(**columns, review_fractions=[k / len(rows)], detailed=True, **given_, **options) or {}


@pytest.mark.filterwarnings("ignore")
@given(cases(), st.sampled_from([1, 3]))
def test_every_key_is_its_expectation(case: tuple[list[Row], int, dict[str, float], dict[str, Any]], m: int) -> None:
    rows, k, errors, given_ = case
    at, n = f"_at_{k / len(rows)!r}", len(rows)
    found = computed(rows, k, given_, moderator_error=errors, moderators=m)
    plain = expected(rows, k, {name: majority(e, m) for name, e in errors.items()})
    before = expected(rows, 0, errors)["right"]
    n_wrong, net = n - before, plain["right"] - before
    same = {
        f"oc_accuracy{at}": plain["right"] / n,
        f"oc_precision{at}": ratio(plain["tp"], plain["tp"] + plain["fp"], 0.0),
        f"oc_recall{at}": ratio(plain["tp"], plain["tp"] + plain["fn"], 0.0),
        f"oc_f1{at}": ratio(2 * plain["tp"], 2 * plain["tp"] + plain["fp"] + plain["fn"], 0.0),
        f"oc_auroc{at}": plain["auroc"],
        f"net_review_efficiency{at}": ratio(net, k),
        f"net_review_effectiveness{at}": ratio(net, n_wrong),
    }
    for key, value in same.items():
        if "precision" in key and plain["tp"] + plain["fp"] < 1e-9:
            continue  # a sum of chances that is 0 but for rounding
        assert found[key] == pytest.approx(value, abs=1e-12, nan_ok=True), key
    perfect = computed(rows, k, given_)
    for key in (f"review_efficiency{at}", f"review_effectiveness{at}", "accuracy", "auroc", "calibration_auroc"):
        assert found[key] == pytest.approx(perfect[key], abs=0, nan_ok=True), key  # what the plain ones were
    if any(errors.values()):
        assert not any(key.startswith("oc_auprc") for key in found)


def majority(error: float, m: int) -> float:
    """How often more than half of m are wrong, by what each of them may say."""
    total = 0.0
    for wrong in itertools.product((0, 1), repeat=m):
        if sum(wrong) > m / 2:
            total += math.prod(error if w else 1 - error for w in wrong)
    return total


@pytest.mark.filterwarnings("ignore")
@given(cases())
def test_moderators_who_never_err_are_the_oracle(case: tuple[list[Row], int, dict[str, float], dict[str, Any]]) -> None:
    rows, k, _, given_ = case
    oracle = computed(rows, k, given_)
    perfect = computed(rows, k, given_, moderator_error={"false_positive": 0, "false_negative": 0.0}, moderators=5)
    assert {key: repr(value) for key, value in perfect.items() if key in oracle} == {
        key: repr(value) for key, value in oracle.items()
    }
    assert {key.rpartition("_at_")[0] for key in perfect.keys() - oracle.keys()} == {
        "net_review_efficiency",
        "net_review_effectiveness",
    }


@pytest.mark.filterwarnings("ignore")
@given(
    cases(),
    st.sampled_from(["oc_accuracy", "oc_precision", "oc_recall", "oc_auroc"]),
    st.sampled_from([0.4, 0.6, 0.75, 0.9]),
)
def test_targets_by_looking_at_every_k(
    case: tuple[list[Row], int, dict[str, float], dict[str, Any]], quantity: str, target: float
) -> None:
    rows, _, errors, given_ = case
    assume(any(errors.values()))
    n = len(rows)
    found = computed(rows, 0, given_, moderator_error=errors, targets={quantity: target})
    values = []
    for k in range(n + 1):
        plain = expected(rows, k, errors)
        values.append(
            {
                "oc_accuracy": plain["right"] / n,
                "oc_precision": ratio(plain["tp"], plain["tp"] + plain["fp"]),
                "oc_recall": ratio(plain["tp"], plain["tp"] + plain["fn"]),
                "oc_auroc": plain["auroc"],
            }[quantity]
        )
    assume(all(math.isnan(value) or abs(value - target) > 1e-9 for value in values))
    reached = [k for k, value in enumerate(values) if value >= target]
    if reached:
        assert found[f"n_reviews_for_{quantity}"] == reached[0]
        assert found[f"review_fraction_for_{quantity}"] == reached[0] / n
    else:
        assert math.isnan(found[f"n_reviews_for_{quantity}"])
    defined = [value for value in values if not math.isnan(value)]
    best = max(defined) if defined else math.nan
    assert found[f"best_{quantity}"] == pytest.approx(best, abs=1e-12, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
@given(
    cases(),
    st.sampled_from([0.0, 0.2, 1.0]),
    st.sampled_from([1.0, 3.0]),
    st.sampled_from([1.0, 5.0]),
    st.sampled_from([1, 3]),
)
def test_costs_by_looking_at_every_k(
    case: tuple[list[Row], int, dict[str, float], dict[str, Any]], review: float, fp: float, fn: float, m: int
) -> None:
    rows, k, errors, given_ = case
    costs = {"review": review, "false_positive": fp, "false_negative": fn}
    found = computed(rows, k, given_, moderator_error=errors, moderators=m, costs=costs)
    of_majority, every = {name: majority(e, m) for name, e in errors.items()}, []
    for each in range(len(rows) + 1):
        plain = expected(rows, each, of_majority)
        every.append(review * m * each + fp * plain["fp"] + fn * plain["fn"])
    assert found[f"cost_at_{k / len(rows)!r}"] == pytest.approx(every[k], abs=1e-12)
    assert found["cost_without_review"] == pytest.approx(every[0], abs=1e-12)
    assert found["cost_of_reviewing_all"] == pytest.approx(every[-1], abs=1e-12)
    assert found["cost_at_cheapest"] == pytest.approx(min(every), abs=1e-12)
    assert found["saved_against_no_review"] == pytest.approx(every[0] - min(every), abs=1e-12)
    assert found["saved_against_reviewing_all"] == pytest.approx(every[-1] - min(every), abs=1e-12)
    cheapest = round(found["cheapest_review_fraction"] * len(rows))
    assert every[cheapest] == pytest.approx(min(every), abs=1e-12)


def invented(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    toxic = rng.random(n) < 0.2
    scores = 1 / (1 + np.exp(-rng.normal(np.where(toxic, 1.0, -2.0), 1.5)))
    return {"predictions": scores.round(3), "references": toxic.astype(int)}


def test_a_large_case_against_a_million_draws() -> None:
    """Given who is reviewed, everything depends on how many words are wrong in each class."""
    rows, alpha, (e0, e1) = invented(5000), 0.1, (0.1, 0.3)
    error = {"false_positive": e0, "false_negative": e1}
    found = METRIC.compute(**rows, review_fractions=[alpha], moderator_error=error, detailed=True) or {}
    p, y = rows["predictions"], rows["references"]
    order = np.lexsort((np.arange(len(p)), np.abs(p - 0.5)))
    k = int(alpha * len(p))
    reviewed = np.zeros(len(p), bool)
    reviewed[order[:k]] = True
    cut = np.abs(p - 0.5)[order[k - 1]]
    tied = np.abs(p - 0.5) == cut
    share = np.where(tied, (k - (np.abs(p - 0.5) < cut).sum()) / tied.sum(), reviewed.astype(float))
    rng, draws = np.random.default_rng(1), 1_000_000
    predicted = p > 0.5
    r1, r0 = share[y == 1].sum(), share[y == 0].sum()
    wrong_left = ((1 - share) * (predicted != y)).sum()
    wrong0, wrong1 = rng.binomial(round(r0 * 1e6), e0, draws) / 1e6, rng.binomial(round(r1 * 1e6), e1, draws) / 1e6
    accuracy = 1 - (wrong_left + wrong0 + wrong1) / len(p)
    assert found[f"oc_accuracy_at_{alpha}"] == pytest.approx(accuracy.mean(), abs=1e-5)
    left1, left0 = (1 - share) * (y == 1), (1 - share) * (y == 0)
    distinct, at = np.unique(p, return_inverse=True)
    pos, neg = np.bincount(at, left1, len(distinct)), np.bincount(at, left0, len(distinct))
    inside = (pos * (np.cumsum(neg) - neg / 2)).sum()
    top1, bottom0 = r1 - wrong1, r0 - wrong0
    pairs = (
        inside + left1.sum() * bottom0 + top1 * left0.sum() + top1 * bottom0 + (top1 * wrong0 + wrong1 * bottom0) / 2
    )
    auroc = pairs / (y.sum() * (1 - y).sum())
    assert found[f"oc_auroc_at_{alpha}"] == pytest.approx(auroc.mean(), abs=1e-5)


def test_errors_measured_on_some_rows() -> None:
    rows = invented(4000, seed=2)
    rng = np.random.default_rng(3)
    wrong = rng.random(4000) < np.where(rows["references"] == 1, 0.25, 0.1)
    said = np.where(wrong, 1 - rows["references"], rows["references"])
    labels = [int(word) if i % 10 == 0 else None for i, word in enumerate(said)]
    options: dict[str, Any] = {"review_fractions": [0.1], "confidence_level": 0.95, "n_resamples": 300}
    found = METRIC.compute(**rows, moderator_labels=labels, **options) or {}
    known = np.arange(4000) % 10 == 0
    rates = [wrong[known & (rows["references"] == y)].mean() for y in (0, 1)]
    assert found["moderator_false_positive"] == pytest.approx(rates[0])
    assert found["moderator_false_negative"] == pytest.approx(rates[1])
    assumed = (
        METRIC.compute(**rows, moderator_error={"false_positive": rates[0], "false_negative": rates[1]}, **options)
        or {}
    )
    for key in ("oc_accuracy_at_0.1", "oc_auroc_at_0.1", "net_review_efficiency_at_0.1"):
        assert found[key] == pytest.approx(assumed[key], abs=1e-12)
        widths = [each[f"{key}_high"] - each[f"{key}_low"] for each in (found, assumed)]
        assert widths[0] > widths[1], key  # how often they err is uncertain itself
        assert found[f"{key}_low"] <= found[key] <= found[f"{key}_high"]
    halves = [slice(0, 2000), slice(2000, None)]
    for half in halves:
        METRIC.add_batch(**{name: values[half] for name, values in rows.items()}, moderator_labels=labels[half])
    assert METRIC.compute(**options) == found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moderator_error": {"false_positive": 0.5, "false_negative": 0.5}}, "no better than chance"),
        ({"moderator_error": {"false_positive": 0.1}}, "without false_negative"),
        ({"moderator_error": {"false_positive": 0.1, "false_negative": 1.5}}, "moderator_error['false_negative']: 1.5"),
        ({"moderators": 2}, "moderators: 2; allowed: an odd number"),
        ({"costs": {"review": -1, "false_positive": 1, "false_negative": 1}}, "costs['review']: -1"),
        ({"costs": {"review": INF, "false_positive": 1, "false_negative": 1}}, "costs['review']: inf"),
        ({"moderator_labels": [1, None, 0, 2]}, "moderator_labels[3]"),
        ({"moderator_labels": [0, None, None, 1]}, "no row whose reference is"),
        (
            {"moderator_labels": [0, 1, 1, 0], "moderator_error": {"false_positive": 0, "false_negative": 0}},
            "one of them: errors are assumed, or measured",
        ),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        METRIC.compute(predictions=[0.1, 0.6, 0.8, 0.4], references=[0, 1, 1, 0], **options)
