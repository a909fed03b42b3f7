"""From rows to a picture before it is drawn."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from toxeval.core.declarations import Definition, Picture, confusion_picture
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, refuse
from toxeval.core.state import MULTIPLICITY, State
from toxeval.read import Batch, Rows, add_rows


def picture_of(
    metric: Metric, systems: Mapping[str, Rows], progress: Callable[[Rows], Iterable[Batch]] = iter
) -> Picture:
    """A metric's picture of the rows of one or several systems.

    Args:
        metric: the metric, its options fixed.
        systems: name -> rows.
        progress: see `add_rows`.

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
        definition: of the metric.
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


def _row_by_row(state: State) -> State:
    """The state with an entry a row: of many rows, equal ones are kept once."""
    if state.multiplicity is None:
        return state
    rows = {key: np.repeat(values, state.multiplicity) for key, values in state.rows.items() if key != MULTIPLICITY}
    return State(state.n_rows, state.counts, rows, state.resolution)
