"""Answers of language models are read as the table says, by every rule, and nothing is guessed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from answers import ALIASES, ANSWERS, INTENTS, REASONS, RULES, SAFETY, SOLD, THREAT
from hypothesis import given
from hypothesis import strategies as st

import toxeval
from toxeval.answers import Invalid, read_answers
from toxeval.core.invalid import REASONS as ALL_REASONS
from toxeval.core.invalid import holds_label
from toxeval.core.refusals import Refusal

VOCABULARIES = st.sampled_from([SAFETY, SOLD, INTENTS, THREAT])


def read(text: Any, labels: tuple[str, ...] = SAFETY, rule: str = "exact", **aliases: str) -> str | Invalid:
    return read_answers([text], labels, rule, aliases=aliases)[0]


def test_the_table_is_a_table() -> None:
    assert len(ANSWERS) >= 200
    assert len({(labels, text) for labels, text, _ in ANSWERS}) == len(ANSWERS)
    said = {word for _, _, expected in ANSWERS for word in expected.split()}
    assert {REASONS[word] for word in said & set(REASONS)} == set(ALL_REASONS) - {"wrong_number"}


@pytest.mark.parametrize(("labels", "text", "expected"), ANSWERS, ids=lambda value: ascii(value)[:40])
def test_every_rule_reads_what_the_table_says(labels: tuple[str, ...], text: str, expected: str) -> None:
    wanted = [Invalid(REASONS[word]) if word in REASONS else word for word in expected.split()]
    assert [read_answers([text], labels, rule, aliases=ALIASES[labels])[0] for rule in RULES] == wanted


@pytest.mark.parametrize("labels", [SAFETY, SOLD, INTENTS, THREAT], ids=str)
def test_all_answers_at_once_are_read_as_each_alone(labels: tuple[str, ...]) -> None:
    texts = [text for each, text, _ in ANSWERS if each == labels] * 2
    for rule in RULES:
        alone = [read_answers([text], labels, rule, aliases=ALIASES[labels])[0] for text in texts]
        assert read_answers(texts, labels, rule, aliases=ALIASES[labels]) == alone


def test_a_text_in_which_exact_reads_a_label_is_never_counted_as_missing() -> None:
    for labels, text, expected in ANSWERS:
        if expected.split()[0] in labels and text.casefold().strip(" *.") not in ALIASES[labels]:
            assert holds_label(text, labels), text


@pytest.mark.parametrize("text", ["_OFF_", "O\u200bFF", "ＯＦＦ", "is_off", "Verdict: OFF", "-OFF-", "\\boxed{OFF}"])
def test_metrics_refuse_to_count_a_label_in_some_dress_and_say_how_to_read_it(text: str) -> None:
    with pytest.raises(Refusal, match=r"read it by a rule of toxeval\.answers"):
        toxeval.load("sold_macro_f1").compute(predictions=["OFF", text], references=["OFF", "NOT"], invalid="count")


# --- properties -----------------------------------------------------------------------------------------------------

AROUND = st.sampled_from(
    ["", " ", "\n", "\t", "\u00a0", "\u200b", "\ufeff", "*", "**", "_", "`", '"', "“", "「", "(", "["]
)
BEFORE = AROUND | st.sampled_from(["- ", "> ", "# ", "• ", ": "])
AFTER = AROUND | st.sampled_from([".", "!", "?", ",", ":", "…", "。", "！", "”", "」", ")", "]"])
CASES = st.sampled_from([str, str.lower, str.upper, str.title])


@given(
    VOCABULARIES.flatmap(lambda labels: st.tuples(st.just(labels), st.sampled_from(labels))),
    CASES,
    st.lists(BEFORE, max_size=4),
    st.lists(AFTER, max_size=4),
)
def test_dress_never_changes_what_is_read(
    of: tuple[tuple[str, ...], str], case: Any, before: list[str], after: list[str]
) -> None:
    labels, label = of
    dressed = "".join([*before, case(label), *after])
    assert read(dressed, labels) == label
    assert read(f"{dressed}\n\n", labels, "first_line") == label
    assert read(f"\n{dressed}", labels, "last_line") == label
    assert read(json.dumps({"label": dressed}), labels, "json:label") == label
    assert holds_label(dressed, labels)


PIECES = [
    "Safe",
    "Unsafe",
    "safe",
    "not",
    "OFF",
    "E",
    "I",
    "threat",
    "non-threat",
    "harmless",
    "a",
    "\n",
    " ",
    ".",
    "**",
]
PIECES += ["Label: ", '{"label": "', '"}', "```", "```json\n", "\u200b", "!", "-", "_", "…", "so", "\\"]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)


@given(TEXTS, VOCABULARIES, st.sampled_from(RULES))
def test_no_label_is_read_that_is_not_there(text: str, labels: tuple[str, ...], rule: str) -> None:
    found = read(text, labels, rule)
    if not isinstance(found, Invalid):
        assert found in labels
        said = json.loads(text.strip().strip("`").removeprefix("json"))["label"] if rule == "json:label" else text
        assert found.casefold() in said.replace("\u200b", "").casefold()


@given(TEXTS, VOCABULARIES)
def test_a_line_is_read_as_the_answer_that_it_would_be(text: str, labels: tuple[str, ...]) -> None:
    if len(text.splitlines()) == 1 and not isinstance(read(text, labels), Invalid):
        assert read(text, labels, "first_line") == read(text, labels, "last_line") == read(text, labels)


@given(st.lists(TEXTS, max_size=6), VOCABULARIES, st.sampled_from(RULES))
def test_every_answer_gets_a_label_or_a_reason(texts: list[str], labels: tuple[str, ...], rule: str) -> None:
    found = read_answers(texts, labels, rule)
    assert len(found) == len(texts)
    assert all(each in labels or (isinstance(each, Invalid) and str(each) in ALL_REASONS) for each in found)


# --- what is given --------------------------------------------------------------------------------------------------


def test_missing_answers_are_empty() -> None:
    assert read_answers([None, float("nan"), pd.NA, ""], SAFETY) == [Invalid("empty")] * 4


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, iter], ids=str)
def test_answers_come_in_any_container(kind: Any) -> None:
    assert read_answers(kind(["Safe.", "lol"]), SAFETY) == ["Safe", Invalid("no_label")]


def test_nested_fields_of_json() -> None:
    assert read('{"result": {"label": "Unsafe"}}', rule="json:result.label") == "Unsafe"
    assert read('{"result": "Unsafe"}', rule="json:result.label") == Invalid("no_label")
    assert read("[" * 100_000, rule="json:label") == Invalid("broken_json")


def test_one_letter_in_a_sentence_is_a_label_in_its_own_case_only() -> None:
    assert read("this is a line of the intent E", INTENTS) == Invalid("no_label")
    assert read("A, or perhaps E", INTENTS) == Invalid("several_labels")


def test_what_is_read_goes_into_a_metric() -> None:
    predictions = read_answers(["**off**", "sorry", "not off", "NOT"], SOLD)
    scores = toxeval.load("sold_macro_f1").compute(
        predictions=predictions, references=["OFF", "OFF", "NOT", "NOT"], invalid="count"
    )
    assert scores is not None
    assert (scores["n_invalid"], scores["invalid_rate_no_label"]) == (2, 0.25)
    assert (scores["invalid_rate_several_labels"], scores["accuracy"]) == (0.25, 0.5)


@pytest.mark.parametrize(
    ("rule", "aliases", "message"),
    [
        ("exactly", {}, "option answers: 'exactly'; allowed: exact, first_line, last_line, json:FIELD, regex:PATTERN"),
        ("json:", {}, "option answers: 'json:'; allowed"),
        ("regex:(", {}, "option answers: not a regular expression"),
        ("regex:Label", {}, "option answers: a pattern with 0 groups"),
        ("regex:(a)(b)", {}, "option answers: a pattern with 2 groups"),
        ("exact", {"bad": "Bad"}, "option alias: 'bad' stands for 'Bad'; allowed: Safe, Unsafe"),
        ("exact", {"Safe": "Unsafe"}, "option alias: 'Safe' stands for Safe and for Unsafe"),
        ("exact", {"safe.": "Unsafe"}, "option alias: 'safe.' stands for Safe and for Unsafe"),
        ("exact", {"**": "Safe"}, r"option alias: '\*\*' stands for 'Safe'"),
    ],
)
def test_rules_and_aliases_that_are_refused(rule: str, aliases: dict[str, str], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        read_answers(["Safe"], SAFETY, rule, aliases=aliases)


@pytest.mark.parametrize(("answers", "message"), [("Safe", "answers: one text"), (["Safe", 1], r"answers\[1\]: 1; ")])
def test_what_is_no_list_of_texts_is_refused(answers: Any, message: str) -> None:
    with pytest.raises(Refusal, match=f"toxeval.answers: {message}"):
        read_answers(answers, SAFETY)
