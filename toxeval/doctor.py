"""What looks wrong with a file of predictions, all at once: what the metric would refuse, and what it would score."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from toxeval.columns import fields, how_to_say, kinds
from toxeval.files import open_table
from toxeval.jobs import Job, batches, explain, references_of
from toxeval.loading import load, metric_class
from toxeval.metrics.base import Metric
from toxeval.core.inputs import GROUP, SCORE, SEQUENCE, describe
from toxeval.core.labels import IGNORE
from toxeval.pairing import collect
from toxeval.tables import Table


@dataclass(frozen=True)
class Finding:
    """Something that looks wrong.

    Attributes:
        where: the input, or ``id``.
        what: what was found.
        advice: what to do about it.
        rows: where, the first few.
    """

    where: str
    what: str
    advice: str
    rows: tuple[int, ...] = ()


def examine(job: Job) -> list[Finding]:
    """Everything that looks wrong with each file of predictions and its references.

    The rows are read into memory, and nothing is refused but what can't be read at all. Labels are looked at where the
    metric declares them (``LABELS`` in its script, ``labels`` of its class).
    """
    found: list[Finding] = []
    for path in job.predictions:
        predictions, references = open_table(path), references_of(job)
        found += _ids(job, predictions, references)
        try:
            inputs = collect(batches(job, predictions, references))
        except ValueError as error:  # ids or lengths that don't match, missing columns, broken rows
            found.append(Finding("rows", str(error), "mend this first: nothing else could be looked at"))
            continue
        found += _absent(job, inputs)
        found += _inputs(job, inputs)
    return found


def _absent(job: Job, inputs: Mapping[str, Any]) -> Iterator[Finding]:
    """Inputs the metric needs and the files don't have, under the names that are looked for."""
    for name, required in load(job.metric, job.config).inputs.items():
        if required and name not in inputs:
            option = how_to_say(job.metric, job.config, name)
            yield Finding(name, "no column for it", f"if it has another name: {option}")


def _ids(job: Job, predictions: Table, references: Table | None) -> Iterator[Finding]:
    """Repeated ids; where a file has its references with it, the metric itself doesn't look at them."""
    column = job.columns.get("id") or next((name for name in ("id", "post_id") if name in predictions.columns), "")
    if references is not None or column not in predictions.columns or predictions.name == "standard input":
        return
    ids = list(chain.from_iterable(map(_plain, (batch[column] for batch in predictions.batches([column])))))
    times = Counter(map(str, ids))
    rows = [row for row, i in enumerate(ids) if times[str(i)] > 1]
    if rows:
        yield Finding("id", f"{len(rows)} rows share their id with another", "are rows repeated?", tuple(rows[:5]))


# --- inputs -------------------------------------------------------------------------------------------------------


def _inputs(job: Job, inputs: Mapping[str, Any]) -> Iterator[Finding]:
    wanted, records = kinds(job.metric, job.config), fields(job.metric, job.config)
    labels, module = _labels(job.metric), job.module()
    ids: dict[str, np.ndarray] = {}
    for name, values in inputs.items():
        kind = wanted[name]
        if kind == SCORE:
            yield from _scores(name, values, "from_logits" in job.options and name != "review_scores")
            continue
        if kind == GROUP or name == "references" and job.options.get("label_threshold") is not None:
            continue
        parts = _fields(values, records[name]) if name in records else {"": values}
        for field, part in parts.items():
            where = f"{name}.{field}" if field else name
            names = labels.get(field or name)
            if names is None:
                continue
            sequences = (records[name][field] if field else kind) == SEQUENCE
            rows, flat = _flat(part) if sequences else (None, _plain(part))
            advise = partial(_metric_says, module, where, sequences)
            problems = list(_label_values(where, flat, rows, names, sequences and name == "references", advise))
            yield from problems
            if not problems:
                ids[where] = _encode(flat, names)
    for field in records.get("references", [""]):
        pair = [f"{name}.{field}" if field else name for name in ("predictions", "references")]
        if pair[1] not in ids:
            continue
        names = labels[field or "references"]  # there, since the ids are
        yield from _never(pair, ids, names)
        if pair[0] in ids and len(ids[pair[0]]) == len(ids[pair[1]]):
            yield from _agreement(ids[pair[0]], ids[pair[1]], names, pair[0])
    scores = next((name for name in ("prediction_scores", "predictions") if wanted.get(name) == SCORE), "")
    if scores in inputs and "references" in ids and len(labels["references"]) == 2:
        yield from _direction(scores, inputs[scores], ids["references"])


