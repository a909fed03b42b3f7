"""Human-AI collaboration in content moderation, as a module of ``evaluate``. Its formulas are in `scores`."""

import evaluate

from toxeval.evaluate_module import EvaluateModule, module_info

# `evaluate.load` copies only what the script itself imports from beside it: these are for `scores`
from .bounds import put_errors as put_errors
from .curves import review_curve as review_curve
from .groups import group_rows as group_rows
from .plans import smallest_capacity as smallest_capacity
from .reviewers import Reviewers as Reviewers
from .rows import sort_rows as sort_rows
from .scores import DEFINITIONS

_DESCRIPTION = """
A toxicity model and a human moderator who can review a given fraction of the comments, scored as a team: oracle-model
collaborative accuracy and AUC, review efficiency and effectiveness, for review by uncertainty or by toxicity, beside
the model's own accuracy, AUC and calibration.
"""

_CITATION = """
@inproceedings{kivlichan-etal-2021-measuring,
  title={Measuring and Improving Model-Moderator Collaboration using Uncertainty Estimation},
  author={Kivlichan, Ian and Lin, Zi and Liu, Jeremiah and Vasserman, Lucy},
  booktitle={Proceedings of the 5th Workshop on Online Abuse and Harms (WOAH 2021)},
  year={2021},
  pages={36--53},
  publisher={Association for Computational Linguistics},
  doi={10.18653/v1/2021.woah-1.5}
}
"""

_RETURNS = """
Returns:
    dict of floats: for each fraction oc_accuracy_at_0.05 and so on, review_efficiency, review_effectiveness, oc_auroc,
    oc_auprc; and accuracy, auroc, auprc, brier, ece, calibration_auroc, calibration_auprc of the model alone.

Examples:
    >>> metric = evaluate.load("metrics/oracle_collab")
    >>> scores = metric.compute(
    ...     predictions=[0.1, 0.6, 0.45, 0.9], references=[0, 0, 1, 1], review_fractions=[0.25, 0.5]
    ... )
    >>> scores["accuracy"], scores["oc_accuracy_at_0.25"], scores["oc_accuracy_at_0.5"]
    (0.5, 0.75, 1.0)
"""


class OracleCollab(EvaluateModule):
    """The collaboration scores."""

    definitions = DEFINITIONS

    def _info(self) -> evaluate.MetricInfo:
        return module_info(
            self.definitions[self.config_name],
            description=_DESCRIPTION,
            citation=_CITATION,
            returns=_RETURNS,
            urls=["https://arxiv.org/abs/2107.04212", "https://aclanthology.org/2021.woah-1.5"],
        )
