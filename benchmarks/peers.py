"""What people use today, called as they call it."""

from __future__ import annotations

import datasets
import evaluate
import numpy as np
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score


class _StockLike(evaluate.Metric):
    """A stock module as the Hub has it: int32 or float64 features, and one scikit-learn call in ``_compute``."""

    kind = ""

    def _info(self):
        first = ("prediction_scores", "float64") if self.kind == "roc_auc" else ("predictions", "int32")
        features = {first[0]: datasets.Value(first[1]), "references": datasets.Value("int32")}
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="", features=datasets.Features(features)
        )

    def _compute(self, references, predictions=None, prediction_scores=None):
        if self.kind == "roc_auc":
            return {"roc_auc": roc_auc_score(references, prediction_scores)}
        if self.kind == "f1":
            return {"f1": f1_score(references, predictions, average="macro")}
        return {"accuracy": accuracy_score(references, predictions)}


def stock(name: str):
    """``evaluate.load(name)``, and without a network the same machinery around the same scikit-learn call."""
    try:
        module = evaluate.load(name)
        if name == "f1":
            compute = module.compute
            module.compute = lambda **inputs: compute(**inputs, average="macro")
        return module
    except (FileNotFoundError, ConnectionError, OSError):
        cls = type(f"Stock{name.title().replace('_', '')}", (_StockLike,), {"kind": name})
        return cls()


def recipe_macro_f1(predictions, references):
    """The loop of a home-made script."""
    labels = sorted(set(references))
    f1s = []
    for label in labels:
        tp = fp = fn = 0
        for p, r in zip(predictions, references):
            if p == label and r == label:
                tp += 1
            elif p == label:
                fp += 1
            elif r == label:
                fn += 1
        f1s.append(2 * tp / (2 * tp + fp + fn))
    return sum(f1s) / len(f1s)


def recipe_conda(predictions, references):
    """CONDA's four scores as home-made scripts have them: a loop over tuples (intent, slots) for every class."""
    n = len(references)
    pairs = list(zip(predictions, references))
    scores = {"uca": sum(p[0] == r[0] for p, r in pairs) / n, "jsa": sum(p == r for p, r in pairs) / n}
    for c in "EIAO":
        tp = sum(p[0] == c and r[0] == c for p, r in pairs)
        fp = sum(p[0] == c and r[0] != c for p, r in pairs)
        fn = sum(p[0] != c and r[0] == c for p, r in pairs)
        scores[f"u_f1_{c}"] = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    total = [0, 0, 0]
    for c in ("T", "S", "C", "D", "P"):
        tp = fp = fn = 0
        for (_, p_slots), (_, r_slots) in pairs:
            for p, r in zip(p_slots, r_slots):
                if p == c:
                    if r == c:
                        tp += 1
                    else:
                        fp += 1
                elif r == c:
                    fn += 1
        scores[f"t_f1_{c}"] = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
        total = [total[0] + tp, total[1] + fp, total[2] + fn]
    tp, fp, fn = total
    scores["t_f1"] = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    return scores


def recipe_conda_one_pass(predictions, references):
    """The same by one clever pass: tables of counts, looked up only where something is wrong or scored."""
    intents, slots = "EIAO", ("T", "S", "C", "D", "P")
    u = {c: [0, 0, 0] for c in intents}
    t = {c: [0, 0, 0] for c in slots}
    right = joint = 0
    for (p_intent, p_slots), (r_intent, r_slots) in zip(predictions, references):
        if p_intent == r_intent:
            right += 1
            u[r_intent][0] += 1
        else:
            u[p_intent][1] += 1
            u[r_intent][2] += 1
        every = p_intent == r_intent
        for p, r in zip(p_slots, r_slots):
            if p == r:
                if r in t:
                    t[r][0] += 1
            else:
                every = False
                if p in t:
                    t[p][1] += 1
                if r in t:
                    t[r][2] += 1
        joint += every
    n = len(references)
    scores = {"uca": right / n, "jsa": joint / n}
    for name, table in (("u_f1", u), ("t_f1", t)):
        for c, (tp, fp, fn) in table.items():
            scores[f"{name}_{c}"] = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    tp, fp, fn = (sum(row[i] for row in t.values()) for i in range(3))
    scores["t_f1"] = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
    return scores


def recipe_unsafe(predictions, references, categories):
    """DiaSafety's rates and F1s by a loop over replies."""
    table: dict[tuple[int, int, int], int] = {}
    for p, r, c in zip(predictions, references, categories):
        table[c, r, p] = table.get((c, r, p), 0) + 1
    rates = []
    for c in range(5):
        n = sum(table.get((c, r, p), 0) for r in range(2) for p in range(2))
        rates.append(sum(table.get((c, r, 1), 0) for r in range(2)) / n)
    return sum(rates) / len(rates)


def seqeval_t_f1(predictions, references):
    """Token F1 through seqeval, which needs a B- before every tag to read it as one (it gives no JSA and no UCA)."""
    from seqeval.metrics import f1_score as seqeval_f1

    def tags(rows):
        return [[tag if tag in ("O", "SEPA") else f"B-{tag}" for tag in slots] for _, slots in rows]

    return seqeval_f1(tags(references), tags(predictions))


def torchmetrics_f1(predictions: np.ndarray, references: np.ndarray) -> float:
    """torchmetrics' functional macro-F1 of two classes."""
    import torch
    from torchmetrics.functional.classification import multiclass_f1_score

    p, r = torch.from_numpy(predictions), torch.from_numpy(references)
    return float(multiclass_f1_score(p, r, num_classes=2, average="macro"))


def torchmetrics_auroc(scores: np.ndarray, references: np.ndarray) -> float:
    """torchmetrics' functional ROC-AUC, exact (no thresholds given)."""
    import torch
    from torchmetrics.functional.classification import binary_auroc

    return float(binary_auroc(torch.from_numpy(scores), torch.from_numpy(references)))