def _labels(metric: str) -> dict[str, Sequence[str]]:
    """Input, or field of a record -> the names allowed there, as far as the metric declares them."""
    declared = metric_class(metric)
    usual = getattr(sys.modules[declared.__module__], "LABELS", None)
    return ({"predictions": usual, "references": usual} if usual else {}) | dict(declared.labels)


def _fields(values: Any, names: Iterable[str]) -> dict[str, list[Any]]:
    """Records as columns."""
    if isinstance(values, Mapping):
        return {field: _plain(values[field]) for field in names}
    rows = [row if isinstance(row, Mapping) else {} for row in _plain(values)]
    return {field: [row.get(field) for row in rows] for field in names}


def _plain(values: Any) -> list[Any]:
    for method in ("to_pylist", "tolist"):
        if hasattr(values, method):
            plain: list[Any] = getattr(values, method)()
            return plain
    return list(values)


def _flat(values: Any) -> tuple[list[int], list[Any]]:
    """The row and the value of every position of some sequences."""
    rows, flat = [], []
    for row, sequence in enumerate(_plain(values)):
        items = list(sequence) if isinstance(sequence, (list, tuple)) else [sequence]
        rows += [row] * len(items)
        flat += items
    return rows, flat


def _metric_says(module: Metric, where: str, sequence: bool, value: Any) -> str:
    """What the metric itself allows, and its hint, for a value that is alone in an input; "" if it takes it."""
    name, _, field = where.partition(".")
    alone = [[value]] if sequence else [value]
    given = dict(module.example)
    given[name] = {**given[name], field: alone} if field else alone
    try:
        module.encoded(**given)
    except ValueError as error:
        return explain(module, given, str(error)).partition("; ")[2]
    return ""


def _label_values(
    where: str,
    values: list[Any],
    rows: list[int] | None,
    labels: Sequence[str],
    padding: bool,
    advise: Callable[[Any], str],
) -> Iterator[Finding]:
    """Values that are no labels; ``advise`` says what to do about one."""
    known = {*labels, *range(len(labels))} | ({IGNORE} if padding else set())
    plain = [v for v in values if isinstance(v, (str, int, float)) and v != IGNORE]
    kinds_there = {"names" if isinstance(v, str) else "ids" for v in plain if v in known}
    if len(kinds_there) > 1:
        yield Finding(where, "names and ids in one input", "give names or ids")
    wrong: dict[str, tuple[Any, list[int]]] = {}
    lower = {label.lower(): label for label in labels}
    for position, value in enumerate(values):
        hashable = isinstance(value, (str, int, float)) and not isinstance(value, bool)
        if hashable and value in known:
            continue
        if isinstance(value, float) and not value.is_integer() and value == value:
            what = "a score where a label is wanted"
        elif value == IGNORE:
            what = "-100"
        elif value is None or value == "" or value != value:
            what, value = "no value", None
        elif isinstance(value, str) and value.strip().lower() in lower:
            what = repr(value)
        else:
            what = f"unknown label {describe(value, labels)}"
        wrong.setdefault(what, (value, []))[1].append(position if rows is None else rows[position])
    for what, (value, at) in wrong.items():
        advice = advise(value)
        if not advice:
            continue  # the metric takes it, with these options
        if value is None:
            advice = "a missing label is not a label: did a row fail?"
        yield Finding(where, f"{what} ({len(at)} times)", advice, tuple(dict.fromkeys(at))[:5])


def _encode(values: Iterable[Any], labels: Sequence[str]) -> np.ndarray:
    table: dict[Any, int] = {label: i for i, label in enumerate(labels)} | {i: i for i in range(len(labels))}
    return np.array([table.get(value, -1) for value in values], dtype=np.int64)


def _never(pair: Sequence[str], ids: Mapping[str, np.ndarray], labels: Sequence[str]) -> Iterator[Finding]:
    there = np.bincount(ids[pair[1]][ids[pair[1]] >= 0], minlength=len(labels))
    for label, n in zip(labels, there):
        if not n:
            yield Finding(pair[1], f"no {label}", "its recall and F1 are undefined: are these all the references?")
    if pair[0] in ids:
        predicted = np.unique(np.minimum(ids[pair[0]], len(labels) - 1))  # both kinds of unsafe are Unsafe
        for i, label in enumerate(labels):
            if there[i] and i not in predicted:
                yield Finding(pair[0], f"{label} is never predicted ({there[i]} references are)", "its F1 is 0")


