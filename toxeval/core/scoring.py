"""The arithmetic under every metric: confusion counts, and scores with what is known of each."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

#: Rows counted at a time: the block and its codes stay in the processor's cache, and memory stays constant.
BLOCK = 1 << 16


# --- counts -------------------------------------------------------------------------------------------------------


class By(NamedTuple):
    """Which group each row is in, where rows of many groups are counted or scored at once.

    Attributes:
        ids: whole numbers from 0, shape (n,).
        n: how many groups there are.
    """

    ids: np.ndarray
    n: int


def count_codes(n_codes: int, *factors: tuple[np.ndarray, int], by: By | None = None) -> np.ndarray:
    """How often each combination of ids occurs, in one pass over blocks of rows.

    Args:
        n_codes: the product of all sizes.
        factors: pairs (int8 ids of shape (n,), how many different ids there are), the slowest varying first.
        by: counts each group by itself.

    Returns:
        int64 array of shape (n_codes,), or (by.n, n_codes).
    """
    if by is not None:
        return count_codes(by.n * n_codes, by, *factors).reshape(by.n, n_codes)
    kind, block = np.int8 if n_codes <= 127 else np.int64, max(BLOCK, n_codes)
    total = np.zeros(n_codes, dtype=np.int64)
    for start in range(0, len(factors[0][0]), block):
        codes: np.ndarray = factors[0][0][start : start + block].astype(kind)
        for ids, size in factors[1:]:
            codes *= size
            codes += ids[start : start + block]
        total += np.bincount(codes, minlength=n_codes)
    return total


def confusion_matrix(
    references: np.ndarray,
    predictions: np.ndarray,
    n_labels: int,
    multiplicity: np.ndarray | None = None,
    *,
    invalid: bool = False,
    by: By | None = None,
) -> np.ndarray:
    """int64 array of shape (n_labels, n_labels): rows are references, columns predictions, as in scikit-learn.

    Args:
        references, predictions: int8 ids of shape (n,).
        n_labels: how many labels there are.
        multiplicity: how many rows each entry stands for, if not one.
        invalid: adds a last column for predictions that are no labels, whatever id beyond the labels' they have.
        by: adds a first axis of groups.

    >>> confusion_matrix(np.array([0, 1, 1], np.int8), np.array([0, 0, 1], np.int8), 2)
    array([[1, 0],
           [1, 1]])
    """
    width, n = n_labels + invalid, 1 if by is None else by.n
    if invalid:
        predictions = np.minimum(predictions, np.int8(n_labels))
    if multiplicity is None:
        codes = count_codes(n_labels * width, (references, n_labels), (predictions, width), by=by)
    else:  # float64 holds whole numbers up to 2^53
        group = 0 if by is None else by.ids.astype(np.int64) * n_labels
        combined = (group + references.astype(np.int64)) * width + predictions
        codes = np.bincount(combined, multiplicity, minlength=n * n_labels * width).astype(np.int64)
    return codes.reshape((n_labels, width) if by is None else (n, n_labels, width))


# --- scores -------------------------------------------------------------------------------------------------------


def ratio(numerator: Any, denominator: Any, undefined: float) -> Any:
    """numerator / denominator, and ``undefined`` where the denominator is 0. Broadcasts; scalars give a float."""
    if getattr(numerator, "ndim", 0) == getattr(denominator, "ndim", 0) == 0:  # np.ndim takes as long as the division
        return float(numerator) / float(denominator) if denominator else undefined
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.true_divide(numerator, denominator)
    missing = np.equal(denominator, 0)
    return np.where(missing, undefined, quotient) if missing.any() else quotient


def nonzero(values: Any) -> bool:
    """Whether no value is 0; np.all takes as long for a number as for a thousand."""
    return bool(values.all() if isinstance(values, np.ndarray) else values)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) of float64 logits, without overflow on either side.

    A decision from logits is ``sigmoid(logits) > threshold``: what the probabilities themselves would give.
    """
    odds = np.exp(-np.abs(logits))  # at most 1
    probabilities: np.ndarray = np.where(logits >= 0, 1.0, odds) / (1.0 + odds)
    return probabilities


