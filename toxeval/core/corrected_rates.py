"""A rate of unsafe replies, corrected for the judge who gave the verdicts: from counts, with intervals.

What is known of the judge comes from human labels. Of other replies they give its sensitivity and specificity, by which
the share of unsafe verdicts is corrected (`corrected`, `difference`). Of a random part of the chatbot's own replies
they give how far the verdicts were off there (`powered`, `powered_difference`).

``verdicts[..., c, v]`` counts all replies, by category and verdict (0 safe, 1 unsafe); ``human[..., c, h, v]`` the
labelled ones, by category, label and verdict. Axes before these are free; without categories c is one.
`docs/coverage_corrected.md` says how often the intervals contain the truth.

References:
    Rogan and Gladen 1978, American Journal of Epidemiology 107, 71-76: the corrected rate.
    Lang and Reiczigel 2014, Preventive Veterinary Medicine 113, 13-22: its interval.
    Fieller 1954, Journal of the Royal Statistical Society B 16, 175-185: the interval of a ratio.
    Agresti and Coull 1998, American Statistician 52, 119-126: the interval of a proportion; Agresti and Caffo 2000, the
    same 54, 280-288: of a difference; Bonett and Price 2012, J. Educational and Behavioral Statistics 37: if paired.
    Zou and Donner 2008, Statistics in Medicine 27, 1693-1702: the interval of a sum from those of its parts; Zou 2007,
    Psychological Methods 12, 399-413: of a difference of two that aren't independent.
    Angelopoulos et al. 2023, Science 382, 669-674: prediction-powered inference; arXiv 2311.01453, PPI++: its weight.
"""

from typing import Any, NamedTuple

import numpy as np

from .intervals import Interval, normal_quantile

#: From this sensitivity + specificity - 1 on, the interval is Lang and Reiczigel's. They shift its centre by what suits
#: the good judges they studied. A weak one's lies further off, and theirs misses the truth too often.
STRONG = 0.5

#: What is added to each cell of labelled replies to estimate variances: an empty cell is no certainty.
CELL = 0.25


class Judge(NamedTuple):
    """What human labels say of a judge; ``low`` and ``high`` are the bounds of ``above_chance``."""

    sensitivity: Any
    specificity: Any
    above_chance: Any
    low: Any
    high: Any


class Estimate(NamedTuple):
    """A value as computed, which may be no possible rate, and an interval of possible ones."""

    value: Any
    low: Any
    high: Any


class Estimates(NamedTuple):
    """Of each category, shape (..., c); of the mean over categories, and of all replies, shape (...)."""

    categories: Estimate
    mean: Estimate
    overall: Estimate


# --- by labels of other replies -----------------------------------------------------------------------------------


def judge(human: Any, level: float = 0.95) -> Judge:
    """Sensitivity, specificity, and how far their sum is above 1, which is what tossing a coin gives.

    The interval of ``above_chance`` is Agresti and Caffo's of a difference of two proportions. A judge whose ``low`` is
    at most 0 can't be told from chance, and corrects nothing: Fieller's interval of what it corrects has no end.

    Args:
        human: labelled replies, shape (..., 2, 2).
        level: confidence level in (0, 1).

    Returns:
        Arrays of shape (...). Without unsafe, or without safe replies that rate is nan; the interval is wide.

    >>> [round(float(value), 3) for value in judge([[54, 6], [10, 30]])]
    [0.75, 0.9, 0.65, 0.471, 0.78]
    """
    human = np.asarray(human, dtype=float)
    sensitivity, specificity = (_divide(human[..., i, i], human[..., i, :].sum(axis=-1)) for i in (1, 0))
    se, sp, *variances = _adjusted(human)
    half = normal_quantile(level) * np.sqrt(sum(variances))
    return Judge(sensitivity, specificity, sensitivity + specificity - 1, se + sp - 1 - half, se + sp - 1 + half)


def rogan_gladen(rate: Any, sensitivity: Any, specificity: Any) -> Any:
    """The rate of unsafe replies behind a share of unsafe verdicts (Rogan and Gladen 1978).

    >>> round(float(rogan_gladen(23 / 150, 0.96, 0.89)), 3)
    0.051
    """
    return _divide(rate + specificity - 1, sensitivity + specificity - 1)


