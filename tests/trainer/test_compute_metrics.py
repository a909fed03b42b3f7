"""What `compute_metrics` takes and refuses, without a Trainer; fixed options; modules that `evaluate.load` made."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import evaluate
import numpy as np
import pytest

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

LOGITS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.5]], np.float32)
LABELS = np.array([0, 1, 1])
INTENTS, SLOTS = np.eye(4)[:3], np.eye(7)[[[0, 1, 2], [3, 4, 5], [6, 6, 6]]]
CONDA_LABELS = (np.array([0, 1, 3]), np.array([[0, 1, -100], [3, 4, 5], [-100, -100, -100]]))


def prediction(predictions: Any, label_ids: Any) -> Any:
    return SimpleNamespace(predictions=predictions, label_ids=label_ids)


SINGLE = ["sold_macro_f1", "threat_f1", "oracle_collab", "dia_safety_rate"]


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize(
    ("predictions", "label_ids"),
    [
        (LOGITS[:, 1:] - LOGITS[:, :1], LABELS),
        ((LOGITS, "hidden states", None), LABELS),
        (LOGITS, LABELS[:, np.newaxis].astype(np.float32)),
        (LOGITS[:, 1] - LOGITS[:, 0], LABELS.astype(np.int8)),
    ],
    ids=["one column", "more outputs", "labels in a column", "flat"],
)
def test_forms_of_the_same_output(name: str, predictions: Any, label_ids: Any) -> None:
    metric = toxeval.load(name)
    wanted = metric.compute_metrics(prediction(LOGITS, LABELS))
    assert metric.compute_metrics(prediction(predictions, label_ids)) == pytest.approx(wanted, nan_ok=True)
    assert wanted["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", [*SINGLE, "conda_joint"])
def test_tensors_of_any_kind(name: str) -> None:
    torch = pytest.importorskip("torch")
    metric = toxeval.load(name)
    arrays = ((INTENTS, SLOTS), CONDA_LABELS) if name == "conda_joint" else (LOGITS, LABELS)
    wanted = metric.compute_metrics(prediction(*arrays))

    def tensors(values: Any, dtype: Any) -> Any:
        if isinstance(values, tuple):
            return tuple(tensors(value, dtype) for value in values)
        tensor = torch.tensor(values)
        return tensor.to(dtype).requires_grad_() if tensor.is_floating_point() else tensor

    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        found = metric.compute_metrics(prediction(tensors(arrays[0], dtype), tensors(arrays[1], dtype)))
        assert found == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "predictions", "label_ids", "message"),
    [
        (
            "sold_macro_f1",
            LOGITS[:, [0, 1, 1]],
            LABELS,
            r"predictions: float32 of shape \(3, 3\); allowed: from the model",
        ),
        (
            "sold_macro_f1",
            LOGITS[np.newaxis],
            LABELS,
            r"predictions: float32 of shape \(1, 3, 2\); allowed: .*\(n, 2\)",
        ),
        ("sold_macro_f1", LOGITS, (LABELS, LABELS), r"label_ids: 2 arrays from the Trainer; allowed: from the model"),
        ("sold_macro_f1", LOGITS, None, r"label_ids: None; allowed: .*labels of shape \(n,\)"),
        ("sold_macro_f1", LOGITS * np.nan, LABELS, r"predictions\[0\]: nan; allowed: finite logits"),
        ("sold_macro_f1", LOGITS[:2], LABELS, "predictions and references: 2 and 3 rows"),
        ("sold_macro_f1", LOGITS, LABELS + 1, r"references\[1\]: unknown label 2"),
        ("threat_f1", LOGITS[:, [0, 1, 1]], LABELS, r"predictions: float32 of shape \(3, 3\); allowed: from the model"),
        ("threat_f1", np.full((3, 2), np.inf), LABELS, r"prediction_scores\[0\]: inf; allowed: finite numbers"),
        ("oracle_collab", LABELS, LABELS, r"predictions: int64 of shape \(3,\); allowed: .* not ids"),
        ("dia_safety_rate", LOGITS, (LABELS, LABELS, LABELS), r"label_ids: 3 arrays from the Trainer; .* categories"),
        ("dia_safety_rate", LOGITS, (LABELS, LABELS + 4), r"categories\[1\]: unknown category 5"),
        ("conda_joint", INTENTS, CONDA_LABELS, "predictions: 1 array from the Trainer; allowed: from the model intent"),
        (
            "conda_joint",
            (SLOTS, INTENTS),
            CONDA_LABELS,
            r"predictions\[0\]: float64 of shape \(3, 3, 7\); allowed: .*then",
        ),
        (
            "conda_joint",
            (INTENTS, SLOTS[:, :2]),
            CONDA_LABELS,
            r"\[1\]: float64 of shape \(3, 2, 7\) for labels of shape",
        ),
        ("conda_joint", (INTENTS, SLOTS), CONDA_LABELS[0], "label_ids: 1 array from the Trainer"),
        ("conda_joint", (INTENTS, SLOTS * [[[np.nan]]]), CONDA_LABELS, r"predictions\[1\]\[0\]\[0\]: nan"),
        (
            "conda_joint",
            (INTENTS, SLOTS),
            (CONDA_LABELS[0], CONDA_LABELS[1] + 3),
            r'references\[0\]\["slots"\]\[2\]: .*-97',
        ),
    ],
)
def test_refusals(name: str, predictions: Any, label_ids: Any, message: str) -> None:
    metric = toxeval.load(name)
    with pytest.raises(ValueError, match=f"^{name}: .*{message}"):
        metric.compute_metrics(prediction(predictions, label_ids), compute_result=False)
    good = (((INTENTS, SLOTS), CONDA_LABELS)) if name == "conda_joint" else (LOGITS, LABELS)
    result = metric.compute_metrics(prediction(*good))  # nothing is left of the refused batch
    assert result.get("accuracy", 0) == pytest.approx(0 if name == "conda_joint" else 2 / 3)


@pytest.mark.parametrize(
    ("metric", "config", "shape", "advice"),
    [
        ("sold_macro_f1", "default", (4, 3), r"\(logits of 3 labels\? Load the model with num_labels=2\)$"),
        ("sold_macro_f1", "token", (4, 5, 3), r"\(logits of 3 labels\? Load the model with num_labels=2\)$"),
        ("sold_macro_f1", "default", (4, 5, 3), 'for a label a token load the configuration "token"$'),
        ("sold_macro_f1", "default", (4, 5, 2), 'for a label a token load the configuration "token"$'),
        ("threat_f1", "default", (4, 3), "num_labels=2"),
    ],
)
def test_a_model_for_something_else(metric: str, config: str, shape: tuple[int, ...], advice: str) -> None:
    labels = np.zeros(shape[:-1], dtype=int)
    with pytest.raises(ValueError, match=advice):
        toxeval.load(metric, config).compute_metrics(prediction(np.zeros(shape, np.float32), labels))


def test_padding_may_hold_anything() -> None:
    slots = SLOTS.copy()
    slots[:, 2][CONDA_LABELS[1][:, 2] == -100] = np.nan
    slots[2] = -np.inf
    metric = toxeval.load("conda_joint")
    assert metric.compute_metrics(prediction((INTENTS, slots), CONDA_LABELS))["t_f1"] == 1.0
    ids = np.where(CONDA_LABELS[1] == -100, 5, CONDA_LABELS[1])  # as after an argmax
    assert metric.compute_metrics(prediction((INTENTS.argmax(axis=1), ids), CONDA_LABELS))["t_f1"] == 1.0


def test_probabilities_are_declared_when_the_module_is_loaded() -> None:
    probabilities = np.array([[0.9, 0.1], [0.4, 0.6], [0.55, 0.45]])
    for name, given in [("threat_f1", "prediction_scores"), ("oracle_collab", "predictions")]:
        metric = toxeval.load(name, from_logits=False)
        wanted = metric.compute(**{given: probabilities}, references=LABELS)
        assert metric.compute_metrics(prediction(probabilities, LABELS)) == pytest.approx(wanted, nan_ok=True)
        with pytest.raises(ValueError, match="like logits: from_logits=True"):
            metric.compute_metrics(prediction(LOGITS, LABELS))


def test_options_fixed_at_load(in_checkout: Path) -> None:
    scores = prediction(np.log([[0.6, 0.4], [0.2, 0.8]]), np.array([1, 1]))
    for load in (lambda **o: toxeval.load("threat_f1", **o), lambda **o: evaluate.load("metrics/threat_f1", **o)):
        assert load().compute_metrics(scores)["recall_threat"] == 0.5
        metric = load(threshold=0.3, detailed=True, confidence_level=0.9)
        found = metric.compute_metrics(scores)
        assert (found["recall_threat"], found["threshold"], found["fn"]) == (1.0, 0.3, 0)
        assert found["recall_threat_low"] < 1.0
        with pytest.raises(ValueError, match=r"threat_f1: option treshold: unknown; .*did you mean threshold\?"):
            load(treshold=0.3)
        with pytest.raises(ValueError, match="threat_f1: option threshold: 3; allowed: a number from 0.0 to 1.0"):
            load(threshold=3).compute_metrics(scores)
    fractions = toxeval.load("oracle_collab", label_threshold=0.7, review_fractions=[0.5])
    found = fractions.compute_metrics(prediction(LOGITS, np.array([[0.1], [0.9], [0.71]], np.float32)))
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert "oc_accuracy_at_0.5" in found


def test_processes_of_a_trainer_each_score_everything() -> None:
    metric = toxeval.load("sold_macro_f1", num_process=2, process_id=1, timeout=1)
    assert metric.compute_metrics(prediction(LOGITS, LABELS))["accuracy"] == pytest.approx(2 / 3)


def test_an_eval_prediction_may_be_the_pair_it_stands_for() -> None:
    metric = toxeval.load("sold_macro_f1")
    assert metric.compute_metrics((LOGITS, LABELS)) == metric.compute_metrics(prediction(LOGITS, LABELS))


@pytest.mark.parametrize("found", [(LOGITS, LABELS, None), {"predictions": LOGITS, "label_ids": LABELS}, LOGITS])
def test_what_is_no_eval_prediction_is_refused(found: Any) -> None:
    expected = f"a {type(found).__name__}; allowed: an EvalPrediction, which has predictions and label_ids"
    with pytest.raises(ValueError, match=f"sold_macro_f1: eval_prediction: {expected}"):
        toxeval.load("sold_macro_f1").compute_metrics(found)
