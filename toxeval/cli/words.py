"""Refusals in the words of the command."""

import json
from typing import Any

from toxeval.core.refusals import SayColumns, SetOption, Words


class CommandWords(Words):
    """Options are ``--option name=value``, and columns are said with ``--columns``."""

    def option(self, option: SetOption) -> str:
        """How to set an option."""
        if not option.reader:
            return f"--option {option.name}={written(option.value)}"
        return self.option_name(option) if option.value is True else f"{self.option_name(option)} {option.value}"

    def option_name(self, option: Any) -> str:
        """What an option of the command is called."""
        return f"--{option.name.replace('_', '-')}"

    def columns(self, columns: SayColumns) -> str:
        """How to say which columns are what."""
        parts = [f"{name}={'COLUMN' if column is None else column}" for name, column in columns.said]
        return f"--columns {','.join(parts)}"


def written(value: Any) -> str:
    """A value as ``--option`` takes it.

    >>> written(True), written("toxicity"), written((0.1, 0.2))
    ('true', 'toxicity', '[0.1, 0.2]')
    """
    return value if isinstance(value, str) else json.dumps(value)
