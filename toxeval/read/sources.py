"""Where the bytes of a table come from. A file can be read again, standard input and pipes can't.

Whatever can't be read twice is read once or refused by name: never in part, and nobody waits for a second writer.
"""

import codecs
import math
import os
import stat
import sys
from collections.abc import Hashable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn
from weakref import WeakValueDictionary

from toxeval.core.refusals import refuse

#: What messages call it.
STANDARD_INPUT = "standard input"
#: Bytes read at a time.
BLOCK = 1 << 16


@dataclass(frozen=True)
class Limits:
    """How much is read, for tables that come from anybody; None is no limit.

    Attributes:
        bytes: of the file, or the text.
        rows: of the table.
        values: in a Parquet file, those in lists counted one by one.
    """

    bytes: int | None = None
    rows: int | None = None
    values: int | None = None

    def check_bytes(self, name: str, size: int) -> None:
        """Refuse a file that is too large."""
        if self.bytes is not None and size > self.bytes:
            refuse(f"{size / 1e6:.1f} MB", f"up to {self.bytes / 1e6:.0f} MB", file=name)

    def check_rows(self, name: str, n: int) -> None:
        """Refuse a table that is too long."""
        if self.rows is not None and n > self.rows:
            refuse(f"{n:,} rows", f"up to {self.rows:,}", file=name)


NO_LIMITS = Limits()


class Source:
    """Some bytes with a name.

    Attributes:
        name: what messages call it.
        ending: of its name, ``.csv``; "" where that says nothing.
        limits: how much of it is read.
        size: how many bytes there are; infinity where nobody knows.
        once: whether it can't be read again.
    """

    once = False

    def __init__(self, name: str, ending: str, limits: Limits, size: float) -> None:
        self.name, self.ending, self.limits, self.size = name, ending, limits, size

    def blocks(self) -> Iterator[bytes]:
        """The bytes from the start, a block at a time."""
        raise NotImplementedError


class Content(Source):
    """Bytes in memory: an upload, or a text that was pasted."""

    def __init__(self, name: str, ending: str, limits: Limits, content: bytes) -> None:
        super().__init__(name, ending, limits, len(content))
        limits.check_bytes(name, len(content))
        self.content = content

    def blocks(self) -> Iterator[bytes]:
        """The bytes from the start, a block at a time."""
        return (self.content[start : start + BLOCK] for start in range(0, len(self.content), BLOCK))


class File(Source):
    """A regular file, which must stay the same from the first reading to the end of the last."""

    def __init__(self, name: str, limits: Limits, path: Path) -> None:
        super().__init__(name, path.suffix.lower(), limits, path.stat().st_size)
        self.path = path
        self._seen: tuple[int, int] | None = None

    def blocks(self) -> Iterator[bytes]:
        """The bytes from the start, a block at a time."""
        with _open(self.name, self.path) as stream:
            self.check_unchanged(os.fstat(stream.fileno()))
            yield from _read(self.name, stream)
            self.check_unchanged(os.fstat(stream.fileno()))

    def check_unchanged(self, found: os.stat_result | None = None) -> None:
        """Refuse a file that isn't as it was when it was first opened."""
        found = found or self.path.stat()
        now = (found.st_size, found.st_mtime_ns)
        if self._seen is None:
            self.limits.check_bytes(self.name, found.st_size)
            self._seen = now
        if self._seen != now:
            refuse("the file changed while it was read", file=self.name)


class Stream(Source):
    """Standard input or a pipe."""

    once = True
    #: which pipe or terminal -> its source, as long as somebody holds it
    _held: WeakValueDictionary[Hashable, Source] = WeakValueDictionary()

    def __init__(self, name: str, limits: Limits, stream: BinaryIO | Path, identity: Hashable) -> None:
        super().__init__(name, "", limits, math.inf)
        if identity in self._held:
            self._refuse_again()
        self._held[identity] = self
        self._stream: BinaryIO | None = _open(name, stream) if isinstance(stream, Path) else stream

    def _refuse_again(self) -> None:
        refuse("wanted more than once, and can be read once", hint="save it to a file", file=self.name)

    def blocks(self) -> Iterator[bytes]:
        """The bytes, a block at a time; refused the second time."""
        stream, self._stream = self._stream, None
        if stream is None:
            self._refuse_again()
            return
        size = 0
        with nullcontext(stream) if self.name == STANDARD_INPUT else stream:
            for block in _read(self.name, stream):
                size += len(block)
                self.limits.check_bytes(self.name, size)
                yield block


def open_source(path: str, limits: Limits) -> Source:
    """The source at a path that isn't a folder; ``-`` is standard input.

    Raises:
        FileNotFoundError: if there is no such file.
        Refusal: if it can't be read, or is a pipe that is being read already.
    """
    if path == "-":
        stream: BinaryIO = sys.stdin.buffer
        try:
            return Stream(STANDARD_INPUT, limits, stream, _identity(os.fstat(stream.fileno())))
        except OSError:  # not a file of the system: a test's
            return Stream(STANDARD_INPUT, limits, stream, id(stream))
    file = Path(path).expanduser()
    if not file.exists():
        raise FileNotFoundError(f"{path}: no such file")
    found = file.stat()
    if stat.S_ISREG(found.st_mode):
        return File(str(file), limits, file)
    return Stream(str(file), limits, file, _identity(found))


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _open(name: str, path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        _refuse_error(name, error)


def _read(name: str, stream: BinaryIO) -> Iterator[bytes]:
    try:
        while block := stream.read(BLOCK):
            yield block
    except OSError as error:
        _refuse_error(name, error)


def _refuse_error(name: str, error: OSError) -> NoReturn:
    refuse(f"can't be read ({(error.strerror or type(error).__name__).lower()})", file=name)


def pieces(name: str, blocks: Iterable[bytes], line: int = 1) -> Iterator[str]:
    """UTF-8 text in pieces of whole lines, without a byte order mark, from bytes that begin at a line of a file. Lines
    end with a line feed and nothing else.

    Raises:
        Refusal: for bytes that are no UTF-8, with the line.
    """
    parts = [b""]
    mark = codecs.BOM_UTF8 if line == 1 else b""
    for block in blocks:
        cut = block.rfind(b"\n") + 1
        if cut:
            piece, parts = b"".join([*parts, block[:cut]]), [block[cut:]]
            yield _decoded(name, piece.removeprefix(mark), line)
            line, mark = line + piece.count(b"\n"), b""
        else:
            parts.append(block)
    piece = b"".join(parts).removeprefix(mark)
    if piece:
        yield _decoded(name, piece, line)


def _decoded(name: str, piece: bytes, line: int) -> str:
    try:
        return piece.decode()
    except UnicodeDecodeError as error:
        start = piece.rfind(b"\n", 0, error.start) + 1
        line += piece.count(b"\n", 0, error.start)
        refuse(f"not UTF-8 (byte {error.start - start + 1})", file=name, line=line)
