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
from dataclasses import replace
from typing import Any

from toxeval.core.declarations import LABEL, TEXT, Definition
from toxeval.core.invalid import EMPTY, Invalid, bare, is_blank, named
from toxeval.core.refusals import Refusal, describe, is_missing, refuse

__all__ = ["RULES", "Invalid", "read_answers", "with_answers"]

#: The rules, and what each reads.
RULES = {
    "exact": "the whole answer is one label",
    "first_line": "the first line that isn't empty is one label",
    "last_line": "the last line that isn't empty is one label",
    "json:FIELD": "the field of a JSON object is one label; a.b is field b of field a",
    "regex:PATTERN": "the group of a regular expression is one label, the same wherever it matches",
}


def read_answers(
    answers: Sequence[Any], labels: Sequence[str], rule: str = "exact", *, aliases: Mapping[str, str] | None = None
) -> list[str | Invalid]:
    """Texts as labels.

    In every rule white space, zero-width characters, markdown's emphasis, quotes, brackets and punctuation around a
    label don't count (but for a "!" or "?" before it), and neither do the case and the width of its letters.

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
    words = [*((label, label) for label in labels), *(aliases or {}).items()]
    known = _known(words, labels)
    read = _reader(rule)
    if isinstance(answers, str):
        refuse("one text", "a list of texts", metric="toxeval.answers", inputs=("answers",))
    texts = list(answers)
    for row, answer in enumerate(texts):
        if is_missing(answer):
            texts[row] = ""
        elif not isinstance(answer, str):
            refuse(describe(answer), "texts", metric="toxeval.answers", inputs=("answers",), row=row)
    found: dict[str, str | Invalid] = {}
    for text in set(texts):  # the same answer is often there many times
        found[text] = Invalid(EMPTY) if is_blank(text) else _label(read(text), [word for word, _ in words], known)
    return [found[text] for text in texts]


def with_answers(definition: Definition, rule: str, aliases: Mapping[str, str] | None = None) -> Definition:
    """A metric that takes answers where it takes predicted labels, and reads them first.

    Args:
        definition: of the metric.
        rule, aliases: as in `read_answers`.

    Raises:
        Refusal: for a metric whose predictions aren't single labels, and for what `read_answers` refuses.

    >>> from toxeval.core.metric import Metric
    >>> from toxeval.loading import definition
    >>> metric = Metric(with_answers(definition("sold_macro_f1"), "exact"), invalid="count")
    >>> metric.compute(predictions=["**OFF**", "I can't tell"], references=["OFF", "NOT"])["n_invalid"]
    1
    """
    read = [each for each in definition.inputs if each.kind == LABEL and each.labels and not each.gold]
    if not read:
        refuse("its predictions are no single labels", metric=definition.full_name, option="answers")

    def encode(**given: Any) -> dict[str, Any]:
        for each in read:
            if each.name in given:
                try:
                    given[each.name] = read_answers(given[each.name], each.labels, rule, aliases=aliases)
                except Refusal as refusal:
                    refusal.inputs, refusal.metric = (each.name,), definition.name
                    raise
        return definition.encode(**given)

    def as_answers(example: Mapping[str, Any]) -> dict[str, Any]:
        return {**example, **{each.name: [each.labels[0]] for each in read if each.name in example}}

    for each in read:
        read_answers([], each.labels, rule, aliases=aliases)
    names = {each.name for each in read}
    return replace(
        definition,
        inputs=tuple(replace(each, kind=TEXT) if each.name in names else each for each in definition.inputs),
        encode=encode,
        example=as_answers(definition.example),
        more_examples=tuple(map(as_answers, definition.more_examples)),
    )


def _known(words: Sequence[tuple[str, str]], labels: Sequence[str]) -> dict[str, str]:
    """Bare word -> the label it stands for."""
    known: dict[str, str] = {}
    for word, label in words:
        if label not in labels or not bare(word):
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
    fenced = re.fullmatch(r"\s*```\w*\s*(.*?)\s*```\s*", answer, re.DOTALL)
    try:
        value = json.loads(fenced[1] if fenced else answer, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return Invalid("broken_json")
    for field in path:
        value = value.get(field) if isinstance(value, dict) else None
    return [value] if isinstance(value, str) else []


def _object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; one that has a field two times is broken."""
    found = dict(fields)
    if len(found) < len(fields):
        raise ValueError("a field two times")
    return found


def _label(parts: list[str] | Invalid, words: Sequence[str], known: Mapping[str, str]) -> str | Invalid:
    """The label that all parts are, if they are."""
    if isinstance(parts, Invalid):
        return parts
    found = {known.get(bare(part)) for part in parts}
    if len(found) == 1 and None not in found:
        return str(found.pop())
    found |= {known.get(word) for part in parts for word in named(part, words)}
    return Invalid("several_labels" if len(found - {None}) > 1 else "no_label")
