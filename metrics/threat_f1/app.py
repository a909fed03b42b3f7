"""The demo page of threat_f1."""

from pathlib import Path
from typing import Any

import numpy as np

from toxeval import plots
from toxeval.page.build import build
from toxeval.page.controls import Option
from toxeval.page.page import Example, Page, Run, confusions
from toxeval.page.server import launch

_random = np.random.default_rng(0)
REFERENCES = [1] * 6 + [0] * 54
SCORES = [round(float(score), 3) for score in [*_random.beta(5, 2, 6), *_random.beta(1, 6, 54)]]


def draw(run: Run) -> Any:
    """Precision-recall and ROC with scores, else the confusion matrix."""
    if not run.state.rows:
        return confusions(run)
    references = run.state.rows["references"]
    if len(np.unique(references)) < 2:
        return "precision-recall and ROC curves need both classes in the references."
    return plots.ranking({"scores": (references, run.script.raw_scores(run.state))})


page = Page(
    folder=Path(__file__).resolve().parent,
    title="Threats among comments, one in hundreds",
    question="How well does a classifier find the rare threats among comments?",
    examples=[
        Example("60 scores", [("", label, score) for score, label in zip(SCORES, REFERENCES)]),
        Example("60 labels", [(int(score > 0.3), label, "") for score, label in zip(SCORES, REFERENCES)]),
        Example("Never a threat", [("non-threat", ("non-threat", "threat")[label], "") for label in REFERENCES]),
    ],
    options=[
        Option("threshold", "Threshold", "number", "With scores alone: a score above it is a threat."),
        Option("from_logits", "Scores are logits", "flag", "Instead of probabilities."),
    ],
    cards={"f1_macro": "macro F1", "f1_threat": "F1 of threat", "average_precision": "average precision"},
    draw=draw,
    picture="Precision-recall and ROC curves with their no-skill lines, or the confusion matrix of labels.",
)
demo = build(page)

if __name__ == "__main__":
    launch(demo)
