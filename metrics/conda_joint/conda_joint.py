"""Joint intent and slot scores on CONDA, as a module of ``evaluate``. Its formulas are in `scores`."""

import evaluate

from toxeval.evaluate_module import EvaluateModule, module_info

from .scores import DEFINITIONS

_DESCRIPTION = """
Scores of joint toxicity detection in game chat on CONDA, the CONtextual Dual-Annotated dataset: utterance
classification accuracy (UCA), F1 of each intent (U-F1), token-level F1 of each slot class (T-F1), and joint semantic
accuracy (JSA), the share of utterances whose intent and slots are all right.
"""

_CITATION = """
@inproceedings{weld-etal-2021-conda,
  title={{CONDA}: a {CON}textual Dual-Annotated dataset for in-game toxicity understanding and detection},
  author={Weld, Henry and Huang, Guanghao and Lee, Jean and Zhang, Tongshu and Wang, Kunze and Guo, Xinghong and
          Long, Siqu and Poon, Josiah and Han, Soyeon Caren},
  booktitle={Findings of the Association for Computational Linguistics: ACL-IJCNLP 2021},
  pages={2406--2416},
  year={2021}
}
"""

_RETURNS = """
Returns:
    dict of floats: jsa (what the authors rank by), uca, u_f1_<intent>, t_f1_<slot> and t_f1, all in [0, 1],
    higher is better; with ``detailed`` more of them, and counts as ints.

Examples:
    >>> metric = evaluate.load("metrics/conda_joint")
    >>> predictions = [{"intent": "E", "slots": ["P", "T"]}, {"intent": "O", "slots": ["S"]}]
    >>> references = [{"intent": "E", "slots": ["P", "T"]}, {"intent": "A", "slots": ["S"]}]
    >>> metric.compute(predictions=predictions, references=references)["jsa"]
    0.5
"""


class CondaJoint(EvaluateModule):
    """CONDA's scores."""

    definitions = DEFINITIONS

    def _info(self) -> evaluate.MetricInfo:
        return module_info(
            self.definitions[self.config_name],
            description=_DESCRIPTION,
            citation=_CITATION,
            returns=_RETURNS,
            urls=["https://aclanthology.org/2021.findings-acl.213", "https://github.com/usydnlp/CONDA"],
        )
