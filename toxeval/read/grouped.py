"""The rows of tables, counted by group."""

from collections.abc import Callable, Iterable, Sequence

from toxeval.core.group_states import GroupStates, merge_groups
from toxeval.core.metric import MERGE_EVERY, Metric
from toxeval.core.refusals import Known, Refusal

from .group_columns import BY, split_groups
from .pairing import Batch, Rows, advise


def count_groups(
    metric: Metric, rows: Rows, columns: Sequence[str], progress: Callable[[Rows], Iterable[Batch]] = iter
) -> tuple[GroupStates, set[str]]:
    """What counts of some rows by group, batch by batch, and the names of the inputs that were there.

    Args:
        metric: what counts them, its options fixed.
        rows: the rows, which were opened with these columns as ``by``.
        columns: one with names, or several with yes and no.
        progress: gives the batches of the rows, and may show how far they are.

    Raises:
        Refusal: as `Rows` does, and for what the metric refuses; its rows are those of the files.
    """
    parts: list[GroupStates] = []
    names: set[str] = set()
    for batch in progress(rows):
        inputs, groups = split_groups(batch.inputs, columns)
        names = set(inputs)
        try:
            parts.append(metric.states_by(groups, **inputs))
        except Refusal as refusal:
            _locate(refusal, batch, columns)
            advise(refusal, metric.definition, names)
            raise
        if len(parts) >= MERGE_EVERY:
            parts = [merge_groups(parts).compact()]
    states = merge_groups(parts)
    if metric.definition.check is not None:
        with Known(metric=metric.name):
            metric.definition.check(states.all)
    return states, names


def _locate(refusal: Refusal, batch: Batch, columns: Sequence[str]) -> None:
    """Give a refusal the rows of the files, and groups their column's name."""
    if refusal.inputs == ("groups",):
        refusal.inputs = (BY + (refusal.field or columns[0]),)
        refusal.field = ""
    batch.locate(refusal)
