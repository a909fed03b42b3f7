"""Opening a table: what kind it is follows from its name, or else from its first bytes."""

import codecs
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from toxeval.core.refusals import refuse

from .folders import from_folder
from .json_texts import from_json
from .parquet import from_parquet
from .separated import from_separated
from .sources import NO_LIMITS, Content, File, Limits, Source, open_source
from .tables import Table

#: How files begin that are no text, though their names may say so.
PACKED = {
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"PK\x03\x04": "an Excel workbook or a ZIP archive; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the table as CSV",
}
#: The endings of names that say what a file is.
ENDINGS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
#: What messages call a text that was pasted.
PASTED = "the pasted text"


def open_table(path: str, *, limits: Limits = NO_LIMITS, multiline: bool = False) -> Table:
    """The table in a file or folder.

    Args:
        path: a ``.jsonl``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet`` file; a folder that ``datasets`` saved or of
            Parquet files (``FOLDER:SPLIT`` where it holds several splits); or ``-``, standard input. Pipes and files
            with other names are recognised by their first bytes.
        limits: how much is read.
        multiline: whether quoted cells of CSV and TSV may hold whole rows, see `from_separated`.

    Raises:
        FileNotFoundError: if there is no such file.
        Refusal: if it is empty or not what it seems to be.
    """
    file, split = Path(path).expanduser(), ""
    if path != "-" and not file.exists() and ":" in path:
        folder, _, split = path.rpartition(":")
        file = Path(folder).expanduser()
        if not file.is_dir():
            raise FileNotFoundError(f"{path}: no such file")
    if path != "-" and file.is_dir():
        return from_folder(file, split, limits)
    source = open_source(path, limits)
    if isinstance(source, File) and source.ending == ".parquet":
        return from_parquet([source], source.name)
    return _recognised(source, multiline)


def open_bytes(
    name: str, content: bytes, *, header: bool = True, limits: Limits = NO_LIMITS, multiline: bool = False
) -> Table:
    """The table in the bytes of a file, such as an upload.

    Args:
        name: of the file; its ending says what it is.
        header: whether the first row of CSV and TSV has the columns' names; else they are ``column 1`` and so on.
        limits, multiline: as in `open_table`.

    >>> table = open_bytes("guesses.csv", b"prediction,label\\nOFF,NOT\\n")
    >>> table.columns, list(table.batches(["label"]))
    (('prediction', 'label'), [{'label': ['NOT']}])
    """
    ending = Path(name).suffix.lower()
    if ending not in ENDINGS:
        refuse("this kind of file isn't read here", ", ".join(ENDINGS), file=name)
    source = Content(name, ending, limits, content)
    return from_parquet([source], name) if ending == ".parquet" else _recognised(source, multiline, header)


def open_pasted(text: str, *, header: bool = True, limits: Limits = NO_LIMITS, multiline: bool = False) -> Table:
    """The table in a text: JSON, JSON Lines, or cells between tabs, commas or semicolons.

    `Table.read_as` says what it was taken for: tabs if there are some in the first line, else semicolons if there are
    and no commas, else commas.

    Args:
        header, limits, multiline: as in `open_bytes`.

    >>> table = open_pasted("OFF; NOT\\nNOT;NOT", header=False)
    >>> table.read_as, list(table.batches(["column 2"]))
    ('CSV with semicolons, without a header', [{'column 2': [' NOT', 'NOT']}])
    """
    source = Content(PASTED, ".json", limits, text.encode())
    if not text.strip():
        refuse("no rows", file=PASTED)
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        return from_json(source, source.blocks())
    return from_separated(source, source.blocks(), _separator(source.content), header=header, multiline=multiline)


def _recognised(source: Source, multiline: bool, header: bool = True) -> Table:
    """The table in a source that isn't known to be Parquet."""
    blocks = source.blocks()
    head = next(blocks, b"")
    begun: Iterator[bytes] = chain([head], blocks)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        refuse("UTF-16 text; save it as UTF-8", file=source.name)
    for magic, what in PACKED.items():
        if head.startswith(magic):
            refuse(what, file=source.name)
    if head.startswith(b"PAR1"):
        file = source if isinstance(source, File) else Content(source.name, "", source.limits, b"".join(begun))
        return from_parquet([file], source.name)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if not start:
        refuse("no rows (the file is empty)", file=source.name)
    if source.ending in (".json", ".jsonl", ".ndjson") or source.ending not in (".csv", ".tsv") and start in b"{[":
        return from_json(source, begun)
    separator = "\t" if source.ending == ".tsv" else _separator(head, tabs=source.ending != ".csv")
    return from_separated(source, begun, separator, header=header, multiline=multiline)


def _separator(head: bytes, *, tabs: bool = True) -> str:
    """What stands between the cells of a text, by its first line."""
    line = head.partition(b"\n")[0]
    if tabs and b"\t" in line:
        return "\t"
    return ";" if b";" in line and b"," not in line else ","
