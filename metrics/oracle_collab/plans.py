"""How many rows to review: the fewest that reach a target, and what costs least.

An oracle never makes a team worse, so its targets are found by bisection. Moderators who err may do harm, and all k
from 0 to n are looked at: among rows tied in their review score all counts grow in proportion to k, so between the ends
of ties no ratio of them turns, and the OC-AUROC, which is quadratic there, turns once. Those k are its *corners*.
"""

import bisect
import functools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from toxeval.core.scoring import Scores, ratio

from .curves import Cut, Team, count_team, cut_at, oracle_curve
from .reviewers import ORACLE, Reviewers
from .rows import Rows

#: What ends the key of the least cost.
CHEAPEST = "_at_cheapest"
#: How far off a value may be that was computed in float64.
ROUNDING = 1e-11


def smallest_capacity(
    rows: Rows, quantity: str, target: float, reviewers: Reviewers = ORACLE
) -> tuple[int | None, float]:
    """The smallest k at which the team reaches a target.

    Args:
        rows: of `sort_rows`, with ``toxic`` for reviewers who err.
        quantity: "oc_accuracy", "oc_precision", "oc_recall" or "oc_auroc".
        target: in [0, 1].
        reviewers: who they are.

    Returns:
        k, exact (in rational arithmetic, so that a target met to the digit counts as met), None if no k reaches it;
        and the best value that any k reaches, nan where the quantity is undefined.
    """
    exact = reviewers.exact()

    @functools.cache
    def value(k: int) -> float:
        cut = cut_at(rows, k)
        if quantity == "oc_auroc":
            part, whole = _right_pairs(rows, k, cut, exact)
        else:
            part, whole = count_team(rows, k, cut, exact).shares()[quantity]
        return float(Fraction(part) / whole) if whole else math.nan  # float() of a Fraction rounds correctly

    def reached(k: int) -> bool:
        return value(k) >= target

    if reviewers.perfect:
        # without positives, a precision of 0 ends in 0/0: the one case where what is reached can be lost
        ks = np.array([0, rows.everyone.n_rows])
        values = np.array([value(k) for k in ks.tolist()])
    else:
        ks, values = _corners(rows, quantity, reviewers)
    best = float(values[~np.isnan(values)].max(initial=-1.0))
    candidates = np.flatnonzero(values >= target - ROUNDING).tolist()
    i = next((i for i in candidates if reached(int(ks[i]))), None)
    if i is None:
        return None, best if best >= 0 else math.nan
    between = range(int(ks[i - 1]) + 1 if i else 0, int(ks[i]) + 1)
    return between[bisect.bisect_left(between, True, hi=len(between) - 1, key=reached)], best


def cheapest_capacity(rows: Rows, reviewers: Reviewers, cost: Callable[[Team], Any]) -> int:
    """The smallest k whose cost is the least; costs are linear between the ends of ties."""
    ks = _ends(rows)
    costs = cost(count_team(rows, ks, cut_at(rows, ks), reviewers))
    return int(ks[np.argmax(costs <= costs.min() * (1 + ROUNDING))])


# --- scores ----------------------------------------------------------------------------------------------------------


def put_target(scores: Scores, rows: Rows, quantity: str, target: float, reviewers: Reviewers) -> None:
    """The fewest reviews that reach a target, and of moderators who may err the best that any number reaches."""
    k, best = smallest_capacity(rows, quantity, target, reviewers)
    why = ""
    if k is None:
        why = "reviews gives {quantity} a value" if math.isnan(best) else "reviews reaches the target of {quantity}"
        why = f"no number of {why.format(quantity=quantity)}, set to nan"
    scores.note(f"review_fraction_for_{quantity}", math.nan if k is None else k / rows.everyone.n_rows, why)
    scores.note(f"n_reviews_for_{quantity}", math.nan if k is None else k, why)
    if reviewers.given:
        scores.note(f"best_{quantity}", best, why if math.isnan(best) else "")


def put_costs(
    scores: Scores,
    rows: Rows,
    capacities: Mapping[str, int],
    reviewers: Reviewers,
    costs: Mapping[str, float],
    moderators: int,
) -> None:
    """Expected costs at each of some capacities, at the cheapest, and with nothing and everything reviewed."""
    n = rows.everyone.n_rows
    capacities = costed(rows, capacities, reviewers, costs, moderators)
    scores.note("cheapest_review_fraction", capacities[CHEAPEST] / n)
    for at, k in capacities.items():
        team = count_team(rows, k, cut_at(rows, k), reviewers.exact()).rounded()
        reviews = costs["review"] * moderators * k
        most = reviews + n * max(costs["false_positive"], costs["false_negative"])
        scores.within(f"cost{at}", team.cost(costs, moderators), reviews, most, n)
    for name, against in (("_without_review", "no_review"), ("_of_reviewing_all", "reviewing_all")):
        scores.note(f"saved_against_{against}", scores.values[f"cost{name}"] - scores.values[f"cost{CHEAPEST}"])


def costed(
    rows: Rows, capacities: Mapping[str, int], reviewers: Reviewers, costs: Mapping[str, float], moderators: int
) -> dict[str, int]:
    """The capacities whose cost is given, by the ends of their keys."""
    cheapest = cheapest_capacity(rows, reviewers, lambda team: team.cost(costs, moderators))
    return {**capacities, CHEAPEST: cheapest, "_without_review": 0, "_of_reviewing_all": rows.everyone.n_rows}


# --- corners ------------------------------------------------------------------------------------------------------


