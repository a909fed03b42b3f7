"""Tiny models of `transformers` for word salad, and how each one's output is scored plainly.

`CASES` lists what a Trainer may hand to a metric. Torch and transformers are imported once a model is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from samples import CATEGORIES, INTENTS, SAFETY, SLOTS, SOLD, THREAT

import toxeval

if TYPE_CHECKING:
    import torch
    from transformers import Trainer

Row = dict[str, Any]
#: So many words there are.
VOCABULARY = 24
N_ROWS = 30


def rows(seed: int, labels: Callable[[list[int], int], Row], n: int = N_ROWS) -> list[Row]:
    """``n`` random texts of different lengths; what their labels are depends on the words."""
    rng = np.random.default_rng(seed)
    texts = [rng.integers(1, VOCABULARY, rng.integers(2, 9)).tolist() for _ in range(n)]
    return [{"input_ids": text, **labels(text, i)} for i, text in enumerate(texts)]


def collate(batch: list[Row]) -> dict[str, torch.Tensor]:
    """Padded to the longest of the batch, so that batches differ in width; sequences of labels with -100."""
    import torch

    columns = {key: [row[key] for row in batch] for key in batch[0]}
    columns["attention_mask"] = [[1] * len(text) for text in columns["input_ids"]]
    width = max(map(len, columns["input_ids"]))
    for key, column in columns.items():
        if isinstance(column[0], list) and len(column[0]) != 1:
            fill = -100 if key.endswith("labels") else 0
            columns[key] = [item + [fill] * (width - len(item)) for item in column]
    return {key: torch.tensor(column) for key, column in columns.items()}


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits.astype(np.float64)))


def names(ids: np.ndarray, labels: tuple[str, ...]) -> list[str]:
    return [labels[i] for i in ids]


@dataclass(frozen=True)
class Case:
    """One kind of model and what its metric gets from the Trainer.

    Attributes:
        metric, config: what is loaded.
        best: the key of `metric_for_best_model`, higher is better.
        model: the model's name in `tiny_models`, and what it is made with.
        labels: (words, position) -> a row's labels.
        plain: (predictions, label_ids) of the Trainer -> inputs of `compute`, written without the metric's own code.
    """

    id: str
    metric: str
    best: str
    model: tuple[str, dict[str, Any]]
    labels: Callable[[list[int], int], Row]
    plain: Callable[[Any, Any], Row]
    config: str | None = None
    label_names: list[str] = field(default_factory=lambda: ["labels"])
    preprocess: Callable[[Any, Any], Any] | None = None
    options: Row = field(default_factory=dict)

    def trainer(self, folder: Path, metric: Any = None, data: list[Row] | None = None, **options: Any) -> Trainer:
        import torch
        from transformers import Trainer, TrainingArguments

        torch.manual_seed(0)
        name, made_with = self.model
        arguments = TrainingArguments(
            output_dir=str(folder),
            per_device_train_batch_size=8,
            per_device_eval_batch_size=8,
            learning_rate=0.01,
            label_names=self.label_names,
            remove_unused_columns=False,
            use_cpu=True,
            report_to="none",
            disable_tqdm=True,
            **options,
        )
        return Trainer(
            model=getattr(importlib.import_module("tiny_models"), name)(**made_with),
            args=arguments,
            train_dataset=rows(1, self.labels),  # type: ignore[arg-type]
            eval_dataset=rows(2, self.labels) if data is None else data,  # type: ignore[arg-type]
            data_collator=collate,
            compute_metrics=(self.load() if metric is None else metric).compute_metrics,
            preprocess_logits_for_metrics=self.preprocess,
        )

    def load(self) -> Any:
        return toxeval.load(self.metric, self.config, **self.options)


def some(words: list[int], i: int) -> int:
    """1 for about a third of the texts."""
    return int(words[0] % 3 == 0)


def classifier(**options: Any) -> tuple[str, dict[str, Any]]:
    return "classifier", options


def best_of_two(labels: tuple[str, ...]) -> Callable[[Any, Any], Row]:
    return lambda p, r: {"predictions": names(p.argmax(axis=1), labels), "references": names(r, labels)}


def conda_rows(predictions: Any, label_ids: Any) -> Row:
    (intents, slots), (intent_labels, slot_labels) = predictions, label_ids

    def utterances(intent_ids: np.ndarray, slot_ids: np.ndarray) -> list[Row]:
        real = slot_labels != -100
        sequences = [names(row[keep], SLOTS) for row, keep in zip(slot_ids, real)]
        return [{"intent": i, "slots": s} for i, s in zip(names(intent_ids, INTENTS), sequences)]

    return {
        "predictions": utterances(intents.argmax(axis=1), slots.argmax(axis=2)),
        "references": utterances(intent_labels, slot_labels),
    }


def token_rows(predictions: Any, label_ids: Any) -> Row:
    pairs = [(p[r != -100], r[r != -100]) for p, r in zip(predictions.argmax(axis=2), label_ids)]
    return {"predictions": [names(p, SOLD) for p, _ in pairs], "references": [names(r, SOLD) for _, r in pairs]}


def conda_labels(words: list[int], i: int) -> Row:
    slots = [word % len(SLOTS) if place % 3 else -100 for place, word in enumerate(words, 1)]
    return {"intent_labels": words[0] % len(INTENTS), "slot_labels": slots}


one_column = {"num_labels": 1, "problem_type": "multi_label_classification"}

CASES = [
    Case("sold", "sold_macro_f1", "f1_macro", classifier(), lambda w, i: {"labels": some(w, i)}, best_of_two(SOLD)),
    Case(
        "sold-one-column",
        "sold_macro_f1",
        "f1_macro",
        classifier(**one_column),
        lambda w, i: {"labels": [float(some(w, i))]},
        lambda p, r: {"predictions": (p[:, 0] > 0).astype(int), "references": r[:, 0].astype(int)},
    ),
    Case(
        "sold-token",
        "sold_macro_f1",
        "f1_macro",
        ("tagger", {}),
        lambda w, i: {"labels": [word % 2 for word in w]},
        token_rows,
        config="token",
    ),
    Case(
        "threat-with-hidden-states",
        "threat_f1",
        "f1_macro",
        classifier(output_hidden_states=True),
        lambda w, i: {"labels": some(w, i)},
        lambda p, r: {"prediction_scores": softmax(p[0]), "references": names(r, THREAT), "threshold": 0.3},
        options={"threshold": 0.3},
    ),
    Case(
        "threat-argmax-taken",
        "threat_f1",
        "f1_macro",
        classifier(),
        lambda w, i: {"labels": some(w, i)},
        lambda p, r: {"predictions": p, "references": r},
        preprocess=lambda logits, labels: logits.argmax(dim=-1),
    ),
    Case(
        "oracle",
        "oracle_collab",
        "oc_accuracy_at_0.05",
        classifier(),
        lambda w, i: {"labels": some(w, i)},
        lambda p, r: {"predictions": softmax(p)[:, 1], "references": r},
    ),
    Case(
        "oracle-one-column",
        "oracle_collab",
        "oc_accuracy_at_0.2",
        classifier(**one_column),
        lambda w, i: {"labels": [float(some(w, i))]},
        lambda p, r: {"predictions": sigmoid(p[:, 0]), "references": r[:, 0].astype(int)},
    ),
    Case("dia", "dia_safety_rate", "f1_macro", classifier(), lambda w, i: {"labels": some(w, i)}, best_of_two(SAFETY)),
    Case(
        "dia-categories",
        "dia_safety_rate",
        "f1_macro",
        ("with_categories", {}),
        lambda w, i: {"labels": some(w, i), "categories": i % len(CATEGORIES)},
        lambda p, r: best_of_two(SAFETY)(p, r[0]) | {"categories": names(r[1], CATEGORIES)},
        label_names=["labels", "categories"],
    ),
    Case(
        "conda",
        "conda_joint",
        "jsa",
        ("Joint", {}),
        conda_labels,
        conda_rows,
        label_names=["intent_labels", "slot_labels"],
    ),
]
