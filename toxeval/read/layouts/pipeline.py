"""The output of a ``text-classification`` pipeline of ``transformers``.

Of each text the label with the highest score, ``{"label": "threat", "score": 0.9}``, or with ``top_k=None`` a list of
all of them. The table has the label with the highest score in the column ``label``, and the score of each label in a
column that is called like it. Where there are two labels and only the higher score is given, that of the other label is
what is missing to 1.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from toxeval.core.refusals import Known, describe, is_number, refuse

from ..tables import Table, from_columns
from .given import Files, json_values

LABEL, SCORE = "label", "score"
_WANTED = 'records such as {"label": "threat", "score": 0.9}, or a list of them for each text'

_ALL_LABELS = "with top_k=None a pipeline gives the score of every label"


def read(files: Files) -> tuple[Table, Table | None]:
    """The table of the output, and that of the references."""
    source = files.predictions.source()
    others: dict[str, list[Any]] = {}
    scores: list[dict[str, float]] = []
    for row, (line, value) in enumerate(json_values(source)):
        with Known(file=source.name, line=line):
            each, beside = _row(value)
            if row and (len(each) != len(scores[0]) or len(each) > 1 and each.keys() != scores[0].keys()):
                refuse("other labels than in the first row", "the same in every row")
            if row and beside.keys() != others.keys():
                refuse("other fields than in the first row", "the same in every row")
        scores.append(each)
        for name, part in beside.items():
            others.setdefault(name, []).append(part)
    with Known(file=source.name):
        columns = _columns(scores)
        for name in columns:
            if name in others:
                refuse(f"a label and a field with the name {describe(name)}", "different names")
    table = from_columns(source.name, columns | others)
    return replace(table, otherwise=_ALL_LABELS if len(scores[0]) == 1 else ""), files.plain_references()


def _row(value: Any) -> tuple[dict[str, float], dict[str, Any]]:
    """The scores of a text by label, in the order given, and what else stands beside a single one of them.

    >>> _row({"label": "threat", "score": 0.9, "id": 7})
    ({'threat': 0.9}, {'id': 7})
    """
    parts = value if isinstance(value, list) else [value]
    scores: dict[str, float] = {}
    for part in parts:
        if not isinstance(part, dict) or not isinstance(part.get(LABEL), str) or not is_number(part.get(SCORE)):
            refuse("no output of a text-classification pipeline", _WANTED)
        label, score = part[LABEL], part[SCORE]
        if label in scores:
            refuse(f"the label {describe(label)} twice", "each label once")
        scores[label] = score
    if not scores:
        refuse("an empty list", _WANTED)
    beside = (
        {} if isinstance(value, list) else {name: part for name, part in value.items() if name not in (LABEL, SCORE)}
    )
    return scores, beside


def _columns(rows: list[dict[str, float]]) -> dict[str, Any]:
    """The columns of the labels and of their scores."""
    labels = sorted(set().union(*rows))
    columns: dict[str, Any] = {LABEL: [max(row, key=row.__getitem__) for row in rows]}
    if LABEL in labels:
        refuse(f"a label with the name {LABEL!r}", "another name")
    if len(rows[0]) > 1 or len(labels) == 1:
        return columns | {label: np.array([row[label] for row in rows]) for label in labels}
    highest = np.array([row[label] for row, label in zip(rows, columns[LABEL])])
    if len(labels) > 2 or highest.min() < 0.5:
        return columns  # of labels that may have any score, the highest says nothing of the others
    first = np.array(columns[LABEL]) == labels[0]
    return columns | {label: np.where(first == (label == labels[0]), highest, 1.0 - highest) for label in labels}
