"""Options out of range, names nobody defined, inputs that come and go between batches, sequences that don't fit."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from samples import SAMPLES, Sample, assert_same, columns, ids

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

BY_ID = {sample.id: sample for sample in SAMPLES}
SECRET = "you are so bad at this please go home"

OUT_OF_RANGE: list[tuple[str, str, Any]] = [
    *[(s.id, "detailed", value) for s in SAMPLES for value in ("yes", 1, None, SECRET)],
    *[("sold_macro_f1", "zero_division", value) for value in (0.5, "warn", None, True, SECRET)],
    *[("conda_joint", "zero_division", value) for value in (0.5, "warn")],
    *[("dia_safety_rate-references", "zero_division", value) for value in (0.5, "warn")],
    *[("threat_f1", "zero_division", value) for value in (0.5, "warn")],
    *[("oracle_collab", "zero_division", value) for value in (0.5, "warn")],
    *[("dia_safety_rate", "invalid", value) for value in ("drop", None, SECRET)],
    *[(s, "from_logits", value) for s in ("threat_f1-scores", "oracle_collab") for value in ("yes", 1, None)],
    *[
        (s, "threshold", value)
        for s in ("threat_f1-scores", "oracle_collab")
        for value in (1.5, -0.1, float("nan"), "0.5", None, True, [0.5], SECRET)
    ],
    *[("oracle_collab", "review_strategy", value) for value in ("random", 1, SECRET)],
    *[
        ("oracle_collab", "review_fractions", value)
        for value in ((1.5,), [0.1, -0.1], [float("nan")], 0.1, "0.1", None)
    ],
    *[("oracle_collab", "n_bins", value) for value in (0, -1, 1.5, "15", None, float("inf"), float("nan"))],
    *[("oracle_collab", "label_threshold", value) for value in (1.5, -0.1, "0.7")],
    *[
        ("oracle_collab", "targets", value)
        for value in ({"oc_f1": 0.9}, {"oc_accuracy": 2}, {SECRET: 0.5}, 0.9, ["oc_recall"])
    ],
]


@pytest.mark.parametrize(("sample_id", "option", "value"), OUT_OF_RANGE)
@pytest.mark.parametrize("at_load", [False, True])
def test_an_option_out_of_range(sample_id: str, option: str, value: Any, at_load: bool) -> None:
    sample = BY_ID[sample_id]
    options = sample.needed | {option: value}
    metric = sample.load(**sample.needed)
    refused = (
        partial(sample.load, **options) if at_load else partial(metric.compute, **columns(sample.single), **options)
    )
    with pytest.raises(ValueError, match=f"^{sample.metric}: option {option}") as caught:
        refused()
    message = str(caught.value)
    assert "; allowed: " in message
    assert "please" not in message
    assert len(message) < 400
    if not at_load:
        assert_same(metric.compute(**columns(sample.single)), sample.compute(sample.single))


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_an_option_nobody_defined(sample: Sample) -> None:
    rows = columns(sample.single)
    metric = sample.load(**sample.needed)
    for call in [
        lambda: metric.compute(**rows, detialed=True),
        lambda: sample.load(detialed=True),
        lambda: metric.add_batch(**rows, detialed=True),
        lambda: metric.add(prediction=None, reference=None, detialed=True),
    ]:
        with pytest.raises(
            ValueError, match=f"^{sample.metric}: (option|input) detialed: unknown; allowed: "
        ) as caught:
            call()
        assert len(str(caught.value)) < 400
    with pytest.raises(ValueError, match="did you mean detailed\\?"):
        metric.compute(**rows, detialed=True)
    assert len(metric) == 0
    assert_same(metric.compute(**rows), sample.compute(sample.single))


@pytest.mark.parametrize("name", toxeval.METRICS)
def test_a_configuration_nobody_defined(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: option config_name: 'tokens'; allowed: "):
        toxeval.load(name, "tokens")


def test_a_metric_nobody_defined() -> None:
    with pytest.raises(ValueError, match="^toxeval.load: unknown metric 'f1'; allowed: conda_joint, "):
        toxeval.load("f1")


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_a_missing_input(sample: Sample) -> None:
    rows = columns(sample.single)
    for name in rows:
        if sample.metric == "dia_safety_rate" and name != "predictions" or sample.id == "threat_f1-both_logits":
            continue  # the metric has another question for what is left
        if name == "review_scores":
            continue
        metric = sample.load(**sample.needed)
        with pytest.raises(ValueError, match=f"^{sample.metric}: (predictions|{name}): missing"):
            metric.compute(**{k: v for k, v in rows.items() if k != name})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("dia_safety_rate", "dia_safety_rate-references_categories"),
        ("dia_safety_rate-references_categories", "dia_safety_rate-references"),
        ("oracle_collab", "oracle_collab-review_scores"),
        ("threat_f1", "threat_f1-scores"),
    ],
)
def test_inputs_that_come_and_go_between_batches(first: str, second: str) -> None:
    for a, b in [(BY_ID[first], BY_ID[second]), (BY_ID[second], BY_ID[first])]:
        metric = a.load()
        metric.add_batch(**columns(a.single))
        for call in (metric.add_batch, metric.compute):
            with pytest.raises(ValueError, match=f"^{a.metric}: inputs: .*the same inputs in every batch"):
                call(**columns(b.single))
        assert_same(metric.compute(), a.compute(a.single))


@pytest.mark.parametrize("sample_id", ["threat_f1-scores", "oracle_collab"])
def test_an_encode_option_that_changes_between_batches(sample_id: str) -> None:
    sample = BY_ID[sample_id]
    metric = sample.load()
    metric.add_batch(**columns(sample.single))
    for call in (metric.add_batch, metric.compute):
        with pytest.raises(ValueError, match=f"^{sample.metric}: option from_logits: True here and False"):
            call(**columns(sample.single), from_logits=True)
    with pytest.raises(ValueError, match=f"^{sample.metric}: option from_logits: True here and False"):
        metric.compute(from_logits=True)
    assert_same(metric.compute(), sample.compute(sample.single))


def utterance(*slots: Any) -> dict[str, Any]:
    return {"intent": 0, "slots": list(slots)}


@pytest.mark.parametrize("side", ["predictions", "references"])
def test_sequences_of_different_length_in_a_row(side: str) -> None:
    token, conda = toxeval.load("sold_macro_f1", "token"), toxeval.load("conda_joint")
    for metric, item in [(token, lambda *slots: list(slots)), (conda, utterance)]:
        short, long = [item(0, 1), item(0, 1)], [item(0, 1), item(0, 1, 0)]
        given = (
            {"predictions": short, "references": long}
            if side == "predictions"
            else {"predictions": long, "references": short}
        )
        with pytest.raises(
            ValueError, match=f"^{metric.name}: predictions\\[1\\].* and references\\[1\\].*: "
        ) as caught:
            metric.compute(**given)
        assert "2" in str(caught.value).replace("[1]", "")
        assert "3" in str(caught.value)
        assert "equally long" in str(caught.value)


def test_minus_100_in_the_wrong_place() -> None:
    token, conda = toxeval.load("sold_macro_f1", "token"), toxeval.load("conda_joint")
    for metric, item, field in [(token, lambda *slots: list(slots), ""), (conda, utterance, '["slots"]')]:
        with pytest.raises(ValueError, match="-100 where the reference is a label") as caught:
            metric.compute(predictions=[item(0), item(0, -100, 1)], references=[item(0), item(0, 1, 1)])
        assert str(caught.value).startswith(f"{metric.name}: predictions[1]{field}[1]: ")
    padded = np.array([[0, 1, -100]])
    with pytest.raises(ValueError, match="-100"):
        token.compute(predictions=padded, references=np.array([[0, 1, 1]]))


@pytest.mark.parametrize("name", ["conda_joint", "sold_macro_f1"])
def test_a_text_where_a_sequence_is_wanted(name: str) -> None:
    metric = toxeval.load(name, "token" if name == "sold_macro_f1" else None)
    for bad in (SECRET, "TO", 1, None, {"a": 1}):
        item: Any = {"intent": "E", "slots": bad} if name == "conda_joint" else bad
        with pytest.raises(ValueError, match=f"^{name}: predictions\\[0\\]") as caught:
            metric.compute(predictions=[item], references=[item])
        assert "please" not in str(caught.value)
