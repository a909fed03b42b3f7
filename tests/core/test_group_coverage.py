"""The gap's 95 % interval contains the true gap in at least 93 % of simulated data sets with few positives a group;
`benchmarks/coverage_groups.py` has more of them."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from files import module_of

from toxeval.core.differences import gap_interval, range_level
from toxeval.core.intervals import clopper_pearson, wilson

FEW = {"3": [3] * 20, "3 to 10": [3 + (3 * i) % 8 for i in range(20)], "10": [10] * 20, "3 and 300": [3, 300] * 10}


@pytest.mark.parametrize("k", [5, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 20))])
@pytest.mark.parametrize("positives", FEW)
def test_gaps_of_proportions(k: int, positives: str) -> None:
    n, rng = np.array(FEW[positives][:k]), np.random.default_rng(k)
    rates = {f"all {rate}": np.full(k, rate) for rate in (0.2, 0.5, 0.8, 0.95)}
    rates |= {"one low": np.array([0.4] + [0.8] * (k - 1)), "one high": np.array([0.9] + [0.1] * (k - 1))}
    rates |= {"spread": np.linspace(0.3, 0.9, k), "halves": np.array([0.3, 0.7] * 10)[:k]}
    for name, rate in rates.items():
        covered = 0
        for right in rng.binomial(n, rate, size=(1500, k)):
            joint = clopper_pearson(right, n, range_level(k, 0.95))
            low, high = gap_interval(right / n, wilson(right, n, 0.95), joint)
            covered += low - 1e-12 <= np.ptp(rate) <= high + 1e-12
        assert covered / 1500 >= 0.93, (name, covered / 1500)


@pytest.fixture(scope="module")
def simulations(checkout: Path) -> ModuleType:
    return module_of(checkout / "benchmarks" / "coverage_groups.py")


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5])
def test_gaps_and_differences_of_other_scores(k: int, simulations: ModuleType) -> None:
    for setting in (
        simulations.labels("alike", "f1_macro", simulations.few(k), [0.8] * k),
        simulations.labels("one low", "f1_OFF", simulations.few(k), [0.3] + [0.8] * (k - 1)),
        simulations.scores("alike", simulations.few(k), [1.8] * k),
        simulations.scores("one low", simulations.few(k), [0.5] + [1.8] * (k - 1)),
    ):
        found = simulations.coverage(setting, 250, seed=1, n_resamples=100)
        assert found.covered >= 0.93, (setting.name, setting.key, found)
        assert found.differences >= 0.93, (setting.name, setting.key, found)
        assert not found.false_alarms > 0.07, (setting.name, setting.key, found)
