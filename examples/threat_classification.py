"""Train a classifier for rare threats, and choose the best epoch by `threat_f1`.

    python examples/threat_classification.py

The comments are invented and mild: those that ship with toxeval, with other endings and some words lost, so that a few
can't be told apart. 5 % are threats.
"""

import json
from importlib.resources import files

import numpy as np
from datasets import Dataset
from tiny_bert import arguments, config, make_tokenizer
from transformers import BertForSequenceClassification, DataCollatorWithPadding, Trainer

import toxeval

ENDINGS = ["", "today", "on the talk page", "and the section", "again", "for the article"]


def comments(n: int, seed: int) -> Dataset:
    """Variations of the examples' comments, every twentieth a threat."""
    lines = (files("toxeval") / "examples" / "threat_f1.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    by_label = [sorted({row["comment_text"] for row in rows if row["reference"] == label}) for label in (0, 1)]
    rng = np.random.default_rng(seed)
    labels = (np.arange(n) % 20 == 0).astype(int)
    texts = []
    for label in labels:
        words = f"{rng.choice(by_label[label])} {rng.choice(ENDINGS)}".split()
        texts.append(" ".join(word for word in words if rng.random() < 0.6))
    return Dataset.from_dict({"text": texts, "labels": labels.tolist()})


def main() -> None:
    train, test = comments(800, seed=1), comments(400, seed=2)
    tokenizer = make_tokenizer(train["text"])
    train, test = (
        data.map(lambda batch: tokenizer(batch["text"], truncation=True, max_length=64), batched=True)
        for data in (train, test)
    )

    metric = toxeval.load("threat_f1", threshold=0.3)  # options are fixed here
    trainer = Trainer(
        model=BertForSequenceClassification(config(tokenizer)),
        args=arguments(best="f1_macro", num_train_epochs=6),
        train_dataset=train,
        eval_dataset=test,
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=metric.compute_metrics,  # that's all
    )
    trainer.train()

    # the same from the logits, by hand
    output = trainer.predict(test)
    scores = metric.compute(prediction_scores=output.predictions, references=output.label_ids, from_logits=True)
    print(f"best epoch by f1_macro: {trainer.state.best_metric:.4f}")
    for key in ("f1_macro", "precision_threat", "recall_threat", "average_precision", "prevalence"):
        print(f"{key:20} {scores[key]:.4f}")
    assert scores["f1_macro"] == output.metrics["test_f1_macro"] == trainer.state.best_metric


if __name__ == "__main__":
    main()
