"""The inputs, and who gets them: every entry gives the calls that are compared on the same data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import peers
import pyarrow as pa
from sklearn.metrics import f1_score, roc_auc_score
from toxeval.metrics.conda_joint.scores import INTENTS, SLOTS

import toxeval

Calls = dict[str, Callable[[], Any]]


@dataclass
class Work:
    """One kind of work: its sizes, its calls by size (one of them "ours"), and the targets of single cells."""

    name: str
    sizes: tuple[int, ...]
    calls: Callable[[int], Calls]
    targets: dict[tuple[str, int], str] = field(default_factory=dict)


def _labels(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    references = (rng.random(n) < 0.4).astype(np.int64)
    return np.where(rng.random(n) < 0.8, references, 1 - references), references


def sold_ids(n: int) -> Calls:
    p, r = _labels(n)
    ours, stock = toxeval.load("sold_macro_f1"), peers.stock("f1")
    calls: Calls = {
        "ours": lambda: ours.compute(predictions=p, references=r),
        "scikit-learn f1_score": lambda: f1_score(r, p, average="macro"),
        "torchmetrics": lambda: peers.torchmetrics_f1(p, r),
    }
    if n <= 10**6:
        calls["stock evaluate f1"] = lambda: stock.compute(predictions=p, references=r)
        calls["plain loop"] = lambda: peers.recipe_macro_f1(p.tolist(), r.tolist())
    return calls


def sold_names(n: int) -> Calls:
    names = np.array(["NOT", "OFF"])
    p, r = ([str(x) for x in names[ids]] for ids in _labels(n))
    ours = toxeval.load("sold_macro_f1")
    return {
        "ours": lambda: ours.compute(predictions=p, references=r),
        "scikit-learn f1_score": lambda: f1_score(r, p, average="macro"),
        "plain loop": lambda: peers.recipe_macro_f1(p, r),
    }


def sold_intervals(n: int) -> Calls:
    p, r = _labels(n)
    ours = toxeval.load("sold_macro_f1")
    return {
        "ours": lambda: ours.compute(predictions=p, references=r, confidence_level=0.95),
        "ours without intervals": lambda: ours.compute(predictions=p, references=r),
    }


def _conda(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 9, n)
    real = np.arange(8) < lengths[:, None]
    sides = {}
    intents = rng.integers(0, len(INTENTS), n)
    slots = np.where(real, rng.integers(0, len(SLOTS), (n, 8)), -100)
    for side, noise in (("references", 0.0), ("predictions", 0.1)):
        i = np.where(rng.random(n) < noise, rng.integers(0, len(INTENTS), n), intents)
        s = np.where(real & (rng.random((n, 8)) < noise), rng.integers(0, len(SLOTS), (n, 8)), slots)
        names = np.array(SLOTS, dtype=object)[s[real]]
        ends = np.concatenate(([0], np.cumsum(lengths)))
        sides[side] = (i, s, names, ends)
    return sides


def conda_padded(n: int) -> Calls:
    sides = _conda(n)
    inputs = {side: {"intent": i, "slots": s} for side, (i, s, _, _) in sides.items()}
    return _conda_calls(inputs, sides)


def conda_arrow(n: int) -> Calls:
    sides = _conda(n)
    inputs = {
        side: {
            "intent": pa.array(np.array(INTENTS, dtype=object)[i]),
            "slots": pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(names, pa.string())),
        }
        for side, (i, _, names, ends) in sides.items()
    }
    return _conda_calls(inputs, sides)


def conda_dicts(n: int) -> Calls:
    sides = _conda(n)
    inputs = {
        side: [{"intent": intent, "slots": slots} for intent, slots in _tuples(*columns)]
        for side, columns in sides.items()
    }
    return _conda_calls(inputs, sides)


def _tuples(i: np.ndarray, s: np.ndarray, names: np.ndarray, ends: np.ndarray) -> list[tuple[str, list[str]]]:
    flat, cuts = names.tolist(), ends.tolist()
    return [(INTENTS[intent], flat[a:b]) for intent, a, b in zip(i.tolist(), cuts, cuts[1:])]


def _conda_calls(inputs: dict[str, Any], sides: dict[str, Any]) -> Calls:
    tuples = {side: _tuples(*columns) for side, columns in sides.items()}
    ours = toxeval.load("conda_joint")
    calls: Calls = {
        "ours": lambda: ours.compute(**inputs),
        "plain loops over tuples": lambda: peers.recipe_conda(**tuples),
        "one plain pass over tuples": lambda: peers.recipe_conda_one_pass(**tuples),
    }
    if len(tuples["references"]) <= 10**5:
        calls["seqeval (T-F1 only)"] = lambda: peers.seqeval_t_f1(**tuples)
    return calls


def threat(n: int) -> Calls:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.003).astype(np.int64)
    s = np.clip(rng.normal(0.2 + 0.4 * y, 0.15), 0.0, 1.0)
    ours, stock = toxeval.load("threat_f1"), peers.stock("roc_auc")
    calls: Calls = {
        "ours": lambda: ours.compute(prediction_scores=s, references=y),
        "scikit-learn roc_auc_score": lambda: roc_auc_score(y, s),
        "torchmetrics AUROC": lambda: peers.torchmetrics_auroc(s, y),
    }
    if n <= 10**6:
        calls["stock evaluate roc_auc"] = lambda: stock.compute(prediction_scores=s, references=y)
    return calls


def oracle(share: float) -> Callable[[int], Calls]:
    def calls(n: int) -> Calls:
        rng = np.random.default_rng(0)
        y = (rng.random(n) < share).astype(np.int64)
        s = 1 / (1 + np.exp(-rng.normal(-1.5 + 3 * y, 1.5)))
        ours = toxeval.load("oracle_collab")
        return {
            "ours": lambda: ours.compute(predictions=s, references=y),
            "scikit-learn roc_auc_score": lambda: roc_auc_score(y, s),
        }

    return calls


def dia(n: int) -> Calls:
    rng = np.random.default_rng(0)
    categories, references = rng.integers(0, 5, n), rng.integers(0, 2, n)
    p = np.where(rng.random(n) < 0.8, references, 1 - references)
    ours, stock = toxeval.load("dia_safety_rate"), peers.stock("accuracy")
    return {
        "ours": lambda: ours.compute(predictions=p, references=references, categories=categories),
        "one np.bincount": lambda: np.bincount(categories),
        "stock evaluate accuracy": lambda: stock.compute(predictions=p, references=references),
        "plain loop": lambda: peers.recipe_unsafe(p.tolist(), references.tolist(), categories.tolist()),
    }


def batches(n: int) -> Calls:
    """n calls of add_batch with 32 rows, then compute."""
    p, r = _labels(32)

    def many(module: Any) -> Callable[[], Any]:
        def call() -> Any:
            for _ in range(n):
                module.add_batch(predictions=p, references=r)
            return module.compute()

        return call

    return {"ours": many(toxeval.load("sold_macro_f1")), "stock evaluate f1": many(peers.stock("f1"))}


def memory_call(n: int) -> tuple[Callable[[], Any], int]:
    """A call of compute with n int64 labels on each side, and the inputs' size in bytes."""
    p, r = _labels(n)
    ours = toxeval.load("sold_macro_f1")
    return lambda: ours.compute(predictions=p, references=r), p.nbytes + r.nbytes


