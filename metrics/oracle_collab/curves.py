"""A model and those who review the k rows with the largest review scores (Kivlichan et al. 2021, section 4.1).

The paper's reviewer is an oracle; moderators who err are in `reviewers`. Counts of reviewed rows are look-ups in sorted
review scores, and the rank metrics sums over the positives' scores, for any k. Where only r of the m rows tied at the
cut fit into k, each of them is reviewed with weight r/m, and every quantity is computed from these expected counts.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from toxeval.core.ranking import Curve, Sorted, put_areas, put_roc_auc
from toxeval.core.scoring import Scores, nonzero, ratio

from .reviewers import ORACLE, Reviewers
from .rows import CLASSES, Rows, sort_rows


class Team(NamedTuple):
    """Expected counts of what model and reviewers decide together; numbers, or arrays of several teams.

    Attributes:
        n: rows.
        k: reviews.
        tied: m where only r < m of the m rows tied at the cut fit, else 0.
        n_wrong: W, the model's wrong predictions.
        wrong_reviewed: w(S), those of them that are among the reviewed rows S.
        net: wrong predictions that reviews put right, less right ones that they put wrong; w(S) of an oracle.
        tp, fp, fn: the team's confusion counts.
    """

    n: Any
    k: Any
    tied: Any
    n_wrong: Any
    wrong_reviewed: Any
    net: Any
    tp: Any
    fp: Any
    fn: Any

    def shares(self) -> dict[str, tuple[Any, Any]]:
        """The paper's shares of rows, as (part, whole).

        OC-Acc = (n - W + w(S)) / n, which is equation 2: the model's accuracy and what reviews add, Acc + (k/n) RE,
        where RE = w(S) / k is the review efficiency. With moderators who err, net corrections stand for w(S).
        """
        return {
            "oc_accuracy": (self.n - self.n_wrong + self.net, self.n),
            "review_efficiency": (self.wrong_reviewed, self.k),
            "review_effectiveness": (self.wrong_reviewed, self.n_wrong),
            "oc_precision": (self.tp, self.tp + self.fp),
            "oc_recall": (self.tp, self.tp + self.fn),
        }

    def cost(self, costs: Mapping[str, float], m: int) -> Any:
        """What m reviews of each reviewed row and the errors that are left cost."""
        errors = costs["false_positive"] * self.fp + costs["false_negative"] * self.fn
        return costs["review"] * m * self.k + errors

    def rounded(self) -> "Team":
        """With floats where counts are fractions."""
        return Team(*(value if isinstance(value, int) else float(value) for value in self))


# --- scores -------------------------------------------------------------------------------------------------------


def put_team(
    scores: Scores, team: Team, curve: Curve, at: str, *, detailed: bool, reviewers: Reviewers = ORACLE
) -> None:
    """The team's scores.

    Args:
        scores: gets them.
        team, curve: of `team_at`.
        at: ends the keys.
        detailed: whether there are more of them.
        reviewers: those of the team.
    """
    team = team.rounded()
    put_reviews(scores, team, at, reviewers)
    put_team_areas(scores, curve, at, interpolated=detailed, reviewers=reviewers)
    if not detailed:
        return
    scores.note(f"n_reviewed{at}", team.k)
    scores.note(f"tied_at_cutoff{at}", team.tied)
    put_decisions(scores, team, at, reviewers)
    put_other_reviews(scores, (team.n - team.n_wrong) / team.n, team.k / team.n, at)


def put_reviews(scores: Scores, team: Team, at: str, reviewers: Reviewers) -> None:
    """OC-accuracy, and what the reviews were worth."""
    shares, no_review, no_error = team.shares(), "the fraction allows no review", "no prediction is wrong"
    scores.proportion(f"oc_accuracy{at}", *shares["oc_accuracy"], "no rows", math.nan)
    scores.proportion(f"review_efficiency{at}", *shares["review_efficiency"], no_review, math.nan)
    scores.proportion(f"review_effectiveness{at}", *shares["review_effectiveness"], no_error, math.nan)
    if reviewers.measured:
        scores.forget_counts(f"oc_accuracy{at}")
    if reviewers.given:
        for key, low, whole, why in (
            ("efficiency", -1.0, team.k, no_review),
            ("effectiveness", -ratio(team.k, team.n_wrong, math.nan), team.n_wrong, no_error),
        ):
            undefined = "" if nonzero(whole) else f"{why}, set to nan"
            scores.within(f"net_review_{key}{at}", ratio(team.net, whole, math.nan), low, 1.0, whole, undefined)


def put_decisions(scores: Scores, team: Team, at: str, reviewers: Reviewers) -> None:
    """OC-precision, -recall and -F1: ratios of expected counts."""
    shares = team.shares()
    scores.proportion(f"oc_precision{at}", *shares["oc_precision"], "nothing is found toxic")
    scores.proportion(f"oc_recall{at}", *shares["oc_recall"], "no reference is toxic")
    scores.f1(f"oc_f1{at}", team.tp, team.fp, team.fn, "nothing is toxic or found toxic")
    if reviewers.measured:
        for key in ("oc_precision", "oc_recall", "oc_f1"):
            scores.forget_counts(f"{key}{at}")


def put_team_areas(scores: Scores, curve: Curve, at: str, *, interpolated: bool, reviewers: Reviewers = ORACLE) -> None:
    """OC-AUC: the areas under the team's ROC and precision-recall curves. With moderators who err only the former: the
    latter isn't linear in the pairs of rows, so its expectation isn't its value at expected counts."""
    if not reviewers.perfect:
        put_roc_auc(scores, curve, f"oc_auroc{at}")
        return
    put_areas(scores, curve, (f"oc_auroc{at}", f"oc_auprc{at}"), CLASSES)
    if interpolated:
        reasons = scores.reasons[f"oc_auprc{at}"]
        scores.area(f"oc_auprc_interpolated{at}", curve.interpolated_area(), reasons, curve.n_positives)


def put_other_reviews(scores: Scores, accuracy: Any, fraction: Any, at: str) -> None:
    """Accuracy if a fraction of the rows was reviewed that is chosen at random, or has as many wrong ones as fit."""
    scores.put(f"random_review_accuracy{at}", accuracy + fraction * (1.0 - accuracy))
    scores.put(f"ideal_review_accuracy{at}", np.minimum(1.0, accuracy + fraction))


# --- who is reviewed ----------------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """Where the k-th largest review score lies: all above it are reviewed, and so are ``fit`` of those tied at it.

    Attributes:
        score: the k-th largest; a number, or an array for several k.
        fit, tied: how many of them fit, and how many there are.
        share: the weight with which each of the tied is reviewed: exact for one k, float64 for several.
    """

    score: Any
    fit: Any
    tied: Any
    share: Any

    def reviewed(self, rows: Sorted) -> Any:
        """How many of some rows are reviewed, from their review scores."""
        low, high = rows.below(self.score), rows.upto(self.score)
        if not isinstance(self.score, np.ndarray):
            low, high = int(low), int(high)
        return rows.n_rows - high + (high - low) * self.share


def capacity(fraction: float, n: int) -> int:
    """k = floor(fraction n), with a product within 10^-12 (relative) of a whole number taken as meant to be it.

    >>> capacity(0.29, 100), capacity(1 / 3, 3), capacity(0.999, 100)
    (29, 1, 99)
    """
    exact = Fraction(fraction) * n
    whole = round(exact)
    return min(n, whole if abs(exact - whole) <= Fraction(whole, 10**12) else math.floor(exact))


def cut_at(rows: Rows, k: Any) -> Cut:
    """The cut of k reviews, or of each of an array of k."""
    everyone, n = rows.everyone, rows.everyone.n_rows
    if isinstance(k, np.ndarray):
        score = np.where(k > 0, everyone.nth(n - np.maximum(k, 1)), math.inf)
        low, high = everyone.below(score), everyone.upto(score)
        fit, tied = k - (n - high), np.maximum(high - low, 1)
        return Cut(score, fit, tied, fit / tied)
    if k == 0:
        return Cut(math.inf, 0, 1, 0)
    score = float(everyone.nth(n - k))
    low, high = int(everyone.below(score)), int(everyone.upto(score))
    fit, tied = k - (n - high), high - low
    return Cut(score, fit, tied, Fraction(fit, tied) if 0 < fit < tied else fit // tied)


def team_at(rows: Rows, k: int, reviewers: Reviewers = ORACLE) -> tuple[Team, Curve]:
    """The team with k reviews: its counts, and the curve of the scores where an oracle puts reviewed positives above
    and reviewed negatives below every threshold, and moderators those that they call toxic and non-toxic."""
    cut = cut_at(rows, k)
    curve = oracle_curve(rows, cut, cut.share if isinstance(cut.share, int) else float(cut.share))
    return count_team(rows, k, cut, reviewers.exact()), curve if reviewers.perfect else moderated(curve, k, reviewers)


def moderated(curve: Curve, k: int, reviewers: Reviewers) -> Curve:
    """An oracle's curve with the pairs that moderators put in the wrong order."""
    negatives, positives = k - curve.head, curve.head
    return curve._replace(misplaced=reviewers.misplaced(curve.n_negatives, curve.n_positives, negatives, positives))


