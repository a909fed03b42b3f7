"""Human-AI collaboration in content moderation: OC-accuracy, OC-AUC and their kin (Kivlichan et al. 2021, WOAH).

arXiv 2107.04212. The model alone (section 3) is in `rows`, the team of model and oracle (section 4.1) in `curves`, and
what resamples need of both in `groups`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from toxeval.core.containers import same_length
from toxeval.core.declarations import (
    DETAILED,
    FROM_LOGITS,
    LABEL,
    SCORE,
    SCORE_RESOLUTION,
    THRESHOLD,
    ZERO_DIVISION,
    Choice,
    Definition,
    Input,
    NamedNumbers,
    Number,
    Numbers,
    Picture,
    Whole,
)
from toxeval.core.grid import (
    Cells,
    average_precision_bounds,
    cells_of,
    furthest,
    refuse_off_grid,
    refuse_with_grid,
    roc_auc_error,
    to_grid,
)
from toxeval.core.inputs import encode_floats, encode_fractions, encode_scores
from toxeval.core.labels import encode_labels
from toxeval.core.refusals import refuse
from toxeval.core.resampling import Draws
from toxeval.core.scoring import Scores, ratio, score_doubts, sigmoid
from toxeval.core.state import State
from toxeval.core.trainer import check_scores, label_arrays, model_outputs

from .curves import ReviewCurve, Team, capacity, put_team, review_curve, smallest_capacity, team_at
from .groups import group_rows, resampled_scores
from .rows import (
    Reliability,
    brier_score,
    by_uncertainty,
    calibration_curve,
    put_model,
    put_risk_coverage,
    reliability,
    sort_rows,
    uncertainty,
)

#: The labels; their positions are the ids.
LABELS = ("non-toxic", "toxic")
#: Who is reviewed first: the predictions the model is least sure of, or the most toxic ones (section 5).
STRATEGIES = ("uncertainty", "toxicity")
#: The strategy in force where there are review scores of the user's own.
OWN = "review_scores"
#: The reviewed fractions of the paper's tables.
FRACTIONS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
#: What `targets` may name: the quantities that never fall as more is reviewed.
TARGETS = ("oc_accuracy", "oc_precision", "oc_recall", "oc_auroc")


# --- rows ---------------------------------------------------------------------------------------------------------


def encode(
    predictions: Any,
    references: Any,
    review_scores: Any = None,
    *,
    from_logits: bool,
    label_threshold: float | None,
    score_resolution: float | None,
) -> dict[str, np.ndarray]:
    """The rows as arrays of shape (n,).

    Returns:
        ``references`` as int8 ids; float64 ``probabilities`` (of being toxic), or ``logits`` with ``from_logits``; and
        float64 ``review_scores`` if given. ``resolution`` of the grid, 0.0 if there is none.

    Raises:
        ValueError: for unknown labels, predictions that are no probabilities, scores that aren't finite, different
            lengths, no rows.

    >>> encode([0.2, 0.9], [0.7, 0.71], from_logits=False, label_threshold=0.7, score_resolution=None)["references"]
    array([0, 1], dtype=int8)
    """
    beside = "" if review_scores is None else OWN
    refuse_with_grid(score_resolution, from_logits=from_logits, beside=beside)
    kind = "logits" if from_logits else "probabilities"
    arrays = {kind: encode_scores("predictions", predictions, from_logits=from_logits)}
    if label_threshold is None:
        scores_input = "references with label_threshold"
        arrays["references"] = encode_labels("references", references, LABELS, scores_input=scores_input)
    else:
        arrays["references"] = (encode_fractions("references", references) > label_threshold).view(np.int8)
    if review_scores is not None:
        arrays[OWN] = encode_floats(OWN, review_scores)
    same_length(**{"predictions" if name == kind else name: len(array) for name, array in arrays.items()})
    if score_resolution:
        arrays[kind] = to_grid(arrays[kind], score_resolution)
    return arrays | {"resolution": np.array(score_resolution or 0.0)}


def count(arrays: dict[str, np.ndarray]) -> State:
    """The rows themselves: every quantity here depends on the order of all scores."""
    rows = {name: values for name, values in arrays.items() if name != "resolution"}
    return State(len(arrays["references"]), {}, rows, float(arrays["resolution"]))


def decisions(arrays: Mapping[str, np.ndarray], *, threshold: float, **options: Any) -> np.ndarray:
    """The model's predictions, int8 of shape (n,)."""
    probabilities = sigmoid(arrays["logits"]) if "logits" in arrays else arrays["probabilities"]
    return (probabilities > threshold).view(np.int8)


