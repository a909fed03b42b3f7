"""How often 95 % intervals contain the truth: simulated data whose true scores are known, scored as a user would.

Prints a table: the share of intervals that contain the true score, the shares that lie above and below it, and the mean
width. ``python benchmarks/coverage.py [simulations]``
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

import toxeval


class Coverage(NamedTuple):
    """Shares of the simulations."""

    covered: float
    too_high: float  # the interval lies above the truth
    too_low: float
    width: float
    n: int


Truth = dict[str, float]
Sample = Callable[[np.random.Generator], dict[str, Any]]


def coverage(metric: Any, truth: Truth, sample: Sample, n: int, *, seed: int, **options: Any) -> dict[str, Coverage]:
    """Simulate ``n`` data sets and compare each interval with the truth."""
    rng = np.random.default_rng(seed)
    high, low, width = ({key: 0.0 for key in truth} for _ in range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a sample without a class is part of the game
        for i in range(n):
            scores = metric.compute(**sample(rng), confidence_level=0.95, seed=i, **options)
            for key, value in truth.items():
                high[key] += scores[f"{key}_low"] > value + 1e-12
                low[key] += scores[f"{key}_high"] < value - 1e-12
                width[key] += scores[f"{key}_high"] - scores[f"{key}_low"]
    return {
        key: Coverage(1 - (high[key] + low[key]) / n, high[key] / n, low[key] / n, width[key] / n, n) for key in truth
    }


# --- data whose true scores are known -----------------------------------------------------------------------------


def labels(n: int, cells: tuple[float, float, float, float]) -> tuple[Truth, Sample]:
    """n posts, each with probability tn, fp, fn, tp in that cell of the confusion matrix."""
    tn, fp, fn, tp = cells
    f1 = {"f1_OFF": 2 * tp / (2 * tp + fp + fn), "f1_NOT": 2 * tn / (2 * tn + fp + fn)}
    truth = f1 | {
        "f1_macro": sum(f1.values()) / 2,
        "f1_weighted": f1["f1_OFF"] * (fn + tp) + f1["f1_NOT"] * (tn + fp),
        "accuracy": tn + tp,
        "recall_OFF": tp / (tp + fn),
        "precision_OFF": tp / (tp + fp),
    }

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        cell = np.repeat(np.arange(4), rng.multinomial(n, cells))
        return {"predictions": cell % 2, "references": cell // 2}

    return truth, sample


def replies(n: int, rates: tuple[float, ...]) -> tuple[Truth, Sample]:
    """n replies, a fifth of them in each category, unsafe with the category's rate."""

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        categories = rng.integers(5, size=n)
        return {"predictions": (rng.random(n) < np.array(rates)[categories]).astype(np.int8), "categories": categories}

    return {"unsafe_rate": float(np.mean(rates)), "unsafe_rate_micro": float(np.mean(rates))}, sample


def scores(n: int, n_positives: int, shift: float, spread: float = 1.0) -> tuple[Truth, Sample]:
    """Normal scores of ``n_positives`` threats among n comments, ``shift`` above the others'."""
    normal = NormalDist()
    grid = np.linspace(-9, 9 + shift, 200_001)
    cdf = np.vectorize(normal.cdf)
    tpr, fpr = 1 - cdf((grid - shift) / spread), 1 - cdf(grid)
    share = n_positives / n
    found = share * tpr + (1 - share) * fpr
    precision = np.divide(share * tpr, found, out=np.ones_like(grid), where=found > 0)
    steps = -np.diff(tpr)
    truth = {
        "roc_auc": normal.cdf(shift / np.sqrt(1 + spread**2)),
        "average_precision": float((steps * (precision[1:] + precision[:-1]) / 2).sum()),
    }
    references = np.arange(n) < n_positives

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        logits = np.where(references, shift + spread * rng.normal(size=n), rng.normal(size=n))
        return {"prediction_scores": logits, "from_logits": True, "references": references.astype(np.int8)}

    return truth, sample


