"""Human-AI collaboration in content moderation: OC-accuracy, OC-AUC and their kin (Kivlichan et al. 2021, WOAH).

arXiv 2107.04212. The model alone (section 3) is in `rows`, the team of model and oracle (section 4.1) in `curves`;
moderators who err are in `reviewers`, how many reviews there should be in `plans`, and what resamples need in `groups`.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
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
from toxeval.core.grid import refuse_off_grid, refuse_with_grid, to_grid
from toxeval.core.group_states import AtOnce
from toxeval.core.inputs import encode_floats, encode_fractions, encode_scores
from toxeval.core.labels import encode_labels, encode_sparse_labels
from toxeval.core.refusals import refuse
from toxeval.core.resampling import Draws
from toxeval.core.scoring import By, Scores, confusion_matrix, score_doubts, sigmoid
from toxeval.core.state import State
from toxeval.core.trainer import check_scores, label_arrays, model_outputs

from .bounds import put_errors
from .curves import ReviewCurve, Team, capacity, put_team, review_curve, team_at
from .groups import group_rows, resampled_scores
from .plans import costed, put_costs, put_target
from .reviewers import ASSUMED, ORACLE, WORDS, Reviewers, drawn_reviewers, put_error_rates, reviewers_of
from .rows import (
    brier_score,
    by_uncertainty,
    calibration_curve,
    put_model,
    put_risk_coverage,
    reliability,
    sort_rows,
)

#: The labels; their positions are the ids.
LABELS = ("non-toxic", "toxic")
#: Who is reviewed first: the predictions the model is least sure of, or the most toxic ones (section 5).
STRATEGIES = ("uncertainty", "toxicity")
#: The strategy in force where there are review scores of the user's own.
OWN = "review_scores"
#: The reviewed fractions of the paper's tables.
FRACTIONS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
#: What `targets` may name: the quantities that never fall as an oracle reviews more.
TARGETS = ("oc_accuracy", "oc_precision", "oc_recall", "oc_auroc")


# --- rows ---------------------------------------------------------------------------------------------------------


def encode(
    predictions: Any,
    references: Any,
    review_scores: Any = None,
    moderator_labels: Any = None,
    *,
    from_logits: bool,
    label_threshold: float | None,
    score_resolution: float | None,
) -> dict[str, np.ndarray]:
    """The rows as arrays of shape (n,).

    Returns:
        ``references`` as int8 ids; float64 ``probabilities`` (of being toxic), or ``logits`` with ``from_logits``; and
        float64 ``review_scores`` if given, int8 ``moderator_labels``, 2 where a row has none. ``resolution`` of the
        grid, 0.0 if there is none.

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
    if moderator_labels is not None:
        arrays[WORDS] = encode_sparse_labels(WORDS, moderator_labels, LABELS)
    same_length(**{"predictions" if name == kind else name: len(array) for name, array in arrays.items()})
    if score_resolution:
        arrays[kind] = to_grid(arrays[kind], score_resolution)
    return arrays | {"resolution": np.array(score_resolution or 0.0)}


def count(arrays: dict[str, np.ndarray]) -> State:
    """The rows themselves: every quantity here depends on the order of all scores. Of moderators' words counts will do:
    shape (2, 2), references first."""
    rows = {name: values for name, values in arrays.items() if name not in ("resolution", WORDS)}
    return State(len(rows["references"]), tables(arrays), rows, float(arrays["resolution"]))


def tables(arrays: Mapping[str, np.ndarray], by: By | None = None) -> dict[str, np.ndarray]:
    """The counts of `count`; with ``by`` those of each group of rows."""
    if WORDS not in arrays:
        return {}
    words = confusion_matrix(arrays["references"], arrays[WORDS], len(LABELS), invalid=True, by=by)
    return {WORDS: words[..., :-1]}


def decisions(arrays: Mapping[str, np.ndarray], *, threshold: float, **options: Any) -> np.ndarray:
    """The model's predictions, int8 of shape (n,)."""
    probabilities = sigmoid(arrays["logits"]) if "logits" in arrays else arrays["probabilities"]
    return (probabilities > threshold).view(np.int8)


