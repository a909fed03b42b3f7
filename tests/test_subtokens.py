"""Labels of words and of sub-tokens."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toxeval.subtokens import token_labels, word_predictions


def test_the_first_sub_token_speaks_for_the_word(shipped: Path) -> None:
    lines = (shipped / "cases.jsonl").read_text().splitlines()
    (case,) = (case for case in map(json.loads, lines) if case["id"] == "conda-15-subtoken-shift")
    given = case["input"]
    found = word_predictions(given["word_ids"], given["token_predictions"], n_words=given["n_words"])
    assert found == case["expected"]["values"]["word_predictions"]


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[int | None], list[int]]:
    """Word ids as tokenizers give them, special tokens and padding anywhere around, and a label a word."""
    labels = draw(st.lists(st.integers(0, 6), max_size=6))
    word_ids: list[int | None] = [None] * draw(st.integers(0, 2))
    for word in range(len(labels)):
        word_ids += [word] * draw(st.integers(1, 3))
    return word_ids + [None] * draw(st.integers(0, 4)), labels


@given(texts())
def test_there_and_back(text: tuple[list[int | None], list[int]]) -> None:
    word_ids, labels = text
    tokens = token_labels(word_ids, labels)
    assert len(tokens) == len(word_ids)
    assert [label for label in tokens if label != -100] == labels
    assert word_predictions(word_ids, tokens, n_words=len(labels)) == labels
    assert word_predictions(word_ids, [*tokens, 5, 5], n_words=len(labels)) == labels


def test_words_without_a_sub_token() -> None:
    cut = [None, 0, 1, 1, None]
    with pytest.raises(
        ValueError, match=r"no sub-token for 2 of 4 words, the first of them word 2 \(the text was cut off"
    ):
        token_labels(cut, [0, 1, 2, 3])
    with pytest.raises(
        ValueError, match=r"no sub-token for 1 of 3 words, .* word 1 \(the tokenizer makes nothing of it"
    ):
        word_predictions([None, 0, 2, None], [5, 0, 2, 5], n_words=3)
    assert token_labels(cut, [0, 1, 2, 3], allow_missing=True) == [-100, 0, 1, -100, -100]
    assert word_predictions(cut, list("OTSSO"), n_words=4, missing="O") == ["T", "S", "O", "O"]


def test_what_does_not_fit_together() -> None:
    with pytest.raises(ValueError, match="token_predictions: 2 predictions for 3 sub-tokens"):
        word_predictions([None, 0, None], ["O", "T"], n_words=1)
    with pytest.raises(ValueError, match=r"word_ids\[2\]: word 1 of 1; allowed: None, or 0 to 0"):
        token_labels([None, 0, 1], [4])


def test_with_a_real_tokenizer() -> None:
    pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "gg", "wp", "you", "##rs", "are", "bad", "##ly"]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")
    words, labels = ["yours", "gg", "badly"], [4, 1, 0]
    encoded = fast(words, is_split_into_words=True, padding="max_length", max_length=10)
    tokens = token_labels(encoded.word_ids(), labels)
    assert tokens == [-100, 4, -100, 1, 0, -100, -100, -100, -100, -100]
    cut = fast(words, is_split_into_words=True, truncation=True, max_length=4)
    with pytest.raises(ValueError, match="cut off: raise max_length"):
        token_labels(cut.word_ids(), labels)
