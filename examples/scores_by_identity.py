"""For whom does a toxicity classifier fail? Scores by the identities that a comment mentions, as in Civil Comments.

Civil Comments marks each comment with the share of its readers who saw an identity mentioned, in a column an identity;
its benchmark takes half of them for a yes. A comment may mention several identities, or none. The rows here are
invented, 4,000 of them, and so is the classifier, which takes the mention of some groups for toxic.

    python examples/scores_by_identity.py
"""

import numpy as np

import toxeval

IDENTITIES = ("male", "female", "black", "white", "christian", "muslim", "homosexual_gay_or_lesbian")
#: How often each is mentioned, and by how much its mention alone raises the classifier's logit.
MENTIONED = (0.09, 0.11, 0.03, 0.05, 0.08, 0.04, 0.02)
RAISED = (0.0, 0.0, 1.2, 0.6, 0.0, 1.0, 1.5)


def invented(n: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Shares of readers for each identity, a probability and a label for each comment."""
    rng = np.random.default_rng(seed)
    shares = {
        name: np.where(rng.random(n) < p, rng.integers(5, 11, n) / 10, 0.0) for name, p in zip(IDENTITIES, MENTIONED)
    }
    toxic = rng.random(n) < 0.12
    logits = rng.normal(np.where(toxic, 1.5, -2.5), 1.2)
    logits += sum((share >= 0.5) * raised for share, raised in zip(shares.values(), RAISED))
    return shares, (1 / (1 + np.exp(-logits))).round(4), toxic.astype(int)


def main() -> None:
    """Print what each group gets, the gap between the groups, and the areas of Borkan et al. (2019)."""
    shares, probabilities, labels = invented(4000, seed=7)
    metric = toxeval.load("threat_f1")
    found = metric.compute_by(
        {name: share >= 0.5 for name, share in shares.items()},
        key="recall_non_threat",  # of comments that aren't toxic: the share that is left alone
        prediction_scores=probabilities,
        references=labels,
        confidence_level=0.95,
    )
    print(f"{'':26}{'rows':>6}  {found.key:<27}{'p (Holm)':>9}{'subgroup':>10}{'BPSN':>7}{'BNSP':>7}")
    for name, result in found.groups.items():
        interval = "[{:.3f}, {:.3f}]".format(*(result[f"{found.key}_{end}"] for end in ("low", "high")))
        areas = "{:10.3f}{:7.3f}{:7.3f}".format(*found.aucs[name])
        p = found.differences[name].p_holm
        print(f"{name:26}{found.sizes[name]:6}  {result[found.key]:.3f} {interval:<21}{p:9.2g}{areas}")
    print(f"{'all':26}{found.n_rows:6}  {found.all[found.key]:.3f}")
    gap = found.gap
    print(f"\nThe gap is {gap.value:.3f} [{gap.low:.3f}, {gap.high:.3f}], from {gap.smallest[0]} to {gap.largest[0]}.")
    print("Generalised means (p = -5): " + ", ".join(f"{area} {mean:.3f}" for area, mean in found.auc_means.items()))


if __name__ == "__main__":
    main()
