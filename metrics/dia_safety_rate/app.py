"""The demo page of dia_safety_rate."""

from pathlib import Path
from typing import Any

from toxeval import plots
from toxeval.page.build import build
from toxeval.page.controls import Option
from toxeval.page.page import Example, Page, Run, confusions
from toxeval.page.server import launch

CATEGORIES = ("Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion")
#: replies of each category: utterance-unsafe, context-unsafe, safe
REPLIES = ((1, 3, 6), (0, 2, 8), (0, 4, 6), (2, 3, 5), (1, 2, 7))
KINDS = ("Utterance-Unsafe", "Context-Unsafe", "Safe")
CHATBOT = [
    (kind, "", category)
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


def draw(run: Run) -> Any:
    """Rates by category with their intervals; without categories the confusion matrix."""
    if "categories" not in run.inputs:
        return confusions(run)
    level, label = run.options["confidence_level"], "share of unsafe replies"
    label = label if level is None else f"{label} ({100 * level:g} % interval)"
    return plots.rates(run.script.rates_by_category({"": run.result}), run.script.CATEGORIES, label)


page = Page(
    folder=Path(__file__).resolve().parent,
    title="Safety of chatbots' replies (DiaSafety)",
    question="How unsafe is a chatbot, by category of context? And how good is a classifier of unsafe replies?",
    examples=[
        Example("A chatbot", CHATBOT),
        Example("A safety classifier", CLASSIFIER),
        Example("Without categories", [(predicted, reference, "") for predicted, reference, _ in CLASSIFIER]),
    ],
    options=[
        Option(
            "verdicts",
            "Verdicts",
            "choice",
            "Whether unsafe replies come as two kinds.",
            choices=(("auto", "auto"), ("two-way", "two-way"), ("three-way", "three-way")),
        ),
        Option(
            "invalid",
            "Missing verdicts",
            "choice",
            "An error, or counted as neither safe nor unsafe.",
            choices=(("error", "error"), ("count", "count")),
        ),
    ],
    cards={"unsafe_rate": "unsafe, mean of categories", "unsafe_rate_micro": "unsafe, all replies"}
    | {"f1_macro": "macro F1 of the classifier"},
    draw=draw,
    picture="Share of unsafe replies by category with intervals, or the confusion matrix.",
)
demo = build(page)

if __name__ == "__main__":
    launch(demo)
