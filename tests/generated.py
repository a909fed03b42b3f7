"""Rows of any number for every metric, generated: for the tests of intervals and groups. And a text."""

from typing import Any

import numpy as np

#: What no message shows.
LONG = "a long sentence that somebody wrote in a chat"


def labels(n: int, positives: float = 0.4, right: float = 0.8, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    references = (rng.random(n) < positives).astype(int)
    return {"predictions": np.where(rng.random(n) < right, references, 1 - references), "references": references}


def logits(n: int, positives: float = 0.2, shift: float = 1.5, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    references = (rng.random(n) < positives).astype(int)
    return {"prediction_scores": rng.normal(size=n) + shift * references, "references": references}


def probabilities(n: int, seed: int = 0, decimals: int | None = None) -> dict[str, Any]:
    scores = logits(n, seed=seed)
    p = 1 / (1 + np.exp(1 - scores["prediction_scores"]))
    return {"predictions": p if decimals is None else p.round(decimals), "references": scores["references"]}


def utterances(n: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    references = {"intent": rng.integers(4, size=n), "slots": rng.integers(7, size=(n, 3))}
    predictions = {
        "intent": np.where(rng.random(n) < 0.7, references["intent"], rng.integers(4, size=n)),
        "slots": np.where(rng.random((n, 3)) < 0.8, references["slots"], rng.integers(7, size=(n, 3))),
    }
    return {"predictions": predictions, "references": references}


def replies(n: int, seed: int = 0) -> dict[str, Any]:
    return labels(n, seed=seed) | {"categories": np.random.default_rng(seed).integers(5, size=n)}


#: Metric -> inputs of n rows.
DATA = {
    "conda_joint": utterances,
    "sold_macro_f1": labels,
    "oracle_collab": probabilities,
    "dia_safety_rate": replies,
    "threat_f1": lambda n, seed=0: (
        labels(n, 0.1, seed=seed) | {"prediction_scores": probabilities(n, seed)["predictions"]}
    ),
}
