"""What once gave a wrong number, or an error of a library, for input that should be scored or refused."""

import copy
import math
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import toxeval
from toxeval import systems
from toxeval.core.intervals import normal_quantile
from toxeval.core.state import State

pytestmark = pytest.mark.filterwarnings("ignore:.*undefined:", "ignore:torch.quantize")


def compute(name: str, config: str | None = None, **given: Any) -> dict[str, Any]:
    return toxeval.load(name, config).compute(**given)  # type: ignore[return-value]


@pytest.mark.parametrize("from_logits", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.int64])
def test_a_buffer_that_is_filled_again_does_not_change_rows_added_before(
    columns: int, order: Any, kind: Any, from_logits: bool
) -> None:
    batches = [([0.9, 0.2, 0.6], [1, 0, 1]), ([0.1, 0.3, 0.4], [0, 1, 1])]
    whole = {"prediction_scores": sum((b[0] for b in batches), []), "references": sum((b[1] for b in batches), [])}
    expected = compute("threat_f1", **whole, from_logits=from_logits)
    metric = toxeval.load("threat_f1", from_logits=from_logits)
    scores, references = np.empty((3, columns), order=order), np.empty(3, dtype=kind)
    for values, labels in batches:
        scores[:, 0] = 0.0 if from_logits else 1.0 - np.array(values)
        scores[:, -1], references[:] = values, labels
        metric.add_batch(prediction_scores=scores if columns == 2 else scores[:, 0], references=references)
    scores[:], references[:] = 0.5, 0
    assert metric.compute() == expected


def test_the_same_of_review_scores_and_of_a_state() -> None:
    scores, own, references = np.array([0.9, 0.2]), np.array([2.0, 1.0]), np.array([True, False])
    state = toxeval.load("oracle_collab").state(predictions=scores, review_scores=own, references=references)
    scores[:], own[:], references[:] = 0.0, 0.0, False
    rows = {key: values.tolist() for key, values in state.rows.items()}
    assert rows == {"probabilities": [0.9, 0.2], "review_scores": [2.0, 1.0], "references": [1, 0]}


MASKED = np.ma.array([1, 0], mask=[0, 1])


@pytest.mark.parametrize(
    ("name", "config", "given", "where"),
    [
        ("sold_macro_f1", None, {"predictions": MASKED, "references": [1, 0]}, r"predictions\[1\]"),
        ("sold_macro_f1", None, {"predictions": [1, np.ma.masked], "references": [1, 0]}, r"predictions\[1\]"),
        ("sold_macro_f1", "token", {"predictions": [[1, 0]], "references": MASKED[None]}, r"references\[0\]"),
        ("threat_f1", None, {"prediction_scores": MASKED.astype(float), "references": [1, 0]}, r"prediction_scores\[1"),
        (
            "oracle_collab",
            None,
            {"predictions": [0.9, 0.1], "references": [1, 0], "review_scores": MASKED},
            r"scores\[",
        ),
        ("dia_safety_rate", None, {"predictions": MASKED, "categories": [1, 0]}, r"predictions\[1\]"),
    ],
)
def test_what_lies_under_a_mask_is_no_value(name: str, config: str | None, given: Any, where: str) -> None:
    with pytest.raises(ValueError, match=where):
        compute(name, config, **given)


def test_a_masked_array_without_a_mask_is_an_array() -> None:
    scores = compute("threat_f1", prediction_scores=np.ma.array([0.9, 0.1]), references=np.ma.array([1, 0]))
    assert scores == compute("threat_f1", prediction_scores=[0.9, 0.1], references=[1, 0])


@pytest.mark.parametrize(
    "predictions",
    [
        pd.Series([True, None], dtype="boolean"),
        pd.Series(["OFF", None], dtype="string"),
        ["OFF", pd.NA],
        [1, pd.NA],
        [1, pd.NaT],
    ],
)
def test_missing_values_of_pandas_are_missing_labels(predictions: Any) -> None:
    with pytest.raises(ValueError, match=r"predictions\[1\]: missing label"):
        compute("sold_macro_f1", predictions=predictions, references=[1, 0])
    with pytest.raises(ValueError, match=r"predictions\[0\]\[1\]: missing token label"):
        compute("sold_macro_f1", "token", predictions=[list(predictions)], references=[[1, 0]])


