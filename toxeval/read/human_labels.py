"""Human labels of some rows of a table, which are found by the rows' ids."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np

from toxeval.core.declarations import Definition
from toxeval.core.judged import HUMAN
from toxeval.core.metric import Metric
from toxeval.core.refusals import Refusal, SayColumns, refuse

from .cells import Parser
from .columns import ID, REFERENCE_ID, find_inputs
from .ids import refuse_repeated, some
from .tables import Table, as_list

#: What ids are called in what is said of columns.
IDS = (ID, REFERENCE_ID)
#: What stands before the names of columns that are meant for the rows that tell how the judge errs.
JUDGE_COLUMNS = "judge_on."


def columns_of_verdicts(said: Mapping[str, str], *, labelled: bool) -> dict[str, str]:
    """What is said of the columns of verdicts, ``labelled`` or not, where rows with labels are in another table.

    >>> columns_of_verdicts({"predictions": "verdict", "human": "label", "judge_on.predictions": "v"}, labelled=False)
    {'predictions': 'verdict'}
    """
    own = {name: column for name, column in said.items() if not name.startswith(JUDGE_COLUMNS)}
    return own if labelled else {name: column for name, column in own.items() if name != HUMAN}


def columns_of_judge(said: Mapping[str, str]) -> dict[str, str]:
    """What is said of the columns of the rows that tell how the judge errs.

    >>> columns_of_judge({"id": "key", "predictions": "verdict", "human": "label", "judge_on.predictions": "v"})
    {'predictions': 'v', 'human': 'label'}
    """
    both = {name: column for name, column in columns_of_verdicts(said, labelled=True).items() if name not in IDS}
    own = {name: column for name, column in said.items() if name.startswith(JUDGE_COLUMNS)}
    return both | {name.removeprefix(JUDGE_COLUMNS): column for name, column in own.items()}


class HumanLabels:
    """The labels in a table, held in memory.

    Args:
        definition: of verdicts and labels (`judged`).
        predictions: the table with all rows.
        table: the one with ids and labels. A row of it without a label is none.
        columns: as for `Rows`; ``human`` is the labels' column, and ``references.id`` that of their ids.

    Attributes:
        column: with the ids of the predictions.

    Raises:
        Refusal: for tables without ids, ids that are repeated, labels that are none.
    """

    def __init__(self, definition: Definition, predictions: Table, table: Table, columns: Mapping[str, str]) -> None:
        self._definition, self._predictions, self._table = definition, predictions, table
        pair = replace(
            definition,
            inputs=tuple(
                replace(each, required=True, gold=True) if each.name == HUMAN else each
                for each in definition.inputs
                if not each.gold
            ),
        )
        known = {each.name for each in pair.inputs}.union(IDS)
        said = {name: column for name, column in columns.items() if name in known}
        ours, theirs = find_inputs(pair, [predictions, table], said)
        if ID not in ours:
            hint = ("labels are matched by id; say which column it is with ", SayColumns(((ID, None),)))
            lacking = " and ".join(t.name for t, names in ((predictions, ours), (table, theirs)) if ID not in names)
            refuse(f"no ids in {lacking}", "ids in both", hint, metric=definition.name, inputs=(HUMAN,))
        self.column = str(ours[ID])
        self._ids = Parser(pair, predictions, {ID: ours[ID]})
        read = Parser(pair, table, {ID: theirs[ID], HUMAN: theirs[HUMAN]})
        parts = [read(batch) for batch in table.batches(read.columns)]
        ids = [i for part in parts for i in part[ID]]
        self._rows = dict(zip(ids, range(len(ids))))
        if len(self._rows) < len(ids):
            first = next(row for row, i in enumerate(ids) if self._rows[i] != row)
            refuse_repeated(definition, table, first, ids.index(ids[first], first + 1))
        self._labels = [label for part in parts for label in as_list(part[HUMAN])]
        self._check_labels()
        #: for each label the row of the predictions it belongs to
        self._found = np.full(len(ids), -1, dtype=np.int64)
        self._n_seen = 0

    def _check_labels(self) -> None:
        """Refuse what the metric takes for no label, while its row is known."""
        example = {name: list(values) * len(self._labels) for name, values in self._definition.example.items()}
        try:
            Metric(self._definition).encode(**example, **{HUMAN: self._labels})
        except Refusal as refusal:
            refusal.file = self._table.name
            raise

    def of(self, batch: Mapping[str, Any]) -> list[Any]:
        """The labels of the next rows of the predictions, None where there is none."""
        ids = self._ids(batch)[ID]
        positions = np.fromiter(map(self._rows.get, ids, repeat(-1)), dtype=np.int64, count=len(ids))
        for row, position in zip(np.flatnonzero(positions >= 0).tolist(), positions[positions >= 0].tolist()):
            if self._found[position] >= 0:
                first, again = int(self._found[position]), self._n_seen + row
                refuse_repeated(self._definition, self._predictions, first, again)
            self._found[position] = self._n_seen + row
        self._n_seen += len(ids)
        return [None if position < 0 else self._labels[position] for position in positions.tolist()]

    def refuse_unseen(self) -> None:
        """Refuse labels of other rows."""
        unseen = np.flatnonzero(self._found < 0).tolist()
        if unseen:
            found = f"{len(unseen)} of {self._table.name} aren't in {self._predictions.name} ({some(unseen)})"
            refuse(found, "labels of these rows", metric=self._definition.name, inputs=(ID,))
