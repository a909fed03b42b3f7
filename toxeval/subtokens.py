"""Labels a word and labels a sub-token: CONDA's slots and SOLD's rationales belong to words, a model's output doesn't.

A word's label is that of its first sub-token. ``word_ids`` is what a fast tokenizer says of a text that was given as
words (``tokenizer(words, is_split_into_words=True).word_ids()``): for each sub-token the word it belongs to, None for
special tokens and padding.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

from toxeval.core.labels import IGNORE

Label = TypeVar("Label")


def token_labels(
    word_ids: Sequence[int | None], word_labels: Sequence[int], *, allow_missing: bool = False
) -> list[int]:
    """Labels for the sub-tokens of one text: a word's label on its first sub-token, -100 everywhere else.

    Args:
        word_ids: for each sub-token its word, or None.
        word_labels: one id a word.
        allow_missing: words without a sub-token (cut off, or empty for the tokenizer) are left out. For training only:
            what is left out is not scored either.

    Raises:
        ValueError: if a word has no sub-token, or a sub-token no word.

    >>> token_labels([None, 0, 0, 1, None], [0, 1])
    [-100, 0, -100, 1, -100]
    """
    first = _first_tokens(word_ids, len(word_labels), check_all=not allow_missing)
    labels = [IGNORE] * len(word_ids)
    for word, token in first.items():
        labels[token] = word_labels[word]
    return labels


def word_predictions(
    word_ids: Sequence[int | None], token_predictions: Sequence[Label], *, n_words: int, missing: Label | None = None
) -> list[Label]:
    """The predictions for the words of one text: each word's is that of its first sub-token.

    Args:
        word_ids: for each sub-token its word, or None.
        token_predictions: one label a sub-token, names or ids; more of them are padding.
        n_words: how many words the text has.
        missing: what stands for words without a sub-token, such as the label "O"; None refuses them.

    Raises:
        ValueError: if there are fewer predictions than sub-tokens, a sub-token has no word, or a word no sub-token and
            there is no ``missing``.

    >>> word_predictions([None, 0, 0, 1, None], ["O", "T", "O", "S", "O"], n_words=2)
    ['T', 'S']
    """
    if len(token_predictions) < len(word_ids):
        found = f"{len(token_predictions)} predictions for {len(word_ids)} sub-tokens"
        raise ValueError(f"toxeval.subtokens: token_predictions: {found}; allowed: one a sub-token")
    first = _first_tokens(word_ids, n_words, check_all=missing is None)
    labels: list[Any] = [missing] * n_words
    for word, token in first.items():
        labels[word] = token_predictions[token]
    return labels


def _first_tokens(word_ids: Sequence[int | None], n_words: int, *, check_all: bool) -> dict[int, int]:
    """Word -> its first sub-token."""
    first: dict[int, int] = {}
    for token, word in enumerate(word_ids):
        if word is None:
            continue
        if not 0 <= word < n_words:
            found = f"word {word} of {n_words}"
            raise ValueError(f"toxeval.subtokens: word_ids[{token}]: {found}; allowed: None, or 0 to {n_words - 1}")
        first.setdefault(word, token)
    if check_all and len(first) < n_words:
        word = next(word for word in range(n_words) if word not in first)
        last = max(first, default=-1)
        why = "the text was cut off: raise max_length" if word > last else "the tokenizer makes nothing of it"
        found = f"no sub-token for {n_words - len(first)} of {n_words} words, the first of them word {word} ({why})"
        raise ValueError(f"toxeval.subtokens: word_ids: {found}; allowed: at least one for each word")
    return first
