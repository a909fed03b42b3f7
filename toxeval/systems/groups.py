"""Two systems compared in each group of rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toxeval.core.differences import holm
from toxeval.core.group_columns import Name, rows_by_group
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known
from toxeval.read.group_columns import split_groups
from toxeval.read.rows import n_rows, take

from .comparing import Comparison, compare
from .files import FileRows


@dataclass(frozen=True)
class GroupComparison:
    """Two systems compared on the rows of one group.

    Attributes:
        n_rows: how many rows it has.
        comparisons: key -> `Comparison`; empty for a group of too few rows.
        p_holm: key -> the p-value corrected for the number of groups.
    """

    n_rows: int
    comparisons: Mapping[str, Comparison]
    p_holm: Mapping[str, float]


def compare_by(
    metric: Metric,
    rows: FileRows,
    i: int,
    columns: Sequence[str],
    *,
    min_rows: int,
    names: Sequence[str],
    keys: Sequence[str] | None = None,
    **options: Any,
) -> dict[Name, GroupComparison]:
    """Compare system ``i`` with the first one in each group of rows.

    Args:
        metric: the metric, its options fixed.
        rows: those of all systems, read with these columns as ``by``.
        i: which system.
        columns: as for `count_groups`.
        min_rows: smaller groups are listed with their size alone.
        names: what messages call the two systems.
        keys, **options: as for `compare`.

    Raises:
        Refusal: for what is no group, and for what `compare` refuses.
    """
    shared, groups = split_groups(rows.shared, columns)
    own = [rows.own[i], rows.own[0]]
    with Known(metric=metric.name):
        members = dict(rows_by_group(groups, n_rows(own[0]), next(iter(own[0]))))
    found = {}
    for name, which in members.items():
        comparisons: Mapping[str, Comparison] = {}
        if len(which) >= min_rows:
            parts = [take(inputs, which) for inputs in (*own, shared)]
            comparisons = compare(metric, *parts, keys=keys, names=names, **options)
        found[name] = GroupComparison(len(which), comparisons, {})
    return _corrected(found)


def _corrected(found: Mapping[Name, GroupComparison]) -> dict[Name, GroupComparison]:
    """With the p-values of each key corrected by Holm's method for the number of groups."""
    compared = [name for name, group in found.items() if group.comparisons]
    keys: Iterable[str] = found[compared[0]].comparisons if compared else ()
    p_values = {key: holm([found[name].comparisons[key].p_value for name in compared]) for key in keys}
    return {
        name: replace(group, p_holm={key: float(p[compared.index(name)]) for key, p in p_values.items()})
        if name in compared
        else group
        for name, group in found.items()
    }
