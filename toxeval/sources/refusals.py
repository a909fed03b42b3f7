"""The refusals of source files, some of which are also what Python raises for a file or a server that isn't there."""

from __future__ import annotations

from typing import Any

from toxeval.core.refusals import Refusal, Text


class DamagedFileError(Refusal):
    """A source file is not what the dataset is defined on. ``source`` is its name."""

    def __init__(self, found: Text, *, source: str = "", **fields: Any) -> None:
        super().__init__(found, **fields)
        self.source = source


class MissingFile(Refusal, FileNotFoundError):
    """A source file isn't where it was looked for."""


class NoConnection(Refusal, ConnectionError):
    """The server that has the source files can't be reached."""


class NoAnswer(Refusal, TimeoutError):
    """The server that has the source files doesn't answer."""
