"""Joint intent and slot scores on CONDA (Weld et al. 2021, Findings of ACL-IJCNLP, arXiv 2106.06213)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from toxeval.core.declarations import (
    DETAILED,
    GROUP,
    LABEL,
    RECORD,
    SEQUENCE,
    ZERO_DIVISION,
    Definition,
    Input,
)
from toxeval.core.inputs import columns_of, encode_ids, same_length
from toxeval.core.labels import encode_labels
from toxeval.core.refusals import refuse
from toxeval.core.resampling import confusion_by_cluster
from toxeval.core.scoring import Scores, confusion_matrix, put_class_scores
from toxeval.core.sequences import align_sequences, encode_sequences
from toxeval.core.state import State
from toxeval.core.trainer import ids_from, label_arrays, model_outputs

#: What an utterance does; positions are the ids: explicit toxicity, implicit toxicity, action, other.
INTENTS = ("E", "I", "A", "O")
#: What a token is; positions are the ids: toxicity, slang, character, Dota-specific, pronoun, other, separator.
SLOTS = ("T", "S", "C", "D", "P", "O", "SEPA")
#: The slot classes that the token-level F1 runs over: the first five, without "O" and the separator.
N_SCORED = 5
#: Up to this width a padded array is looked through column by column; beyond, a running sum is as fast.
MAX_COLUMNS = 32

_WITHHELD = "CONDA's test split is published without annotation; it is scored on the CodaLab competition of its authors"


def encode(predictions: Any, references: Any, cluster: Any = None) -> dict[str, np.ndarray]:
    """Intents as int8 ids of shape (n,), slots as int8 ids of shape (t,), utterance after utterance.

    A position whose reference is -100 has the id 7 (one more than the last slot's) on both sides. With ``cluster``
    there is that too, int64 or str of shape (n,).

    Raises:
        ValueError: for unknown labels, slots of different lengths, different numbers of utterances, no utterance.

    >>> arrays = encode([{"intent": "E", "slots": ["T", "O"]}], {"intent": [0], "slots": np.array([[0, 5, -100]])})
    >>> arrays["reference_slots"], arrays["lengths"]
    (array([0, 5], dtype=int8), array([2]))
    """
    intents_p, slots_p = _encode_side("predictions", predictions)
    intents_r, slots_r = _encode_side("references", references)
    same_length(predictions=len(intents_p), references=len(intents_r))
    flat_p, flat_r, lengths = align_sequences(slots_p, slots_r, field="slots", left_out=len(SLOTS))
    arrays = {
        "prediction_intents": intents_p,
        "reference_intents": intents_r,
        "prediction_slots": flat_p,
        "reference_slots": flat_r,
        "lengths": lengths,
    }
    if cluster is not None:
        arrays["cluster"] = encode_ids("cluster", cluster)
        same_length(predictions=len(intents_p), cluster=len(arrays["cluster"]))
    return arrays


def _encode_side(name: str, values: Any) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    columns = columns_of(name, values, ("intent", "slots"))
    hints = {-1: _WITHHELD, None: _WITHHELD} if name == "references" else None
    intents = encode_labels(name, columns["intent"], INTENTS, what="intent", field="intent", hints=hints)
    slots = encode_sequences(name, columns["slots"], SLOTS, what="slot", field="slots")
    if len(intents) != len(slots[1]):
        fields = [f'{name}["{field}"]' for field in ("intent", "slots")]
        refuse(f"{len(intents)} and {len(slots[1])} rows", "one row of each an utterance", inputs=fields)
    return intents, slots


def count(arrays: dict[str, np.ndarray]) -> State:
    """Everything the scores need, as sums over utterances.

    Returns:
        counts["intents"] of shape (4, 4) and counts["slots"] of shape (7, 7) are confusion matrices (rows references,
        columns predictions, ids as in `INTENTS` and `SLOTS`); counts["joint"] of shape (2, 2) is the number of
        utterances by [is the intent right][are all slots right]. With clusters, rows has their ids and the same tables
        for each of them.
    """
    intent_right = arrays["prediction_intents"] == arrays["reference_intents"]
    wrong_slots = arrays["prediction_slots"] != arrays["reference_slots"]
    slots_right = ~_rows_with_any(wrong_slots, arrays["lengths"])
    n, n_both = len(intent_right), np.count_nonzero(intent_right & slots_right)
    n_intent, n_slots = np.count_nonzero(intent_right), np.count_nonzero(slots_right)
    joint = [[n - n_intent - n_slots + n_both, n_slots - n_both], [n_intent - n_both, n_both]]
    k = len(SLOTS)
    counts = {
        "intents": confusion_matrix(arrays["reference_intents"], arrays["prediction_intents"], len(INTENTS)),
        # one id more: the positions that are left out
        "slots": confusion_matrix(arrays["reference_slots"], arrays["prediction_slots"], k + 1)[:k, :k],
        "joint": np.array(joint, dtype=np.int64),
    }
    rows = _rows_by_cluster(arrays, intent_right, slots_right) if "cluster" in arrays else {}
    return State(n, counts, rows)


def confusions(state: State) -> dict[str, tuple[np.ndarray, Sequence[str]]]:
    """The confusion matrices of a state, for the picture: title -> (matrix, labels)."""
    counts = state.counts
    return {"intents (utterances)": (counts["intents"], INTENTS), "slots (tokens)": (counts["slots"], SLOTS)}


def _rows_by_cluster(
    arrays: dict[str, np.ndarray], intent_right: np.ndarray, slots_right: np.ndarray
) -> dict[str, np.ndarray]:
    ids, position = np.unique(arrays["cluster"], return_inverse=True)
    n, of_slots = len(ids), np.repeat(position, arrays["lengths"])
    slots = arrays["reference_slots"], arrays["prediction_slots"]
    intents = arrays["reference_intents"], arrays["prediction_intents"]
    return {
        "cluster": ids,
        "intents_by_cluster": confusion_by_cluster(position, *intents, len(INTENTS), n),
        "slots_by_cluster": confusion_by_cluster(of_slots, *slots, len(SLOTS), n),
        "joint_by_cluster": confusion_by_cluster(position, intent_right, slots_right, 2, n),
    }


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
    intents, slots, joint = state.counts["intents"], state.counts["slots"], state.counts["joint"]
    n = joint.sum(axis=(-2, -1))
    scores = Scores(zero_division)
    scores.proportion("jsa", joint[..., 1, 1], n, "there is no utterance")
    scores.proportion("uca", joint[..., 1, :].sum(axis=-1), n, "there is no utterance")
    for i in range(len(INTENTS)):
        put_class_scores(scores, intents, INTENTS, i, prefix="u_", only=["f1"])
    for i in range(N_SCORED):
        put_class_scores(scores, slots, SLOTS, i, prefix="t_", only=["f1"])
    _put_micro_f1(scores, "t_f1", slots, range(N_SCORED))
    if detailed:
        _put_details(scores, intents, slots, joint, n)
    return scores


def _put_details(scores: Scores, intents: np.ndarray, slots: np.ndarray, joint: np.ndarray, n: Any) -> None:
    for prefix, confusion, labels in (("u_", intents, INTENTS), ("t_", slots, SLOTS)):
        for i in range(len(labels)):
            put_class_scores(scores, confusion, labels, i, prefix=prefix, only=["precision", "recall", "support"])
    scores.mean("u_f1_macro", [f"u_f1_{label}" for label in INTENTS])
    _put_micro_f1(scores, "t_f1_with_sepa", slots, [*range(N_SCORED), SLOTS.index("SEPA")])
    right, n_tokens = np.trace(slots, axis1=-2, axis2=-1), slots.sum(axis=(-2, -1))
    scores.proportion("slot_accuracy", right, n_tokens, "there is no token", undefined=float("nan"))
    for key, (intent_right, slots_right) in {"intent_only": (0, 1), "slots_only": (1, 0), "both": (0, 0)}.items():
        scores.proportion(f"jsa_errors_{key}", joint[..., intent_right, slots_right], n, "there is no utterance")
    scores.note("n_utterances", n)
    scores.note("n_tokens", n_tokens)


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


_FIELDS = (Input("intent", LABEL, labels=INTENTS), Input("slots", SEQUENCE, labels=SLOTS))

#: The metric, by configuration.
DEFINITIONS = {
    "default": Definition(
        name="conda_joint",
        headlines=("jsa",),
        inputs=(
            Input(
                "predictions",
                RECORD,
                'n utterances, each {"intent": "E", "slots": ["T", "O"]}; or columns, {"intent": [...], "slots": '
                "[[...], ...]}. Names or ids: intents E, I, A, O; slots T, S, C, D, P, O, SEPA. "
                "Slots may be a 2-D array.",
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
            Input(
                "cluster",
                GROUP,
                "The conversation of each utterance, as whole numbers or texts: confidence intervals then resample "
                "conversations, since the utterances of one aren't independent.",
                required=False,
                gold=True,
            ),
        ),
        options=(ZERO_DIVISION, DETAILED),
        encode=encode,
        count=count,
        score=score,
        from_trainer=from_trainer,
        example=dict.fromkeys(("predictions", "references"), {"intent": [0], "slots": [[0]]}),
        confusions=confusions,
    )
}
