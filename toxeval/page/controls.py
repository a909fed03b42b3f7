"""The controls for a metric's options."""

from dataclasses import dataclass
from typing import Any, NoReturn

from toxeval.core.refusals import NUMBER
from toxeval.page.cells import Refused


@dataclass(frozen=True)
class Option:
    """A control for one option of ``compute``; its default is the metric's own.

    Attributes:
        name: the option, or "config_name".
        label, info: what the page calls it and says about it.
        choices: (label, value) of each, where there are only some.
        low, high: limits of this page for numbers and, for lists, their length: a public server's time is everybody's.
        more: whether it is among those few need.
        kind: "choice", "flag", "number", "whole", "optional" (a number that may be left out; Gradio's box for numbers
            turns empty into 0), "numbers" or "pairs".
    """

    name: str
    label: str
    kind: str
    info: str = ""
    choices: tuple[tuple[str, Any], ...] = ()
    low: float = 0
    high: float = 1
    more: bool = False

    def shown(self, value: Any) -> Any:
        """A value of the option as its control shows it."""
        if self.kind == "choice":
            return next(label for label, choice in self.choices if repr(choice) == repr(value))
        if self.kind == "numbers":
            return ", ".join(map(repr, value))
        if self.kind == "pairs":
            return ", ".join(f"{key}={number!r}" for key, number in (value or {}).items())
        return "" if self.kind == "optional" and value is None else value

    def value(self, shown: Any) -> Any:
        """What the control shows as a value of the option."""
        if self.kind == "choice":
            for label, choice in self.choices:
                if label == shown:
                    return choice
            self._refuse(f"one of {', '.join(label for label, _ in self.choices)}")
        if self.kind == "numbers":
            return tuple(self._number(part) for part in self._parts(shown))
        if self.kind == "pairs":
            pairs = [part.partition("=") for part in self._parts(shown)]
            numbers = {key.strip(): self._number(number) for key, _, number in pairs}
            if len(numbers) < len(pairs):
                self._refuse("each name once")
            return numbers or None
        if self.kind == "flag":
            if not isinstance(shown, bool):  # "false" would be true
                self._refuse("true or false")
            return shown
        if self.kind == "optional":
            shown = None if shown is None or not str(shown).strip() else self._number(str(shown))
        if shown is None:
            return None
        if not isinstance(shown, (int, float)) or not self.low <= shown <= self.high:
            self._refuse(f"a {'whole ' * (self.kind == 'whole')}number from {self.low:g} to {self.high:g}")
        if self.kind == "whole" and shown != int(shown):
            self._refuse("a whole number")
        return int(shown) if self.kind == "whole" else float(shown)

    def _parts(self, shown: Any) -> list[str]:
        parts = [part.strip() for part in str(shown or "").split(",") if part.strip()]
        if len(parts) > self.high:
            self._refuse(f"at most {self.high:g} values")
        return parts

    def _number(self, text: str) -> float:
        if not NUMBER.fullmatch(text.strip()):
            examples = {"numbers": "numbers between commas", "pairs": "entries such as oc_accuracy=0.99"}
            self._refuse(examples.get(self.kind, "a number"))
        return float(text)

    def _refuse(self, allowed: str) -> NoReturn:
        raise Refused("options", f"{self.label}: this page takes {allowed}.")