def test_half_precision_columns_sum_to_one_as_well_as_they_can() -> None:
    torch = pytest.importorskip("torch")
    exact = np.random.default_rng(0).random(200)
    for kind in (torch.bfloat16, torch.float16):
        columns = torch.tensor(np.stack([1 - exact, exact], axis=1)).to(kind)
        whole = compute("threat_f1", prediction_scores=columns, references=[0, 1] * 100)
        assert whole == compute("threat_f1", prediction_scores=list(columns), references=[0, 1] * 100)
        one = toxeval.load("threat_f1")
        for row, label in zip(columns, [0, 1] * 100):
            one.add(prediction_scores=row, reference=label)
        assert one.compute() == whole


def test_tensors_numpy_cannot_hold_are_refused() -> None:
    torch = pytest.importorskip("torch")
    dense = torch.tensor([0.75, 0.25])
    bad = [dense.to_sparse(), torch.empty(2, device="meta"), torch.quantize_per_tensor(dense, 0.1, 0, torch.quint8)]
    for tensor in [*bad, dense.to(torch.float8_e4m3fn)]:
        with pytest.raises(ValueError, match="threat_f1: prediction_scores: a tensor of torch"):
            compute("threat_f1", prediction_scores=tensor, references=[1, 0])
    scores = compute("threat_f1", prediction_scores=torch._neg_view(-dense), references=[1, 0])
    assert scores["accuracy"] == 1.0


def test_a_range_is_a_column() -> None:
    rows = {"intent": [0, 1], "slots": [[], []]}
    one, two = (
        compute("conda_joint", predictions=rows, references=rows, cluster=ids, confidence_level=0.9)
        for ids in (range(2), [0, 1])
    )
    assert one == two or {k for k in one if one[k] != two[k]} == {k for k in one if math.isnan(one[k])}


def test_a_format_of_tensors_does_not_round_the_scores_of_a_column() -> None:
    rows = {"predictions": [0.3, 0.7, 0.8, 0.1], "references": [0.8, 0.2, 0.9, 0.8], "ids": [0, 1, 1, 0]}
    data = datasets.Dataset.from_dict(rows)
    if isinstance(data["ids"], list):
        pytest.skip("this version of datasets hands out the formatted values themselves")
    expected = compute("oracle_collab", **{k: rows[k] for k in ("predictions", "references")}, label_threshold=0.8)
    for formatted in (data.with_format("numpy"), data.with_format("numpy").select([3, 2, 1, 0])):
        inputs = {k: formatted[k] for k in ("predictions", "references")}
        assert compute("oracle_collab", **inputs, label_threshold=0.8) == pytest.approx(
            expected, nan_ok=True, abs=1e-15
        )
    transformed = data.with_transform(lambda batch: {"ids": [1 - value for value in batch["ids"]]})
    assert compute("sold_macro_f1", predictions=transformed["ids"], references=rows["ids"])["accuracy"] == 0.0


def test_class_labels_in_another_order_are_read_by_name() -> None:
    for names in (["NOT", "OFF"], ["OFF", "NOT"]):
        features = datasets.Features({"label": datasets.ClassLabel(names=names)})
        data = datasets.Dataset.from_dict({"label": ["OFF", "NOT", "NOT"]}, features=features)
        if isinstance(data["label"], list):
            pytest.skip("in this version of datasets a column is a list, without features")
        for column in (data["label"], data.with_format("numpy")["label"]):
            assert compute("sold_macro_f1", predictions=["OFF", "NOT", "NOT"], references=column)["accuracy"] == 1.0


