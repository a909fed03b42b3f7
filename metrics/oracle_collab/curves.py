"""A model and an oracle that corrects the k rows with the largest review scores (Kivlichan et al. 2021, section 4.1).

Counts of reviewed rows are look-ups in sorted review scores, and the rank metrics sums over the positives' scores, for
any k. Where only r of the m rows tied at the cut fit into k, each of them is reviewed with weight r/m, and every
quantity is computed from these expected counts.
"""

import bisect
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from toxeval.core.ranking import Curve, put_areas
from toxeval.core.scoring import Scores

from .rows import CLASSES, Rows, sort_rows


class Team(NamedTuple):
    """Expected counts of what model and oracle decide together.

    Attributes:
        n: rows.
        k: reviews.
        tied: m where only r < m of the m rows tied at the cut fit, else 0.
        n_wrong: W, the model's wrong predictions.
        wrong_reviewed: w(S), those of them that are among the reviewed rows S.
        tp, fp, fn: the team's confusion counts.
    """

    n: Any
    k: Any
    tied: Any
    n_wrong: Any
    wrong_reviewed: Any
    tp: Any
    fp: Any
    fn: Any

    def shares(self) -> dict[str, tuple[Any, Any]]:
        """The paper's shares of rows, as (part, whole).

        OC-Acc = (n - W + w(S)) / n, which is equation 2: the model's accuracy and what reviews add, Acc + (k/n) RE,
        where RE = w(S) / k is the review efficiency.
        """
        return {
            "oc_accuracy": (self.n - self.n_wrong + self.wrong_reviewed, self.n),
            "review_efficiency": (self.wrong_reviewed, self.k),
            "review_effectiveness": (self.wrong_reviewed, self.n_wrong),
            "oc_precision": (self.tp, self.tp + self.fp),
            "oc_recall": (self.tp, self.tp + self.fn),
        }

    def rounded(self) -> "Team":
        """With floats where counts are fractions."""
        return Team(*(value if isinstance(value, int) else float(value) for value in self))


# --- scores -------------------------------------------------------------------------------------------------------


def put_team(scores: Scores, team: Team, curve: Curve, at: str, *, detailed: bool) -> None:
    """The team's scores.

    Args:
        scores: gets them.
        team, curve: of `team_at`.
        at: ends the keys.
        detailed: whether there are more of them.
    """
    team = team.rounded()
    shares = team.shares()
    scores.proportion(f"oc_accuracy{at}", *shares["oc_accuracy"], "no rows", math.nan)
    why = "the fraction allows no review"
    scores.proportion(f"review_efficiency{at}", *shares["review_efficiency"], why, math.nan)
    why = "no prediction is wrong"
    scores.proportion(f"review_effectiveness{at}", *shares["review_effectiveness"], why, math.nan)
    put_team_areas(scores, curve, at, interpolated=detailed)
    if not detailed:
        return
    scores.note(f"n_reviewed{at}", team.k)
    scores.note(f"tied_at_cutoff{at}", team.tied)
    scores.proportion(f"oc_precision{at}", *shares["oc_precision"], "nothing is found toxic")
    scores.proportion(f"oc_recall{at}", *shares["oc_recall"], "no reference is toxic")
    scores.f1(f"oc_f1{at}", team.tp, team.fp, team.fn, "nothing is toxic or found toxic")
    put_other_reviews(scores, (team.n - team.n_wrong) / team.n, team.k / team.n, at)


def put_team_areas(scores: Scores, curve: Curve, at: str, *, interpolated: bool) -> None:
    """OC-AUC: the areas under the team's ROC and precision-recall curves."""
    put_areas(scores, curve, (f"oc_auroc{at}", f"oc_auprc{at}"), CLASSES)
    if interpolated:
        why = scores.undefined.get(f"oc_auprc{at}", "")
        scores.area(f"oc_auprc_interpolated{at}", curve.interpolated_area(), why, curve.n_positives)


def put_other_reviews(scores: Scores, accuracy: Any, fraction: Any, at: str) -> None:
    """Accuracy if a fraction of the rows was reviewed that is chosen at random, or has as many wrong ones as fit."""
    scores.put(f"random_review_accuracy{at}", accuracy + fraction * (1.0 - accuracy))
    scores.put(f"ideal_review_accuracy{at}", np.minimum(1.0, accuracy + fraction))


# --- who is reviewed ----------------------------------------------------------------------------------------------


class _Cut(NamedTuple):
    """Where the k-th largest review score lies: all above ``score`` are reviewed, and ``fit`` of the ``tied`` at it."""

    score: float
    fit: int
    tied: int

    @property
    def share(self) -> Fraction | int:
        """The weight with which each of the tied is reviewed."""
        return Fraction(self.fit, self.tied) if 0 < self.fit < self.tied else self.fit // self.tied


