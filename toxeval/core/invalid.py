"""Predictions that aren't labels: None, an empty text, an answer nobody could read. They are refused, or counted.

Where they are counted, an invalid prediction is wrong for its reference's class and a false alarm for none: the class
keeps it in its support and recall, no precision sees it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .refusals import NUMBER, is_missing
from .scoring import Scores

#: Why a prediction is invalid, in the order of their codes.
EMPTY = "empty"
REASONS = (EMPTY, "no_label", "several_labels", "broken_json", "wrong_number")

_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
#: What may stand around a label: white space, zero-width characters, markdown's emphasis, quotes, brackets.
_DRESS = _ZERO_WIDTH + "*_`~\"'“”„‘’«»‹›()[]{}<>#"
#: And after it, or before it.
_PUNCTUATION = ".,;:!?…-–—"


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
    """A text without what may stand around a label, in lower letters.

    >>> bare(" **Unsafe**. "), bare("\\"OFF\\"!")
    ('unsafe', 'off')
    """
    return text.strip().strip(_DRESS + _PUNCTUATION + " \t\r\n").casefold()


def words_of(text: str, known: Iterable[str]) -> list[str]:
    """Which of some bare words a text contains as whole words, whatever the case.

    >>> words_of("Verdict: not Safe", ["safe", "unsafe"])
    ['safe']
    """
    plain = text.translate(dict.fromkeys(map(ord, _ZERO_WIDTH))).casefold()
    return [word for word in known if word and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", plain)]


def holds_label(text: str, labels: Sequence[str]) -> bool:
    """Whether a text is a label in some dress, or holds one as a whole word: then it is no missing one.

    >>> holds_label("Unsafe.", ["Safe", "Unsafe"]), holds_label("Verdict: Unsafe", ["Safe", "Unsafe"])
    (True, True)
    >>> holds_label("I can't help with that", ["Safe", "Unsafe"])
    False
    """
    return bool(words_of(text, [label.casefold() for label in labels]))


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
    if not text or text.casefold() in ("nan", "none", "null"):
        return EMPTY
    if NUMBER.fullmatch(text) or text.casefold() in ("true", "false") or holds_label(value, labels):
        return None
    return "no_label"


def reasons_of(codes: np.ndarray, n_labels: int) -> np.ndarray:
    """Why each prediction is invalid: a position in `REASONS`, -1 for valid ones; from ids that tell (`codes_of`)."""
    reasons: np.ndarray = np.maximum(codes - np.int8(n_labels), np.int8(-1))
    return reasons


def count_reasons(reasons: np.ndarray) -> np.ndarray:
    """How many predictions are valid, and how many invalid for each reason: int64 of shape (1 + number of reasons,).

    >>> count_reasons(np.array([-1, 0, -1], dtype=np.int8))[:2].tolist()
    [2, 1]
    """
    return np.bincount(reasons.astype(np.intp) + 1, minlength=len(REASONS) + 1).astype(np.int64)


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
