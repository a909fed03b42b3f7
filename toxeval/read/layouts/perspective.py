"""Answers of the Perspective API: ``{"attributeScores": {"THREAT": {"summaryScore": {"value": 0.1, ...}}}}``."""

from typing import Any

from toxeval.core.refusals import Known, describe, is_number, refuse

from ..tables import Table, from_columns
from .given import Files, json_values

_SCORES = "attributeScores"


def read(files: Files) -> tuple[Table, Table | None]:
    """The table of the answers, with a column for each attribute beside what else the records have."""
    source = files.predictions.source()
    columns: dict[str, list[Any]] = {}
    for row, (line, answer) in enumerate(json_values(source)):
        with Known(file=source.name, line=line):
            values = _values(answer)
            if row and values.keys() != columns.keys():
                odd = sorted(values.keys() ^ columns.keys())[0]
                refuse(f"{describe(odd)} is in some of the records only", "the same attributes and fields in all")
        for name, value in values.items():
            columns.setdefault(name, []).append(value)
    return from_columns(source.name, columns), files.plain_references()


def _values(answer: Any) -> dict[str, Any]:
    """The scores of an answer, and the fields beside it that are no records or lists.

    >>> _values({"id": 7, "attributeScores": {"THREAT": {"summaryScore": {"value": 0.1}}}, "languages": ["en"]})
    {'id': 7, 'THREAT': 0.1}
    """
    scores = answer.get(_SCORES) if isinstance(answer, dict) else None
    if not isinstance(scores, dict) or not scores:
        is_error = isinstance(answer, dict) and "error" in answer
        refuse("an error of the API" if is_error else f"no {_SCORES}", "an answer of the Perspective API with scores")
    values = {name: value for name, value in answer.items() if not isinstance(value, (dict, list))}
    for name, score in scores.items():
        summary = score.get("summaryScore") if isinstance(score, dict) else None
        value = summary.get("value") if isinstance(summary, dict) else None
        if not is_number(value):
            refuse(f"no summaryScore.value of {describe(name)}", "a number")
        values[name] = value
    return values
