"""Rates corrected for their judge: the papers' examples, plain versions, and coverage by simulation."""

import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from files import module_of
from hypothesis import assume, given
from hypothesis import strategies as st
from plain import corrected_rates as plain

from toxeval.core.corrected_rates import (
    STRONG,
    Estimate,
    corrected,
    difference,
    judge,
    powered,
    powered_difference,
    rogan_gladen,
)

# label and verdict safe, label safe and verdict unsafe, label unsafe and verdict safe, both unsafe
tables = st.tuples(*[st.integers(0, 60)] * 4).filter(lambda t: t[0] + t[1] > 0 and t[2] + t[3] > 0)
verdicts = st.tuples(st.integers(0, 400), st.integers(0, 400)).filter(any)


def table(counts: tuple[int, ...]) -> list[list[int]]:
    return [list(counts[:2]), list(counts[2:])]


def rates(human: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Hits, unsafe replies, passes, safe replies."""
    return human[3], human[2] + human[3], human[0], human[0] + human[1]


def strength(human: tuple[int, ...]) -> float:
    hits, unsafe, passes, safe = rates(human)
    return (hits + 1) / (unsafe + 2) + (passes + 1) / (safe + 2) - 1


def above_chance(human: tuple[int, ...]) -> bool:
    return plain.above_chance(*rates(human))[0] > 1e-3 and sum(plain_rates(human)) > 1.001


def plain_rates(human: tuple[int, ...]) -> tuple[float, float]:
    hits, unsafe, passes, safe = rates(human)
    return hits / unsafe, passes / safe


def plain_interval(k: float, n: float, human: tuple[int, ...]) -> tuple[float, float]:
    which = plain.lang_reiczigel if strength(human) >= STRONG else plain.all_rates_that_fit
    low, high = which(k, n, *rates(human))
    return low, high


def cut(interval: tuple[float, float], least: float = 0.0) -> tuple[float, float]:
    return min(1.0, max(least, interval[0])), min(1.0, max(least, interval[1]))


def close(found: Estimate, value: float, interval: tuple[float, float], least: float = 0.0) -> None:
    np.testing.assert_allclose([float(part) for part in found], [value, *cut(interval, least)], atol=1e-8)


# --- published examples -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unsafe", "n", "hits", "of_unsafe", "passes", "of_safe", "low", "high"),
    [
        (4060, 11284, 178, 179, 358, 359, 0.349, 0.372),
        (51, 2971, 32, 33, 20, 20, 0.0, 0.053),
        (0.06 * 11862, 11862, 8, 10, 12, 12, 0.0, 0.147),
        (259, 509, 84, 127, 96, 109, 0.58, 0.87),
        (51, 509, 23, 41, 187, 195, 0.037, 0.195),
    ],
)
def test_examples_of_lang_and_reiczigel(
    unsafe: float, n: int, hits: int, of_unsafe: int, passes: int, of_safe: int, low: float, high: float
) -> None:
    """Examples 1 to 4 of their paper, with the intervals the R package asht gives for them in its help."""
    found = corrected([[n - unsafe, unsafe]], [[[passes, of_safe - passes], [of_unsafe - hits, hits]]]).overall
    digits = 2 if high == 0.87 else 3
    assert (round(float(found.low), digits), round(float(found.high), digits)) == (low, high)


def test_example_of_rogan_and_gladen() -> None:
    """The R package epiR: 23 of 150 cows, sensitivity .96, specificity .89: 5.1 cases per 100 cows; then 0 per 100."""
    assert float(rogan_gladen(23 / 150, 0.96, 0.89)) == pytest.approx(0.051, abs=5e-4)
    assert float(rogan_gladen(6 / 151, 0.964, 0.927)) == pytest.approx(-0.0373, abs=5e-5)  # as computed, not cut


@pytest.mark.parametrize(
    ("all_replies", "human", "expected"),
    [
        ((8820, 1180), (259, 21, 2, 18), 0.06122016),
        ((580, 420), (60, 20, 5, 15), 0.22461538),
    ],
)
def test_prediction_powered_as_its_authors_compute_it(
    all_replies: tuple[int, int], human: tuple[int, ...], expected: float
) -> None:
    """ppi_py 0.2.3, ppi_mean_pointestimate with lam = Cov(y, f) / Var(f) (labelled) * replies without label / all."""
    assert float(powered([all_replies], [table(human)]).overall.value) == pytest.approx(expected, abs=1e-8)


# --- plain versions -----------------------------------------------------------------------------------------------


@given(tables)
def test_judge(human: tuple[int, ...]) -> None:
    found = judge(table(human))
    sensitivity, specificity = plain_rates(human)
    expected = [sensitivity, specificity, sensitivity + specificity - 1, *plain.above_chance(*rates(human))]
    np.testing.assert_allclose(np.array(found), expected, atol=1e-12)


@given(verdicts, tables.filter(above_chance))
def test_corrected(given_verdicts: tuple[int, int], human: tuple[int, ...]) -> None:
    safe, unsafe = given_verdicts
    value = plain.rogan_gladen(
        [0] * safe + [1] * unsafe, [0] * human[2] + [1] * human[3], [0] * human[0] + [1] * human[1]
    )
    found = corrected([given_verdicts], [table(human)])
    interval = plain_interval(unsafe, safe + unsafe, human)
    close(found.overall, value, interval)
    close(found.mean, value, interval)
    close(Estimate(*(part[0] for part in found.categories)), value, interval)


@given(st.lists(verdicts, min_size=2, max_size=4), tables.filter(above_chance))
def test_categories_under_one_judge(of: list[tuple[int, int]], human: tuple[int, ...]) -> None:
    found = corrected(of, [table(human)])
    shares = [unsafe / (safe + unsafe) for safe, unsafe in of]
    mean = sum(shares) / len(of)
    # the trials of the mean share, from shares with half a reply more of either kind
    smooth = [(unsafe + 0.5) / (safe + unsafe + 1) for safe, unsafe in of]
    centre = sum(smooth) / len(of)
    variance = sum(s * (1 - s) / sum(counts) for s, counts in zip(smooth, of)) / len(of) ** 2
    trials = centre * (1 - centre) / variance
    close(found.mean, float(rogan_gladen(mean, *plain_rates(human))), plain_interval(mean * trials, trials, human))
    safe, unsafe = map(sum, zip(*of))
    share = unsafe / (safe + unsafe)
    expected = plain_interval(unsafe, safe + unsafe, human)
    close(found.overall, float(rogan_gladen(share, *plain_rates(human))), expected)


@given(st.lists(st.tuples(verdicts, tables.filter(above_chance)), min_size=2, max_size=4))
def test_a_judge_in_each_category(of: list[tuple[tuple[int, int], tuple[int, ...]]]) -> None:
    found = corrected([counts for counts, _ in of], [table(human) for _, human in of])
    values = [float(rogan_gladen(counts[1] / sum(counts), *plain_rates(human))) for counts, human in of]
    intervals = [plain_interval(counts[1], sum(counts), human) for counts, human in of]
    for i, (value, interval) in enumerate(zip(values, intervals)):
        close(Estimate(*(part[i] for part in found.categories)), value, interval)
    weights = [1 / len(of)] * len(of)
    close(found.mean, sum(values) / len(of), plain.sum_of(values, intervals, weights))
    n = sum(sum(counts) for counts, _ in of)
    weights = [sum(counts) / n for counts, _ in of]
    value = sum(w * v for w, v in zip(weights, values))
    low, high = plain.sum_of(values, intervals, weights)
    between = plain.Z**2 * sum(w * (v - value) ** 2 for w, v in zip(weights, values)) / n  # the weights vary too
    close(
        found.overall,
        value,
        (value - math.sqrt((value - low) ** 2 + between), value + math.sqrt((high - value) ** 2 + between)),
    )


@given(st.lists(st.tuples(*[st.integers(0, 60)] * 4).filter(any), min_size=1, max_size=3), tables.filter(above_chance))
def test_difference(of: list[tuple[int, ...]], human: tuple[int, ...]) -> None:
    found = difference([table(pairs) for pairs in of], [table(human)])
    gain = sum(plain_rates(human)) - 1
    shares, centres, variances = [], [], []
    for i, (_, only_b, only_a, _) in enumerate(of):
        n = sum(of[i])
        shares.append((only_a - only_b) / n)
        interval = plain.all_differences_that_fit(only_a, only_b, n, *rates(human))
        close(Estimate(*(part[i] for part in found.categories)), shares[i] / gain, interval, -1.0)
        more = 1 / len(of)
        a, b = (only_a + more) / (n + 2 * more), (only_b + more) / (n + 2 * more)
        centres.append(a - b)
        variances.append((a + b - (a - b) ** 2) / (n + 2 * more))
    mean = sum(centres) / len(of), sum(variances) / len(of) ** 2
    interval = plain.differences_near(*mean, *rates(human))
    close(found.mean, sum(shares) / len(of) / gain, interval, -1.0)
    _, only_b, only_a, _ = (sum(cell) for cell in zip(*of))
    n = sum(map(sum, of))
    interval = plain.all_differences_that_fit(only_a, only_b, n, *rates(human))
    close(found.overall, (only_a - only_b) / n / gain, interval, -1.0)


@given(tables.filter(lambda t: t[0] + t[2] > 0 and t[1] + t[3] > 0), st.integers(0, 500), st.integers(1, 500))
def test_powered_is_ppi_plus_plus(human: tuple[int, ...], more_unsafe: int, more_safe: int) -> None:
    labels = [0] * (human[0] + human[1]) + [1] * (human[2] + human[3])
    verdicts = [0] * human[0] + [1] * human[1] + [0] * human[2] + [1] * human[3]
    others = [1] * more_unsafe + [0] * more_safe
    value = plain.ppi_plus_plus(labels, verdicts, others)
    m, n = len(labels), len(labels) + len(others)
    weight = plain.covariance(labels, verdicts) / plain.covariance(verdicts, verdicts)
    cells = [count + 0.25 for count in human]
    variance = plain.powered_variance([0, 0, 1, 1], [0, 1, 0, 1], cells, weight, m, n)
    share = (cells[2] + cells[3]) / sum(cells)
    flagged = sum(verdicts) + more_unsafe
    found = powered([[n - flagged, flagged]], [table(human)]).overall
    close(found, value, plain.agresti_coull(value, share * (1 - share) / variance))
    # which is the share of unsafe labels at each verdict, weighted by all verdicts
    by_verdict = human[2] / (human[0] + human[2]), human[3] / (human[1] + human[3])
    assert value == pytest.approx(by_verdict[0] * (1 - flagged / n) + by_verdict[1] * flagged / n, abs=1e-9)


@given(st.lists(st.tuples(tables, verdicts), min_size=2, max_size=4))
def test_powered_by_category(of: list[tuple[tuple[int, ...], tuple[int, int]]]) -> None:
    all_replies, top, below, n = [], 0.0, 0.0, 0
    for human, (safe, unsafe) in of:
        labels, verdicts = rows(human)
        top += len(labels) * plain.covariance(labels, verdicts)
        below += len(labels) * plain.covariance(verdicts, verdicts)
        all_replies.append((verdicts.count(0) + safe, sum(verdicts) + unsafe))
        n += sum(all_replies[-1])
    weight = top / below if below > 1e-9 else 0.0
    values, variances, shares = [], [], []
    for (human, _), counts in zip(of, all_replies):
        labels, verdicts = rows(human)
        m, cells = len(labels), [count + 0.25 for count in human]
        values.append(sum(labels) / m + weight * (counts[1] / sum(counts) - sum(verdicts) / m))
        variances.append(plain.powered_variance([0, 0, 1, 1], [0, 1, 0, 1], cells, weight, m, sum(counts)))
        shares.append((cells[2] + cells[3]) / sum(cells))
    found = powered(all_replies, [table(human) for human, _ in of])
    even = [1 / len(of)] * len(of)
    sizes = [sum(counts) / n for counts in all_replies]
    centre = sum(w * share for w, share in zip(sizes, shares))
    between = sum(w * (share - centre) ** 2 for w, share in zip(sizes, shares)) / n
    for weights, more, estimate in ((even, 0.0, found.mean), (sizes, between, found.overall)):
        value = sum(w * v for w, v in zip(weights, values))
        share = sum(w * s for w, s in zip(weights, shares))
        trials = share * (1 - share) / (sum(w**2 * v for w, v in zip(weights, variances)) + more)
        close(estimate, value, plain.agresti_coull(min(1.0, max(0.0, value)), trials))
    for i, (value, variance, share) in enumerate(zip(values, variances, shares)):
        expected = plain.agresti_coull(min(1.0, max(0.0, value)), share * (1 - share) / variance)
        close(Estimate(*(part[i] for part in found.categories)), value, expected)


labels = st.sampled_from([None, 0, 1])
bits = st.integers(0, 1)


@given(st.lists(st.lists(st.tuples(bits, labels, bits, labels), max_size=30), min_size=1, max_size=3))
def test_powered_difference(of: list[list[tuple[int, int | None, int, int | None]]]) -> None:
    """Rates and variances as `powered` has them, and the plain covariance of each category."""
    of = [[*rows, (0, 0, 0, None), (1, 1, 1, 1), (0, None, 1, 0)] for rows in of]
    pairs = np.zeros((len(of), 2, 3, 2, 3))
    for i, rows in enumerate(of):
        for f, y, g, z in rows:
            pairs[i, f, 0 if y is None else y + 1, g, 0 if z is None else z + 1] += 1
    systems = [[[(f, y) for f, y, _, _ in rows] for rows in of], [[(g, z) for _, _, g, z in rows] for rows in of]]
    weights, parts = zip(*map(plain_parts, systems))
    n = [len(rows) for rows in of]
    covariances = [plain.powered_covariance(rows, *weights) for rows in of]
    found = powered_difference(pairs)
    for i, covariance in enumerate(covariances):
        close(Estimate(*(part[i] for part in found.categories)), *plain_apart(parts[0][i], parts[1][i], covariance), -1)
    for name, of_each in (("mean", [1 / len(of)] * len(of)), ("overall", [m / sum(n) for m in n])):
        sums, between = [], 0.0
        centres = [sum(w * part[1] for w, part in zip(of_each, each)) for each in parts]
        if name == "overall":
            between = sum(w * (a[1] - centres[0]) * (b[1] - centres[1]) / sum(n) for w, a, b in zip(of_each, *parts))
        for each, centre in zip(parts, centres):
            more = sum(w * (p[1] - centre) ** 2 for w, p in zip(of_each, each)) / sum(n) if name == "overall" else 0.0
            value = sum(w * p[0] for w, p in zip(of_each, each))
            sums.append((value, centre, sum(w**2 * p[2] for w, p in zip(of_each, each)) + more))
        together = sum(w**2 * c for w, c in zip(of_each, covariances)) + between
        close(getattr(found, name), *plain_apart(*sums, together), -1)


Part = tuple[float, float, float]  # value, share with more in each cell, variance


def plain_parts(of: list[list[tuple[int, int | None]]]) -> tuple[float, list[Part]]:
    """The weight, and the rates of the categories from verdicts and labels."""
    known = [[(f, y) for f, y in rows if y is not None] for rows in of]
    moments = [(len(k), [y for _, y in k], [f for f, _ in k]) for k in known]
    below = sum(m * plain.covariance(f, f) for m, _, f in moments)
    weight = sum(m * plain.covariance(y, f) for m, y, f in moments) / below if below > 1e-9 else 0.0
    parts = []
    for (m, y, f), rows in zip(moments, of):
        cells = [sum((a, b) == (g, z) for a, b in zip(y, f)) + 0.25 for g in (0, 1) for z in (0, 1)]
        value = sum(y) / m + weight * (sum(f for f, _ in rows) / len(rows) - sum(f) / m)
        variance = plain.powered_variance([0, 0, 1, 1], [0, 1, 0, 1], cells, weight, m, len(rows))
        parts.append((value, (cells[2] + cells[3]) / sum(cells), variance))
    return weight, parts


def plain_apart(a: Part, b: Part, covariance: float) -> tuple[float, tuple[float, float]]:
    values = [min(1.0, max(0.0, value)) for value, _, _ in (a, b)]
    intervals = [
        plain.agresti_coull_uncut(value, share * (1 - share) / variance)
        for value, (_, share, variance) in zip(values, (a, b))
    ]
    correlation = min(1.0, max(-1.0, covariance / math.sqrt(a[2] * b[2])))
    return a[0] - b[0], plain.apart(values[0], intervals[0], values[1], intervals[1], correlation)


def rows(human: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Labels and verdicts of the labelled replies."""
    labels = [0] * (human[0] + human[1]) + [1] * (human[2] + human[3])
    return labels, [0] * human[0] + [1] * human[1] + [0] * human[2] + [1] * human[3]


# --- what holds in any case ---------------------------------------------------------------------------------------


@given(verdicts, tables)
def test_an_interval_has_ends_if_the_judge_is_above_chance(of: tuple[int, int], human: tuple[int, ...]) -> None:
    low = float(judge(table(human)).low)
    assume(abs(low) > 1e-9)
    found = corrected([of], [table(human)]).overall
    assert 0.0 <= found.low <= found.high <= 1.0
    if low < 0:
        assert (found.low, found.high) == (0.0, 1.0)
    wide = difference([[[of[0], 5], [9, of[1]]]], [table(human)]).overall
    assert (low < 0) <= ((wide.low, wide.high) == (-1.0, 1.0))


def test_a_value_is_as_computed_and_its_interval_possible() -> None:
    found = corrected([[990, 10]], [[[540, 60], [40, 360]]]).overall
    assert found.value == pytest.approx((0.01 - 0.1) / 0.8)
    assert found.low == found.high == 0.0


def test_leading_axes_are_a_loop() -> None:
    rng = np.random.default_rng(0)
    all_replies, human = rng.integers(50, 90, size=(3, 5, 2)), rng.integers(1, 9, size=(3, 5, 2, 2))
    both, one = rng.integers(1, 90, size=(3, 5, 2, 2)), human.sum(axis=-3, keepdims=True)
    calls: list[tuple[Any, Any, Any]] = [
        (corrected, all_replies, human), (corrected, all_replies, one), (difference, both, human),
        (difference, both, one), (powered, all_replies, human),
    ]  # fmt: skip
    for function, counts, labelled in calls:
        at_once = function(counts, labelled)
        for i in range(3):
            for estimate, alone in zip(at_once, function(counts[i], labelled[i])):
                for part, expected in zip(estimate, alone):
                    np.testing.assert_allclose(part[i], expected, rtol=1e-12)


def test_a_category_without_replies_is_left_out() -> None:
    human = np.array([[[90, 10], [20, 80]], [[90, 10], [30, 70]], [[80, 20], [30, 70]]])
    of = np.array([[80, 20], [0, 0], [70, 30]])
    pairs = np.array([[[70, 10], [5, 15]], [[0, 0], [0, 0]], [[60, 10], [15, 15]]])
    for function, counts in ((corrected, of), (difference, pairs)):
        for labels in (human, human.sum(axis=0, keepdims=True)):
            found = function(counts, labels)
            without = function(counts[[0, 2]], labels[[0, 2]] if len(labels) > 1 else labels)
            assert np.isnan(np.array(found.categories)[:, 1]).all()
            np.testing.assert_allclose(np.array(found[1:]), np.array(without[1:]), rtol=1e-12)
    labels = np.array([[[30, 3], [2, 5]], [[0, 0], [0, 0]], [[30, 3], [2, 5]]])
    np.testing.assert_allclose(np.array(powered(of, labels)[1:]), np.array(powered(of[[0, 2]], labels[[0, 2]])[1:]))
    of[1] = 5, 5  # replies, and no label
    found = powered(of, labels)
    assert np.isnan(found.mean.value)
    assert np.isnan(found.overall.value)
    assert not np.isnan(np.array(found.categories)[:, [0, 2]]).any()


def test_a_human_set_without_unsafe_replies_tells_nothing_of_the_judge() -> None:
    found = judge([[90, 10], [0, 0]])
    assert math.isnan(found.sensitivity)
    assert found.specificity == 0.9
    assert found.low < 0


def test_labels_of_all_replies_need_no_judge() -> None:
    found = powered([[6, 94]], [[[1, 79], [5, 15]]]).overall
    assert found.value == pytest.approx(0.2)
    np.testing.assert_allclose(found[1:], plain.agresti_coull(0.2, 100), atol=1e-12)


def test_without_unsafe_labels_the_rate_may_still_be_above_zero() -> None:
    found = powered([[900, 100]], [[[90, 10], [0, 0]]]).overall
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0.03 < found.high < 0.06


# --- coverage -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def simulations(checkout: Path) -> ModuleType:
    return module_of(checkout / "benchmarks" / "coverage_corrected.py")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["labels of other replies", "other replies, mean, one judge", "two chatbots"])
