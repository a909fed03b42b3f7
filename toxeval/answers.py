"""Answers of language models as labels, by a rule that the user names. Nothing is guessed.

>>> read_answers(["**Unsafe**", "Safe.", "I can't help with that"], ("Safe", "Unsafe"))
['Unsafe', 'Safe', Invalid('no_label')]

What a rule can't read comes back as an `Invalid` with its reason. A metric refuses it, or with ``invalid="count"``
counts it as wrong for its reference's class and as a false alarm for none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toxeval.core.invalid import EMPTY, Invalid, bare, words_of
from toxeval.core.refusals import describe, is_missing, refuse

__all__ = ["RULES", "Invalid", "read_answers"]

#: The rules, and what each reads.
RULES = {
    "exact": "the whole answer is one label",
    "first_line": "the first line that isn't empty is one label",
    "last_line": "the last line that isn't empty is one label",
    "json:FIELD": "the field of a JSON object is one label; a.b is field b of field a",
    "regex:PATTERN": "the group of a regular expression is one label, wherever it matches",
}


def read_answers(
    answers: Sequence[Any], labels: Sequence[str], rule: str = "exact", *, aliases: Mapping[str, str] | None = None
) -> list[str | Invalid]:
    """Texts as labels.

    In every rule white space, zero-width characters, markdown's emphasis, quotes and the final punctuation around a
    label don't count, and neither does its case.

    Args:
        answers: n texts; None and NaN are empty answers.
        labels: the labels that are wanted.
        rule: one of `RULES`.
        aliases: other words for a label, such as ``{"offensive": "OFF"}``.

    Returns:
        n labels as they are declared, or `Invalid` with one of its reasons: ``empty``, ``no_label`` (none, or one
        inside a sentence), ``several_labels``, ``broken_json``.

    Raises:
        ValueError: for an unknown rule, a pattern that isn't one or has no single group, an alias of no label or of
            two, an answer that isn't a text.

    >>> read_answers(['{"verdict": "not safe"}', "{"], ("Safe", "Unsafe"), "json:verdict")
    [Invalid('no_label'), Invalid('broken_json')]
    >>> read_answers(["Label: offensive"], ("NOT", "OFF"), r"regex:Label: (\\w+)", aliases={"offensive": "OFF"})
    ['OFF']
    """
    known = _known(labels, aliases or {})
    read = _reader(rule)
    found: dict[Any, str | Invalid] = {}
    for row, answer in enumerate(answers):
        if isinstance(answer, str) or is_missing(answer):
            continue
        refuse(describe(answer), "texts", metric="toxeval.answers", inputs=("answers",), row=row)
    for answer in set(map(_text, answers)):  # the same answer is often there many times
        found[answer] = _label(read(answer), known) if answer.strip() else Invalid(EMPTY)
    return [found[_text(answer)] for answer in answers]


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) else ""


def _known(labels: Sequence[str], aliases: Mapping[str, str]) -> dict[str, str]:
    """Bare word -> the label it stands for."""
    known: dict[str, str] = {}
    for word, label in {**{label: label for label in labels}, **aliases}.items():
        if label not in labels:
            refuse(f"{describe(word, labels)} stands for {describe(label, labels)}", ", ".join(labels), option="alias")
        if known.setdefault(bare(word), label) != label:
            found = f"{describe(word, labels)} stands for {known[bare(word)]} and for {label}"
            refuse(found, "each word for one label (case doesn't count)", option="alias")
    return known


def _reader(rule: str) -> Callable[[str], list[str] | Invalid]:
    """The function from an answer to the parts that should be the label."""
    kind, _, what = rule.partition(":")
    if rule == "exact":
        return lambda answer: [answer]
    if rule in ("first_line", "last_line"):
        at = 0 if rule == "first_line" else -1
        return lambda answer: [[line for line in answer.splitlines() if bare(line)][at]] if bare(answer) else []
    if kind == "json" and what:
        return lambda answer: _json_field(answer, what.split("."))
    if kind == "regex" and what:
        try:
            pattern = re.compile(what)
        except re.error as error:
            refuse(f"not a regular expression ({error})", "regex:PATTERN", option="answers")
        if pattern.groups != 1:
            refuse(f"a pattern with {pattern.groups} groups", "one group in brackets: the label", option="answers")
        return lambda answer: [part for part in pattern.findall(answer) if part]
    return refuse(describe(rule), ", ".join(RULES), option="answers")


def _json_field(answer: str, path: Sequence[str]) -> list[str] | Invalid:
    """A field of a JSON object, which may stand in a code block."""
    fenced = re.fullmatch(r"\s*```(?:json)?\s*(.*?)\s*```\s*", answer, re.DOTALL)
    try:
        value = json.loads(fenced[1] if fenced else answer)
    except (ValueError, RecursionError):
        return Invalid("broken_json")
    for field in path:
        value = value.get(field) if isinstance(value, dict) else None
    return [value] if isinstance(value, str) else []


def _label(parts: list[str] | Invalid, known: Mapping[str, str]) -> str | Invalid:
    """The label that all parts are, if they are."""
    if isinstance(parts, Invalid):
        return parts
    found = {known.get(bare(part)) for part in parts}
    if len(found) == 1 and None not in found:
        return str(found.pop())
    named = {known[word] for part in parts for word in words_of(part, known)} | (found - {None})
    return Invalid("several_labels" if len(named) > 1 else "no_label")
