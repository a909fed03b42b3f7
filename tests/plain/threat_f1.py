"""The threat scores in plain loops: AUC over pairs, average precision by its definition, every threshold tried."""

import math

from plain.classes import class_scores, mean_of_defined, pair_counts, share_right


def threat_f1(
    references: list[int],
    predictions: list[int] | None = None,
    scores: list[float] | None = None,
    *,
    from_logits: bool = False,
    threshold: float = 0.5,
    zero_division: float = 0.0,
    detailed: bool = False,
) -> dict[str, float]:
    """Every key but ``best_threshold``, which the test checks by using it."""
    decisions = predictions
    if scores is not None:
        probabilities = [sigmoid(s) for s in scores] if from_logits else scores
        decisions = predictions if predictions is not None else decide(probabilities, threshold)
    threat = class_scores(references, decisions, 1, zero_division)
    other = class_scores(references, decisions, 0, zero_division)
    result = {
        "f1_macro": mean_of_defined([threat["f1"], other["f1"]]),
        "accuracy": share_right(references, decisions),
        "prevalence": references.count(1) / len(references),
    }
    for kind in ("precision", "recall", "f1"):
        result[f"{kind}_threat"], result[f"{kind}_non_threat"] = threat[kind], other[kind]
    if scores is not None:
        result |= {"roc_auc": roc_auc(references, scores), "average_precision": average_precision(references, scores)}
    if detailed:
        result |= pair_counts(references, decisions, 1)
        if predictions is None:
            result["threshold"] = threshold
        if scores is not None:
            result["best_f1_threat"] = best_f1(references, probabilities)
    return result


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def decide(probabilities: list[float], threshold: float) -> list[int]:
    return [1 if p > threshold else 0 for p in probabilities]


def roc_auc(labels: list[int], scores: list[float]) -> float:
    """Share of (positive, negative) pairs in the right order, a tie counting half."""
    right, pairs = 0.0, 0
    for positive, high in zip(labels, scores):
        for negative, low in zip(labels, scores):
            if positive == 1 and negative == 0:
                pairs += 1
                right += 1.0 if high > low else 0.5 if high == low else 0.0
    return right / pairs if pairs else math.nan


def average_precision(labels: list[int], scores: list[float]) -> float:
    """Sum over thresholds, from the highest, of (rise of recall) times precision."""
    positives = labels.count(1)
    if not positives:
        return math.nan
    total, recall_before = 0.0, 0.0
    for cut in sorted(set(scores), reverse=True):
        passed = [label for label, s in zip(labels, scores) if s >= cut]
        recall = passed.count(1) / positives
        total += (recall - recall_before) * passed.count(1) / len(passed)
        recall_before = recall
    return total


def best_f1(labels: list[int], probabilities: list[float]) -> float:
    if not labels.count(1):
        return math.nan
    return max(class_scores(labels, decide(probabilities, t), 1, 0.0)["f1"] for t in [0.0, *probabilities])
