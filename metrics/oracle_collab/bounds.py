"""How far scores on a grid can be from the exact ones."""

import math
from collections.abc import Mapping

import numpy as np

from toxeval.core.grid import Cells, average_precision_bounds, cells_of, furthest, roc_auc_error
from toxeval.core.scoring import Scores, ratio
from toxeval.core.state import State

from .curves import Team
from .reviewers import Reviewers
from .rows import uncertainty


def put_errors(
    scores: Scores, state: State, teams: Mapping[str, Team], strategy: str, threshold: float, reviewers: Reviewers
) -> None:
    """``<key>_error``: how far scores on a grid can be from the exact ones. Which predictions are wrong is known, since
    the threshold is one of its points. What moderators who err do to right ones has no bound here."""
    p = state.rows["probabilities"]
    cells = cells_of(state.rows["references"], p, state.multiplicity, state.resolution)
    wrong = np.where(cells.values > threshold, cells.negatives, cells.positives)
    right = cells.negatives + cells.positives - wrong
    labels, unsure = np.repeat((0, 1), len(wrong)), np.tile(uncertainty(cells.values, False), 2)
    by_uncertainty = cells_of(labels, unsure, np.append(right, wrong), state.resolution)
    for kind, ranked in (("", cells), ("calibration_", by_uncertainty)):
        scores.note(f"{kind}auroc_error", roc_auc_error(ranked))
        bounds = average_precision_bounds(ranked)
        scores.note(f"{kind}auprc_error", furthest(scores.values[f"{kind}auprc"], bounds))
    by_score = cells._replace(negatives=right, positives=wrong)
    review = by_uncertainty if strategy == "uncertainty" else by_score
    for at, team in teams.items():
        bounds = _wrong_reviewed_bounds(review, team.k)
        shares = team._replace(wrong_reviewed=bounds, net=bounds).shares()
        for key in ("oc_accuracy", "review_efficiency", "review_effectiveness")[0 if reviewers.perfect else 1 :]:
            error = furthest(scores.values[f"{key}{at}"], ratio(*shares[key], math.nan))
            scores.note(f"{key}{at}_error", error)


def _wrong_reviewed_bounds(review: Cells, k: int) -> np.ndarray:
    """The least and the greatest w(S) of k reviews, from right (negatives) and wrong (positives) predictions in
    ascending order of review.

    Of the rows in an interval, any that fit into k may be the reviewed ones. In a point they are tied.
    """
    right, wrong = review.negatives, review.positives
    size = right + wrong
    fit = np.clip(k - (size[::-1].cumsum()[::-1] - size), 0, size)
    least = np.where(review.within, np.maximum(0, fit - right), wrong * fit / size)
    greatest = np.where(review.within, np.minimum(wrong, fit), wrong * fit / size)
    return np.array([least.sum(), greatest.sum()])
