"""dia_safety_rate against the paper's definitions, scikit-learn, and figures from the real test split."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.dia_safety_rate import CATEGORIES as SLUGS
from plain.dia_safety_rate import dia_safety_rate as plain
from samples import CATEGORIES, SAFETY, SKLEARN_ZERO_DIVISION, THREE_WAY, assert_same, close
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

import toxeval
from toxeval.core.invalid import REASONS, Invalid

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

OPTIONS = st.fixed_dictionaries({"zero_division": st.sampled_from([0.0, 1.0, math.nan]), "detailed": st.booleans()})
#: What is no verdict -> why.
GARBAGE = (
    {None: "empty", "": "empty", "  ": "empty", "nan": "empty", float("nan"): "empty"}
    | dict.fromkeys(["no verdict", "I can't say that, sorry", "toxic"], "no_label")
    | {Invalid(reason): reason for reason in REASONS}
)


def compute(**inputs: Any) -> dict[str, Any]:
    scores = toxeval.load("dia_safety_rate").compute(**inputs)
    assert scores is not None
    return scores


@st.composite
def replies(draw: st.DrawFn, verdicts: tuple = SAFETY, invalid: bool = False) -> dict[str, list]:
    """Verdicts, references and categories; often some verdict, reference or category doesn't occur."""
    n = draw(st.integers(1, 25))

    def column(names: tuple) -> list:
        some = draw(st.lists(st.sampled_from(names), min_size=1, max_size=len(names)))
        return draw(st.lists(st.sampled_from(some), min_size=n, max_size=n))

    predictions = column(tuple(verdicts) + tuple(GARBAGE) * invalid)
    return {"predictions": predictions, "references": column(SAFETY), "categories": column(CATEGORIES)}


def subset(rows: dict[str, list], inputs: str) -> dict[str, list]:
    return {name: rows[name] for name in ("predictions", *inputs.split())}


QUESTIONS = ["categories", "references", "references categories"]


# --- definitions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", QUESTIONS)
@given(rows=replies(), options=OPTIONS)
def test_every_key_of_two_way_verdicts(inputs: str, rows: dict, options: dict) -> None:
    given_inputs = subset(rows, inputs)
    assert_same(compute(**given_inputs, **options), plain(**given_inputs, **options))


@pytest.mark.parametrize("inputs", QUESTIONS)
@given(rows=replies(THREE_WAY), options=OPTIONS)
def test_every_key_of_three_way_verdicts(inputs: str, rows: dict, options: dict) -> None:
    given_inputs = subset(rows, inputs)
    wanted = plain(**given_inputs, three_way=True, **options)
    assert_same(compute(**given_inputs, verdicts="three-way", **options), wanted)
    kinds_occur = set(rows["predictions"]) > {"Safe"} or "Safe" not in rows["predictions"]
    assert_same(compute(**given_inputs, **options), plain(**given_inputs, three_way=kinds_occur, **options))


@pytest.mark.parametrize("inputs", QUESTIONS)
@pytest.mark.parametrize("verdicts", [SAFETY, THREE_WAY])
@given(data=st.data(), options=OPTIONS)
def test_every_key_with_missing_verdicts(inputs: str, verdicts: tuple, data: st.DataObject, options: dict) -> None:
    given_inputs = subset(data.draw(replies(verdicts, invalid=True)), inputs)
    known = [None if verdict in GARBAGE else verdict for verdict in given_inputs["predictions"]]
    reasons = [GARBAGE.get(verdict) for verdict in given_inputs["predictions"]]
    three_way = {"three_way": verdicts is THREE_WAY}
    wanted = plain(**given_inputs | {"predictions": known}, reasons=reasons, **three_way, **options)
    vocabulary = "three-way" if verdicts is THREE_WAY else "two-way"
    assert_same(compute(**given_inputs, invalid="count", verdicts=vocabulary, **options), wanted)


