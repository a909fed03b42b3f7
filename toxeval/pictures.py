"""The picture of each metric, from files of predictions."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from toxeval.files import open_table
from toxeval.jobs import Job, Progress, accumulate, references_of, short_names
from toxeval.metrics import plots
from toxeval.core.inputs import refuse
from toxeval.core.state import State

States = Mapping[str, State]

#: Of the bars' intervals.
LEVEL = 0.95


def draw(job: Job, progress: Progress | None = None) -> Any:
    """The metric's picture, as a `matplotlib.figure.Figure`.

    Several files of predictions are drawn together (oracle_collab, threat_f1 with scores, dia_safety_rate with
    categories). A metric without a picture of its own has its confusion matrices drawn.

    Raises:
        ValueError: for bad input, as `toxeval.jobs.score`; for several files where there is one picture a file.
        ImportError: without matplotlib.
    """
    references = references_of(job)
    states, results = {}, {}
    for name, path in zip(short_names(job.predictions), job.predictions):
        module = job.module()
        states[name] = _row_by_row(accumulate(module, job, open_table(path), references, progress)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # undefined scores are gaps in a picture
            # scores of metrics that are drawn without them, too: what they refuse has no picture
            results[name] = module.compute(confidence_level=LEVEL if job.metric == "dia_safety_rate" else None) or {}
    if job.metric == "oracle_collab":
        return _oracle(states, module.score_options)
    if job.metric == "dia_safety_rate" and any("unsafe_rate" in result for result in results.values()):
        return _dia(results)
    if job.metric == "threat_f1" and any(state.rows for state in states.values()):
        return _threat(states)
    if len(job.predictions) > 1:
        refuse(job.metric, "predictions", f"{len(job.predictions)} files", "one file a picture of confusion matrices")
    if not hasattr(module, "confusions"):
        refuse(job.metric, "plot", "no confusion matrix", "a metric that counts one")
    return plots.confusion(module.confusions(*states.values()))


def _row_by_row(state: State) -> State:
    """The state with an entry a row: of many rows, equal ones are kept once."""
    if "counts" not in state.rows:
        return state
    counts = state.rows["counts"]
    rows = {key: np.repeat(values, counts) for key, values in state.rows.items() if key != "counts"}
    return State(state.n_rows, state.counts, rows, state.resolution)


def _script(metric: str) -> Any:
    return importlib.import_module(f"toxeval.metrics.{metric}.{metric}")


def _oracle(states: States, options: Mapping[str, Any]) -> Any:
    drawn = {
        name: _script("oracle_collab").review_curves(state, threshold=options["threshold"], n_bins=options["n_bins"])
        for name, state in states.items()
    }
    curves, bins = ({name: both[i] for name, both in drawn.items()} for i in range(2))
    return plots.collaboration(curves, bins)


def _dia(results: Mapping[str, Mapping[str, Any]]) -> Any:
    for name, result in results.items():
        if "unsafe_rate" not in result:
            refuse("dia_safety_rate", "categories", f"missing in {name}", "categories in each file or in none")
    script = _script("dia_safety_rate")
    label = f"share of unsafe replies ({100 * LEVEL:g} % interval)"
    return plots.rates(script.rates_by_category(results), script.CATEGORIES, label)


def _threat(states: States) -> Any:
    systems = {}
    for name, state in states.items():
        if not state.rows:
            refuse("threat_f1", "prediction_scores", f"missing in {name}", "scores in each file or in none")
        references = state.rows["references"]
        if len(np.unique(references)) < 2:
            refuse("threat_f1", "references", "only one class", "both, for precision–recall and ROC")
        systems[name] = references, _script("threat_f1").raw_scores(state)
    return plots.ranking(systems)
