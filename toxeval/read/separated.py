"""Tables whose cells stand between commas, tabs or semicolons, by the rules of CSV (RFC 4180), strictly.

Python's own reader: it is strict, says where a quote isn't closed instead of taking the rest of the file for one cell,
and is fast as long as nobody looks at single rows. In large files, what can be read in one way only goes another way,
see `plain_cells`: its cells come in Arrow's arrays.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NoReturn

from toxeval.core.refusals import SetOption, refuse

from .plain_cells import PART, PlainCells, parts_of, plain_header
from .sources import Source, pieces
from .tables import Columns, Table, gathered

#: Characters a cell may have; Python's own limit is short of a long document.
LONGEST_CELL = 1 << 27
#: Rows looked at a time.
ROWS = 512
#: What separators are called.
SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
#: And what tables with them are.
KINDS = {"\t": "TSV", ",": "CSV", ";": "CSV with semicolons"}


def from_separated(
    source: Source, begun: Iterator[bytes], separator: str, *, header: bool = True, multiline: bool = False
) -> Table:
    """The table in some text.

    Args:
        begun: the first reading of it.
        header: whether the first row has the columns' names; else they are ``column 1`` and so on.
        multiline: whether a quoted cell may hold whole rows. Otherwise that is refused: it mostly is a text with a
            quote at its start, in a file whose writer knew nothing of quotes.
    """

    spanning: list[int] = []

    def start(blocks: Iterator[bytes]) -> tuple[list[str], Callable[[Sequence[str]], Iterator[Columns]]]:
        spanning.clear()
        if header and source.size >= PART:
            parts = parts_of(blocks)
            part = next(parts, b"")
            if plain := plain_header(part, separator):
                names, body = plain
                return names, lambda wanted: fast(chain([body], parts), wanted)
            blocks = chain([part], parts)
        rows = _Rows(source, blocks, separator, multiline, spanning)
        first = rows.first()
        names = first if header else [f"column {i}" for i in range(1, len(first) + 1)]
        return names, lambda wanted: strict(rows.blocks(len(first), [] if header else [first]), wanted)

    def fast(parts: Iterator[bytes], wanted: Sequence[str]) -> Iterator[Columns]:
        cells = PlainCells(parts, separator, len(columns), list(map(columns.index, wanted)))
        for arrays in cells:
            source.limits.check_rows(source.name, cells.n_rows)
            yield dict(zip(wanted, arrays))
        rows = _Rows(source, cells.rest, separator, multiline, spanning, cells.n_rows, cells.n_rows + 1)
        yield from strict(rows.blocks(len(columns), []), wanted)

    def strict(blocks: Iterator[list[list[str]]], wanted: Sequence[str]) -> Iterator[Columns]:
        return ({name: list(map(itemgetter(columns.index(name)), block)) for name in wanted} for block in blocks)

    columns, first = start(begun)
    other = next((mark for mark in ("\t", ";") if mark in columns[0] and mark != separator), "")
    if len(columns) == 1 and other:  # tables of one column have no such name
        found = f"separated by {SEPARATORS[other]}, it seems; save it with commas as .csv, or with tabs as .tsv"
        refuse(found, file=source.name, where="header")
    readings = [first]

    def batches(wanted: Sequence[str]) -> Iterator[Columns]:
        read = readings.pop() if readings else start(source.blocks())[1]
        return gathered(read(wanted))

    def line(row: int) -> int | None:
        return None if source.once else _line(source, separator, row + header)

    return Table(
        source.name,
        tuple(dict.fromkeys(columns)),
        batches,
        read_as=f"{KINDS[separator]}, {'with' if header else 'without'} a header",
        separator=separator,
        text=True,
        once=source.once,
        spanning=spanning,
        line=line,
        repeated=frozenset(name for name in columns if columns.count(name) > 1),
    )


def _lines(source: Source, blocks: Iterator[bytes], line: int = 1) -> Iterator[str]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    return chain.from_iterable(io.StringIO(piece, newline="\n") for piece in pieces(source.name, blocks, line))


def _line(source: Source, separator: str, row: int) -> int:
    """The line at which a row begins, the header counted among them: for messages, since it takes another reading."""
    reader, line, wide = csv.reader(_lines(source, source.blocks()), delimiter=separator, strict=True), 1, 0
    for cells in reader:
        wide = wide or len(cells)
        if not cells and wide != 1:
            row += 1  # an empty line is no row
        if not row:
            break
        row, line = row - 1, reader.line_num + 1
    return line


class _Rows:
    """One reading of the rows, or of those after some rows and lines that were read before."""

    def __init__(
        self,
        source: Source,
        blocks: Iterator[bytes],
        separator: str,
        multiline: bool,
        spanning: list[int],
        n_rows: int = 0,
        n_lines: int = 0,
    ) -> None:
        self._name, self._limits = source.name, source.limits
        self._separator, self._multiline, self._spanning = separator, multiline, spanning
        self._reader = csv.reader(_lines(source, blocks, n_lines + 1), delimiter=separator, strict=True)
        self._width, self._row, self._n_lines = 0, n_rows, n_lines

    def first(self) -> list[str]:
        """The first row, mostly the header."""
        try:
            for cells in self._reader:
                if cells:
                    return cells
        except csv.Error as error:
            refuse(f"not readable as a table ({_problem(str(error))})", file=self._name, line=1, where="header")
        refuse("no rows (the file is empty)", file=self._name)

    def blocks(self, width: int, begun: list[list[str]]) -> Iterator[list[list[str]]]:
        """The other rows, each with so many cells; before them the first one, if it is in ``begun``."""
        self._width = width
        rows, line = begun, 0 if begun else self._reader.line_num
        while True:
            try:
                rows.extend(islice(self._reader, ROWS))
            except csv.Error as error:
                self._check(rows, line)  # what is wrong before the break
                self._refuse(rows, len(rows), line, f"not readable as a table ({_problem(str(error))})")
            if not rows:
                break
            rows = self._check(rows, line)
            self._row += len(rows)
            self._limits.check_rows(self._name, self._row)
            if rows:
                yield rows
            rows, line = [], self._reader.line_num
        if not self._row:
            refuse("no rows (nothing but a header)", file=self._name)

    def _check(self, rows: list[list[str]], line: int) -> list[list[str]]:
        """The rows without the empty lines among them."""
        if set(map(len, rows)) - {self._width}:
            for i, cells in enumerate(rows):
                if cells and len(cells) != self._width:
                    hint = f"quote cells with a {SEPARATORS[self._separator][:-1]} or a line break in them"
                    self._refuse(rows, i, line, f"{len(cells)} cells where the header has {self._width}", hint)
        more = self._reader.line_num - line - len(rows)
        if more and not self._multiline and self._width > 1:
            self._check_spanning(rows, line)
        if more:
            self._spanning.append(more)
        if self._width == 1:  # an empty line is an empty cell where there is one column, else no row
            return [cells or [""] for cells in rows] if [] in rows else rows
        return list(filter(None, rows)) if [] in rows else rows

    def _check_spanning(self, rows: list[list[str]], line: int) -> None:
        """Refuse quoted cells that hold whole rows: each line of such a row has as many separators as a row has."""
        for i, cells in enumerate(rows):
            for cell in cells:
                if "\n" not in cell:
                    continue
                first, *inner, last = (part.count(self._separator) for part in cell.split("\n"))
                if {first + last, *inner} == {self._width - 1}:
                    found = f"a quoted cell of {len(inner) + 2} lines that holds as many separators as rows do"
                    hint = "a quote within a text is to be doubled, and the text quoted; if it is meant: "
                    self._refuse(rows, i, line, found, (hint, SetOption("multiline", True, reader=True)))

    def _refuse(self, rows: list[list[str]], i: int, line: int, found: str, hint: Any = "") -> NoReturn:
        before = rows[:i]
        row = self._row + (i if self._width == 1 else len(list(filter(None, before))))
        line += self._n_lines + sum(1 + sum(cell.count("\n") for cell in cells) for cells in before)
        refuse(found, hint=hint, file=self._name, row=row, line=line + 1)


def _problem(message: str) -> str:
    if "new-line character" in message:
        return "a carriage return without a line feed: save it with other line ends, LF or CRLF, or quote the cell"
    return "a quote isn't closed" if "unexpected end of data" in message else message
