"""Rates corrected for their judge, from the papers: one number at a time, and from rows where the papers have rows."""

import math
from collections.abc import Callable, Sequence

Z = 1.959963984540054  # of 95 %

Interval = tuple[float, float]


def rogan_gladen(verdicts: list[int], of_unsafe: list[int], of_safe: list[int]) -> float:
    """Rogan and Gladen 1978, from verdicts (1 unsafe) on the replies, on unsafe and on safe ones."""
    p = sum(verdicts) / len(verdicts)
    sensitivity = sum(of_unsafe) / len(of_unsafe)
    specificity = of_safe.count(0) / len(of_safe)
    return (p + specificity - 1) / (sensitivity + specificity - 1)


def lang_reiczigel(k: float, n: float, hits: float, unsafe: float, passes: float, safe: float) -> Interval:
    """Lang and Reiczigel 2014, equations 4, 6, 7, 16 and 17 (4 has (1 + P)^2 where it must be (1 - P)^2)."""
    n_, nse_, nsp_ = n + Z**2, unsafe + 2, safe + 2
    ap_, se_, sp_ = (k + Z**2 / 2) / n_, (hits + 1) / nse_, (passes + 1) / nsp_
    p_ = (ap_ + sp_ - 1) / (se_ + sp_ - 1)
    shift = 2 * Z**2 * (p_ * se_ * (1 - se_) / nse_ - (1 - p_) * sp_ * (1 - sp_) / nsp_)
    variance = (ap_ * (1 - ap_) / n_ + p_**2 * se_ * (1 - se_) / nse_ + (1 - p_) ** 2 * sp_ * (1 - sp_) / nsp_) / (
        se_ + sp_ - 1
    ) ** 2
    return p_ + shift - Z * math.sqrt(variance), p_ + shift + Z * math.sqrt(variance)


def all_rates_that_fit(k: float, n: float, hits: float, unsafe: float, passes: float, safe: float) -> Interval:
    """All rates r for which the verdicts expected of r are within Z deviations of those found, by halving."""
    p, var_p = _with(k, n, Z**2 / 2)
    se, var_se = _with(hits, unsafe, 1)
    sp, var_sp = _with(passes, safe, 1)

    def fits(r: float) -> bool:
        off = p - (r * se + (1 - r) * (1 - sp))
        return off**2 <= Z**2 * (var_p + r**2 * var_se + (1 - r) ** 2 * var_sp)

    return _ends((p + sp - 1) / (se + sp - 1), fits)


def all_differences_that_fit(
    only_a: float, only_b: float, n: float, hits: float, unsafe: float, passes: float, safe: float, more: float = 1
) -> Interval:
    """All d for which d (Se + Sp - 1) is within Z deviations of the difference of shares, by halving."""
    a, b = (only_a + more) / (n + 2 * more), (only_b + more) / (n + 2 * more)
    variance = (a + b - (a - b) ** 2) / (n + 2 * more)
    return differences_near(a - b, variance, hits, unsafe, passes, safe)


def differences_near(
    difference: float, variance: float, hits: float, unsafe: float, passes: float, safe: float
) -> Interval:
    se, var_se = _with(hits, unsafe, 1)
    sp, var_sp = _with(passes, safe, 1)
    return _ends(
        difference / (se + sp - 1),
        lambda d: (difference - d * (se + sp - 1)) ** 2 <= Z**2 * (variance + d**2 * (var_se + var_sp)),
    )


def above_chance(hits: float, unsafe: float, passes: float, safe: float) -> Interval:
    """Agresti and Caffo 2000, of sensitivity minus the share of safe replies called unsafe."""
    se, var_se = _with(hits, unsafe, 1)
    false, var_false = _with(safe - passes, safe, 1)
    half = Z * math.sqrt(var_se + var_false)
    return se - false - half, se - false + half


