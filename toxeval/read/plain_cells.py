"""The fast road into large CSV and TSV files: pyarrow's reader, for the parts of them that can be read in one way only.

Such a part is some whole lines of UTF-8, none of them empty, with as many cells in each as the header has, whose quotes
all stand around cells that hold no line break, or are doubled within one. The first part that isn't so, and all after
it, is for the strict reader, which reads it or says what is wrong with it.
"""

import codecs
import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

#: Bytes read at a time. Python's own reader is done with a smaller file before pyarrow is imported.
PART = 1 << 20
_QUOTE, _LINE_FEED = ord('"'), ord("\n")
#: What such a part never holds: empty lines, and what ends a line for some readers and not for others.
_ODD = (b"\n\n", b"\n\r", b"\0")


def parts_of(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Bytes in parts of whole lines, about as long as `PART`; the last line may have no end."""
    held: list[bytes] = []
    size = 0
    for block in blocks:
        cut = block.rfind(b"\n") + 1
        size += len(block)
        if cut and size - len(block) + cut >= PART:
            yield b"".join([*held, block[:cut]])
            held, size = [block[cut:]], len(block) - cut
        else:
            held.append(block)
    if rest := b"".join(held):
        yield rest


def plain_header(first: bytes, separator: str) -> tuple[list[str], bytes] | None:
    """The cells of the header and the bytes after them, if the header is plain."""
    line, end, body = first.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    if not line.strip() or not _is_plain(line + end, separator):
        return None
    return next(csv.reader([line.decode()], delimiter=separator, strict=True)), body


class PlainCells:
    """The columns of the parts that are plain, as arrays of Arrow's.

    Args:
        width: how many cells a row has.
        wanted: the positions of the columns to read.

    Attributes:
        n_rows: read so far, each of them a line.
        rest: the parts from the first one that isn't plain, when all before are read.
    """

    def __init__(self, parts: Iterator[bytes], separator: str, width: int, wanted: Sequence[int]) -> None:
        self._parts, self._separator, self._width, self._wanted = parts, separator, width, wanted
        self.n_rows = 0
        self.rest: Iterator[bytes] = iter(())

    def __iter__(self) -> Iterator[list[Any]]:
        for part in self._parts:
            columns = self._columns(part) if _is_plain(part, self._separator) else None
            if columns is None:
                self.rest = chain([part], self._parts)
                return
            self.n_rows += len(columns[0])
            yield columns

    def _columns(self, part: bytes) -> list[Any] | None:
        """The wanted columns as texts; None if a row has another number of cells."""
        import pyarrow as pa
        import pyarrow.csv as arrow

        names = list(map(str, range(self._width)))
        wanted = [names[i] for i in self._wanted]
        try:
            table = arrow.read_csv(
                pa.BufferReader(part),
                arrow.ReadOptions(use_threads=False, column_names=names, block_size=len(part) + 1),
                arrow.ParseOptions(delimiter=self._separator, ignore_empty_lines=False),
                arrow.ConvertOptions(
                    include_columns=wanted, column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid:
            return None
        return [column.combine_chunks() for column in table.columns]


def _is_plain(part: bytes, separator: str) -> bool:
    """Whether all readers agree on where the cells of a part are, if each of its lines has as many."""
    if any(odd in part for odd in _ODD) or part.startswith((b"\n", b"\r", codecs.BOM_UTF8)):
        return False  # pyarrow takes a mark at the start of any part for that of the file
    if part.count(b"\r") != part.count(b"\r\n"):
        return False
    if not part.isascii():
        try:
            part.decode()
        except UnicodeDecodeError:
            return False
    return b'"' not in part or _quotes_are_plain(np.frombuffer(part, np.uint8), ord(separator))


def _quotes_are_plain(characters: np.ndarray, separator: int) -> bool:
    """Whether each quote opens a cell, closes it, or is one of two in it, and no cell holds a line break.

    >>> [_quotes_are_plain(np.frombuffer(text, np.uint8), ord(",")) for text in (b'a,"b ""c"",d"', b'a"b"', b'"a')]
    [True, False, False]
    """
    quotes = np.flatnonzero(characters == _QUOTE)
    if len(quotes) % 2:
        return False
    padded = np.concatenate([[_LINE_FEED], characters, [_LINE_FEED]])
    opening, closing = quotes[::2], quotes[1::2]
    ends = (separator, _LINE_FEED)
    doubled = np.append(closing[:-1] + 1 == opening[1:], False)  # one that closes, and the next opens at once
    before, after = padded[opening], padded[closing + 2]
    opens = np.isin(before, ends) | np.append(False, doubled[:-1])
    closes = np.isin(after, (*ends, ord("\r"))) | doubled
    if not (opens.all() and closes.all()):
        return False
    breaks = np.flatnonzero(characters == _LINE_FEED)
    return not (np.searchsorted(quotes, breaks) % 2).any()
