"""What the harnesses write of each row, as answers: lm-evaluation-harness's ``samples_*.jsonl``, inspect's ``.eval``
and ``.json``. Neither harness is needed to read them.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from toxeval.core.refusals import describe, refuse

#: Zstandard in ZIP files, which `zipfile` knows from Python 3.14 on.
ZSTANDARD = 93


class Answer(NamedTuple):
    """What a log says of a row.

    Attributes:
        id: of the row in its data set, or its position.
        answer: the model's text.
        reference: what the task has as right.
        others: what else the row has, by name.
    """

    id: str
    answer: str
    reference: Any
    others: Mapping[str, Any]


def lm_eval_answers(records: Iterable[Mapping[str, Any]]) -> Iterator[Answer]:
    """The rows of a ``samples_*.jsonl``.

    Args:
        records: its lines, parsed.

    Raises:
        ValueError: if a line isn't one of these; if a task has several filters, each of which has lines for all rows.
    """
    first = None
    for row, record in enumerate(records):
        answer = from_lm_eval(record, row)
        first = record.get("filter") if first is None else first
        if record.get("filter") != first:
            allowed = "the lines of one: each has all rows"
            refuse(f"lines of the filters {first} and {record['filter']}", allowed, where=_LM_EVAL, row=row)
        yield answer


def from_lm_eval(record: Mapping[str, Any], row: int | None = None) -> Answer:
    """One line of a ``samples_*.jsonl``.

    Args:
        record: the line, parsed.
        row: which one it is, for messages.

    >>> from_lm_eval({"doc_id": 3, "doc": {"text": "hello"}, "target": "NOT", "filtered_resps": ["Not."]})
    Answer(id='3', answer='Not.', reference='NOT', others={'text': 'hello'})
    """
    answers = record.get("filtered_resps")
    if not isinstance(answers, list) or len(answers) != 1 or "doc_id" not in record:
        _refuse(_LM_EVAL, "no line of a task whose output_type is generate_until", row)
    answer = answers[0][0] if isinstance(answers[0], list) and len(answers[0]) == 1 else answers[0]
    if not isinstance(answer, str):
        _refuse(_LM_EVAL, f"{describe(answer)} for an answer, where a text is wanted", row)
    document = record.get("doc")
    others = dict(document) if isinstance(document, dict) else {}
    return Answer(str(others.pop("id", record["doc_id"])), answer, record.get("target"), others)


def inspect_answers(path: str | os.PathLike[str]) -> Iterator[Answer]:
    """The rows of a log of inspect: those that have an answer or a score.

    Args:
        path: a ``.eval`` or ``.json`` file.

    Raises:
        ValueError: if it isn't one, or has no samples.
    """
    with open(path, "rb") as file:
        samples = _of_eval(file) if zipfile.is_zipfile(file) else _of_json(file)
        for row, sample in enumerate(samples):
            if not sample.get("error") or sample.get("scores"):
                yield from_inspect(sample, row)


def from_inspect(sample: Mapping[str, Any], row: int | None = None) -> Answer:
    """One sample of a log of inspect.

    Args:
        sample: as it is in ``samples`` of the log as JSON, or in a file of ``samples/`` of the log as ``.eval``.
        row: which one it is, for messages.

    >>> from_inspect({"id": "a", "target": "NOT", "output": {"completion": "Not."}, "metadata": {"split": "test"}})
    Answer(id='a', answer='Not.', reference='NOT', others={'split': 'test'})
    """
    if not isinstance(sample.get("output"), dict) or "id" not in sample:
        _refuse(_INSPECT, "no sample of inspect", row)
    target = sample.get("target")
    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    return Answer(
        str(sample["id"]), sample["output"].get("completion") or "", target, dict(sample.get("metadata") or {})
    )


def _of_json(file: Any) -> list[dict[str, Any]]:
    file.seek(0)
    try:
        log = json.load(file)
    except ValueError:
        _refuse(_INSPECT, "neither JSON nor a .eval file")
    samples = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(samples, list):
        _refuse(_INSPECT, "a log without samples")
    return samples


def _of_eval(file: Any) -> Iterator[dict[str, Any]]:
    """The samples in a ZIP file; a later entry stands for earlier ones of its name."""
    with zipfile.ZipFile(file) as archive:
        entries = {entry.filename: entry for entry in archive.infolist() if entry.filename.startswith("samples/")}
        if not entries:
            _refuse(_INSPECT, "a log without samples")
        for entry in entries.values():
            yield json.loads(_content(file, archive, entry))


def _content(file: Any, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.compress_type != ZSTANDARD:
        return archive.read(entry)
    import pyarrow

    file.seek(entry.header_offset)
    header = file.read(30)  # its last four bytes are the lengths of the name and of an extra field, which follow
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), os.SEEK_CUR)
    compressed = file.read(entry.compress_size)
    content: bytes = pyarrow.decompress(compressed, entry.file_size, codec="zstd", asbytes=True)
    return content


_LM_EVAL, _INSPECT = "log of lm-eval", "log of inspect"


def _refuse(where: str, found: str, row: int | None = None) -> NoReturn:
    refuse(found, where=where, row=row)