def count_team(rows: Rows, k: Any, cut: Cut, reviewers: Reviewers = ORACLE) -> Team:
    """The counts of the team with k reviews, exact for `Reviewers.exact`; or of each of an array of k."""
    caught = cut.reviewed(rows.mistaken), cut.reviewed(rows.missed)
    return team_of(
        (rows.everyone.n_rows, rows.ranks.n_positives),
        k,
        cut.tied * ((cut.fit > 0) & (cut.fit < cut.tied)),
        (rows.mistaken.n_rows, rows.missed.n_rows),
        caught,
        0 if rows.toxic is None else cut.reviewed(rows.toxic),
        reviewers,
    )


def team_of(
    sizes: tuple[Any, Any],
    k: Any,
    tied: Any,
    errors: tuple[Any, Any],
    caught: tuple[Any, Any],
    toxic: Any,
    reviewers: Reviewers,
) -> Team:
    """The team's counts.

    Args:
        sizes: rows, and positives among them.
        k, tied: as in `Team`.
        errors: false positives and false negatives of the model.
        caught: those of them that are reviewed.
        toxic: positives that are reviewed; any number for an oracle, who is never wrong.
        reviewers: who they are.
    """
    spoilt = reviewers.wrong_words(k - toxic, toxic)
    fp, fn = (error - good + bad for error, good, bad in zip(errors, caught, spoilt))
    return Team(
        n=sizes[0],
        k=k,
        tied=tied,
        n_wrong=sum(errors),
        wrong_reviewed=sum(caught),
        net=sum(caught) - sum(spoilt),
        tp=sizes[1] - fn,
        fp=fp,
        fn=fn,
    )