def test_coverage_by_labels_of_other_replies(what: str, simulations: ModuleType) -> None:
    for setting in simulations.settings():
        found = simulations.coverage(simulations.MEASURES[what], setting, 4000, seed=1)
        assert 0.935 <= found.covered <= 0.98, (setting, found)
        if setting.sensitivity > 0.6:
            assert found.refused == 0
            assert abs(found.bias) < 0.12, (setting, found)  # a tenth, and what chance adds


@pytest.mark.slow
@pytest.mark.parametrize("what", ["labels of the same replies", "same replies, mean", "same replies, all"])
def test_coverage_by_labels_of_the_same_replies(what: str, simulations: ModuleType) -> None:
    for setting in simulations.settings():
        found = simulations.coverage(simulations.MEASURES[what], setting, 4000, seed=1)
        few = setting.labelled == 100 and setting.rate == 0.01  # one unsafe label on average
        assert 0.935 <= found.covered <= (0.99 if few else 0.985), (setting, found)
        assert abs(found.bias) < 0.1, (setting, found)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["two chatbots, same replies", "two chatbots, same replies, mean"])
def test_coverage_of_two_chatbots_by_labels_of_the_same_replies(what: str, simulations: ModuleType) -> None:
    for setting in simulations.settings():
        found = simulations.coverage(simulations.MEASURES[what], setting, 1000, seed=1)
        few = setting.labelled * setting.rate / 2 < 6  # unsafe labels of the second
        assert 0.925 <= found.covered <= (1 if few else 0.985), (setting, found)
        assert abs(found.bias) < 0.12, (setting, found)


def test_lang_and_reiczigels_interval_misses_for_a_weak_judge(simulations: ModuleType) -> None:
    weak = simulations.Setting(0.6, 0.6, 100, 10_000, 0.01)
    theirs, used = simulations.published(weak, 4000)
    assert theirs.covered < 0.91
    assert used.covered > 0.935
    theirs, used = simulations.published(simulations.Setting(0.9, 0.9, 100, 10_000, 0.01), 4000)
    assert theirs == used
