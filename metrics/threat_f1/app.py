"""The demo page of threat_f1."""

import numpy as np
from toxeval.metrics.threat_f1.scores import DEFINITIONS

from toxeval.page.build import serve
from toxeval.page.page import Example, Page

_random = np.random.default_rng(0)
REFERENCES = [1] * 6 + [0] * 54
SCORES = [round(float(score), 3) for score in [*_random.beta(5, 2, 6), *_random.beta(1, 6, 54)]]
NAMES = [("non-threat", "threat")[label] for label in REFERENCES]

page = Page(
    file=__file__,
    definitions=DEFINITIONS,
    title="Threats among comments, one in hundreds",
    question="How well does a classifier find the rare threats among comments?",
    examples=[
        Example("60 scores", {"prediction_scores": SCORES, "references": REFERENCES}),
        Example("60 labels", {"predictions": [int(score > 0.3) for score in SCORES], "references": REFERENCES}),
        Example("Never a threat", {"predictions": ["non-threat"] * len(NAMES), "references": NAMES}),
    ],
    cards={"f1_macro": "macro F1", "f1_threat": "F1 of threat", "average_precision": "average precision"},
    alt="Precision-recall and ROC curves with their no-skill lines; of labels the confusion matrix.",
    options=("threshold", "from_logits"),
)
demo = serve(page, __name__)