def in_force(options: Mapping[str, Any], inputs: Iterable[str]) -> dict[str, Any]:
    """The options with the review strategy that is in force with these inputs."""
    strategy = options["review_strategy"] or (OWN if OWN in inputs else STRATEGIES[0])
    return {**options, "review_strategy": strategy}


def _columns(state: State) -> dict[str, Any]:
    """What `sort_rows` and `group_rows` take of a state."""
    logits = "logits" in state.rows
    return {
        "labels": state.rows["references"],
        "scores": state.rows["logits" if logits else "probabilities"],
        "review_scores": state.rows.get(OWN),
        "multiplicity": state.multiplicity,
        "logits": logits,
    }


def _strategy(state: State, given: str | None) -> str:
    """The review strategy that is in force; refuses one that doesn't go with the inputs."""
    strategy: str = in_force({"review_strategy": given}, state.rows)["review_strategy"]
    if (strategy == OWN) != (OWN in state.rows):
        found = f"{strategy!r} {'beside' if OWN in state.rows else 'without'} review_scores"
        refuse(found, "a strategy, or review_scores for one of your own", option="review_strategy")
    return strategy


# --- scores -------------------------------------------------------------------------------------------------------


def score(
    state: State,
    *,
    review_strategy: str | None,
    review_fractions: Sequence[float],
    threshold: float,
    n_bins: int,
    targets: Mapping[str, float] | None,
    zero_division: float,
    detailed: bool,
) -> Scores:
    """The paper's scores: of the model alone (section 3), and of model and oracle together (section 4.1).

    Args:
        state: rows ``references`` with ``probabilities`` or ``logits``, and perhaps ``review_scores``.
        review_strategy: "uncertainty", "toxicity" or "review_scores"; None is whichever is in force.
        review_fractions: each in [0, 1]; k = floor(fraction n) rows are reviewed.
        threshold: of the probability, in [0, 1]; a row is predicted toxic strictly above it.
        n_bins: equal bins of the calibration error, at least 1.
        targets: quantity of `TARGETS` -> value in [0, 1] to be reached.
        zero_division: 0.0, 1.0 or nan, for oc_precision, oc_recall and oc_f1.
        detailed: see the metric card.

    Raises:
        ValueError: for a ``review_strategy`` that doesn't go with the inputs, or a threshold beside the grid.
    """
    strategy = _strategy(state, review_strategy)
    refuse_off_grid(threshold, state.resolution)
    rows = sort_rows(**_columns(state), review_strategy=strategy, threshold=threshold)
    scores, n, calibration = Scores(zero_division), state.n_rows, calibration_curve(rows)
    teams = {}
    for fraction in review_fractions:
        at = f"_at_{fraction!r}"
        teams[at], curve = team_at(rows, capacity(fraction, n))
        put_team(scores, teams[at], curve, at, detailed=detailed)
    right, ece = rows.right.n_rows, reliability(rows, n_bins).ece
    put_model(scores, (right, n), rows.ranks.curve(), calibration, brier_score(rows), ece)
    if detailed:
        put_risk_coverage(scores, *by_uncertainty(rows), calibration)
    for quantity, target in (targets or {}).items():
        k = smallest_capacity(rows, quantity, target)
        why = "" if k is not None else f"no number of reviews gives {quantity} a value, set to nan"
        scores.note(f"review_fraction_for_{quantity}", math.nan if k is None else k / n, why)
        scores.note(f"n_reviews_for_{quantity}", math.nan if k is None else k, why)
    if state.resolution:
        _put_errors(scores, state, teams, strategy, threshold)
    return scores