def capacity(fraction: float, n: int) -> int:
    """k = floor(fraction n), with a product within 10^-12 (relative) of a whole number taken as meant to be it.

    >>> capacity(0.29, 100), capacity(1 / 3, 3), capacity(0.999, 100)
    (29, 1, 99)
    """
    exact = Fraction(fraction) * n
    whole = round(exact)
    return min(n, whole if abs(exact - whole) <= Fraction(whole, 10**12) else math.floor(exact))


def _cut(rows: Rows, k: int) -> _Cut:
    if k == 0:
        return _Cut(math.inf, 0, 1)
    n = rows.everyone.n_rows
    score = rows.everyone.nth(n - k)
    low, high = int(rows.everyone.below(score)), int(rows.everyone.upto(score))
    return _Cut(float(score), k - (n - high), high - low)


def team_at(rows: Rows, k: int) -> tuple[Team, Curve]:
    """The team with k reviews: its counts, and the curve of the scores where the oracle puts reviewed positives above
    and reviewed negatives below every threshold."""
    cut = _cut(rows, k)
    share = cut.share
    return _team(rows, k, cut, share), _oracle_curve(rows, cut, share if isinstance(share, int) else float(share))


def _team(rows: Rows, k: int, cut: _Cut, share: Fraction | int) -> Team:
    """Its counts, exact."""
    caught = []
    for errors in (rows.mistaken, rows.missed):
        low, high = int(errors.below(cut.score)), int(errors.upto(cut.score))
        caught.append(errors.n_rows - high + (high - low) * share)
    fp, fn = rows.mistaken.n_rows, rows.missed.n_rows
    return Team(
        n=rows.everyone.n_rows,
        k=k,
        tied=cut.tied if 0 < share < 1 else 0,
        n_wrong=fp + fn,
        wrong_reviewed=sum(caught),
        tp=rows.ranks.n_positives - fn + caught[1],
        fp=fp - caught[0],
        fn=fn - caught[1],
    )


def _oracle_curve(rows: Rows, cut: _Cut, share: float) -> Curve:
    """Its curve, where each row tied at the cut is reviewed with weight ``share``."""
    ranks = rows.ranks
    n_positives, n_negatives = ranks.n_positives, ranks.n_negatives
    positives, negatives = (_left(rows, side, cut, share) for side in (1, 0))
    before, left = positives(ranks.first), negatives(n_negatives)
    fp = left - negatives(ranks.below)
    return Curve(
        weight=np.diff(before, append=positives(n_positives)),  # a group of ties ends where the next begins
        tp=n_positives - before,
        fp=fp,
        fp_above=fp if ranks.upto is ranks.below else left - negatives(ranks.upto),
        head=n_positives - positives(n_positives),
        n_positives=n_positives,
        n_negatives=n_negatives,
    )


def _left(rows: Rows, side: int, cut: _Cut, share: float) -> Callable[[Any], Any]:
    """Function of numbers of rows: the weight not reviewed among the first so many rows of class ``side``.

    A row tied at the cut is reviewed with weight ``share``. Rows are counted in whole numbers before that weight comes
    in, so that a stretch without anything left has exactly 0.
    """
    review, scores = rows.review[side], rows.scores[side]
    if rows.rising is None:
        sizes = 1 if scores.before is None else scores.multiplicity
        below, at = (np.append(0, np.cumsum(part * sizes)) for part in (review <= cut.score, review == cut.score))
        weight = below - share * at
        return lambda n: weight[n if scores.before is None else scores.before.searchsorted(n)]
    # In the order of scores the reviewed rows are one stretch [b, c), with ties before it from a and after it to d.
    top = rows.rising[side]
    rise, fall = review[:top], review[top:][::-1]
    a, b = (scores.rows_before(int(rise.searchsorted(cut.score, side=end))) for end in ("left", "right"))
    c, d = (scores.rows_before(len(review) - int(fall.searchsorted(cut.score, side=end))) for end in ("right", "left"))

    def left(n: Any) -> Any:
        outside = n - (np.clip(n, a, d) - a)
        if share == 1:
            return outside
        within = n - (np.clip(n, b, c) - b)
        return within - share * (within - outside)

    return left


# --- targets ------------------------------------------------------------------------------------------------------


def smallest_capacity(rows: Rows, quantity: str, target: float) -> int | None:
    """The smallest k at which the team reaches a target, by bisection: none of the quantities falls as k grows.

    Args:
        rows: of `sort_rows`.
        quantity: "oc_accuracy", "oc_precision", "oc_recall" or "oc_auroc".
        target: in [0, 1].

    Returns:
        k, exact (in rational arithmetic, so that a target met to the digit counts as met); None if no k reaches it,
        which happens only where the quantity is undefined.
    """
    n = rows.everyone.n_rows

    def reached(k: int) -> bool:
        cut = _cut(rows, k)
        if quantity == "oc_auroc":
            part, whole = _right_pairs(rows, cut)
        else:
            part, whole = _team(rows, k, cut, cut.share).shares()[quantity]
        return bool(whole) and float(Fraction(part) / whole) >= target  # float() of a Fraction rounds correctly

    if reached(0):  # without positives, a precision of 0 ends in 0/0: the one case where what is reached can be lost
        return 0
    k = bisect.bisect_left(range(n + 1), True, key=reached)
    return k if k <= n else None


