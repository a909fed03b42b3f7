"""A metric's verdicts and human labels as a metric of their own, which counts what a correction needs.

That is two tables, of all verdicts and of those with a label. Batches, Spark and the reader take it for any metric.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .containers import Place, is_arrow, materialise
from .declarations import LABEL, Definition, Input
from .invalid import count_reasons, put_invalid
from .judged_rate import JudgedRate
from .refusals import Refusal, is_missing, refuse
from .scoring import Scores, count_codes
from .state import State

#: The input with human labels, and what they are called where each row has one.
HUMAN, GOLD = "human", "references"
#: The configuration of a metric that counts verdicts and labels.
JUDGED = "judged"


def judged(definition: Definition, human: bool | None = None) -> Definition:
    """The metric that counts verdicts and human labels, of which a rate is corrected. Its scores are the raw rates.

    Args:
        definition: of the metric whose predictions are the verdicts.
        human: whether each row has a human label, or none; not given: some rows may.

    Returns:
        A definition whose states hold counts["verdicts"] of shape (c, 2), all rows by category and verdict, and
        counts["human"] of shape (c, 2, 2), those with a label, by category, label and verdict: what `corrected_rates`
        takes. They are of one kind, whatever ``human`` is.

    Raises:
        Refusal: for a metric that declares no such rate.
    """
    rate = definition.judged
    if rate is None:
        refuse("no rate to correct", "a metric with the labels yes and no", metric=definition.full_name, where="judge")
    labels = _labels(definition)
    inputs = [each for each in definition.inputs if each.name != GOLD]
    if human is not False:
        about = "Human labels of some of the rows; None in the others." if human is None else "Human labels."
        also = (GOLD, "reference", "label", "labels")
        inputs.insert(1, Input(HUMAN, LABEL, about, labels, required=bool(human), also=also, sparse=not human))
    options = tuple(replace(option, with_rows=True) for option in definition.options if option.name in rate.options)
    names = {each.name for each in inputs}
    examples = [
        {name: example.get(name, labels[:1]) for name in names if name in example or human and name == HUMAN}
        for example in (definition.example, *definition.more_examples)
    ]

    def encode(**given: Any) -> dict[str, np.ndarray]:
        return _encode(definition, rate, given, whole=human is True)

    return Definition(
        name=definition.name,
        config=JUDGED,
        headlines=tuple(filter(None, (rate.mean, rate.overall))),
        inputs=tuple(inputs),
        options=options,
        encode=encode,
        count=lambda arrays: _count(rate, arrays),
        score=lambda state: raw_rates(rate, state),
        from_trainer=definition.from_trainer,
        example=examples[0],
        more_examples=tuple(examples[1:]),
    )


def _labels(definition: Definition) -> tuple[str, ...]:
    gold = definition.input(GOLD)
    assert gold is not None
    return gold.labels


def _encode(definition: Definition, rate: JudgedRate, given: dict[str, Any], *, whole: bool) -> dict[str, np.ndarray]:
    """Verdicts, labels (-1 where there is none) and categories, int8 arrays of shape (n,).

    The metric itself reads the rows. Where there is no label it gets another for reference, of which nothing is kept;
    unless labels have to be ``whole``.
    """
    labels, human = _labels(definition), given.pop(HUMAN, None)
    options = {option.name: given.pop(option.name, option.default) for option in definition.options if option.with_rows}
    of_verdicts = {name: options.get(name, given.pop(name, None)) for name in rate.options}
    if human is None:
        first = next(iter(given), "")
        there = np.zeros(len(materialise(Place(first), given[first])) if first else 0, dtype=bool)
        human = np.zeros(len(there), dtype=np.int8)
    else:
        human, there = (human, True) if whole else _filled(human, labels[0])
    try:
        arrays = definition.encode(**given, **{GOLD: human}, **options)
    except Refusal as refusal:
        if refusal.inputs == (GOLD,) and refusal.row is not None and not np.all(there):
            refusal.row = max(refusal.row, int(np.argmax(there)))  # before the first label there are others like it
        refusal.inputs = tuple(HUMAN if name == GOLD else name for name in refusal.inputs)
        raise
    ids = np.where(there, arrays[GOLD] == labels.index(rate.label), -1).astype(np.int8)
    kept: dict[str, np.ndarray] = {name: arrays[name] for name in ("categories", "reasons") if name in arrays}
    return {"verdicts": rate.verdicts(arrays, **of_verdicts), HUMAN: ids, **kept}


def _filled(values: Any, label: str) -> tuple[Any, np.ndarray]:
    """Labels with one of them wherever there is none, and where there is one."""
    rows = values.to_pylist() if is_arrow(values) else materialise(Place(HUMAN), values)
    if isinstance(rows, np.ndarray):
        if rows.dtype.kind not in "fO" or rows.ndim != 1:
            return rows, np.ones(len(rows), dtype=bool)
        rows = rows.tolist()
    missing = [is_missing(row) or isinstance(row, str) and not row for row in rows]
    stand_in = next((row for row, lacks in zip(rows, missing) if not lacks), label)
    return [stand_in if lacks else row for row, lacks in zip(rows, missing)], ~np.array(missing, dtype=bool)


def _count(rate: JudgedRate, arrays: Mapping[str, np.ndarray]) -> State:
    verdicts, human = arrays["verdicts"], arrays[HUMAN]
    n_categories = len(rate.categories) if "categories" in arrays else 1
    codes = (_categories(arrays), n_categories), (human + 1, 3), (verdicts, 2)
    table = count_codes(n_categories * 6, *codes).reshape(-1, 3, 2)
    counts = {"verdicts": table.sum(axis=1), HUMAN: table[:, 1:]}
    if "reasons" in arrays:
        counts["invalid"] = count_reasons(arrays["reasons"])
    return State(len(verdicts), counts)


def count_pairs(a: Mapping[str, np.ndarray], b: Mapping[str, np.ndarray], n_categories: int) -> np.ndarray:
    """How many rows there are of each category, verdict and label of a, verdict and label of b: shape (c, 2, 3, 2, 3).
    A label is 0 where there is none.

    Args:
        a, b: arrays of two systems, as `judged` encodes them, of the same rows.
        n_categories: how many categories there are; 1 without.
    """
    of_both = [part for system in (a, b) for part in ((system["verdicts"], 2), (system[HUMAN] + 1, 3))]
    return count_codes(n_categories * 36, (_categories(a), n_categories), *of_both).reshape(-1, 2, 3, 2, 3)


def _categories(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The ids of categories; without any, all rows are in one."""
    return arrays.get("categories", np.zeros_like(arrays["verdicts"]))


def raw_rates(rate: JudgedRate, state: State) -> Scores:
    """The shares of verdicts as they are."""
    scores, verdicts = Scores(math.nan), state.counts["verdicts"]

    def put(key: str, counts: np.ndarray, why: str) -> None:
        scores.proportion(key, counts[..., 1], counts.sum(axis=-1), why, undefined=math.nan)

    put(rate.overall, verdicts.sum(axis=-2), "there is no row")
    if verdicts.shape[-2] > 1:
        keys = [f"{rate.mean}_{slug}" for slug in rate.categories]
        for i, key in enumerate(keys):
            put(key, verdicts[..., i, :], f"no row in the category, and {rate.mean} is the mean of the others")
        scores.mean(rate.mean, keys)
    if "invalid" in state.counts:
        put_invalid(scores, state.counts["invalid"])
    return scores
