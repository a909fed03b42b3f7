"""The demo page of oracle_collab."""

from pathlib import Path
from typing import Any

import numpy as np

from toxeval import plots
from toxeval.page.build import build
from toxeval.page.controls import Option
from toxeval.page.page import Example, Page, Run
from toxeval.page.server import launch

_random = np.random.default_rng(3)
PROBABILITIES = _random.beta(0.6, 1.2, 100).round(3)
LABELS = (_random.random(100) < PROBABILITIES).astype(int).tolist()
OVERCONFIDENT = (PROBABILITIES**3 / (PROBABILITIES**3 + (1 - PROBABILITIES) ** 3)).round(3)


def draw(run: Run) -> Any:
    """Every quantity over the reviewed fraction, for both strategies, and the reliability diagram."""
    options = run.options
    curves, bins = run.script.review_curves(run.state, threshold=options["threshold"], n_bins=options["n_bins"])
    return plots.collaboration({"model": curves}, {"model": bins})


page = Page(
    folder=Path(__file__).resolve().parent,
    title="A model and its moderators, as a team",
    question="If moderators have time for a fraction of the comments, how good are model and moderators together?",
    examples=[
        Example("100 comments", [(p, y, "") for p, y in zip(PROBABILITIES.tolist(), LABELS)]),
        Example("Overconfident", [(p, y, "") for p, y in zip(OVERCONFIDENT.tolist(), LABELS)]),
        Example(
            "A strategy of your own",
            [(p, y, round(1 - abs(p - 0.3), 3)) for p, y in zip(PROBABILITIES.tolist(), LABELS)],
        ),
    ],
    options=[
        Option(
            "review_strategy",
            "Review strategy",
            "choice",
            "What is reviewed first; with review scores, they decide.",
            choices=(("default", None), ("uncertainty", "uncertainty"), ("toxicity", "toxicity")),
        ),
        Option("review_fractions", "Review fractions", "numbers", "Between commas, each from 0 to 1.", high=50),
        Option("threshold", "Threshold", "number", "A probability above it is toxic."),
        Option("from_logits", "Predictions are logits", "flag", "Instead of probabilities."),
        Option(
            "label_threshold", "Label threshold", "optional", "For fractional references; above it is toxic.", more=True
        ),
        Option(
            "targets",
            "Targets",
            "pairs",
            "How many reviews reach them? Such as oc_accuracy=0.99, oc_recall=0.9.",
            high=10,
            more=True,
        ),
        Option("n_bins", "Bins", "whole", "Of the calibration error.", low=1, high=1000, more=True),
    ],
    cards={
        "accuracy": "model alone",
        "oc_accuracy_at_0.05": "with 5 % reviewed",
        "oc_accuracy_at_0.2": "with 20 % reviewed",
        "calibration_auprc": "calibration AUPRC",
    },
    draw=draw,
    picture="Oracle-collaborative scores over the reviewed fraction, and the reliability diagram.",
)
demo = build(page)

if __name__ == "__main__":
    launch(demo)
