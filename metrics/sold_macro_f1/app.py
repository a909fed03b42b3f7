"""The demo page of sold_macro_f1."""

from pathlib import Path

from toxeval.page.build import build
from toxeval.page.controls import Option
from toxeval.page.page import Example, Page
from toxeval.page.server import launch

PREDICTIONS = ["OFF", "NOT", "OFF", "NOT", "OFF", "NOT", "NOT", "OFF", "NOT", "NOT", "OFF", "NOT"]
REFERENCES = ["OFF", "NOT", "NOT", "NOT", "OFF", "OFF", "NOT", "OFF", "NOT", "NOT", "OFF", "OFF"]
TOKENS = [
    ("NOT OFF OFF", "NOT OFF NOT"),
    ("NOT NOT NOT NOT", "NOT NOT NOT NOT"),
    ("OFF NOT NOT OFF", "OFF NOT OFF OFF"),
    ("NOT NOT", "NOT NOT"),
    ("NOT OFF NOT NOT OFF", "NOT OFF OFF NOT OFF"),
]

page = Page(
    folder=Path(__file__).resolve().parent,
    title="Offensive language in Sinhala (SOLD)",
    question="How well does a classifier tell offensive from other posts, or find the offensive words in them?",
    examples=[
        Example("12 posts", list(zip(PREDICTIONS, REFERENCES))),
        Example("Never offensive", [("NOT", label) for label in REFERENCES]),
        Example("Words of 5 posts", TOKENS, {"config_name": "token"}),
    ],
    options=[
        Option(
            "config_name",
            "What is scored",
            "choice",
            "One label a post (NOT or OFF), or one label a word, between spaces.",
            choices=(("posts", "default"), ("words", "token")),
        )
    ],
    cards={"f1_macro": "macro F1", "f1_OFF": "F1 of OFF", "accuracy": "accuracy"},
)
demo = build(page)

if __name__ == "__main__":
    launch(demo)
