"""Macro-F1 of offensive language identification on SOLD (Ranasinghe et al. 2022, arXiv 2212.00851)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from toxeval.core.containers import same_length
from toxeval.core.declarations import DETAILED, INVALID, LABEL, SEQUENCE, ZERO_DIVISION, Definition, Input
from toxeval.core.group_states import AtOnce
from toxeval.core.invalid import count_reasons, put_invalid, reasons_of
from toxeval.core.judged_rate import JudgedRate
from toxeval.core.labels import encode_labels
from toxeval.core.scoring import By, Scores, confusion_matrix, put_class_scores
from toxeval.core.sequences import align_sequences, encode_sequences
from toxeval.core.state import State
from toxeval.core.trainer import ids_from, label_arrays, model_outputs

#: The labels; their positions are the ids.
LABELS = ("NOT", "OFF")


def encode(predictions: Any, references: Any, *, invalid: str) -> dict[str, np.ndarray]:
    """One label a post, as int8 ids of shape (n,); with ``invalid="count"`` also ``reasons``, see `reasons_of`.

    Raises:
        ValueError: for unknown labels, different lengths, no rows.
    """
    arrays = {
        "predictions": encode_labels("predictions", predictions, LABELS, invalid=invalid == "count"),
        "references": encode_labels("references", references, LABELS),
    }
    same_length(**{name: len(ids) for name, ids in arrays.items()})
    if invalid == "count":
        arrays["reasons"] = reasons_of(arrays["predictions"], len(LABELS))
    return arrays


def encode_tokens(predictions: Any, references: Any, *, invalid: str) -> dict[str, np.ndarray]:
    """One label a token, posts joined end to end, as int8 ids of shape (t,); ``lengths`` is how many each post has.

    With ``invalid="count"`` there are the posts' ``reasons``, too; each token of a post that is invalid has the id 2.

    Raises:
        ValueError: for unknown labels, posts of different lengths, no posts.
    """
    predicted, gold = align_sequences(
        encode_sequences("predictions", predictions, LABELS, what="token label", invalid=invalid == "count"),
        encode_sequences("references", references, LABELS, what="token label"),
        n_labels=len(LABELS),
    )
    arrays = {"predictions": predicted.flat, "references": gold.flat, "lengths": gold.lengths}
    return arrays if predicted.reasons is None else arrays | {"reasons": predicted.reasons}


def count(arrays: dict[str, np.ndarray]) -> State:
    """The 2 x 2 confusion matrix (rows references, columns predictions, ids as in `LABELS`); where invalid predictions
    are counted with a third column of them, and with how many there are for each reason."""
    return State(len(arrays.get("lengths", arrays["references"])), tables(arrays))


def tables(arrays: Mapping[str, np.ndarray], by: By | None = None) -> dict[str, np.ndarray]:
    """The counts of `count`; with ``by`` those of each group of posts."""
    reasons, of_label = arrays.get("reasons"), by
    if by is not None and "lengths" in arrays:
        of_label = By(np.repeat(by.ids, arrays["lengths"]), by.n)
    labels = arrays["references"], arrays["predictions"]
    confusion = confusion_matrix(*labels, len(LABELS), invalid=reasons is not None, by=of_label)
    return {"confusion": confusion} | ({} if reasons is None else {"invalid": count_reasons(reasons, by)})


def confusions(state: State) -> dict[str, tuple[np.ndarray, Sequence[str]]]:
    """The confusion matrices of a state, for the picture: title -> (matrix, labels)."""
    return {"labels": (state.counts["confusion"], LABELS)}


def score(state: State, *, zero_division: float, detailed: bool) -> Scores:
    """The paper's scores (section 5: macro-F1, and weighted averages beside it).

    Args:
        state: counts["confusion"] of shape (..., 2, 2) or, with a column of invalid predictions, (..., 2, 3).
        zero_division: 0.0, 1.0 or nan; a nan class is left out of the averages.
        detailed: adds support and confusion counts.
    """
    confusion = state.counts["confusion"]
    scores = Scores(zero_division)
    for i in (1, 0):
        put_class_scores(scores, confusion, LABELS, i)
    scores.mean("f1_macro", [f"f1_{label}" for label in LABELS])
    support = [confusion[..., i, :].sum(axis=-1) for i in range(len(LABELS))]
    for kind in ("precision", "recall", "f1"):
        scores.mean(f"{kind}_weighted", [f"{kind}_{label}" for label in LABELS], weights=support)
    right, total = confusion[..., 0, 0] + confusion[..., 1, 1], confusion.sum(axis=(-2, -1))
    scores.proportion("accuracy", right, total, "there is no token", undefined=float("nan"))
    if detailed:
        for i in (1, 0):
            put_class_scores(scores, confusion, LABELS, i, only=["support"])
        tp, fp, tn = confusion[..., 1, 1], confusion[..., 0, 1], confusion[..., 0, 0]
        for key, value in {"tp": tp, "fp": fp, "fn": support[1] - tp, "tn": tn}.items():
            scores.note(key, value)
    if "invalid" in state.counts:
        put_invalid(scores, state.counts["invalid"])
    return scores


def from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode`.

    Args:
        predictions: logits of shape (n, 2), or (n, 1) (positive: OFF), or ids of shape (n,).
        label_ids: ids of shape (n,).
    """
    expected = (
        "from the model logits of shape (n, 2) or (n, 1), or ids of shape (n,); labels of shape (n,); "
        'for a label a token load the configuration "token"'
    )
    (outputs,) = model_outputs(predictions, expected)
    (references,) = label_arrays(label_ids, expected)
    return {"predictions": ids_from("predictions", outputs, LABELS, expected), "references": references}


