"""The collaboration scores in plain loops: exact fractions, every row with the weight with which it is reviewed."""

import math
from fractions import Fraction

from scipy.integrate import quad

FRACTIONS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)


def oracle_collab(
    predictions: list[float],
    references: list[int],
    review_scores: list[float] | None = None,
    *,
    from_logits: bool = False,
    review_strategy: str = "uncertainty",
    review_fractions: tuple[float, ...] = FRACTIONS,
    threshold: float = 0.5,
    n_bins: int = 15,
    targets: dict[str, float] | None = None,
    zero_division: float = 0.0,
    detailed: bool = False,
) -> dict[str, float]:
    """Every key of the metric; ``predictions`` are probabilities, or logits."""
    n = len(references)
    scores = [Fraction(s) for s in predictions]
    p = [sigmoid(s) for s in predictions] if from_logits else list(predictions)
    unsure = [-abs(s) if from_logits else min(s, 1 - s) for s in scores]
    flagged = [Fraction(s) > Fraction(threshold) for s in p]
    review = [Fraction(s) for s in review_scores] if review_scores else unsure
    if review_strategy == "toxicity":
        review = scores
    wrong = [int(f != bool(y)) for f, y in zip(flagged, references)]
    n_wrong = sum(wrong)

    result = {
        "accuracy": (n - n_wrong) / n,
        "auroc": auroc(references, scores, [Fraction(0)] * n),
        "auprc": auprc(references, scores, [Fraction(0)] * n),
        "brier": sum((q - y) ** 2 for q, y in zip(p, references)) / n,
        "ece": calibration_error(p, [1 - w for w in wrong], n_bins),
        "calibration_auroc": auroc(wrong, unsure, [Fraction(0)] * n),
        "calibration_auprc": auprc(wrong, unsure, [Fraction(0)] * n),
    }
    for alpha in review_fractions:
        k = capacity(alpha, n)
        weights = review_weights(review, k)
        team = team_scores(references, flagged, wrong, scores, weights, zero_division)
        caught = sum(w for w, missed in zip(weights, wrong) if missed)
        team["review_efficiency"] = caught / k if k else math.nan
        team["review_effectiveness"] = caught / n_wrong if n_wrong else math.nan
        names = ["oc_accuracy", "review_efficiency", "review_effectiveness", "oc_auroc", "oc_auprc"]
        if detailed:
            names += ["oc_precision", "oc_recall", "oc_f1", "oc_auprc_interpolated"]
            result[f"n_reviewed_at_{float(alpha)!r}"] = k
            split = sum(0 < w < 1 for w in weights)
            result[f"tied_at_cutoff_at_{float(alpha)!r}"] = split
            accuracy = Fraction(n - n_wrong, n)
            result[f"random_review_accuracy_at_{float(alpha)!r}"] = float(accuracy + Fraction(k, n) * (1 - accuracy))
            result[f"ideal_review_accuracy_at_{float(alpha)!r}"] = float(min(1, accuracy + Fraction(k, n)))
        result |= {f"{name}_at_{float(alpha)!r}": float(team[name]) for name in names}
    if detailed:
        result["aurc"], result["augrc"] = risk_coverage(unsure, wrong)
    for quantity, target in (targets or {}).items():
        result[f"n_reviews_for_{quantity}"] = math.nan
        for k in range(n + 1):
            value = team_scores(references, flagged, wrong, scores, review_weights(review, k), math.nan)[quantity]
            if float(value) >= target:  # 9/10 reaches 0.9, which as a double is a little more
                result[f"n_reviews_for_{quantity}"] = k
                break
        result[f"review_fraction_for_{quantity}"] = result[f"n_reviews_for_{quantity}"] / n
    return result


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def capacity(alpha: float, n: int) -> int:
    """floor(alpha n), where an alpha that is j/n but for binary rounding means j/n."""
    for j in range(n + 1):
        if math.isclose(alpha, j / n, rel_tol=1e-14):
            return j
    return math.floor(Fraction(alpha) * n)


def review_weights(review: list[Fraction], k: int) -> list[Fraction]:
    """1 for the reviewed, 0 for the others, r/m for each of the m tied at the cut where r fit."""
    weights = []
    for u in review:
        above = sum(v > u for v in review)
        tied = sum(v == u for v in review)
        weights.append(min(Fraction(1), max(Fraction(0), Fraction(k - above, tied))))
    return weights


