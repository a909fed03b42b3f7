"""CONDA's scores in plain loops over utterances and tokens, by name."""

import math

from plain.classes import class_scores, mean_of_defined, share_right

INTENTS = ["E", "I", "A", "O"]
SCORED = ["T", "S", "C", "D", "P"]
SLOTS = [*SCORED, "O", "SEPA"]


def conda_joint(
    predictions: list[dict], references: list[dict], zero_division: float = 0.0, detailed: bool = False
) -> dict[str, float]:
    intents_p, intents_r, slots_p, slots_r = [], [], [], []
    outcomes = {"right": 0, "intent_only": 0, "slots_only": 0, "both": 0}
    for prediction, reference in zip(predictions, references):
        assert len(prediction["slots"]) == len(reference["slots"])
        intents_p.append(prediction["intent"])
        intents_r.append(reference["intent"])
        slots_are_right = True
        for slot_p, slot_r in zip(prediction["slots"], reference["slots"]):
            slots_p.append(slot_p)
            slots_r.append(slot_r)
            if slot_p != slot_r:
                slots_are_right = False
        if prediction["intent"] == reference["intent"]:
            outcomes["right" if slots_are_right else "slots_only"] += 1
        else:
            outcomes["intent_only" if slots_are_right else "both"] += 1

    scores = {"uca": share_right(intents_r, intents_p), "jsa": outcomes["right"] / len(references)}
    by_intent = {label: class_scores(intents_r, intents_p, label, zero_division) for label in INTENTS}
    by_slot = {label: class_scores(slots_r, slots_p, label, zero_division) for label in SLOTS}
    for label in INTENTS:
        scores[f"u_f1_{label}"] = by_intent[label]["f1"]
    for label in SCORED:
        scores[f"t_f1_{label}"] = by_slot[label]["f1"]
    scores["t_f1"] = micro_f1(slots_r, slots_p, SCORED, zero_division)
    if not detailed:
        return scores

    for kind in ("precision", "recall", "support"):
        for label in INTENTS:
            scores[f"u_{kind}_{label}"] = by_intent[label][kind]
        for label in SLOTS:
            scores[f"t_{kind}_{label}"] = by_slot[label][kind]
    scores["u_f1_macro"] = mean_of_defined([by_intent[label]["f1"] for label in INTENTS])
    scores["t_f1_with_sepa"] = micro_f1(slots_r, slots_p, [*SCORED, "SEPA"], zero_division)
    scores["slot_accuracy"] = share_right(slots_r, slots_p) if slots_r else math.nan
    for kind in ("intent_only", "slots_only", "both"):
        scores[f"jsa_errors_{kind}"] = outcomes[kind] / len(references)
    return scores | {"n_utterances": len(references), "n_tokens": len(slots_r)}


def micro_f1(references: list, predictions: list, labels: list, zero_division: float) -> float:
    tp = fp = fn = 0
    for reference, prediction in zip(references, predictions):
        for label in labels:
            if prediction == label and reference == label:
                tp += 1
            elif prediction == label:
                fp += 1
            elif reference == label:
                fn += 1
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else zero_division
