"""What else `evaluate` does with a metric: combine, evaluator, EvaluationSuite, save."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import evaluate
import pytest
from samples import SAFETY, SOLD, THREAT

import toxeval

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # scipy's, of a bootstrap over eight rows
]
WORDS = ["[PAD]", "[UNK]", "you", "are", "bad", "good", "gg", "wp"]
TEXTS = ["you are bad", "gg wp", "good", "bad bad", "you are good", "bad gg", "wp", "are you bad"]
GOLD = [1, 0, 0, 1, 0, 1, 0, 1]
TIMES = {"total_time_in_seconds", "samples_per_second", "latency_in_seconds"}


@pytest.fixture(scope="module")
def suites() -> Iterator[Any]:
    """``evaluate.evaluation_suite``, and all it imports, with ``transformers``, which the tests hide at first."""
    pytest.importorskip("transformers")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in sys.modules if name.startswith("evaluate.evaluat")]:
            patch.delitem(sys.modules, name)
        yield importlib.import_module("evaluate.evaluation_suite")


@pytest.fixture(scope="module")
def model_and_tokenizer() -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(1)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = BertForSequenceClassification(BertConfig(vocab_size=len(WORDS), **size)).eval()
    return model, PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


def predicted(model_and_tokenizer: tuple[Any, Any]) -> list[int]:
    model, tokenizer = model_and_tokenizer
    return [int(model(**tokenizer(text, return_tensors="pt")).logits.argmax()) for text in TEXTS]


@pytest.mark.parametrize(
    ("name", "labels"), [("sold_macro_f1", SOLD), ("threat_f1", THREAT), ("dia_safety_rate", SAFETY)]
)
def test_evaluator(name: str, labels: tuple[str, str], model_and_tokenizer: tuple[Any, Any], suites: Any) -> None:
    model, tokenizer = model_and_tokenizer
    metric = toxeval.load(name)
    wanted = metric.compute(predictions=predicted(model_and_tokenizer), references=GOLD)
    model.config.id2label = dict(enumerate(labels))
    data = datasets.Dataset.from_dict({"text": TEXTS, "label": GOLD})
    ways = {
        "model_or_pipeline": model,
        "tokenizer": tokenizer,
        "data": data,
        "metric": metric,
        "label_mapping": {label: i for i, label in enumerate(labels)},
    }
    task = suites.evaluator("text-classification")
    result = task.compute(**ways)
    assert {key: value for key, value in result.items() if key not in TIMES} == wanted
    resampled = task.compute(**ways, strategy="bootstrap", n_resamples=20, random_state=0)
    assert resampled["f1_macro"]["score"] == wanted["f1_macro"]


def test_evaluator_and_a_ready_made_pipeline(model_and_tokenizer: tuple[Any, Any], suites: Any) -> None:
    """Stock `evaluate` asks for a class that `transformers` 5 dropped; the cards say: pass model and tokenizer."""
    transformers = pytest.importorskip("transformers")
    model, tokenizer = model_and_tokenizer
    model.config.id2label = dict(enumerate(SOLD))
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    ways = {"model_or_pipeline": pipe, "data": datasets.Dataset.from_dict({"text": TEXTS, "label": GOLD})}
    ways |= {"metric": toxeval.load("sold_macro_f1"), "label_mapping": {"NOT": 0, "OFF": 1}}
    task = suites.evaluator("text-classification")
    if hasattr(transformers, "TFPreTrainedModel"):
        assert task.compute(**ways)["accuracy"] >= 0
    else:
        with pytest.raises(AttributeError, match="TFPreTrainedModel"):
            task.compute(**ways)


def test_evaluation_suite_and_save(model_and_tokenizer: tuple[Any, Any], suites: Any, tmp_path: Path) -> None:
    model, tokenizer = model_and_tokenizer
    model.config.id2label = dict(enumerate(SOLD))
    data = datasets.Dataset.from_dict({"text": TEXTS, "label": GOLD})
    common = {"input_column": "text", "label_column": "label", "tokenizer": tokenizer}
    names = ("sold_macro_f1", "dia_safety_rate")

    class Suite(suites.EvaluationSuite):
        def __init__(self) -> None:
            super().__init__("toxicity")
            mapping = {"NOT": 0, "OFF": 1}
            tasks = [{"metric": toxeval.load(name), "label_mapping": mapping, **common} for name in names]
            self.suite = [suites.SubTask("text-classification", data, args_for_task=task) for task in tasks]

    for name, result in zip(names, Suite().run(model)):
        wanted = toxeval.load(name).compute(predictions=predicted(model_and_tokenizer), references=GOLD)
        scores = {key: value for key, value in result.items() if key in wanted}
        assert scores == wanted
        saved = evaluate.save(tmp_path / f"{name}.json", **scores)
        assert json.loads(Path(saved).read_text()).items() >= wanted.items()


def test_combine(in_checkout: Path) -> None:
    names = ["sold_macro_f1", "threat_f1", "dia_safety_rate"]
    both = evaluate.combine([evaluate.load(f"metrics/{name}") for name in names], force_prefix=True)
    predictions = [1, 0, 0, 1, 1, 0, 0, 1]
    both.add(prediction=predictions[0], reference=GOLD[0])
    both.add_batch(predictions=predictions[1:4], references=GOLD[1:4])
    both.add_batch(predictions=predictions[4:], references=GOLD[4:])
    result = both.compute()
    for name in names:
        for key, value in toxeval.load(name).compute(predictions=predictions, references=GOLD).items():
            assert result[f"{name}_{key}"] == value
    assert both.compute(predictions=predictions, references=GOLD) == result