def sum_of(values: list[float], intervals: list[Interval], weights: list[float]) -> Interval:
    """Zou and Donner 2008."""
    value = sum(w * v for w, v in zip(weights, values))
    down = math.sqrt(sum((w * (v - low)) ** 2 for w, v, (low, _) in zip(weights, values, intervals)))
    up = math.sqrt(sum((w * (high - v)) ** 2 for w, v, (_, high) in zip(weights, values, intervals)))
    return value - down, value + up


def ppi_plus_plus(labels: list[int], verdicts: list[int], others: list[int]) -> float:
    """PPI++ for a mean: verdicts on the labelled replies and on the others, and the tuned weight."""
    m, n = len(labels), len(others)
    weight = covariance(labels, verdicts) / ((1 + m / n) * covariance(verdicts, verdicts))
    rectifier = sum(y - weight * f for y, f in zip(labels, verdicts)) / m
    return weight * sum(others) / n + rectifier


def powered_variance(
    labels: list[float], verdicts: list[float], counts: list[float], w: float, m: int, n: int
) -> float:
    """Of mean of y + w (mean of f over n replies - mean of f) over m of them, moments being those of weighted rows."""
    total = sum(counts)
    y, f = (sum(c * v for c, v in zip(counts, values)) / total for values in (labels, verdicts))
    errors = [(a - y) - w * (b - f) for a, b in zip(labels, verdicts)]
    residual = sum(c * e**2 for c, e in zip(counts, errors)) / total
    return residual * (1 / m - 1 / n) + y * (1 - y) / n


def powered_covariance(rows: list[tuple[int, int | None, int, int | None]], w_a: float, w_b: float) -> float:
    """Of two rates from the same contexts: verdict and label (None without) of a's reply and of b's."""
    n = len(rows)
    of_a = [(y - w_a * f, g) for f, y, g, _ in rows if y is not None]
    of_b = [(f, y - w_b * g) for f, _, g, y in rows if y is not None]
    of_both = [(y - w_a * f, z - w_b * g) for f, y, g, z in rows if y is not None and z is not None]
    total = w_a * w_b * _pairs([(f, g) for f, _, g, _ in rows]) / n
    total += (w_a * _pairs(of_b) + w_b * _pairs(of_a)) / n
    return total + len(of_both) / (len(of_a) * len(of_b)) * _pairs(of_both)


def _pairs(pairs: list[tuple[float, float]]) -> float:
    return covariance([a for a, _ in pairs], [b for _, b in pairs]) if pairs else 0.0


def apart(a: float, of_a: Interval, b: float, of_b: Interval, correlation: float) -> Interval:
    """Zou 2007, of a - b."""
    down = (a - of_a[0]) ** 2 + (of_b[1] - b) ** 2 - 2 * correlation * (a - of_a[0]) * (of_b[1] - b)
    up = (of_a[1] - a) ** 2 + (b - of_b[0]) ** 2 - 2 * correlation * (of_a[1] - a) * (b - of_b[0])
    return a - b - math.sqrt(down), a - b + math.sqrt(up)


def agresti_coull(value: float, trials: float) -> Interval:
    low, high = agresti_coull_uncut(value, trials)
    return max(0.0, low), min(1.0, high)


def agresti_coull_uncut(value: float, trials: float) -> Interval:
    p, variance = _with(value * trials, trials, Z**2 / 2)
    return p - Z * math.sqrt(variance), p + Z * math.sqrt(variance)


def covariance(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b)) / len(a) - sum(a) / len(a) * sum(b) / len(b)


def _with(successes: float, trials: float, more: float) -> tuple[float, float]:
    """A proportion with ``more`` successes and as many failures, and its variance."""
    p = (successes + more) / (trials + 2 * more)
    return p, p * (1 - p) / (trials + 2 * more)


def _ends(inside: float, fits: Callable[[float], bool]) -> Interval:
    ends = []
    for way in (-1.0, 1.0):
        near, far = inside, inside + way * 1e6
        if fits(far):
            ends.append(way * math.inf)
            continue
        for _ in range(200):
            middle = (near + far) / 2
            near, far = (middle, far) if fits(middle) else (near, middle)
        ends.append(near)
    return ends[0], ends[1]
