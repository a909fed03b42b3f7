"""For whom does it fail? The scores of groups, the gap between them, and how each differs from the other rows."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .differences import difference_interval, gap_interval, holm, p_value, range_level
from .group_columns import Name, as_name, shown
from .group_states import GroupStates, join
from .ranking import end_to_end, rank_sorted
from .refusals import describe, refuse
from .scorer import Scored, Scorer
from .state import State, subtract
from .subgroup_auc import UNDEFINED, Ranked, SubgroupAUC, power_mean, ranked, subgroup_auc

#: So many groups are named in a warning.
NAMED = 5


@dataclass(frozen=True)
class Gap:
    """The largest score of the groups minus the smallest.

    Attributes:
        value: the difference.
        low, high: its interval (`differences.gap_interval`); None without a confidence level.
        largest, smallest: the groups with these scores: one each, or several with the same.
    """

    value: float
    low: float | None
    high: float | None
    largest: list[Name]
    smallest: list[Name]


@dataclass(frozen=True)
class Difference:
    """How the score of a group differs from that of all rows outside it.

    Attributes:
        rest: the score of the rows outside.
        value: the group's score minus that.
        low, high: its interval (`differences.difference_interval`).
        p_value: the interval at the level 1 - p_value just touches 0.
        p_holm: the p-value corrected for the number of groups.
    """

    rest: float
    value: float
    low: float
    high: float
    p_value: float
    p_holm: float


@dataclass(frozen=True, eq=False)
class GroupScores:
    """The scores of groups of rows.

    Attributes:
        key: the score that groups are compared by.
        better: "higher" or "lower", whichever is better of it; empty if neither is.
        min_rows: groups of fewer rows have no scores.
        confidence_level: of all intervals; None if there are none.
        n_rows: how many rows there are, those in no group among them.
        all: the metric's result on all of them.
        groups: group -> the metric's result on its rows; None where these are fewer than ``min_rows``.
        sizes: group -> how many rows it has.
        worst: the groups with the worst score: one, or several with the same; none if neither way is better.
        gap: None where fewer than two groups have a score.
        differences: group -> how it differs from the rows outside it, where it and they have a score; empty without a
            confidence level.
        aucs: group -> its ROC-AUC within and across, for metrics of scores; empty for others.
        auc_means: the generalised means of these over groups; empty likewise.
    """

    key: str
    better: str
    min_rows: int
    confidence_level: float | None
    n_rows: int
    all: dict[str, Any]
    groups: dict[Name, dict[str, Any] | None]
    sizes: dict[Name, int]
    worst: list[Name]
    gap: Gap | None
    differences: dict[Name, Difference]
    aucs: dict[Name, SubgroupAUC]
    auc_means: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """What JSON can hold: ``groups`` is a list of records, since a name may be None or NaN."""
        records = [
            {
                "group": name,
                "n_rows": self.sizes[name],
                "scores": scores,
                "difference": asdict(self.differences[name]) if name in self.differences else None,
                "aucs": self.aucs[name]._asdict() if name in self.aucs else None,
            }
            for name, scores in self.groups.items()
        ]
        return {
            "key": self.key,
            "better": self.better,
            "min_rows": self.min_rows,
            "confidence_level": self.confidence_level,
            "n_rows": self.n_rows,
            "all": self.all,
            "groups": records,
            "worst": self.worst,
            "gap": None if self.gap is None else asdict(self.gap),
            "auc_means": self.auc_means,
        }


def score_groups(
    scorer: Scorer, states: GroupStates, key: str | None, min_rows: int
) -> tuple[GroupScores, dict[str, str]]:
    """The scores of groups, and which of them are undefined: key -> why, and where.

    A score that is undefined in a group, whatever value it is given by convention, says nothing of the group: where
    groups are compared by it, that group is left out.

    Args:
        scorer: scores a state.
        states: what was counted.
        key: the score to compare groups by; None is the one that leads the result.
        min_rows: groups of fewer rows get no scores; at least 1.

    Raises:
        Refusal: for a key that isn't one of the scores; for groups with rows that aren't among all rows.
    """
    scorer = scorer.settled(states.all)
    everyone = Scored(scorer, states.all)
    key = _check_key(key, everyone)
    groups = {as_name(name): state for name, state in states.groups.items()}
    large = {name: state for name, state in groups.items() if state.n_rows >= min_rows}
    in_order = _ranked(scorer, [states.all, *large.values()])
    aucs = {name: subgroup_auc(each, in_order[0]) for name, each in zip(large, in_order[1:])}
    found = _score_at_once(scorer, large, in_order[1:]) if scorer.level is None else None
    scored: dict[Name, Scored] = {}
    if found is None:
        scored = {name: Scored(scorer, state) for name, state in large.items()}
        headlines = scorer.definition.headlines
        found = {name: Found(each.scores.as_dict(headlines), each.scores.undefined) for name, each in scored.items()}
    values = {
        name: each.result[key]
        for name, each in found.items()
        if key not in each.undefined and not math.isnan(each.result[key])
    }
    compared = Compared({name: each.result for name, each in found.items()}, [], {})
    if scorer.level is not None:
        compared = _compare(everyone, scored, key, values, min_rows)
    better = scorer.definition.better(key)
    gap = _gap(values, compared.bounds) if len(values) > 1 else None
    means = {area: power_mean(getattr(each, area) for each in aucs.values()) for area in SubgroupAUC._fields}
    undefined = {name: {**each.undefined, **_undefined_aucs(aucs.get(name))} for name, each in found.items()}
    return GroupScores(
        key=key,
        better=better,
        min_rows=min_rows,
        confidence_level=scorer.level,
        n_rows=states.all.n_rows,
        all=everyone.result(),
        groups={name: compared.results.get(name) for name in groups},
        sizes={name: state.n_rows for name, state in groups.items()},
        worst=_with_value(values, {"higher": min, "lower": max}[better]) if better and values else [],
        gap=gap,
        differences=compared.differences,
        aucs=aucs,
        auc_means=means if aucs else {},
    ), _by_key(everyone.scores.undefined, undefined)


class Found(NamedTuple):
    """The scores of one group, and which of them are undefined."""

    result: dict[str, Any]
    undefined: dict[str, str]


def _check_key(key: Any, everyone: Scored) -> str:
    """The key, if it is one of the scores; the leading one for None."""
    scores = everyone.scores
    keys = [each for each in scores.as_dict(everyone.scorer.definition.headlines) if each not in scores.notes]
    if key is None:
        return keys[0]
    if key not in keys:
        close = difflib.get_close_matches(key, keys, n=1) if isinstance(key, str) else []
        refuse(describe(key, keys), ", ".join(keys), f"did you mean {close[0]}?" if close else "", option="key")
    return str(key)


def _score_at_once(
    scorer: Scorer, states: Mapping[Name, State], in_order: Sequence[Ranked]
) -> dict[Name, Found] | None:
    """The scores of many groups: formulas take a leading axis. None where those of rows don't."""
    if not states:
        return {}
    state, by = join(list(states.values()))
    at_once, scores = scorer.definition.at_once, None
    if not state.rows or "cluster" in state.rows:
        scores = scorer.scores(state)
    elif at_once is not None and at_once.score is not None:
        curve = end_to_end([rank_sorted(*each).curve() for each in in_order])
        scores = at_once.score(state, by, curve, **scorer.options)
    if scores is None:
        return None
    undefined: list[dict[str, str]] = [{} for _ in range(by.n)]
    for key in scores.undefined:
        for why, where in scores.lacking(key).items():
            for i in np.flatnonzero(np.broadcast_to(where, by.n)):
                undefined[i][key] = why
    results = scores.as_dicts(by.n, scorer.definition.headlines)
    return {name: Found(*each) for name, *each in zip(states, results, undefined)}


