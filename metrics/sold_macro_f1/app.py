"""The demo page of sold_macro_f1."""

from toxeval.metrics.sold_macro_f1.scores import DEFINITIONS

from toxeval.page.build import serve
from toxeval.page.page import Example, Page

PREDICTIONS = ["OFF", "NOT", "OFF", "NOT", "OFF", "NOT", "NOT", "OFF", "NOT", "NOT", "OFF", "NOT"]
REFERENCES = ["OFF", "NOT", "NOT", "NOT", "OFF", "OFF", "NOT", "OFF", "NOT", "NOT", "OFF", "OFF"]
TOKENS = {
    "predictions": ["NOT OFF OFF", "NOT NOT NOT NOT", "OFF NOT NOT OFF", "NOT NOT", "NOT OFF NOT NOT OFF"],
    "references": ["NOT OFF NOT", "NOT NOT NOT NOT", "OFF NOT OFF OFF", "NOT NOT", "NOT OFF OFF NOT OFF"],
}

page = Page(
    file=__file__,
    definitions=DEFINITIONS,
    title="Offensive language in Sinhala (SOLD)",
    question="How well does a classifier tell offensive from other posts, or find the offensive words in them?",
    examples=[
        Example("12 posts", {"predictions": PREDICTIONS, "references": REFERENCES}),
        Example("Never offensive", {"predictions": ["NOT"] * len(REFERENCES), "references": REFERENCES}),
        Example("Words of 5 posts", TOKENS, config="token"),
    ],
    cards={"f1_macro": "macro F1", "f1_OFF": "F1 of OFF", "accuracy": "accuracy"},
    configs={"default": "posts", "token": "the words of posts"},
)
demo = serve(page, __name__)
