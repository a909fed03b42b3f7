"""Several tables of predictions on the same rows: runs to average, systems to compare. They are held in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from toxeval.core.metric import Metric
from toxeval.core.refusals import Refusal, refuse
from toxeval.core.state import State
from toxeval.read import Batch, Rows, Table
from toxeval.read.group_columns import BY
from toxeval.read.pairing import advise
from toxeval.read.rows import join, take

#: Rows -> their batches, perhaps with a progress bar.
Progress = Callable[[Rows], Iterable[Batch]]


@dataclass(frozen=True)
class FileRows:
    """The rows of several tables, in the same order.

    Attributes:
        own: for each table the inputs that are its own.
        shared: the inputs that all share.
        states: of each table's rows.
        n_rows: how many.
        matched: how rows were matched, see `Rows`.
        left_out: how many rows don't count, and why, see `Rows`.
    """

    own: list[dict[str, Any]]
    shared: dict[str, Any]
    states: list[State]
    n_rows: int
    matched: str
    left_out: str

    @property
    def inputs(self) -> list[str]:
        """The names of all inputs."""
        return [name for name in (*self.own[0], *self.shared) if not name.startswith(BY)]


def read_files(
    metric: Metric,
    tables: Sequence[tuple[Table, Table | None]],
    columns: Mapping[str, str],
    progress: Progress = iter,
    by: Sequence[str] = (),
    human: Sequence[Table | None] = (),
) -> FileRows:
    """The rows of all tables of predictions, matched by id or else by position.

    Without a table of references those of the first one are taken, and the others' must be the same.

    Args:
        tables: for each system its predictions, and their references if these are in another table.
        by: columns that say which group a row is in; all systems share them.
        human: for each system the table with human labels of some of its rows, None or none at all without.

    Raises:
        Refusal: for rows that don't match, references that differ, and what the metric refuses.
    """
    definition = metric.definition
    gold = {each.name for each in definition.inputs if each.gold} | {BY + column for column in by}
    inputs: list[dict[str, Any]] = []
    arrays: list[dict[str, np.ndarray]] = []
    matched: list[str] = []
    first = tables[0][0]
    for i, (table, references) in enumerate(tables):
        other = references if references is not None else first if i else None
        labels = human[i] if human else None
        rows = Rows(definition, table, other, columns, labels, () if i else by)
        found, order = _in_order(rows, gold, progress)
        matched.append(rows.matched)
        inputs.append(found.inputs)
        arrays.append(_encode(metric, found, found.inputs, rows.name))
        if references is None and i:
            alone, _ = _in_order(Rows(definition, table, None, columns, labels), gold, iter)
            own = _encode(metric, found, take(alone.inputs, order), rows.name)
            if any(name in own and not np.array_equal(array, own[name]) for name, array in arrays[-1].items()):
                differ = f"those of {table.name} aren't those of {first.name}"
                allowed = "the same rows in all files; where the order differs, with ids"
                refuse(differ, allowed, metric=metric.name, inputs=("references",))
    return FileRows(
        own=[{name: values for name, values in each.items() if name not in gold} for each in inputs],
        shared={name: values for name, values in inputs[0].items() if name in gold},
        states=[metric.count(each) for each in arrays],
        n_rows=len(order),
        matched=" and ".join(dict.fromkeys(filter(None, matched))),
        left_out=rows.left_out,
    )


def _in_order(rows: Rows, gold: set[str], progress: Progress) -> tuple[Batch, np.ndarray]:
    """The rows of one table in the order of the references, and this order."""
    parts, at = [], {True: [], False: []}  # type: ignore[var-annotated]  # rows of the references, and its own
    for batch in progress(rows):
        parts.append(batch.inputs)
        for is_gold, numbers in at.items():
            name = next((name for name in batch.inputs if (name in gold) == is_gold), next(iter(batch.inputs)))
            numbers += [batch.row(name, row) for row in range(batch.n_rows)]
    order = np.argsort(np.array(at[True]), kind="stable")
    located = {is_gold: np.array(numbers)[order] for is_gold, numbers in at.items()}
    inputs = take(join(parts), order)
    return Batch(inputs, len(order), lambda name, row: int(located[name in gold][row])), order


def _encode(metric: Metric, found: Batch, inputs: Mapping[str, Any], file: str) -> dict[str, np.ndarray]:
    try:
        return metric.encode(**{name: values for name, values in inputs.items() if not name.startswith(BY)})
    except Refusal as refusal:
        found.locate(refusal)
        advise(refusal, metric.definition, inputs)
        refusal.file = file
        raise
