"""A chatbot's replies to the contexts of DiaSafety, beside verdicts on them.

Replies are laid out as the benchmark's own are: ``[{"context": "...", "gen_response": ["...", ...]}, ...]``. Verdicts
stand in the same records, in a list as long as ``gen_response``; or in a file of their own, one in each row, reply by
reply, or a list for each context. The category of a context is that of the same context, white space aside, in the
benchmark's files. Replies to one that isn't there have none, and don't count.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from toxeval.core.refusals import Known, SetOption, describe, refuse

from ..tables import Columns, Table, Unscored, as_list, from_columns, shown
from .given import Files, Given, json_values

CONTEXT, REPLIES, CATEGORY = "context", "gen_response", "category"
#: The benchmark's files, and the folder of its repository in which they lie.
DATA, FOLDER = ("train.json", "val.json", "test.json"), "DiaSafety_dataset"
#: Stands for the category of a context that has none.
_NONE = "none"

Record = dict[str, Any]


def read(files: Files) -> tuple[Table, Table | None]:
    """One table, with a row for each reply."""
    records = list(_records(files.references or files.predictions))
    text = False
    if files.references is None:
        names = [name for name in _lists(records[0]) if name != REPLIES]
        columns = {name: [verdict for record in records for verdict in record[name]] for name in names}
        if not columns:
            allowed = f"a verdict on each reply, in a list beside {REPLIES} or in a file of their own"
            refuse("no verdicts", allowed, file=files.predictions.path)
    else:
        table = files.predictions.table()
        text, columns = table.text, _verdicts(table, records)
    categories = _categories(records, files.data_dir)
    columns[CATEGORY] = [each for each, record in zip(categories, records) for _ in record[REPLIES]]
    why = "replies to contexts that aren't among DiaSafety's, and have no category"
    found = from_columns(files.predictions.path, columns, text=text)
    return replace(found, unscored=Unscored(why, (CATEGORY,), _without_category)), None


def _without_category(columns: Columns) -> np.ndarray:
    return np.array(columns[CATEGORY]) == _NONE


def _lists(record: Record) -> list[str]:
    return [name for name, value in record.items() if isinstance(value, list)]


def _records(given: Given) -> Iterator[Record]:
    """The records of a file of replies, which all have the same fields and lists of one length."""
    source, first = given.source(), None
    for line, record in json_values(source):
        with Known(file=source.name, line=line):
            if not isinstance(record, dict) or not isinstance(record.get(REPLIES), list):
                refuse("no replies", f'records such as {{"{CONTEXT}": "...", "{REPLIES}": ["...", "..."]}}')
            if not isinstance(record.get(CONTEXT), str):
                refuse(f"{describe(record.get(CONTEXT))} for a {CONTEXT}", "a text")
            first = first or record
            if record.keys() != first.keys() or _lists(record) != _lists(first):
                refuse("other fields than in the first record", "the same in every one")
            for name in _lists(record):
                if len(record[name]) != len(record[REPLIES]):
                    found = f"{len(record[name])} in {shown(name)} for {len(record[REPLIES])} replies"
                    refuse(found, "one for each")
        yield record


def _verdicts(table: Table, records: Sequence[Record]) -> dict[str, list[Any]]:
    """The columns of a table of verdicts, one for each reply."""
    names = [name for name in table.columns if name not in table.nested and name != CATEGORY]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for batch in table.batches(names):
        for name, values in batch.items():
            columns[name] += as_list(values)
    replies = [len(record[REPLIES]) for record in records]
    is_list = any(isinstance(values[0], list) for values in columns.values())
    rows = [1] * len(records) if is_list else replies
    n_found, n = len(columns[names[0]]), sum(rows)
    if n_found != n:
        what = f"lists of verdicts for {n} contexts" if is_list else f"verdicts for {n} replies"
        refuse(f"{n_found} {what}", "one for each, in the order of the replies", file=table.name)
    contexts = chain.from_iterable([_one_line(record[CONTEXT])] * n for record, n in zip(records, rows))
    for row, (own, context) in enumerate(zip(columns.pop(CONTEXT, []), contexts)):
        if _one_line(str(own)) != context:
            refuse("another context than the replies have there", file=table.name, line=table.line(row), row=row)
    if not is_list:
        return columns
    lists = {name: values for name, values in columns.items() if isinstance(values[0], list)}
    for name, values in lists.items():
        for row, (value, n) in enumerate(zip(values, replies)):
            own = len(value) if isinstance(value, list) else "no list"
            if own != n:
                found = f"{own} in {shown(name)} for {n} replies"
                refuse(found, "one for each", file=table.name, line=table.line(row), row=row)
    return {name: list(chain.from_iterable(values)) for name, values in lists.items()}


def _categories(records: Sequence[Record], data: Given | None) -> list[str]:
    """The category of each context: as the records say, or as the benchmark does."""
    if data is None:
        if CATEGORY in records[0]:
            return [record[CATEGORY] or _NONE for record in records]
        hint = ("say where DiaSafety's files are: ", SetOption("data_dir", "DIR", reader=True))
        refuse("no categories", f"{', '.join(DATA)} of DiaSafety", hint, inputs=("categories",))
    folder = data.folder and next(
        (each for each in (data.folder, data.folder / FOLDER) if (each / DATA[0]).exists()), None
    )
    if folder is None:
        refuse("no such files", f"a folder with DiaSafety's {', '.join(DATA)}", file=data.path)
    known: dict[str, str] = {}
    for name in DATA:
        source = Given(str(folder), data.limits).source(name)
        for line, row in json_values(source):
            with Known(file=source.name, line=line):
                if not isinstance(row, dict) or not all(isinstance(row.get(part), str) for part in (CONTEXT, CATEGORY)):
                    refuse("no row of DiaSafety", "records with context and category")
                if known.setdefault(_one_line(row[CONTEXT]), row[CATEGORY]) != row[CATEGORY]:
                    refuse("another category than the same context has elsewhere", "one category for each context")
    return [known.get(_one_line(record[CONTEXT]), _NONE) for record in records]


def _one_line(text: str) -> str:
    return " ".join(text.split())