# --- comparisons --------------------------------------------------------------------------------------------------


class Compared(NamedTuple):
    """What is known of groups by comparing them.

    Attributes:
        results: the result of each.
        bounds: of those with the score they are compared by: (low, high), and (low, high) for all pairs at once.
        differences: of these to the rest.
    """

    results: dict[Name, dict[str, Any]]
    bounds: list[tuple[float, ...]]
    differences: dict[Name, Difference]


def _compare(
    everyone: Scored, scored: dict[Name, Scored], key: str, values: Mapping[Name, float], min_rows: int
) -> Compared:
    """The groups with intervals. ``scored`` is emptied, so that the resamples of one group at a time are in memory."""
    scorer, whole = everyone.scorer, everyone.state.compact()
    level = scorer.level
    assert level is not None
    joint = range_level(len(values), level)
    results: dict[Name, dict[str, Any]] = {}
    bounds: list[tuple[float, ...]] = []
    differences: dict[Name, Difference] = {}
    for name in list(scored):
        group = scored.pop(name)
        results[name] = group.result()
        if name not in values:
            continue
        bounds.append(group.intervals.bounds(key, level) + group.intervals.bounds(key, joint, exact=True))
        rest = subtract(whole, group.state)
        if rest.n_rows >= min_rows:
            difference = _difference(group, scorer.scored(rest, key), key, level)
            differences |= {name: difference} if difference is not None else {}
    corrected = holm([each.p_value for each in differences.values()])
    holding = {n: replace(each, p_holm=p) for (n, each), p in zip(differences.items(), corrected)}
    return Compared(results, bounds, holding)


