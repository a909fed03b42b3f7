"""The one kind of error that bad input gets: a `ValueError` with fields, whose text is made at the end.

Whoever notices that something is wrong knows a few of the fields (the row, what was found, what is allowed). Whoever
the error passes on its way out fills in what they know (the metric's name, the row of the file), and whoever shows it
chooses the words. So nobody has to take a message apart.
"""

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

#: A text that is a number, in a cell of a table, a file or an option of the command.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?|[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)

#: What `bool` is in Python and in NumPy.
BOOLS = (bool, np.bool_)


@dataclass(frozen=True)
class SetOption:
    """In a text: how to set an option, in the words of whoever reads it.

    Attributes:
        name, value: of the option.
        reader: whether it is one of those who read tables, and none of the metric.
    """

    name: str
    value: Any
    reader: bool = False


@dataclass(frozen=True)
class OptionName:
    """In a text: what an option is called, in the words of whoever reads it."""

    name: str


@dataclass(frozen=True)
class ThisRow:
    """In a text: the number of the refused row."""


@dataclass(frozen=True)
class RowNumber:
    """In a text: the number of some row, counted from 0."""

    row: int


@dataclass(frozen=True)
class SayColumns:
    """In a text: how to say in which columns of a table something is.

    Attributes:
        said: pairs of what it is (an input, a field of one, ``id``) and the column: None where that isn't known, ""
            where there is none.
    """

    said: tuple[tuple[str, str | None], ...]


#: A text, or its parts.
Text = str | tuple[str | SetOption | OptionName | ThisRow | RowNumber | SayColumns, ...]


class Refusal(ValueError):
    """Something that can't be scored, and why.

    Attributes:
        metric: which metric refuses it.
        inputs: the inputs it is about: one, or two that don't fit together.
        row: which row of them, counted from 0.
        rows: input -> its row, where that isn't the same for all of them: rows that were matched by id.
        field: which field of a record.
        position: which position of a sequence, counted from 0.
        option: the option it is about.
        where: what it is about, where that is neither an input nor an option.
        file, line: which file, and which line of it, counted from 1, where a table can't be read.
        found: what was found there. It never quotes running text.
        allowed: what is allowed.
        hint: what to do about it.

    >>> print(Refusal("unknown label 'UNK'", allowed="NOT, OFF", inputs=("predictions",), row=1))
    predictions[1]: unknown label 'UNK'; allowed: NOT, OFF
    """

    def __init__(
        self,
        found: Text,
        *,
        allowed: Text = "",
        hint: Text = "",
        metric: str = "",
        inputs: Sequence[str] = (),
        row: int | None = None,
        field: str = "",
        position: int | None = None,
        option: str = "",
        where: str = "",
        file: str = "",
        line: int | None = None,
    ) -> None:
        super().__init__(found)
        self.found, self.allowed, self.hint = found, allowed, hint
        self.metric, self.inputs, self.option, self.where = metric, tuple(inputs), option, where
        self.row, self.field, self.position = row, field, position
        self.rows: dict[str, int] = {}
        self.file, self.line = file, line

    def __str__(self) -> str:
        return self.text()

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), dict(self.__dict__))

    def text(self, words: "Words | None" = None) -> str:
        """The message, in the words of whoever reads it; in Python's, if nobody says."""
        words = words or Words()
        place = words.place(self)
        message = ": ".join(filter(None, [self.metric, place, words.text(self.found, self)]))
        if self.allowed:
            message += f"; allowed: {words.text(self.allowed, self)}"
        hint = words.hint(self)
        return f"{message} ({hint})" if hint else message


def _rebuilt(kind: type[Refusal], fields: dict[str, Any]) -> Refusal:
    refusal = kind(fields["found"])
    refusal.__dict__.update(fields)
    return refusal


