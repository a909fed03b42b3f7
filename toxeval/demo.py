"""``python -m toxeval.demo``: the example predictions that ship with the package, scored and printed.

The rows are invented and mild, in the formats of the five benchmarks with their quirks: chat lines joined by ``[SEPA]``
and an utterance without tokens, posts without rationale, verdicts of two kinds of unsafe, tied scores, and two threats
among sixty comments.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from toxeval.loading import plain
from toxeval.report import number, table

#: What each metric's table shows: keys and what they say. The metric cards list all keys.
SHOWN: Mapping[str, Mapping[str, str]] = {
    "conda_joint": {
        "jsa": "utterances whose intent and slots are all right",
        "uca": "utterances whose intent is right",
        "u_f1_E": "F1 of explicit toxicity, by utterance",
        "u_f1_I": "F1 of implicit toxicity, by utterance",
        "t_f1": "micro F1 of the five slot classes, by token",
        "t_f1_T": "F1 of toxic tokens",
    },
    "sold_macro_f1": {
        "f1_macro": "mean F1 of offensive and not offensive posts",
        "precision_OFF": "posts called offensive that are",
        "recall_OFF": "offensive posts that are found",
        "f1_weighted": "mean F1 weighted by class size",
    },
    "oracle_collab": {
        "accuracy": "right decisions of the model alone",
        "oc_accuracy_at_0.05": "of model and moderator, who reviews 5 %",
        "oc_accuracy_at_0.2": "of model and moderator, who reviews 20 %",
        "review_efficiency_at_0.2": "reviews that were needed",
        "review_effectiveness_at_0.2": "errors that were caught",
        "oc_auroc_at_0.2": "ROC-AUC of the two together",
        "calibration_auroc": "does uncertainty find the errors?",
    },
    "dia_safety_rate": {
        "unsafe_rate": "unsafe verdicts, mean of five categories",
        "unsafe_rate_risk_ignorance": "in the category Risk Ignorance",
        "utterance_unsafe_rate": "unsafe by themselves",
        "context_unsafe_rate": "unsafe only in their context",
        "f1_macro": "the verdicts as a classifier: mean F1",
        "f1_macro_by_category": "mean of the categories' mean F1",
    },
    "threat_f1": {
        "f1_macro": "mean F1 of threats and the rest",
        "precision_threat": "comments called threats that are",
        "recall_threat": "threats that are found",
        "f1_non_threat": "F1 of the rest: close to 1 whatever happens",
        "average_precision": "area under the precision-recall curve",
        "prevalence": "what average precision is without skill",
    },
}

#: Options where the defaults suit larger data: sixty rows have no 0.1 %.
OPTIONS: Mapping[str, Mapping[str, Any]] = {"oracle_collab": {"review_fractions": (0.05, 0.1, 0.2)}}


def rows(metric: str) -> list[dict[str, Any]]:
    """The example rows of a metric.

    >>> len(rows("threat_f1")), sum(row["reference"] for row in rows("threat_f1"))
    (60, 2)
    """
    text = (files("toxeval") / "examples" / f"{metric}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def inputs(metric: str) -> dict[str, list[Any]]:
    """The example rows as the metric's ``compute`` takes them.

    >>> sorted(inputs("threat_f1"))
    ['prediction_scores', 'references']
    """
    plural = {"prediction": "predictions", "prediction_score": "prediction_scores"}
    plural |= {"reference": "references", "category": "categories"}
    examples = rows(metric)
    return {plural[name]: [row[name] for row in examples] for name in examples[0] if name in plural}


def token_inputs() -> dict[str, list[list[int]]]:
    """The rationales of the SOLD examples; a post without one counts as all 0."""
    examples = rows("sold_macro_f1")
    blank = [[0] * len(row["tokens"].split(" ")) for row in examples]
    return {
        "predictions": [row["prediction_rationales"] for row in examples],
        "references": [row["reference_rationales"] or zeros for row, zeros in zip(examples, blank)],
    }


def show(title: str, scores: Mapping[str, Any], shown: Mapping[str, str]) -> str:
    """A title and a table: key, score, what it says."""
    width = max(map(len, shown.values()))
    lines = [[key, number(scores[key]), meaning.ljust(width)] for key, meaning in shown.items()]
    return f"{title}\n\n" + table(["key", "score", "".ljust(width)], lines)


def main() -> None:
    """Score the examples of all metrics and print a table for each."""
    print("toxeval: invented example predictions in the formats of five benchmarks, scored")
    for metric in SHOWN:
        given = inputs(metric)
        scores = plain(metric).compute(**given, **OPTIONS.get(metric, {})) or {}
        print("\n" + show(f"{metric} ({len(given['references'])} rows)", scores, SHOWN[metric]))
    scores = plain("sold_macro_f1", "token").compute(**token_inputs()) or {}
    meaning = {"f1_macro": "the same over tokens", "f1_OFF": "F1 of offensive tokens"}
    print("\n" + show("sold_macro_f1, token configuration", scores, meaning))
    print("\nEvery key, its range and its direction: metrics/<name>/README.md")


if __name__ == "__main__":
    main()
