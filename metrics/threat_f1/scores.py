"""Scores of threat detection on the "Seed" set of Jigsaw comments (Juuti et al. 2020, arXiv 2009.12344)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from toxeval.core.containers import same_length
from toxeval.core.declarations import (
    DETAILED,
    FROM_LOGITS,
    INVALID,
    LABEL,
    SCORE,
    SCORE_RESOLUTION,
    THRESHOLD,
    ZERO_DIVISION,
    Definition,
    Input,
    Picture,
    confusion_picture,
)
from toxeval.core.grid import (
    average_precision_bounds,
    cells_of,
    furthest,
    refuse_off_grid,
    refuse_with_grid,
    roc_auc_error,
    to_grid,
)
from toxeval.core.group_states import AtOnce
from toxeval.core.inputs import encode_scores
from toxeval.core.invalid import count_reasons, put_invalid, reasons_of
from toxeval.core.judged_rate import JudgedRate
from toxeval.core.labels import encode_labels
from toxeval.core.ranking import Curve, put_areas, rank, rank_table, sort_classes, table_curve
from toxeval.core.refusals import refuse
from toxeval.core.resampling import Draws
from toxeval.core.scoring import By, Scores, confusion_matrix, put_class_scores, score_doubts, sigmoid
from toxeval.core.state import State
from toxeval.core.thresholds import Thresholds, decisions_at_all
from toxeval.core.trainer import check_scores, ids_from, is_ids, label_arrays, model_outputs

#: The labels; their positions are the ids.
LABELS = ("non-threat", "threat")

#: How each class is written in result keys.
KEYS = ("non_threat", "threat")

_NO_THREAT = "no reference is threat, set to nan"

_NOT_COUNTED = "Kaggle's test labels mark with -1 the rows that don't count: leave these out, on both sides"


def encode(
    references: Any,
    predictions: Any = None,
    prediction_scores: Any = None,
    *,
    invalid: str,
    from_logits: bool,
    score_resolution: float | None,
) -> dict[str, np.ndarray]:
    """References, and labels or scores or both, as arrays of shape (n,).

    Returns:
        ``references`` and ``predictions`` as int8 ids; the scores as float64, called ``logits`` with ``from_logits``
        (unbounded, P(threat) is their sigmoid), else ``probabilities``; ``resolution`` of the grid these are on, 0.0
        if none. With ``invalid="count"`` the labels' ``reasons``, see `reasons_of`.

    Raises:
        ValueError: for unknown labels, scores that are no probabilities, different lengths, no rows, neither
            predictions nor prediction_scores.
    """
    refuse_with_grid(score_resolution, from_logits=from_logits)
    resolution = score_resolution or 0.0
    if predictions is None and prediction_scores is None:
        refuse("missing, and prediction_scores too", "one of them or both", inputs=("predictions",))
    arrays = {}
    if predictions is not None:
        arrays["predictions"] = encode_labels(
            "predictions", predictions, LABELS, scores_input="prediction_scores", invalid=invalid == "count"
        )
    if prediction_scores is not None:
        kind = "logits" if from_logits else "probabilities"
        arrays[kind] = encode_scores("prediction_scores", prediction_scores, from_logits=from_logits)
    arrays["references"] = encode_labels("references", references, LABELS, hints={-1: _NOT_COUNTED})
    lengths = {
        name if name in ("predictions", "references") else "prediction_scores": len(arrays[name]) for name in arrays
    }
    same_length(**lengths)
    if resolution and prediction_scores is not None:
        arrays["probabilities"] = to_grid(arrays["probabilities"], resolution)
    if invalid == "count" and predictions is not None:
        arrays["reasons"] = reasons_of(arrays["predictions"], len(LABELS))
    return arrays | {"resolution": np.array(resolution)}


def count(arrays: dict[str, np.ndarray]) -> State:
    """With predictions their 2 x 2 confusion matrix (rows references), where invalid ones are counted with a third
    column of them and with how many there are for each reason; with scores these and the references by row."""
    references, rows = arrays["references"], {}
    for kind in ("probabilities", "logits"):
        if kind in arrays:
            rows = {kind: arrays[kind], "references": references}
    return State(len(references), tables(arrays), rows, float(arrays["resolution"]) if rows else 0.0)


def tables(arrays: Mapping[str, np.ndarray], by: By | None = None) -> dict[str, np.ndarray]:
    """The counts of `count`; with ``by`` those of each group of rows."""
    if "predictions" not in arrays:
        return {}
    labels, reasons = (arrays["references"], arrays["predictions"]), arrays.get("reasons")
    confusion = confusion_matrix(*labels, len(LABELS), invalid=reasons is not None, by=by)
    return {"confusion": confusion} | ({} if reasons is None else {"invalid": count_reasons(reasons, by)})


def confusions(state: State) -> dict[str, tuple[np.ndarray, Sequence[str]]]:
    """The confusion matrices of a state, for the picture: title -> (matrix, labels)."""
    return {"comments": (state.counts["confusion"], LABELS)}


def doubts(state: State) -> list[tuple[str, str, str]]:
    """What looks wrong with scores, see `score_doubts`."""
    if "probabilities" not in state.rows:
        return []
    return [("prediction_scores", *doubt) for doubt in score_doubts(state.rows["probabilities"])]


def picture(
    states: Mapping[str, State], results: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]
) -> Picture:
    """Precision-recall and ROC curves of systems with scores, with what each decides; else the confusion matrix."""
    if not any(state.rows for state in states.values()):
        return confusion_picture(states, confusions)
    systems, decisions = {}, {}
    for name, state in states.items():
        if not state.rows:
            refuse(f"missing in {name}", "scores in each file or in none", inputs=("prediction_scores",))
        references = state.rows["references"]
        if len(np.unique(references)) < 2:
            refuse("only one class", "both, for precision–recall and ROC", inputs=("references",))
        systems[name] = references, raw_scores(state)
        ((_, fp), (_, tp)) = _confusion(state, options["threshold"])[:, :2]
        decisions[name] = int(tp), int(fp)
    areas = {name: (result["average_precision"], result["roc_auc"]) for name, result in results.items()}
    return Picture("ranking", {"systems": systems, "areas": areas, "decisions": decisions})


def score(
    state: State,
    *,
    threshold: float,
    zero_division: float,
    detailed: bool,
    groups: tuple[By, Curve] | None = None,
) -> Scores:
    """The paper's scores (section 3.3: precision, recall and F1 of threat; macro-F1) and two rank metrics.

    Args:
        state: counts["confusion"] of shape (..., 2, 2) or (..., 2, 3), or scores by row, or both.
        threshold: in [0, 1]; a row whose P(threat) is above it is a threat. Only where there are no predictions.
        zero_division: 0.0, 1.0 or nan; a nan class is left out of the macro average.
        detailed: adds confusion counts, threshold, and with scores best_f1_threat and best_threshold.
        groups: of whose rows the state is, and their curves, for scores without details.
    """
    decided = "confusion" in state.counts
    _check_threshold(threshold, decided)
    if not decided:
        refuse_off_grid(threshold, state.resolution)
    by, curve = groups or (None, None)
    confusion = _confusion(state, threshold, by)
    scores = Scores(zero_division)
    _put_label_scores(scores, confusion)
    if state.rows:
        if curve is None:
            curve = rank(state.rows["references"], raw_scores(state), state.multiplicity).curve()
        _put_rank_scores(scores, curve)
    if detailed:
        tp, fp, tn = confusion[..., 1, 1], confusion[..., 0, 1], confusion[..., 0, 0]
        for name, value in {"tp": tp, "fp": fp, "fn": confusion[..., 1, :].sum(axis=-1) - tp, "tn": tn}.items():
            scores.note(name, value)
        if not decided:
            scores.note("threshold", threshold)
        if state.rows:
            _put_best_f1(scores, state)
    if state.resolution:
        _put_errors(scores, state)
    if "invalid" in state.counts:
        put_invalid(scores, state.counts["invalid"])
    return scores


def score_groups(state: State, by: By, curve: Curve, **options: Any) -> Scores | None:
    """The scores of groups at once; None for what is found one by one, the best threshold and errors of a grid."""
    return None if options["detailed"] or state.resolution else score(state, groups=(by, curve), **options)


def decided(state: State, options: Mapping[str, Any]) -> tuple[State, dict[str, Any]]:
    """The confusion matrix of a state with scores, and the options that it is scored by."""
    counts = {**state.counts, "confusion": _confusion(state, options["threshold"])}
    return State(state.n_rows, counts, metric=state.metric), {**options, "threshold": THRESHOLD.default}


def _check_threshold(threshold: float, decided: bool) -> None:
    if decided and threshold != THRESHOLD.default:
        refuse(f"{threshold} beside predictions", "a threshold for scores alone", option="threshold")


def _confusion(state: State, threshold: float, by: By | None = None) -> np.ndarray:
    """The 2 x 2 confusion matrix of the predictions, or without them of the scores at the threshold."""
    if "confusion" in state.counts:
        return state.counts["confusion"]
    return _at_threshold(state, threshold, by)


def _at_threshold(state: State, threshold: float, by: By | None = None) -> np.ndarray:
    predictions = (_probabilities(state) > threshold).view(np.int8)
    return confusion_matrix(state.rows["references"], predictions, 2, state.multiplicity, by=by)


def _put_label_scores(scores: Scores, confusion: np.ndarray) -> None:
    """Scores of confusion matrices of shape (..., 2, 2) or (..., 2, 3)."""
    for i in (1, 0):
        put_class_scores(scores, confusion, KEYS, i)
    scores.mean("f1_macro", [f"f1_{key}" for key in KEYS])
    total = confusion.sum(axis=(-2, -1))
    scores.proportion("accuracy", confusion[..., 0, 0] + confusion[..., 1, 1], total, "no rows")
    scores.proportion("prevalence", confusion[..., 1, :].sum(axis=-1), total, "no rows")


def _put_rank_scores(scores: Scores, curve: Curve) -> None:
    put_areas(scores, curve, ("roc_auc", "average_precision"), ("reference is threat", "reference is non-threat"))


def _put_best_f1(scores: Scores, state: State) -> None:
    best, at = best_f1(state.rows["references"], _probabilities(state), state.multiplicity)
    if np.isnan(best):
        scores.put("best_f1_threat", best, _NO_THREAT)
    else:
        ((_, fp), (fn, tp)) = _at_threshold(state, at)
        scores.f1("best_f1_threat", tp, fp, fn, "")
    scores.note("best_threshold", at, "" if at == at else _NO_THREAT)


def _put_errors(scores: Scores, state: State) -> None:
    """``<key>_error``: how far scores on a grid can be from the exact ones. Decisions are exact on a grid, since the
    threshold is one of its points."""
    cells = cells_of(state.rows["references"], raw_scores(state), state.multiplicity, state.resolution)
    scores.note("roc_auc_error", roc_auc_error(cells))
    error = furthest(scores.values["average_precision"], average_precision_bounds(cells))
    scores.note("average_precision_error", error)


def replicate(
    state: State, *, threshold: float, zero_division: float, detailed: bool
) -> Callable[[Draws], Mapping[str, np.ndarray]]:
    """Scores of resampled rows, for the intervals: of their confusion matrix and their groups by score.

    Args:
        state, threshold, zero_division: as in `score`.
        detailed: not needed.
    """
    confusion = _confusion(state, threshold)
    table = rank_table(state.rows["references"], raw_scores(state), state.multiplicity) if state.rows else None

    def scores_of(draws: Draws) -> Mapping[str, np.ndarray]:
        scores = Scores(zero_division)
        _put_label_scores(scores, draws.table(confusion))
        if table is not None:
            _put_rank_scores(scores, table_curve(draws.table(table)))
        return scores.values

    return scores_of


def raw_scores(state: State) -> np.ndarray:
    """The scores as given: a sigmoid that saturates would make ties."""
    return state.rows["logits"] if "logits" in state.rows else state.rows["probabilities"]


def ranked(state: State) -> tuple[np.ndarray, np.ndarray]:
    """References and scores, for areas under curves."""
    return state.rows["references"], raw_scores(state)


def _probabilities(state: State) -> np.ndarray:
    """P(threat) of every row, shape (n,)."""
    return state.rows["probabilities"] if "probabilities" in state.rows else sigmoid(state.rows["logits"])


def best_f1(
    references: np.ndarray, probabilities: np.ndarray, multiplicity: np.ndarray | None = None
) -> tuple[float, float]:
    """The best F1 of threat that any threshold attains, and the highest such threshold; nan, nan without threats.

    A threshold attains {probability > threshold}, so tied rows move together and a row with probability 0 is never
    a threat. Below a threat's score nothing is gained before the next one's: only their scores need a look.

    Args:
        references: int8 ids of shape (n,).
        probabilities: float64 of shape (n,), in [0, 1].
        multiplicity: how many rows each entry stands for, if not one.

    >>> best_f1(np.array([1, 0], np.int8), np.array([0.5, 0.5]))
    (0.6666666666666666, 0.0)
    """
    others, threats = sort_classes(references, probabilities, multiplicity)
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


def at_thresholds(state: State) -> tuple[np.ndarray, State]:
    """Every threshold that decides differently, and the decisions there, see `decisions_at_all`."""
    cuts, confusion = decisions_at_all(state.rows["references"], _probabilities(state), state.multiplicity)
    return cuts, State(state.n_rows, {"confusion": confusion})


def from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode`: logits as scores, so that threshold and rank metrics have them.

    Args:
        predictions: logits of shape (n, 2), (n, 1) or (n,) (probabilities, if ``from_logits=False`` was fixed at
            load), or ids of shape (n,), without rank metrics.
        label_ids: ids of shape (n,).
    """
    expected = "from the model logits of shape (n, 2) or (n, 1), or ids of shape (n,); labels of shape (n,)"
    (outputs,) = model_outputs(predictions, expected)
    (references,) = label_arrays(label_ids, expected)
    if is_ids(outputs):
        return {
            "predictions": ids_from("predictions", outputs, LABELS, expected),
            "references": references,
        }
    scores = check_scores(outputs, expected)
    return {"prediction_scores": scores, "references": references, "from_logits": True}


