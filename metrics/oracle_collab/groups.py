"""Rows grouped by score, and scores of resampled groups: what intervals need, at a cost that doesn't grow with rows.

A group stands for rows whose predictions (and review scores) lie close together. Drawn with replacement, rows only
change how many non-toxic and toxic ones each group has; every score is then a sum over groups. With up to `MAX_GROUPS`
distinct predictions each is a group of its own and nothing is lost.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .ranking import harmonic_sums, merge_sorted, sort_classes, table_average_precision, table_roc_auc
from .resampling import Draws
from .scoring import ratio, sigmoid

#: Groups of predictions, at most, beside those cut off by the threshold and the bins of the calibration error.
MAX_GROUPS = 512
#: The same of predictions and of review scores where these are given: their combinations are groups.
MAX_PAIRED = 64, 32
#: How far below its lower edge a bin of the calibration error begins, for confidences that are rounded.
ROUNDING = 2.0**-50


class Ties(NamedTuple):
    """An order of groups with ties.

    Attributes:
        order: permutation of the groups, shape (g,).
        starts: where in it each set of tied groups begins, shape (t,).
        sizes: how many groups are in each set.
    """

    order: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    def collect(self, values: np.ndarray) -> np.ndarray:
        """Sums over tied groups, shape (..., t), of values of shape (..., g)."""
        return np.add.reduceat(values[..., self.order], self.starts, axis=-1)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Each set's value for its groups: shape (..., t) to (..., g)."""
        spread = np.empty((*values.shape[:-1], len(self.order)))
        spread[..., self.order] = np.repeat(values, self.sizes, axis=-1)
        return spread