def test_a_stream_is_no_column() -> None:
    stream = datasets.Dataset.from_dict({"label": [0, 1]}).to_iterable_dataset()
    with pytest.raises(ValueError, match="sold_macro_f1: references: a IterableDataset"):
        compute("sold_macro_f1", predictions=[0, 1], references=stream)
    if hasattr(stream, "__getitem__"):
        with pytest.raises(ValueError, match="sold_macro_f1: references: a IterableColumn"):
            compute("sold_macro_f1", predictions=[0, 1], references=stream["label"])


@pytest.mark.parametrize("ids", [[2**70, 1], [1, -(2**63) - 1], np.array([2**64 - 1, 1], dtype=np.uint64)])
def test_ids_of_more_than_64_bits_are_refused(ids: Any) -> None:
    rows = {"intent": [0, 1], "slots": [[], []]}
    with pytest.raises(ValueError, match=r"conda_joint: cluster\[[01]\]: a whole number of more than 64 bits"):
        compute("conda_joint", predictions=rows, references=rows, cluster=ids)


def test_review_scores_float64_would_tie_are_refused() -> None:
    rows = {"predictions": [0.9, 0.1], "references": [1, 0]}
    with pytest.raises(ValueError, match=r"review_scores\[1\]: 9007199254740993; allowed: numbers that float64"):
        compute("oracle_collab", **rows, review_scores=[2**53, 2**53 + 1])
    with pytest.raises(ValueError, match=r"review_scores\[0\]: a whole number of more than 64 bits"):
        compute("oracle_collab", **rows, review_scores=[2**70, 1])
    assert compute("oracle_collab", **rows, review_scores=[2**60, 2**60 + 2**20])["accuracy"] == 1.0


def test_list_views_are_lists() -> None:
    if not hasattr(pa, "list_view"):
        pytest.skip("pyarrow without list views")
    views = pa.array([["OFF", "NOT"], [], ["OFF"]], pa.list_view(pa.string()))
    assert compute("sold_macro_f1", "token", predictions=views, references=[[1, 0], [], [1]])["accuracy"] == 1.0


def test_logits_whose_difference_overflows_are_refused() -> None:
    far = [[-1e308, 1e308], [-1.5e308, 1.5e308]]
    with pytest.raises(ValueError, match=r"prediction_scores\[0\]: logits whose difference is no float64"):
        compute("threat_f1", prediction_scores=far, references=[0, 1], from_logits=True)


def test_a_sentence_without_spaces_is_not_quoted() -> None:
    with pytest.raises(ValueError, match="a text of 7 characters where a label is wanted"):
        compute("sold_macro_f1", predictions=["这游戏真好玩。", "OFF"], references=[0, 1])


@pytest.mark.parametrize("name", ["threat_f1", "oracle_collab"])
@pytest.mark.parametrize("size", [1, 5 * 10**9])
def test_the_areas_of_billions_of_rows(name: str, size: int) -> None:
    rows = {
        "probabilities": np.array([0.9, 0.8, 0.1, 0.3]),
        "references": np.array([0, 0, 1, 1], np.int8),
        "multiplicity": np.array([size] * 4),
    }
    options = {"review_fractions": [0.25]} if name == "oracle_collab" else {}
    with pytest.warns(match="undefined") if options else _nothing():
        scores = toxeval.load(name).score_state(
            State(4 * size, {}, rows), **options, confidence_level=0.9, n_resamples=5
        )
    area = "auroc" if options else "roc_auc"
    assert scores[area] == scores[f"{area}_low"] == 0.0
    assert scores[f"{area}_high"] < (0.9 if size == 1 else 1e-6)
    if options:
        assert scores["oc_auroc_at_0.25"] == 0.5


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_zero_division_gives_a_float() -> None:
    with pytest.warns(match="undefined"):
        scores = compute("sold_macro_f1", predictions=[0], references=[0], zero_division=1)
    assert {type(value) for value in scores.values()} == {float}


