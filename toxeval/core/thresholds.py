"""A threshold that is chosen on validation rows, by a rule, to be used on others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .ranking import sort_classes
from .refusals import describe, is_number, refuse
from .scoring import Scores
from .state import State

#: The rules: the largest value of a score; the best precision or recall where the other is at least so much.
MAXIMISE, RECALL, PRECISION = RULES = ("maximise", "recall_at_least", "precision_at_least")


@dataclass(frozen=True)
class Thresholds:
    """What a metric declares whose threshold may be chosen.

    Attributes:
        at: a state -> thresholds, ascending, one for each set of rows that any threshold makes positive, shape (k,);
            and the state of the decisions at each, its counts with a leading axis of k.
        maximise: the score whose largest value is wanted, unless a rule is given.
        recall, precision: the keys of those of the positive class.
    """

    at: Callable[[State], tuple[np.ndarray, State]]
    maximise: str
    recall: str
    precision: str


@dataclass(frozen=True)
class Rule:
    """How a threshold is chosen.

    Attributes:
        kind: one of `RULES`.
        value: the key of a score, or the least recall or precision.
    """

    kind: str
    value: Any


def rule_of(thresholds: Thresholds, **given: Any) -> Rule:
    """The rule that is given by one of `RULES` as a keyword, the others None; without one, the metric's usual one.

    Raises:
        Refusal: for several, and for a recall or precision out of (0, 1].
    """
    there = {kind: value for kind, value in given.items() if value is not None}
    if len(there) > 1:
        refuse(" and ".join(there), "one of them", where="threshold")
    kind, value = [*there.items(), (MAXIMISE, thresholds.maximise)][0]
    if kind == MAXIMISE:
        return Rule(kind, value)
    if not is_number(value) or not 0 < value <= 1:
        refuse(describe(value), "a number above 0, up to 1", option=kind)
    return Rule(kind, float(value))


def choose(thresholds: Thresholds, state: State, rule: Rule, score: Callable[[State], Scores], better: Any) -> float:
    """The threshold by a rule. Of several that serve it alike, the highest: it has the fewest alarms.

    Args:
        thresholds: what the metric declares.
        state: the validation rows.
        rule: how to choose.
        score: scores the decisions; undefined scores are nan, and are never chosen.
        better: key -> "higher" for scores that may be maximised.

    Raises:
        Refusal: for rows of one class, a key that isn't there, and a recall or precision that nothing attains.
    """
    cuts, decided = thresholds.at(state)
    scores = score(decided)
    keys = [key for key in scores.values if key not in scores.notes and better(key) == "higher"]
    recall, precision = (
        np.broadcast_to(scores.values[key], cuts.shape) for key in (thresholds.recall, thresholds.precision)
    )
    if np.isnan(recall).any():
        refuse("no positive row", "rows of both classes, to choose a threshold", inputs=("references",))
    if rule.kind == MAXIMISE:
        if rule.value not in keys:
            refuse(describe(rule.value), ", ".join(keys), option=MAXIMISE)
        wanted = np.asarray(scores.values[rule.value], dtype=float)
    else:
        bounded, wanted = (recall, precision) if rule.kind == RECALL else (precision, recall)
        enough = bounded >= rule.value
        if not enough.any():
            refuse(str(rule.value), f"at most {np.nanmax(bounded):.6g}, which some threshold attains", option=rule.kind)
        wanted = np.where(enough, np.nan_to_num(wanted), np.nan)
    return float(cuts[np.flatnonzero(wanted == np.nanmax(wanted))[-1]])


def decisions_at_all(
    references: np.ndarray, probabilities: np.ndarray, multiplicity: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Every threshold that decides differently, and the confusion matrices there.

    A threshold t makes the rows with probability > t positive: tied rows move together, a row with probability 0 never
    is positive, and with the highest probability as threshold no row is.

    Args:
        references: 0 or 1 (positive), shape (m,).
        probabilities: float64 of shape (m,), in [0, 1].
        multiplicity: how many rows each entry stands for, if not one.

    Returns:
        Thresholds, ascending, shape (k,): 0 and the distinct probabilities; and int64 of shape (k, 2, 2), rows
        references.

    >>> cuts, confusion = decisions_at_all(np.array([0, 1, 1], np.int8), np.array([0.2, 0.2, 0.7]))
    >>> cuts.tolist(), confusion[:, 1, 1].tolist()
    ([0.0, 0.2, 0.7], [2, 1, 0])
    """
    negatives, positives = sort_classes(references, probabilities, multiplicity)
    cuts = np.unique(np.append(probabilities, 0.0))
    tn, fn = negatives.upto(cuts), positives.upto(cuts)
    confusion = np.array([[tn, negatives.n_rows - tn], [fn, positives.n_rows - fn]], dtype=np.int64)
    return cuts, np.moveaxis(confusion, -1, 0)
