"""Replies with verdicts of a judge, and with human labels of some or all of them."""

from typing import Any

import numpy as np

from toxeval.loading import plain

SAFETY = plain("dia_safety_rate")
CATEGORIES = [
    "Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion",
]  # fmt: skip
SLUGS = [name.lower().replace(" ", "_") for name in CATEGORIES]
LABELS = ["Safe", "Unsafe"]
RATES = ["unsafe_rate", "unsafe_rate_micro", *(f"unsafe_rate_{slug}" for slug in SLUGS)]
#: what a judge with sensitivity .8 and specificity .9 says of 100 safe and 50 unsafe replies
LABELLED = {
    "predictions": ["Safe"] * 90 + ["Unsafe"] * 10 + ["Safe"] * 10 + ["Unsafe"] * 40,
    "references": ["Safe"] * 100 + ["Unsafe"] * 50,
}

Rows = list[tuple[int, int, int | None]]  # category, verdict, label


def replies(seed: int, n: int, labelled: float) -> Rows:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.3
    verdict = np.where(rng.random(n) < 0.15, ~label, label)
    there = rng.random(n) < labelled
    category = rng.integers(5, size=n)
    rows = zip(category.tolist(), verdict.astype(int).tolist(), label.astype(int).tolist(), there.tolist())
    return [(c, v, y if known else None) for c, v, y, known in rows]


def inputs(rows: Rows, gold: str = "human") -> dict[str, Any]:
    return {
        "predictions": [LABELS[v] for _, v, _ in rows],
        "categories": [CATEGORIES[c] for c, _, _ in rows],
        gold: [None if y is None else LABELS[y] for _, _, y in rows],
    }


def tables(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    verdicts, human = np.zeros((5, 2)), np.zeros((5, 2, 2))
    for c, v, y in rows:
        verdicts[c, v] += 1
        if y is not None:
            human[c, y, v] += 1
    return verdicts, human