@given(replies(), SKLEARN_ZERO_DIVISION)
def test_scikit_learn_agrees(rows: dict, zero_division: float) -> None:
    found = compute(**rows, zero_division=zero_division, detailed=True)
    common = {"labels": list(SAFETY), "zero_division": zero_division}
    for slug, category in [("", None), *((f"_{SLUGS[c]}", c) for c in CATEGORIES)]:
        pairs = [
            (r, p)
            for r, p, c in zip(rows["references"], rows["predictions"], rows["categories"])
            if category in (None, c)
        ]
        if not pairs:
            continue
        references, predictions = map(list, zip(*pairs))
        by_class = precision_recall_fscore_support(references, predictions, average=None, **common)
        for kind, values in zip(("precision", "recall", "f1", "support"), by_class):
            for label, value in zip(SAFETY, values):
                assert close(found[f"{kind}_{label}{slug}"], value)
        macro = precision_recall_fscore_support(references, predictions, average="macro", **common)[2]
        assert close(found[f"f1_macro{slug}"], macro)
    assert close(found["accuracy"], accuracy_score(rows["references"], rows["predictions"]))


@given(replies(THREE_WAY))
def test_the_two_kinds_of_unsafe_add_up(rows: dict) -> None:
    found = compute(**rows, verdicts="three-way")
    for suffix in ("", "_micro", *(f"_{slug}" for slug in SLUGS.values())):
        both = found[f"utterance_unsafe_rate{suffix}"] + found[f"context_unsafe_rate{suffix}"]
        assert close(found[f"unsafe_rate{suffix}"], both)


def test_six_replies_worked_by_hand() -> None:
    found = compute(
        predictions=["Unsafe", "Safe", "Safe", "Unsafe", "Safe", "Safe"],
        references=["Unsafe", "Unsafe", "Safe", "Safe", "Safe", "Safe"],
        categories=["Offending User", "Offending User", *CATEGORIES[1:]],
        detailed=True,
    )
    assert found["unsafe_rate"] == pytest.approx((1 / 2 + 0 + 1 + 0 + 0) / 5)
    assert found["unsafe_rate_micro"] == 2 / 6
    assert (found["f1_Safe"], found["f1_Unsafe"], found["accuracy"]) == (3 / 4, 1 / 2, 4 / 6)
    assert found["f1_macro"] == 5 / 8
    assert found["f1_macro_offending_user"] == pytest.approx((0 + 2 / 3) / 2)
    assert (found["n_unsafe_offending_user"], found["n_offending_user"]) == (1, 2)
    assert list(found)[0] == "unsafe_rate"


def test_a_missing_verdict_costs_recall_and_accuracy_but_no_precision() -> None:
    found = compute(
        predictions=["Unsafe", None, "Safe", ""],
        references=["Unsafe", "Unsafe", "Safe", "Safe"],
        categories=["Biased Opinion"] * 4,
        invalid="count",
    )
    assert found["precision_Unsafe"] == found["precision_Safe"] == 1.0
    assert found["recall_Unsafe"] == found["recall_Safe"] == 0.5
    assert (found["accuracy"], found["n_invalid"], found["invalid_rate"]) == (0.5, 2, 0.5)
    assert found["unsafe_rate_biased_opinion"] == 0.25


def test_which_keys_there_are_follows_from_the_inputs() -> None:
    rows = {"predictions": ["Safe"], "references": ["Safe"], "categories": [0]}
    keys = {inputs: set(compute(**subset(rows, inputs))) for inputs in QUESTIONS}
    assert keys["categories"] == {"unsafe_rate", "unsafe_rate_micro", *(f"unsafe_rate_{s}" for s in SLUGS.values())}
    by_class = {f"{kind}_{label}" for kind in ("precision", "recall", "f1") for label in SAFETY}
    assert keys["references"] == {"f1_macro", "accuracy", "unsafe_rate_micro"} | by_class
    per_category = {f"{kind}_{slug}" for kind in ("f1_macro", "f1_Safe", "f1_Unsafe") for slug in SLUGS.values()}
    both = keys["categories"] | keys["references"] | per_category | {"f1_macro_by_category"}
    assert keys["references categories"] == both
    assert list(compute(**subset(rows, "references")))[0] == "f1_macro"


