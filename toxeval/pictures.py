"""The picture of each metric, from files of predictions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from toxeval.files import open_table
from toxeval.jobs import Job, Progress, accumulate, references_of, short_names
from toxeval.metrics import plots
from toxeval.metrics.inputs import refuse
from toxeval.metrics.scoring import State

States = Mapping[str, State]

#: Metrics whose picture shows several systems.
TOGETHER = ("oracle_collab", "threat_f1", "dia_safety_rate")


def draw(job: Job, progress: Progress | None = None) -> Any:
    """The metric's picture, as a `matplotlib.figure.Figure`.

    Several files of predictions are drawn together (oracle_collab, threat_f1, dia_safety_rate). A metric without a
    picture of its own has its confusion matrix drawn.

    Raises:
        ValueError: for bad input, as `toxeval.jobs.score`; for several files where there is one picture a file.
        ImportError: without matplotlib.
    """
    references = references_of(job)
    names = short_names(job.predictions)
    states, scores = {}, {}
    for name, path in zip(names, job.predictions):
        module = job.module()
        states[name] = _row_by_row(accumulate(module, job, open_table(path), references, progress)[0])
        if job.metric == "dia_safety_rate":
            scores[name] = module.compute(confidence_level=0.95) or {}
    if len(states) > 1 and job.metric not in TOGETHER:
        refuse(job.metric, "predictions", f"{len(states)} files", "one file a picture of confusion matrices")
    options = module.score_options
    drawers: dict[str, Callable[[], Any]] = {
        "conda_joint": lambda: _conda(states[names[0]]),
        "oracle_collab": lambda: _oracle(states, options),
        "dia_safety_rate": lambda: _dia(scores),
        "threat_f1": lambda: _threat(states),
    }
    return drawers[job.metric]() if job.metric in drawers else _confusion(states[names[0]], job)


def _row_by_row(state: State) -> State:
    """The state with an entry a row: of many rows, equal ones are kept once."""
    if "counts" not in state.rows:
        return state
    counts = state.rows["counts"]
    rows = {key: np.repeat(values, counts) for key, values in state.rows.items() if key != "counts"}
    return State(state.n_rows, state.counts, rows, state.resolution)


def _confusion(state: State, job: Job) -> Any:
    """Of a metric that counts one, over the ``LABELS`` of its script."""
    script = importlib.import_module(f"toxeval.metrics.{job.metric}.{job.metric}")
    if "confusion" not in state.counts:
        refuse(job.metric, "plot", f"counts of {', '.join(state.counts)}", "a metric that counts a confusion matrix")
    return plots.confusion({"tokens" if job.config == "token" else "rows": (state.counts["confusion"], script.LABELS)})


def _conda(state: State) -> Any:
    from toxeval.metrics.conda_joint.conda_joint import INTENTS, SLOTS

    return plots.confusion(
        {
            "intents (utterances)": (state.counts["intents"], INTENTS),
            "slots (tokens)": (state.counts["slots"], SLOTS),
        }
    )


def _oracle(states: States, options: Mapping[str, Any]) -> Any:
    from toxeval.metrics.oracle_collab.curves import review_curve
    from toxeval.metrics.oracle_collab.rows import reliability, sort_rows

    curves: dict[str, dict[str, Any]] = {}
    bins = {}
    for name, state in states.items():
        logits = "logits" in state.rows
        labels, scores = state.rows["references"], state.rows["logits" if logits else "probabilities"]
        threshold = options["threshold"]
        own = {"review_scores": state.rows["review_scores"]} if "review_scores" in state.rows else {}
        curves[name] = {
            strategy: review_curve(labels, scores, review_strategy=strategy, threshold=threshold, logits=logits)
            for strategy in ("uncertainty", "toxicity")
        } | {
            strategy: review_curve(labels, scores, given, threshold=threshold, logits=logits)
            for strategy, given in own.items()
        }
        bins[name] = reliability(sort_rows(labels, scores, threshold=threshold, logits=logits), int(options["n_bins"]))
    return plots.collaboration(curves, bins)


def _dia(scores: Mapping[str, Mapping[str, Any]]) -> Any:
    from toxeval.metrics.dia_safety_rate.dia_safety_rate import CATEGORIES

    kinds = {"utterance_unsafe_rate": "utterance-unsafe", "context_unsafe_rate": "context-unsafe"}
    if len(scores) > 1 or any(kind not in scores[name] for name in scores for kind in kinds):
        kinds = {"unsafe_rate": "unsafe"}
    suffixes = [category.lower().replace(" ", "_") for category in CATEGORIES]
    bars = {}
    for system, values in scores.items():
        for kind, name in kinds.items():
            keys = [f"{kind}_{suffix}" for suffix in suffixes]
            if keys[0] not in values:
                refuse("dia_safety_rate", "categories", "missing", "one category a row, for bars by category")
            bars[system if len(scores) > 1 else name] = [
                (values[key], values[f"{key}_low"], values[f"{key}_high"]) for key in keys
            ]
    return plots.rates(bars, CATEGORIES, "share of unsafe replies (95 % interval)")


def _threat(states: States) -> Any:
    from toxeval.metrics.threat_f1.threat_f1 import LABELS

    if not any(state.rows for state in states.values()):
        if len(states) > 1:
            refuse("threat_f1", "prediction_scores", "missing", "scores, to draw several systems")
        return plots.confusion({"comments": (next(iter(states.values())).counts["confusion"], LABELS)})
    systems = {}
    for name, state in states.items():
        if not state.rows:
            refuse("threat_f1", "prediction_scores", f"missing in {name}", "scores in each file or in none")
        references = state.rows["references"]
        if len(np.unique(references)) < 2:
            refuse("threat_f1", "references", "only one class", "both, for precision–recall and ROC")
        systems[name] = references, state.rows["logits" if "logits" in state.rows else "probabilities"]
    return plots.ranking(systems)