def in_force(options: Mapping[str, Any], inputs: Iterable[str]) -> dict[str, Any]:
    """The options with what is in force with these inputs: the review strategy, and where errors are known from."""
    strategy = options["review_strategy"] or (OWN if OWN in inputs else STRATEGIES[0])
    known = {ASSUMED: WORDS} if WORDS in inputs else {}
    return {**options, "review_strategy": strategy, **known}


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
    moderator_error: Mapping[str, float] | None,
    moderators: int,
    costs: Mapping[str, float] | None,
    zero_division: float,
    detailed: bool,
) -> Scores:
    """The paper's scores: of the model alone (section 3), and of model and oracle together (section 4.1).

    Args:
        state: rows ``references`` with ``probabilities`` or ``logits``, and perhaps ``review_scores``; counts of
            ``moderator_labels``, if there are any.
        review_strategy: "uncertainty", "toxicity" or "review_scores"; None is whichever is in force.
        review_fractions: each in [0, 1]; k = floor(fraction n) rows are reviewed.
        threshold: of the probability, in [0, 1]; a row is predicted toxic strictly above it.
        n_bins: equal bins of the calibration error, at least 1.
        targets: quantity of `TARGETS` -> value in [0, 1] to be reached.
        moderator_error: "false_positive" and "false_negative" of a moderator; None without moderators' labels means the
            paper's oracle.
        moderators: how many review a row, odd.
        costs: of a "review", a "false_positive", a "false_negative".
        zero_division: 0.0, 1.0 or nan, for oc_precision, oc_recall and oc_f1.
        detailed: see the metric card.

    Raises:
        ValueError: for a ``review_strategy`` that doesn't go with the inputs, or a threshold beside the grid; for
            moderators as in `reviewers_of`.
    """
    words = state.counts.get(WORDS)
    reviewers = reviewers_of(moderator_error, words, moderators)
    strategy = _strategy(state, review_strategy)
    refuse_off_grid(threshold, state.resolution)
    chosen: dict[str, Any] = {"review_strategy": strategy, "threshold": threshold}
    rows = sort_rows(**_columns(state), **chosen, toxic=not reviewers.perfect)
    scores, n, calibration = Scores(zero_division), state.n_rows, calibration_curve(rows)
    teams = {}
    for fraction in review_fractions:
        at = f"_at_{fraction!r}"
        teams[at], curve = team_at(rows, capacity(fraction, n), reviewers)
        put_team(scores, teams[at], curve, at, detailed=detailed, reviewers=reviewers)
    right, ece = rows.right.n_rows, reliability(rows, n_bins).ece
    put_model(scores, (right, n), rows.ranks.curve(), calibration, brier_score(rows), ece)
    if detailed:
        put_risk_coverage(scores, *by_uncertainty(rows), calibration)
    if words is not None:
        put_error_rates(scores, words)
    for quantity, target in (targets or {}).items():
        put_target(scores, rows, quantity, target, reviewers)
    if costs:
        put_costs(scores, rows, {at: team.k for at, team in teams.items()}, reviewers, costs, moderators)
    if state.resolution:
        put_errors(scores, state, teams, strategy, threshold, reviewers)
    return scores


def replicate(
    state: State,
    *,
    review_strategy: str | None,
    review_fractions: Sequence[float],
    threshold: float,
    n_bins: int,
    moderator_error: Mapping[str, float] | None,
    moderators: int,
    costs: Mapping[str, float] | None,
    detailed: bool,
    **options: Any,
) -> Callable[[Draws], Mapping[str, np.ndarray]]:
    """Scores of resampled rows, for the intervals, from groups of rows; arguments as in `score`."""
    words = state.counts.get(WORDS)
    reviewers = reviewers_of(moderator_error, words, moderators)
    chosen: dict[str, Any] = {"review_strategy": _strategy(state, review_strategy), "threshold": threshold}
    groups = group_rows(**_columns(state), **chosen, n_bins=n_bins)
    capacities = {f"_at_{fraction!r}": capacity(fraction, state.n_rows) for fraction in review_fractions}
    at_costs, cost = {}, None
    if costs:  # at the capacity that is the cheapest in the data: what is the cheapest in a resample looks too cheap
        rows = sort_rows(**_columns(state), **chosen, toxic=not reviewers.perfect)
        at_costs = costed(rows, capacities, reviewers, costs, moderators)
        cost = partial(Team.cost, costs=costs, m=moderators)

    def scores_of(draws: Draws) -> Mapping[str, np.ndarray]:
        drawn = drawn_reviewers(reviewers, words, moderators, draws)
        found = resampled_scores(
            groups, draws, capacities, detailed=detailed, reviewers=drawn, costed=at_costs, cost=cost
        )
        return found.values

    return scores_of


