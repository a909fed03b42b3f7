"""Train a toxicity classifier, and see what a moderator adds who can review a part of the comments: `oracle_collab`.

    python examples/review_curve.py [PICTURE]

Ends in the review curve: the accuracy of model and moderator together over the share that is reviewed, as a table, and
as a picture (PNG or SVG) if a file is named. The comments are word salad: the more of the words that may offend, the
likelier is the label 1, but never sure, so that the model has something to be unsure of.
"""

import sys

import numpy as np
from datasets import Dataset
from tiny_bert import arguments, config, make_tokenizer
from toxeval.metrics.oracle_collab.curves import review_curve
from transformers import BertForSequenceClassification, DataCollatorWithPadding, Trainer

import toxeval

PLAIN = ["the", "section", "source", "talk", "page", "edit", "please", "thanks", "add", "moved", "good", "point"]
RUDE = ["bad", "noob", "trash", "worst"]


def comments(n: int, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        words = rng.choice(PLAIN, rng.integers(4, 10)).tolist() + rng.choice(RUDE, rng.integers(0, 4)).tolist()
        rude = sum(word in RUDE for word in words)
        texts.append(" ".join(rng.permutation(words)))
        labels.append(int(rng.random() < (0.02, 0.1, 0.5, 0.95)[rude]))
    return Dataset.from_dict({"text": texts, "labels": labels})


def main(picture: str | None) -> None:
    train, test = comments(1000, seed=1), comments(1000, seed=2)
    tokenizer = make_tokenizer(train["text"])
    train, test = (data.map(lambda batch: tokenizer(batch["text"]), batched=True) for data in (train, test))

    metric = toxeval.load("oracle_collab")
    trainer = Trainer(
        model=BertForSequenceClassification(config(tokenizer)),
        args=arguments(best="oc_accuracy_at_0.05", num_train_epochs=3),
        train_dataset=train,
        eval_dataset=test,
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=metric.compute_metrics,
    )
    trainer.train()

    output = trainer.predict(test)
    logits = output.predictions.astype(np.float64)
    probabilities = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
    scores = metric.compute(predictions=probabilities, references=output.label_ids, targets={"oc_accuracy": 0.95})
    print(f"alone the model is right on {scores['accuracy']:.1%}")
    print(f"to be right on 95 % together, {scores['n_reviews_for_oc_accuracy']} of {len(test)} have to be reviewed")

    fractions = [0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0]
    curves = {
        strategy: review_curve(output.label_ids, probabilities, review_strategy=strategy, review_fractions=fractions)
        for strategy in ("uncertainty", "toxicity")
    }
    print(f"{'reviewed':>8}  {'by uncertainty':>14}  {'by toxicity':>11}")
    for i, fraction in enumerate(fractions):
        by_uncertainty, by_toxicity = (curve.oc_accuracy[i] for curve in curves.values())
        print(f"{fraction:8.0%}  {by_uncertainty:14.4f}  {by_toxicity:11.4f}")
    if picture:
        from toxeval.metrics.oracle_collab.rows import reliability, sort_rows

        from toxeval import plots

        whole = {s: review_curve(output.label_ids, probabilities, review_strategy=s) for s in curves}
        bins = reliability(sort_rows(output.label_ids, probabilities))
        plots.save(plots.collaboration({"model": whole}, {"model": bins}), picture)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
