"""Thresholds chosen on validation rows: what a plain search over all of them finds, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toxeval
from toxeval.core.refusals import Refusal

pytestmark = pytest.mark.filterwarnings("ignore:.*undefined")
Found = dict[str, float]
ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1), st.integers(0, 1)), min_size=1
).filter(lambda rows: any(y for _, y in rows))


def decided(scores: list[float], labels: list[int], threshold: float) -> Found:
    """Recall, precision and F1 of threats, nan where there are none."""
    pairs = [(score > threshold, label == 1) for score, label in zip(scores, labels)]
    tp, positive, wanted = (sum(map(f, pairs)) for f in (all, lambda pair: pair[0], lambda pair: pair[1]))
    return {
        "recall_threat": tp / wanted,
        "precision_threat": tp / positive if positive else math.nan,
        "f1_threat": 2 * tp / (positive + wanted),
    }


def chosen(scores: list[float], labels: list[int], rule: dict[str, Any]) -> float:
    """The best threshold of all that decide differently; the highest of several."""
    ((kind, value),) = rule.items()
    best, at = -1.0, math.nan
    for threshold in sorted({0.0, *scores}):
        found = decided(scores, labels, threshold)
        if kind == "maximise":
            wanted = found[value]
        else:
            bounded = kind.removesuffix("_at_least")
            other = "precision" if bounded == "recall" else "recall"
            if not found[f"{bounded}_threat"] >= value:
                continue
            wanted = found[f"{other}_threat"]
        if wanted >= best:
            best, at = wanted, threshold
    return at


RULES = st.sampled_from(
    [
        {"maximise": "f1_threat"},
        {"maximise": "precision_threat"},
        {"maximise": "recall_threat"},
        *[{f"{name}_at_least": value} for name in ("recall", "precision") for value in (0.05, 0.5, 2 / 3, 1.0)],
    ]
)


@given(ROWS, RULES)
def test_a_plain_search_finds_the_same(rows: list[tuple[float, int]], rule: dict[str, Any]) -> None:
    scores, labels = map(list, zip(*rows))
    metric, expected = toxeval.load("threat_f1"), chosen(scores, labels, rule)
    if math.isnan(expected):  # no threshold has so much, or precision is nowhere defined
        with pytest.raises(Refusal, match="at_least: .*; allowed: at most"):
            metric.choose_threshold(prediction_scores=scores, references=labels, **rule)
        return
    assert metric.choose_threshold(prediction_scores=scores, references=labels, **rule) == expected


@given(ROWS, ROWS)
def test_no_threshold_beats_the_one_that_is_chosen_with_the_same_labels(
    rows: list[tuple[float, int]], others: list[tuple[float, int]]
) -> None:
    """The best F1 of the rows that are scored is attained by the threshold that maximises it there, and is at least
    the F1 at a threshold from anywhere else: it is a bound, whose threshold knew the labels."""
    scores, labels = map(list, zip(*rows))
    metric = toxeval.load("threat_f1")
    found = metric.compute(prediction_scores=scores, references=labels, detailed=True) or {}
    assert decided(scores, labels, found["best_threshold"])["f1_threat"] == pytest.approx(found["best_f1_threat"])
    own = metric.choose_threshold(prediction_scores=scores, references=labels)
    assert decided(scores, labels, own)["f1_threat"] == pytest.approx(found["best_f1_threat"])
    elsewhere = metric.choose_threshold(prediction_scores=[s for s, _ in others], references=[y for _, y in others])
    assert decided(scores, labels, elsewhere)["f1_threat"] <= found["best_f1_threat"] + 1e-12


def f1_of_a_seed_set(rng: np.random.Generator) -> tuple[float, float]:
    """Of one model on as many rows as a seed set has: its best F1, and that at a threshold from another such set."""

    def rows() -> tuple[np.ndarray, np.ndarray]:
        labels = (np.arange(7980) < 25).astype(int)
        return 1 / (1 + np.exp(4.0 - rng.normal(2.0 * labels))), labels

    metric = toxeval.load("threat_f1")
    scores, labels = rows()
    validation = rows()
    threshold = metric.choose_threshold(prediction_scores=validation[0], references=validation[1])
    at = metric.compute(prediction_scores=scores, references=labels, threshold=threshold, detailed=True) or {}
    return at["best_f1_threat"], at["f1_threat"]


def test_the_best_f1_of_few_threats_is_far_above_what_a_threshold_from_elsewhere_gives(checkout: Path) -> None:
    rng = np.random.default_rng(0)
    best, honest = np.mean([f1_of_a_seed_set(rng) for _ in range(100)], axis=0)
    assert (best - honest) / honest > 0.25
    card = (checkout / "metrics" / "threat_f1" / "README.md").read_text(encoding="utf-8")
    said = f"it is {best:.2f} on average, where a threshold chosen on another such set gives {honest:.2f}"
    assert said.replace("0.", ".") in " ".join(card.split())


@pytest.mark.parametrize("kind", [list, np.array])
def test_logits_are_chosen_by_their_probabilities(kind: Any) -> None:
    metric = toxeval.load("threat_f1", from_logits=True)
    assert metric.choose_threshold(prediction_scores=kind([-2.0, 0.0, 2.0]), references=[0, 0, 1]) == 0.5


def test_batches_have_no_influence() -> None:
    metric = toxeval.load("threat_f1")
    scores, labels = [0.9, 0.4, 0.3, 0.2], [1, 0, 1, 0]
    parts = [metric.state(prediction_scores=scores[i::2], references=labels[i::2]) for i in range(2)]
    rule = metric.threshold_rule(precision_at_least=1)
    whole = metric.choose_threshold(prediction_scores=scores, references=labels, precision_at_least=1)
    assert metric.threshold_of_state(parts[1] + parts[0], rule) == whole == 0.4


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"maximise": "f1"}, "option maximise: 'f1'; allowed: precision_threat, recall_threat, f1_threat"),
        ({"maximise": "prevalence"}, "option maximise: 'prevalence'"),
        ({"recall_at_least": 0}, "option recall_at_least: 0; allowed: a number above 0, up to 1"),
        ({"recall_at_least": 1.5}, "option recall_at_least: 1.5"),
        ({"precision_at_least": "much"}, "option precision_at_least: 'much'"),
        ({"precision_at_least": 0.9}, "option precision_at_least: 0.9; allowed: at most 0.5, which some threshold"),
        ({"recall_at_least": 0.5, "precision_at_least": 0.5}, "threshold: recall_at_least and precision_at_least"),
    ],
)
def test_rules_that_are_refused(rule: dict[str, Any], message: str) -> None:
    metric = toxeval.load("threat_f1")
    with pytest.raises(Refusal, match=message):
        metric.choose_threshold(prediction_scores=[0.5, 0.5], references=[0, 1], **rule)


def test_rows_that_are_refused() -> None:
    metric = toxeval.load("threat_f1")
    with pytest.raises(Refusal, match="references: no positive row; allowed: rows of both classes"):
        metric.choose_threshold(prediction_scores=[0.5], references=[0])
    with pytest.raises(Refusal, match="prediction_scores: missing; allowed: a threshold is chosen for scores"):
        metric.choose_threshold(predictions=[1], references=[1])
    with pytest.raises(Refusal, match="sold_macro_f1: threshold: no threshold that could be chosen"):
        toxeval.load("sold_macro_f1").choose_threshold(predictions=[1], references=[1])
