"""Utterances for the tests of conda_joint: random ones, and how they are written, scored and refused."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from samples import INTENTS, SLOTS, conda_rows

import toxeval


@st.composite
def utterances(draw: st.DrawFn) -> tuple[list[dict], list[dict]]:
    """Predictions and references: ragged, some empty, often of few classes, often right."""
    intents = draw(st.lists(st.sampled_from(INTENTS), min_size=1, max_size=4))
    slots = draw(st.lists(st.sampled_from(SLOTS), min_size=1, max_size=7))
    rows = []
    for length in draw(st.lists(st.integers(0, 5), min_size=1, max_size=12)):
        reference = {
            "intent": draw(st.sampled_from(intents)),
            "slots": draw(st.lists(st.sampled_from(slots), min_size=length, max_size=length)),
        }
        other = draw(conda_rows())["predictions"]
        prediction = {
            "intent": draw(st.sampled_from([reference["intent"], other["intent"]])),
            "slots": [draw(st.sampled_from([slot, draw(st.sampled_from(SLOTS))])) for slot in reference["slots"]],
        }
        rows.append((prediction, reference))
    return [p for p, _ in rows], [r for _, r in rows]


def utterance(intent: Any, *slots: Any) -> dict[str, Any]:
    return {"intent": intent, "slots": list(slots)}


def columns(rows: list[dict], intents: Callable = list, slots: Callable = list) -> dict[str, Any]:
    return {"intent": intents([r["intent"] for r in rows]), "slots": slots([r["slots"] for r in rows])}


def compute(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    scores = toxeval.load("conda_joint").compute(predictions=predictions, references=references, **options)
    assert scores is not None
    return scores


def refusal(predictions: Any, references: Any) -> str:
    with pytest.raises(ValueError, match="^conda_joint: ") as caught:
        compute(predictions, references)
    return str(caught.value)
