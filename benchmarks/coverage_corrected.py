"""How often 95 % intervals of rates corrected for their judge contain the truth, and how far off the rates are.

Simulated verdicts of judges whose sensitivity and specificity are known, on replies whose true rates are known. Sets of
human labels that don't tell the judge from chance are refused, so they count in ``refused`` only. Prints a table: the
share of intervals that contain the truth, that lie above it and below it, their mean width, and by how many of its
standard deviations the mean and the median of the rate are off. A summary of it is written to `coverage_corrected.md`.

``python benchmarks/coverage_corrected.py [simulations]``

What it shows (20,000 simulations; 95 % intervals; sensitivity and specificity .9 and .9, .7 and .95, .6 and .6):

* Labels of other replies: 94.6 to 97.4 % of the intervals contain the truth, 94.1 to 97.4 % of those of means under one
  judge. With 100 labels the judge of .6 and .6 is refused in 48 % of the sets. The others overrate it: low rates come
  out half a standard deviation too high, differences up to 1.4 too small, though the intervals still hold. Elsewhere
  rates are off by .11 of one at most, and differences, ratios as they are, by .14.
* A judge in each category needs more labels: the same judge is refused in 71 % of the sets with 1,000. Where intervals
  are off they are too wide (96 to 100 % with 100 labels); rates are off by up to .22 where few sets are refused.
* Labels of the same replies: 94.2 to 98.1 %, and for the mean of rates of 1 % 98.6 % with 100 labels of which one is
  unsafe; rates are right. Each category alone, with about 20 labels: 93.9 % at least.
* Lang and Reiczigel's interval, used for weak judges too: 89.2 to 98.7 % with the judge of .6 and .6 and 100 labels.
"""

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toxeval.core import corrected_rates
from toxeval.core.corrected_rates import Estimate, corrected, difference, judge, powered, powered_difference

JUDGES = (0.9, 0.9), (0.7, 0.95), (0.6, 0.6)
RATES = 0.01, 0.05, 0.2, 0.5
LABELLED = 100, 300, 1000
REPLIES = 1000, 10_000

#: The limits: shares of intervals that contain the truth, and standard deviations that the rate may be off.
COVERED, BIAS = (0.93, 0.98), 0.1

#: What the file says above its table.
ABOUT = """Coverage of 95 % intervals of rates corrected for their judge: `python benchmarks/coverage_corrected.py`.

Judge: sensitivity, specificity. Under each true rate stands the share of intervals that contain it, with 1,000 or with
10,000 replies, whichever is further from .95; of several categories alone, the one that is covered least. Refused: the
largest share of sets of labels that don't tell the judge from chance; they count nowhere else, and if over 99 % are,
the others are too few to count (–). Bias: the largest, in standard deviations of the rate.

The aim is a coverage from .93 to .98 at every rate and a bias below .1; the last column says where both are met. Where
they aren't, it is for one of these reasons:

- A judge of (.6, .6) with 100 labels: half of the sets are refused, and those that are left overrate the judge by luck,
  so the rate is corrected too little. With 1,000 none is refused, and the bias of the quotient is at the limit.
- The judge's rates by category: each rests on a fifth of the labels or less. Intervals are wider than they need be, and
  the bias is that of small counts; a weak judge is refused.
- Two chatbots: the bias of the quotient is divided by a smaller standard deviation.
- Labels of 100 of the same replies: there are too few unsafe ones at a rate of .01; intervals are a little wide."""

#: Of DiaSafety's test split: how much of it is in each category, and how much is unsafe.
SIZES = np.array([0.117, 0.176, 0.237, 0.268, 0.202])
UNSAFE = 0.46
#: The rates of the five categories, by their mean.
SPREAD = np.array([0.2, 0.5, 1.0, 1.3, 2.0])
#: How much more often than on average the judge calls a reply of each category unsafe, safe ones as well as unsafe.
STRICT = np.array([-0.05, -0.02, 0.0, 0.03, 0.04])


class Setting(NamedTuple):
    """What is simulated: ``rate`` is the mean of the true rates."""

    sensitivity: float
    specificity: float
    labelled: int
    replies: int
    rate: float


