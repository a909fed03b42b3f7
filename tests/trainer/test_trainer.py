"""Real runs of the Trainer of `transformers` with every metric: train, evaluate, choose the best, batch by batch."""

import json
import math
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tiny import CASES, Case, rows

import toxeval

pytestmark = [
    pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
]
every = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


def scores(metrics: dict[str, Any], prefix: str = "eval") -> dict[str, Any]:
    """The metric's own part of what the Trainer logs."""
    ours = {key.removeprefix(f"{prefix}_"): value for key, value in metrics.items() if key != "epoch"}
    timing = ("loss", "runtime", "samples_per_second", "steps_per_second", "model_preparation_time")
    return {key: value for key, value in ours.items() if key not in timing}


@every
def test_train_choose_the_best_and_evaluate(case: Case, tmp_path: Path) -> None:
    trainer = case.trainer(
        tmp_path,
        num_train_epochs=3,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model=case.best,
        greater_is_better=True,
    )
    trainer.train()
    evaluations = [entry for entry in trainer.state.log_history if f"eval_{case.best}" in entry]
    assert len(evaluations) == 3
    best = max(entry[f"eval_{case.best}"] for entry in evaluations)
    latest = max(tmp_path.glob("checkpoint-*"), key=lambda path: int(path.name.partition("-")[2]))
    saved = json.loads((latest / "trainer_state.json").read_text())
    assert saved["best_metric"] == best
    assert scores(saved["log_history"][-1]).keys() == scores(evaluations[-1]).keys()

    found = trainer.predict(trainer.eval_dataset)  # by the best model
    wanted = case.load().compute(**case.plain(found.predictions, found.label_ids))
    assert scores(found.metrics, "test") == pytest.approx(wanted, rel=1e-6, nan_ok=True)
    assert scores(trainer.evaluate()) == pytest.approx(wanted, rel=1e-6, nan_ok=True)
    assert wanted[case.best] == pytest.approx(best)
    assert all(type(value) in (int, float) for value in scores(found.metrics, "test").values())


@every
@pytest.mark.parametrize("how", [{"batch_eval_metrics": True}, {"eval_do_concat_batches": False}], ids=["each", "list"])
def test_batch_by_batch_is_the_same(case: Case, how: dict[str, bool], tmp_path: Path) -> None:
    whole = scores(case.trainer(tmp_path).evaluate())
    metric = case.load()
    trainer = case.trainer(tmp_path, metric, **how)
    assert scores(trainer.evaluate()) == pytest.approx(whole, rel=1e-6, nan_ok=True)
    assert scores(trainer.evaluate()) == pytest.approx(whole, rel=1e-6, nan_ok=True)  # nothing left of the first
    assert len(metric) == 0


def test_the_best_model_is_chosen_by_the_key_the_card_names(checkout: Path) -> None:
    for name in toxeval.METRICS:
        card = (checkout / "metrics" / name / "README.md").read_text(encoding="utf-8")
        match = re.search(r"\*\*`metric_for_best_model`:\*\* `([^`]+)`", card)
        assert match
        assert match[1] in {case.best for case in CASES if case.metric == name}


class Breaks(list):
    """A dataset that can't be read from some row on, until it's mended."""

    broken_from = math.inf

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, int) and i >= self.broken_from:
            raise OSError("the disk is gone")
        return super().__getitem__(i)


@pytest.mark.parametrize("next_is_whole", [False, True])
@pytest.mark.parametrize("case", [CASES[0], CASES[-1]], ids=[CASES[0].id, CASES[-1].id])
def test_an_evaluation_that_broke_off_leaves_nothing_behind(case: Case, next_is_whole: bool, tmp_path: Path) -> None:
    data = Breaks(rows(2, case.labels))
    wanted = scores(case.trainer(tmp_path, data=data).evaluate())
    metric = case.load()
    trainer = case.trainer(tmp_path, metric, data=data, batch_eval_metrics=True)
    data.broken_from = 20
    with pytest.raises(OSError, match="the disk is gone") as kept:  # as a notebook keeps the last exception
        trainer.evaluate()
    data.broken_from = math.inf
    if next_is_whole:
        trainer = case.trainer(tmp_path, metric, data=data)
    assert scores(trainer.evaluate()) == pytest.approx(wanted, nan_ok=True)
    assert kept.value


def test_a_refusal_ends_the_evaluation_and_rows_of_add_batch_are_kept_apart(tmp_path: Path) -> None:
    case = CASES[0]
    metric = case.load()
    metric.add_batch(predictions=["OFF"], references=["OFF"])
    data = rows(2, lambda w, i: {"labels": 1}, n=20)
    trainer = case.trainer(tmp_path, metric, data=data, batch_eval_metrics=True)
    trainer.preprocess_logits_for_metrics = lambda logits, labels: logits[:, [0, 1, 1]]
    with pytest.raises(
        ValueError, match=r"sold_macro_f1: predictions: float32 of shape \(8, 3\); allowed: from the model"
    ):
        trainer.evaluate()
    trainer.preprocess_logits_for_metrics = None
    assert trainer.evaluate()["eval_f1_macro"] < 1
    assert len(metric) == 1
    assert metric.compute()["accuracy"] == 1.0


@pytest.mark.parametrize("dtype", ["bf16_full_eval", "fp16_full_eval"])
@pytest.mark.parametrize("batches", [False, True])
def test_half_precision(dtype: str, batches: bool, tmp_path: Path) -> None:
    for case in (CASES[3], CASES[5], CASES[-1]):
        found = scores(case.trainer(tmp_path, **{dtype: True}, batch_eval_metrics=batches).evaluate())
        assert found.keys() == scores(case.trainer(tmp_path).evaluate()).keys()
