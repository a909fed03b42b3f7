"""Macro-F1 of offensive language identification on SOLD, as a module of ``evaluate``. Its formulas are in `scores`."""

import evaluate

from toxeval.evaluate_module import EvaluateModule, module_info

from .scores import DEFINITIONS

_DESCRIPTION = """
Scores of an offensive language classifier on SOLD, the Sinhala Offensive Language Dataset: macro-F1 over NOT and OFF,
both always counted, with precision, recall and F1 of each class and their support-weighted averages. The configuration
"token" scores the offensive tokens (rationales) of all posts instead.
"""

_CITATION = """
@article{ranasinghe2022sold,
  title={{SOLD}: {S}inhala Offensive Language Dataset},
  author={Ranasinghe, Tharindu and Anuradha, Isuri and Premasiri, Damith and Silva, Kanishka and
          Hettiarachchi, Hansi and Uyangodage, Lasitha and Zampieri, Marcos},
  journal={arXiv preprint arXiv:2212.00851},
  year={2022}
}
"""

_RETURNS = """
Returns:
    dict of floats: f1_macro (the paper's primary score), accuracy, precision, recall and F1 of OFF and NOT and their
    support-weighted averages, all in [0, 1], higher is better; with ``detailed`` also the counts, as ints.

Examples:
    >>> metric = evaluate.load("metrics/sold_macro_f1")
    >>> scores = metric.compute(predictions=["OFF", "NOT", "OFF"], references=["OFF", "NOT", "NOT"])
    >>> round(scores["f1_macro"], 4)
    0.6667
"""


class SoldMacroF1(EvaluateModule):
    """SOLD's scores; configurations "default" (one label a post) and "token"."""

    definitions = DEFINITIONS

    def _info(self) -> evaluate.MetricInfo:
        return module_info(
            self.definitions[self.config_name],
            description=_DESCRIPTION,
            citation=_CITATION,
            returns=_RETURNS,
            urls=["https://arxiv.org/abs/2212.00851", "https://github.com/Sinhala-NLP/SOLD"],
        )
