"""SOLD's own TSV files: ``post_id``, ``text``, ``tokens``, ``rationales``, ``label``, perhaps with further columns."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from toxeval.core.refusals import Known, describe, refuse

from ..json_texts import read_json
from ..tables import Columns, Table, as_list
from .given import Files, with_columns

COLUMNS = ("post_id", "text", "tokens", "rationales", "label")
LABELS = ("NOT", "OFF")
#: Python's list of texts, which another revision of the files has for tokens.
_LIST = re.compile(r"\[(?:'.*'|\".*\")\]", re.DOTALL)


def read(files: Files) -> tuple[Table, Table | None]:
    """The tables; SOLD's file is that of the references, or has the predictions in a column of its own."""
    table, references = files.predictions.table(), files.plain_references()
    return (_checked(table), None) if references is None else (table, _checked(references))


def _checked(table: Table) -> Table:
    """The table, whose rows are those of SOLD or refused."""
    with_columns(table, COLUMNS)

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        start = 0
        for batch in table.read_batches(list(dict.fromkeys([*columns, *COLUMNS[2:]]))):
            for row, cells in enumerate(zip(*(as_list(batch[name]) for name in COLUMNS[2:])), start):
                try:
                    _check(*cells)
                except ValueError:
                    with Known(file=table.name, line=table.line(row)):
                        raise
            yield {name: batch[name] for name in columns}
            start += len(batch["label"])

    return replace(table, read_batches=batches)


def _check(tokens: str, rationales: str, label: str) -> None:
    """Refuse a row that isn't one of SOLD's."""
    if _LIST.fullmatch(tokens):
        refuse("a list of tokens", "words joined by spaces; another revision of the file has lists")
    n_tokens = len(tokens.split(" ")) if tokens else 0
    try:
        marks = read_json(rationales)
    except json.JSONDecodeError:
        marks = None
    if not isinstance(marks, list) or any(type(mark) is not int or mark not in (0, 1) for mark in marks):
        refuse("rationales that are no list of 0 and 1", "such as [0, 1, 0], or [] where nothing is marked")
    if marks and len(marks) != n_tokens:
        refuse(f"{len(marks)} marks for {n_tokens} tokens", "one a token")
    if label not in LABELS:
        refuse(f"label {describe(label)}", ", ".join(LABELS))
