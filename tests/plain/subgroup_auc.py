"""ROC-AUC of a group and across its border, in plain loops over pairs (Borkan et al. 2019)."""

import math


def subgroup_aucs(labels: list[int], scores: list[float], inside: list[bool]) -> tuple[float, float, float]:
    """Subgroup AUC, BPSN AUC and BNSP AUC of the rows that are inside."""
    rows = list(zip(labels, scores, inside))
    positives, negatives = ([row for row in rows if row[0] == label] for label in (1, 0))

    def area(positives_inside: bool, negatives_inside: bool) -> float:
        right = pairs = 0.0
        for _, high, of_positive in positives:
            for _, low, of_negative in negatives:
                if of_positive == positives_inside and of_negative == negatives_inside:
                    pairs += 1
                    right += 1.0 if high > low else 0.5 if high == low else 0.0
        return right / pairs if pairs else math.nan

    return area(True, True), area(False, True), area(True, False)


def power_mean(values: list[float], p: float = -5) -> float:
    defined = [value for value in values if not math.isnan(value)]
    if not defined:
        return math.nan
    if 0.0 in defined:
        return 0.0
    return (sum(value**p for value in defined) / len(defined)) ** (1 / p)
