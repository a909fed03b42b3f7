"""``<key>_error``: how far a score of probabilities on a grid can be from the exact one (`bounds`)."""

from collections.abc import Callable, Mapping

import numpy as np

from .bounds import (
    Groups,
    brier_error,
    calibration_bounds,
    capacity_bounds,
    ece_error,
    risk_coverage_bounds,
    team_bounds,
)
from .grid import average_precision_bounds, furthest, roc_auc_error
from .rows import Rows
from .scoring import Scores, ratio


def put_errors(
    scores: Scores,
    groups: Groups,
    rows: Rows,
    capacities: Mapping[str, int],
    n_bins: int,
    aims: Mapping[str, float],
    detailed: bool,
    put_class_scores: Callable[..., None],
) -> None:
    """The errors of all scores a grid affects.

    Args:
        scores: gets them; has the scores.
        groups, rows: what the scores were computed from.
        capacities: ending of the keys (``_at_0.05``) -> k.
        n_bins: of the calibration error.
        aims: quantity -> target.
        detailed: whether the detailed scores are there.
        put_class_scores: (scores, ending of the keys, tp, fp, fn) -> precision, recall and F1.
    """
    for at, k in capacities.items():
        _put_team_errors(scores, groups, rows, k, at, put_class_scores if detailed else None)
    _put_model_errors(scores, groups, n_bins, detailed)
    _put_target_errors(scores, groups, rows, aims)


def _put_team_errors(
    scores: Scores, groups: Groups, rows: Rows, k: int, at: str, put_class_scores: Callable[..., None] | None
) -> None:
    """``<key>_error`` of the team's scores at one fraction."""
    team = team_bounds(groups, k, interpolated=put_class_scores is not None)
    n, n_wrong = rows.everyone.n_rows, rows.wrong.n_rows
    caught = np.array(team.wrong_reviewed)
    possible = {
        "oc_accuracy": (n - n_wrong + caught) / n,
        "review_efficiency": ratio(caught, np.array(k), float("nan")),
        "review_effectiveness": ratio(caught, np.array(n_wrong), float("nan")),
        "oc_auroc": team.oc_auroc,
        "oc_auprc": team.oc_auprc,
    }
    if put_class_scores:  # precision, recall and F1 rise with tp and fall with fp; the corners have their extremes
        _, fp, fn, tp = (queue.n_rows for queue in rows.queues)
        found, mistaken = np.repeat(team.caught_fn, 2), np.tile(team.caught_fp, 2)
        corners = Scores(scores.zero_division)
        put_class_scores(corners, "", tp + found, fp - mistaken, fn - found)
        possible |= {"tied_at_cutoff": team.tied_at_cutoff, **corners.values}
        possible["oc_auprc_interpolated"] = team.oc_auprc_interpolated
    for key, bounds in possible.items():
        scores.note(f"{key}{at}_error", furthest(scores.values[f"{key}{at}"], bounds))


def _put_model_errors(scores: Scores, groups: Groups, n_bins: int, detailed: bool) -> None:
    """``<key>_error`` of the model alone. Its predictions are known, as the threshold is a point of the grid."""
    values, (calibration_auroc, calibration_auprc) = scores.values, calibration_bounds(groups)
    errors = {
        "auroc": roc_auc_error(groups.cells),
        "auprc": furthest(values["auprc"], average_precision_bounds(groups.cells)),
        "brier": brier_error(groups),
        "ece": ece_error(groups, n_bins, values["ece"]),
        "calibration_auroc": calibration_auroc,
        "calibration_auprc": furthest(values["calibration_auprc"], calibration_auprc),
    }
    if detailed:
        aurc, errors["augrc"] = risk_coverage_bounds(groups)
        errors["aurc"] = furthest(values["aurc"], aurc)
    for key, error in errors.items():
        scores.note(f"{key}_error", error)


def _put_target_errors(scores: Scores, groups: Groups, rows: Rows, aims: Mapping[str, float]) -> None:
    """``<key>_error`` of the smallest capacities."""
    n, n_wrong = rows.everyone.n_rows, [rows.queues[i].n_rows for i in (1, 2)]
    for quantity, aim in aims.items():
        k = scores.values[f"n_reviews_for_{quantity}"]
        error = np.nan if np.isnan(k) else furthest(k, capacity_bounds(groups, quantity, aim, n_wrong))
        scores.note(f"review_fraction_for_{quantity}_error", error / n)
        scores.note(f"n_reviews_for_{quantity}_error", error)