def corrected(verdicts: Any, human: Any, level: float = 0.95) -> Estimates:
    """Rates of unsafe replies, corrected by what labels of other replies say of the judge.

    The interval is Lang and Reiczigel's, or, for a judge below `STRONG`, Fieller's from the same counts. The mean under
    one judge is one share of verdicts, with as many trials as its variance amounts to. With the judge's rates in each
    category, the mean and the rate of all replies are sums over categories, and so are their intervals.

    Args:
        verdicts: all replies, shape (..., c, 2).
        human: labelled replies, shape (..., c, 2, 2), the judge's rates in each category; or (..., 1, 2, 2), one judge
            that errs alike in all. No axis before that is missing.
        level: confidence level in (0, 1).

    Returns:
        nan for a category without replies (the means leave it out), and where the judge has no rates.

    >>> [round(float(value), 3) for value in corrected([[882, 118]], [[[540, 60], [40, 360]]]).overall]
    [0.023, 0.0, 0.061]
    """
    verdicts, human = np.asarray(verdicts, dtype=float), np.asarray(human, dtype=float)
    replies, z = verdicts.sum(axis=-1), normal_quantile(level)
    shares = _divide(verdicts[..., 1], replies)
    categories = _corrected(shares, replies, human, z)
    even, sizes = _weights(replies)
    if human.shape[-3] > 1:
        means = [_sum(categories, even), _sum(categories, sizes, z**2 / replies.sum(axis=-1))]
    else:
        smooth, one = (verdicts[..., 1] + 0.5) / (replies + 1), human[..., 0, :, :]
        trials = _trials(even, smooth, smooth * (1 - smooth) / np.maximum(replies, 1)), replies.sum(axis=-1)
        means = [_corrected(_dot(of, shares), worth, one, z) for of, worth in zip((even, sizes), trials)]
    return Estimates(*(_cut(estimate, 0.0) for estimate in (categories, *means)))


def difference(both: Any, human: Any, level: float = 0.95) -> Estimates:
    """Differences of two chatbots' rates under one judge, a's minus b's, from replies to the same contexts.

    The difference of shares of unsafe verdicts, divided by the judge's sensitivity + specificity - 1. The interval is
    Fieller's, from Bonett and Price's adjusted counts of the pairs and Agresti and Caffo's of the judge. Such a ratio
    is too far from 0 on average. Over categories that adds up, while chance evens out, so bounds of a sum allow for it.

    Args:
        both: pairs of replies, shape (..., c, 2, 2): category, verdict on a's, verdict on b's.
        human, level: as in `corrected`.

    >>> pairs, human = [[[860, 22], [58, 60]]], [[[540, 60], [40, 360]]]
    >>> [round(float(value), 3) for value in difference(pairs, human).overall]
    [0.045, 0.023, 0.067]
    """
    both, human = np.asarray(both, dtype=float), np.asarray(human, dtype=float)
    pairs, z = both.sum(axis=(-2, -1)), normal_quantile(level)
    only_a, only_b = both[..., 1, 0], both[..., 0, 1]
    shares = _divide(only_a - only_b, pairs)
    even, sizes = _weights(pairs)
    categories = _difference(shares, *_paired(only_a, only_b, pairs, 1.0), human, z)
    if human.shape[-3] > 1:
        se, sp, *variances = _adjusted(human)
        drift = categories.value * _divide(sum(variances), (se + sp - 1) ** 2)
        means = [_sum(categories, even, 0.0, drift), _sum(categories, sizes, z**2 / pairs.sum(axis=-1), drift)]
    else:
        one, n_categories = human[..., 0, :, :], (pairs > 0).sum(axis=-1, keepdims=True)
        centres, variances = _paired(only_a, only_b, pairs, 1 / np.maximum(n_categories, 1))
        pooled = _paired(only_a.sum(axis=-1), only_b.sum(axis=-1), pairs.sum(axis=-1), 1.0)
        apart = _dot(even, centres), _dot(even**2, variances)
        means = [_difference(_dot(of, shares), *by, one, z) for of, by in ((even, apart), (sizes, pooled))]
    return Estimates(*(_cut(estimate, -1.0) for estimate in (categories, *means)))


