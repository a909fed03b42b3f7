"""How far the collaboration scores of probabilities on a grid can be from those of the exact ones.

What is known of a row is its cell (`grid`): a point, or an open interval between two. A cell at p and the one at 1 - p
have the same uncertainty, a point or an interval again; together they are a *group* of the order of review. The order
of groups is known, and so is what the model predicts, as the threshold is a point. Unknown is which rows of the group
at the cut are reviewed, and the order of scores within each interval.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .grid import Cells, average_precision_bounds, interpolated_area_bounds, roc_auc_error
from .ranking import harmonic_sums

Interval = tuple[float, float]


class Groups(NamedTuple):
    """Cells and the order of review.

    Attributes:
        cells: by P(toxic), g of them.
        predicted: bool of shape (g,): whether a cell's rows are predicted toxic.
        unsure: right and wrong predictions by uncertainty.
        review: the group of each cell, int64 of shape (g,); the last one is reviewed first.
        sizes: rows in each group.
        resolution: of the grid.
    """

    cells: Cells
    predicted: np.ndarray
    unsure: Cells
    review: np.ndarray
    sizes: np.ndarray
    resolution: float


class Team(NamedTuple):
    """What the team's numbers can be with k reviews: pairs (least, greatest).

    Attributes:
        wrong_reviewed: w(S).
        caught_fp, caught_fn: wrong predictions of each kind among the reviewed.
        tied_at_cutoff: rows tied where the capacity ends.
        oc_auroc, oc_auprc, oc_auprc_interpolated: nan where undefined.
    """

    wrong_reviewed: Interval
    caught_fp: Interval
    caught_fn: Interval
    tied_at_cutoff: Interval
    oc_auroc: Interval
    oc_auprc: Interval
    oc_auprc_interpolated: Interval


def group_cells(cells: Cells, review_strategy: str, threshold: float, resolution: float) -> Groups:
    """The groups of cells.

    Args:
        cells: by P(toxic), negatives the non-toxic rows.
        review_strategy: "uncertainty" or "toxicity".
        threshold: a point of the grid.
        resolution: of the grid.
    """
    predicted = cells.values > threshold
    uncertainty = np.minimum(cells.values, 1.0 - cells.values)
    values, at = np.unique(uncertainty, return_inverse=True)
    rows = cells.negatives + cells.positives
    wrong = np.where(predicted, cells.negatives, cells.positives)
    right_at, wrong_at = (np.bincount(at, part).astype(np.int64) for part in (rows - wrong, wrong))
    within = np.zeros(len(values), dtype=bool)
    within[at] = cells.within
    review = at if review_strategy == "uncertainty" else np.arange(len(rows))
    sizes = np.bincount(review, rows).astype(np.int64)
    return Groups(cells, predicted, Cells(values, right_at, wrong_at, within), review, sizes, resolution)


# --- the team -----------------------------------------------------------------------------------------------------


def team_bounds(groups: Groups, k: int, *, interpolated: bool = True) -> Team:
    """What k reviews can come to.

    All rows of groups above the cut are reviewed, and ``fit`` of the m rows in the group at the cut. In a point these
    are tied, and each is reviewed with weight fit / m, as in the exact scores. In an interval any ``fit`` rows may be
    the ones, with expected numbers where rows are tied: of m_t rows of one kind at least fit - (m - m_t) and at most
    min(m_t, fit) are reviewed. More reviews of a kind never lower OC-AUPRC (nor the interpolated area): a reviewed
    positive counts with precision 1 and raises TP for others, a reviewed negative is no FP. So these lie between their
    least value with the fewest reviews of every kind, and their greatest with the most.
    """
    cells, n = groups.cells, int(groups.sizes.sum())
    upto = np.cumsum(groups.sizes)
    cut = int(np.searchsorted(upto, n - k, side="right")) if k else len(upto)  # all groups above are reviewed
    m = int(groups.sizes[cut]) if cut < len(upto) else 0
    fit = k - (n - int(upto[cut])) if m else 0
    at_cut = groups.review == cut
    split = 0 < fit < m and bool(cells.within[at_cut].any())
    kinds = np.stack([cells.negatives, cells.positives]).astype(np.float64)
    reviewed = np.where(groups.review > cut, kinds, 0.0)
    tied = kinds * at_cut
    fewest, most = reviewed + tied * (fit / max(m, 1)), reviewed + tied * (fit / max(m, 1))
    if split:
        fewest, most = reviewed + np.maximum(0.0, fit - (m - tied)) * at_cut, reviewed + np.minimum(tied, fit)
    wrong = np.stack([groups.predicted, ~groups.predicted])

    def caught(which: np.ndarray) -> Interval:
        above, inside = float(reviewed[which].sum()), float(tied[which].sum())
        if not split:
            return (above + inside * fit / max(m, 1),) * 2
        return above + max(0.0, fit - (m - inside)), above + min(inside, fit)

    only = np.array([[True], [False]])
    least, greatest = _unreviewed(groups, fewest), _unreviewed(groups, most)
    heads = float(fewest[1].sum()), float(most[1].sum())
    nan = (math.nan, math.nan)
    return Team(
        wrong_reviewed=caught(wrong),
        caught_fp=caught(wrong & only),
        caught_fn=caught(wrong & ~only),
        tied_at_cutoff=(0.0, float(m)) if split else (float(m if 0 < fit < m else 0),) * 2,
        oc_auroc=_auroc_bounds(groups, reviewed, tied, m - fit) if split else _auroc_in_order(groups, most),
        oc_auprc=(
            average_precision_bounds(least, heads[0], at_cut & split)[0],
            average_precision_bounds(greatest, heads[1])[1],
        ),
        oc_auprc_interpolated=(
            (interpolated_area_bounds(least, heads[0])[0], interpolated_area_bounds(greatest, heads[1])[1])
            if interpolated
            else nan
        ),
    )


def _unreviewed(groups: Groups, reviewed: np.ndarray) -> Cells:
    cells = groups.cells
    return Cells(cells.values, cells.negatives - reviewed[0], cells.positives - reviewed[1], cells.within)


def _inversions(left: Cells) -> Interval:
    """The least and the greatest weight of pairs of unreviewed rows in the wrong order, tied ones half."""
    above = left.negatives[::-1].cumsum()[::-1] - left.negatives
    pairs = left.positives * left.negatives
    known = float((left.positives * above).sum()) + float(pairs[~left.within].sum()) / 2
    return known, known + float(pairs[left.within].sum())


def _auroc_in_order(groups: Groups, reviewed: np.ndarray) -> Interval:
    least, greatest = _inversions(_unreviewed(groups, reviewed))
    return _auroc(groups, least, greatest)


def _auroc(groups: Groups, least: float, greatest: float) -> Interval:
    n_pairs = float(groups.cells.negatives.sum()) * float(groups.cells.positives.sum())
    return (1.0 - greatest / n_pairs, 1.0 - least / n_pairs) if n_pairs else (math.nan, math.nan)


def _auroc_bounds(groups: Groups, reviewed: np.ndarray, tied: np.ndarray, left: int) -> Interval:
    """OC-AUROC where ``left`` of the rows in the interval at the cut aren't reviewed.

    An unreviewed row there is in as many wrong pairs with rows of other groups as there are unreviewed positives below
    it, or negatives above it: the same number for all rows of one class in one cell. The sum over ``left`` rows is
    least and greatest where those with the smallest and the largest numbers are taken. Pairs within the group add
    between nothing and their number.
    """
    others = _unreviewed(groups, reviewed + tied)
    least, greatest = _inversions(others)
    cut = np.flatnonzero(tied.sum(axis=0))
    above = others.negatives[::-1].cumsum()[::-1] - others.negatives
    below = others.positives.cumsum() - others.positives
    in_pairs, sizes = np.concatenate([below[cut], above[cut]]), np.concatenate([tied[0, cut], tied[1, cut]])
    order = np.argsort(in_pairs, kind="stable")
    for sign, ordered in ((0, order), (1, order[::-1])):
        taken = np.minimum(sizes[ordered], np.maximum(0.0, left - (np.cumsum(sizes[ordered]) - sizes[ordered])))
        total = float((taken * in_pairs[ordered]).sum())
        least, greatest = (least + total, greatest) if sign == 0 else (least, greatest + total)
    negatives, positives = (min(float(kind.sum()), left) for kind in tied)
    return _auroc(groups, least, greatest + min(negatives * positives, left**2 / 4))


# --- the model alone ----------------------------------------------------------------------------------------------


def brier_error(groups: Groups) -> float:
    """(p - y)^2 of a row within an interval of half-width h changes by at most h (2 |p - y| + h)."""
    cells, h = groups.cells, groups.resolution / 2
    total = 0.0
    for label, sizes in ((0, cells.negatives), (1, cells.positives)):
        gap = np.abs(cells.values - label)
        total += float((sizes * h * (2 * gap + h))[cells.within].sum())
    return total / float(groups.sizes.sum())


def ece_error(groups: Groups, n_bins: int, ece: float) -> float:
    """Bound of the calibration error's error.

    The error is 1/n times the sum over bins of |g|, g the sum of (right - confidence) over a bin's rows. Confidences
    within intervals of half-width h move the g of a bin by h for each such row of it at most. Rows in an interval that
    holds edges of bins may lie beyond one: then what leaves one bin's g comes to the next one's, at most 1 - confidence
    for a right prediction, -confidence for a wrong one. The largest sum of |g| in this box of moves, which is at one of
    its corners, is found bin after bin. As |g| is convex and the box (made) symmetrical, no sum is further below the
    sum of the middle than the largest is above.
    """
    cells, h = groups.cells, groups.resolution / 2
    sure = np.maximum(cells.values, 1.0 - cells.values)
    wrong = np.where(groups.predicted, cells.negatives, cells.positives)
    right = cells.negatives + cells.positives - wrong
    half = np.where(cells.within, h, 0.0)
    low, at, high = (
        np.minimum(((c + 2.0**-50) * n_bins).astype(np.int64), n_bins - 1) for c in (sure - half, sure, sure + half)
    )
    gaps = np.bincount(at, right - (right + wrong) * sure, minlength=n_bins)
    moves = np.bincount(at, (right + wrong) * half, minlength=n_bins)
    up, down = np.zeros(n_bins + 1), np.zeros(n_bins + 1)  # across the edge below each bin
    for i in np.flatnonzero(low < high):
        up[low[i] + 1 : high[i] + 1] += right[i] * (1.0 - sure[i] + h)
        down[low[i] + 1 : high[i] + 1] += wrong[i] * (sure[i] + h)
    across = np.maximum(up, down)
    largest = {-1: 0.0, 1: 0.0}  # by the direction of the moves across the edge
    for b in range(n_bins):
        largest = {
            out: max(
                largest[into] + abs(float(gaps[b] + into * across[b] - out * across[b + 1])) + float(moves[b])
                for into in (-1, 1)
            )
            for out in (-1, 1)
        }
    return max(0.0, max(largest.values()) / float(groups.sizes.sum()) - ece)


def calibration_bounds(groups: Groups) -> tuple[float, Interval]:
    """The error of calibration_auroc, and what calibration_auprc can be: wrong predictions ranked by uncertainty."""
    return roc_auc_error(groups.unsure), average_precision_bounds(groups.unsure)


def risk_coverage_bounds(groups: Groups) -> tuple[Interval, float]:
    """What AURC can be, and the error of AUGRC.

    Of the first i rows within an interval with m rows, w of them wrong, at least i - (m - w) are wrong and at most i.
    AURC = 1/n sum of E_i / i has its extremes where the wrong ones come last, and first. AUGRC is linear in the pairs
    of a wrong and a right prediction in the wrong order, of which one within an interval counts 1/2 instead of 0 or 1.
    """
    right, wrong = groups.unsure.negatives, groups.unsure.positives
    size = right + wrong
    n, start, before = int(size.sum()), np.cumsum(size) - size, np.cumsum(wrong) - wrong
    end = start + size
    rate = wrong / size
    tied = (before - start * rate) * harmonic_sums(start, end) + rate * size
    first = wrong + (before - start) * harmonic_sums(start, start + wrong)
    first = first + (before + wrong) * harmonic_sums(start + wrong, end)
    last = before * harmonic_sums(start, end) + wrong - (end - wrong) * harmonic_sums(end - wrong, end)
    within = groups.unsure.within
    low, high = (float(np.where(within, part, tied).sum()) / n for part in (last, first))
    return (low, high), float((right * wrong.astype(np.float64))[within].sum()) / (2.0 * n**2)


def _reaches(bound: float, aim: float) -> bool:
    """Whether a bound surely does; the float of a bound may be a rounding off."""
    return bound == 1.0 or bound - 2.0**-48 >= aim


def capacity_bounds(groups: Groups, quantity: str, aim: float, n_wrong: Sequence[int]) -> Any:
    """Which numbers of reviews can be the smallest that reaches a target: those from which on it may be reached, up to
    those from which on it surely is. Bisection over k, as in `curves.smallest_capacity`.

    Args:
        groups: see `group_cells`.
        quantity: "oc_accuracy", "oc_precision", "oc_recall" or "oc_auroc".
        aim: the target.
        n_wrong: false positives and false negatives of the model.
    """
    n, n_positives = int(groups.sizes.sum()), int(groups.cells.positives.sum())

    def bounds(k: int) -> Interval:
        team = team_bounds(groups, k, interpolated=False)
        if quantity == "oc_auroc":
            return team.oc_auroc
        if quantity == "oc_accuracy":
            return tuple((n - sum(n_wrong) + w) / n for w in team.wrong_reviewed)  # type: ignore[return-value]
        tp = [n_positives - n_wrong[1] + caught for caught in team.caught_fn]
        if quantity == "oc_recall":
            return (tp[0] / n_positives, tp[1] / n_positives) if n_positives else (math.nan, math.nan)
        fp = [n_wrong[0] - caught for caught in team.caught_fp]
        return (
            tp[0] / (tp[0] + fp[0]) if tp[0] + fp[0] else -math.inf,
            tp[1] / (tp[1] + fp[1]) if tp[1] + fp[1] else 1.0,
        )

    def first(reached: Any) -> int:
        low, high = 0, n
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(middle) else (middle + 1, high)
        return low

    return first(lambda k: bounds(k)[1] + 2.0**-48 >= aim), first(lambda k: _reaches(bounds(k)[0], aim))
