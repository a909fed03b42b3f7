"""One expert, or three cheap moderators whose majority decides? `oracle_collab` with moderators who err.

    python examples/moderators.py

20,000 simulated comments, and a model whose probabilities mean what they say. The expert's review costs 1, a cheap
moderator's 0.2, so that three of them review five rows for the money of three.
"""

import numpy as np

import toxeval

EXPERT = {"moderator_error": {"false_positive": 0.03, "false_negative": 0.06}, "moderators": 1}
CHEAP = {"moderator_error": {"false_positive": 0.1, "false_negative": 0.2}, "moderators": 3}
COST = {1: 1.0, 3: 0.6}
#: Money, as the fraction of the comments that the expert reviews for it.
BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def comments(n: int, seed: int) -> dict[str, np.ndarray]:
    """Probabilities and labels."""
    rng = np.random.default_rng(seed)
    probabilities = rng.beta(0.15, 1.1, n).round(4)
    return {"predictions": probabilities, "references": (rng.random(n) < probabilities).astype(int)}


def main() -> None:
    """Print the accuracy of the model with each of them, by the money there is."""
    rows = comments(20_000, seed=4)
    metric = toxeval.load("oracle_collab")
    found = {}
    for name, who in (("expert", EXPERT), ("cheap", CHEAP)):
        fractions = [min(1.0, budget / COST[who["moderators"]]) for budget in BUDGETS]
        scores = metric.compute(**rows, review_fractions=fractions, **who)
        found[name] = [(fraction, scores[f"oc_accuracy_at_{fraction!r}"]) for fraction in fractions]
    print(f"the model alone is right on {scores['accuracy']:.2%}")
    print(f"{'the expert reviews':>20}{'right':>9}{'three review':>15}{'right':>9}")
    for (alone, expert), (together, cheap) in zip(found["expert"], found["cheap"]):
        print(f"{alone:20.0%}{expert:9.2%}{together:15.1%}{cheap:9.2%}  {'three' if cheap > expert else 'the expert'}")


if __name__ == "__main__":
    main()