def _put_errors(scores: Scores, state: State, teams: Mapping[str, Team], strategy: str, threshold: float) -> None:
    """``<key>_error``: how far scores on a grid can be from the exact ones. Which predictions are wrong is known, since
    the threshold is one of its points."""
    p = state.rows["probabilities"]
    cells = cells_of(state.rows["references"], p, state.multiplicity, state.resolution)
    wrong = np.where(cells.values > threshold, cells.negatives, cells.positives)
    right = cells.negatives + cells.positives - wrong
    labels, unsure = np.repeat((0, 1), len(wrong)), np.tile(uncertainty(cells.values, False), 2)
    by_uncertainty = cells_of(labels, unsure, np.append(right, wrong), state.resolution)
    for kind, ranked in (("", cells), ("calibration_", by_uncertainty)):
        scores.note(f"{kind}auroc_error", roc_auc_error(ranked))
        bounds = average_precision_bounds(ranked)
        scores.note(f"{kind}auprc_error", furthest(scores.values[f"{kind}auprc"], bounds))
    by_score = cells._replace(negatives=right, positives=wrong)
    review = by_uncertainty if strategy == "uncertainty" else by_score
    for at, team in teams.items():
        shares = team._replace(wrong_reviewed=_wrong_reviewed_bounds(review, team.k)).shares()
        for key in ("oc_accuracy", "review_efficiency", "review_effectiveness"):
            error = furthest(scores.values[f"{key}{at}"], ratio(*shares[key], math.nan))
            scores.note(f"{key}{at}_error", error)


def _wrong_reviewed_bounds(review: Cells, k: int) -> np.ndarray:
    """The least and the greatest w(S) of k reviews, from right (negatives) and wrong (positives) predictions in
    ascending order of review.

    Of the rows in an interval, any that fit into k may be the reviewed ones. In a point they are tied.
    """
    right, wrong = review.negatives, review.positives
    size = right + wrong
    fit = np.clip(k - (size[::-1].cumsum()[::-1] - size), 0, size)
    least = np.where(review.within, np.maximum(0, fit - right), wrong * fit / size)
    greatest = np.where(review.within, np.minimum(wrong, fit), wrong * fit / size)
    return np.array([least.sum(), greatest.sum()])


def replicate(
    state: State,
    *,
    review_strategy: str | None,
    review_fractions: Sequence[float],
    threshold: float,
    n_bins: int,
    detailed: bool,
    **options: Any,
) -> Callable[[Draws], Mapping[str, np.ndarray]]:
    """Scores of resampled rows, for the intervals, from groups of rows; arguments as in `score`."""
    strategy = _strategy(state, review_strategy)
    groups = group_rows(**_columns(state), review_strategy=strategy, threshold=threshold, n_bins=n_bins)
    capacities = {f"_at_{fraction!r}": capacity(fraction, state.n_rows) for fraction in review_fractions}

    def scores_of(draws: Draws) -> Mapping[str, np.ndarray]:
        return resampled_scores(groups, draws, capacities, detailed=detailed).values

    return scores_of


def ranked(state: State) -> tuple[np.ndarray, np.ndarray]:
    """References and the model's scores, for areas under curves."""
    columns = _columns(state)
    return columns["labels"], columns["scores"]


# --- pictures -----------------------------------------------------------------------------------------------------


def review_curves(state: State, *, threshold: float, n_bins: int) -> tuple[dict[str, ReviewCurve], Reliability]:
    """What the picture shows: the curve of each review strategy (and of one's own review scores), and the reliability.

    Args:
        state: as in `score`, an entry a row.
        threshold, n_bins: as in `score`.
    """
    columns = {key: value for key, value in _columns(state).items() if key not in (OWN, "multiplicity")}
    columns["threshold"] = threshold
    curves = {strategy: review_curve(**columns, review_strategy=strategy) for strategy in STRATEGIES}
    if OWN in state.rows:
        curves[OWN] = review_curve(**columns, review_scores=state.rows[OWN])
    return curves, reliability(sort_rows(**columns), n_bins)


