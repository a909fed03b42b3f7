"""The arithmetic under every metric: additive states, confusion counts, and scores with what is known of each."""

import io
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .inputs import describe, refuse

#: Version of the layout `State.to_bytes` writes.
STATE_FORMAT = 3

#: Rows counted at a time: the block and its codes stay in the processor's cache, and memory stays constant.
BLOCK = 1 << 16
#: From so many rows on, counting codes in pairs pays.
PAIRS_FROM = 1 << 15


# --- states -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """The sufficient statistics of some rows. ``a + b`` is the state of the rows of both.

    Attributes:
        n_rows: how many rows it stands for.
        counts: arrays that add up, such as a confusion matrix.
        rows: arrays that are joined end to end, such as the scores a rank metric needs: one entry a row, or with
            ``rows["counts"]`` one for as many equal rows as that says.
        resolution: width of the grid the scores in ``rows`` are on; 0.0 if they are as they were given.
        metric: which metric counted it, with the configuration if that isn't the default one; empty if its function
            ``count`` was called directly.
    """

    n_rows: int
    counts: Mapping[str, np.ndarray] = field(default_factory=dict)
    rows: Mapping[str, np.ndarray] = field(default_factory=dict)
    resolution: float = 0.0
    metric: str = ""

    def __add__(self, other: "State") -> "State":
        return merge([self, other])

    def compact(self) -> "State":
        """The state of the same rows with equal ones as a single entry, in ascending order: no larger than there are
        distinct rows, and the same for any order in which states were merged.

        >>> state = State(3, {}, {"scores": np.array([0.5, 0.1, 0.5]), "references": np.array([1, 0, 1], np.int8)})
        >>> {key: values.tolist() for key, values in state.compact().rows.items()}
        {'references': [0, 1], 'scores': [0.1, 0.5], 'counts': [1, 2]}
        """
        if not self.rows:
            return self
        summed = [key for key in self.rows if key == "counts" or key.endswith("_by_cluster")]
        keys = sorted(key for key in self.rows if key not in summed)
        rows = _distinct_by_class(self.rows, keys) if not summed else None
        if rows is None:
            order = np.lexsort([self.rows[key] for key in keys])
            rows = {key: self.rows[key][order] for key in keys}
            starts = _starts(*rows.values())
            rows = {key: values[starts] for key, values in rows.items()}
            rows |= {key: np.add.reduceat(self.rows[key][order], starts, axis=0) for key in summed}
            if not summed:
                rows["counts"] = np.diff(np.append(starts, len(order)))
        return replace(self, rows=rows)

    def to_bytes(self) -> bytes:
        """The state as bytes (NumPy's ``.npz`` without pickles), for another process or machine."""
        arrays = {f"counts/{key}": value for key, value in self.counts.items()}
        arrays |= {f"rows/{key}": value for key, value in self.rows.items()}
        about = {"format": STATE_FORMAT, "n_rows": self.n_rows, "resolution": self.resolution, "metric": self.metric}
        buffer = io.BytesIO()
        np.savez(buffer, **{key: np.array(value) for key, value in about.items()}, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "State":
        """The state that `to_bytes` wrote.

        Raises:
            ValueError: if the layout is of another version, or these are other bytes.
        """
        try:
            loaded = np.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, EOFError, zipfile.BadZipFile):
            raise ValueError(f"{len(data)} bytes that are no whole state of to_bytes") from None
        with loaded as arrays:
            if int(arrays["format"]) != STATE_FORMAT:
                raise ValueError(f"state of format {int(arrays['format'])}; this version reads format {STATE_FORMAT}")
            parts: dict[str, dict[str, np.ndarray]] = {"counts": {}, "rows": {}}
            for key in arrays.files:
                kind, slash, name = key.partition("/")
                if slash:
                    parts[kind][name] = arrays[key]
            resolution, metric = float(arrays["resolution"]), str(arrays["metric"])
            return cls(int(arrays["n_rows"]), **parts, resolution=resolution, metric=metric)


def _starts(*columns: np.ndarray) -> np.ndarray:
    """Where in sorted columns a new combination begins."""
    changes = np.logical_or.reduce([values[1:] != values[:-1] for values in columns])
    return np.flatnonzero(np.append(np.ones(min(1, len(columns[0])), dtype=bool), changes))


def _distinct_by_class(rows: Mapping[str, np.ndarray], keys: Sequence[str]) -> dict[str, np.ndarray] | None:
    """Distinct rows of one column of floats and one of ids, in the order of the ids, where these are all the keys:
    values alone are sorted several times faster than rows."""
    if len(keys) != 2 or rows[keys[0]].dtype != np.float64 or rows[keys[1]].dtype != np.int8:
        return None
    parts: list[tuple[np.ndarray, ...]] = []
    for i in np.unique(rows[keys[1]]):
        values = np.sort(rows[keys[0]][rows[keys[1]] == i])
        starts = _starts(values)
        parts.append((values[starts], np.full(len(starts), i), np.diff(np.append(starts, len(values)))))
    return dict(zip([*keys, "counts"], map(np.concatenate, zip(*parts))))


def merge_compact(states: Sequence[State]) -> State:
    """``merge(states).compact()``, and faster where the first is compacted and the others are not."""
    if len(states) < 3:
        return merge([state.compact() for state in states]).compact()
    return merge_compact([states[0], merge(states[1:])])


def check_state(module: str, where: str, found: Any) -> None:
    """Refuse what isn't a state. It is known by its attributes: scripts of ``evaluate.load`` have a class each."""
    if not (hasattr(found, "n_rows") and hasattr(found, "resolution")):
        hint = "State.from_bytes reads what to_bytes wrote" if isinstance(found, (bytes, bytearray, memoryview)) else ""
        refuse(module, where, describe(found), "a State", hint)


def merge(states: Iterable[State]) -> State:
    """One state for the rows of all.

    Raises:
        ValueError: if they were counted by different metrics, from different inputs, from texts and numbers, or on
            grids of different widths; if there is none, or these are no states.

    >>> a = State(1, {"tp": np.array(1)}, {"scores": np.array([0.5])})
    >>> merge([a, a]).rows["scores"]
    array([0.5, 0.5])
    """
    if not isinstance(states, Iterable):
        refuse("merge", "states", describe(states), "a list of them")
    states = list(states)
    for i, state in enumerate(states):
        check_state("merge", f"states[{i}]", state)
    if not states:
        refuse("merge", "states", "none", "at least one")
    filled = [state for state in states if state.n_rows] or states[:1]
    if len(filled) == 1:
        return filled[0]
    first = filled[0]
    if any("counts" in state.rows for state in filled):
        filled = [_with_counts(state) for state in filled]
    for state in filled[1:]:
        if state.metric != first.metric:
            found = f"{first.metric or 'unknown'} and {state.metric or 'unknown'}"
            raise ValueError(f"merge: states of different metrics: {found}")
        if state.counts.keys() != first.counts.keys() or state.rows.keys() != filled[0].rows.keys():
            raise ValueError(f"merge: states of different inputs: {_contents(first)} and {_contents(state)}")
        if any((state.rows[k].dtype.kind == "U") != (first.rows[k].dtype.kind == "U") for k in first.rows):
            raise ValueError("merge: states of texts and of numbers in one input")
        if state.resolution != first.resolution:
            found = f"{first.resolution} and {state.resolution}"
            raise ValueError(f"merge: states of different score_resolution: {found}")
    counts = {key: sum((s.counts[key] for s in filled[1:]), filled[0].counts[key]) for key in filled[0].counts}
    rows = {key: np.concatenate([s.rows[key] for s in filled]) for key in filled[0].rows}
    return State(sum(s.n_rows for s in filled), counts, rows, first.resolution, first.metric)


def _with_counts(state: State) -> State:
    """The state with ``rows["counts"]``."""
    if "counts" in state.rows or not state.rows:
        return state
    ones = np.ones(len(next(iter(state.rows.values()))), dtype=np.int64)
    return replace(state, rows={**state.rows, "counts": ones})


def _contents(state: State) -> str:
    return ", ".join([*state.counts, *state.rows]) or "nothing"


# --- counts -------------------------------------------------------------------------------------------------------


def count_codes(n_codes: int, *factors: tuple[np.ndarray, int]) -> np.ndarray:
    """How often each combination of ids occurs, in one pass over blocks of rows.

    Args:
        n_codes: the product of all sizes.
        factors: pairs (int8 ids of shape (n,), how many different ids there are), the slowest varying first.

    Returns:
        int64 array of shape (n_codes,).
    """
    n = len(factors[0][0])
    pairs = n_codes <= 127 and n >= PAIRS_FROM
    block, kind = (4 * BLOCK, np.int8) if pairs else (BLOCK, np.int8 if n_codes <= 127 else np.int64)
    total = np.zeros(n_codes, dtype=np.int64)
    for start in range(0, n, block):
        codes: np.ndarray = factors[0][0][start : start + block].astype(kind)
        for ids, size in factors[1:]:
            codes *= size
            codes += ids[start : start + block]
        total += _count_in_pairs(codes, n_codes) if pairs else np.bincount(codes, minlength=n_codes)
    return total


def _count_in_pairs(codes: np.ndarray, n_codes: int) -> np.ndarray:
    """`np.bincount` of single bytes, two neighbours at a time: half the increments, and they seldom wait for each
    other, as those of a frequent code do."""
    if len(codes) % 2:
        return _count_in_pairs(codes[:-1], n_codes) + np.bincount(codes[-1:], minlength=n_codes)
    table = np.bincount(codes.view(np.uint16), minlength=n_codes * 256).reshape(n_codes, 256)
    counts: np.ndarray = table.sum(axis=1) + table[:, :n_codes].sum(axis=0)
    return counts


def confusion_matrix(
    references: np.ndarray, predictions: np.ndarray, n_labels: int, counts: np.ndarray | None = None
) -> np.ndarray:
    """int64 array of shape (n_labels, n_labels): rows are references, columns predictions, as in scikit-learn.

    ``counts``: how many rows each entry stands for, if not one.

    >>> confusion_matrix(np.array([0, 1, 1], np.int8), np.array([0, 0, 1], np.int8), 2)
    array([[1, 0],
           [1, 1]])
    """
    if counts is None:
        codes = count_codes(n_labels**2, (references, n_labels), (predictions, n_labels))
    else:  # float64 holds whole numbers up to 2^53
        combined = references.astype(np.int64) * n_labels + predictions
        codes = np.bincount(combined, counts, minlength=n_labels**2).astype(np.int64)
    return codes.reshape(n_labels, n_labels)


# --- scores -------------------------------------------------------------------------------------------------------


def ratio(numerator: Any, denominator: Any, undefined: float) -> Any:
    """numerator / denominator, and ``undefined`` where the denominator is 0. Broadcasts; scalars give a float."""
    if np.ndim(numerator) == np.ndim(denominator) == 0:
        return float(numerator) / float(denominator) if denominator else undefined
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    quotient = np.full(shape, undefined)
    np.divide(numerator, denominator, out=quotient, where=np.broadcast_to(np.not_equal(denominator, 0), shape))
    return quotient


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
        notes: keys of numbers that are no scores, such as counts and thresholds.
    """

    def __init__(self, zero_division: float = float("nan")) -> None:
        self.zero_division = float(zero_division)
        self.values: dict[str, Any] = {}
        self.undefined: dict[str, str] = {}
        self.proportions: dict[str, tuple[Any, Any]] = {}
        self.f1_counts: dict[str, tuple[Any, Any, Any]] = {}
        self.averages: dict[str, tuple[Sequence[str], Any]] = {}
        self.areas: dict[str, tuple[int, int | None]] = {}
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

    def area(self, key: str, value: Any, why: str, n_positives: int, n_negatives: int | None = None) -> None:
        """An area under a curve: with ``n_negatives`` the ROC curve; undefined for the reason ``why``, if any."""
        self.put(key, value, why)
        self.areas[key] = n_positives, n_negatives

    def proportion(self, key: str, successes: Any, trials: Any, why: str, undefined: float | None = None) -> None:
        """successes / trials; without trials ``undefined`` (default: zero_division), for the reason ``why``."""
        missing = self.zero_division if undefined is None else undefined
        self.put(key, ratio(successes, trials, missing), "" if np.all(trials) else f"{why}, set to {missing}")
        self.proportions[key] = (successes, trials)

    def f1(self, key: str, tp: Any, fp: Any, fn: Any, why: str, twice: Any = 0) -> None:
        """F1 = 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall.

        ``twice``: how many rows are both among FP and FN, in a micro F1.
        """
        whole = 2 * tp + fp + fn
        missing = self.zero_division
        self.put(key, ratio(2 * tp, whole, missing), "" if np.all(whole) else f"{why}, set to {missing}")
        self.f1_counts[key] = (tp, fp + fn, twice)

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
        self.put(key, mean, "" if np.all(total) else "no defined class to average, set to nan")
        self.averages[key] = keys, np.ones(len(keys)) if weights is None else weights

    def as_dict(self, first: str) -> dict[str, Any]:
        """Plain Python numbers, the score ``first`` leading if it is there."""
        result = {key: self.values[key] for key in (first,) if key in self.values} | self.values
        return {key: np.asarray(value).item() for key, value in result.items()}


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
        confusion: counts of shape (..., k, k), rows references, columns predictions.
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


def warn_undefined(module: str, undefined: Mapping[str, str]) -> None:
    """One `sklearn.exceptions.UndefinedMetricWarning` that names all undefined keys and why."""
    if not undefined:
        return
    from sklearn.exceptions import UndefinedMetricWarning  # here, since it is slow to import and rarely needed

    by_reason: dict[str, list[str]] = {}
    for key, reason in undefined.items():
        by_reason.setdefault(reason, []).append(key)
    parts = [f"{', '.join(keys)} ({reason})" for reason, keys in by_reason.items()]
    warnings.warn(f"{module}: undefined: {'; '.join(parts)}", UndefinedMetricWarning, stacklevel=3)
