"""What the harnesses write of each row, as answers: lm-evaluation-harness's ``samples_*.jsonl``, inspect's ``.eval``
and ``.json``. Neither harness is needed to read them. What the metric makes of the answers is its own matter.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np

from toxeval.core.refusals import Known, describe, refuse

from ..tables import Table, Unscored, from_columns
from .given import Files, json_values

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


def from_lm_eval(record: Mapping[str, Any], row: int | None = None) -> Answer:
    """One line of a ``samples_*.jsonl``.

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


def has_failed(sample: Mapping[str, Any]) -> bool:
    """Whether a sample ended with an error, before it was scored."""
    return bool(sample.get("error")) and not sample.get("scores")


def from_inspect(sample: Mapping[str, Any], row: int | None = None) -> Answer:
    """One sample of a log of inspect.

    Args:
        sample: as it is in ``samples`` of the log as JSON, or in a file of ``samples/`` of the log as ``.eval``.

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


def samples_of(file: Any) -> Iterator[Mapping[str, Any]]:
    """The samples of a log, ``.eval`` or ``.json``, that is open for reading."""
    if not zipfile.is_zipfile(file):
        yield from _of_json(file)
        return
    try:
        yield from _of_eval(file)
    except (zipfile.BadZipFile, zlib.error, OSError, json.JSONDecodeError, EOFError):
        _refuse(_INSPECT, "damaged: a sample in it can't be unpacked")


def _of_json(file: Any) -> list[dict[str, Any]]:
    file.seek(0)
    content = file.read()
    try:
        log = json.loads(content)
    except json.JSONDecodeError as error:
        if content.lstrip().startswith(b"{"):
            refuse(f"broken JSON ({error.msg})", where=_INSPECT, line=error.lineno)
        _refuse(_INSPECT, "neither JSON nor a .eval file")
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


# --- tables ---------------------------------------------------------------------------------------------------------

#: The columns of the rows' ids, of the answers, and of what the task has as right.
ID, ANSWER, TARGET = "id", "predictions", "references"
#: What the column of ids is called that don't tell rows apart: of several epochs, in each of which all are asked.
SAMPLE = "sample"
#: The column that says which samples failed.
_FAILED = "(failed)"


def read_lm_eval(files: Files) -> tuple[Table, Table | None]:
    """The table of a ``samples_*.jsonl``, with what else the documents have, and that of the references."""
    source, answers, kept = files.predictions.source(), [], ""
    for line, record in json_values(source):
        with Known(file=source.name, line=line):
            if not isinstance(record, dict):
                _refuse(_LM_EVAL, "no line of a log")
            answers.append(from_lm_eval(record))
            kept = kept or str(record.get("filter"))
            if str(record.get("filter")) != kept:
                found = f"lines of the filters {describe(kept)} and {describe(record['filter'])}"
                refuse(found, "the lines of one: each has all rows", where=_LM_EVAL)
    return _table(source.name, answers), files.plain_references()


def read_inspect(files: Files) -> tuple[Table, Table | None]:
    """The table of a log of inspect, with the samples' metadata, and that of the references."""
    source = files.predictions.source()
    with Known(file=source.name):
        samples = list(samples_of(io.BytesIO(b"".join(source.blocks()))))
        if not samples:
            _refuse(_INSPECT, "a log without samples")
        answers = [
            Answer(str(sample.get("id")), "", None, {}) if has_failed(sample) else from_inspect(sample, row)
            for row, sample in enumerate(samples)
        ]
    failed = list(map(has_failed, samples))
    id_name = ID if len({sample.get("epoch") for sample in samples}) == 1 else SAMPLE
    return _table(source.name, answers, failed if any(failed) else [], id_name), files.plain_references()


def _table(name: str, answers: Sequence[Answer], failed: Sequence[bool] = (), id_name: str = ID) -> Table:
    """The table of some answers. Those of samples that failed don't count."""
    columns: dict[str, list[Any]] = {
        other: [answer.others.get(other) for answer in answers]
        for other in dict.fromkeys(chain.from_iterable(answer.others for answer in answers))
    }
    columns |= {
        id_name: [answer.id for answer in answers],
        ANSWER: [answer.answer for answer in answers],
        TARGET: [answer.reference for answer in answers],
    }
    why = "samples that ended with an error, and have no answer"
    unscored = Unscored(why, (_FAILED,), lambda columns: np.array(columns[_FAILED])) if failed else None
    table = from_columns(name, columns | ({_FAILED: list(failed)} if failed else {}))
    return replace(table, first=(ANSWER, TARGET), unscored=unscored)
