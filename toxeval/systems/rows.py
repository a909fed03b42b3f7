"""Several systems on the same rows: rows matched by id, each system scored, and all of them resampled alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from toxeval.core.containers import Place, is_arrow, materialise
from toxeval.core.declarations import GROUP
from toxeval.core.inputs import encode_ids
from toxeval.core.metric import Metric
from toxeval.core.refusals import Refusal, Text, refuse
from toxeval.core.resampling import RESAMPLES, Draws, cluster_counts
from toxeval.core.row_arrays import RowArrays
from toxeval.core.scoring import Scores
from toxeval.core.state import State
from toxeval.loading import plain

#: Codes of distinct rows are compressed when there may be more than so many.
MAX_CODES = 1 << 20


@dataclass(frozen=True)
class Systems:
    """Systems that were run on the same n rows.

    Attributes:
        metric: what scores them.
        arrays: for each system what the metric's ``encode`` made of its inputs.
        scores: each system's scores.
        units: for each system the counts of each unit, arrays of shape (u, ...); None if the metric needs whole rows.
            Units are kinds of rows that are alike in all systems, or groups of rows, or rows.
        size: how many rows there are of each unit, shape (u,).
        drawn_whole: whether units are drawn, and not their rows.
    """

    metric: Metric
    arrays: list[dict[str, np.ndarray]]
    scores: list[Scores]
    units: list[dict[str, np.ndarray]] | None
    size: np.ndarray
    drawn_whole: bool = False

    @property
    def n_rows(self) -> int:
        """How many rows there are: utterances, posts, tokens, replies."""
        return int(self.size.sum())

    def differing(self) -> int:
        """The number of rows on which not all systems do the same."""
        first, *others = self.arrays if self.units is None else self.units
        differ = np.zeros(len(self.size), dtype=bool)
        for other in others:
            for name in first.keys() & other.keys():
                if self.units is not None or _is_column(first[name], self.n_rows):
                    differ |= (first[name] != other[name]).reshape(len(differ), -1).any(axis=1)
        return int(self.size[differ].sum())

    def resample(self, keys: Sequence[str], n_resamples: int, seed: int) -> list[dict[str, np.ndarray]]:
        """For each system the scores ``keys`` of the same resamples of the rows, arrays of shape (n_resamples,)."""
        rng = np.random.default_rng(seed)
        draw = self._resample_rows if self.units is None else self._resample_units
        parts = [draw(rng, min(RESAMPLES, n_resamples - start), keys) for start in range(0, n_resamples, RESAMPLES)]
        return [
            {key: np.concatenate([part[i][key] for part in parts]) for key in keys} for i in range(len(self.arrays))
        ]

    def _resample_units(self, rng: np.random.Generator, n: int, keys: Sequence[str]) -> list[dict[str, np.ndarray]]:
        assert self.units is not None
        tables = {(i, key): counts for i, unit in enumerate(self.units) for key, counts in unit.items()}
        if self.drawn_whole:
            drawn = Draws(rng, n).clusters(tables)  # type: ignore[arg-type]  # any keys will do
        else:
            weights = rng.multinomial(self.n_rows, self.size / self.n_rows, size=n).astype(np.float64)
            drawn = {k: np.tensordot(weights, counts, axes=1) for k, counts in tables.items()}  # type: ignore[misc]
        results = []
        for i, unit in enumerate(self.units):
            state = State(self.n_rows, {key: drawn[i, key] for key in unit})  # type: ignore[index]
            values = self.metric.score(state).values
            results.append({key: np.asarray(values[key], dtype=float) for key in keys})
        return results

    def _resample_rows(self, rng: np.random.Generator, n: int, keys: Sequence[str]) -> list[dict[str, np.ndarray]]:
        results = [{key: np.empty(n) for key in keys} for _ in self.arrays]
        systems = [RowArrays(arrays, self.metric.definition.per_token) for arrays in self.arrays]
        for b in range(n):
            rows = rng.integers(self.n_rows, size=self.n_rows)
            for arrays, result in zip(systems, results):
                try:
                    values = self.metric.score(self.metric.count(arrays.take(rows))).values
                except Refusal:  # rows that are no data set any more have no scores
                    values = dict.fromkeys(keys, np.nan)
                for key in keys:
                    result[key][b] = values[key]
        return results


def _is_column(array: np.ndarray, n: int) -> bool:
    return bool(array.shape == (n,))


# --- from inputs --------------------------------------------------------------------------------------------------


def run_systems(
    metric: str | Metric,
    names: Sequence[str],
    systems: Sequence[Any],
    references: Any,
    ids: Any = None,
    own_ids: Sequence[Any] | None = None,
) -> Systems:
    """Score systems on the same rows. The order of the rows doesn't matter: resamples are the same in any.

    Args:
        metric: a name, or what ``toxeval.load`` gave, with its options.
        names: what messages call each system.
        systems: each one's predictions, or a dict of the inputs that are its own.
        references: the references, or a dict of the inputs that all systems share.
        ids, own_ids: ids of the rows of ``references`` and of each system, by which rows are matched.

    Raises:
        Refusal: for different numbers of rows, ids that are repeated or don't match, and what the metric refuses; the
            message names the system.
    """
    metric = loaded(metric)
    some = own_ids is not None and (len(own_ids) != len(systems) or any(own is None for own in own_ids))
    if some or (ids is None) != (own_ids is None):
        allowed = "ids of the references and of every system, or none at all"
        refuse("of some rows only", allowed, metric=metric.name, where="ids")
    shared = {} if references is None else _inputs(metric, references, "references")
    arrays: list[dict[str, np.ndarray]] = []
    for i, (name, system) in enumerate(zip(names, systems)):
        own = _inputs(metric, system, "predictions")
        if own_ids is not None:
            order = _match(metric.name, ids, own_ids[i], name)
            own = {key: _take(metric.name, key, values, order) for key, values in own.items()}
        if shared and own:
            (n, m), where = (_length(next(iter(part.values()))) for part in (own, shared)), next(iter(shared))
            if n != m and None not in (n, m):
                refuse(f"{n} rows, {m} in the {where}", metric=metric.name, where=name)
        try:
            arrays.append(metric.encode(**own, **shared))
        except Refusal as refusal:
            refusal.file = name
            raise
        except (ValueError, TypeError) as error:
            refuse(str(error), metric=metric.name, where=name)
    return _counted(metric, arrays)


def loaded(metric: Any) -> Metric:
    """The metric of that name, or the metric itself; one from the Hub has a class of its own."""
    loaded: Metric = metric if hasattr(metric, "definition") else plain(metric)
    return loaded


def _counted(metric: Metric, arrays: list[dict[str, np.ndarray]]) -> Systems:
    states = [metric.count(system) for system in arrays]
    scores = list(map(metric.score, states))
    group = next((each.name for each in metric.definition.inputs if each.kind == GROUP), "")
    n = max(len(array) for array in arrays[0].values() if array.ndim)
    if group and (group in arrays[0] or "lengths" in arrays[0]):
        arrays, units, size = _by_group(metric, arrays, group)
        return Systems(metric, arrays, scores, units, size, drawn_whole=True)
    columns = [array for system in arrays for array in system.values() if _is_column(array, n)]
    if states[0].rows:
        order = np.lexsort(columns)
        arrays = [RowArrays(system, metric.definition.per_token).take(order) for system in arrays]
        return Systems(metric, arrays, scores, None, np.ones(n, dtype=np.int64))
    of_positions = {"lengths", *metric.definition.per_token}
    if "lengths" in arrays[0] and any(a.ndim for name, a in arrays[0].items() if name not in of_positions):
        # what is known of whole sequences can't be told of their positions
        first = np.arange(len(arrays[0]["lengths"]))
        size = np.ones(len(first), dtype=np.int64)
    else:
        first, size = _distinct_rows(columns)
        arrays = [{name: a for name, a in system.items() if name != "lengths"} for system in arrays]
    return Systems(metric, arrays, scores, [_units(metric, system, first) for system in arrays], size)


def _by_group(metric: Metric, arrays: list[dict[str, np.ndarray]], group: str) -> tuple[Any, Any, np.ndarray]:
    """Arrays, counts and sizes of units that are the groups of rows that were given; or single rows, of several
    lengths."""
    given = group in arrays[0]
    if not given:
        arrays = [system | {group: np.arange(len(system["lengths"]))} for system in arrays]
    size = np.unique(arrays[0][group], return_counts=True)[1]
    units = [cluster_counts(metric.count(system)) for system in arrays]
    if not given:
        flat = np.concatenate([counts.reshape(len(size), -1) for unit in units for counts in unit.values()], axis=1)
        order = np.argsort(np.ascontiguousarray(flat).view(f"V{flat.itemsize * flat.shape[1]}").ravel())
        units = [{key: counts[order] for key, counts in unit.items()} for unit in units]
    return arrays, units, size


def _units(metric: Metric, system: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, np.ndarray]:
    """The counts of single rows, one by one."""
    entries = RowArrays(system, metric.definition.per_token)
    counts = [metric.count(entries.take(row)).counts for row in rows[:, None]]
    return {key: np.stack([count[key] for count in counts]) for key in counts[0]}


def _distinct_rows(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each kind, and how many there are; columns hold small ids."""
    codes, n_codes = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        least = int(column.min(initial=0))
        width = int(column.max(initial=0)) - least + 1
        codes = codes * width + column - least
        n_codes *= width
        if n_codes > MAX_CODES:
            distinct, codes = np.unique(codes, return_inverse=True)
            n_codes = len(distinct)
    _, first, size = np.unique(codes, return_index=True, return_counts=True)
    return first, size