def oracle_curve(rows: Rows, cut: Cut, share: float) -> Curve:
    """Its curve, where each row tied at the cut is reviewed with weight ``share``."""
    ranks = rows.ranks
    n_positives, n_negatives = ranks.n_positives, ranks.n_negatives
    positives, negatives = (_left(rows, side, cut, share) for side in (1, 0))
    before, left = positives(ranks.first), negatives(n_negatives)
    fp = left - negatives(ranks.below)
    return Curve(
        weight=np.append(before[1:], positives(n_positives)) - before,  # a group of ties ends where the next begins
        tp=n_positives - before,
        fp=fp,
        fp_above=fp if ranks.upto is ranks.below else left - negatives(ranks.upto),
        head=n_positives - positives(n_positives),
        n_positives=n_positives,
        n_negatives=n_negatives,
    )


def _left(rows: Rows, side: int, cut: Cut, share: float) -> Callable[[Any], Any]:
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
        outside = n - _passed(n, a, d)
        if share == 1:
            return outside
        within = n - _passed(n, b, c)
        return within - share * (within - outside)

    return left


def _passed(n: Any, start: Any, end: Any) -> Any:
    """How many of the first n rows lie in a stretch; np.clip takes several times as long for a few."""
    return np.minimum(np.maximum(n, start), end) - start


# --- curves -------------------------------------------------------------------------------------------------------


class ReviewCurve(NamedTuple):
    """The team of model and reviewers at each of K capacities; arrays of shape (K,). Undefined values are nan.

    Attributes:
        n_reviewed: k.
        fraction: k / n.
        tied_at_cutoff: m where only r < m of the m rows tied at the cut fit, else 0.
        wrong_reviewed: w(S), the expected number of reviews that were needed.
        tp, fp, fn: expected confusion counts of the team.
        oc_accuracy, oc_precision, oc_recall, oc_f1: of these counts.
        review_efficiency: w(S) / k.
        review_effectiveness: w(S) / W.
        net_review_efficiency, net_review_effectiveness: the same of net corrections, see `Team`.
        oc_auroc, oc_auprc: ROC-AUC and average precision with the reviewed rows moved to their right end; with
            moderators who err to the end that these say, and without an average precision.
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
    net_review_efficiency: np.ndarray
    net_review_effectiveness: np.ndarray
    oc_auroc: np.ndarray
    oc_auprc: np.ndarray
    oc_auprc_interpolated: np.ndarray
    random_review_accuracy: np.ndarray
    ideal_review_accuracy: np.ndarray


def review_at(rows: Rows, capacities: Iterable[int], reviewers: Reviewers = ORACLE) -> ReviewCurve:
    """The team's scores with k = each of ``capacities`` reviews (each from 0 to n)."""
    points, reviewers = [], reviewers._replace(given=True)
    for k in capacities:
        (team, curve), scores = team_at(rows, k, reviewers), Scores()
        put_team(scores, team, curve, "", detailed=True, reviewers=reviewers)
        points.append({"fraction": k / team.n, **team._asdict(), **scores.values})
    return ReviewCurve(
        **{name: np.array([float(p.get(name, math.nan)) for p in points]) for name in ReviewCurve._fields}
    )


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
    reviewers: Reviewers = ORACLE,
) -> ReviewCurve:
    """Every quantity over the reviewed fraction, exact at each of its points (the paper's figures 2 to 4).

    Args:
        labels, scores, review_scores, review_strategy, threshold, logits: as in `sort_rows`.
        review_fractions: K fractions in [0, 1]; each means its capacity, floor(fraction n).
        reviewers: who reviews; the paper's oracle unless others are given.

    Returns:
        `ReviewCurve`; its ``fraction`` is k / n.

    >>> labels, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.45, 0.9])
    >>> review_curve(labels, scores, review_fractions=[0.0, 0.25, 0.5]).oc_accuracy.tolist()
    [0.5, 0.75, 1.0]
    """
    chosen: dict[str, Any] = {"review_strategy": review_strategy, "threshold": threshold, "logits": logits}
    rows = sort_rows(labels, scores, review_scores, **chosen, toxic=not reviewers.perfect)
    return review_at(rows, [capacity(fraction, len(labels)) for fraction in review_fractions], reviewers)