def picture(
    states: Mapping[str, State], results: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]
) -> Picture:
    """The curves and the reliability of each system."""
    chosen = {name: options[name] for name in ("threshold", "n_bins")}
    both = {name: review_curves(state, **chosen) for name, state in states.items()}
    curves, reliabilities = ({name: pair[i] for name, pair in both.items()} for i in range(2))
    return Picture("collaboration", {"curves": curves, "reliabilities": reliabilities})


def doubts(state: State) -> list[tuple[str, str, str]]:
    """What looks wrong with probabilities, see `score_doubts`."""
    if "probabilities" not in state.rows:
        return []
    return [("predictions", *doubt) for doubt in score_doubts(state.rows["probabilities"])]


# --- the metric ---------------------------------------------------------------------------------------------------


def from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode`.

    Args:
        predictions: logits of shape (n, 2), (n, 1) or (n,); probabilities, if ``from_logits=False`` was fixed at load.
        label_ids: ids of shape (n,), or fractions if ``label_threshold`` was fixed at load.
    """
    expected = "from the model logits of shape (n, 2) or (n, 1), not ids; labels of shape (n,)"
    (outputs,) = model_outputs(predictions, expected)
    (references,) = label_arrays(label_ids, expected)
    return {"predictions": check_scores(outputs, expected), "references": references, "from_logits": True}


#: The metric, by configuration.
DEFINITIONS = {
    "default": Definition(
        name="oracle_collab",
        headlines=("oc_accuracy_at_0.05",),  # where that fraction is among those asked for
        inputs=(
            Input(
                "predictions",
                SCORE,
                "n probabilities of being toxic, or n x 2 with the columns (non-toxic, toxic).",
                in_layouts=(("kaggle", "toxic"), ("pipeline", "toxic"), ("perspective", "TOXICITY")),
            ),
            Input(
                "references",
                LABEL,
                'n labels, 0 or 1 (toxic), or "non-toxic" and "toxic"; with label_threshold fractions in [0, 1].',
                LABELS,
                gold=True,
                also=("label", "labels"),
                numbers=True,
                in_layouts=(("kaggle", "toxic"),),
            ),
            Input(
                OWN,
                SCORE,
                "n finite numbers, the larger the sooner reviewed: a review strategy of your own. May be left out.",
                required=False,
                probabilities=False,
            ),
        ),
        options=(
            FROM_LOGITS,
            Number("label_threshold", "References are fractions, toxic strictly above this one.", with_rows=True),
            SCORE_RESOLUTION,
            Choice(
                "review_strategy",
                'What is reviewed first: "uncertainty", "toxicity", or "review_scores", which is in force exactly '
                "where these are given.",
                choices=(None, *STRATEGIES, OWN),
            ),
            Numbers("review_fractions", "The fractions of the rows that the moderator can review.", FRACTIONS),
            THRESHOLD,
            Whole("n_bins", "Bins of the calibration error.", 15, low=1, high=1000),
            NamedNumbers(
                "targets",
                "Adds the smallest number of reviews that reaches each, such as an oc_accuracy of 0.99, and its "
                f"fraction. Of {', '.join(TARGETS)}.",
                names=TARGETS,
            ),
            ZERO_DIVISION,
            DETAILED,
        ),
        encode=encode,
        count=count,
        score=score,
        from_trainer=from_trainer,
        example={"predictions": [0.5], "references": [0]},
        more_examples=({"predictions": [0.5], "references": [0], OWN: [0.0]},),
        replicate=replicate,
        ranked=ranked,
        lower=("brier", "ece", "aurc", "augrc"),
        neither=("random_review_accuracy", "ideal_review_accuracy"),
        in_force=in_force,
        decisions=decisions,
        doubts=doubts,
        picture=picture,
    )
}
