"""Threat detection on the "Seed" set of Jigsaw comments, as a module of ``evaluate``. Its formulas are in `scores`."""

import evaluate

from toxeval.evaluate_module import EvaluateModule, module_info

from .scores import DEFINITIONS

_DESCRIPTION = """
Scores of a threat classifier under extreme class imbalance (0.3 % threats): macro-F1 over threat and non-threat, both
always counted, precision, recall and F1 of each, and with scores ROC-AUC and average precision.
"""

_CITATION = """
@inproceedings{juuti-etal-2020-little,
  title={A little goes a long way: Improving toxic language classification despite data scarcity},
  author={Juuti, Mika and Gr{\\"o}ndahl, Tommi and Flanagan, Adrian and Asokan, N.},
  booktitle={Findings of the Association for Computational Linguistics: EMNLP 2020},
  pages={2991--3009},
  year={2020}
}
"""

_RETURNS = """
Returns:
    dict of floats in [0, 1], higher is better: f1_macro (primary), precision, recall and F1 of threat and non_threat,
    accuracy; prevalence (share of threats in the references); with scores roc_auc and average_precision.

Examples:
    >>> metric = evaluate.load("metrics/threat_f1")
    >>> scores = metric.compute(prediction_scores=[0.9, 0.2, 0.4], references=["threat", "non-threat", "threat"])
    >>> scores["recall_threat"], scores["roc_auc"]
    (0.5, 1.0)
"""


class ThreatF1(EvaluateModule):
    """The threat scores."""

    definitions = DEFINITIONS

    def _info(self) -> evaluate.MetricInfo:
        return module_info(
            self.definitions[self.config_name],
            description=_DESCRIPTION,
            citation=_CITATION,
            returns=_RETURNS,
            urls=["https://arxiv.org/abs/2009.12344"],
        )
