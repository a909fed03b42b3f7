"""ROC-AUC of groups of rows, and of groups against the others (Borkan et al. 2019, arXiv 1903.04561, section 3).

A model may rank well within a group and within the others, and still confuse the two: if it takes a group's name for
toxic, the group's negatives outrank the others' positives.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .ranking import Sorted, sort_classes
from .scoring import ratio

#: The exponent of the mean over groups: the worst ones count most.
POWER = -5


class SubgroupAUC(NamedTuple):
    """Areas of one group, each in [0, 1]; nan where one side of its pairs has no row.

    Attributes:
        subgroup_auc: of the rows of the group.
        bpsn_auc: background positive, subgroup negative: positives of the others among negatives of the group. Low
            where the model takes the group for positive.
        bnsp_auc: background negative, subgroup positive. Low where it takes the group for negative.
    """

    subgroup_auc: float
    bpsn_auc: float
    bnsp_auc: float


#: Why an area is nan.
UNDEFINED = {
    "subgroup_auc": "only one class in the group, set to nan",
    "bpsn_auc": "no negative in the group or no positive outside it, set to nan",
    "bnsp_auc": "no positive in the group or no negative outside it, set to nan",
}


class Ranked(NamedTuple):
    """Rows of a binary classifier: the scores of each class in order."""

    negatives: Sorted
    positives: Sorted


def ranked(labels: np.ndarray, scores: np.ndarray, multiplicity: np.ndarray | None) -> Ranked:
    """Rows in order; arguments as in `ranking.rank`."""
    return Ranked(*sort_classes(labels, scores, multiplicity))


def subgroup_auc(group: Ranked, everyone: Ranked) -> SubgroupAUC:
    """The areas of a group, exact, ties half.

    The pairs of a group with the others are its pairs with all rows without those within it, so the others need not be
    put together.

    Args:
        group: its rows.
        everyone: all rows, with those of the group.

    >>> labels, scores = np.array([0, 1, 0, 1]), np.array([0.6, 0.7, 0.1, 0.5])
    >>> subgroup_auc(ranked(labels[:2], scores[:2], None), ranked(labels, scores, None))
    SubgroupAUC(subgroup_auc=1.0, bpsn_auc=0.0, bnsp_auc=1.0)
    """
    within = inversions(group.negatives, group.positives)
    n, p = group.negatives.n_rows, group.positives.n_rows
    others_n, others_p = everyone.negatives.n_rows - n, everyone.positives.n_rows - p
    return SubgroupAUC(
        _area(within, n, p),
        _area(inversions(group.negatives, everyone.positives) - within, n, others_p),
        _area(inversions(everyone.negatives, group.positives) - within, others_n, p),
    )


def _area(inverted: int, n_negatives: int, n_positives: int) -> float:
    return 1.0 - float(ratio(inverted, 2.0 * n_negatives * n_positives, math.nan))


def inversions(negatives: Sorted, positives: Sorted) -> int:
    """Twice the number of (negative, positive) pairs in the wrong order, tied pairs counting once: by looking up the
    smaller class in the larger one."""
    if len(negatives.values) < len(positives.values):
        few, (below, upto) = negatives, positives.around(negatives.values)
        wrong = below + upto
    else:
        few, (below, upto) = positives, negatives.around(positives.values)
        wrong = 2 * negatives.n_rows - below - upto
    if negatives.n_rows * positives.n_rows >= 1 << 60:
        wrong = wrong.astype(object)  # Python's integers, for billions of rows
    return int(wrong.sum() if few.multiplicity is None else (wrong * few.multiplicity).sum())


def power_mean(values: Iterable[float]) -> float:
    """The generalised mean (1/m sum of v^p)^(1/p) with p = -5 of those that aren't nan; nan if there is none, 0 if one
    is 0.

    >>> round(power_mean([0.9, 0.9, 0.5, math.nan]), 4)
    0.6105
    """
    known = np.array([value for value in values if not math.isnan(value)])
    if not known.size or known.min() == 0.0:
        return 0.0 if known.size else math.nan
    return float(np.mean(known**POWER) ** (1 / POWER))