def decisions(arrays: Mapping[str, np.ndarray], *, threshold: float, **options: Any) -> np.ndarray:
    """The predicted labels, int8 of shape (n,): as given, or of scores above the threshold."""
    if "predictions" in arrays:
        return arrays["predictions"]
    probabilities = arrays["probabilities"] if "probabilities" in arrays else sigmoid(arrays["logits"])
    return (probabilities > threshold).view(np.int8)


def is_threat(arrays: Mapping[str, np.ndarray], *, threshold: float, **options: Any) -> np.ndarray:
    """1 where the predicted label is threat, 0 where it isn't or is invalid: int8 of shape (n,)."""
    _check_threshold(threshold, "predictions" in arrays)
    return (decisions(arrays, threshold=threshold) == 1).view(np.int8)


#: The metric, by configuration.
DEFINITIONS = {
    "default": Definition(
        name="threat_f1",
        headlines=("f1_macro",),
        inputs=(
            Input(
                "predictions",
                LABEL,
                'n labels, "non-threat" and "threat" or their ids 0 and 1. May be left out if there are '
                "prediction_scores.",
                LABELS,
                required=False,
            ),
            Input(
                "references",
                LABEL,
                "The gold labels.",
                LABELS,
                gold=True,
                also=("label", "labels"),
                in_layouts=(("kaggle", "threat"),),
            ),
            Input(
                "prediction_scores",
                SCORE,
                "P(threat), n numbers in [0, 1] or two columns that sum to 1. May be left out if there are "
                "predictions. With scores only, the decision is P(threat) > threshold; with both, predictions are used "
                "as given.",
                required=False,
                in_layouts=(("kaggle", "threat"), ("pipeline", "threat"), ("perspective", "THREAT")),
            ),
        ),
        options=(INVALID, FROM_LOGITS, SCORE_RESOLUTION, THRESHOLD, ZERO_DIVISION, DETAILED),
        encode=encode,
        count=count,
        at_once=AtOnce(tables, score_groups, decided),
        score=score,
        from_trainer=from_trainer,
        example={"prediction_scores": [0.5], "references": [0]},
        replicate=replicate,
        ranked=ranked,
        neither=("prevalence",),
        decisions=decisions,
        confusions=confusions,
        doubts=doubts,
        picture=picture,
        thresholds=Thresholds(
            at_thresholds, maximise="f1_threat", recall="recall_threat", precision="precision_threat"
        ),
        judged=JudgedRate("threat", "rate_threat", is_threat, ("invalid", "from_logits", "threshold")),
    )
}
