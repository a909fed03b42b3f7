"""What counts of the rows of each group, and of all rows. It adds up, like a `State`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .group_columns import Name, as_name, codes_by_name, in_order, rows_by_group, sort_codes
from .refusals import refuse
from .row_arrays import RowArrays
from .scoring import By, Scores
from .state import State, merge, with_multiplicity


class AtOnce(NamedTuple):
    """How a metric counts the rows of many groups at once.

    Attributes:
        tables: (arrays, `By`) -> the counts of ``count``, each with a leading axis of groups. The ``rows`` of its
            states, if there are any, have an entry a row, or a column ``cluster``.
        score: of states with ``rows``: (`join` of them, `By`, `ranking.end_to_end`, options of ``score`` by keyword) ->
            `Scores` with a leading axis of groups; None where it can't with these options.
        decided: (state with ``rows``, options of ``score``) -> the state of its decisions alone, and the options by
            which that has the same scores, if fewer: where one of these is wanted, resamples of scores aren't.
    """

    tables: Callable[[Mapping[str, np.ndarray], By], dict[str, np.ndarray]]
    score: Callable[..., Scores | None] | None = None
    decided: Callable[[State, Mapping[str, Any]], tuple[State, dict[str, Any]]] | None = None


@dataclass(frozen=True, eq=False)
class GroupStates:
    """The states of groups of rows, which may overlap and need not hold all rows. ``a + b`` is of the rows of both.

    Attributes:
        groups: group -> the state of its rows.
        all: the state of all rows.
    """

    groups: Mapping[Name, State]
    all: State

    def __add__(self, other: "GroupStates") -> "GroupStates":
        return merge_groups([self, other])

    def compact(self) -> "GroupStates":
        """The same with equal rows as a single entry."""
        return GroupStates({name: state.compact() for name, state in self.groups.items()}, self.all.compact())


def count_groups(
    count: Callable[[dict[str, np.ndarray]], State],
    at_once: AtOnce | None,
    arrays: dict[str, np.ndarray],
    per_token: Sequence[str],
    groups: Any,
    beside: str,
) -> GroupStates:
    """What counts of rows.

    Args:
        count, at_once: of the metric.
        arrays, per_token: the rows; see `row_arrays.RowArrays`.
        groups, beside: see `group_columns.rows_by_group`.
    """
    everyone = count(arrays)
    if at_once is None or isinstance(groups, Mapping) or "cluster" in everyone.rows:
        rows, members = RowArrays(arrays, per_token), rows_by_group(groups, everyone.n_rows, beside)
        return GroupStates({name: count(rows.take(which)) for name, which in members}, everyone)
    names, codes = codes_by_name(groups, everyone.n_rows, beside)
    return GroupStates(dict(zip(names, _states(at_once, arrays, By(codes, len(names)), everyone))), everyone)


def _states(at_once: AtOnce, arrays: dict[str, np.ndarray], by: By, everyone: State) -> Iterator[State]:
    """The state of each of several groups that have no row in common."""
    tables, ends = at_once.tables(arrays, by), np.cumsum(np.bincount(by.ids, minlength=by.n)).tolist()
    columns = everyone.rows
    if columns:
        order, _ = sort_codes(*by)
        columns = {key: values[order] for key, values in columns.items()}
    for i, (start, end) in enumerate(zip([0, *ends], ends)):
        counts = {key: table[i] for key, table in tables.items()}
        rows = {key: values[start:end] for key, values in columns.items()}
        yield State(end - start, counts, rows, everyone.resolution, everyone.metric)


def join(states: Sequence[State]) -> tuple[State, By]:
    """Several states as one, whose counts have a leading axis for them, and whose rows stand end to end."""
    if any(state.multiplicity is not None for state in states):
        states = list(map(with_multiplicity, states))
    first, sizes = states[0], [len(next(iter(state.rows.values()), ())) for state in states]
    counts = {key: np.stack([state.counts[key] for state in states]) for key in first.counts}
    rows = {key: np.concatenate([state.rows[key] for state in states]) for key in first.rows}
    whole = State(sum(state.n_rows for state in states), counts, rows, first.resolution, first.metric)
    return whole, By(np.repeat(np.arange(len(states)), sizes), len(states))


def merge_groups(parts: Iterable[GroupStates]) -> GroupStates:
    """The states of the rows of all parts, such as batches; groups in ascending order, unless all parts have the same
    ones in another.

    Raises:
        ValueError: as `state.merge`; for names of several kinds; if there is no part.

    >>> a, b = State(1), State(2)
    >>> both = merge_groups([GroupStates({"x": a}, a), GroupStates({"x": b, None: b}, b)])
    >>> {name: state.n_rows for name, state in both.groups.items()}
    {'x': 3, None: 2}
    """
    parts = list(parts)
    if not parts:
        refuse("none", "at least one", metric="merge_groups", where="parts")
    states: dict[Name, list[State]] = {}
    for part in parts:
        for name, state in part.groups.items():
            states.setdefault(as_name(name), []).append(state)  # a NaN that was pickled is another one
    alike = all(len(part.groups) == len(states) for part in parts)
    names = list(states) if alike else in_order(states)
    return GroupStates({name: merge(states[name]) for name in names}, merge(part.all for part in parts))
