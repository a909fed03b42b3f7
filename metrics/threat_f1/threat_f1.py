"""Scores of threat detection on the "Seed" set of Jigsaw comments (Juuti et al. 2020, arXiv 2009.12344)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import datasets
import evaluate
import numpy as np

from .base import Metric
from .errors import CELLS, put_errors
from .grid import check_resolution, to_grid
from .inputs import check_choice, check_number, encode_scores, refuse, same_length
from .intervals import interval_scores
from .labels import encode_labels
from .ranking import rank, rank_table, sort_classes, table_average_precision, table_roc_auc
from .resampling import Draws
from .scoring import Scores, State, confusion_matrix, put_class_scores, sigmoid
from .trainer import check_scores, ids_from, is_ids, label_arrays, model_outputs

#: The labels; their positions are the ids.
LABELS = ("non-threat", "threat")

#: How each class is written in result keys.
KEYS = ("non_threat", "threat")

_NO_THREAT = "no reference is threat, set to nan"

_DESCRIPTION = """
Scores of a threat classifier under extreme class imbalance (0.3 % threats): macro-F1 over threat and non-threat, both
always counted, precision, recall and F1 of each, and with scores ROC-AUC and average precision.
"""

_CITATION = """
@inproceedings{juuti-etal-2020-little,
  title={A little goes a long way: Improving toxic language classification despite data scarcity},
  author={Juuti, Mika and Gr{\\"o}ndahl, Tommi and Flanagan, Adrian and Asokan, N.},
  booktitle={Findings of the Association for Computational Linguistics: EMNLP 2020},
  pages={2991--3009},
  year={2020}
}
"""

_INPUTS = """
Args:
    predictions: n labels, "non-threat"/"threat" or their ids 0/1. May be left out if there are prediction_scores.
    prediction_scores: P(threat), n numbers in [0, 1] or two columns that sum to 1. May be left out if there are
        predictions. With scores only, the decision is P(threat) > threshold; with both, predictions are used as given.
    references: the gold labels.
    from_logits: prediction_scores are logits (one column: sigmoid; two: softmax). Rank metrics use them raw.
    score_resolution: a power of two such as 2**-20: probabilities are put on a grid of this width, which bounds the
        memory any number of rows needs; <key>_error then says how far a score can be from the exact one.
    threshold: 0.5 (default), strict: a tie goes to non-threat.
    zero_division: 0.0 (default), 1.0 or nan: the value of a precision, recall or F1 with a zero denominator.
    detailed: adds confusion counts, and with scores the best F1 of threat and the threshold that attains it.
    confidence_level: e.g. 0.95: adds <key>_low and <key>_high for every score; None (default) doesn't. n_resamples
        (1000), seed (0) and stratify (False) are its options, see the metric card.

Returns:
    dict of floats in [0, 1], higher is better: f1_macro (primary), precision, recall and F1 of threat and non_threat,
    accuracy; prevalence (share of threats in the references); with scores roc_auc and average_precision.

Examples:
    >>> metric = evaluate.load("metrics/threat_f1")
    >>> scores = metric.compute(prediction_scores=[0.9, 0.2, 0.4], references=["threat", "non-threat", "threat"])
    >>> scores["recall_threat"], scores["roc_auc"]
    (0.5, 1.0)
"""


def encode(
    references: Any,
    predictions: Any = None,
    prediction_scores: Any = None,
    *,
    from_logits: bool = False,
    score_resolution: float | None = None,
) -> dict[str, np.ndarray]:
    """References, and labels or scores or both, as arrays of shape (n,).

    Returns:
        ``references`` and ``predictions`` as int8 ids; the scores as float64, called ``logits`` with ``from_logits``
        (unbounded, P(threat) is their sigmoid), else ``probabilities``; ``resolution`` of the grid these are on, 0.0
        if none.

    Raises:
        ValueError: for unknown labels, scores that are no probabilities, different lengths, no rows, neither
            predictions nor prediction_scores.
    """
    check_choice("threat_f1", "from_logits", from_logits, (False, True))
    resolution = check_resolution("threat_f1", score_resolution, from_logits)
    if predictions is None and prediction_scores is None:
        refuse("threat_f1", "predictions", "missing, and prediction_scores too", "one of them or both")
    arrays = {}
    if predictions is not None:
        arrays["predictions"] = encode_labels(
            "threat_f1", "predictions", predictions, LABELS, scores_input="prediction_scores"
        )
    if prediction_scores is not None:
        kind = "logits" if from_logits else "probabilities"
        arrays[kind] = encode_scores("threat_f1", "prediction_scores", prediction_scores, from_logits=from_logits)
    arrays["references"] = encode_labels("threat_f1", "references", references, LABELS)
    lengths = {
        name if name in ("predictions", "references") else "prediction_scores": len(arrays[name]) for name in arrays
    }
    same_length("threat_f1", **lengths)
    if resolution and prediction_scores is not None:
        arrays["probabilities"] = to_grid(arrays["probabilities"], resolution)
    return arrays | {"resolution": np.array(resolution)}


def count(arrays: dict[str, np.ndarray]) -> State:
    """With predictions their 2 x 2 confusion matrix (rows references); with scores these and the references by row."""
    references = arrays["references"]
    counts, rows = {}, {}
    if "predictions" in arrays:
        counts["confusion"] = confusion_matrix(references, arrays["predictions"], len(LABELS))
    for kind in ("probabilities", "logits"):
        if kind in arrays:
            rows = {kind: arrays[kind], "references": references}
    return State(len(references), counts, rows, float(arrays["resolution"]) if rows else 0.0)


def confusions(state: State) -> dict[str, tuple[np.ndarray, Sequence[str]]]:
    """The confusion matrices of a state, for the picture: title -> (matrix, labels)."""
    return {"comments": (state.counts["confusion"], LABELS)}


def score(state: State, *, threshold: float = 0.5, zero_division: float = 0.0, detailed: bool = False) -> Scores:
    """The paper's scores (section 3.3: precision, recall and F1 of threat; macro-F1) and two rank metrics.

    Args:
        state: counts["confusion"] of shape (..., 2, 2), or scores by row, or both.
        threshold: in [0, 1]; a row whose P(threat) is above it is a threat. Only where there are no predictions.
        zero_division: 0.0, 1.0 or nan; a nan class is left out of the macro average.
        detailed: adds confusion counts, threshold, and with scores best_f1_threat and best_threshold.
    """
    threshold = check_number("threat_f1", "threshold", threshold, 0.0, 1.0)
    check_choice("threat_f1", "zero_division", zero_division, (0.0, 1.0, float("nan")))
    check_choice("threat_f1", "detailed", detailed, (False, True))
    decided = "confusion" in state.counts
    if decided and threshold != 0.5:
        refuse("threat_f1", "option threshold", f"{threshold} beside predictions", "a threshold for scores alone")
    confusion = _confusion(state, threshold)
    scores = Scores(zero_division)
    _put_label_scores(scores, confusion)
    if state.rows:
        _put_rank_scores(scores, state)
    if detailed:
        for name, (row, column) in CELLS.items():
            scores.note(name, confusion[..., row, column])
        if not decided:
            scores.note("threshold", threshold)
        if state.rows:
            _put_best_f1(scores, state)
    if state.resolution:
        put_errors(scores, state, threshold, detailed, _put_label_scores)
    return scores


def _confusion(state: State, threshold: float) -> np.ndarray:
    """The 2 x 2 confusion matrix of the predictions, or without them of the scores at the threshold."""
    if "confusion" in state.counts:
        return state.counts["confusion"]
    return _at_threshold(state, threshold)


def _at_threshold(state: State, threshold: float) -> np.ndarray:
    predictions = (_probabilities(state) > threshold).view(np.int8)
    return confusion_matrix(state.rows["references"], predictions, 2, state.rows.get("counts"))


def _put_label_scores(scores: Scores, confusion: np.ndarray) -> None:
    """Scores of confusion matrices of shape (..., 2, 2)."""
    for i in (1, 0):
        put_class_scores(scores, confusion, KEYS, i)
    scores.mean("f1_macro", [f"f1_{key}" for key in KEYS])
    total = confusion.sum(axis=(-2, -1))
    scores.proportion("accuracy", confusion[..., 0, 0] + confusion[..., 1, 1], total, "no rows")
    scores.proportion("prevalence", confusion[..., 1, :].sum(axis=-1), total, "no rows")


def _put_rank_scores(scores: Scores, state: State) -> None:
    curve = rank(state.rows["references"], raw_scores(state), state.rows.get("counts")).curve()
    n, m = curve.n_positives, curve.n_negatives
    scores.area("roc_auc", curve.roc_auc(), "" if n and m else "only one class in the references, set to nan", n, m)
    scores.area("average_precision", curve.average_precision(), "" if n else _NO_THREAT, n)


def _put_best_f1(scores: Scores, state: State) -> None:
    best, at = best_f1(state.rows["references"], _probabilities(state), state.rows.get("counts"))
    if np.isnan(best):
        scores.put("best_f1_threat", best, _NO_THREAT)
    else:
        ((_, fp), (fn, tp)) = _at_threshold(state, at)
        scores.f1("best_f1_threat", tp, fp, fn, "")
    scores.note("best_threshold", at, "" if at == at else _NO_THREAT)


def replicate(
    score: Callable[..., Scores],
    state: State,
    *,
    threshold: float = 0.5,
    zero_division: float = 0.0,
    detailed: bool = False,
) -> Callable[[Draws], Mapping[str, np.ndarray]]:
    """Scores of resampled rows, for the intervals: of their confusion matrix and their groups by score.

    Args:
        score, detailed: not needed.
        state, threshold, zero_division: as in `score`.
    """
    confusion = _confusion(state, threshold)
    table = rank_table(state.rows["references"], raw_scores(state), state.rows.get("counts")) if state.rows else None

    def scores_of(draws: Draws) -> Mapping[str, np.ndarray]:
        scores = Scores(zero_division)
        _put_label_scores(scores, draws.table(confusion))
        if table is not None:
            tables = draws.table(table)
            scores.put("roc_auc", table_roc_auc(tables))
            scores.put("average_precision", table_average_precision(tables))
        return scores.values

    return scores_of


def raw_scores(state: State) -> np.ndarray:
    """The scores as given: a sigmoid that saturates would make ties."""
    return state.rows["logits"] if "logits" in state.rows else state.rows["probabilities"]


def _probabilities(state: State) -> np.ndarray:
    """P(threat) of every row, shape (n,)."""
    return state.rows["probabilities"] if "probabilities" in state.rows else sigmoid(state.rows["logits"])


def best_f1(references: np.ndarray, probabilities: np.ndarray, counts: np.ndarray | None = None) -> tuple[float, float]:
    """The best F1 of threat that any threshold attains, and the highest such threshold; nan, nan without threats.

    A threshold attains {probability > threshold}, so tied rows move together and a row with probability 0 is never
    a threat. Below a threat's score nothing is gained before the next one's: only their scores need a look.

    Args:
        references: int8 ids of shape (n,).
        probabilities: float64 of shape (n,), in [0, 1].
        counts: how many rows each entry stands for, if not one.

    >>> best_f1(np.array([1, 0], np.int8), np.array([0.5, 0.5]))
    (0.6666666666666666, 0.0)
    """
    others, threats = sort_classes(references, probabilities, counts)
    if not threats.n_rows:
        return float("nan"), float("nan")
    cuts = np.unique(threats.values[threats.values > 0])
    if not cuts.size:
        return 0.0, 1.0
    tp, fp = threats.n_rows - threats.below(cuts), others.n_rows - others.below(cuts)
    f1 = 2 * tp / (tp + fp + threats.n_rows)
    best = int(np.flatnonzero(f1 == f1.max())[-1])
    below = probabilities[probabilities < cuts[best]]
    return float(f1[best]), float(below.max()) if below.size else 0.0


def from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode`: logits as scores, so that threshold and rank metrics have them.

    Args:
        predictions: logits of shape (n, 2), (n, 1) or (n,) (probabilities, if ``from_logits=False`` was fixed at
            load), or ids of shape (n,), without rank metrics.
        label_ids: ids of shape (n,).
    """
    expected = "from the model logits of shape (n, 2) or (n, 1), or ids of shape (n,); labels of shape (n,)"
    (outputs,) = model_outputs("threat_f1", predictions, expected)
    (references,) = label_arrays("threat_f1", label_ids, expected)
    if is_ids(outputs):
        return {
            "predictions": ids_from("threat_f1", "predictions", outputs, LABELS, expected),
            "references": references,
        }
    scores = check_scores("threat_f1", outputs, expected)
    return {"prediction_scores": scores, "references": references, "from_logits": True}


class ThreatF1(Metric):
    """The threat scores as an `evaluate.Metric`."""

    headline = "f1_macro"
    example = {"prediction_scores": [0.5], "references": [0]}
    encode = staticmethod(encode)
    count = staticmethod(count)
    confusions = staticmethod(confusions)
    score = staticmethod(score)
    replicate = staticmethod(replicate)
    intervals = staticmethod(interval_scores)
    from_trainer = staticmethod(from_trainer)

    def _info(self) -> evaluate.MetricInfo:
        kinds = [datasets.Value("string"), datasets.Value("int64")]
        scores = {"prediction_scores": datasets.Value("float64")}
        features = [{"predictions": kind, "references": kind} for kind in kinds]
        features += [both | scores for both in features] + [{"references": kind} | scores for kind in kinds]
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[datasets.Features(columns) for columns in features],
            reference_urls=["https://arxiv.org/abs/2009.12344"],
        )
