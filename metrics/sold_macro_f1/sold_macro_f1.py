"""Macro-F1 of offensive language identification on SOLD (Ranasinghe et al. 2022, arXiv 2212.00851)."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate
import numpy as np

from .base import Metric
from .inputs import check_choice, same_length
from .intervals import interval_scores
from .labels import align_sequences, encode_labels, encode_sequences
from .resampling import replicate_counts
from .scoring import Scores, State, confusion_matrix, put_class_scores
from .trainer import ids_from, label_arrays, model_outputs

#: The labels; their positions are the ids.
LABELS = ("NOT", "OFF")

_DESCRIPTION = """
Scores of an offensive language classifier on SOLD, the Sinhala Offensive Language Dataset: macro-F1 over NOT and OFF,
both always counted, with precision, recall and F1 of each class and their support-weighted averages. The configuration
"token" scores the offensive tokens (rationales) of all posts instead.
"""

_CITATION = """
@article{ranasinghe2022sold,
  title={{SOLD}: {S}inhala Offensive Language Dataset},
  author={Ranasinghe, Tharindu and Anuradha, Isuri and Premasiri, Damith and Silva, Kanishka and
          Hettiarachchi, Hansi and Uyangodage, Lasitha and Zampieri, Marcos},
  journal={arXiv preprint arXiv:2212.00851},
  year={2022}
}
"""

_INPUTS = """
Args:
    predictions: n labels, "NOT"/"OFF" or their ids 0/1; with the configuration "token" n sequences of them, one a post.
    references: the gold labels, likewise. In token sequences, positions with reference -100 are left out.
    zero_division: 0.0 (default), 1.0 or nan: the value of a precision, recall or F1 with a zero denominator.
    detailed: adds support and confusion counts.
    confidence_level: e.g. 0.95: adds <key>_low and <key>_high for every score; None (default) doesn't. n_resamples
        (1000), seed (0) and stratify (False) are its options, see the metric card.

Returns:
    dict of floats: f1_macro (the paper's primary score), accuracy, precision, recall and F1 of OFF and NOT and their
    support-weighted averages, all in [0, 1], higher is better; with ``detailed`` also the counts, as ints.

Examples:
    >>> metric = evaluate.load("metrics/sold_macro_f1")
    >>> scores = metric.compute(predictions=["OFF", "NOT", "OFF"], references=["OFF", "NOT", "NOT"])
    >>> round(scores["f1_macro"], 4)
    0.6667
"""


def encode(predictions: Any, references: Any) -> dict[str, np.ndarray]:
    """One label a post, as int8 ids of shape (n,).

    Raises:
        ValueError: for unknown labels, different lengths, no rows.
    """
    arrays = {
        "predictions": encode_labels("sold_macro_f1", "predictions", predictions, LABELS),
        "references": encode_labels("sold_macro_f1", "references", references, LABELS),
    }
    same_length("sold_macro_f1", predictions=len(arrays["predictions"]), references=len(arrays["references"]))
    return arrays


def encode_tokens(predictions: Any, references: Any) -> dict[str, np.ndarray]:
    """One label a token, posts joined end to end, as int8 ids of shape (t,); ``posts`` is their number.

    Raises:
        ValueError: for unknown labels, posts of different lengths, no posts.
    """
    flat_p, flat_r, lengths = align_sequences(
        "sold_macro_f1",
        encode_sequences("sold_macro_f1", "predictions", predictions, LABELS, what="token label"),
        encode_sequences("sold_macro_f1", "references", references, LABELS, what="token label"),
    )
    return {"predictions": flat_p, "references": flat_r, "posts": np.array(len(lengths))}


def count(arrays: dict[str, np.ndarray]) -> State:
    """The 2 x 2 confusion matrix (rows references, columns predictions, ids as in `LABELS`)."""
    confusion = confusion_matrix(arrays["references"], arrays["predictions"], len(LABELS))
    return State(int(arrays.get("posts", len(arrays["references"]))), {"confusion": confusion})


def confusions(state: State) -> dict[str, tuple[np.ndarray, Sequence[str]]]:
    """The confusion matrices of a state, for the picture: title -> (matrix, labels)."""
    return {"labels": (state.counts["confusion"], LABELS)}


def score(state: State, *, zero_division: float = 0.0, detailed: bool = False) -> Scores:
    """The paper's scores (section 5: macro-F1, and weighted averages beside it).

    Args:
        state: counts["confusion"] of shape (..., 2, 2).
        zero_division: 0.0, 1.0 or nan; a nan class is left out of the averages.
        detailed: adds support and confusion counts.
    """
    check_choice("sold_macro_f1", "zero_division", zero_division, (0.0, 1.0, float("nan")))
    check_choice("sold_macro_f1", "detailed", detailed, (False, True))
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
        for key, (row, column) in {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}.items():
            scores.note(key, confusion[..., row, column])
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
    (outputs,) = model_outputs("sold_macro_f1", predictions, expected)
    (references,) = label_arrays("sold_macro_f1", label_ids, expected)
    return {
        "predictions": ids_from("sold_macro_f1", "predictions", outputs, LABELS, expected),
        "references": references,
    }


def tokens_from_trainer(predictions: Any, label_ids: Any) -> dict[str, Any]:
    """The Trainer's arrays as inputs of `encode_tokens`.

    Args:
        predictions: logits of shape (n, l, 2), or (n, l, 1) (positive: OFF), or ids of shape (n, l).
        label_ids: ids of shape (n, l), -100 where a position doesn't count.
    """
    expected = (
        "from the model logits of shape (n, l, 2) or ids of shape (n, l); labels of shape (n, l), padded with -100"
    )
    (outputs,) = model_outputs("sold_macro_f1", predictions, expected)
    (references,) = label_arrays("sold_macro_f1", label_ids, expected)
    return {
        "predictions": ids_from("sold_macro_f1", "predictions", outputs, LABELS, expected, references),
        "references": references,
    }


class SoldMacroF1(Metric):
    """SOLD's scores as an `evaluate.Metric`; configurations "default" (one label a post) and "token"."""

    configs = ("default", "token")
    headline = "f1_macro"
    encode = staticmethod(encode)
    count = staticmethod(count)
    confusions = staticmethod(confusions)
    score = staticmethod(score)
    replicate = staticmethod(replicate_counts)
    intervals = staticmethod(interval_scores)
    from_trainer = staticmethod(from_trainer)

    def _info(self) -> evaluate.MetricInfo:
        kinds = [datasets.Value("string"), datasets.Value("int64")]
        if self.config_name == "token":
            self.encode, self.from_trainer = encode_tokens, tokens_from_trainer
            self.example = {"predictions": [[0]], "references": [[0]]}
            kinds = [datasets.Sequence(kind) for kind in kinds]
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=[datasets.Features({"predictions": kind, "references": kind}) for kind in kinds],
            reference_urls=["https://arxiv.org/abs/2212.00851", "https://github.com/Sinhala-NLP/SOLD"],
        )
