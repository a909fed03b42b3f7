"""The controls for a metric's options, which follow from their declarations."""

from collections.abc import Mapping
from html import escape
from typing import Any

from toxeval.answers import RULES
from toxeval.core.declarations import Choice, Flag, NamedNumbers, Numbers, Option, Whole
from toxeval.core.refusals import NUMBER, is_number, refuse
from toxeval.page.words import label_of

#: What a public page computes at most, since a server's time is everybody's: an option's value, or how many it has.
MOST = {"n_resamples": 5_000, Numbers.kind: 50}
#: The largest number that a slider gives; more can be typed.
MOST_BY_SLIDER = 9
#: How a page asks what predictions are: as labels, others refused or counted as wrong, or as answers by a rule.
INVALID = {"error": "labels; anything else is refused", "count": "labels; anything else counts as wrong"}


def shown(option: Option, value: Any) -> Any:
    """A value of an option as its control shows it.

    >>> shown(Numbers("review_fractions", ""), (0.1, 0.5))
    '0.1, 0.5'
    """
    if isinstance(option, Flag):
        return bool(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={number}" for name, number in value.items())
    return "" if value is None else ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def control(option: Option, value: Any) -> str:
    """The HTML of a control that shows a value."""
    now, label = shown(option, value), label_of(option.name)
    if option.name == "invalid":
        return _answers_control(now)
    if isinstance(option, Choice):
        choices = {shown(option, choice): shown(option, choice) or "default" for choice in option.choices}
        return choice(option.name, label, choices, now, option.about)
    box = _box(option.name, label, now, option.about, "none" if option.default is None else "")
    return box.removesuffix("</div>") + _parts(option, value) + "</div>"


def _parts(option: Option, value: Any) -> str:
    """Inputs that write into a control's box: a slider for a small odd number or for each of several shares, a box for
    each of several other numbers."""
    if isinstance(option, Whole) and option.odd:
        parts = {"": f'type="range" min="{option.low}" max="{MOST_BY_SLIDER}" step="2" value="{value}"'}
    elif isinstance(option, NamedNumbers):
        now = value or {}
        kind = 'type="number" min="0" step="any"'
        if option.all_names and option.high == 1:
            now, kind = dict.fromkeys(option.names, 0) | now, 'type="range" min="0" max="0.5" step="0.01"'
        parts = {name: f'{kind} value="{now.get(name, "")}"' for name in option.names}
    else:
        return ""
    labels = "".join(
        f'<label class="tox-part">{label_of(name) or "By slider"} '
        f'<input data-part-of="{option.name}" data-part="{name}" {kind}></label>'
        for name, kind in parts.items()
    )
    return f'<div role="group" aria-label="{label_of(option.name)}">{labels}</div>'


def choice(name: str, label: str, choices: Mapping[str, str], now: str, about: str = "") -> str:
    """The HTML of a choice: ``choices`` is value -> what it is called."""
    radios = "".join(
        f'<label><input type="radio" name="tox-{name}" value="{escape(value)}" data-option="{name}"'
        f"{' checked' * (value == now)}> {escape(called)}</label>"
        for value, called in choices.items()
    )
    inside = f"<legend>{escape(label)}</legend>{radios}<small>{escape(about)}</small>"
    return f'<fieldset class="tox-control">{inside}</fieldset>'


def _box(name: str, label: str, now: Any, about: str, hint: str = "") -> str:
    common = f'id="tox-{name}" data-option="{name}" aria-describedby="tox-{name}-about"'
    after = f'<small id="tox-{name}-about">{escape(about)}</small></div>'
    if isinstance(now, bool):
        box = f'<input type="checkbox" {common}{" checked" * now}>'
        return f'<div class="tox-control"><label for="tox-{name}">{box} {label}</label>{after}'
    box = f'<input type="text" {common} value="{escape(now)}" placeholder="{hint}">'
    return f'<div class="tox-control"><label for="tox-{name}">{label}</label>{box}{after}'


def _answers_control(now: str) -> str:
    """One choice of how predictions are read, and what some of the rules need."""
    choices = INVALID | {rule: f"a language model's answers; {about}" for rule, about in RULES.items()}
    options = "".join(
        f'<option value="{rule}"{" selected" * (rule == now)}>{escape(about)}</option>'
        for rule, about in choices.items()
    )
    return (
        '<div class="tox-control"><label for="tox-invalid">Predictions are</label>'
        f'<select id="tox-invalid" data-option="invalid">{options}</select></div>'
        + _box("rule_part", "Field or pattern", "", "Of the JSON object, or the regular expression with one group.")
        + _box("aliases", "Other words for labels", "", "In answers, such as offensive=OFF, clean=NOT.")
    )


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


def answers_of(given: dict[str, Any]) -> dict[str, Any]:
    """The rule for answers and its aliases, taken out of what is given for the options; empty without a rule."""
    part, aliases, rule = given.pop("rule_part", ""), given.pop("aliases", ""), given.pop("answers", "")
    asked = given.get("invalid")
    if isinstance(asked, str) and asked in RULES:
        rule, colon, _ = asked.partition(":")
        rule, given["invalid"] = f"{rule}:{part}" if colon else rule, "count"
    if not rule:
        return {}
    if not isinstance(aliases, dict):
        aliases = dict(_pairs(str(aliases))) if aliases else {}
    return {"rule": str(rule), "aliases": {str(word): label for word, label in aliases.items()}}


def _value(option: Option, given: Any) -> Any:
    if isinstance(given, str) and not isinstance(option, Flag):
        value = _parsed(option, given.strip())
    else:
        value = [given] if isinstance(option, Numbers) and is_number(given) else option.from_json(given)
    value = option.check(value)
    most = MOST.get(option.name, MOST.get(option.kind))
    size = value if isinstance(option, Whole) else len(value) if isinstance(option, Numbers) else 0
    if most is not None and size > most:
        refuse(f"{size}{'' if isinstance(option, Whole) else ' of them'}", f"up to {most} here", option=option.name)
    return value


def _parsed(option: Option, text: str) -> Any:
    """What a text stands for; what stands for nothing stays as it is, to be refused."""
    if isinstance(option, Numbers):
        return [_number(part.strip()) for part in text.split(",") if part.strip()]
    if not text:
        return None
    if isinstance(option, NamedNumbers):
        pairs = _pairs(text)
        numbers = {name: _number(number) for name, number in pairs}
        return numbers if len(numbers) == len(pairs) else text
    if isinstance(option, Choice):
        return next((choice for choice in option.choices if shown(option, choice) == text), text)
    return _number(text)


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _number(text: str) -> Any:
    if not NUMBER.fullmatch(text):
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)
