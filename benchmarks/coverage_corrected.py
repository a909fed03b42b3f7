"""How often 95 % intervals of rates corrected for their judge contain the truth, and how far off the rates are.

Simulated verdicts of judges whose sensitivity and specificity are known, on replies whose true rates are known. Sets of
human labels that don't tell the judge from chance are refused, so they count in ``refused`` only. Prints a table: the
share of intervals that contain the truth, that lie above it and below it, their mean width, and by how many of its
standard deviations the mean and the median of the rate are off. The tables in `docs/coverage_corrected.md` are
made of it, and what stands above them says what they mean.

``python benchmarks/coverage_corrected.py [simulations]``
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

#: In `docs/coverage_corrected.md` the heading of what is made here; above it stands what it means.
HEADING = "## Simulated"

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
    """The tables of the file: how many cells meet the limits, and a line for each judge and number of labels."""
    heads = ["what", "judge", "labels", "refused", *(f"{rate:g}" for rate in RATES), "both limits are met"]
    cells = [f"| {' | '.join(heads)} |", "| --- | --- | --: | --: " + "| --- " * (len(RATES) + 1) + "|"]
    groups: dict[tuple[str, str, int], dict[float, list[Coverage]]] = {}
    for (name, setting), row in rows.items():
        of = (name, f"{setting.sensitivity:g}, {setting.specificity:g}", setting.labelled)
        groups.setdefault(of, {rate: [] for rate in RATES})[setting.rate].append(row)
    for (name, judge_of, labelled), by_rate in groups.items():
        refused = max(row.refused for several in by_rate.values() for row in several)
        line = [name, judge_of, f"{labelled:,}", f"{100 * refused:.1f} %"]
        if refused > 0.99:
            line += ["–"] * len(RATES) + ["refused"]
        else:
            met = [f"{rate:g}" for rate, several in by_rate.items() if all(map(meets, several))]
            line += [cell(several) for several in by_rate.values()]
            line.append({len(RATES): "at all", 0: "at none"}.get(len(met), f"at {', '.join(met)}"))
        cells.append(f"| {' | '.join(line)} |")
    counts = ["| what | cells | both limits are met | refused | not met |", "| --- " + "| --: " * 4 + "|"]
    for name in dict.fromkeys(name for name, _, _ in groups):
        found = [several for of, by_rate in groups.items() if of[0] == name for several in by_rate.values()]
        refused = sum(max(row.refused for row in several) > 0.99 for several in found)
        met = sum(all(row.refused <= 0.99 and meets(row) for row in several) for several in found)
        counts.append(f"| {name} | {len(found)} | {met} | {refused} | {len(found) - met - refused} |")
    parts = [HEADING, f"{times:,} simulations of each.", "\n".join(counts), "\n".join(cells)]
    return "\n\n".join(parts) + "\n"


def meets(row: Coverage) -> bool:
    """Whether both limits are met, as far as the numbers are printed."""
    return COVERED[0] <= round(row.covered, 3) <= COVERED[1] and abs(round(row.bias, 2)) < BIAS


def cell(several: list[Coverage]) -> str:
    """The coverage further from 95 % and the larger bias; bold if it is beyond its limit."""
    covered = max((round(row.covered, 3) for row in several), key=lambda share: abs(share - 0.95))
    bias = max((round(row.bias, 2) for row in several), key=abs)
    parts = (f"{covered:.3f}", COVERED[0] <= covered <= COVERED[1]), (f"{bias:+.2f}", abs(bias) < BIAS)
    return " ".join(text if good else f"**{text}**" for text, good in parts)


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
    file = Path(__file__).parents[1] / "docs" / "coverage_corrected.md"
    file.write_text(file.read_text().partition(HEADING)[0] + summary(rows, times))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