def test_a_level_close_to_one_has_a_quantile() -> None:
    assert normal_quantile(1 - 2**-53) == pytest.approx(8.29, abs=0.01)
    scores = compute("sold_macro_f1", predictions=[0, 1], references=[0, 1], confidence_level=1 - 2**-53)
    assert scores["accuracy_low"] == pytest.approx(0.028, abs=0.001)


@pytest.mark.parametrize("fractions", [np.array(0.1), b"\x00\x01"])
def test_review_fractions_are_several_numbers(fractions: Any) -> None:
    with pytest.raises(ValueError, match="option review_fractions: a"):
        compute("oracle_collab", predictions=[0.9, 0.1], references=[1, 0], review_fractions=fractions)


def test_minus_zero_is_zero() -> None:
    with pytest.warns(match="undefined"):
        scores = compute("oracle_collab", predictions=[0.9, 0.1], references=[1, 0], review_fractions=[-0.0])
    assert "oc_accuracy_at_0.0" in scores


@pytest.mark.parametrize("n_bins", [10**4, 10**18, 10**30])
def test_bins_that_fit_no_memory_are_refused(n_bins: int) -> None:
    with pytest.raises(ValueError, match="oracle_collab: option n_bins: 10+; allowed: a whole number from 1 to 1000"):
        compute("oracle_collab", predictions=[0.9, 0.1], references=[1, 0], n_bins=n_bins)


@pytest.mark.parametrize("data", [b"", b"junk", b"PK\x03\x04"])
def test_bytes_that_are_no_state_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=f"{len(data)} bytes that are no whole state"):
        State.from_bytes(data)


def test_a_cut_off_state_is_refused() -> None:
    whole = toxeval.load("sold_macro_f1").state(predictions=[1, 0], references=[1, 1]).to_bytes()
    for size in range(0, len(whole), 97):
        with pytest.raises(ValueError, match="no whole state"):
            State.from_bytes(whole[:size])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_has_rows_of_its_own(copied: Any) -> None:
    metric = toxeval.load("sold_macro_f1")
    metric.add(prediction=1, reference=1)
    other = copied(metric)
    other.add(prediction=1, reference=0)
    assert (len(metric), len(other)) == (1, 2)


def test_a_missing_verdict_is_counted_one_by_one_too() -> None:
    verdicts, categories = ["Safe", None, "Unsafe"], [0, 1, 2]
    metric = toxeval.load("dia_safety_rate")
    for verdict, category in zip(verdicts, categories):
        metric.add(prediction=verdict, categories=category, invalid="count")
    scores = metric.compute()
    assert scores is not None
    assert scores["n_invalid"] == 1
    expected = compute("dia_safety_rate", predictions=verdicts, categories=categories, invalid="count")
    assert scores == pytest.approx(expected, nan_ok=True)
    with pytest.raises(ValueError, match=r"dia_safety_rate: predictions\[0\]: missing verdict"):
        metric.add(prediction=None, categories=1)


def test_conversations_are_texts_or_numbers_in_all_batches() -> None:
    rows = {"intent": [0, 1], "slots": [[], []]}
    metric = toxeval.load("conda_joint")
    metric.add_batch(predictions=rows, references=rows, cluster=[1, 2])
    with pytest.raises(ValueError, match="conda_joint: cluster: texts in one batch and numbers in another"):
        metric.add_batch(predictions=rows, references=rows, cluster=["1", "2"])
    assert len(metric) == 2
    numbers, texts = (metric.state(predictions=rows, references=rows, cluster=ids) for ids in ([1, 2], ["1", "2"]))
    with pytest.raises(ValueError, match="states of texts and of numbers"):
        numbers + texts


@pytest.mark.parametrize(
    ("results", "found"),
    [
        ({"a": 1.0}, "results: a dict"),
        ([1.0], r"run 0: 1\.0"),
        ([{"a": None}], "run 0: a: None"),
        ([{"a": "x"}], "a: 'x'"),
    ],
)
def test_only_scores_are_aggregated(results: Any, found: str) -> None:
    with pytest.raises(ValueError, match=f"toxeval.systems: .*{found}"):
        systems.aggregate(results)


