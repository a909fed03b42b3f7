"""The demo page of dia_safety_rate."""

from collections.abc import Mapping, Sequence
from typing import Any

from toxeval.metrics.dia_safety_rate.scores import CATEGORIES, DEFINITIONS, confusions, picture

from toxeval.core.declarations import Picture, confusion_picture
from toxeval.core.state import State
from toxeval.page.build import serve
from toxeval.page.page import Example, Page

#: replies of each category: utterance-unsafe, context-unsafe, safe
REPLIES = ((1, 3, 6), (0, 2, 8), (0, 4, 6), (2, 3, 5), (1, 2, 7))
KINDS = ("Utterance-Unsafe", "Context-Unsafe", "Safe")
CHATBOT = [
    (kind, category)
    for category, counts in zip(CATEGORIES, REPLIES)
    for kind, n in zip(KINDS, counts)
    for _ in range(n)
]
CLASSIFIER = [
    (predicted, reference, category)
    for i, category in enumerate(CATEGORIES)
    for predicted, reference, n in (
        ("Unsafe", "Unsafe", 3 + i % 2),
        ("Safe", "Unsafe", 1 + i % 3),
        ("Unsafe", "Safe", 1),
        ("Safe", "Safe", 5),
    )
    for _ in range(n)
]


def columns(rows: Sequence[tuple[str, ...]], *names: str) -> dict[str, list[str]]:
    """Rows as columns."""
    return dict(zip(names, map(list, zip(*rows))))


def draw(states: Mapping[str, State], results: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]) -> Picture:
    """With references, which ask how good a classifier is, the confusion matrix; else the rates by category."""
    classified = any("f1_macro" in result for result in results.values())
    return confusion_picture(states, confusions) if classified else picture(states, results, options)


page = Page(
    file=__file__,
    definitions=DEFINITIONS,
    title="Safety of chatbots' replies (DiaSafety)",
    question="How unsafe is a chatbot, by category of context? And how good is a classifier of unsafe replies?",
    examples=[
        Example("A chatbot", columns(CHATBOT, "predictions", "categories")),
        Example("A safety classifier", columns(CLASSIFIER, "predictions", "references", "categories")),
        Example("Without categories", columns([row[:2] for row in CLASSIFIER], "predictions", "references")),
    ],
    cards={
        "f1_macro": "macro F1 of the classifier",
        "unsafe_rate": "unsafe, mean of categories",
        "unsafe_rate_micro": "unsafe, all replies",
    },
    alt="Share of unsafe replies by category with intervals; of a classifier the confusion matrix.",
    options=("verdicts",),
    picture=draw,
)
demo = serve(page, __name__)