def tokens_from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode_tokens`.

    Args:
        predictions: logits of shape (n, l, 2), or (n, l, 1) (positive: OFF), or ids of shape (n, l).
        label_ids: ids of shape (n, l), -100 where a position doesn't count.
    """
    expected = (
        "from the model logits of shape (n, l, 2) or ids of shape (n, l); labels of shape (n, l), padded with -100"
    )
    (outputs,) = model_outputs(predictions, expected)
    (references,) = label_arrays(label_ids, expected)
    predicted = ids_from("predictions", outputs, LABELS, expected, references)
    return {"predictions": predicted, "references": references}


def is_off(arrays: Mapping[str, np.ndarray], **options: Any) -> np.ndarray:
    """1 where the prediction is OFF, 0 where it is NOT or invalid: int8 of shape (n,)."""
    return (arrays["predictions"] == 1).view(np.int8)


POSTS = Definition(
    name="sold_macro_f1",
    headlines=("f1_macro",),
    inputs=(
        Input(
            "predictions",
            LABEL,
            'n labels, "NOT" and "OFF" or their ids 0 and 1.',
            LABELS,
            in_layouts=(("pipeline", "label"),),
        ),
        Input("references", LABEL, "The gold labels, likewise.", LABELS, gold=True, also=("label", "labels")),
    ),
    options=(INVALID, ZERO_DIVISION, DETAILED),
    encode=encode,
    count=count,
    at_once=AtOnce(tables),
    score=score,
    from_trainer=from_trainer,
    confusions=confusions,
    judged=JudgedRate("OFF", "rate_OFF", is_off),
)
TOKENS = replace(
    POSTS,
    config="token",
    inputs=(
        Input("predictions", SEQUENCE, 'n sequences of token labels, "NOT" and "OFF" or 0 and 1.', LABELS),
        Input(
            "references",
            SEQUENCE,
            "The gold rationales, likewise. Positions with reference -100 are left out.",
            LABELS,
            gold=True,
            also=("rationales",),  # the column "label" is the post's
            empty_means=("tokens", 0),
        ),
    ),
    encode=encode_tokens,
    per_token=("predictions", "references"),
    from_trainer=tokens_from_trainer,
    example={"predictions": [[0]], "references": [[0]]},
    judged=None,
)
#: The metric, by configuration.
DEFINITIONS = {each.config: each for each in (POSTS, TOKENS)}
