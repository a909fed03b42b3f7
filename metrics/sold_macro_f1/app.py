"""The demo page of sold_macro_f1."""

from pathlib import Path
from typing import Any

import plots
from space import build
from space_inputs import LABEL, SEQUENCE
from space_options import Option
from space_page import Example, Page, Run
from space_server import launch

PREDICTIONS = ["OFF", "NOT", "OFF", "NOT", "OFF", "NOT", "NOT", "OFF", "NOT", "NOT", "OFF", "NOT"]
REFERENCES = ["OFF", "NOT", "NOT", "NOT", "OFF", "OFF", "NOT", "OFF", "NOT", "NOT", "OFF", "OFF"]
TOKENS = [
    ("NOT OFF OFF", "NOT OFF NOT"),
    ("NOT NOT NOT NOT", "NOT NOT NOT NOT"),
    ("OFF NOT NOT OFF", "OFF NOT OFF OFF"),
    ("NOT NOT", "NOT NOT"),
    ("NOT OFF NOT NOT OFF", "NOT OFF OFF NOT OFF"),
]


def draw(run: Run) -> Any:
    """The confusion matrix."""
    title = "tokens" if run.metric.config_name == "token" else "posts"
    return plots.confusion({title: (run.state.counts["confusion"], run.part("").LABELS)})


page = Page(
    folder=Path(__file__).resolve().parent,
    title="Offensive language in Sinhala (SOLD)",
    question="How well does a classifier tell offensive from other posts, or find the offensive words in them?",
    kinds={
        "default": {"predictions": LABEL, "references": LABEL},
        "token": {"predictions": SEQUENCE, "references": SEQUENCE},
    },
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
    draw=draw,
    picture="Confusion matrix: rows are references, columns predictions.",
)
demo = build(page)

if __name__ == "__main__":
    launch(demo)