class Coverage(NamedTuple):
    """Shares of the simulations that aren't refused, but for ``refused``."""

    refused: float
    covered: float
    too_high: float  # the interval lies above the truth
    too_low: float
    width: float
    bias: float
    median_bias: float


def settings() -> Iterator[Setting]:
    for (sensitivity, specificity), labelled, replies, rate in itertools.product(JUDGES, LABELLED, REPLIES, RATES):
        yield Setting(sensitivity, specificity, labelled, replies, rate)


# --- data whose true rates are known ------------------------------------------------------------------------------


def rates_of(mean: float, n_categories: int) -> np.ndarray:
    """The true rates of the categories."""
    if n_categories == 1:
        return np.array([mean])
    return mean * SPREAD if mean < 0.5 else mean + (SPREAD - 1) / 5


def tables(unsafe: np.ndarray, sensitivity: Any, specificity: Any) -> np.ndarray:
    """Probabilities of label and verdict in each category, shape (c, 2, 2)."""
    safe = np.stack([(1 - unsafe) * specificity, (1 - unsafe) * (1 - specificity)], axis=-1)
    return np.stack([safe, np.stack([unsafe * (1 - sensitivity), unsafe * sensitivity], axis=-1)], axis=-2)


def drawn(rng: np.random.Generator, n: int, chances: np.ndarray, sizes: np.ndarray, times: int) -> np.ndarray:
    """``times`` samples of n replies: counts of shape (times, *chances.shape)."""
    cells = (chances * sizes.reshape(-1, *[1] * (chances.ndim - 1))).ravel()
    return rng.multinomial(n, cells / cells.sum(), times).reshape(times, *chances.shape)


def strictness(n_categories: int, varies: bool) -> np.ndarray:
    return STRICT if varies and n_categories > 1 else np.zeros(n_categories)


def sizes_of(n_categories: int) -> np.ndarray:
    return SIZES if n_categories > 1 else np.ones(1)


# --- what is measured: each gives the estimates, the truth, and the sets of labels that are refused -----------------

Measured = tuple[Estimate, Any, np.ndarray]
Measure = Callable[[Setting, int, np.random.Generator], Measured]


def by_other_replies(n_categories: int, by_category: bool, which: str) -> Measure:
    """Labels of other replies, 46 % of which are unsafe."""

    def measure(setting: Setting, times: int, rng: np.random.Generator) -> Measured:
        shift, sizes = strictness(n_categories, by_category), sizes_of(n_categories)
        sensitivity, specificity = setting.sensitivity + shift, setting.specificity - shift
        rates = rates_of(setting.rate, n_categories)
        verdicts = drawn(rng, setting.replies, tables(rates, sensitivity, specificity), sizes, times).sum(axis=-2)
        known = tables(np.full(n_categories, UNSAFE), sensitivity, specificity)
        human = drawn(rng, setting.labelled, known, sizes, times)
        human = human if by_category else human.sum(axis=-3, keepdims=True)
        truth = {"categories": rates, "mean": rates.mean(), "overall": rates @ sizes / sizes.sum()}[which]
        return getattr(corrected(verdicts, human), which), truth, (judge(human).low <= 0).any(axis=-1)

    return measure


def of_two_chatbots(n_categories: int, by_category: bool) -> Measure:
    """The second chatbot is unsafe half as often; verdicts of two replies to one context are alike (correlation .3)."""

    def measure(setting: Setting, times: int, rng: np.random.Generator) -> Measured:
        shift, sizes = strictness(n_categories, by_category), sizes_of(n_categories)
        sensitivity, specificity = setting.sensitivity + shift, setting.specificity - shift
        rates = rates_of(setting.rate, n_categories)
        a, b = (tables(rate, sensitivity, specificity)[..., 1].sum(axis=-1) for rate in (rates, rates / 2))
        both = a * b + 0.3 * np.sqrt(a * (1 - a) * b * (1 - b))
        pairs = np.stack([np.stack([1 - a - b + both, b - both], -1), np.stack([a - both, both], -1)], axis=-2)
        known = tables(np.full(n_categories, UNSAFE), sensitivity, specificity)
        human = drawn(rng, setting.labelled, known, sizes, times)
        human = human if by_category else human.sum(axis=-3, keepdims=True)
        found = difference(drawn(rng, setting.replies, pairs, sizes, times), human).mean
        return found, rates.mean() / 2, (judge(human).low <= 0).any(axis=-1)

    return measure


