"""What the Trainer of ``transformers`` hands over, as a metric's inputs: logits or ids, one array or a tuple of them.

The Trainer passes on whatever the model returns beside the loss, in the model's order. Shapes are checked here, and a
wrong one is refused with the shapes the model should give; values are checked by the metric's ``encode``.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .containers import Place, materialise
from .labels import IGNORE
from .refusals import describe, refuse


def batches(eval_prediction: Any) -> Iterator[tuple[Any, Any]]:
    """Pairs (predictions, label_ids): one, or with ``eval_do_concat_batches=False`` one a batch.

    Args:
        eval_prediction: an ``EvalPrediction``, or the pair it stands for, as older examples unpack it.
    """
    if isinstance(eval_prediction, tuple) and len(eval_prediction) == 2:
        predictions, label_ids = eval_prediction
    elif hasattr(eval_prediction, "predictions") and hasattr(eval_prediction, "label_ids"):
        predictions, label_ids = eval_prediction.predictions, eval_prediction.label_ids
    else:
        allowed = "an EvalPrediction, which has predictions and label_ids"
        refuse(describe(eval_prediction), allowed, where="eval_prediction")
    if isinstance(predictions, list):
        yield from zip(predictions, label_ids)
    else:
        yield predictions, label_ids


def begins_evaluation() -> bool:
    """Whether the Trainer is at the first batch of an evaluation, so that batches from before are of another one.

    The Trainer doesn't say when an evaluation begins, and one that broke off (out of memory, an interrupt) leaves its
    batches behind. Its loop knows, so the loop is asked. Called from anywhere else, the answer is no.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "evaluation_loop" and frame.f_globals.get("__name__") == "transformers.trainer":
            variables = frame.f_locals
            first = variables.get("step") == 0 or not variables["self"].args.batch_eval_metrics
            if isinstance(variables, dict):  # before Python 3.13 a copy, which would keep the batch in memory
                variables.clear()
            return first
        frame = frame.f_back
    return False


def model_outputs(predictions: Any, expected: str, n: int = 1) -> list[np.ndarray]:
    """The first ``n`` arrays the model returned; what follows (hidden states, attentions) is left.

    Args:
        predictions: of the EvalPrediction, an array, a tensor or a tuple of them.
        expected: what the model should return, for messages.
        n: how many are wanted.
    """
    return _arrays("predictions", predictions, expected, n, rest=True)


def label_arrays(label_ids: Any, expected: str, n: int = 1) -> list[np.ndarray]:
    """The ``n`` arrays of labels, in the order of ``label_names``; a last axis of length 1 is dropped where n is 1."""
    arrays = _arrays("label_ids", label_ids, expected, n, rest=False)
    if n == 1 and arrays[0].ndim == 2 and arrays[0].shape[1] == 1:  # as a model with one column of logits takes them
        return [arrays[0][:, 0]]
    return arrays


def _arrays(name: str, given: Any, expected: str, n: int, *, rest: bool) -> list[np.ndarray]:
    several = given if isinstance(given, (tuple, list)) else [given]
    if len(several) < n or len(several) > n and not rest:
        found = f"{len(several)} array{'s' * (len(several) != 1)} from the Trainer"
        refuse(found, expected, inputs=(name,))
    arrays = []
    for i, one in enumerate(several[:n]):
        place = Place(f"{name}[{i}]" if n > 1 else name)
        if not hasattr(one, "ndim"):
            place.refuse(describe(one), expected)
        arrays.append(np.asarray(materialise(place, one)))
    return arrays


def is_ids(array: np.ndarray) -> bool:
    """Whether a prediction holds ids (the argmax was taken in ``preprocess_logits_for_metrics``) and not logits."""
    return array.dtype.kind in "biu"


def check_scores(logits: np.ndarray, expected: str) -> np.ndarray:
    """Logits of a yes-or-no question: shape (n,), (n, 1) or (n, 2)."""
    if is_ids(logits) or not (logits.ndim == 1 or logits.ndim == 2 and logits.shape[1] in (1, 2)):
        refuse(describe_array(logits), expected, _other_head(logits, 1, 2), inputs=("predictions",))
    return logits


def ids_from(
    name: str,
    outputs: np.ndarray,
    labels: Sequence[str],
    expected: str,
    references: np.ndarray | None = None,
) -> np.ndarray:
    """The predicted ids: as they are, or the largest of the logits (of equal ones the first).

    Args:
        name, expected: for messages.
        outputs: ids, one a row or (with ``references``) one a position; or logits with a last axis over ``labels``; of
            two labels also a single logit, positive for the second one.
        labels: the metric's labels.
        references: ids of shape (n, l), where the labels are sequences; where they are -100, anything goes.

    >>> ids_from("predictions", np.array([[0.3, -1.0], [0.1, 2.0]]), ("NOT", "OFF"), "")
    array([0, 1])
    """
    k, axes = len(labels), 1 if references is None else 2
    shape, last = outputs.shape[:axes], outputs.shape[axes:]
    if len(shape) < axes or not (last == () or not is_ids(outputs) and last in ((k,), (1,) if k == 2 else (k,))):
        refuse(describe_array(outputs), expected, _other_head(outputs, axes, k), inputs=(name,))
    if references is not None and shape != references.shape:
        refuse(f"{describe_array(outputs)} for labels of shape {references.shape}", expected, inputs=(name,))
    if is_ids(outputs) or last == () and k != 2:
        return outputs
    logits = outputs.reshape(*shape, *(last or (1,)))
    counted = np.ones(shape, dtype=bool) if references is None else references != IGNORE
    wrong = counted & ~np.isfinite(logits).all(axis=-1)
    if wrong.any():
        place = np.argwhere(wrong)[0]
        value = logits[tuple(place)][~np.isfinite(logits[tuple(place)])][0]
        row, position = (*place.tolist(), None)[:2]
        refuse(str(float(value)), "finite logits", inputs=(name,), row=row, position=position)
    return (logits[..., 0] > 0).astype(np.int8) if logits.shape[-1] == 1 else logits.argmax(axis=-1)


def _other_head(outputs: np.ndarray, axes: int, k: int) -> str:
    """What to ask those whose logits, with ``axes`` axes before the last, are of other than ``k`` labels."""
    if is_ids(outputs) or outputs.ndim != axes + 1 or outputs.shape[-1] == k:
        return ""
    return f"logits of {outputs.shape[-1]} labels? Load the model with num_labels={k}"


def describe_array(array: np.ndarray) -> str:
    """The array as messages show it.

    >>> describe_array(np.zeros((3, 4), np.float32))
    'float32 of shape (3, 4)'
    """
    return f"{array.dtype} of shape {array.shape}"
