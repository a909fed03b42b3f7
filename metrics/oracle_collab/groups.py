"""Rows grouped by score, and scores of resampled groups: what intervals need, at a cost that doesn't grow with rows.

A group stands for rows whose predictions (and review scores) lie close together. Drawn with replacement, rows only
change how many non-toxic and toxic ones each group has; every score is then a sum over groups. With up to `MAX_GROUPS`
distinct predictions each is a group of its own and nothing is lost.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from toxeval.core.ranking import merge_sorted, sort_classes, table_curve
from toxeval.core.resampling import Draws
from toxeval.core.scoring import Scores, ratio, sigmoid

from .curves import Team, moderated, put_decisions, put_other_reviews, put_reviews, put_team_areas, team_of
from .reviewers import ORACLE, Reviewers
from .rows import (
    ROUNDING,
    calibration_error,
    confidence_bins,
    put_model,
    put_risk_coverage,
    squared_error,
    uncertainty,
)

#: Groups of predictions, at most, beside those cut off by the threshold and the bins of the calibration error.
MAX_GROUPS = 512
#: The same of predictions and of review scores where these are given: their combinations are groups.
MAX_PAIRED = 64, 32


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
        squared: mean squared error of each class in each group, shape (2, g).
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
    multiplicity: np.ndarray | None = None,
    *,
    review_strategy: str,
    threshold: float,
    n_bins: int,
    logits: bool,
) -> Groups:
    """Group rows; arguments as in `rows.sort_rows`, and the number of bins of the calibration error."""
    edges = np.arange(1, n_bins) / n_bins - ROUNDING
    special = np.concatenate([[threshold, 0.5], edges, 1.0 - edges])
    if logits:
        inside = special[(special > 0) & (special < 1)]
        special = np.log(inside) - np.log1p(-inside)
    at_most = MAX_GROUPS if review_scores is None else MAX_PAIRED[0]
    cell, raw = _levels(scores, labels, multiplicity, at_most, special)
    review = raw
    if review_scores is not None:
        second, own = _levels(review_scores, labels, multiplicity, MAX_PAIRED[1], np.empty(0))
        raw, review = np.repeat(raw, len(own)), np.tile(own, len(raw))
        cell = cell * len(own) + second
    cell, n_cells = 2 * cell + labels, 2 * len(raw)

    def sums(values: np.ndarray | None) -> np.ndarray:
        if values is not None and multiplicity is not None:
            values = values * multiplicity
        return np.bincount(cell, multiplicity if values is None else values, minlength=n_cells).reshape(-1, 2).T

    counts = sums(None).astype(np.int64)
    used = np.flatnonzero(counts.sum(axis=0))
    counts, raw, review = counts[:, used], raw[used], review[used]
    p, middle = (sigmoid(values) if logits else values for values in (scores, raw))
    unsure = uncertainty(raw, logits)
    if review_scores is None:
        review = raw if review_strategy == "toxicity" else unsure
    return Groups(
        counts=counts,
        predicted=middle > threshold,
        squared=ratio(sums(squared_error(p, labels))[:, used], counts, 0.0),
        confidence=ratio(sums(np.maximum(p, 1.0 - p))[:, used], counts, 0.0),
        bins=np.eye(n_bins)[confidence_bins(np.maximum(middle, 1.0 - middle), n_bins)],
        by_score=_ties(raw),
        by_uncertainty=_ties(unsure),
        by_review=_ties(review),
    )


def _levels(
    values: np.ndarray, labels: np.ndarray, multiplicity: np.ndarray | None, at_most: int, special: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each row's group by value, int64 of shape (n,), and a value for each group, ascending.

    Distinct values where there are few; else half of the groups share out the toxic rows, and half all rows. No group
    lies on both sides of a ``special`` value.
    """
    distinct = np.unique(values)
    if len(distinct) <= at_most:
        return distinct.searchsorted(values), distinct
    cuts = [special]
    negatives, positives = sort_classes(labels, values, multiplicity)
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
    groups: Groups,
    draws: Draws,
    capacities: Mapping[str, int],
    *,
    detailed: bool,
    reviewers: Reviewers = ORACLE,
    costed: Mapping[str, int] | None = None,
    cost: Callable[[Team], np.ndarray] | None = None,
) -> Scores:
    """The scores of resampled rows but those that have an interval in closed form, arrays of shape (B,).

    Args:
        groups: of `group_rows`.
        draws: the resamples.
        capacities: ending of the keys (``_at_0.05``) -> k.
        detailed: whether the detailed scores are wanted.
        reviewers: who reviews.
        costed, cost: likewise the capacities whose ``cost`` is wanted.
    """
    scores, n = Scores(), int(groups.counts.sum())
    counts = draws.table(groups.counts)
    sizes = counts.sum(axis=1)
    wrong = np.where(groups.predicted, counts[:, 0], counts[:, 1])
    right = sizes - wrong
    by_uncertainty = groups.by_uncertainty.collect(np.stack([right, wrong], axis=1))
    by_score = groups.by_score.collect(counts)
    calibration = table_curve(by_uncertainty)
    right_in_bins, confidence_in_bins = (x @ groups.bins for x in (right, (counts * groups.confidence).sum(axis=1)))
    put_model(
        scores,
        (right.sum(axis=-1), n),
        table_curve(by_score),
        calibration,
        brier=(counts * groups.squared).sum(axis=(1, 2)) / n,
        ece=calibration_error(right_in_bins, confidence_in_bins, n),
    )
    for at, k in capacities.items():
        share = _reviewed_share(groups.by_review, sizes, k)
        reviewed = groups.by_score.collect(counts * share[:, None])
        curve = table_curve(by_score, reviewed)
        curve = curve if reviewers.perfect else moderated(curve, k, reviewers)
        put_team_areas(scores, curve, at, interpolated=detailed, reviewers=reviewers)
        if reviewers.given:
            team = _team(groups, counts, share, k, reviewers)
            put_reviews(scores, team, at, reviewers)
            if detailed:
                put_decisions(scores, team, at, reviewers)
        if detailed:
            put_other_reviews(scores, scores.values["accuracy"], k / n, at)
    for at, k in (costed or {}).items():
        assert cost is not None
        share = _reviewed_share(groups.by_review, sizes, k)
        scores.put(f"cost{at}", cost(_team(groups, counts, share, k, reviewers)))
    if detailed:
        put_risk_coverage(scores, by_uncertainty[:, 0], by_uncertainty[:, 1], calibration)
    return scores


def _team(groups: Groups, counts: np.ndarray, share: np.ndarray, k: int, reviewers: Reviewers) -> Team:
    """The team of each resample; counts of shape (B, 2, g), and the share that is reviewed, of shape (B, g)."""
    wrong = counts * np.stack([groups.predicted, ~groups.predicted])
    caught = (wrong * share[:, None]).sum(axis=-1)
    errors, n_positives = wrong.sum(axis=-1), counts[:, 1].sum(axis=-1)
    toxic = (counts[:, 1] * share).sum(axis=-1)
    sizes = counts.sum(axis=(1, 2)), n_positives
    return team_of(sizes, k, 0, tuple(errors.T), tuple(caught.T), toxic, reviewers)


def _reviewed_share(by_review: Ties, sizes: np.ndarray, k: int) -> np.ndarray:
    """The share of each group that is reviewed, shape (B, g): all above the cut, what fits at the cut, none below."""
    tied = by_review.collect(sizes)
    left = k - (tied[..., ::-1].cumsum(axis=-1)[..., ::-1] - tied)  # for these, after all above them
    return by_review.spread(np.clip(ratio(left, tied, 0.0), 0.0, 1.0))
