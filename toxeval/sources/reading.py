"""One source file as rows with their line numbers, and the refusal of what doesn't belong there."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from toxeval.core.refusals import Refusal, Text


class DamagedFileError(Refusal):
    """A source file is not what the dataset is defined on. ``source`` is its name."""

    def __init__(self, found: Text, *, source: str = "", **fields: Any) -> None:
        super().__init__(found, **fields)
        self.source = source


class SourceText:
    """The bytes of one source file, read as rows with their line numbers.

    Every refusal names dataset, file and line; cells are described, never quoted: they may hold what people wrote.
    """

    def __init__(self, dataset: str, file: str, data: bytes) -> None:
        self.dataset = dataset
        self.file = file
        self.data = data

    def refuse(self, line: int, message: str) -> NoReturn:
        """Stop at a line (counted from 1)."""
        raise DamagedFileError(message, where=f"{self.dataset}: {self.file}, line {line}", source=self.file)

    def csv_rows(self, columns: Sequence[str], delimiter: str = ",") -> Iterator[tuple[int, dict[str, str]]]:
        """The rows under a header that must be exactly `columns`, each with the line it begins on."""
        lines = io.TextIOWrapper(io.BytesIO(self.data), encoding="utf-8", newline="")
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        line = 1
        try:
            header = next(reader, [])
            if header != list(columns):
                found = f"{_difference(header, columns)}{page_hint(self.data)}"
                self.refuse(1, f"expected the columns {', '.join(columns)}; {found}")
            line = reader.line_num + 1
            for cells in reader:
                if len(cells) != len(columns):
                    self.refuse(line, f"expected {len(columns)} cells, found {len(cells)}")
                yield line, dict(zip(columns, cells))
                line = reader.line_num + 1
        except csv.Error as error:
            self.refuse(line, f"not readable as CSV: {error}")
        except UnicodeDecodeError:
            self._text()
            raise
        if line == 2:
            self.refuse(line, "no rows below the header")

    def json_rows(self, keys: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of a JSON array, which must have exactly `keys`, each with the line it begins on."""
        text = self._text()
        decoder = json.JSONDecoder()
        position = self._expect(text, 0, "[")
        line, counted = 1, 0
        while True:
            position = _skip_space(text, position)
            line += text.count("\n", counted, position)
            counted = position
            try:
                row, position = decoder.raw_decode(text, position)
            except json.JSONDecodeError as error:
                self.refuse(error.lineno, f"not readable as JSON: {error.msg}")
            if not isinstance(row, dict):
                self.refuse(line, f"expected an object, found a {type(row).__name__}")
            if set(row) != set(keys):
                self.refuse(line, f"expected the keys {', '.join(keys)}; {_difference(row, keys)}")
            yield line, row
            position = self._expect(text, position, ",]")
            if text[position - 1] == "]":
                break
        if _skip_space(text, position) != len(text):
            self.refuse(text.count("\n", 0, position) + 1, "text after the end of the JSON array")

    def label(self, line: int, field: str, value: object, allowed: Sequence[str]) -> str:
        """`value`, if it is one of `allowed`."""
        if isinstance(value, str) and value in allowed:
            return value
        self.refuse(line, f"{field}: expected one of {', '.join(allowed)}; found {described(value)}")

    def whole(self, line: int, field: str, value: str) -> int:
        """`value` as a whole number; nine digits fit into 32 bits."""
        if re.fullmatch(r"-?[0-9]{1,9}", value):
            return int(value)
        self.refuse(
            line, f"{field}: expected a whole number of at most 9 digits; found a text of {len(value)} characters"
        )

    def text(self, line: int, field: str, value: object) -> str:
        """`value`, if it is a text that can be written as UTF-8 (JSON can name halves of characters)."""
        if not isinstance(value, str):
            self.refuse(line, f"{field}: expected a text; found {described(value)}")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self.refuse(line, f"{field}: holds half of a surrogate pair, which is not text")
        return value

    def _text(self) -> str:
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            self.refuse(line, f"not UTF-8: byte 0x{self.data[error.start]:02x} at offset {error.start}")

    def _expect(self, text: str, position: int, characters: str) -> int:
        position = _skip_space(text, position)
        if position >= len(text) or text[position] not in characters:
            found = "the end of the file" if position >= len(text) else "something else"
            expected = " or ".join(repr(character) for character in characters)
            line = text.count("\n", 0, position) + 1
            self.refuse(line, f"not readable as JSON: expected {expected}, found {found}{page_hint(self.data)}")
        return position + 1


def described(value: object) -> str:
    """A value for an error message: what looks like a label as it is, anything else by its kind and length."""
    if isinstance(value, str):
        return repr(value) if re.fullmatch(r"[A-Za-z0-9_<>-]{0,8}", value) else f"a text of {len(value)} characters"
    return repr(value) if isinstance(value, (bool, int, float)) or value is None else f"a {type(value).__name__}"


def _difference(found: Any, expected: Sequence[str]) -> str:
    missing = [name for name in expected if name not in found]
    unknown = sum(name not in expected for name in found)
    if not missing and not unknown:
        return f"found them {'in another order' if len(found) == len(expected) else 'more than once'}"
    return f"found {len(found)}, {unknown} of them unknown; missing: {', '.join(missing) or 'none'}"


def page_hint(data: bytes) -> str:
    """A remark for an error message, if the file is an error page saved under the file's name."""
    return " (it looks like a web page, not like the file)" if data[:200].lstrip().startswith(b"<") else ""


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position
