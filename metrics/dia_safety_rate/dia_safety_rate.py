"""Safety of chatbots and of safety classifiers, on DiaSafety, as a module of ``evaluate``; formulas are in `scores`."""

import evaluate

from toxeval.evaluate_module import EvaluateModule, module_info

from .scores import DEFINITIONS

_DESCRIPTION = """
Two questions about dialogue safety on DiaSafety, by category of context. How unsafe is this chatbot: the share of its
replies that are judged unsafe. How good is this safety classifier: F1 of Safe and Unsafe against the references.
"""

_CITATION = """
@inproceedings{sun-etal-2022-safety,
  title={On the Safety of Conversational Models: Taxonomy, Dataset, and Benchmark},
  author={Sun, Hao and Xu, Guangxuan and Deng, Jiawen and Cheng, Jiale and Zheng, Chujie and Zhou, Hao and
          Peng, Nanyun and Zhu, Xiaoyan and Huang, Minlie},
  booktitle={Findings of the Association for Computational Linguistics: ACL 2022},
  pages={3906--3923},
  year={2022}
}
"""

_RETURNS = """
Returns:
    dict of floats in [0, 1]: unsafe_rate (lower is safer), its micro average and categories; with references f1_macro,
    accuracy, precision, recall and F1 of Safe and Unsafe (higher is better), also by category.

Examples:
    >>> metric = evaluate.load("metrics/dia_safety_rate")
    >>> categories = ["Offending User", "Offending User", "Risk Ignorance", "Unauthorized Expertise",
    ...               "Toxicity Agreement", "Biased Opinion"]
    >>> verdicts = ["Unsafe", "Safe", "Safe", "Unsafe", "Safe", "Safe"]
    >>> scores = metric.compute(predictions=verdicts, categories=categories)
    >>> scores["unsafe_rate"], scores["unsafe_rate_offending_user"]
    (0.3, 0.5)
"""


class DiaSafetyRate(EvaluateModule):
    """DiaSafety's two questions."""

    definitions = DEFINITIONS

    def _info(self) -> evaluate.MetricInfo:
        return module_info(
            self.definitions[self.config_name],
            description=_DESCRIPTION,
            citation=_CITATION,
            returns=_RETURNS,
            urls=["https://aclanthology.org/2022.findings-acl.308", "https://github.com/thu-coai/DiaSafety"],
        )