class Words:
    """How a refusal names what its reader sees: here inputs, rows and options as they are called in Python."""

    def place(self, refusal: Refusal) -> str:
        """Where it is: ``predictions[1]["slots"][0]``, ``option threshold``."""
        if refusal.option:
            return f"option {refusal.option}"
        line = "" if refusal.line is None else f"line {refusal.line}"
        row = self.row(refusal) if refusal.file and refusal.row is not None else ""
        there = [" and ".join(self.input(refusal, name) for name in refusal.inputs)]
        there = there if refusal.inputs else [row, refusal.where]
        return ": ".join(filter(None, [refusal.file, line, *there]))

    def input(self, refusal: Refusal, name: str) -> str:
        """Where in one of the inputs it is."""
        number = refusal.rows.get(name, refusal.row)
        row = "" if number is None else f"[{number}]"
        field = f'["{refusal.field}"]' if refusal.field else ""
        position = "" if refusal.position is None else f"[{refusal.position}]"
        return f"{name}{row}{field}{position}"

    def option(self, option: SetOption) -> str:
        """How to set an option."""
        return f"{option.name}={option.value!r}"

    def option_name(self, option: OptionName) -> str:
        """What an option is called."""
        return option.name

    def columns(self, columns: SayColumns) -> str:
        """How to say which columns are what."""
        parts = [f'"{name}": {"..." if column is None else repr(column)}' for name, column in columns.said]
        return f"columns={{{', '.join(parts)}}}"

    def row(self, refusal: Refusal) -> str:
        """The refused row."""
        return f"row {self.number(refusal.row or 0)}"

    def number(self, row: int) -> str:
        """A row's number."""
        return str(row)

    def hint(self, refusal: Refusal) -> str:
        """What to do about it."""
        return self.text(refusal.hint, refusal)

    def text(self, text: Text, refusal: Refusal) -> str:
        """A text of several parts as one."""
        if isinstance(text, str):
            return text
        parts = []
        for part in text:
            if isinstance(part, SetOption):
                parts.append(self.option(part))
            elif isinstance(part, OptionName):
                parts.append(self.option_name(part))
            elif isinstance(part, SayColumns):
                parts.append(self.columns(part))
            elif isinstance(part, RowNumber):
                parts.append(self.number(part.row))
            else:
                parts.append(self.row(refusal) if isinstance(part, ThisRow) else part)
        return "".join(parts)


class Doubt(UserWarning):
    """A warning with the fields of a refusal, whose text is made at the end, too."""

    def __init__(self, found: Text, *, hint: Text = "", **fields: Any) -> None:
        self.refusal = Refusal(found, hint=hint, **fields)
        super().__init__(found)

    def __str__(self) -> str:
        return self.refusal.text()


def refuse(found: Text, allowed: Text = "", hint: Text = "", **fields: Any) -> NoReturn:
    """Raise a `Refusal`; ``fields`` are its attributes.

    >>> refuse("1.5", "a number from 0 to 1", metric="threat_f1", option="threshold")
    Traceback (most recent call last):
    ...
    toxeval.core.refusals.Refusal: threat_f1: option threshold: 1.5; allowed: a number from 0 to 1
    """
    # what it follows from may quote a text, and is nothing to its reader
    raise Refusal(found, allowed=allowed, hint=hint, **fields) from None


class Known:
    """A context that fills in what is known there of each refusal that passes, unless it is known already.

    >>> with Known(metric="threat_f1"):
    ...     refuse("unknown", where="option x")
    Traceback (most recent call last):
    ...
    toxeval.core.refusals.Refusal: threat_f1: option x: unknown
    """

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def __enter__(self) -> None:
        """Nothing to do yet."""

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        """Fill in the fields that are empty."""
        if isinstance(error, Refusal):
            for name, value in self._fields.items():
                setattr(error, name, getattr(error, name) or value)


# --- what a message may show --------------------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number: Python's or NumPy's, but no bool and no span of time."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.timedelta64))


def is_missing(value: Any) -> bool:
    """Whether ``value`` stands for no value: None, NaN, or what pandas has for it.

    >>> is_missing(float("nan")), is_missing(""), is_missing(0)
    (True, False, False)
    """
    is_nan = isinstance(value, (float, np.floating)) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")  # these have no truth value


def describe(value: Any, labels: Sequence[str] = ()) -> str:
    """``value`` as a message may show it: numbers and label-like words, never the user's text.

    >>> describe("UNK"), describe("what a nice long sentence"), describe(None)
    ("'UNK'", 'a text of 25 characters', 'None')
    """
    if isinstance(value, str):
        # twenty characters without a space are a word here, and a sentence in Chinese or Thai
        label_like = len(value) <= 20 and value.isascii() and value.isprintable() and " " not in value
        if label_like or (len(value) <= 40 and difflib.get_close_matches(value, labels, n=1, cutoff=0.8)):
            return repr(value)
        return f"a text of {len(value)} characters"
    if is_number(value):
        return str(value)
    if value is None or isinstance(value, bool):
        return repr(value)
    return f"a {type(value).__name__}"
