"""Differences between groups: p-values that agree with intervals, Holm's correction, the gap and its level."""

import math

import numpy as np
import pytest
from generated import labels, probabilities
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, studentized_range

from toxeval.core.differences import SMALLEST_P, difference_interval, gap_interval, holm, p_value, range_level
from toxeval.core.intervals import clopper_pearson, normal_quantile, wilson
from toxeval.loading import plain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


# --- p-values -----------------------------------------------------------------------------------------------------

counts = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts)
def test_p_is_where_the_interval_touches_zero(first: tuple[int, int], second: tuple[int, int]) -> None:
    values = [x / n for x, n in (first, second)]
    bounds = [lambda level, x=x, n=n: tuple(map(float, wilson(x, n, level))) for x, n in (first, second)]
    p = p_value(values[0], bounds[0], values[1], bounds[1])
    assert SMALLEST_P <= p <= 1.0
    assume(1e-12 < p < 1 - 1e-6)
    for factor, holds in ((1 + 1e-6, False), (1 - 1e-6, True)):
        level = 1 - p * factor
        low, high = difference_interval(values[0], bounds[0](level), values[1], bounds[1](level))
        assert (low <= 0 <= high) == holds


@given(counts, counts)
def test_p_is_the_same_from_either_side(first: tuple[int, int], second: tuple[int, int]) -> None:
    (x, n), (y, m) = first, second
    one, other = (lambda level: clopper_pearson(x, n, level)), (lambda level: clopper_pearson(y, m, level))
    assert p_value(x / n, one, y / m, other) == pytest.approx(p_value(y / m, other, x / n, one), rel=1e-6)


def test_p_of_no_difference_and_of_the_largest() -> None:
    def half(level: float) -> tuple[float, float]:
        return tuple(map(float, wilson(50, 100, level)))

    assert p_value(0.5, half, 0.5, half) == 1.0
    assert (
        p_value(1.0, lambda level: wilson(10**6, 10**6, level), 0.0, lambda level: wilson(0, 10**6, level))
        == SMALLEST_P
    )


def test_p_values_and_intervals_of_groups_agree() -> None:
    n = 300
    given_ = labels(n) | {"prediction_scores": probabilities(n)["predictions"]}
    groups = np.arange(n) ** 2 % 13 % 5
    metric = plain("threat_f1")
    for key in ("f1_macro", "roc_auc", "recall_threat", "average_precision"):
        first = metric.compute_by(groups, key=key, **given_, confidence_level=0.95)
        for name, difference in first.differences.items():
            assert (difference.p_value < 0.05) == (not difference.low <= 0 <= difference.high)
            if difference.p_value < 0.999:
                again = metric.compute_by(groups, key=key, **given_, confidence_level=1 - difference.p_value)
                bound = again.differences[name].low if difference.value > 0 else again.differences[name].high
                assert bound == pytest.approx(0.0, abs=1e-6)
                assert again.differences[name].p_value == pytest.approx(difference.p_value)


# --- Holm's correction --------------------------------------------------------------------------------------------


def plain_holm(p_values: list[float]) -> list[float]:
    """As statsmodels' ``multipletests(method="holm")`` defines it: in ascending order p_i (m - i), i from 0; each at
    least the one before; at most 1."""
    m = len(p_values)
    corrected = [0.0] * m
    before = 0.0
    for i, (p, place) in enumerate(sorted((p, place) for place, p in enumerate(p_values))):
        before = max(before, min(1.0, p * (m - i)))
        corrected[place] = before
    return corrected


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 1.0]), max_size=12))
def test_holm(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(plain_holm(p_values))


def test_holm_of_groups() -> None:
    found = plain("sold_macro_f1").compute_by(np.arange(400) % 5, **labels(400), confidence_level=0.9)
    wanted = plain_holm([each.p_value for each in found.differences.values()])
    assert [each.p_holm for each in found.differences.values()] == pytest.approx(wanted)


# --- the gap ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5, 20, 300])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_level_of_the_studentised_range(k: int, level: float) -> None:
    z = normal_quantile(range_level(k, level))
    assert z == pytest.approx(studentized_range.ppf(level, k, math.inf) / math.sqrt(2), rel=1e-6)


def test_levels_at_the_ends() -> None:
    assert range_level(1, 0.9) == 0.9
    assert range_level(2, 0.9) == pytest.approx(0.9)
    assert 0.0 < range_level(5, 1e-9) < range_level(10**6, 1 - 1e-12) < 1.0


@given(st.lists(counts, min_size=2, max_size=8), st.sampled_from([0.5, 0.95]))
def test_the_gap_lies_in_its_interval(groups: list[tuple[int, int]], level: float) -> None:
    x, n = (np.array(column) for column in zip(*groups))
    values = x / n
    joint = clopper_pearson(x, n, range_level(len(groups), level))
    low, high = gap_interval(values, wilson(x, n, level), joint)
    assert 0.0 <= low <= values.max() - values.min() <= high <= 1.0
    slow = max(
        difference_interval(values[i], (joint[0][i], joint[1][i]), values[j], (joint[0][j], joint[1][j]))[0]
        for i in range(len(groups))
        for j in range(len(groups))
    )
    assert low == pytest.approx(max(slow, 0.0))


def test_the_gap_of_two_groups_is_their_difference() -> None:
    """Its lower bound is that of the interval of the difference to the rest, where two groups are all there is."""
    found = plain("sold_macro_f1").compute_by(np.arange(2000) % 2, key="accuracy", **two_rates(), confidence_level=0.95)
    assert found.gap is not None
    assert found.gap.low == pytest.approx(found.differences[0].low)
    assert found.gap.value == pytest.approx(found.differences[0].value)


def two_rates() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    references = rng.random(2000) < 0.4
    right = rng.random(2000) < np.where(np.arange(2000) % 2, 0.7, 0.8)
    return {"predictions": np.where(right, references, ~references), "references": references}


@given(counts, st.sampled_from([0.5, 0.95, 0.999]))
def test_clopper_pearson_is_scipys(group: tuple[int, int], level: float) -> None:
    expected = binomtest(*group).proportion_ci(level, method="exact")
    assert clopper_pearson(*group, level) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert clopper_pearson(0, 0, level) == (0.0, 1.0)
