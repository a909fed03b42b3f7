"""Train one model for the intent of an utterance and the slots of its words, and score both by `conda_joint`.

    python examples/joint_intent_slots.py

The chat lines are invented and ship with toxeval. The model sees sub-tokens, the benchmark counts words: a word's slot
is put on its first sub-token (`toxeval.subtokens`), everything else is -100, and the metric leaves that out.
"""

import json
from importlib.resources import files
from typing import Any

import torch
from tiny_bert import arguments, config, make_tokenizer
from torch import nn
from toxeval.metrics.conda_joint.scores import INTENTS, SLOTS
from transformers import BertConfig, BertModel, Trainer

import toxeval
from toxeval.subtokens import token_labels, word_predictions


class JointModel(nn.Module):
    """Returns a dict: what stands after the loss goes to the metric, in this order."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.encoder = BertModel(config)
        self.intents = nn.Linear(config.hidden_size, len(INTENTS))
        self.slots = nn.Linear(config.hidden_size, len(SLOTS))

    def forward(
        self, input_ids: Any, attention_mask: Any, intent_labels: Any = None, slot_labels: Any = None
    ) -> dict[str, Any]:
        encoded = self.encoder(input_ids, attention_mask=attention_mask)
        intents, slots = self.intents(encoded.pooler_output), self.slots(encoded.last_hidden_state)
        output = {"intent_logits": intents, "slot_logits": slots}
        if intent_labels is None:
            return output
        loss = nn.functional.cross_entropy(intents, intent_labels)
        loss = loss + nn.functional.cross_entropy(slots.flatten(0, 1), slot_labels.flatten(), ignore_index=-100)
        return {"loss": loss, **output}


def encode(tokenizer: Any, row: dict[str, Any]) -> dict[str, Any]:
    encoded = tokenizer(row["tokens"], is_split_into_words=True)
    slots = [SLOTS.index(slot) for slot in row["reference"]["slots"]]
    return {
        "input_ids": encoded["input_ids"],
        "intent_labels": INTENTS.index(row["reference"]["intent"]),
        "slot_labels": token_labels(encoded.word_ids(), slots),  # refuses a text that was cut off
    }


def collate(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    def padded(key: str, value: int) -> torch.Tensor:
        return nn.utils.rnn.pad_sequence([torch.tensor(row[key]) for row in rows], True, value)

    ids = padded("input_ids", 0)
    intents = torch.tensor([row["intent_labels"] for row in rows])
    return {
        "input_ids": ids,
        "attention_mask": (ids != 0).long(),
        "intent_labels": intents,
        "slot_labels": padded("slot_labels", -100),
    }


def main() -> None:
    lines = (files("toxeval") / "examples" / "conda_joint.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    tokenizer = make_tokenizer(" ".join(row["tokens"]) for row in rows)
    train, test = rows * 4, rows  # a real model would be tested on other lines

    metric = toxeval.load("conda_joint")
    trainer = Trainer(
        model=JointModel(config(tokenizer)),
        args=arguments(
            best="jsa", num_train_epochs=12, label_names=["intent_labels", "slot_labels"], remove_unused_columns=False
        ),
        train_dataset=[encode(tokenizer, row) for row in train],
        eval_dataset=[encode(tokenizer, row) for row in test],
        data_collator=collate,
        compute_metrics=metric.compute_metrics,
    )
    trainer.train()
    scores = trainer.evaluate()
    for key in ("jsa", "uca", "t_f1", "t_f1_T", "u_f1_E"):
        print(f"{key:8} {scores[f'eval_{key}']:.4f}")

    # the same by words, for a file of predictions
    predictions = []
    for row in test:
        encoded = tokenizer(row["tokens"], is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            output = trainer.model.eval()(encoded["input_ids"], encoded["attention_mask"])
        slots = [SLOTS[i] for i in output["slot_logits"][0].argmax(dim=-1).tolist()]
        words = word_predictions(encoded.word_ids(), slots, n_words=len(row["tokens"]))
        predictions.append({"intent": INTENTS[int(output["intent_logits"].argmax())], "slots": words})
    by_words = metric.compute(predictions=predictions, references=[row["reference"] for row in test])
    assert all(abs(by_words[key] - scores[f"eval_{key}"]) < 1e-9 for key in by_words)


if __name__ == "__main__":
    main()
