"""Human-AI collaboration in content moderation: OC-accuracy, OC-AUC and their kin (Kivlichan et al. 2021, WOAH).

arXiv 2107.04212.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import datasets
import evaluate
import numpy as np

from .base import Metric
from .bounds import group_cells
from .curves import ReviewCurve, capacity, review_at, review_curve, smallest_capacity
from .errors import put_errors
from .grid import cells_of, check_resolution, to_grid
from .groups import capacity_keys, group_rows, resampled_scores
from .inputs import check_choice, check_number, describe, encode_floats, encode_scores, is_number, refuse, same_length
from .intervals import interval_scores
from .labels import encode_labels
from .ranking import Curve
from .resampling import Draws
from .rows import Reliability, Rows, brier_score, calibration_curve, reliability, risk_coverage_areas, sort_rows
from .scoring import Scores, State
from .trainer import check_scores, label_arrays, model_outputs

#: The labels; their positions are the ids.
LABELS = ("non-toxic", "toxic")
#: Who is reviewed first: the predictions the model is least sure of, or the most toxic ones (section 3.2).
STRATEGIES = ("uncertainty", "toxicity")
#: The reviewed fractions of the paper's tables.
FRACTIONS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
#: More bins than anybody draws, and few enough for the memory that intervals need.
MAX_BINS = 1000
#: What `targets` may name: the quantities that never fall as more is reviewed.
TARGETS = ("oc_accuracy", "oc_precision", "oc_recall", "oc_auroc")

_DESCRIPTION = """
A toxicity model and a human moderator who can review a given fraction of the comments, scored as a team: oracle-model
collaborative accuracy and AUC, review efficiency and effectiveness, for review by uncertainty or by toxicity, beside
the model's own accuracy, AUC and calibration.
"""

_CITATION = """
@inproceedings{kivlichan-etal-2021-measuring,
  title={Measuring and Improving Model-Moderator Collaboration using Uncertainty Estimation},
  author={Kivlichan, Ian and Lin, Zi and Liu, Jeremiah and Vasserman, Lucy},
  booktitle={Proceedings of the 5th Workshop on Online Abuse and Harms (WOAH 2021)},
  year={2021},
  pages={36--53},
  publisher={Association for Computational Linguistics},
  doi={10.18653/v1/2021.woah-1.5}
}
"""

_INPUTS = """
Args:
    predictions: n probabilities of being toxic, or n x 2 with the columns (non-toxic, toxic).
    references: n labels, 0 or 1 (toxic), or "non-toxic" and "toxic".
    review_scores: n finite numbers, the larger the sooner reviewed: a review strategy of your own (optional).
    from_logits: predictions are logits: of a sigmoid, or with two columns of a softmax.
    label_threshold: references are fractions in [0, 1], toxic strictly above this one.
    score_resolution: a power of two such as 2**-20: probabilities are put on a grid of this width, which bounds the
        memory any number of rows needs; <key>_error then says how far a score can be from the exact one.
    review_strategy: "uncertainty" (default) or "toxicity"; not with review_scores.
    review_fractions: the fractions of the rows the moderator can review, each in [0, 1].
    threshold: a row is predicted toxic if its probability is above it.
    n_bins: bins of the calibration error.
    targets: e.g. {"oc_accuracy": 0.99}: adds the smallest review fraction that reaches it, and the number of reviews.
        Also oc_precision, oc_recall, oc_auroc.
    zero_division: 0.0 (default), 1.0 or nan: the value of oc_precision, oc_recall and oc_f1 with a zero denominator.
    detailed: adds counts, precision, recall and F1 of the team, random and ideal review, risk-coverage areas.
    confidence_level: e.g. 0.95: adds <key>_low and <key>_high for every score; None (default) doesn't. n_resamples
        (1000), seed (0) and stratify (False) are its options, see the metric card.

Returns:
    dict of floats: for each fraction oc_accuracy_at_0.05 and so on, review_efficiency, review_effectiveness, oc_auroc,
    oc_auprc; and accuracy, auroc, auprc, brier, ece, calibration_auroc, calibration_auprc of the model alone.

