"""95 % intervals contain the truth in 93 to 97.5 % of simulated data sets; `benchmarks/coverage.py` has more of them.

The numbers of simulations are such that chance moves a share by about half a percent; seeds are fixed.
"""

from pathlib import Path
from types import ModuleType

import pytest
from files import module_of

import toxeval

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def simulations(checkout: Path) -> ModuleType:
    return module_of(checkout / "benchmarks" / "coverage.py")


def test_labels_with_five_percent_positives(simulations: ModuleType) -> None:
    data = simulations.labels(300, simulations.RARE)
    rows = simulations.coverage(toxeval.load("sold_macro_f1"), *data, 2000, seed=1, n_resamples=500)
    for key in ("f1_OFF", "f1_NOT", "f1_macro", "f1_weighted", "accuracy"):
        assert 0.93 <= rows[key].covered <= 0.975, (key, rows[key])


def test_joint_accuracy(simulations: ModuleType) -> None:
    data = simulations.utterances(30, 10, 0.8, 0.0, False)
    rows = simulations.coverage(toxeval.load("conda_joint"), *data, 2000, seed=1)
    for key in ("jsa", "uca", "u_f1_E"):
        assert 0.93 <= rows[key].covered <= 0.975, (key, rows[key])


def test_roc_auc_with_thirty_positives(simulations: ModuleType) -> None:
    for shift in (1.0, 1.8):
        data = simulations.scores(300, 30, shift)
        rows = simulations.coverage(toxeval.load("threat_f1"), *data, 800, seed=1, n_resamples=400)
        assert 0.93 <= rows["roc_auc"].covered <= 0.975, rows
        assert 0.93 <= rows["average_precision"].covered <= 0.975, rows


def test_utterances_of_one_conversation_are_not_independent(simulations: ModuleType) -> None:
    metric = toxeval.load("conda_joint")
    alone = simulations.coverage(metric, *simulations.utterances(100, 10, 0.8, 0.2, False), 400, seed=1)
    together = simulations.coverage(
        metric, *simulations.utterances(100, 10, 0.8, 0.2, True), 400, seed=1, n_resamples=500
    )
    assert alone["jsa"].covered < 0.85
    assert alone["t_f1"].covered < 0.65
    for key in ("jsa", "uca", "t_f1"):
        assert 0.93 <= together[key].covered <= 0.975, (key, together[key])
