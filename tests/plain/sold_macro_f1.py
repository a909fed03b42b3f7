"""SOLD's scores in plain loops."""

from plain.classes import class_scores, mean_of_defined, pair_counts, share_right


def sold_macro_f1(
    predictions: list[str], references: list[str], zero_division: float = 0.0, detailed: bool = False
) -> dict[str, float]:
    """The labels of all posts, or of all tokens of all posts, by name."""
    off = class_scores(references, predictions, "OFF", zero_division)
    non = class_scores(references, predictions, "NOT", zero_division)
    scores = {"f1_macro": mean_of_defined([off["f1"], non["f1"]]), "accuracy": share_right(references, predictions)}
    for kind in ("precision", "recall", "f1"):
        scores[f"{kind}_OFF"], scores[f"{kind}_NOT"] = off[kind], non[kind]
        scores[f"{kind}_weighted"] = mean_of_defined([off[kind], non[kind]], [off["support"], non["support"]])
    if detailed:
        scores |= {"support_OFF": off["support"], "support_NOT": non["support"]}
        scores |= pair_counts(references, predictions, "OFF")
    return scores