def utterances(
    n_conversations: int, length: int, accuracy: float, correlation: float, with_clusters: bool
) -> tuple[Truth, Sample]:
    """Conversations of ``length`` utterances of 3 tokens, right or wrong as a whole; in each conversation with a
    probability of its own (a beta distribution), so that two utterances of one correlate."""
    n = n_conversations * length
    conversations = np.repeat(np.arange(n_conversations), length)
    a, b = (part * (1 / correlation - 1) for part in (accuracy, 1 - accuracy)) if correlation else (0.0, 0.0)

    def sample(rng: np.random.Generator) -> dict[str, Any]:
        share = rng.beta(a, b, size=n_conversations) if correlation else np.full(n_conversations, accuracy)
        right = rng.random(n) < share[conversations]
        intents, slots = rng.integers(4, size=n), rng.integers(5, size=(n, 3))
        predictions = {
            "intent": np.where(right, intents, (intents + 1) % 4),
            "slots": np.where(right[:, None], slots, (slots + 1) % 5),
        }
        given = {"predictions": predictions, "references": {"intent": intents, "slots": slots}}
        return given | ({"cluster": conversations} if with_clusters else {})

    return {"jsa": accuracy, "uca": accuracy, "u_f1_E": accuracy, "t_f1": accuracy}, sample


RARE = (0.94, 0.01, 0.015, 0.035)  # 5 % positives


def settings() -> Iterator[tuple[str, str, tuple[Truth, Sample]]]:
    """Name, metric, and data of every simulation."""
    yield "300 posts, 5 % OFF", "sold_macro_f1", labels(300, RARE)
    yield "300 posts, 5 % OFF, worse", "sold_macro_f1", labels(300, (0.92, 0.03, 0.02, 0.03))
    yield "300 posts, 5 % OFF, better", "sold_macro_f1", labels(300, (0.945, 0.005, 0.005, 0.045))
    yield "2500 posts, 40 % OFF", "sold_macro_f1", labels(2500, (0.45, 0.15, 0.2, 0.2))
    yield "50 posts, 40 % OFF", "sold_macro_f1", labels(50, (0.5, 0.1, 0.15, 0.25))
    yield "1000 posts, 0.3 % OFF", "sold_macro_f1", labels(1000, (0.994, 0.003, 0.0012, 0.0018))
    yield "300 replies", "dia_safety_rate", replies(300, (0.05, 0.1, 0.2, 0.02, 0.3))
    yield "30 threats in 300, AUC .76", "threat_f1", scores(300, 30, 1.0)
    yield "30 threats in 300, AUC .90", "threat_f1", scores(300, 30, 1.8)
    yield "30 threats in 300, AUC .98", "threat_f1", scores(300, 30, 3.0)
    yield "30 threats in 3000, AUC .90", "threat_f1", scores(3000, 30, 1.8)
    yield "30 threats in 300, threats spread", "threat_f1", scores(300, 30, 1.8, 2.0)
    yield "10 threats in 3000, AUC .96", "threat_f1", scores(3000, 10, 2.5)
    yield "1000 utterances", "conda_joint", utterances(100, 10, 0.8, 0.0, False)
    yield "100 conversations of 10, correlated", "conda_joint", utterances(100, 10, 0.8, 0.2, False)
    yield "the same with cluster", "conda_joint", utterances(100, 10, 0.8, 0.2, True)


def main(n: int = 1000) -> None:
    print(f"{'data':36} {'score':18} {'covered':>8} {'above':>7} {'below':>7} {'width':>7}   ({n} simulations)")
    for name, metric, (truth, sample) in settings():
        for key, row in coverage(toxeval.load(metric), truth, sample, n, seed=20260).items():
            print(f"{name:36} {key:18} {row.covered:8.3f} {row.too_high:7.3f} {row.too_low:7.3f} {row.width:7.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