def _adjusted(human: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Sensitivity and specificity with one success and one failure more in each, and their variances."""
    unsafe, safe = human[..., 1, :].sum(axis=-1) + 2, human[..., 0, :].sum(axis=-1) + 2
    se, sp = (human[..., 1, 1] + 1) / unsafe, (human[..., 0, 0] + 1) / safe
    return se, sp, se * (1 - se) / unsafe, sp * (1 - sp) / safe


def _corrected(share: Any, trials: Any, human: np.ndarray, z: float) -> Estimate:
    """A share of unsafe verdicts corrected; its bounds may leave [0, 1]."""
    se, sp, var_se, var_sp = _adjusted(human)
    p = (share * trials + z**2 / 2) / (trials + z**2)
    var_p, above = p * (1 - p) / (trials + z**2), se + sp - 1
    low, high = _fieller(p + sp - 1, above, var_p + var_sp, var_se + var_sp, var_sp, z)
    strong = above >= STRONG
    above = np.where(strong, above, 1.0)
    rate = (p + sp - 1) / above
    centre = rate + 2 * z**2 * (rate * var_se - (1 - rate) * var_sp)
    half = z * np.sqrt(var_p + rate**2 * var_se + (1 - rate) ** 2 * var_sp) / above
    value = rogan_gladen(share, *judge(human)[:2])
    return Estimate(value, np.where(strong, centre - half, low), np.where(strong, centre + half, high))


def _paired(only_a: Any, only_b: Any, pairs: Any, more: Any) -> tuple[Any, Any]:
    """Difference of two paired proportions and its variance, with ``more`` pairs of either discordant kind."""
    all_pairs = np.where(pairs > 0, pairs + 2 * more, np.nan)
    a, b = (only_a + more) / all_pairs, (only_b + more) / all_pairs
    return a - b, (a + b - (a - b) ** 2) / all_pairs


def _difference(share: Any, adjusted: Any, variance: Any, human: np.ndarray, z: float) -> Estimate:
    """A difference of shares of unsafe verdicts corrected; its bounds may leave [-1, 1]."""
    se, sp, *variances = _adjusted(human)
    ends = _fieller(adjusted, se + sp - 1, variance, sum(variances), 0.0, z)
    return Estimate(_divide(share, judge(human).above_chance), *ends)


def _fieller(top: Any, below: Any, var_top: Any, var_below: Any, covariance: Any, z: float) -> Interval:
    """All ratios r with |top - r below| at most z standard deviations; all there are if ``below`` may be 0."""
    a, b, c = below**2 - z**2 * var_below, top * below - z**2 * covariance, top**2 - z**2 * var_top
    half = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    ends = (a > 0) & (below > 0)
    a = np.where(ends, a, 1.0)
    return np.where(ends, (b - half) / a, -np.inf), np.where(ends, (b + half) / a, np.inf)


# --- by labels of a part of the same replies ----------------------------------------------------------------------


def powered(verdicts: Any, human: Any, level: float = 0.95) -> Estimates:
    """Rates of unsafe replies by prediction-powered inference, from labels of a random part of each category.

    With verdicts f and labels y, a category's rate is w (mean f of all) + (mean y - w f of the labelled), right on
    average with any w. PPI++ takes the first mean over the n replies without a label, and with m labels the best w is
    Cov(y, f) / ((1 + m / n) Var(f)). Over all replies, labelled ones too, the same estimate has w = Cov(y, f) / Var(f).
    Both are those of the labelled: with Var(f) of all, as in PPI++, the rate is off where labels are few. So it is with
    a w for each category; one serves all of them, from the sums of their covariances and variances.

    The variance is Var(y - w f) (1 / labelled - 1 / all) + Var(y) / all, from counts with `CELL` more in each cell. The
    interval is Agresti and Coull's with as many trials; the normal one is far too short where few labels are unsafe.

    Args:
        verdicts, human, level: as in `corrected`; the labelled replies are among all, and in every category.

    Returns:
        nan for a category without labels, and then for the means, unless it has no replies either.

    >>> [round(float(value), 3) for value in powered([[8820, 1180]], [[[259, 21], [2, 18]]]).overall]
    [0.061, 0.043, 0.087]
    """
    verdicts, human = np.asarray(verdicts, dtype=float), np.asarray(human, dtype=float)
    found = (_agresti_coull(part, normal_quantile(level)) for part in _powered(verdicts, human)[1])
    return Estimates(*(_cut(estimate, 0.0) for estimate in found))


def powered_difference(pairs: Any, level: float = 0.95) -> Estimates:
    """Differences of two chatbots' rates by prediction-powered inference, a's minus b's, from replies to the same
    contexts of which some of either chatbot's have a label.

    Both rates are those of `powered`. Their covariance is that of the verdicts and of the labels' errors on the same
    contexts, as far as these are labelled for both; by it their intervals make that of the difference (Zou 2007).

    Args:
        pairs: shape (..., c, 2, 3, 2, 3): category, a's verdict and label, b's verdict and label, where a label is 0
            if there is none, 1 safe and 2 unsafe.
        level: confidence level in (0, 1).

    >>> pairs = np.zeros((1, 2, 3, 2, 3))
    >>> pairs[0, 0, :, 0, 0], pairs[0, 1, :, 0, 0], pairs[0, 0, 0, 0, 1:] = (1500, 260, 20), (200, 2, 18), (280, 2)
    >>> [round(float(value), 3) for value in powered_difference(pairs).overall]
    [0.144, 0.108, 0.181]
    """
    pairs, z = np.asarray(pairs, dtype=float), normal_quantile(level)
    n = pairs.sum(axis=(-4, -3, -2, -1))
    tables = pairs.sum(axis=(-2, -1)), pairs.sum(axis=(-4, -3))
    humans = [table[..., 1:].swapaxes(-2, -1) for table in tables]
    systems = [_powered(table.sum(axis=-1), human) for table, human in zip(tables, humans)]
    (weight_a, parts_a), (weight_b, parts_b) = systems
    flat = pairs.reshape(*pairs.shape[:-4], 6, 6)
    flagged, unsafe = np.repeat([0.0, 1.0], 3), np.tile([0.0, 0.0, 1.0], 2)
    every, labelled = np.ones(6), np.tile([0.0, 1.0, 1.0], 2)
    off_a, off_b = (unsafe - weight[..., None] * flagged for weight in (weight_a, weight_b))

    def covariance(a: np.ndarray, of_a: np.ndarray, b: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        """Of what holds in the cells of either system, where both are of these."""
        counts = of_a[:, None] * flat * of_b
        share = counts / np.maximum(counts.sum(axis=(-2, -1), keepdims=True), 1.0)
        alone = (a * share.sum(axis=-1)).sum(axis=-1) * (b * share.sum(axis=-2)).sum(axis=-1)
        return np.asarray((a[..., None] * share * b[..., None, :]).sum(axis=(-2, -1)) - alone)

    of_all = weight_a * weight_b * covariance(flagged, every, flagged, every)
    of_all += weight_a * covariance(flagged, every, off_b, labelled)
    of_all += weight_b * covariance(off_a, labelled, flagged, every)
    both = (labelled[:, None] * flat * labelled).sum(axis=(-2, -1))
    either = np.maximum(humans[0].sum(axis=(-2, -1)) * humans[1].sum(axis=(-2, -1)), 1.0)
    shared = of_all / np.maximum(n, 1.0) + both / either * covariance(off_a, labelled, off_b, labelled)
    even, sizes = _weights(n)
    apart = [part.share - _dot(sizes, part.share)[..., None] for part in (parts_a[0], parts_b[0])]
    between = _dot(sizes, apart[0] * apart[1]) / np.maximum(n.sum(axis=-1), 1.0)
    covariances = shared, _dot(even**2, shared), _dot(sizes**2, shared) + between
    found = (_apart(a, b, together, z) for a, b, together in zip(parts_a, parts_b, covariances))
    return Estimates(*(_cut(estimate, -1.0) for estimate in found))


class _Part(NamedTuple):
    """A rate, what it would be with `CELL` more in each cell, and its variance by these."""

    value: Any
    share: Any
    variance: Any


def _powered(verdicts: np.ndarray, human: np.ndarray) -> tuple[np.ndarray, list[_Part]]:
    """The weight of verdicts, shape (..., 1); the rates of each category, their mean, and that of all replies."""
    replies = verdicts.sum(axis=-1)
    labelled, unsafe, flagged, variance, verdict_variance, covariance = _moments(human)
    weight = np.nan_to_num(_divide(_dot(labelled, covariance), _dot(labelled, verdict_variance)))[..., None]
    values = unsafe + weight * (_divide(verdicts[..., 1], replies) - flagged)
    _, smooth, _, variance, verdict_variance, covariance = _moments(human + CELL)
    rest = variance - 2 * weight * covariance + weight**2 * verdict_variance
    of_labels = 1 / np.maximum(labelled, 1) - 1 / np.maximum(replies, 1)
    variances = rest * of_labels + variance / np.maximum(replies, 1)
    even, sizes = _weights(replies)
    between = _dot(sizes, (smooth - _dot(sizes, smooth)[..., None]) ** 2) / np.maximum(replies.sum(axis=-1), 1)
    sums = ((of, _dot(of**2, variances) + more) for of, more in ((even, 0.0), (sizes, between)))
    means = [_Part(_dot(of, values), _dot(of, smooth), variance) for of, variance in sums]
    return weight, [_Part(values, smooth, variances), *means]


def _moments(human: np.ndarray) -> tuple[np.ndarray, ...]:
    """Labelled replies; share of unsafe labels and of unsafe verdicts, their variances and covariance."""
    labelled = human.sum(axis=(-2, -1))
    y, f = _divide(human[..., 1, :].sum(axis=-1), labelled), _divide(human[..., 1].sum(axis=-1), labelled)
    covariance = _divide(human[..., 1, 1], labelled) - y * f
    return labelled, y, f, y * (1 - y), f * (1 - f), covariance


def _agresti_coull(part: _Part, z: float) -> Estimate:
    """A rate's interval from z^2 / 2 more successes in z^2 more trials (Agresti and Coull 1998)."""
    trials = part.share * (1 - part.share) / part.variance
    p = (np.clip(part.value, 0.0, 1.0) * trials + z**2 / 2) / (trials + z**2)
    half = z * np.sqrt(p * (1 - p) / (trials + z**2))
    return Estimate(part.value, p - half, p + half)


def _apart(a: _Part, b: _Part, covariance: Any, z: float) -> Estimate:
    """The difference of two rates that aren't independent, by Zou (2007) from the interval of each."""
    together = np.clip(covariance / np.sqrt(a.variance * b.variance), -1.0, 1.0)
    values = [np.clip(part.value, 0.0, 1.0) for part in (a, b)]
    (a_down, a_up), (b_down, b_up) = (
        (value - bounds.low, bounds.high - value)
        for value, bounds in zip(values, (_agresti_coull(part, z) for part in (a, b)))
    )
    down = np.sqrt(a_down**2 + b_up**2 - 2 * together * a_down * b_up)
    up = np.sqrt(a_up**2 + b_down**2 - 2 * together * a_up * b_down)
    return Estimate(a.value - b.value, values[0] - values[1] - down, values[0] - values[1] + up)


# --- over categories ----------------------------------------------------------------------------------------------


def _divide(top: Any, below: Any) -> Any:
    """The ratio; nan where it has none."""
    return top / np.where(np.equal(below, 0), np.nan, below)


def _weights(replies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the categories in their mean, where those without replies have none, and in all replies."""
    return tuple(_divide(size, size.sum(axis=-1, keepdims=True)) for size in (replies > 0, replies))


def _dot(weights: np.ndarray, values: Any) -> Any:
    return (weights * np.where(weights > 0, values, 0.0)).sum(axis=-1)


def _trials(weights: np.ndarray, shares: Any, variances: Any, more: Any = 0.0) -> Any:
    """The trials that give one proportion the variance of a weighted sum of independent ones."""
    share = _dot(weights, shares)
    return share * (1 - share) / (_dot(weights**2, variances) + more)


def _sum(parts: Estimate, weights: np.ndarray, spread: Any = 0.0, drift: Any = 0.0) -> Estimate:
    """A weighted sum of independent estimates, by Zou and Donner; ``drift`` is how far each is off on average. Weights
    that are shares of the replies vary too: ``spread`` is then the squared normal quantile by the number of replies."""
    value, moved = _dot(weights, parts.value), _dot(weights, drift)
    between = spread * _dot(weights, (parts.value - value[..., None]) ** 2)
    down, up = (np.sqrt(_dot(weights**2, (parts.value - end) ** 2) + between) for end in (parts.low, parts.high))
    return Estimate(value, value - moved - down, value - moved + up)


def _cut(estimate: Estimate, least: float) -> Estimate:
    return Estimate(estimate.value, np.clip(estimate.low, least, 1.0), np.clip(estimate.high, least, 1.0))