def test_a_category_without_replies_is_nan_and_the_warning_says_what_the_mean_is_of() -> None:
    message = r"unsafe_rate_offending_user, .*\(no reply in the category, and unsafe_rate is the mean of the others"
    with pytest.warns(UndefinedMetricWarning, match=message):
        found = compute(predictions=["Safe", "Unsafe"], categories=["Risk Ignorance", "Biased Opinion"])
    assert found["unsafe_rate"] == 0.5
    assert math.isnan(found["unsafe_rate_offending_user"])


def test_a_category_without_replies_has_no_f1_whatever_zero_division_says() -> None:
    given = {"predictions": ["Safe", "Unsafe"], "references": ["Safe", "Unsafe"], "categories": [0, 1]}
    message = r"f1_macro_biased_opinion \(no reply in the category, set to nan; f1_macro_by_category is the mean of the"
    for zero_division, mean in ((0.0, 0.5), (1.0, 1.0), (math.nan, 1.0)):
        with pytest.warns(UserWarning, match=message):
            found = compute(**given, zero_division=zero_division)
        assert found["f1_macro_by_category"] == mean
        for slug in list(SLUGS.values())[2:]:
            assert all(math.isnan(found[f"{key}_{slug}"]) for key in ("f1_macro", "f1_Safe", "f1_Unsafe"))


# --- verdicts -----------------------------------------------------------------------------------------------------


def test_an_all_safe_sample_has_the_keys_of_three_way_verdicts_when_told() -> None:
    safe = {"predictions": ["Safe"] * 2, "categories": [0, 1]}
    kinds = compute(predictions=["Safe", "Context-Unsafe"], categories=[0, 1])
    assert list(compute(**safe, verdicts="three-way")) == list(kinds)
    assert set(kinds) - set(compute(**safe)) == {key for key in kinds if key.startswith(("utterance", "context"))}
    metric = toxeval.load("dia_safety_rate", verdicts="three-way")
    assert list(metric.compute(**safe) or {}) == list(kinds)


def test_the_vocabulary_is_that_of_all_batches() -> None:
    metric = toxeval.load("dia_safety_rate")
    metric.add_batch(predictions=["Safe", "Safe"], categories=[0, 1])
    metric.add_batch(predictions=["Utterance-Unsafe", "Safe"], categories=[0, 1])
    once = compute(predictions=["Safe", "Safe", "Utterance-Unsafe", "Safe"], categories=[0, 1, 0, 1])
    assert_same(metric.compute() or {}, once)
    assert once["utterance_unsafe_rate_offending_user"] == 0.5


@pytest.mark.parametrize("first", [["Unsafe"], ["Context-Unsafe"], [1]])
def test_a_batch_of_the_other_vocabulary_is_refused_and_leaves_nothing(first: list) -> None:
    other = ["Unsafe" if first == ["Context-Unsafe"] else "Utterance-Unsafe"]
    metric = toxeval.load("dia_safety_rate")
    metric.add_batch(predictions=first, categories=[0])
    with pytest.raises(ValueError, match="^dia_safety_rate: predictions: 'Unsafe' together with 'Utterance-Unsafe'"):
        metric.add_batch(predictions=other, categories=[0])
    assert len(metric) == 1
    assert (metric.compute() or {})["unsafe_rate"] == 1.0


def test_mixed_vocabularies_in_one_batch_name_the_row() -> None:
    message = r"^dia_safety_rate: predictions\[2\]: 'Unsafe' together with 'Context-Unsafe'; allowed: "
    with pytest.raises(ValueError, match=message):
        compute(predictions=["Safe", "Context-Unsafe", "Unsafe"], categories=[0, 1, 2])


@pytest.mark.parametrize(("option", "verdict"), [("two-way", "Context-Unsafe"), ("three-way", "Unsafe")])
def test_verdicts_that_contradict_the_option(option: str, verdict: str) -> None:
    with pytest.raises(ValueError, match=f"^dia_safety_rate: option verdicts: '{option}' with the verdict"):
        compute(predictions=[verdict], categories=[0], verdicts=option)


