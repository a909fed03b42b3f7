"""How often 95 % intervals of the gap between groups, and of groups' differences to the rest, contain the truth.

Simulated groups with 3 to 10 positives each, or some with more, whose true scores are known; in some settings they are
all the same, so the true gap is 0. Prints a table: the share of the gap's intervals that contain the truth, that lie
above and below it, and their mean width; the share of the differences' intervals that contain the truth; and, where
nothing differs, in which share of the simulations any p-value with Holm's correction is below 0.05.

``python benchmarks/coverage_groups.py [simulations]``
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from toxeval.core.group_states import GroupStates
from toxeval.core.state import State, merge
from toxeval.loading import plain


class Setting(NamedTuple):
    """What is simulated.

    Attributes:
        name: of it.
        metric, key: what is scored, and by what groups are compared.
        truths: the true score of each group.
        rests: that of the rows outside each.
        sample: draws the states of all groups.
    """

    name: str
    metric: str
    key: str
    truths: np.ndarray
    rests: np.ndarray
    sample: Callable[[np.random.Generator], list[State]]


class Coverage(NamedTuple):
    """Shares of the simulations, or of their groups."""

    covered: float
    above: float
    below: float
    width: float
    differences: float
    false_alarms: float


def coverage(setting: Setting, n: int, *, seed: int, n_resamples: int = 200) -> Coverage:
    """Simulate ``n`` data sets and compare each interval with the truth."""
    rng, metric = np.random.default_rng(seed), plain(setting.metric)
    gap = setting.truths.max() - setting.truths.min()
    above = below = width = differences = alarms = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a group without a right prediction is part of the game
        for i in range(n):
            states = setting.sample(rng)
            found = metric.score_by(
                GroupStates(dict(enumerate(states)), merge(states)),
                key=setting.key,
                min_rows=1,
                confidence_level=0.95,
                n_resamples=n_resamples,
                seed=i,
            )
            assert found.gap is not None
            assert found.gap.low is not None
            assert found.gap.high is not None
            above += found.gap.low > gap + 1e-12
            below += found.gap.high < gap - 1e-12
            width += found.gap.high - found.gap.low
            true = setting.truths - setting.rests
            held = [each.low <= true[group] + 1e-12 and true[group] - 1e-12 <= each.high  # type: ignore[index]
                    for group, each in found.differences.items()]  # fmt: skip
            differences += sum(held) / len(held)
            alarms += any(each.p_holm < 0.05 for each in found.differences.values())
    alike = bool(np.ptp(setting.truths) < 1e-12)
    return Coverage(
        1 - (above + below) / n, above / n, below / n, width / n, differences / n, alarms / n if alike else float("nan")
    )


# --- groups whose true scores are known ---------------------------------------------------------------------------


def labels(name: str, key: str, positives: Sequence[int], recalls: Sequence[float], negatives: int = 100) -> Setting:
    """Groups of so many positives, found with the recall of each, and of negatives of which 3 % are taken for one."""
    p, recall, n, alarm = np.array(positives), np.array(recalls), np.full(len(positives), negatives), 0.03

    def truth(p: np.ndarray, tp: np.ndarray, n: np.ndarray) -> np.ndarray:
        tn = n * (1 - alarm)
        off, other = 2 * tp / (tp + n * alarm + p), 2 * tn / (tn + (p - tp) + n)
        known: dict[str, np.ndarray] = {"recall_OFF": tp / p, "f1_OFF": off, "f1_macro": (off + other) / 2}
        return known[key]

    def sample(rng: np.random.Generator) -> list[State]:
        tp, fp = rng.binomial(p, recall), rng.binomial(n, alarm)
        tables = np.stack([np.stack([n - fp, fp], axis=1), np.stack([p - tp, tp], axis=1)], axis=1)
        return [State(int(table.sum()), {"confusion": table}) for table in tables]

    tp = p * recall
    rests = truth(p.sum() - p, tp.sum() - tp, n.sum() - n)
    return Setting(name, "sold_macro_f1", key, truth(p, tp, n), rests, sample)


def replies(name: str, sizes: Sequence[int], rates: Sequence[float]) -> Setting:
    """Groups of so many replies, unsafe with the rate of each."""
    n, rate = np.array(sizes), np.array(rates)

    def sample(rng: np.random.Generator) -> list[State]:
        unsafe = rng.binomial(n, rate)
        tables = np.stack([n - unsafe, unsafe, 0 * n, 0 * n], axis=1)
        return [State(int(table.sum()), {"replies": table.reshape(1, 1, 4)}) for table in tables]

    rests = (n @ rate - n * rate) / (n.sum() - n)
    return Setting(name, "dia_safety_rate", "unsafe_rate_micro", rate, rests, sample)


def scores(name: str, positives: Sequence[int], shifts: Sequence[float], negatives: int = 100) -> Setting:
    """Groups of normal scores, of so many positives, which lie above the negatives by the shift of each."""
    p, shift = np.array(positives), np.array(shifts)
    areas = np.array([NormalDist().cdf(each / np.sqrt(2)) for each in shifts])

    def sample(rng: np.random.Generator) -> list[State]:
        return [
            State(
                int(n + negatives),
                {},
                {
                    "logits": rng.normal(size=n + negatives) + np.repeat([0.0, by], [negatives, n]),
                    "references": np.repeat([0, 1], [negatives, n]).astype(np.int8),
                },
            )
            for n, by in zip(p, shift)
        ]

    # any positive meets any negative: the rest's area is the mean of its groups', each weighing its positives
    rests = (p @ areas - p * areas) / (p.sum() - p)
    return Setting(name, "threat_f1", "roc_auc", areas, rests, sample)


def few(k: int) -> list[int]:
    """3 to 10."""
    return [3 + (3 * i) % 8 for i in range(k)]


def settings() -> Iterator[Setting]:
    """All that is simulated."""
    for k in (2, 5, 20):
        for recall in (0.5, 0.8, 0.95):
            yield labels(f"{k} groups of 3 to 10, recall {recall}", "recall_OFF", few(k), [recall] * k)
        yield labels(f"{k} groups of 3, recall .8", "recall_OFF", [3] * k, [0.8] * k)
        yield labels(f"{k} groups of 10, recall .5", "recall_OFF", [10] * k, [0.5] * k)
        yield labels(f"{k} groups of 3 and 300, recall .95", "recall_OFF", ([3, 300] * k)[:k], [0.95] * k)
        for low, high in ((0.4, 0.8), (0.1, 0.9)):
            for positives, size in (([3] * k, "3"), (few(k), "3 to 10"), ([10] * k, "10")):
                yield labels(
                    f"{k} groups of {size}, one {low}, else {high}", "recall_OFF", positives, [low] + [high] * (k - 1)
                )
        yield labels(f"{k} groups of 3 to 10, .3 to .9", "recall_OFF", few(k), np.linspace(0.3, 0.9, k).tolist())
        yield labels(f"{k} groups of 3 to 10, recall .8", "f1_OFF", few(k), [0.8] * k)
        yield labels(f"{k} groups of 3 to 10, one .3, else .8", "f1_OFF", few(k), [0.3] + [0.8] * (k - 1))
        yield labels(f"{k} groups of 7, recall .8", "f1_macro", [7] * k, [0.8] * k)
        yield labels(f"{k} groups of 3 to 10, one .3, else .8", "f1_macro", few(k), [0.3] + [0.8] * (k - 1))
        yield replies(f"{k} groups of 60, rate .1", [60] * k, [0.1] * k)
        yield replies(f"{k} groups of 60, one .2, else .05", [60] * k, [0.2] + [0.05] * (k - 1))
        yield scores(f"{k} groups of 3 to 10, shift 1.8", few(k), [1.8] * k)
        yield scores(f"{k} groups of 3 to 10, one 0.5, else 1.8", few(k), [0.5] + [1.8] * (k - 1))


def main(n: int = 1000) -> None:
    print(
        f"{'data':45} {'score':18} {'covered':>8} {'above':>7} {'below':>7} {'width':>7} {'to rest':>8} {'alarms':>7}"
        f"   ({n} simulations)"
    )
    for setting in settings():
        row = coverage(setting, n, seed=20260)
        print(
            f"{setting.name:45} {setting.key:18} {row.covered:8.3f} {row.above:7.3f} {row.below:7.3f} {row.width:7.3f} "
            f"{row.differences:8.3f} {row.false_alarms:7.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