def team_scores(references, flagged, wrong, scores, weights, zero_division):
    """What model and oracle reach together."""
    tp = fp = fn = Fraction(0)
    for y, f, weight in zip(references, flagged, weights):
        tp += y * (weight + (1 - weight) * f)
        fn += y * (1 - weight) * (not f)
        fp += (1 - y) * (1 - weight) * f
    n = len(references)
    return {
        "oc_accuracy": (n - sum(wrong) + sum(weight for weight, w in zip(weights, wrong) if w)) / n,
        "oc_precision": float(tp / (tp + fp)) if tp + fp else zero_division,
        "oc_recall": float(tp / (tp + fn)) if tp + fn else zero_division,
        "oc_f1": float(2 * tp / (2 * tp + fp + fn)) if tp + fp + fn else zero_division,
        "oc_auroc": auroc(references, scores, weights),
        "oc_auprc": auprc(references, scores, weights),
        "oc_auprc_interpolated": auprc_interpolated(references, scores, weights),
    }


def auroc(labels, scores, weights):
    """1 - D/(PN): D counts the unreviewed pairs in the wrong order, ties half."""
    positives, negatives = sum(labels), len(labels) - sum(labels)
    if not positives or not negatives:
        return math.nan
    wrong_pairs = Fraction(0)
    for y, s, weight in zip(labels, scores, weights):
        for z, t, other in zip(labels, scores, weights):
            if y and not z:
                order = Fraction(1) if t > s else Fraction(1, 2) if t == s else Fraction(0)
                wrong_pairs += (1 - weight) * (1 - other) * order
    return float(1 - wrong_pairs / (positives * negatives))


def auprc(labels, scores, weights):
    """(1/P) (reviewed positives + sum over unreviewed positives of TP/(TP+FP) at their score)."""
    positives = sum(labels)
    if not positives:
        return math.nan
    reviewed = sum(weight for y, weight in zip(labels, weights) if y)
    total = Fraction(reviewed)
    for y, s, weight in zip(labels, scores, weights):
        if y and weight < 1:
            tp = reviewed + sum((1 - v) for z, t, v in zip(labels, scores, weights) if z and t >= s)
            fp = sum((1 - v) for z, t, v in zip(labels, scores, weights) if not z and t >= s)
            total += (1 - weight) * tp / (tp + fp)
    return float(total / positives)


def auprc_interpolated(labels, scores, weights):
    """Area under precision over recall, FP linear in TP between thresholds, integrated numerically."""
    positives = sum(labels)
    if not positives:
        return math.nan
    tp = float(sum(weight for y, weight in zip(labels, weights) if y))
    fp, area = 0.0, tp
    for cut in sorted(set(scores), reverse=True):
        more_tp = float(sum(1 - v for y, s, v in zip(labels, scores, weights) if s == cut and y))
        more_fp = float(sum(1 - v for y, s, v in zip(labels, scores, weights) if s == cut and not y))
        if more_tp:

            def precision(share, tp=tp, fp=fp, more_tp=more_tp, more_fp=more_fp):
                x = tp + share * more_tp
                return x / (x + fp + share * more_fp) if x else more_tp / (more_tp + more_fp) * (fp == 0)

            area += more_tp * quad(precision, 0, 1, epsabs=1e-11, epsrel=1e-11, limit=200)[0]
        tp, fp = tp + more_tp, fp + more_fp
    return area / positives


def calibration_error(p, right, n_bins):
    """Mean over rows of |accuracy - confidence| of their bin; a confidence a hair below an edge is on it."""
    bins = {}
    for q, r in zip(p, right):
        confidence = max(q, 1.0 - q)
        bin_ = min(n_bins - 1, math.floor((Fraction(confidence) + Fraction(1, 2**50)) * n_bins))
        bins.setdefault(bin_, []).append((confidence, r))
    return sum(abs(sum(r for _, r in rows) - sum(c for c, _ in rows)) for rows in bins.values()) / len(p)


def risk_coverage(unsure, wrong):
    """AURC and AUGRC, by the expected number of errors among the i least uncertain rows."""
    n = len(wrong)
    errors = []
    for i in range(n + 1):
        accepted = review_weights([-u for u in unsure], i)
        errors.append(sum(w * weight for w, weight in zip(wrong, accepted)))
    aurc = sum(errors[i] / Fraction(i) for i in range(1, n + 1)) / n
    augrc = sum((errors[i] + errors[i + 1]) / 2 for i in range(n)) / Fraction(n * n)
    return float(aurc), float(augrc)