class Scores:
    """The scores of one state while they are computed, and what else is known of each.

    A value is a number, or, when ``score`` gets counts with a leading axis of resamples, an array over them: the same
    formulas serve both.

    Attributes:
        values: key -> number or array.
        undefined: key -> why it has no value (zero denominator, one class only).
        proportions: key -> (successes, trials).
        f1_counts: key -> (true positives, false positives plus false negatives, rows that are both).
        averages: key -> (the keys averaged, their weights).
        areas: key -> (positives, negatives) of an area under a curve; negatives None if it isn't the ROC curve's.
        reasons: key -> reason -> whether that is why an area has no value, or where.
        ranges: key -> (low, high, trials): between which values it lies, and how many trials say so; where it isn't
            here, between 0 and 1, and the rows.
        notes: keys of numbers that are no scores, such as counts and thresholds.
    """

    def __init__(self, zero_division: float = float("nan")) -> None:
        self.zero_division = float(zero_division)
        self.values: dict[str, Any] = {}
        self.undefined: dict[str, str] = {}
        self.proportions: dict[str, tuple[Any, Any]] = {}
        self.f1_counts: dict[str, tuple[Any, Any, Any]] = {}
        self.averages: dict[str, tuple[Sequence[str], Any]] = {}
        self.areas: dict[str, tuple[Any, Any]] = {}
        self.reasons: dict[str, Mapping[str, Any]] = {}
        self.ranges: dict[str, tuple[Any, Any, Any]] = {}
        self.notes: set[str] = set()

    def put(self, key: str, value: Any, undefined: str = "") -> None:
        """Any score; ``undefined`` says why it is none."""
        self.values[key] = value
        if undefined:
            self.undefined[key] = undefined

    def note(self, key: str, value: Any, undefined: str = "") -> None:
        """A number that is no score and gets no interval: a count, a threshold."""
        self.put(key, value, undefined)
        self.notes.add(key)

    def within(self, key: str, value: Any, low: Any, high: Any, trials: Any, undefined: str = "") -> None:
        """A score between ``low`` and ``high``, of so many trials, whose interval rests on resamples."""
        self.put(key, value, undefined)
        self.ranges[key] = low, high, trials

    def forget_counts(self, key: str) -> None:
        """Rest the interval of a proportion or an F1 on resamples: there is more to it than its counts."""
        counts = self.proportions if key in self.proportions else self.f1_counts
        first, second = counts.pop(key)[:2]
        self.ranges[key] = 0.0, 1.0, second if counts is self.proportions else first + second

    def area(self, key: str, value: Any, reasons: Mapping[str, Any], n_positives: Any, n_negatives: Any = None) -> None:
        """An area under a curve: with ``n_negatives`` the ROC curve; undefined for the first of the ``reasons`` that
        is true, or true anywhere."""
        why = (why for why, lacking in reasons.items() if (lacking is not False and np.any(lacking)))
        self.put(key, value, next(why, ""))
        self.areas[key], self.reasons[key] = (n_positives, n_negatives), reasons

    def proportion(self, key: str, successes: Any, trials: Any, why: str, undefined: float | None = None) -> None:
        """successes / trials; without trials ``undefined`` (default: zero_division), for the reason ``why``."""
        missing = self.zero_division if undefined is None else undefined
        self.put(key, ratio(successes, trials, missing), "" if nonzero(trials) else f"{why}, set to {missing}")
        self.proportions[key] = (successes, trials)

    def f1(self, key: str, tp: Any, fp: Any, fn: Any, why: str, crossed: Any = 0) -> None:
        """F1 = 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall.

        ``crossed``: how many rows are both among FP and FN, in a micro F1.
        """
        whole = 2 * tp + fp + fn
        missing = self.zero_division
        self.put(key, ratio(2 * tp, whole, missing), "" if nonzero(whole) else f"{why}, set to {missing}")
        self.f1_counts[key] = (tp, fp + fn, crossed)

    def mean(self, key: str, keys: Sequence[str], weights: Sequence[Any] | None = None) -> None:
        """The mean of other scores, each weighing 1 or its weight; nan ones are left out, and where only weights of 0
        are left they count alike, as scikit-learn does."""
        values = np.stack([np.asarray(self.values[k], dtype=float) for k in keys])
        weight = np.ones_like(values) if weights is None else np.stack([np.asarray(w, dtype=float) for w in weights])
        defined = ~np.isnan(values)
        weight = np.where(defined, weight, 0.0)
        weight = np.where(weight.sum(axis=0) > 0, weight, defined)
        total = weight.sum(axis=0)
        mean = ratio((np.nan_to_num(values) * weight).sum(axis=0), total, float("nan"))
        self.put(key, mean, "" if nonzero(total) else "no defined class to average, set to nan")
        self.averages[key] = keys, np.ones(len(keys)) if weights is None else weights

    def lacking(self, key: str) -> Mapping[str, Any]:
        """Why an undefined score has no value of its own: reason -> whether it is that; an array where values are."""
        if key in self.reasons:
            return self.reasons[key]
        if key in self.proportions:
            return {self.undefined[key]: np.equal(self.proportions[key][1], 0)}
        if key in self.f1_counts:
            tp, errors, _ = self.f1_counts[key]
            return {self.undefined[key]: np.equal(tp + errors, 0)}
        return {self.undefined[key]: np.isnan(self.values[key])}

    def as_dict(self, headlines: Sequence[str] = ()) -> dict[str, Any]:
        """Plain Python numbers; the first of ``headlines`` that is there leads."""
        return {key: np.asarray(value).item() for key, value in self._ordered(headlines).items()}

    def as_dicts(self, n: int, headlines: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The same for each of the n states on a leading axis."""
        ordered = self._ordered(headlines)
        columns = [np.broadcast_to(value, n).tolist() for value in ordered.values()]
        return [dict(zip(ordered, row)) for row in zip(*columns)]

    def _ordered(self, headlines: Sequence[str]) -> dict[str, Any]:
        first = [key for key in headlines if key in self.values][:1]
        return {key: self.values[key] for key in first} | self.values


def put_class_scores(
    scores: Scores,
    confusion: np.ndarray,
    labels: Sequence[str],
    index: int,
    *,
    prefix: str = "",
    suffix: str = "",
    only: Sequence[str] = ("precision", "recall", "f1"),
) -> None:
    """Precision, recall, F1 and support of one class against the rest.

    Args:
        scores: gets ``{prefix}precision_{label}{suffix}`` and so on.
        confusion: counts of shape (..., k, k), rows references, columns predictions; a further column has the invalid
            predictions.
        labels: the names of the k classes.
        index: the class.
        only: which of precision, recall, f1 and support are wanted.
    """
    tp = confusion[..., index, index]
    predicted, support = confusion[..., :, index].sum(axis=-1), confusion[..., index, :].sum(axis=-1)
    label = labels[index]
    if "precision" in only:
        scores.proportion(f"{prefix}precision_{label}{suffix}", tp, predicted, f"no prediction is {label}")
    if "recall" in only:
        scores.proportion(f"{prefix}recall_{label}{suffix}", tp, support, f"no reference is {label}")
    if "f1" in only:
        why = f"neither a prediction nor a reference is {label}"
        scores.f1(f"{prefix}f1_{label}{suffix}", tp, predicted - tp, support - tp, why)
    if "support" in only:
        scores.note(f"{prefix}support_{label}{suffix}", support)


class UndefinedMetricWarning(UserWarning):
    """As `sklearn.exceptions.UndefinedMetricWarning`, which stands in for this one wherever somebody may know it."""


def warn_undefined(metric: str, undefined: Mapping[str, str]) -> None:
    """One `sklearn.exceptions.UndefinedMetricWarning` that names all undefined keys and why.

    Who filters by that class has imported it. Where nobody has, that would take a second, and ours is as good.
    """
    if not undefined:
        return
    known = sys.modules.get("sklearn.exceptions")
    category = UndefinedMetricWarning if known is None else known.UndefinedMetricWarning
    by_reason: dict[str, list[str]] = {}
    for key, reason in undefined.items():
        by_reason.setdefault(reason, []).append(key)
    parts = [f"{', '.join(keys)} ({reason})" for reason, keys in by_reason.items()]
    warnings.warn(f"{metric}: undefined: {'; '.join(parts)}", category, stacklevel=3)


def score_doubts(probabilities: np.ndarray) -> list[tuple[str, str]]:
    """What looks wrong with probabilities though each of them is one: what, and what to do.

    >>> score_doubts(np.array([0.0, 1.0, 1.0]))[0][0]
    'all exactly 0 or 1: these look like decisions, not probabilities'
    """
    least, greatest = probabilities.min(initial=1.0), probabilities.max(initial=0.0)
    if least in (0.0, 1.0) and greatest in (0.0, 1.0) and bool(((probabilities == 0) | (probabilities == 1)).all()):
        advice = "give the scores: of decisions, ranks, calibration and review by uncertainty say nothing"
        return [("all exactly 0 or 1: these look like decisions, not probabilities", advice)]
    if least >= 0.5 and least < greatest:
        advice = "are these confidences of the predicted labels, and not probabilities of the positive class?"
        return [("no score is below 0.5", advice)]
    return []
