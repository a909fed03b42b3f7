"""Refusals in the words of the page: rows count from 1, options and columns are called as they are on it."""

from copy import copy

from toxeval.core.refusals import Refusal, SayColumns, SetOption, Words
from toxeval.read.opening import PASTED


def label_of(option: str) -> str:
    """What the page calls an option.

    >>> label_of("from_logits")
    'From logits'
    >>> label_of("n_bins")
    'Number of bins'
    """
    name = f"number of {option[2:]}" if option.startswith("n_") else option
    return name.replace("_", " ").capitalize()


def base_name(name: str) -> str:
    """A file's name without folders."""
    return name.replace("\\", "/").rpartition("/")[2]


def sentence(refusal: Refusal) -> str:
    """A refusal as a sentence.

    >>> print(sentence(Refusal("unknown label 'UNK'", allowed="NOT, OFF", inputs=("predictions",), row=1)))
    Row 2, predictions: unknown label 'UNK'; allowed: NOT, OFF.
    """
    shown = copy(refusal)
    shown.metric, shown.file = "", "" if refusal.file == PASTED else base_name(refusal.file)
    text = shown.text(PageWords())
    if not shown.file and "_" not in text.partition(" ")[0]:  # files and moderator_labels keep their names
        text = text[:1].upper() + text[1:]
    return text + ("" if text.endswith((".", ")")) else ".")


class PageWords(Words):
    """Inputs are columns, and options are controls."""

    def place(self, refusal: Refusal) -> str:
        """Where it is."""
        if refusal.option:
            name, _, part = refusal.option.partition("[")
            return f"{label_of(name)}, {part.rstrip(']')}" if part else label_of(name)
        line = "" if refusal.line is None else f"line {refusal.line}"
        where = ", ".join(filter(None, [self.row(refusal), " and ".join(refusal.inputs), refusal.where]))
        field = f", {refusal.field}" if refusal.field else ""
        position = "" if refusal.position is None else f", position {refusal.position + 1}"
        return ": ".join(filter(None, [refusal.file, line, where + field + position]))

    def option(self, option: SetOption) -> str:
        """How to set an option."""
        if option.reader:
            return f"the command's --{option.name} takes it"
        chosen = {"True": "yes", "False": "no"}.get(str(option.value), option.value)
        return f"choose {chosen} for “{label_of(option.name)}”"

    def columns(self, columns: SayColumns) -> str:
        """How to say which columns are what."""
        return f"the choice beside {' and '.join(name for name, _ in columns.said)}"

    def row(self, refusal: Refusal) -> str:
        """The refused row."""
        return "" if refusal.row is None else f"row {self.number(refusal.row)}"

    def number(self, row: int) -> str:
        """A row's number."""
        return str(row + 1)