def _difference(group: Scored, rest: Scored, key: str, level: float) -> Difference | None:
    """The difference of a group to the rest; None where the score is undefined in the rest."""
    first, second = (float(each.scores.values[key]) for each in (group, rest))
    if key in rest.scores.undefined or math.isnan(second):
        return None
    bounds = [partial(each.intervals.bounds, key, exact=True) for each in (group, rest)]
    low, high = difference_interval(first, bounds[0](level), second, bounds[1](level))
    p = p_value(first, bounds[0], second, bounds[1])
    return Difference(second, first - second, low, high, p, p)


def _gap(values: Mapping[Name, float], bounds: list[tuple[float, ...]]) -> Gap:
    several = np.array(list(values.values()))
    low = high = None
    if bounds:
        columns = np.array(bounds).T
        low, high = gap_interval(several, (columns[0], columns[1]), (columns[2], columns[3]))
    largest, smallest = _with_value(values, max), _with_value(values, min)
    return Gap(float(several.max() - several.min()), low, high, largest, smallest)


def _with_value(values: Mapping[Name, float], which: Callable[[Iterable[float]], float]) -> list[Name]:
    wanted = which(values.values())
    return [name for name, value in values.items() if value == wanted]


# --- areas, and what is undefined ---------------------------------------------------------------------------------


def _ranked(scorer: Scorer, states: Iterable[State]) -> list[Ranked]:
    """The scores of each state in order, for metrics with scores."""
    of_rows = scorer.definition.ranked
    if of_rows is None:
        return []
    return [ranked(*of_rows(state), state.multiplicity) for state in states if state.rows]


def _undefined_aucs(areas: SubgroupAUC | None) -> dict[str, str]:
    known = {} if areas is None else areas._asdict()
    return {area: UNDEFINED[area] for area, value in known.items() if math.isnan(value)}


def _by_key(everyone: Mapping[str, str], groups: Mapping[Name, Mapping[str, str]]) -> dict[str, str]:
    """For a warning: key -> why it is undefined, and where."""
    places: dict[str, dict[str, list[str]]] = {}
    for name, undefined in groups.items():
        for key in undefined.keys() - everyone.keys():
            places.setdefault(key, {}).setdefault(undefined[key], []).append(shown(name))
    return {key: f"{why}, in all rows" for key, why in everyone.items()} | {
        key: "; ".join(f"{why}, in {_listed(names)}" for why, names in by_reason.items())
        for key, by_reason in places.items()
    }


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    several = "group" if len(names) == 1 else "groups"
    return f"{several} {', '.join(names[:NAMED])}" + (f" and {more} more" if more > 0 else "")
