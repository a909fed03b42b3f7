"""Wrong labels, scores and columns are refused: where, what was found, what is allowed, and no text of the user's."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from samples import CATEGORIES, INTENTS, SAFETY, SAMPLES, SLOTS, SOLD, THREAT, TOXIC, Sample, assert_same, columns, ids

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

SECRET = "you are so bad at this please go home"
BY_ID = {sample.id: sample for sample in SAMPLES}


@dataclass(frozen=True)
class Place:
    """Where a label or a number is wanted: an input, a field of it, a position in a sequence."""

    sample: Sample
    name: str
    labels: tuple[str, ...] = ()
    field: str = ""
    sequence: bool = False

    @property
    def id(self) -> str:
        return ".".join(filter(None, [self.sample.id, self.name, self.field]))

    def put(self, first: Any, second: Any) -> dict[str, Any]:
        """Two valid rows with these two values put in: the second is the bad one, in row 1 (position 1)."""
        given = columns(two_rows(self.sample))
        if self.sequence:
            length = len(given[self.name][0]["slots"] if self.field else given[self.name][0])
            rest = [0 if isinstance(first, int) else self.labels[0]] * (length - 1)
            values: list[Any] = [[first, *rest], [first, second, *rest[1:]]]
        else:
            values = [first, second]
        if self.field:
            values = [item | {self.field: value} for item, value in zip(given[self.name], values)]
        return given | {self.name: values}

    @property
    def where(self) -> str:
        return f"{self.name}[1]" + (f'["{self.field}"]' if self.field else "") + ("[1]" if self.sequence else "")


def two_rows(sample: Sample) -> list[dict[str, Any]]:
    rows = [row for row in sample.complete if row["predictions" if "predictions" in row else "prediction_scores"]]
    return [rows[0], rows[0]]


def places() -> Iterator[Place]:
    for sample_id, name, labels in [
        ("sold_macro_f1", "predictions", SOLD),
        ("sold_macro_f1", "references", SOLD),
        ("threat_f1", "predictions", THREAT),
        ("threat_f1", "references", THREAT),
        ("oracle_collab", "references", TOXIC),
        ("dia_safety_rate-references_categories", "predictions", SAFETY),
        ("dia_safety_rate-references_categories", "references", SAFETY),
        ("dia_safety_rate-references_categories", "categories", CATEGORIES),
    ]:
        yield Place(BY_ID[sample_id], name, labels)
    for name in ("predictions", "references"):
        yield Place(BY_ID["sold_macro_f1-token"], name, SOLD, sequence=True)
        yield Place(BY_ID["conda_joint"], name, INTENTS, "intent")
        yield Place(BY_ID["conda_joint"], name, SLOTS, "slots", sequence=True)


LABELS = list(places())
SCORES = [
    Place(BY_ID["threat_f1-scores"], "prediction_scores"),
    Place(BY_ID["oracle_collab"], "predictions"),
]
NUMBERS = [*SCORES, Place(BY_ID["oracle_collab-review_scores"], "review_scores")]

at_labels = pytest.mark.parametrize("place", LABELS, ids=lambda place: place.id)
at_scores = pytest.mark.parametrize("place", SCORES, ids=lambda place: place.id)
at_numbers = pytest.mark.parametrize("place", NUMBERS, ids=lambda place: place.id)


@pytest.fixture
def refused(hf_home: Path) -> Callable[..., str]:
    """Compute and be refused; the message, after checking what holds for every refusal."""

    def call(sample: Sample, given: dict[str, Any], **options: Any) -> str:
        metric, files = sample.load(**sample.needed), sorted(hf_home.rglob("*"))
        with pytest.raises(ValueError, match=f"^{sample.metric}: ") as caught:
            metric.compute(**given, **options)
        message = str(caught.value)
        assert len(message) < 300
        assert "please" not in "".join(traceback.format_exception(caught.value))
        assert sorted(hf_home.rglob("*")) == files
        again = metric.compute(**columns(sample.single))
        assert_same(again, sample.compute(sample.single))
        return message

    return call


@at_labels
@pytest.mark.parametrize("value", ["<PAD>", "UNK", "B-T", "", "off", "1", SECRET])
def test_undeclared_names(place: Place, value: str, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(place.labels[0], value))
    assert message.startswith(f"{place.sample.metric}: {place.where}: ")
    if value == SECRET:
        assert f"a text of {len(SECRET)} characters" in message
    else:
        assert repr(value) in message
    assert all(label in message for label in place.labels)


@at_labels
@pytest.mark.parametrize("value", [7, -1, 1 + 0j, -100, 0.7, 1.5, float("nan"), float("inf"), None, b"OFF"])
def test_undeclared_ids(place: Place, value: Any, refused: Callable[..., str]) -> None:
    if value == -100 and place.sequence and place.name == "references":
        value = -101  # -100 itself is allowed here
    message = refused(place.sample, place.put(0, value))
    assert message.startswith(f"{place.sample.metric}: {place.where}: ")
    assert (type(value).__name__ if isinstance(value, (bytes, complex)) else str(value)) in message
    if value != -100 or not place.sequence:
        assert f"{', '.join(place.labels)} (ids 0" in message
    if isinstance(value, (int, float)):
        array_like = np.array([0, value])
        if not place.sequence and not place.field:
            assert refused(place.sample, place.put(0, 0) | {place.name: array_like}) == message
            if value == value:  # pandas turns nan into a null of some kind
                assert refused(place.sample, place.put(0, 0) | {place.name: pd.Series(array_like)}) == message


@at_labels
def test_names_and_ids_mixed_in_one_input(place: Place, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(0, place.labels[0]))
    assert message.startswith(f"{place.sample.metric}: {place.where}: a name ")
    message = refused(place.sample, place.put(place.labels[0], 0))
    assert message.startswith(f"{place.sample.metric}: {place.where}: an id ")
    assert "not both" in message


@at_labels
def test_numeric_strings_are_no_ids(place: Place, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put("0", "1"))
    assert "'0'" in message
    assert "ids are integers, not texts" in message


@at_labels
def test_a_probability_where_a_label_is_wanted(place: Place, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(0, 0.7))
    assert "0.7" in message
    if place.sample.metric == "threat_f1" and place.name == "predictions":
        assert "prediction_scores" in message
    assert "score" in message


@at_labels
@pytest.mark.parametrize("value", [[0, 1], (0,), {"label": "OFF"}, {1}, object()])
def test_something_else_where_a_label_is_wanted(place: Place, value: Any, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(0, value))
    assert message.startswith(f"{place.sample.metric}: {place.where}: ")
    assert type(value).__name__ in message


@pytest.mark.parametrize("place", [p for p in LABELS if not p.sequence and not p.field], ids=lambda place: place.id)
@pytest.mark.parametrize("shape", [(2, 2), (2, 1), (1, 2, 3)])
def test_two_dimensions_where_one_is_wanted(place: Place, shape: tuple, refused: Callable[..., str]) -> None:
    array = np.zeros(shape, dtype=int)
    message = refused(place.sample, columns(two_rows(place.sample)) | {place.name: array})
    assert message.startswith(f"{place.sample.metric}: {place.name}: an array of shape {shape}")
    assert ("argmax" in message) == (shape[-1] > 1)  # of one column it is 0 in every row
    message = refused(place.sample, columns(two_rows(place.sample)) | {place.name: array.astype(float).tolist()})
    assert message.startswith(f"{place.sample.metric}: {place.name}[0]: a list ")
    assert ("argmax" in message) == (shape[-1] > 1)


@at_numbers
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), None, "0.5", SECRET, [0.5, "x"]])
def test_no_finite_number(place: Place, value: Any, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(0.5, value))
    assert message.startswith(f"{place.sample.metric}: {place.where}: ")
    assert "finite numbers" in message
    if value is None:
        arrow = pa.array([0.5, None])
        assert refused(place.sample, place.put(0.5, 0.5) | {place.name: arrow}).startswith(
            f"{place.sample.metric}: {place.where}: None"
        )


@at_scores
@pytest.mark.parametrize("value", [1.2, -0.1, np.nextafter(1.0, 2), 7])
def test_scores_outside_the_unit_interval(place: Place, value: float, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(0.5, value))
    assert message.startswith(f"{place.sample.metric}: {place.where}: {float(value)}; ")
    assert "from 0 to 1" in message
    assert "from_logits=True" in message
    two = [[0.5, 0.5], [1 - value, value]]
    assert refused(place.sample, place.put(0.5, 0.5) | {place.name: two}).startswith(
        f"{place.sample.metric}: {place.where}: "
    )


@at_scores
def test_two_columns_that_are_no_distribution(place: Place, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(0.5, 0.5) | {place.name: [[0.5, 0.5], [0.9, 0.3]]})
    assert message.startswith(f"{place.sample.metric}: {place.where}: row 1 sums to 1.2")


@at_numbers
@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.zeros((2, 1, 1)), [[0.5], [0.5, 0.5]], [[], []]])
def test_other_shapes_of_numbers(place: Place, bad: Any, refused: Callable[..., str]) -> None:
    message = refused(place.sample, place.put(0.5, 0.5) | {place.name: bad})
    assert message.startswith(f"{place.sample.metric}: {place.name}: ")
    assert "one " in message
    assert "a row" in message


ALL_INPUTS = [(sample, name) for sample in SAMPLES for name in sample.complete[0]]
at_inputs = pytest.mark.parametrize(("sample", "name"), ALL_INPUTS, ids=lambda v: v if isinstance(v, str) else ids(v))


@at_inputs
@pytest.mark.parametrize(
    "make",
    [lambda: SECRET, lambda: SECRET.encode(), lambda: {SECRET: 1}, lambda: {0, 1}, lambda: iter([0, 1]), lambda: 1]
    + [lambda: (x for x in "ab"), lambda: np.array(0.5), lambda: object(), lambda: range, lambda: True],
    ids=["text", "bytes", "dict", "set", "iterator", "int", "generator", "scalar_array", "object", "class", "bool"],
)
def test_no_column_at_all(sample: Sample, name: str, make: Callable, refused: Callable[..., str]) -> None:
    message = refused(sample, columns(two_rows(sample)) | {name: make()})
    assert message.startswith(f"{sample.metric}: {name}: ")


@at_inputs
def test_different_lengths(sample: Sample, name: str, refused: Callable[..., str]) -> None:
    given = columns(two_rows(sample))
    message = refused(sample, given | {name: given[name] + given[name][:1]})
    assert name in message
    assert "2 and 3 rows" in message or "3 and 2 rows" in message


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
@pytest.mark.parametrize("hold", [list, tuple, np.array, pa.array, pd.Series])
def test_no_rows(sample: Sample, hold: Callable, refused: Callable[..., str]) -> None:
    message = refused(sample, {name: hold([]) for name in sample.complete[0]})
    assert "no rows; allowed: at least one row" in message
    with pytest.raises(ValueError, match=f"^{sample.metric}: predictions: no rows; allowed: at least one row"):
        sample.load().compute()


@at_inputs
def test_a_column_of_running_text(sample: Sample, name: str, refused: Callable[..., str]) -> None:
    for hold in (list, np.array, pd.Series, pa.array):
        message = refused(sample, columns(two_rows(sample)) | {name: hold([SECRET, SECRET])})
        assert message.startswith(f"{sample.metric}: {name}")
    refused(sample, columns(two_rows(sample)) | {name: [{"text": SECRET}, {SECRET: 0}]})
    refused(sample, columns(two_rows(sample)) | {name: [[SECRET], [SECRET]]})


@pytest.mark.parametrize(
    ("metric", "found", "meant"),
    [
        ("dia_safety_rate", "safe", "Safe"),
        ("dia_safety_rate", "unsafe", "Unsafe"),
        ("sold_macro_f1", "off", "OFF"),
        ("threat_f1", "Threat", "threat"),
    ],
)
def test_another_case_is_the_same_word(metric: str, found: str, meant: str) -> None:
    """To difflib "safe" is closer to "Unsafe", the opposite."""
    with pytest.raises(ValueError, match=f"{found!r}; .*did you mean {meant!r}"):
        toxeval.load(metric).compute(predictions=[found], references=[0])


@pytest.mark.parametrize("hold", [list, np.array, pd.Series, pa.array])
def test_labels_of_a_model_without_names(hold: Callable[..., Any]) -> None:
    for metric in ("dia_safety_rate", "sold_macro_f1", "threat_f1"):
        message = "unknown (label|verdict) 'LABEL_1'; .*config has no id2label: set that, or give ids"
        with pytest.raises(ValueError, match=message):
            toxeval.load(metric).compute(predictions=hold(["LABEL_1"]), references=[0])


def test_a_table_of_one_column_loses_an_axis() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 1\); allowed: one label a row.*lose the last axis"):
        toxeval.load("sold_macro_f1").compute(predictions=pd.DataFrame({"call": [1, 0]}), references=[1, 0])


def test_dicts_of_a_pipeline() -> None:
    with pytest.raises(ValueError, match="a dict where one label is wanted.*of a pipeline's dicts the label"):
        toxeval.load("sold_macro_f1").compute(predictions=[{"label": "OFF", "score": 0.9}], references=[1])


def test_a_prediction_in_other_words_is_told_how_to_be_read(refused: Callable[..., str]) -> None:
    posts, said = BY_ID["sold_macro_f1"], "other words are read by a rule of toxeval.answers"
    for predicted, gold, told in (("rude", "OFF", True), ("not rude", "OFF", True), ("OFF", "rude", False)):
        message = refused(posts, {"predictions": ["OFF", predicted], "references": ["OFF", gold]})
        assert (said in message) == told
    assert said not in refused(posts, {"predictions": ["OFF", "<PAD>"], "references": ["OFF", "OFF"]})
    slots = {"intent": "E", "slots": ["UNK"]}
    assert said not in refused(BY_ID["conda_joint"], {"predictions": [slots], "references": [slots]})
