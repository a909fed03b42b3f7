"""From rows to a picture before it is drawn."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from toxeval.core.declarations import Definition, Picture, confusion_picture
from toxeval.core.group_columns import label
from toxeval.core.group_scores import GroupScores
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, refuse
from toxeval.core.state import MULTIPLICITY, State
from toxeval.read import Batch, Rows, add_rows


def picture_of(
    metric: Metric, systems: Mapping[str, Rows], progress: Callable[[Rows], Iterable[Batch]] = iter
) -> Picture:
    """A metric's picture of the rows of one or several systems.

    Raises:
        Refusal: for bad input; for several systems where there is one picture for each; for a metric without any.
    """
    definition, states, results = metric.definition, {}, {}
    intervals = {"confidence_level": definition.picture_confidence}
    for name, rows in systems.items():
        add_rows(metric, rows, groups=False, progress=progress)
        states[name] = metric.added_state()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # undefined scores are gaps in a picture
            # of metrics that are drawn without scores, too: what they refuse has no picture
            results[name] = metric.compute(**intervals) or {}
    return picture_of_states(definition, states, results, metric.score_options | intervals)


def picture_of_states(
    definition: Definition,
    states: Mapping[str, State],
    results: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
) -> Picture:
    """A metric's picture of states that were scored.

    Args:
        states, results: system -> state, and what ``compute`` gave for it.
        options: of the scores; ``confidence_level`` is that of the results' intervals.

    Raises:
        Refusal: as `picture_of`.
    """
    with Known(metric=definition.name):
        if definition.picture is not None:
            return definition.picture({name: _row_by_row(state) for name, state in states.items()}, results, options)
        if definition.confusions is None:
            refuse("no confusion matrix", "a metric that counts one", where="plot")
        return confusion_picture(states, definition.confusions)


def corrected_picture(definition: Definition, results: Mapping[str, Mapping[str, Any]], level: float) -> Picture:
    """The picture of rates as they are and as corrected for their judge.

    Args:
        results: system -> what ``corrected_rate`` gave, perhaps with bounds of the raw rates.
    """
    rate = definition.judged
    assert rate is not None
    keys, names = [rate.overall], [f"All rows: {rate.label}"]
    categories = definition.input("categories")
    if categories is not None and all(rate.mean in result for result in results.values()):
        keys = [*(f"{rate.mean}_{slug}" for slug in rate.categories), rate.mean]
        names = [*categories.labels, "Mean of categories"]
    bars = {}
    for system, result in results.items():
        for ending, name in (("", "verdicts"), ("_corrected", "corrected")):
            bars[name if len(results) == 1 else f"{system}: {name}"] = [
                (result[key], result.get(f"{key}_low", result[key]), result.get(f"{key}_high", result[key]))
                for key in (f"{key}{ending}" for key in keys)
            ]
    label = f"share of {rate.label} ({100 * level:g} % interval)"
    return Picture("rates", {"bars": bars, "categories": names, "label": label})


def groups_picture(found: GroupScores) -> Picture:
    """The picture of the scores of groups, which `GroupScores` has with intervals."""
    key = found.key
    scores = [
        (label(name), *(result.get(f"{key}{end}", math.nan) for end in ("", "_low", "_high")))
        for name, result in found.groups.items()
        if result is not None
    ]
    if not scores:
        refuse("no group of so many rows", f"at least one of {found.min_rows} rows", where="plot")
    overall = (f"all {found.n_rows} rows", float(found.all[key]))
    return Picture("groups", {"scores": scores, "overall": overall, "key": key, "better": found.better})


def _row_by_row(state: State) -> State:
    """The state with an entry a row: of many rows, equal ones are kept once."""
    if state.multiplicity is None:
        return state
    rows = {key: np.repeat(values, state.multiplicity) for key, values in state.rows.items() if key != MULTIPLICITY}
    return State(state.n_rows, state.counts, rows, state.resolution)
