"""Files as they were given to be read by a layout, and what layouts read them with."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from toxeval.core.refusals import Known, refuse

from ..json_texts import read_json, read_json_at
from ..opening import open_bytes, open_table
from ..sources import NO_LIMITS, Content, Limits, Source, open_source, pieces
from ..tables import Table, shown

_SPACE = " \t\r\n"
_SPACES = re.compile(f"[{_SPACE}]*")


@dataclass(frozen=True)
class Given:
    """A file or a folder.

    Attributes:
        path: where it is; ``-`` is standard input. Of an upload, its name.
        limits: how much of it is read.
        multiline: whether quoted cells of CSV and TSV may hold whole rows.
        content: the bytes of an upload.
    """

    path: str
    limits: Limits = NO_LIMITS
    multiline: bool = False
    content: bytes | None = None

    @property
    def folder(self) -> Path | None:
        """The folder, if it is one."""
        path = Path(self.path).expanduser()
        return path if self.content is None and self.path != "-" and path.is_dir() else None

    def source(self, name: str = "") -> Source:
        """The bytes of the file, or of a file in the folder.

        Raises:
            FileNotFoundError: if there is no such file.
        """
        if self.content is not None:
            return Content(self.path, Path(self.path).suffix.lower(), self.limits, self.content)
        return open_source(str(Path(self.path).expanduser() / name) if name else self.path, self.limits)

    def table(self) -> Table:
        """The table that it is without a layout."""
        if self.content is not None:
            return open_bytes(self.path, self.content, limits=self.limits, multiline=self.multiline)
        return open_table(self.path, limits=self.limits, multiline=self.multiline)


@dataclass(frozen=True)
class Files:
    """What is to be read.

    Attributes:
        predictions, references: the files; without the second one, all is in the first.
        data_dir: a folder with a copy of the benchmark's own files.
    """

    predictions: Given
    references: Given | None = None
    data_dir: Given | None = None

    def plain_references(self) -> Table | None:
        """The references' table as it is without a layout."""
        return self.references.table() if self.references else None


def with_columns(table: Table, columns: Sequence[str]) -> Table:
    """The table, if it is one of texts with these columns."""
    lacking = [name for name in columns if name not in table.columns]
    if lacking or not table.text:
        found = f"without the column {shown(lacking[0])}" if lacking else "no table of texts"
        refuse(found, f"the columns {', '.join(columns)}", file=table.name, line=1)
    return table


def lines_of(source: Source) -> list[str]:
    """The lines of a text, without white space at their ends."""
    texts = (piece.removesuffix("\n").split("\n") for piece in pieces(source.name, source.blocks()))
    lines = [line.strip() for line in chain.from_iterable(texts)]
    if not any(lines):
        refuse("no rows (the file is empty)", file=source.name)
    source.limits.check_rows(source.name, len(lines))
    return lines


def json_values(source: Source) -> Iterator[tuple[int, Any]]:
    """The values of a JSON array, or of JSON Lines, with the line on which each begins.

    A single line with an array is a file of several rows, unless its name says that each line is one.

    Raises:
        Refusal: for anything else, with the line.
    """
    text = "".join(pieces(source.name, source.blocks())).rstrip(_SPACE)
    if not text:
        refuse("no rows (the file is empty)", file=source.name)
    first = text.lstrip(_SPACE).partition("\n")[0]
    is_array = first.startswith("[") and source.ending not in (".jsonl", ".ndjson")
    one_value = "\n" not in text.lstrip(_SPACE) or not _is_json(first)
    values = _of_array(source.name, text) if is_array and one_value else _of_lines(source.name, text)
    for n, found in enumerate(values, 1):
        source.limits.check_rows(source.name, n)
        yield found


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True


def _of_lines(name: str, text: str) -> Iterator[tuple[int, Any]]:
    for line, part in enumerate(text.split("\n"), 1):
        with Known(file=name, line=line):
            try:
                value = read_json(part)
            except json.JSONDecodeError as error:
                refuse(f"broken JSON ({error.msg})" if part.strip(_SPACE) else "empty", "a JSON value in every line")
        yield line, value


def _of_array(name: str, text: str) -> Iterator[tuple[int, Any]]:
    at, line, counted = _after_space(text, text.index("[") + 1), 1, 0
    if text.startswith("]", at):
        refuse("no rows (an empty array)", file=name)
    while True:
        line, counted = line + text.count("\n", counted, at), at
        with Known(file=name, line=line):
            try:
                value, at = read_json_at(text, at)
            except json.JSONDecodeError as error:
                refuse(f"broken JSON ({error.msg})", line=error.lineno)
        yield line, value
        at = _after_space(text, at)
        if not text.startswith(",", at):
            break
        at = _after_space(text, at + 1)
    if text[at:] != "]":
        found = "text after the end of the JSON array" if text.startswith("]", at) else "the JSON array isn't closed"
        refuse(found, file=name, line=text.count("\n", 0, at) + 1)


def _after_space(text: str, at: int) -> int:
    space = _SPACES.match(text, at)
    return space.end() if space else at
