"""A decision from logits is the same wherever it is made: in both metrics and in comparisons."""

import warnings

import numpy as np
import pytest

import toxeval
from toxeval.systems import compare


@pytest.mark.parametrize("logit", [1e-17, -1e-17, 1e-12, 40.0, -800.0, 800.0])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 1.0])
def test_logits_decide_as_their_probabilities(logit: float, threshold: float) -> None:
    logits, references = [logit, 2.0, -2.0], [1, 1, 0]
    with np.errstate(over="ignore"):
        probabilities = (1 / (1 + np.exp(-np.array(logits)))).tolist()
    threat = toxeval.load("threat_f1", threshold=threshold)
    oracle = toxeval.load("oracle_collab", threshold=threshold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_probability = threat.compute(prediction_scores=probabilities, references=references)["accuracy"]
        by_logit = threat.compute(prediction_scores=logits, references=references, from_logits=True)["accuracy"]
        by_team = oracle.compute(predictions=logits, references=references, from_logits=True)["accuracy"]
    expected = sum((p > threshold) == y for p, y in zip(probabilities, references)) / 3
    assert by_probability == by_logit == by_team == pytest.approx(expected)


def test_a_comparison_counts_the_decisions_that_are_scored() -> None:
    metric = toxeval.load("threat_f1", from_logits=True)
    near = {"prediction_scores": [1e-17, 2.0, -2.0]}, {"prediction_scores": [-1e-17, 2.0, -2.0]}
    result = compare(metric, *near, references=[1, 1, 0], keys=["accuracy"])["accuracy"]
    assert result.difference == 0.0
    assert result.n_discordant == 0