def _inputs(metric: Metric, given: Any, alone: str) -> dict[str, Any]:
    """``given`` as inputs by name: a dict of inputs as it is, anything else is the input ``alone``."""
    if isinstance(given, Mapping) and set(given) <= set(metric.inputs):
        return {name: values for name, values in given.items() if values is not None}
    return {alone: given}


def _length(values: Any) -> int | None:
    """How many rows; None of what holds no rows, to be refused by the metric."""
    if isinstance(values, Mapping):
        return _length(next(iter(values.values()), None))
    try:
        return len(values)
    except TypeError:
        return None


# --- ids ----------------------------------------------------------------------------------------------------------


def _match(metric: str, ids: Any, own: Any, name: str) -> np.ndarray:
    """The order in which a system's rows are those of the references."""

    def wrong(where: str, found: Text, allowed: str = "the same ids on both sides") -> NoReturn:
        refuse(found, allowed, metric=metric, where=where)

    wanted, found = encode_ids("ids", ids), encode_ids(f"ids of {name}", own)
    if wanted.dtype.kind != found.dtype.kind:
        wrong(f"ids of {name}", "texts and numbers", "ids of one kind on both sides")
    for where, values in (("ids", wanted), (f"ids of {name}", found)):
        again = np.setdiff1d(np.arange(len(values)), np.unique(values, return_index=True)[1])
        if len(again):
            wrong(f"{where}[{again[0]}]", "an id that an earlier row has", "each id once")
    unknown = np.flatnonzero(~np.isin(found, wanted))
    if len(unknown):
        seen = f"{len(unknown)} ids that the references don't have, the first in row {unknown[0]}"
        wrong(f"ids of {name}", seen)
    missing = np.flatnonzero(~np.isin(wanted, found))
    if len(missing):
        wrong(f"ids of {name}", f"{len(missing)} ids of the references are missing, the first that of row {missing[0]}")
    order = np.empty(len(wanted), dtype=np.int64)
    order[np.argsort(wanted)] = np.argsort(found)
    return order


def _take(metric: str, name: str, values: Any, order: np.ndarray) -> Any:
    if isinstance(values, Mapping):
        return {field: _take(metric, name, column, order) for field, column in values.items()}
    rows = materialise(Place(name), values)
    if len(rows) != len(order):
        refuse(f"{len(rows)} rows and {len(order)} ids", "one id a row", metric=metric, inputs=(name,))
    if isinstance(rows, np.ndarray) or is_arrow(rows):
        return rows.take(order) if is_arrow(rows) else rows[order]
    return [rows[i] for i in order]