@pytest.mark.parametrize("keys", ["accuracy", [["accuracy"]], [None]])
def test_keys_are_a_list_of_names(keys: Any) -> None:
    with pytest.raises(ValueError, match="sold_macro_f1: keys: "):
        systems.compare("sold_macro_f1", [1, 0], [1, 1], [1, 0], keys=keys)


BOOLS = [
    ("threat_f1", {"prediction_scores": [0.2, True], "references": [0, 1]}, r"prediction_scores\[1\]: True"),
    ("threat_f1", {"prediction_scores": [0.2, np.True_], "references": [0, 1]}, r"prediction_scores\[1\]"),
    ("threat_f1", {"prediction_scores": [[0.8, 0.2], [False, True]], "references": [0, 1]}, r"prediction_scores\[1\]"),
    ("threat_f1", {"prediction_scores": [np.array(True), np.array(0.5)], "references": [0, 1]}, r"_scores\[0\]: True"),
    ("threat_f1", {"prediction_scores": [np.array("a"), np.array("b")], "references": [0, 1]}, r"_scores\[0\]: 'a'"),
    (
        "oracle_collab",
        {"predictions": [0.1, 0.2], "references": [0, 1], "review_scores": [1.5, True]},
        r"review_scores",
    ),
    (
        "oracle_collab",
        {"predictions": [0.1, 0.2], "references": [0.7, True], "label_threshold": 0.5},
        r"references\[1\]",
    ),
    (
        "conda_joint",
        dict.fromkeys(("predictions", "references"), {"intent": [np.True_, np.False_], "slots": [[0], [1]]}),
        r'predictions\[0\]\["intent"\]: unknown intent True',
    ),
    (
        "dia_safety_rate",
        {"predictions": [1, 0], "categories": [2, np.True_]},
        r"categories\[1\]: unknown category True",
    ),
]


@pytest.mark.parametrize(("metric", "given", "where"), BOOLS)
def test_a_bool_among_numbers_is_no_number(metric: str, given: dict[str, Any], where: str) -> None:
    with pytest.raises(ValueError, match=f"^{metric}: .*{where}"):
        compute(metric, **given)


@pytest.mark.parametrize(("metric", "name"), [("threat_f1", "prediction_scores"), ("oracle_collab", "predictions")])
def test_probabilities_said_to_be_logits_and_percentages(metric: str, name: str) -> None:
    positive = np.linspace(0.05, 0.95, 10)
    both, references = np.stack([1 - positive, positive], axis=1), (positive > 0.5).astype(int)
    with pytest.raises(ValueError, match=f"^{metric}: {name}: two columns that sum to 1.*pass from_logits=False"):
        compute(metric, **{name: both.astype(np.float32)}, references=references, from_logits=True)
    few = compute(metric, **{name: both[:9]}, references=references[:9], from_logits=True)
    shifted = compute(metric, **{name: both + 3.0}, references=references, from_logits=True)
    assert few["accuracy"] == 1.0
    assert repr(shifted["accuracy"]) == repr(
        compute(metric, **{name: 2 * positive - 1}, references=references, from_logits=True)["accuracy"]
    )
    with pytest.raises(ValueError, match=f"{name}.0.: 5.0; .*like percentages: divide by 100"):
        compute(metric, **{name: (100 * positive).round()}, references=references)
    with pytest.raises(ValueError, match=f"{name}.0.: -2.*apply a sigmoid"):
        compute(metric, **{name: 4 * positive - 2.5}, references=references)


def test_the_missing_one_of_whole_numbers_that_pandas_made_floats_is_named() -> None:
    utterances = [{"intent": "E", "slots": ["T"]}] * 3
    with pytest.raises(ValueError, match=r"^conda_joint: cluster\[1\]: nan"):
        compute("conda_joint", predictions=utterances, references=utterances, cluster=pd.Series([1, None, 2]))
