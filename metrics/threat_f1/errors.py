"""``<key>_error``: how far a score of probabilities on a grid can be from the exact one (`grid`)."""

from collections.abc import Callable

import numpy as np

from .grid import Cells, average_precision_bounds, cells_of, furthest, roc_auc_error, to_grid
from .scoring import Scores, State

#: Where each count stands in the confusion matrix: rows references, columns predictions.
CELLS = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}


def put_errors(
    scores: Scores,
    state: State,
    threshold: float,
    detailed: bool,
    put_label_scores: Callable[[Scores, np.ndarray], None],
) -> None:
    """The errors of all scores a grid affects.

    Args:
        scores: gets them; has the scores.
        state, threshold, detailed: what the scores were computed from. Scores of predictions that were given are exact.
        put_label_scores: the scores of confusion matrices.
    """
    decided = "confusion" in state.counts
    cells = cells_of(state.rows["references"], state.rows["probabilities"], state.rows.get("counts"), state.resolution)
    values = scores.values
    errors = {"roc_auc": roc_auc_error(cells)}
    errors["average_precision"] = furthest(values["average_precision"], average_precision_bounds(cells))
    if not decided:
        # Rows in the threshold's cell may be on either side. What is best if all threats and no others are above it
        # is worst in the opposite case; the two other corners are for undefined values.
        possible = _possible_confusions(cells, threshold, state.resolution)
        labels = Scores(scores.zero_division)
        put_label_scores(labels, possible)
        label_errors = {key: furthest(values[key], labels.values[key]) for key in labels.values if key != "prevalence"}
        errors = label_errors | errors
    if detailed and not decided:
        for name, (row, column) in CELLS.items():
            errors[name] = furthest(values[name], possible[:, row, column])
    if detailed:
        best, at = _possible_best(cells, values["best_f1_threat"], state.resolution)
        errors["best_f1_threat"] = furthest(values["best_f1_threat"], best)
        errors["best_threshold"] = furthest(values["best_threshold"], at)
    for key, error in errors.items():
        scores.note(f"{key}_error", error)


def _possible_confusions(cells: Cells, threshold: float, resolution: float) -> np.ndarray:
    """The corners of what the confusion matrix can be, shape (4, 2, 2)."""
    at = float(to_grid(np.array(threshold), resolution))
    above, unknown = cells.values > at, cells.within & (cells.values == at)
    fp, tp = (sizes[above].sum() + np.array([0, sizes[unknown].sum()]) for sizes in (cells.negatives, cells.positives))
    fp, tp = np.repeat(fp, 2), np.tile(tp, 2)
    return np.stack([cells.negatives.sum() - fp, fp, cells.positives.sum() - tp, tp], axis=-1).reshape(4, 2, 2)


def _possible_best(cells: Cells, best: float, resolution: float) -> tuple[list[float], list[float]]:
    """Bounds of best_f1_threat and of best_threshold, where the former is ``best`` on the grid.

    The cuts between cells are possible whatever the order within them, so the best F1 is no less than ``best``. A cut
    within an interval is best if its threats are tied above the others, and the cut lies between. The best threshold
    belongs to a cut that may be as good as ``best``: it lies in the next lower cell, or in the interval that is cut.
    """
    b, a = cells.positives, cells.negatives
    n, cuts = int(b.sum()), (b > 0) & (cells.values > 0)
    if not cuts.any():  # nothing here depends on the grid
        return [best], [1.0 if n else float("nan")]
    tp, fp = b[::-1].cumsum()[::-1], a[::-1].cumsum()[::-1]
    whole = np.where(cuts, 2 * tp / (tp + fp + n), 0.0)
    f1 = np.where(cuts, 2 * tp / (tp + fp - np.where(cells.within, a, 0) + n), 0.0)
    known = np.flatnonzero(whole >= best)[-1]  # of equally good cuts the highest is taken, and this one is there
    good = (f1 > best) | (f1 >= best) & (np.arange(len(f1)) >= known)
    half = np.where(cells.within, resolution / 2, 0.0)
    starts, ends = (np.append(0.0, (cells.values + side)[:-1]) for side in (-half, half))  # of the next lower cell
    ends = np.where(cells.within, cells.values + half, ends)
    return [best, float(f1.max())], [float(starts[good].min()), float(ends[good].max())]
