"""Joint intent and slot scores on CONDA (Weld et al. 2021, Findings of ACL-IJCNLP, arXiv 2106.06213)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from toxeval.core.containers import columns_of, same_length
from toxeval.core.declarations import (
    DETAILED,
    GROUP,
    INVALID,
    LABEL,
    RECORD,
    SEQUENCE,
    ZERO_DIVISION,
    Definition,
    Input,
)
from toxeval.core.group_states import AtOnce
from toxeval.core.inputs import encode_ids
from toxeval.core.invalid import count_reasons, put_invalid, reasons_of
from toxeval.core.labels import encode_labels
from toxeval.core.refusals import refuse
from toxeval.core.resampling import confusion_by_cluster
from toxeval.core.scoring import By, Scores, confusion_matrix, put_class_scores
from toxeval.core.sequences import Sequences, align_sequences, encode_sequences
from toxeval.core.state import State
from toxeval.core.trainer import ids_from, label_arrays, model_outputs

#: What an utterance does; positions are the ids: explicit toxicity, implicit toxicity, action, other.
INTENTS = ("E", "I", "A", "O")
#: What a token is; positions are the ids: toxicity, slang, character, Dota-specific, pronoun, other, separator.
SLOTS = ("T", "S", "C", "D", "P", "O", "SEPA")
#: The slot classes that the token-level F1 runs over: the first five, without "O" and the separator.
N_SCORED = 5
#: The id of a position that is left out; the one before it is that of an invalid slot.
LEFT_OUT = len(SLOTS) + 1
#: Up to this width a padded array is looked through column by column; beyond, a running sum is as fast.
MAX_COLUMNS = 32

_WITHHELD = "CONDA's test split is published without annotation; its CodaLab competition takes no more submissions"


def encode(predictions: Any, references: Any, cluster: Any = None, *, invalid: str) -> dict[str, np.ndarray]:
    """Intents as int8 ids of shape (n,), slots as int8 ids of shape (t,), utterance after utterance.

    A position whose reference is -100 has the id 8 on both sides; an invalid slot has the id 7 (one more than the last
    slot's). With ``cluster`` there is that too, int64 or str of shape (n,); with ``invalid="count"`` the utterances'
    ``reasons``: why its intent or else its slots are invalid.

    Raises:
        ValueError: for unknown labels, slots of different lengths, different numbers of utterances, no utterance.

    >>> arrays = encode([{"intent": "E", "slots": ["T", "O"]}], {"intent": [0], "slots": np.array([[0, 5, -100]])},
    ...                 invalid="error")
    >>> arrays["reference_slots"], arrays["lengths"]
    (array([0, 5], dtype=int8), array([2]))
    """
    intents_p, slots_p = _encode_side("predictions", predictions, invalid == "count")
    intents_r, slots_r = _encode_side("references", references, False)
    same_length(predictions=len(intents_p), references=len(intents_r))
    slots_p, slots_r = align_sequences(slots_p, slots_r, n_labels=len(SLOTS), field="slots", left_out=LEFT_OUT)
    arrays = {
        "prediction_intents": intents_p,
        "reference_intents": intents_r,
        "prediction_slots": slots_p.flat,
        "reference_slots": slots_r.flat,
        "lengths": slots_r.lengths,
    }
    if slots_p.reasons is not None:
        of_intents = reasons_of(intents_p, len(INTENTS))
        arrays["reasons"] = np.where(of_intents < 0, slots_p.reasons, of_intents)
    if cluster is not None:
        arrays["cluster"] = encode_ids("cluster", cluster)
        same_length(predictions=len(intents_p), cluster=len(arrays["cluster"]))
    return arrays


def encode_intents(predictions: Any, references: Any, cluster: Any = None, *, invalid: str) -> dict[str, np.ndarray]:
    """Intents alone, as int8 ids of shape (n,); ``cluster`` and ``reasons`` as in `encode`."""
    arrays = {
        "prediction_intents": _encode_intents("predictions", predictions, invalid=invalid == "count"),
        "reference_intents": _encode_intents("references", references),
    }
    lengths = {"predictions": len(arrays["prediction_intents"]), "references": len(arrays["reference_intents"])}
    if invalid == "count":
        arrays["reasons"] = reasons_of(arrays["prediction_intents"], len(INTENTS))
    if cluster is not None:
        arrays["cluster"] = encode_ids("cluster", cluster)
        lengths["cluster"] = len(arrays["cluster"])
    same_length(**lengths)
    return arrays


def _encode_intents(name: str, values: Any, field: str = "", invalid: bool = False) -> np.ndarray:
    hints = {-1: _WITHHELD, None: _WITHHELD} if name == "references" else None
    return encode_labels(name, values, INTENTS, what="intent", field=field, hints=hints, invalid=invalid)


def _encode_side(name: str, values: Any, invalid: bool) -> tuple[np.ndarray, Sequences]:
    columns = columns_of(name, values, ("intent", "slots"))
    intents = _encode_intents(name, columns["intent"], "intent", invalid)
    slots = encode_sequences(name, columns["slots"], SLOTS, what="slot", field="slots", invalid=invalid)
    if len(intents) != len(slots.lengths):
        fields = [f'{name}["{field}"]' for field in ("intent", "slots")]
        refuse(f"{len(intents)} and {len(slots.lengths)} rows", "one row of each an utterance", inputs=fields)
    return intents, slots


def count(arrays: dict[str, np.ndarray]) -> State:
    """Everything the scores need, as sums over utterances.

    Returns:
        counts["intents"] of shape (4, 4) and counts["slots"] of shape (7, 7) are confusion matrices (rows references,
        columns predictions, ids as in `INTENTS` and `SLOTS`); counts["joint"] of shape (2, 2) is the number of
        utterances by [is the intent right][are all slots right]. Where invalid predictions are counted, the matrices
        have a column more for them, and counts["invalid"] the utterances by reason. With clusters, rows has their ids
        and the same tables for each of them.
    """
    lengths, counts = arrays["lengths"], tables(arrays)
    if "cluster" not in arrays:
        return State(len(lengths), counts)
    cluster, position = np.unique(arrays["cluster"], return_inverse=True)
    rows, slots = _by_cluster(cluster, position, arrays, counts), _slots(arrays)
    of_token = np.repeat(position, lengths)
    rows["slots_by_cluster"] = confusion_by_cluster(of_token, *slots, counts["slots"].shape, len(cluster))
    rows["joint_by_cluster"] = confusion_by_cluster(position, *_right(arrays), (2, 2), len(cluster))
    return State(len(lengths), counts, rows)


def tables(arrays: Mapping[str, np.ndarray], by: By | None = None) -> dict[str, np.ndarray]:
    """The counts of `count`; with ``by`` those of each group of utterances."""
    invalid, of_token = "reasons" in arrays, None if by is None else By(np.repeat(by.ids, arrays["lengths"]), by.n)
    slots = confusion_matrix(*_slots(arrays), LEFT_OUT + 1, by=of_token)
    intent_right, slots_right = (right.view(np.int8) for right in _right(arrays))
    joint = confusion_matrix(intent_right, slots_right, 2, by=by)
    counts = intent_tables(arrays, by)
    slots = slots[..., : len(SLOTS), : len(SLOTS) + invalid]
    return {"intents": counts.pop("intents"), "slots": slots, "joint": joint, **counts}


def _slots(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return arrays["reference_slots"], arrays["prediction_slots"]


def _right(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Of each utterance whether the intent is right, and whether all slots are."""
    slots, reasons, lengths = _slots(arrays), arrays.get("reasons"), arrays["lengths"]
    slots_right = ~_rows_with_any(slots[0] != slots[1], lengths)
    if reasons is not None:
        slots_right &= (reasons < 0) | (lengths > 0)  # where no slot is wanted, an invalid answer still isn't right
    return arrays["reference_intents"] == arrays["prediction_intents"], slots_right


def count_intents(arrays: dict[str, np.ndarray]) -> State:
    """As `count`, of intents alone."""
    n, counts = len(arrays["reference_intents"]), intent_tables(arrays)
    if "cluster" not in arrays:
        return State(n, counts)
    cluster, position = np.unique(arrays["cluster"], return_inverse=True)
    return State(n, counts, _by_cluster(cluster, position, arrays, counts))


def intent_tables(arrays: Mapping[str, np.ndarray], by: By | None = None) -> dict[str, np.ndarray]:
    """The counts of `count_intents`; with ``by`` those of each group of utterances."""
    reasons, intents = arrays.get("reasons"), (arrays["reference_intents"], arrays["prediction_intents"])
    counts = {"intents": confusion_matrix(*intents, len(INTENTS), invalid=reasons is not None, by=by)}
    return counts if reasons is None else counts | {"invalid": count_reasons(reasons, by)}


def _by_cluster(
    cluster: np.ndarray, position: np.ndarray, arrays: dict[str, np.ndarray], counts: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The ids of the clusters, and what is counted of the intents of each."""
    predicted = np.minimum(arrays["prediction_intents"], np.int8(len(INTENTS)))
    shape, n = counts["intents"].shape, len(cluster)
    rows = {
        "cluster": cluster,
        "intents_by_cluster": confusion_by_cluster(position, arrays["reference_intents"], predicted, shape, n),
    }
    if "reasons" in arrays:
        reasons, none = arrays["reasons"] + np.int8(1), np.zeros(len(position), np.int8)
        by_reason = confusion_by_cluster(position, none, reasons, (1, len(counts["invalid"])), n)
        rows["invalid_by_cluster"] = by_reason[:, 0]
    return rows


def confusions(state: State) -> dict[str, tuple[np.ndarray, Sequence[str]]]:
    """The confusion matrices of a state, for the picture: title -> (matrix, labels)."""
    counts = state.counts
    found = {"intents (utterances)": (counts["intents"], INTENTS)}
    return found | ({"slots (tokens)": (counts["slots"], SLOTS)} if "slots" in counts else {})


def _rows_with_any(flags: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Whether each row has a flag set; a row without entries has none.

    >>> _rows_with_any(np.array([False, True, False]), np.array([2, 0, 1]))
    array([ True, False, False])
    """
    width = len(flags) // max(len(lengths), 1)
    if 0 < width <= MAX_COLUMNS and (lengths == width).all():  # a padded array: a step a column
        table = flags.reshape(-1, width)
        any_flag: np.ndarray = table[:, 0].copy()
        for column in range(1, width):
            any_flag |= table[:, column]
        return any_flag
    before = np.zeros(len(flags) + 1, dtype=np.int64 if len(flags) > np.iinfo(np.int32).max else np.int32)
    np.cumsum(flags, dtype=before.dtype, out=before[1:])
    ends = np.cumsum(lengths)
    any_flag = before[ends] != before[ends - lengths]
    return any_flag


def score(state: State, *, zero_division: float, detailed: bool) -> Scores:
    """The paper's scores (section 5), from the counts.

    Args:
        state: counts as `count` makes them, with any leading axes.
        zero_division: 0.0, 1.0 or nan; a nan intent is left out of u_f1_macro.
        detailed: adds precision, recall and support of every class, slot accuracy, and what spoils JSA.
    """
    slots, joint = state.counts["slots"], state.counts["joint"]
    scores = Scores(zero_division)
    n = joint.sum(axis=(-2, -1))
    scores.proportion("jsa", joint[..., 1, 1], n, "there is no utterance")
    _put_intents(scores, state.counts["intents"])
    for i in range(N_SCORED):
        put_class_scores(scores, slots, SLOTS, i, prefix="t_", only=["f1"])
    _put_micro_f1(scores, "t_f1", slots, range(N_SCORED))
    if detailed:
        _put_details(scores, state.counts["intents"], INTENTS, "u_")
        _put_details(scores, slots, SLOTS, "t_")
        scores.mean("u_f1_macro", [f"u_f1_{label}" for label in INTENTS])
        _put_micro_f1(scores, "t_f1_with_sepa", slots, [*range(N_SCORED), SLOTS.index("SEPA")])
        right, n_tokens = np.trace(slots, axis1=-2, axis2=-1), slots.sum(axis=(-2, -1))
        scores.proportion("slot_accuracy", right, n_tokens, "there is no token", undefined=float("nan"))
        for key, (intent_right, slots_right) in {"intent_only": (0, 1), "slots_only": (1, 0), "both": (0, 0)}.items():
            scores.proportion(f"jsa_errors_{key}", joint[..., intent_right, slots_right], n, "there is no utterance")
        scores.note("n_utterances", n)
        scores.note("n_tokens", n_tokens)
    if "invalid" in state.counts:
        put_invalid(scores, state.counts["invalid"])
    return scores


def score_intents(state: State, *, zero_division: float, detailed: bool) -> Scores:
    """The paper's scores of intents alone (section 5): UCA and U-F1, and the mean of the latter.

    Args:
        state: counts["intents"] as `count_intents` makes it, with any leading axes.
        zero_division: 0.0, 1.0 or nan; a nan intent is left out of u_f1_macro.
        detailed: adds precision, recall and support of every intent.
    """
    intents = state.counts["intents"]
    scores = Scores(zero_division)
    _put_intents(scores, intents)
    scores.mean("u_f1_macro", [f"u_f1_{label}" for label in INTENTS])
    if detailed:
        _put_details(scores, intents, INTENTS, "u_")
        scores.note("n_utterances", intents.sum(axis=(-2, -1)))
    if "invalid" in state.counts:
        put_invalid(scores, state.counts["invalid"])
    return scores


def _put_intents(scores: Scores, intents: np.ndarray) -> None:
    """UCA and U-F1."""
    right, n = np.trace(intents, axis1=-2, axis2=-1), intents.sum(axis=(-2, -1))
    scores.proportion("uca", right, n, "there is no utterance")
    for i in range(len(INTENTS)):
        put_class_scores(scores, intents, INTENTS, i, prefix="u_", only=["f1"])


def _put_details(scores: Scores, confusion: np.ndarray, labels: tuple[str, ...], prefix: str) -> None:
    for i in range(len(labels)):
        put_class_scores(scores, confusion, labels, i, prefix=prefix, only=["precision", "recall", "support"])


def _put_micro_f1(scores: Scores, key: str, slots: np.ndarray, classes: Any) -> None:
    """F1 of the summed true positives, false positives and false negatives of some classes."""
    chosen = list(classes)
    tp = slots[..., chosen, chosen].sum(axis=-1)
    fp = slots[..., :, chosen].sum(axis=(-2, -1)) - tp
    fn = slots[..., chosen, :].sum(axis=(-2, -1)) - tp
    crossed = slots[..., chosen, :][..., chosen].sum(axis=(-2, -1)) - tp  # one class of these given to another
    names = ", ".join(SLOTS[i] for i in chosen)
    scores.f1(key, tp, fp, fn, f"neither a prediction nor a reference is one of {names}", crossed=crossed)


def from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode`.

    Args:
        predictions: what the model returns beside the loss, in this order: intent logits of shape (n, 4) or ids of
            shape (n,); slot logits of shape (n, l, 7) or ids of shape (n, l).
        label_ids: with ``label_names=["intent_labels", "slot_labels"]`` intent ids of shape (n,) and slot ids of shape
            (n, l), -100 where a position doesn't count (padding, special tokens, all but a word's first sub-token).
    """
    expected = (
        "from the model intent logits of shape (n, 4), then slot logits of shape (n, l, 7), or ids of shapes (n,) and "
        "(n, l); labels of shapes (n,) and (n, l) in the same order"
    )
    intents, slots = model_outputs(predictions, expected, 2)
    intent_labels, slot_labels = label_arrays(label_ids, expected, 2)
    predicted = {
        "intent": ids_from("predictions[0]", intents, INTENTS, expected),
        "slots": ids_from("predictions[1]", slots, SLOTS, expected, slot_labels),
    }
    return {"predictions": predicted, "references": {"intent": intent_labels, "slots": slot_labels}}


def intents_from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode_intents`.

    Args:
        predictions: logits of shape (n, 4), or ids of shape (n,).
        label_ids: ids of shape (n,).
    """
    expected = "from the model logits of shape (n, 4), or ids of shape (n,); labels of shape (n,)"
    (outputs,) = model_outputs(predictions, expected)
    (references,) = label_arrays(label_ids, expected)
    return {"predictions": ids_from("predictions", outputs, INTENTS, expected), "references": references}


_FIELDS = (Input("intent", LABEL, labels=INTENTS), Input("slots", SEQUENCE, labels=SLOTS))
_CLUSTER = Input(
    "cluster",
    GROUP,
    "The conversation of each utterance, as whole numbers or texts: confidence intervals then resample conversations, "
    "since the utterances of one aren't independent.",
    required=False,
    gold=True,
)
JOINT = Definition(
    name="conda_joint",
    headlines=("jsa",),
    inputs=(
        Input(
            "predictions",
            RECORD,
            'n utterances, each {"intent": "E", "slots": ["T", "O"]}; or columns, {"intent": [...], "slots": '
            "[[...], ...]}. Names or ids: intents E, I, A, O; slots T, S, C, D, P, O, SEPA. Slots may be a 2-D array.",
            fields=_FIELDS,
        ),
        Input(
            "references",
            RECORD,
            "The gold annotation, likewise, with as many slots. Positions with reference slot -100 are left out.",
            fields=_FIELDS,
            gold=True,
            also=("label", "labels"),
        ),
        _CLUSTER,
    ),
    options=(INVALID, ZERO_DIVISION, DETAILED),
    encode=encode,
    count=count,
    at_once=AtOnce(tables),
    score=score,
    from_trainer=from_trainer,
    example=dict.fromkeys(("predictions", "references"), {"intent": [0], "slots": [[0]]}),
    confusions=confusions,
    per_token=("prediction_slots", "reference_slots"),
    lower=("jsa_errors",),
)
#: Intents alone, which is what many train.
INTENT = replace(
    JOINT,
    config="intent",
    headlines=("uca",),
    inputs=(
        Input(
            "predictions",
            LABEL,
            "n intents: E, I, A, O or their ids 0 to 3.",
            INTENTS,
            also=("pred_intent",),
            in_layouts=(("pipeline", "label"),),
        ),
        Input(
            "references",
            LABEL,
            "The gold intents, likewise.",
            INTENTS,
            gold=True,
            also=("label", "labels", "intent", "intentClass"),
        ),
        _CLUSTER,
    ),
    encode=encode_intents,
    count=count_intents,
    at_once=AtOnce(intent_tables),
    score=score_intents,
    from_trainer=intents_from_trainer,
    example={"predictions": [0], "references": [0]},
)
#: The metric, by configuration.
DEFINITIONS = {each.config: each for each in (JOINT, INTENT)}
