"""Precision, recall and F1 by counting in loops."""

import math


def class_scores(references: list, predictions: list, label: object, zero_division: float) -> dict[str, float]:
    tp = fp = fn = 0
    for reference, prediction in zip(references, predictions):
        if prediction == label and reference == label:
            tp += 1
        elif prediction == label:
            fp += 1
        elif reference == label:
            fn += 1
    return {
        "precision": tp / (tp + fp) if tp + fp else zero_division,
        "recall": tp / (tp + fn) if tp + fn else zero_division,
        "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else zero_division,
        "support": tp + fn,
    }


def mean_of_defined(values: list[float], weights: list[float] | None = None) -> float:
    """The weighted mean without the nan ones; unweighted if all other weights are 0; nan if all are nan."""
    defined = [(value, weight) for value, weight in zip(values, weights or [1] * len(values)) if not math.isnan(value)]
    if not defined:
        return math.nan
    if not sum(weight for _, weight in defined):
        defined = [(value, 1) for value, _ in defined]
    return sum(value * weight for value, weight in defined) / sum(weight for _, weight in defined)


def share_right(references: list, predictions: list) -> float:
    right = 0
    for reference, prediction in zip(references, predictions):
        if reference == prediction:
            right += 1
    return right / len(references) if references else math.nan


def pair_counts(references: list, predictions: list, positive: object) -> dict[str, int]:
    counts = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for reference, prediction in zip(references, predictions):
        right = "t" if (reference == positive) == (prediction == positive) else "f"
        counts[right + ("p" if prediction == positive else "n")] += 1
    return counts


def put_invalid(scores: dict[str, float], predictions: list, reasons: list) -> None:
    """How many predictions are None, and the share of each reason; ``reasons`` has None for valid ones."""
    scores["n_invalid"] = sum(1 for prediction in predictions if prediction is None)
    scores["invalid_rate"] = scores["n_invalid"] / len(predictions)
    for reason in ("empty", "no_label", "several_labels", "broken_json", "wrong_number"):
        scores[f"invalid_rate_{reason}"] = sum(1 for found in reasons if found == reason) / len(predictions)