def by_the_same_replies(n_categories: int, which: str) -> Measure:
    """Labels of a random part of the replies; samples in which a category has none are left out."""

    def measure(setting: Setting, times: int, rng: np.random.Generator) -> Measured:
        shift, sizes = strictness(n_categories, True), sizes_of(n_categories)
        rates = rates_of(setting.rate, n_categories)
        chances = tables(rates, setting.sensitivity + shift, setting.specificity - shift)
        human = drawn(rng, setting.labelled, chances, sizes, times)
        others = drawn(rng, setting.replies - setting.labelled, chances, sizes, times)
        found = powered((human + others).sum(axis=-2), human)
        truth = {"categories": rates, "mean": rates.mean(), "overall": rates @ sizes / sizes.sum()}[which]
        return getattr(found, which), truth, (human.sum(axis=(-2, -1)) == 0).any(axis=-1)

    return measure


def of_two_by_the_same_replies(n_categories: int, which: str) -> Measure:
    """As `of_two_chatbots`, with labels of some of each one's replies, half of them to the same contexts."""

    def measure(setting: Setting, times: int, rng: np.random.Generator) -> Measured:
        shift, sizes = strictness(n_categories, True), sizes_of(n_categories)
        rates = rates_of(setting.rate, n_categories)
        a, b = rates, rates / 2
        both = a * b + 0.3 * np.sqrt(a * (1 - a) * b * (1 - b))
        labels = np.stack([np.stack([1 - a - b + both, b - both], -1), np.stack([a - both, both], -1)], axis=-2)
        flagged = np.stack([1 - (setting.specificity - shift), setting.sensitivity + shift], axis=-1)
        verdicts = np.stack([1 - flagged, flagged], axis=-1)  # by category, label and verdict
        chances = np.einsum("cij,ciu,cjv->cuivj", labels, verdicts, verdicts)
        alone = min(setting.labelled // 2, setting.replies - setting.labelled)
        parts = setting.labelled - alone, alone, alone, setting.replies - setting.labelled - alone
        pairs = np.zeros((times, n_categories, 2, 3, 2, 3))
        for n, a_known, b_known in zip(parts, (True, True, False, False), (True, False, True, False)):
            cells = drawn(rng, n, chances, sizes, times)
            cells = cells if a_known else cells.sum(axis=-3, keepdims=True)
            cells = cells if b_known else cells.sum(axis=-1, keepdims=True)
            pairs[..., slice(1, 3) if a_known else slice(1), :, slice(1, 3) if b_known else slice(1)] += cells
        found = powered_difference(pairs)
        truth = {"categories": rates / 2, "mean": rates.mean() / 2, "overall": rates @ sizes / sizes.sum() / 2}[which]
        lacking = [pairs[..., 1:, :, :].sum(axis=(-4, -3, -2, -1)), pairs[..., 1:].sum(axis=(-4, -3, -2, -1))]
        return getattr(found, which), truth, (np.minimum(*lacking) == 0).any(axis=-1)

    return measure


MEASURES: dict[str, Measure] = {
    "labels of other replies": by_other_replies(1, False, "overall"),
    "other replies, mean, one judge": by_other_replies(5, False, "mean"),
    "other replies, mean, judge by category": by_other_replies(5, True, "mean"),
    "other replies, all, judge by category": by_other_replies(5, True, "overall"),
    "two chatbots": of_two_chatbots(1, False),
    "two chatbots, mean, one judge": of_two_chatbots(5, False),
    "two chatbots, mean, judge by category": of_two_chatbots(5, True),
    "labels of the same replies": by_the_same_replies(1, "overall"),
    "same replies, mean": by_the_same_replies(5, "mean"),
    "same replies, all": by_the_same_replies(5, "overall"),
    "same replies, a category": by_the_same_replies(5, "categories"),
    "two chatbots, same replies": of_two_by_the_same_replies(1, "overall"),
    "two chatbots, same replies, mean": of_two_by_the_same_replies(5, "mean"),
    "two chatbots, same replies, all": of_two_by_the_same_replies(5, "overall"),
}


def coverage(measure: Measure, setting: Setting, times: int, *, seed: int) -> Coverage:
    """Simulate ``times`` sets of replies and labels; of several categories the one that is covered least."""
    found, truth, refused = measure(setting, times, np.random.default_rng(seed))
    value, low, high = (np.asarray(part)[~refused] for part in found)
    if not len(value):
        return Coverage(1.0, *[float("nan")] * 6)
    above, below = (low > truth + 1e-12).mean(axis=0), (high < truth - 1e-12).mean(axis=0)
    worst = np.argmax(above + below) if np.ndim(truth) else ()
    deviation = value.std(axis=0)
    columns = (
        1 - above - below,
        above,
        below,
        (high - low).mean(axis=0),
        (value.mean(axis=0) - truth) / deviation,
        (np.median(value, axis=0) - truth) / deviation,
    )
    return Coverage(float(refused.mean()), *(float(np.asarray(column)[worst]) for column in columns))


def published(setting: Setting, times: int) -> tuple[Coverage, Coverage]:
    """Lang and Reiczigel's interval for every judge, and the one that is used."""
    measure, strong = MEASURES["labels of other replies"], corrected_rates.STRONG
    used = coverage(measure, setting, times, seed=20260)
    try:
        corrected_rates.STRONG = -2.0
        with np.errstate(divide="ignore", invalid="ignore"):  # where there is no telling the judge from chance
            return coverage(measure, setting, times, seed=20260), used
    finally:
        corrected_rates.STRONG = strong


def summary(rows: Mapping[tuple[str, Setting], Coverage], times: int) -> str:
    """The table of the file: by judge and labels, of both numbers of replies the coverage further from 95 %."""
    cells = [
        f"| {' | '.join(['what', 'judge', 'labels', 'refused', *(f'{rate:g}' for rate in RATES), 'bias', 'met'])} |"
    ]
    cells.append("| --- | --- " + "| --: " * (len(RATES) + 3) + "| --- |")
    groups: dict[tuple[str, str, int], list[tuple[Setting, Coverage]]] = {}
    for (name, setting), row in rows.items():
        judge_of = f"{setting.sensitivity:g}, {setting.specificity:g}"
        groups.setdefault((name, judge_of, setting.labelled), []).append((setting, row))
    for (name, judge_of, labelled), group in groups.items():
        covered = [
            max((row.covered for setting, row in group if setting.rate == rate), key=lambda share: abs(share - 0.95))
            for rate in RATES
        ]
        refused = max(row.refused for _, row in group)
        bias = max((row.bias for _, row in group), key=abs)
        met = all(COVERED[0] <= round(share, 3) <= COVERED[1] for share in covered) and abs(round(bias, 2)) < BIAS
        numbers = [f"{refused:.3f}", *(f"{share:.3f}" for share in covered), f"{bias:+.2f}", "yes" if met else "no"]
        if refused > 0.99:
            numbers[1:] = ["–"] * (len(RATES) + 2)
        cells.append(f"| {' | '.join([name, judge_of, f'{labelled:,}', *numbers])} |")
    return f"{ABOUT}\n\n{times:,} simulations.\n\n" + "\n".join(cells) + "\n"


def main(times: int = 20_000) -> None:
    line = "{:39} {:5} {:5} {:6} {:7} {:6}" + " {:>8}" * 7
    print(f"{times} simulations")
    print(line.format("what", "sens.", "spec.", "labels", "replies", "rate", *Coverage._fields))
    rows = {}
    for name, setting in itertools.product([*MEASURES, "Lang and Reiczigel's for every judge"], settings()):
        measure = MEASURES.get(name)
        row = coverage(measure, setting, times, seed=20260) if measure else published(setting, times)[0]
        print(line.format(name, *setting, *(f"{value:.3f}" for value in row)), flush=True)
        rows[name, setting] = row
    (Path(__file__).parent / "coverage_corrected.md").write_text(summary(rows, times))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
