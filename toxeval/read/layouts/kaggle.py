"""Kaggle's Jigsaw competition: a submission, and ``test_labels.csv``, most of whose rows count for nothing.

Both have the columns ``id`` and six kinds of toxicity. A row whose labels are -1 was never scored, by definition.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from toxeval.core.refusals import describe, refuse

from ..tables import Columns, Table, Unscored, as_list
from .given import Files, with_columns

KINDS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
#: The labels of rows that aren't scored, and those of the others.
NONE, LABELS = "-1", frozenset(("0", "1"))


def read(files: Files) -> tuple[Table, Table | None]:
    """The tables of the submission and of the labels, which are matched by id."""
    columns = ("id", *KINDS)
    submission, labels = with_columns(files.predictions.table(), columns), files.plain_references()
    return submission, labels and _labels(with_columns(labels, columns))


def _labels(table: Table) -> Table:
    """The table of the labels, whose rows are -1 in all six columns or in none."""

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        start = 0
        for batch in table.read_batches(list(dict.fromkeys([*columns, *KINDS]))):
            labels = [as_list(batch[name]) for name in KINDS]
            for row, cells in enumerate(zip(*labels), start):
                if not LABELS.issuperset(cells) and set(cells) != {NONE}:
                    wrong = [cell for cell in cells if cell not in (NONE, *LABELS)]
                    found = f"label {describe(wrong[0])}" if wrong else "-1 in some columns only"
                    allowed = "0 and 1, or -1 in all six columns"
                    refuse(found, allowed, file=table.name, line=table.line(row), row=row)
            yield {name: batch[name] for name in columns}
            start += len(labels[0])

    unscored = Unscored("rows whose labels are -1, which are unscored by definition", KINDS[:1], _unscored)
    return replace(table, read_batches=batches, unscored=unscored)


def _unscored(columns: Columns) -> np.ndarray:
    return np.array(as_list(columns[KINDS[0]])) == NONE