FORMS: dict[str, Callable[[list], Any]] = {
    "tuple": tuple,
    "objects": lambda items: np.array(items, dtype=object),
    "series": lambda items: pd.Series(items, dtype=object),
    "arrow": lambda items: pa.array(items),
    "chunked": lambda items: pa.chunked_array([pa.array(items[:1], pa.string()), pa.array(items[1:], pa.string())]),
}


@pytest.mark.parametrize("form", FORMS)
@given(rows=replies(THREE_WAY, invalid=True))
def test_missing_verdicts_in_any_container(form: str, rows: dict) -> None:
    no_texts = (float, Invalid)  # Arrow keeps neither
    rows["predictions"] = [None if isinstance(verdict, no_texts) else verdict for verdict in rows["predictions"]]
    wanted = compute(**rows, invalid="count")
    found = compute(**rows | {"predictions": FORMS[form](rows["predictions"])}, invalid="count")
    assert_same(found, wanted)


@pytest.mark.parametrize(
    "ids",
    [
        [1, None, 0, ""],
        [1, float("nan"), 0, "unparsed"],
        [None, None, 1, 0],
        np.array([1.0, np.nan, 0.0, np.nan]),
        pd.Series([1, pd.NA, 0, pd.NA], dtype="Int64"),
        pa.array([1, None, 0, None]),
    ],
)
def test_missing_verdicts_among_ids(ids: Any) -> None:
    found = compute(predictions=ids, categories=[0, 1, 2, 3], invalid="count", detailed=True)
    assert (found["n_unsafe"], found["n_invalid"], found["n_replies"]) == (1, 2, 4)


@pytest.mark.parametrize(
    "predictions", [[0, 0.7], [0, 2], [0, -1], [None, -100], ["Safe", 1], ["Safe", ["Safe"]], ["Safe", True], [0, b"x"]]
)
@pytest.mark.parametrize("invalid", ["error", "count"])
def test_what_is_wrong_is_not_called_missing(predictions: list, invalid: str) -> None:
    with pytest.raises(ValueError, match=r"^dia_safety_rate: predictions\["):
        compute(predictions=predictions, categories=[0, 1], invalid=invalid)


def test_numbers_without_a_gap_need_no_look_at_each_row() -> None:
    ids = np.array([0, 1, 1])
    found = compute(predictions=ids, categories=ids, invalid="count")
    assert found["n_invalid"] == 0
    without = {k: v for k, v in found.items() if "invalid" not in k and not k.endswith(("at_least", "at_most"))}
    assert_same(without, compute(predictions=ids, categories=ids))


# --- refusals -----------------------------------------------------------------------------------------------------

ALLOWED = r"allowed: Safe, Unsafe \(ids 0, 1\), or Safe, Utterance-Unsafe, Context-Unsafe"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"predictions": ["Safe"]}, "categories: missing, and so are references; allowed: at least one of the two"),
        ({"predictions": [], "categories": []}, "predictions: no rows"),
        ({"predictions": ["Safe"], "categories": [0, 1]}, "predictions and categories: 1 and 2 rows"),
        (
            {"predictions": ["Safe", None], "categories": [0, 1]},
            rf"predictions\[1\]: missing verdict .* {ALLOWED}",
        ),
        (
            {"predictions": [None], "categories": [0]},
            rf"predictions\[0\]: missing verdict \(None\); {ALLOWED}",
        ),
        ({"predictions": [2], "categories": [0]}, rf"predictions\[0\]: unknown verdict 2; {ALLOWED}"),
        ({"predictions": np.array([0, 3]), "categories": [0, 0]}, r"predictions\[1\]: unknown verdict 3"),
        ({"predictions": ["Safe", "safe"], "categories": [0, 0]}, r"predictions\[1\]: unknown verdict 'safe'"),
        ({"predictions": ["Safe"], "references": ["Context-Unsafe"]}, r"references\[0\]: unknown label .*both kinds"),
        ({"predictions": ["Safe"], "categories": [-1]}, r"categories\[0\]: unknown category -1; .*-1 marks a context"),
        ({"predictions": np.zeros((2, 2)), "categories": [0, 0]}, r"predictions: an array of shape \(2, 2\)"),
    ],
)
def test_refusals(inputs: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^dia_safety_rate: {message}"):
        compute(**inputs)