def _ties(values: np.ndarray) -> Ties:
    """The ascending order of values."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(values[order]) > 0))
    return Ties(order, starts, np.diff(np.append(starts, len(values))))


class Groups(NamedTuple):
    """Rows in g groups.

    Attributes:
        counts: non-toxic and toxic rows of each, int64 of shape (2, g).
        predicted: whether its rows are predicted toxic, shape (g,).
        squared: mean (p - y)^2 of each class in each group, shape (2, g).
        confidence: likewise the mean of max(p, 1 - p).
        bins: one-hot bin of the calibration error, shape (g, n_bins).
        by_score, by_uncertainty, by_review: ascending orders; the last one's largest is reviewed first.
    """

    counts: np.ndarray
    predicted: np.ndarray
    squared: np.ndarray
    confidence: np.ndarray
    bins: np.ndarray
    by_score: Ties
    by_uncertainty: Ties
    by_review: Ties


# --- grouping -----------------------------------------------------------------------------------------------------


def group_rows(
    labels: np.ndarray,
    scores: np.ndarray,
    review_scores: np.ndarray | None,
    rows: np.ndarray | None = None,
    *,
    review_strategy: str,
    threshold: float,
    n_bins: int,
    logits: bool,
) -> Groups:
    """Group rows; arguments as in `rows.sort_rows` (``rows`` are its counts), and the number of bins of the calibration
    error."""
    edges = np.arange(1, n_bins) / n_bins - ROUNDING
    special = np.concatenate([[threshold, 0.5], edges, 1.0 - edges])
    if logits:
        inside = special[(special > 0) & (special < 1)]
        special = np.log(inside) - np.log1p(-inside)
    at_most = MAX_GROUPS if review_scores is None else MAX_PAIRED[0]
    cell, raw = _levels(scores, labels, rows, at_most, special)
    review = raw
    if review_scores is not None:
        second, own = _levels(review_scores, labels, rows, MAX_PAIRED[1], np.empty(0))
        raw, review = np.repeat(raw, len(own)), np.tile(own, len(raw))
        cell = cell * len(own) + second
    cell, n_cells = 2 * cell + labels, 2 * len(raw)
    counts = np.bincount(cell, rows, minlength=n_cells).astype(np.int64).reshape(-1, 2).T
    used = np.flatnonzero(counts.sum(axis=0))
    p = sigmoid(scores) if logits else scores

    def means(values: np.ndarray) -> np.ndarray:
        sums = np.bincount(cell, values if rows is None else values * rows, minlength=n_cells).reshape(-1, 2).T
        mean: np.ndarray = ratio(sums, counts, 0.0)[:, used]
        return mean

    raw, review = raw[used], review[used]
    middle = sigmoid(raw) if logits else raw
    bins = np.minimum(((np.maximum(middle, 1.0 - middle) + ROUNDING) * n_bins).astype(np.int64), n_bins - 1)
    unsure = -np.abs(raw) if logits else np.minimum(raw, 1.0 - raw)
    if review_scores is None:
        review = raw if review_strategy == "toxicity" else unsure
    return Groups(
        counts=counts[:, used],
        predicted=middle > threshold,
        squared=means(np.square(p - labels)),
        confidence=means(np.maximum(p, 1.0 - p)),
        bins=np.eye(n_bins)[bins],
        by_score=_ties(raw),
        by_uncertainty=_ties(unsure),
        by_review=_ties(review),
    )


def _levels(
    values: np.ndarray, labels: np.ndarray, rows: np.ndarray | None, at_most: int, special: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each row's group by value, int64 of shape (n,), and a value for each group, ascending.

    Distinct values where there are few; else half of the groups share out the toxic rows, and half all rows. No group
    lies on both sides of a ``special`` value.
    """
    distinct = np.unique(values)
    if len(distinct) <= at_most:
        return distinct.searchsorted(values), distinct
    cuts = [special]
    negatives, positives = sort_classes(labels, values, rows)
    for part in (positives, merge_sorted(negatives, positives)):
        n = part.n_rows
        cuts.append(part.nth(np.arange(1, at_most // 2) * n // (at_most // 2)) if n else special[:0])
    ends = np.unique(np.concatenate(cuts))
    places = np.unique(np.append(distinct.searchsorted(ends, side="right"), len(distinct)))
    places = places[places > 0]  # where in the distinct values each group ends
    group = distinct[places[:-1] - 1].searchsorted(values, side="left")
    return group, distinct[(np.append(0, places[:-1]) + places) // 2]


# --- scores of resampled groups -----------------------------------------------------------------------------------


def resampled_scores(
    groups: Groups, draws: Draws, capacities: Mapping[str, int], *, interpolated: bool
) -> dict[str, np.ndarray]:
    """The scores that have no interval in closed form.

    Args:
        groups: of `group_rows`.
        draws: the resamples.
        capacities: ending of the keys (``_at_0.05``) -> k.
        interpolated: whether ``oc_auprc_interpolated`` is wanted.

    Returns:
        Arrays of shape (B,), nan where undefined.
    """
    counts = draws.table(groups.counts)
    n = int(groups.counts.sum())
    wrong = np.where(groups.predicted, counts[:, 0], counts[:, 1])
    right = counts.sum(axis=1) - wrong
    by_score = groups.by_score.collect(counts)
    unsure = groups.by_uncertainty.collect(np.stack([right, wrong], axis=1))
    gap = right - (counts * groups.confidence).sum(axis=1)
    values = {
        "accuracy": right.sum(axis=-1) / n,
        "auroc": table_roc_auc(by_score),
        "auprc": table_average_precision(by_score),
        "brier": (counts * groups.squared).sum(axis=(1, 2)) / n,
        "ece": np.abs(gap @ groups.bins).sum(axis=-1) / n,
        "calibration_auroc": table_roc_auc(unsure),
        "calibration_auprc": table_average_precision(unsure),
    }
    for at, k in capacities.items():
        share = _reviewed_share(groups.by_review, counts.sum(axis=1), k)
        values |= {f"{key}{at}": area for key, area in _team_areas(groups, counts, share, interpolated).items()}
        values[f"random_review_accuracy{at}"] = values["accuracy"] + k / n * (1.0 - values["accuracy"])
        values[f"ideal_review_accuracy{at}"] = np.minimum(1.0, values["accuracy"] + k / n)
    values["aurc"], values["augrc"] = _risk_coverage_areas(unsure, values["calibration_auroc"], n)
    return values


def _reviewed_share(by_review: Ties, sizes: np.ndarray, k: int) -> np.ndarray:
    """The share of each group that is reviewed, shape (B, g): all above the cut, what fits at the cut, none below."""
    tied = by_review.collect(sizes)
    left = k - (tied[..., ::-1].cumsum(axis=-1)[..., ::-1] - tied)  # for these, after all above them
    return by_review.spread(np.clip(ratio(left, tied, 0.0), 0.0, 1.0))


def _team_areas(groups: Groups, counts: np.ndarray, share: np.ndarray, interpolated: bool) -> dict[str, np.ndarray]:
    """OC-AUROC and OC-AUPRC: reviewed positives above, reviewed negatives below every threshold."""
    n_negatives, n_positives = (counts[:, label].sum(axis=-1) for label in (0, 1))
    head = (counts[:, 1] * share).sum(axis=-1)
    left = groups.by_score.collect(counts * (1.0 - share)[:, None])
    negatives, positives = left[:, 0, ::-1], left[:, 1, ::-1]  # descending
    fp = negatives.cumsum(axis=-1)
    tp = head[:, None] + positives.cumsum(axis=-1)
    inversions = (positives * (fp - negatives / 2)).sum(axis=-1)
    precision = ratio(tp, tp + fp, 0.0)
    areas = {
        "oc_auroc": 1.0 - ratio(inversions, n_negatives * n_positives.astype(np.float64), math.nan),
        "oc_auprc": ratio(head + (positives * precision).sum(axis=-1), n_positives, math.nan),
    }
    if interpolated:
        areas["oc_auprc_interpolated"] = ratio(
            head + _interpolated(positives, negatives, tp, fp).sum(axis=-1), n_positives, math.nan
        )
    return areas


def _interpolated(positives: np.ndarray, negatives: np.ndarray, tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """Each group's part of the interpolated area, as in `ranking.Curve.interpolated_area`."""
    some = positives > 0
    weight = np.where(some, positives, 1.0)
    t, f = tp - weight, fp - negatives
    step = (weight + negatives) / weight
    c = f - (step - 1.0) * t
    start = t + f
    growth = ratio(tp + fp - start, np.where(start > 1e-9, start, 0.0), 0.0)
    parts: np.ndarray = np.where(some, weight / step - c / step**2 * np.log1p(np.maximum(growth, 0.0)), 0.0)
    return parts


def _risk_coverage_areas(unsure: np.ndarray, calibration_auroc: np.ndarray, n: int) -> tuple[Any, Any]:
    """AURC and AUGRC as in `rows.risk_coverage_areas`, of right and wrong rows by uncertainty, shape (B, 2, t)."""
    wrong, size = unsure[:, 1], unsure.sum(axis=1)
    ends = size.cumsum(axis=-1)
    starts, before = ends - size, wrong.cumsum(axis=-1) - wrong
    rate = ratio(wrong, size, 0.0)
    aurc = ((before - starts * rate) * harmonic_sums(starts, ends) + rate * size).sum(axis=-1) / n
    error = wrong.sum(axis=-1) / n
    return aurc, error**2 / 2 + (1.0 - np.nan_to_num(calibration_auroc, nan=1.0)) * error * (1.0 - error)


def capacity_keys(fractions: Sequence[float], capacities: Sequence[int]) -> dict[str, int]:
    """Ending of the keys -> k."""
    return {f"_at_{fraction!r}": k for fraction, k in zip(fractions, capacities)}