def _ends(rows: Rows) -> np.ndarray:
    """0, and each k with which all rows of a review score are reviewed; ascending."""
    values = rows.everyone.values
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return np.append(0, rows.everyone.n_rows - rows.everyone.rows_before(starts)[::-1])


def _corners(rows: Rows, quantity: str, reviewers: Reviewers) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of reviews from 0 to n between which a quantity doesn't turn, ascending, and its values there."""
    ks = _ends(rows)
    cuts = cut_at(rows, ks)
    if quantity != "oc_auroc":
        return ks, ratio(*count_team(rows, ks, cuts, reviewers).shares()[quantity], math.nan)
    assert rows.toxic is not None
    toxic, (cross, tied) = cuts.reviewed(rows.toxic), _inversions(rows)
    starts, ends, left_over = ks[:-1], ks[1:], (cross + tied)[::-1].cumsum()[::-1] - (cross + tied)
    n_negatives, n_positives = rows.ranks.n_negatives, rows.ranks.n_positives

    def wrong(k: np.ndarray) -> np.ndarray:
        """Twice the pairs in the wrong order: those not reviewed, and those that reviewers put so."""
        at, positives = ends.searchsorted(k), np.interp(k, ks, toxic)
        left = (ends[at] - k) / (ends[at] - starts[at])
        pairs: np.ndarray = left_over[at] + left * cross[at] + left**2 * tied[at]
        return pairs + reviewers.misplaced(n_negatives, n_positives, k - positives, positives)

    first, middle, last = wrong(starts), wrong((starts + ends) / 2), wrong(ends)
    turn = starts + ratio(3 * first + last - 4 * middle, 4 * (first + last - 2 * middle), math.nan) * (ends - starts)
    turn = turn[(turn > starts) & (turn < ends)]
    ks = np.unique(np.concatenate([ks, np.floor(turn), np.ceil(turn)]).astype(np.int64))
    return ks, 1.0 - ratio(wrong(ks), 2.0 * n_positives * n_negatives, math.nan)


def _inversions(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """How many pairs of a positive and a negative in the wrong order are no longer so when an oracle has reviewed the
    rows of a review score, counted as in `Curve.inversions`.

    Pairs are found as in a radix sort: two scores first differ in some bit of their ranks, and there the lower one has
    a 0. The last bit is 0 for positives and 1 for negatives: the pairs that first differ there are tied.

    Returns:
        Two arrays with an entry a review score, from the first reviewed to the last: pairs with a row that is reviewed
        later, and pairs within.
    """
    sides = rows.scores
    positive = np.repeat([False, True], [len(side.values) for side in sides])
    _, rank = np.unique(np.concatenate([side.values for side in sides]), return_inverse=True)
    distinct, place = np.unique(-np.concatenate(rows.review), return_inverse=True)
    sizes = [np.ones(len(side.values)) if side.multiplicity is None else side.multiplicity for side in sides]
    code, size, t = 2 * rank + ~positive, np.concatenate(sizes).astype(np.float64), len(distinct)
    cross, tied = np.zeros(t), np.zeros(t)
    order = np.argsort(-place, kind="stable")
    for bit in reversed(range(int(code.max()).bit_length())):
        above, block, at = code[order] >> bit & 1, code[order] >> bit + 1, place[order]
        runs = np.flatnonzero(np.append(True, (block[1:] != block[:-1]) | (at[1:] != at[:-1])))
        low = np.add.reduceat(size[order] * (positive[order] & (above == 0)), runs)
        high = np.add.reduceat(size[order] * (~positive[order] & (above == 1)), runs)
        low_later, high_later = (_sums_before(part, block[runs]) for part in (low, high))
        weight = 2.0 if bit else 1.0
        cross += weight * np.bincount(at[runs], low * high_later + high * low_later, minlength=t)
        tied += weight * np.bincount(at[runs], low * high, minlength=t)
        order = order[np.argsort(code[order] >> bit, kind="stable")]
    return cross, tied


def _sums_before(values: np.ndarray, block: np.ndarray) -> np.ndarray:
    """The sum of the values before each one in its block; blocks are stretches of the same number."""
    before = np.cumsum(values) - values
    starts = np.flatnonzero(np.append(True, block[1:] != block[:-1]))
    sums: np.ndarray = before - np.repeat(before[starts], np.diff(np.append(starts, len(block))))
    return sums


def _right_pairs(rows: Rows, k: int, cut: Cut, reviewers: Reviewers) -> tuple[Fraction | int, int]:
    """OC-AUROC as (pairs in the right order, pairs), both doubled.

    The pairs in the wrong order that aren't reviewed are a quadratic in the share in which ties are reviewed, whose
    values at whole numbers are whole numbers.
    """
    n_negatives, n_positives, share = rows.ranks.n_negatives, rows.ranks.n_positives, cut.share
    pairs = 2 * n_positives * n_negatives
    if isinstance(share, int):
        wrong = int(oracle_curve(rows, cut, share).inversions())
    else:
        at_0, at_1, at_less = (int(oracle_curve(rows, cut, whole).inversions()) for whole in (0, 1, -1))
        wrong = at_0 + Fraction(at_1 - at_less, 2) * share + (Fraction(at_1 + at_less, 2) - at_0) * share**2
    if rows.toxic is not None:
        toxic = cut.reviewed(rows.toxic)
        wrong += reviewers.misplaced(n_negatives, n_positives, k - toxic, toxic)
    return pairs - wrong, pairs
