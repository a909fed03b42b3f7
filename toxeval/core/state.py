"""States: what a metric keeps of some rows. They add up, over batches, processes and machines."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .refusals import describe, refuse

#: Version of the layout `State.to_bytes` writes; the one before called the multiplicity "counts".
STATE_FORMAT = 4
#: The column of ``rows`` that says how many rows an entry stands for.
MULTIPLICITY = "multiplicity"


@dataclass(frozen=True, eq=False)
class State:
    """The sufficient statistics of some rows. ``a + b`` is the state of the rows of both.

    Two states are equal if they are the same object; the bytes of ``compact()`` tell whether they say the same.

    Attributes:
        n_rows: how many rows it stands for.
        counts: arrays that add up, such as a confusion matrix.
        rows: arrays that are joined end to end, such as the scores a rank metric needs: one entry a row, or with
            ``rows["multiplicity"]`` one for as many equal rows as that says.
        resolution: width of the grid the scores in ``rows`` are on; 0.0 if they are as they were given.
        metric: which metric counted it, with the configuration if that isn't the default one; empty if its function
            ``count`` was called directly.
    """

    n_rows: int
    counts: Mapping[str, np.ndarray] = field(default_factory=dict)
    rows: Mapping[str, np.ndarray] = field(default_factory=dict)
    resolution: float = 0.0
    metric: str = ""

    def __add__(self, other: "State") -> "State":
        return merge([self, other])

    @property
    def multiplicity(self) -> np.ndarray | None:
        """How many rows each entry of ``rows`` stands for; None if one."""
        return self.rows.get(MULTIPLICITY)

    def compact(self) -> "State":
        """The state of the same rows with equal ones as a single entry, in ascending order: no larger than there are
        distinct rows, and the same for any order in which states were merged.

        >>> state = State(3, {}, {"scores": np.array([0.5, 0.1, 0.5]), "references": np.array([1, 0, 1], np.int8)})
        >>> {key: values.tolist() for key, values in state.compact().rows.items()}
        {'references': [0, 1], 'scores': [0.1, 0.5], 'multiplicity': [1, 2]}
        """
        if not self.rows:
            return self
        summed = [key for key in self.rows if _adds_up(key)]
        keys = sorted(key for key in self.rows if key not in summed)
        # + 0.0 makes 0.0 of -0.0, which is the same score and would sort anywhere among the zeros
        columns = {key: self.rows[key] + 0.0 if self.rows[key].dtype.kind == "f" else self.rows[key] for key in keys}
        rows = _distinct_by_class(columns) if not summed else None
        if rows is None:
            order = np.lexsort([columns[key] for key in keys])
            rows = {key: columns[key][order] for key in keys}
            starts = _starts(*rows.values())
            rows = {key: values[starts] for key, values in rows.items()}
            rows |= {key: np.add.reduceat(self.rows[key][order], starts, axis=0) for key in summed}
            if not summed:
                rows[MULTIPLICITY] = np.diff(np.append(starts, len(order)))
        return replace(self, rows=rows)

    def to_bytes(self) -> bytes:
        """The state as bytes (NumPy's ``.npz`` without pickles), for another process or machine."""
        arrays = {f"counts/{key}": value for key, value in self.counts.items()}
        arrays |= {f"rows/{key}": value for key, value in self.rows.items()}
        about = {"format": STATE_FORMAT, "n_rows": self.n_rows, "resolution": self.resolution, "metric": self.metric}
        buffer = io.BytesIO()
        np.savez(buffer, **{key: np.array(value) for key, value in about.items()}, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "State":
        """The state that `to_bytes` wrote.

        Raises:
            ValueError: if the layout is of another version, or these are other bytes.
        """
        try:
            loaded = np.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError, zipfile.BadZipFile):
            refuse(f"{len(data)} bytes that are no whole state of to_bytes")
        with loaded as arrays:
            layout = int(arrays["format"])
            if layout not in (3, STATE_FORMAT):
                refuse(f"state of format {layout}; this version reads format {STATE_FORMAT}")
            parts: dict[str, dict[str, np.ndarray]] = {"counts": {}, "rows": {}}
            for key in arrays.files:
                kind, slash, name = key.partition("/")
                if slash:
                    name = MULTIPLICITY if (layout, kind, name) == (3, "rows", "counts") else name
                    parts[kind][name] = arrays[key]
            resolution, metric = float(arrays["resolution"]), str(arrays["metric"])
            return cls(int(arrays["n_rows"]), **parts, resolution=resolution, metric=metric)


def _adds_up(key: str) -> bool:
    """Whether a column of ``rows`` is added up where entries are alike in the others."""
    return key == MULTIPLICITY or key.endswith("_by_cluster")


def _starts(*columns: np.ndarray) -> np.ndarray:
    """Where in sorted columns a new combination begins."""
    changes = np.logical_or.reduce([values[1:] != values[:-1] for values in columns])
    return np.flatnonzero(np.append(np.ones(min(1, len(columns[0])), dtype=bool), changes))


def _distinct_by_class(rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """Distinct rows of one column of ids and one of floats, in the order of the ids, where these are all there is:
    values alone are sorted several times faster than rows."""
    kinds = [values.dtype for values in rows.values()]
    if len(rows) != 2 or set(kinds) != {np.dtype(np.float64), np.dtype(np.int8)}:
        return None
    floats, ids = sorted(rows, key=lambda key: rows[key].dtype.kind)
    if not len(rows[ids]):
        return None
    parts: list[tuple[np.ndarray, ...]] = []
    for i in np.unique(rows[ids]):
        values = np.sort(rows[floats][rows[ids] == i])
        starts = _starts(values)
        parts.append((values[starts], np.full(len(starts), i), np.diff(np.append(starts, len(values)))))
    distinct = dict(zip((floats, ids, MULTIPLICITY), map(np.concatenate, zip(*parts))))
    return {key: distinct[key] for key in (*rows, MULTIPLICITY)}


def merge_compact(states: Sequence[State]) -> State:
    """``merge(states).compact()``, and faster where the first is compacted and the others are not."""
    if len(states) < 3:
        return merge([state.compact() for state in states]).compact()
    return merge_compact([states[0], merge(states[1:])])


def check_state(where: str, found: Any) -> None:
    """Refuse what isn't a state. It is known by its attributes: metrics from the Hub have a class of their own."""
    if not (hasattr(found, "n_rows") and hasattr(found, "resolution")):
        hint = "State.from_bytes reads what to_bytes wrote" if isinstance(found, (bytes, bytearray, memoryview)) else ""
        refuse(describe(found), "a State", hint, where=where)


def merge(states: Iterable[State]) -> State:
    """One state for the rows of all.

    Raises:
        ValueError: if they were counted by different metrics, from different inputs, from texts and numbers, or on
            grids of different widths; if there is none, or these are no states.

    >>> a = State(1, {"tp": np.array(1)}, {"scores": np.array([0.5])})
    >>> merge([a, a]).rows["scores"]
    array([0.5, 0.5])
    """
    if not isinstance(states, Iterable):
        refuse(describe(states), "a list of them", metric="merge", where="states")
    states = list(states)
    for i, state in enumerate(states):
        check_state(f"merge: states[{i}]", state)
    if not states:
        refuse("none", "at least one", metric="merge", where="states")
    filled = [state for state in states if state.n_rows] or states[:1]
    if len(filled) == 1:
        return filled[0]
    first = filled[0]
    if any(state.multiplicity is not None for state in filled):
        filled = [with_multiplicity(state) for state in filled]
    for state in filled[1:]:
        if state.metric != first.metric:
            _refuse_different("metrics", first.metric or "unknown", state.metric or "unknown")
        if state.counts.keys() != first.counts.keys() or state.rows.keys() != filled[0].rows.keys():
            _refuse_different("inputs", _contents(first), _contents(state))
        if any((state.rows[k].dtype.kind == "U") != (first.rows[k].dtype.kind == "U") for k in first.rows):
            refuse("states of texts and of numbers in one input", metric="merge")
        if state.resolution != first.resolution:
            _refuse_different("score_resolution", first.resolution, state.resolution)
    counts = {key: sum((s.counts[key] for s in filled[1:]), filled[0].counts[key]) for key in filled[0].counts}
    rows = {key: np.concatenate([s.rows[key] for s in filled]) for key in filled[0].rows}
    return State(sum(s.n_rows for s in filled), counts, rows, first.resolution, first.metric)


def subtract(whole: State, part: State) -> State:
    """The state of the rows of ``whole`` that aren't in ``part``, compacted.

    Raises:
        ValueError: as `merge`, or if rows of ``part`` aren't in ``whole``.

    >>> scores = {"scores": np.array([0.5, 0.1, 0.5])}
    >>> rest = subtract(State(3, {}, scores), State(1, {}, {"scores": np.array([0.5])}))
    >>> rest.rows["scores"], rest.multiplicity
    (array([0.1, 0.5]), array([1, 1]))
    """
    taken = part if any(map(_adds_up, part.rows)) else with_multiplicity(part)
    counts = {key: -values for key, values in taken.counts.items()}
    rows = {key: -values if _adds_up(key) else values for key, values in taken.rows.items()}
    rest = merge([whole, replace(taken, n_rows=-part.n_rows, counts=counts, rows=rows)]).compact()
    sums = [values for key, values in rest.rows.items() if _adds_up(key)]
    if rest.n_rows < 0 or any((values < 0).any() for values in [*rest.counts.values(), *sums]):
        refuse("rows that are not among all rows", metric="subtract")
    left = np.any([values.reshape(len(values), -1).any(axis=1) for values in sums], axis=0) if sums else None
    return rest if left is None else replace(rest, rows={key: values[left] for key, values in rest.rows.items()})


def _refuse_different(what: str, first: Any, second: Any) -> None:
    refuse(f"states of different {what}: {first} and {second}", metric="merge")


def with_multiplicity(state: State) -> State:
    """The state with ``rows["multiplicity"]``."""
    if state.multiplicity is not None or not state.rows:
        return state
    ones = np.ones(len(next(iter(state.rows.values()))), dtype=np.int64)
    return replace(state, rows={**state.rows, MULTIPLICITY: ones})


def _contents(state: State) -> str:
    return ", ".join([*state.counts, *state.rows]) or "nothing"