def ranked(state: State) -> tuple[np.ndarray, np.ndarray]:
    """References and the model's scores, for areas under curves."""
    columns = _columns(state)
    return columns["labels"], columns["scores"]


# --- pictures -----------------------------------------------------------------------------------------------------


def review_curves(state: State, *, threshold: float, reviewers: Reviewers = ORACLE) -> dict[str, ReviewCurve]:
    """The curve of each review strategy, and of one's own review scores.

    Args:
        state: as in `score`, an entry a row.
        threshold: as in `score`.
        reviewers: who reviews.
    """
    columns = _alone(state) | {"threshold": threshold, "reviewers": reviewers}
    curves = {strategy: review_curve(**columns, review_strategy=strategy) for strategy in STRATEGIES}
    if OWN in state.rows:
        curves[OWN] = review_curve(**columns, review_scores=state.rows[OWN])
    return curves


def _alone(state: State) -> dict[str, Any]:
    """What there is to say of a model alone, an entry a row."""
    return {key: value for key, value in _columns(state).items() if key not in (OWN, "multiplicity")}


def picture(
    states: Mapping[str, State], results: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]
) -> Picture:
    """The curves and the reliability of each system, and the curves with moderators who err."""
    threshold = options["threshold"]
    data: dict[str, dict[str, Any]] = {"curves": {}, "reliabilities": {}, "moderated": {}}
    for name, state in states.items():
        reviewers = reviewers_of(options[ASSUMED], state.counts.get(WORDS), options["moderators"])
        data["curves"][name] = review_curves(state, threshold=threshold)
        if not reviewers.perfect:
            data["moderated"][name] = review_curves(state, threshold=threshold, reviewers=reviewers)
        rows = sort_rows(**_alone(state), threshold=threshold)
        data["reliabilities"][name] = reliability(rows, options["n_bins"])
    return Picture("collaboration", data)


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
            Input(
                WORDS,
                LABEL,
                "n labels that a moderator gave, None where none did: how often moderators err is measured on these "
                "rows. May be left out.",
                LABELS,
                required=False,
                gold=True,
                sparse=True,
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
            NamedNumbers(
                ASSUMED,
                "How often a moderator calls a non-toxic row toxic, and a toxic one non-toxic; together less than 1. "
                "0 and 0 is one who is always right, and so is none, unless moderator_labels tell.",
                later=True,
                names=("false_positive", "false_negative"),
                all_names=True,
            ),
            Whole(
                "moderators",
                "How many moderators review a row, of whom the majority decides.",
                1,
                later=True,
                low=1,
                high=999,
                odd=True,
            ),
            NamedNumbers(
                "costs",
                "Adds what reviews and the errors that are left cost, and the fraction that costs least. A review is "
                "that of one moderator.",
                later=True,
                high=math.inf,
                names=("review", "false_positive", "false_negative"),
                all_names=True,
            ),
            ZERO_DIVISION,
            DETAILED,
        ),
        encode=encode,
        count=count,
        at_once=AtOnce(tables),
        score=score,
        from_trainer=from_trainer,
        example={"predictions": [0.5], "references": [0]},
        more_examples=({"predictions": [0.5], "references": [0], OWN: [0.0]},),
        replicate=replicate,
        ranked=ranked,
        lower=("brier", "ece", "aurc", "augrc", "cost", "moderator_"),
        neither=("random_review_accuracy", "ideal_review_accuracy"),
        in_force=in_force,
        decisions=decisions,
        doubts=doubts,
        picture=picture,
    )
}
