"""Kaggle's Jigsaw competition: a submission, and ``test_labels.csv``, most of whose rows count for nothing.

Both have the columns ``id`` and six kinds of toxicity. A row whose labels are -1 was never scored, by definition.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from toxeval.core.refusals import describe, refuse

from ..tables import Columns, Table, Unscored, as_list, shown
from .given import Files

KINDS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
#: The labels of rows that aren't scored, and those of the others.
NONE, LABELS = "-1", ("0", "1")


def read(files: Files) -> tuple[Table, Table | None]:
    """The tables of the submission and of the labels, which are matched by id."""
    submission, labels = _with_columns(files.predictions.table()), files.plain_references()
    return submission, labels and _labels(_with_columns(labels))


def _with_columns(table: Table) -> Table:
    lacking = [name for name in ("id", *KINDS) if name not in table.columns]
    if lacking or not table.text:
        found = f"without the column {shown(lacking[0])}" if lacking else "no table of texts"
        refuse(found, f"the columns id, {', '.join(KINDS)}", file=table.name, line=1)
    return table


def _labels(table: Table) -> Table:
    """The table of the labels, whose rows are -1 in all six columns or in none."""

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        start = 0
        for batch in table.read_batches(list(dict.fromkeys([*columns, *KINDS]))):
            labels = [as_list(batch[name]) for name in KINDS]
            if not set(chain.from_iterable(labels)) <= {NONE, *LABELS} or any(
                (NONE in row) and set(row) != {NONE} for row in zip(*labels)
            ):
                _refuse(table, labels, start)
            yield {name: batch[name] for name in columns}
            start += len(labels[0])

    unscored = Unscored("rows whose labels are -1, which are unscored by definition", KINDS[:1], _unscored)
    return replace(table, read_batches=batches, unscored=unscored)


def _unscored(columns: Columns) -> np.ndarray:
    return np.array(as_list(columns[KINDS[0]])) == NONE


def _refuse(table: Table, labels: Sequence[Sequence[str]], start: int) -> None:
    """Refuse the first row that isn't one of Kaggle's."""
    for row, cells in enumerate(zip(*labels)):
        wrong = [cell for cell in cells if cell not in (NONE, *LABELS)]
        if wrong or NONE in cells and set(cells) != {NONE}:
            found = f"label {describe(wrong[0])}" if wrong else "-1 in some columns only"
            allowed = "0 and 1, or -1 in all six columns"
            refuse(found, allowed, file=table.name, line=table.line(start + row), row=start + row)