_SIZES = (10**3, 10**4, 10**5, 10**6)
_SKLEARN_F1, _AUC, _LOOP = "scikit-learn f1_score", "scikit-learn roc_auc_score", "plain loops over tuples"
WORK = (
    Work("sold_macro_f1, ids in NumPy arrays", (*_SIZES, 10**7), sold_ids,
         {("stock evaluate f1", 10**6): "<= 0.0067", (_SKLEARN_F1, 10**6): "<= 0.08"}),
    Work("sold_macro_f1, names in lists", _SIZES, sold_names, {(_SKLEARN_F1, 10**6): "<= 0.08"}),
    Work("sold_macro_f1 with 95 % intervals", _SIZES, sold_intervals, {("ours without intervals", 10**6): "<= 3"}),
    Work("conda_joint, padded ids in NumPy arrays", _SIZES, conda_padded, {(_LOOP, 10**6): "<= 0.04"}),
    Work("conda_joint, names in Arrow columns", _SIZES, conda_arrow, {(_LOOP, 10**6): "<= 0.067"}),
    Work("conda_joint, lists of dicts", _SIZES, conda_dicts, {(_LOOP, 10**6): "<= 0.286"}),
    Work("threat_f1 with scores, 0.3 % threats", (*_SIZES, 10**7), threat, {(_AUC, 10**6): "<= 0.2"}),
    Work("oracle_collab, 2 % toxic", (10**4, 10**5, 2 * 10**6), oracle(0.02), {(_AUC, 2 * 10**6): "<= 0.5"}),
    Work("oracle_collab, 50 % toxic", (10**4, 10**5, 2 * 10**6), oracle(0.5), {(_AUC, 2 * 10**6): "<= 1.3"}),
    Work("dia_safety_rate with references, ids", _SIZES, dia, {("one np.bincount", 10**6): "<= 12"}),
    Work("add_batch, 32 rows a call", (10**4,), batches, {("stock evaluate f1", 10**4): "<= 0.1"}),
)  # fmt: skip