def _right_pairs(rows: Rows, cut: _Cut) -> tuple[Fraction | int, int]:
    """OC-AUROC as (pairs in the right order, pairs), both doubled.

    The pairs in the wrong order are a quadratic in the share in which ties are reviewed, whose values at whole numbers
    are whole numbers.
    """
    pairs, share = 2 * rows.ranks.n_positives * rows.ranks.n_negatives, cut.share
    if isinstance(share, int):
        return pairs - int(_oracle_curve(rows, cut, share).inversions()), pairs
    at_0, at_1, at_less = (int(_oracle_curve(rows, cut, whole).inversions()) for whole in (0, 1, -1))
    wrong = at_0 + Fraction(at_1 - at_less, 2) * share + (Fraction(at_1 + at_less, 2) - at_0) * share**2
    return pairs - wrong, pairs


# --- curves -------------------------------------------------------------------------------------------------------


class ReviewCurve(NamedTuple):
    """The team of model and oracle at each of K capacities; arrays of shape (K,). Undefined values are nan.

    Attributes:
        n_reviewed: k.
        fraction: k / n.
        tied_at_cutoff: m where only r < m of the m rows tied at the cut fit, else 0.
        wrong_reviewed: w(S), the expected number of reviews that were needed.
        tp, fp, fn: expected confusion counts of the team.
        oc_accuracy, oc_precision, oc_recall, oc_f1: of these counts.
        review_efficiency: w(S) / k.
        review_effectiveness: w(S) / W.
        oc_auroc, oc_auprc: ROC-AUC and average precision with the reviewed rows moved to their right end.
        oc_auprc_interpolated: area under the same precision-recall curve, interpolated by Davis and Goadrich.
        random_review_accuracy, ideal_review_accuracy: if k random rows were reviewed, or as many wrong ones as fit.
    """

    n_reviewed: np.ndarray
    fraction: np.ndarray
    tied_at_cutoff: np.ndarray
    wrong_reviewed: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    fn: np.ndarray
    oc_accuracy: np.ndarray
    oc_precision: np.ndarray
    oc_recall: np.ndarray
    oc_f1: np.ndarray
    review_efficiency: np.ndarray
    review_effectiveness: np.ndarray
    oc_auroc: np.ndarray
    oc_auprc: np.ndarray
    oc_auprc_interpolated: np.ndarray
    random_review_accuracy: np.ndarray
    ideal_review_accuracy: np.ndarray


def review_at(rows: Rows, capacities: Iterable[int]) -> ReviewCurve:
    """The team's scores with k = each of ``capacities`` reviews (each from 0 to n)."""
    points = []
    for k in capacities:
        (team, curve), scores = team_at(rows, k), Scores()
        put_team(scores, team, curve, "", detailed=True)
        points.append({"fraction": k / team.n, **team._asdict(), **scores.values})
    return ReviewCurve(**{name: np.array([float(p[name]) for p in points]) for name in ReviewCurve._fields})


#: The grid of `review_curve`: 0 and, as the paper's figures have a logarithmic axis, 40 steps a decade down to 0.001.
CURVE_FRACTIONS = (0.0, *np.logspace(-3, 0, 121).tolist())


def review_curve(
    labels: np.ndarray,
    scores: np.ndarray,
    review_scores: np.ndarray | None = None,
    *,
    review_strategy: str = "uncertainty",
    review_fractions: Sequence[float] = CURVE_FRACTIONS,
    threshold: float = 0.5,
    logits: bool = False,
) -> ReviewCurve:
    """Every quantity over the reviewed fraction, exact at each of its points (the paper's figures 2 to 4).

    Args:
        labels, scores, review_scores, review_strategy, threshold, logits: as in `sort_rows`.
        review_fractions: K fractions in [0, 1]; each means its capacity, floor(fraction n).

    Returns:
        `ReviewCurve`; its ``fraction`` is k / n.

    >>> labels, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.45, 0.9])
    >>> review_curve(labels, scores, review_fractions=[0.0, 0.25, 0.5]).oc_accuracy.tolist()
    [0.5, 0.75, 1.0]
    """
    rows = sort_rows(labels, scores, review_scores, review_strategy=review_strategy, threshold=threshold, logits=logits)
    return review_at(rows, [capacity(fraction, len(labels)) for fraction in review_fractions])
