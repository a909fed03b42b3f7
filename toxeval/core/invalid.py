"""Predictions that aren't labels: None, an empty text, an answer nobody could read. They are refused, or counted.

Where they are counted, an invalid prediction is wrong for its reference's class and a false alarm for none: the class
keeps it in its support and recall, no precision sees it.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .refusals import NUMBER, is_missing
from .scoring import By, Scores, count_codes

#: Why a prediction is invalid, in the order of their codes.
EMPTY = "empty"
REASONS = (EMPTY, "no_label", "several_labels", "broken_json", "wrong_number")

#: Zero-width characters, and marks of direction and of style: nobody sees them. Hyphens are one hyphen.
_UNSEEN = [0xAD, 0x61C, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFE0E, 0xFE0F]
_PLAIN = {**dict.fromkeys([*_UNSEEN, 0xFEFF]), 0x2010: "-"}
#: What may stand around a label: white space, markdown's emphasis, quotes, brackets, punctuation.
_DRESS = " \t\r\n*_`#|\\\"'“”„‟‘’‚‛«»‹›「」『』()[]{}<>【】〈〉《》〔〕.,;:-–—•·、。،؛।"
#: And what only after it: before a label it may be a negation.
_END = "!?؟"


class Invalid(str):
    """A prediction that couldn't be read as a label; it stands in the place of one and says why.

    >>> Invalid("no_label")
    Invalid('no_label')
    """

    def __new__(cls, reason: str) -> "Invalid":
        """Make one with a reason, one of `REASONS`."""
        if reason not in REASONS:
            raise ValueError(f"reason {reason!r}; allowed: {', '.join(REASONS)}")
        return super().__new__(cls, reason)

    def __repr__(self) -> str:
        return f"Invalid({str(self)!r})"

    # no label that happens to be called like a reason is equal to it
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Invalid) and str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(("Invalid", str(self)))


def bare(text: str) -> str:
    """A text without what may stand around a label, in lower case.

    >>> bare(" **Unsafe**. "), bare("\\"OFF\\"!"), bare("~~Safe~~")
    ('unsafe', 'off', '~~safe~~')
    """
    return _plain(text).rstrip(_DRESS + _END).lstrip(_DRESS).casefold()


def is_blank(text: str) -> bool:
    """Whether a text has nothing that can be seen.

    >>> is_blank(" \\u200b\\n"), is_blank("-")
    (True, False)
    """
    return not _plain(text).strip()


def _plain(text: str) -> str:
    """A text with letters and punctuation of one width, and without what nobody sees."""
    return unicodedata.normalize("NFKC", text).translate(_PLAIN)


def named(text: str, words: Sequence[str]) -> set[str]:
    """Which of some words, in lower case, a text contains as whole words; not "offensive" in "not offensive", if
    both are words. Those of one letter count in their own case only: any English sentence may have an "a".

    >>> named("Verdict: _Safe_", ["Safe", "Unsafe"]), named("I can't give a label", ["A", "I"])
    ({'safe'}, {'i'})
    """
    found = _whole_words(tuple(words)).findall(_plain(text))
    return {word.casefold() for word in found if len(word) > 1 or word in words}


@functools.lru_cache(maxsize=32)
def _whole_words(words: tuple[str, ...]) -> re.Pattern[str]:
    """Words that are no part of longer ones: a hyphen between letters joins, an underscore doesn't."""
    longest_first = sorted(map(bare, words), key=len, reverse=True)
    any_of = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![^\W_])(?<![^\W_]-)(?:{any_of})(?![^\W_]|-[^\W_])", re.IGNORECASE)


def holds_label(text: str, labels: Sequence[str]) -> bool:
    """Whether a text is a label in some dress, or holds one as a whole word: then it is no missing one.

    >>> holds_label("Unsafe.", ["Safe", "Unsafe"]), holds_label("Verdict: Unsafe", ["Safe", "Unsafe"])
    (True, True)
    >>> holds_label("I can't help with that", ["Safe", "Unsafe"])
    False
    """
    return bare(text) in map(bare, labels) or bool(named(text, labels))


def reason_of(value: Any, labels: Sequence[str]) -> str | None:
    """Why a value is invalid and may be counted as such; None if it is a label, or must be refused.

    Numbers that are no ids are refused; so are numbers and bools as texts, and texts that hold a label: a column of
    them would make any chatbot perfectly safe.
    """
    if isinstance(value, Invalid):
        return str(value)
    if is_missing(value):
        return EMPTY
    if not isinstance(value, str) or value in labels:
        return None
    text = value.strip()
    if is_blank(text) or text.casefold() in ("nan", "none", "null"):
        return EMPTY
    if NUMBER.fullmatch(text) or text.casefold() in ("true", "false") or holds_label(value, labels):
        return None
    return "no_label"


def reasons_of(codes: np.ndarray, n_labels: int) -> np.ndarray:
    """Why each prediction is invalid: a position in `REASONS`, -1 for valid ones; from ids that tell (`codes_of`)."""
    reasons: np.ndarray = np.maximum(codes - np.int8(n_labels), np.int8(-1))
    return reasons


def count_reasons(reasons: np.ndarray, by: By | None = None) -> np.ndarray:
    """How many predictions are valid, and how many invalid for each reason: int64 of shape (1 + number of reasons,).

    >>> count_reasons(np.array([-1, 0, -1], dtype=np.int8))[:2].tolist()
    [2, 1]
    """
    return count_codes(len(REASONS) + 1, (reasons + np.int8(1), len(REASONS) + 1), by=by)


def put_invalid(scores: Scores, counts: np.ndarray) -> None:
    """``n_invalid``, ``invalid_rate`` and ``invalid_rate_<reason>``, from counts of `count_reasons`."""
    n = counts.sum(axis=-1)
    n_invalid = counts[..., 1:].sum(axis=-1)
    scores.note("n_invalid", n_invalid)
    scores.proportion("invalid_rate", n_invalid, n, "there is no row")
    for i, reason in enumerate(REASONS, start=1):
        scores.proportion(f"invalid_rate_{reason}", counts[..., i], n, "there is no row")


def codes_of(values: Iterable[Any], labels: Sequence[str]) -> Mapping[Any, int]:
    """Distinct values that may be counted as invalid -> their codes.

    Raises:
        TypeError: for values that can't be looked up, such as lists.
    """
    reasons = {value: reason_of(value, labels) for value in set(values)}
    return {value: len(labels) + REASONS.index(reason) for value, reason in reasons.items() if reason is not None}