Examples:
    >>> metric = evaluate.load("metrics/oracle_collab")
    >>> scores = metric.compute(
    ...     predictions=[0.1, 0.6, 0.45, 0.9], references=[0, 0, 1, 1], review_fractions=[0.25, 0.5]
    ... )
    >>> scores["accuracy"], scores["oc_accuracy_at_0.25"], scores["oc_accuracy_at_0.5"]
    (0.5, 0.75, 1.0)
"""


def encode(
    predictions: Any,
    references: Any,
    review_scores: Any = None,
    *,
    from_logits: bool = False,
    label_threshold: float | None = None,
    score_resolution: float | None = None,
) -> dict[str, np.ndarray]:
    """The rows as arrays of shape (n,).

    Args:
        predictions, references, review_scores: see `OracleCollab`.
        from_logits: predictions are logits.
        label_threshold: references are fractions in [0, 1], and toxic strictly above it.
        score_resolution: width of the grid the probabilities are put on; not with logits or review_scores.

    Returns:
        ``references`` as int8 ids; float64 ``probabilities`` (of being toxic), or ``logits`` with ``from_logits``; and
        float64 ``review_scores`` if given. ``resolution`` of the grid, 0.0 if there is none.

    Raises:
        ValueError: for unknown labels, predictions that are no probabilities, scores that aren't finite, different
            lengths, no rows.

    >>> encode([0.2, 0.9], [0.7, 0.71], label_threshold=0.7)["references"]
    array([0, 1], dtype=int8)
    """
    check_choice("oracle_collab", "from_logits", from_logits, (False, True))
    resolution = check_resolution("oracle_collab", score_resolution, from_logits)
    if resolution and review_scores is not None:
        hint = "a grid bounds only what lies in [0, 1]"
        refuse("oracle_collab", "option score_resolution", f"{resolution} beside review_scores", "None", hint)
    kind = "logits" if from_logits else "probabilities"
    scores = encode_scores("oracle_collab", "predictions", predictions, from_logits=from_logits)
    arrays = {kind: scores, "references": _encode_references(references, label_threshold)}
    lengths = {"predictions": len(scores), "references": len(arrays["references"])}
    if review_scores is not None:
        arrays["review_scores"] = encode_floats("oracle_collab", "review_scores", review_scores)
        lengths["review_scores"] = len(arrays["review_scores"])
    same_length("oracle_collab", **lengths)
    if resolution:
        arrays[kind] = to_grid(scores, resolution)
    return arrays | {"resolution": np.array(resolution)}


def _encode_references(references: Any, label_threshold: float | None) -> np.ndarray:
    if label_threshold is None:
        return encode_labels(
            "oracle_collab", "references", references, LABELS, scores_input="references with label_threshold"
        )
    at = check_number("oracle_collab", "label_threshold", label_threshold, 0.0, 1.0)
    fractions = encode_floats("oracle_collab", "references", references)
    outside = (fractions < 0.0) | (fractions > 1.0)
    if outside.any():
        row = int(np.argmax(outside))
        refuse("oracle_collab", f"references[{row}]", str(fractions[row]), "fractions from 0 to 1")
    return (fractions > at).view(np.int8)


def count(arrays: dict[str, np.ndarray]) -> State:
    """The rows themselves: every quantity here depends on the order of all scores."""
    rows = {name: values for name, values in arrays.items() if name != "resolution"}
    return State(len(arrays["references"]), {}, rows, float(arrays["resolution"]))


def score(
    state: State,
    *,
    review_strategy: str | None = None,
    review_fractions: Sequence[float] = FRACTIONS,
    threshold: float = 0.5,
    n_bins: int = 15,
    targets: Mapping[str, float] | None = None,
    zero_division: float = 0.0,
    detailed: bool = False,
) -> Scores:
    """The paper's scores (section 3: equations 1 and 2, OC-accuracy, OC-AUC, calibration AUC).

    Args:
        state: rows ``references`` with ``probabilities`` or ``logits``, and perhaps ``review_scores``.
        review_strategy: "uncertainty" or "toxicity"; None is "uncertainty", or ``review_scores`` where there are some.
        review_fractions: each in [0, 1]; k = floor(fraction n) rows are reviewed.
        threshold: of the probability, in [0, 1]; a row is predicted toxic strictly above it.
        n_bins: equal bins of the calibration error, at least 1.
        targets: quantity of `TARGETS` -> value in [0, 1] to be reached.
        zero_division: 0.0, 1.0 or nan, for oc_precision, oc_recall and oc_f1.
        detailed: see the metric card.

    Raises:
        ValueError: for an option out of range, or ``review_strategy`` beside ``review_scores``.
    """
    own = state.rows.get("review_scores")
    if own is not None and review_strategy is not None:
        found = f"{describe(review_strategy)} beside review_scores"
        refuse("oracle_collab", "option review_strategy", found, "a strategy, or review_scores for one of your own")
    strategy = "uncertainty" if review_strategy is None else review_strategy
    check_choice("oracle_collab", "review_strategy", strategy, STRATEGIES)
    fractions = _check_fractions(review_fractions)
    threshold = check_number("oracle_collab", "threshold", threshold, 0.0, 1.0)
    if not is_number(n_bins) or not 1 <= n_bins <= MAX_BINS or n_bins % 1:  # nan and inf too
        refuse("oracle_collab", "option n_bins", describe(n_bins), f"a whole number from 1 to {MAX_BINS}")
    aims = _check_targets(targets)
    check_choice("oracle_collab", "zero_division", zero_division, (0.0, 1.0, float("nan")))
    check_choice("oracle_collab", "detailed", detailed, (False, True))
    if state.resolution and threshold % state.resolution:
        nearest = round(threshold / state.resolution) * state.resolution
        allowed = f"a multiple of score_resolution, {state.resolution}, such as {nearest!r}"
        refuse("oracle_collab", "option threshold", str(threshold), allowed)

    logits = "logits" in state.rows
    raw = state.rows["logits" if logits else "probabilities"]
    rows = sort_rows(
        state.rows["references"],
        raw,
        own,
        state.rows.get("counts"),
        review_strategy=strategy,
        threshold=threshold,
        logits=logits,
    )
    capacities = [capacity(fraction, state.n_rows) for fraction in fractions]
    curve = review_at(rows, capacities, interpolated=detailed)
    calibration = calibration_curve(rows)
    scores = Scores(zero_division)
    for i, fraction in enumerate(fractions):
        _put_team(scores, rows, curve, i, f"_at_{fraction!r}", detailed)
    _put_model(scores, rows, calibration, int(n_bins))
    if detailed:
        for key, area in zip(("aurc", "augrc"), risk_coverage_areas(rows, calibration)):
            scores.put(key, area)
    for quantity, aim in aims.items():
        k = smallest_capacity(rows, quantity, aim)
        why = "" if k is not None else f"no number of reviews gives {quantity} a value, set to nan"
        scores.note(f"review_fraction_for_{quantity}", np.nan if k is None else k / state.n_rows, why)
        scores.note(f"n_reviews_for_{quantity}", np.nan if k is None else k, why)
    if state.resolution:
        cells = cells_of(state.rows["references"], raw, state.rows.get("counts"), state.resolution)
        groups = group_cells(cells, strategy, threshold, state.resolution)
        at = {f"_at_{fraction!r}": k for fraction, k in zip(fractions, capacities)}
        put_errors(scores, groups, rows, at, int(n_bins), aims, detailed, _put_class_scores)
    return scores


def review_curves(
    state: State, *, threshold: float = 0.5, n_bins: int = 15
) -> tuple[dict[str, ReviewCurve], Reliability]:
    """What the picture shows: the curve of each review strategy (and of one's own review scores), and the reliability.

    Args:
        state: as in `score`, an entry a row.
        threshold, n_bins: as in `score`.
    """
    labels, logits = state.rows["references"], "logits" in state.rows
    scores = state.rows["logits" if logits else "probabilities"]
    curves = {
        strategy: review_curve(labels, scores, review_strategy=strategy, threshold=threshold, logits=logits)
        for strategy in STRATEGIES
    }
    if "review_scores" in state.rows:
        own = state.rows["review_scores"]
        curves["review_scores"] = review_curve(labels, scores, own, threshold=threshold, logits=logits)
    return curves, reliability(sort_rows(labels, scores, threshold=threshold, logits=logits), int(n_bins))


def _check_fractions(fractions: Any) -> list[float]:
    several = isinstance(fractions, (Sequence, np.ndarray)) and not isinstance(fractions, (str, bytes))
    if not several or isinstance(fractions, np.ndarray) and fractions.ndim == 0:
        refuse("oracle_collab", "option review_fractions", describe(fractions), "a list of numbers from 0 to 1")
    # + 0.0 makes 0.0 of -0.0, for the keys
    return [check_number("oracle_collab", f"review_fractions[{i}]", f, 0.0, 1.0) + 0.0 for i, f in enumerate(fractions)]


def _check_targets(targets: Any) -> dict[str, float]:
    if targets is None:
        return {}
    if not isinstance(targets, Mapping):
        refuse("oracle_collab", "option targets", describe(targets), 'a dict such as {"oc_accuracy": 0.99}')
    return {
        check_choice("oracle_collab", "targets", quantity, TARGETS): check_number(
            "oracle_collab", f"targets[{quantity!r}]", aim, 0.0, 1.0
        )
        for quantity, aim in targets.items()
    }


def _put_team(scores: Scores, rows: Rows, curve: ReviewCurve, i: int, at: str, detailed: bool) -> None:
    """The team's scores at one fraction."""
    point = ReviewCurve(*(column[i] for column in curve))
    n, k, n_wrong = rows.everyone.n_rows, point.n_reviewed, rows.wrong.n_rows
    n_positives, n_negatives = rows.ranks.n_positives, rows.ranks.n_negatives
    nan = float("nan")
    scores.proportion(f"oc_accuracy{at}", n - point.fp - point.fn, n, "no rows", undefined=nan)
    scores.proportion(f"review_efficiency{at}", point.wrong_reviewed, k, "the fraction allows no review", undefined=nan)
    scores.proportion(
        f"review_effectiveness{at}", point.wrong_reviewed, n_wrong, "no prediction is wrong", undefined=nan
    )
    scores.area(f"oc_auroc{at}", point.oc_auroc, _why_no_auroc(rows), n_positives, n_negatives)
    scores.area(f"oc_auprc{at}", point.oc_auprc, _why_no_auprc(rows), n_positives)
    if not detailed:
        return
    accuracy = (n - n_wrong) / n
    scores.note(f"n_reviewed{at}", k)
    scores.note(f"tied_at_cutoff{at}", point.tied_at_cutoff)
    _put_class_scores(scores, at, point.tp, point.fp, point.fn)
    scores.area(f"oc_auprc_interpolated{at}", point.oc_auprc_interpolated, _why_no_auprc(rows), n_positives)
    scores.put(f"random_review_accuracy{at}", accuracy + k / n * (1.0 - accuracy))
    scores.put(f"ideal_review_accuracy{at}", min(1.0, (n - n_wrong + int(k)) / n))


def _put_class_scores(scores: Scores, at: str, tp: Any, fp: Any, fn: Any) -> None:
    """Precision, recall and F1 of the team; ``at`` ends their keys."""
    scores.proportion(f"oc_precision{at}", tp, tp + fp, "nothing is found toxic")
    scores.proportion(f"oc_recall{at}", tp, tp + fn, "no reference is toxic")
    scores.f1(f"oc_f1{at}", tp, fp, fn, "nothing is toxic or found toxic")


def _put_model(scores: Scores, rows: Rows, calibration: Curve, n_bins: int) -> None:
    """The scores of the model alone."""
    n, n_wrong = rows.everyone.n_rows, rows.wrong.n_rows
    scores.proportion("accuracy", n - n_wrong, n, "no rows", undefined=float("nan"))
    alone = rows.ranks.curve()
    scores.area("auroc", alone.roc_auc(), _why_no_auroc(rows), alone.n_positives, alone.n_negatives)
    scores.area("auprc", alone.average_precision(), _why_no_auprc(rows), alone.n_positives)
    scores.put("brier", brier_score(rows))
    scores.put("ece", reliability(rows, n_bins).ece)
    no_wrong = "" if n_wrong else "no prediction is wrong, set to nan"
    no_right = "" if n_wrong < n else "no prediction is right, set to nan"
    scores.area("calibration_auroc", calibration.roc_auc(), no_wrong or no_right, n_wrong, n - n_wrong)
    scores.area("calibration_auprc", calibration.average_precision(), no_wrong, n_wrong)


def _why_no_auroc(rows: Rows) -> str:
    why = "no reference is non-toxic, set to nan" if not rows.ranks.n_negatives else ""
    return _why_no_auprc(rows) or why


def _why_no_auprc(rows: Rows) -> str:
    return "" if rows.ranks.n_positives else "no reference is toxic, set to nan"


def replicate(
    score: Callable[..., Scores],
    state: State,
    *,
    review_strategy: str | None = None,
    review_fractions: Sequence[float] = FRACTIONS,
    threshold: float = 0.5,
    n_bins: int = 15,
    targets: Mapping[str, float] | None = None,
    zero_division: float = 0.0,
    detailed: bool = False,
) -> Callable[[Draws], Mapping[str, np.ndarray]]:
    """Scores of resampled rows, for the intervals, from groups of rows; arguments as in `score`, which isn't needed."""
    logits = "logits" in state.rows
    groups = group_rows(
        state.rows["references"],
        state.rows["logits" if logits else "probabilities"],
        state.rows.get("review_scores"),
        state.rows.get("counts"),
        review_strategy=review_strategy or "uncertainty",
        threshold=float(threshold),
        n_bins=int(n_bins),
        logits=logits,
    )
    fractions = _check_fractions(review_fractions)
    capacities = capacity_keys(fractions, [capacity(fraction, state.n_rows) for fraction in fractions])

    def scores_of(draws: Draws) -> Mapping[str, np.ndarray]:
        return resampled_scores(groups, draws, capacities, interpolated=detailed)

    return scores_of


def from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode`.

    Args:
        predictions: logits of shape (n, 2), (n, 1) or (n,); probabilities, if ``from_logits=False`` was fixed at load.
        label_ids: ids of shape (n,), or fractions if ``label_threshold`` was fixed at load.
    """
    expected = "from the model logits of shape (n, 2) or (n, 1), not ids; labels of shape (n,)"
    (outputs,) = model_outputs("oracle_collab", predictions, expected)
    (references,) = label_arrays("oracle_collab", label_ids, expected)
    logits = check_scores("oracle_collab", outputs, expected)
    return {"predictions": logits, "references": references, "from_logits": True}


class OracleCollab(Metric):
    """The collaboration scores as an `evaluate.Metric`."""

    headline = "oc_accuracy_at_0.05"  # where that fraction is among those asked for
    encode = staticmethod(encode)
    count = staticmethod(count)
    score = staticmethod(score)
    from_trainer = staticmethod(from_trainer)
    replicate = staticmethod(replicate)
    intervals = staticmethod(interval_scores)

    def _info(self) -> evaluate.MetricInfo:
        number = datasets.Value("float64")
        references = [datasets.Value("string"), datasets.Value("int64"), number]
        features = [
            {"predictions": predictions, "references": kind} | own
            for own in ({}, {"review_scores": number})
            for predictions in (number, datasets.Sequence(number))
            for kind in references
        ]
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[datasets.Features(columns) for columns in features],
            reference_urls=["https://arxiv.org/abs/2107.04212", "https://aclanthology.org/2021.woah-1.5"],
        )
