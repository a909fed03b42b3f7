"""The demo page of oracle_collab."""

import numpy as np
from toxeval.metrics.oracle_collab.scores import DEFINITIONS

from toxeval.page.build import serve
from toxeval.page.page import Example, Page

_random = np.random.default_rng(3)
PROBABILITIES = _random.beta(0.6, 1.2, 100).round(3)
LABELS = (_random.random(100) < PROBABILITIES).astype(int).tolist()
OVERCONFIDENT = (PROBABILITIES**3 / (PROBABILITIES**3 + (1 - PROBABILITIES) ** 3)).round(3)
#: reviewed first: what is near 0.3
OWN = (1 - abs(PROBABILITIES - 0.3)).round(3)

page = Page(
    file=__file__,
    definitions=DEFINITIONS,
    title="A model and its moderators, as a team",
    question="If moderators have time for a fraction of the comments, how good are model and moderators together?",
    examples=[
        Example("100 comments", {"predictions": PROBABILITIES.tolist(), "references": LABELS}),
        Example("Overconfident", {"predictions": OVERCONFIDENT.tolist(), "references": LABELS}),
        Example(
            "Moderators who err",
            {"predictions": PROBABILITIES.tolist(), "references": LABELS},
            options={"moderator_error": {"false_positive": 0.05, "false_negative": 0.2}, "moderators": 3},
        ),
        Example(
            "A strategy of your own",
            {"predictions": PROBABILITIES.tolist(), "references": LABELS, "review_scores": OWN.tolist()},
        ),
    ],
    cards={
        "oc_accuracy_at_0.05": "accuracy with 5 % reviewed",
        "oc_accuracy_at_0.2": "accuracy with 20 % reviewed",
        "accuracy": "accuracy of the model alone",
        "calibration_auprc": "calibration AUPRC",
    },
    alt="Oracle-collaborative scores over the reviewed fraction, and the reliability diagram.",
    options=("review_strategy", "review_fractions", "threshold", "moderator_error", "moderators"),
)
demo = serve(page, __name__)
