"""What a metric declares of a rate that can be corrected for the judge whose verdicts its predictions are."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class JudgedRate:
    """The share of one label among the predictions.

    Attributes:
        label: which of the two that references have.
        overall: what the share among all rows is called in results.
        verdicts: (arrays of the metric's ``encode``, ``options`` by keyword) -> 1 where the prediction is that label
            and 0 where it isn't, an invalid one too: int8 of shape (n,).
        options: names of the metric's options on which the predicted labels depend.
        mean: what the mean over categories is called; the share in one of them has its name behind that. Empty if the
            metric has no categories.
        categories: their names in keys, in the order of the ids in the array ``categories``.
    """

    label: str
    overall: str
    verdicts: Callable[..., np.ndarray]
    options: tuple[str, ...] = ("invalid",)
    mean: str = ""
    categories: tuple[str, ...] = ()
