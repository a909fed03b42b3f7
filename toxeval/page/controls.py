"""The controls for a metric's options, which follow from their declarations."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from toxeval.core.declarations import (
    INTERVAL_OPTIONS,
    Choice,
    Definition,
    Flag,
    GridWidth,
    NamedNumbers,
    Numbers,
    Option,
    Whole,
)
from toxeval.core.refusals import NUMBER, is_number, refuse
from toxeval.page.words import label_of

#: What a public page computes at most, since a server's time is everybody's: the value of an option, or how many it has.
MOST = {"n_resamples": 5_000, Numbers.kind: 50}


def options_of(definitions: Sequence[Definition]) -> dict[str, Option]:
    """The options a page shows; a grid bounds the memory of more rows than a page takes."""
    every = [option for each in definitions for option in (*each.options, *INTERVAL_OPTIONS)]
    return {option.name: option for option in every if not isinstance(option, GridWidth)}


# --- shown --------------------------------------------------------------------------------------------------------


def shown(option: Option, value: Any) -> Any:
    """A value of an option as its control shows it.

    >>> shown(Numbers("review_fractions", ""), (0.1, 0.5))
    '0.1, 0.5'
    """
    if isinstance(option, Flag):
        return bool(value)
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={number:g}" for name, number in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def control(option: Option, value: Any) -> str:
    """The HTML of a control.

    Args:
        option: the option.
        value: what it shows at first.
    """
    name, about = f"tox-{option.name}", f'<small id="tox-{option.name}-about">{escape(option.about)}</small>'
    common = f'data-option="{option.name}" aria-describedby="{name}-about"'
    now = shown(option, value)
    if isinstance(option, Flag):
        box = f'<input type="checkbox" id="{name}" {common}{" checked" * now}>'
        return f'<div class="tox-control"><label for="{name}">{box} {label_of(option.name)}</label>{about}</div>'
    if isinstance(option, Choice):
        choices = {shown(option, choice): shown(option, choice) or "default" for choice in option.choices}
        return choice_control(option.name, label_of(option.name), choices, now, about)
    hint = ' inputmode="decimal"' if not isinstance(option, (Numbers, NamedNumbers)) else ""
    box = f'<input type="text" id="{name}" {common} value="{escape(now)}" placeholder="none"{hint} autocomplete="off">'
    return f'<div class="tox-control"><label for="{name}">{label_of(option.name)}</label>{box}{about}</div>'


def choice_control(name: str, label: str, choices: Mapping[str, str], now: str, about: str = "") -> str:
    """The HTML of a choice: ``choices`` is value -> what it is called."""
    radios = "".join(
        f'<label><input type="radio" name="tox-{name}" value="{escape(value)}" data-option="{name}"'
        f"{' checked' * (value == now)}> {escape(called)}</label>"
        for value, called in choices.items()
    )
    described = f' aria-describedby="tox-{name}-about"' if about else ""
    return f'<fieldset class="tox-control"{described}><legend>{escape(label)}</legend>{radios}{about}</fieldset>'


# --- read ---------------------------------------------------------------------------------------------------------


def values_of(options: Mapping[str, Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that aren't at their defaults.

    Args:
        options: name -> option.
        given: name -> what its control shows, a text or yes or no; or its value, as JSON has it.

    Raises:
        Refusal: for what isn't allowed; it names the option.
    """
    values = {name: _value(option, given[name]) for name, option in options.items() if name in given}
    return {name: value for name, value in values.items() if repr(value) != repr(options[name].default)}


def _value(option: Option, given: Any) -> Any:
    if isinstance(given, str) and not isinstance(option, Flag):
        value = _parsed(option, given.strip())
    else:
        value = [given] if isinstance(option, Numbers) and is_number(given) else option.from_json(given)
    value = option.check(value)
    most = MOST.get(option.name, MOST.get(option.kind))
    size = value if isinstance(option, Whole) else len(value) if isinstance(option, Numbers) else 0
    if most is not None and size > most:
        what = "" if isinstance(option, Whole) else " of them"
        refuse(f"{size}{what}", f"up to {most} on this page", option=option.name)
    return value


def _parsed(option: Option, text: str) -> Any:
    """What a text stands for; what stands for nothing stays as it is, to be refused."""
    if isinstance(option, Numbers):
        return [_number(part) for part in _parts(text)]
    if not text:
        return None
    if isinstance(option, NamedNumbers):
        pairs = [part.partition("=") for part in _parts(text)]
        numbers = {name.strip(): _number(number.strip()) for name, _, number in pairs}
        return numbers if len(numbers) == len(pairs) else text
    if isinstance(option, Choice):
        return next((choice for choice in option.choices if shown(option, choice) == text), text)
    return _number(text)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(text: str) -> Any:
    if not NUMBER.fullmatch(text):
        return text
    return float(text) if not text.lstrip("+-").isdigit() else int(text)