def _agreement(predictions: np.ndarray, references: np.ndarray, labels: Sequence[str], where: str) -> Iterator[Finding]:
    """Predictions that are suspiciously right or systematically wrong."""
    both = (predictions >= 0) & (references >= 0)
    predictions, references = predictions[both], references[both]
    if len(references) < 20 or len(np.unique(references)) < 2:
        return
    right = float(np.mean(predictions == references))
    if right == 1.0:
        yield Finding(where, "equal to the references in every row", "are they predictions?")
    k = len(labels)
    table = np.bincount(references * k + np.minimum(predictions, k - 1), minlength=k * k).reshape(k, k)
    for a in range(k):
        for b in range(a + 1, k):
            straight, crossed = table[a, a] + table[b, b], table[a, b] + table[b, a]
            if min(table[a].sum(), table[b].sum()) >= 5 and crossed > 3 * straight:
                what = f"{labels[a]} and {labels[b]} look swapped ({crossed} crossed, {straight} right)"
                yield Finding(where, what, "does the model number its labels in another order? Give names")


# --- scores -------------------------------------------------------------------------------------------------------


def _scores(where: str, values: Any, logits: bool) -> Iterator[Finding]:
    try:
        array = np.asarray(_plain(values), dtype=float)
    except (ValueError, TypeError, OverflowError):
        yield Finding(where, "not a number in every row", "one number a row, or two in every row")
        return
    bad = ~np.isfinite(array)
    if bad.any():
        yield Finding(where, f"NaN or infinite ({bad.sum()} times)", "did the model overflow?", _first_rows(bad))
    if where == "review_scores" or not array.size:
        return
    outside = np.isfinite(array) & ((array < 0) | (array > 1))
    if outside.any() and not logits:
        what = f"{outside.sum()} of {array.size} numbers are outside [0, 1]: these look like logits"
        yield Finding(where, what, "add --option from_logits=true, or apply a sigmoid or softmax", _first_rows(outside))
    if logits and not outside.any():
        yield Finding(where, "all in [0, 1], with from_logits", "these look like probabilities already")
    column = array[:, -1] if array.ndim == 2 else array
    if len(column) >= 20 and len(np.unique(column)) == 1:
        yield Finding(where, f"the same score in all {len(column)} rows", "the model says nothing")
    elif not logits and np.isin(column, (0, 1)).all():
        advice = "give the scores: of decisions, ranks, calibration and review by uncertainty say nothing"
        yield Finding(where, "all exactly 0 or 1: these look like decisions, not probabilities", advice)
    elif len(column) >= 20:
        if len(np.unique(column)) == 2 and not logits:
            yield Finding(where, "only two different values", "are these labels? Ranks need scores")
        elif not logits and np.mean((column == 0) | (column == 1)) > 0.5:
            share = np.mean((column == 0) | (column == 1))
            yield Finding(where, f"{share:.0%} are exactly 0 or 1", "saturated or rounded: ties; give the logits")


def _first_rows(wrong: np.ndarray) -> tuple[int, ...]:
    rows = np.flatnonzero(wrong if wrong.ndim == 1 else wrong.any(axis=1))
    return tuple(rows[:5].tolist())


def _direction(where: str, values: Any, references: np.ndarray) -> Iterator[Finding]:
    """Scores of the other class."""
    from toxeval.core.ranking import roc_auc

    try:
        array = np.asarray(_plain(values), dtype=float)
    except (ValueError, TypeError):
        return
    column = array[:, -1] if array.ndim == 2 else array
    if len(column) != len(references) or not np.isfinite(column).all() or min(np.bincount(references, minlength=2)) < 5:
        return
    area = roc_auc(references, column)
    if area < 0.35:
        what = f"positives score lower than negatives (ROC-AUC {area:.3f})"
        yield Finding(where, what, "are these the scores of the other class, or the columns swapped?")
    elif area == 1.0:
        yield Finding(where, "every positive scores above every negative", "did the references leak into the scores?")
