"""conda_joint: the same utterances in every form they may come in, and what is refused."""

import sys
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from samples import INTENTS, SLOTS, assert_same
from toxeval.metrics.conda_joint.scores import MAX_COLUMNS, _rows_with_any
from utterances import columns, compute, refusal, utterance, utterances

import toxeval
from toxeval.core.containers import ROWS_AT_A_TIME

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


# --- the same utterances, however they come -----------------------------------------------------------------------


def ids(rows: list[dict]) -> list[dict]:
    return [utterance(INTENTS.index(r["intent"]), *map(SLOTS.index, r["slots"])) for r in rows]


def padded(sequences: list[list[int]], more: int = 0, fill: int = -100) -> np.ndarray:
    array = np.full((len(sequences), max(map(len, sequences)) + more), fill)
    for row, sequence in zip(array, sequences):
        row[: len(sequence)] = sequence
    return array


def sliced(items: list) -> pa.Array:
    kind = pa.list_(pa.string()) if isinstance(items[0], list) else pa.string()
    around = [["T", "T"]] if isinstance(items[0], list) else ["E"]
    return pa.array(around + items + around, type=kind)[1:-1]


def chunked(items: list) -> pa.ChunkedArray:
    kind = pa.list_(pa.string()) if isinstance(items[0], list) else pa.string()
    return pa.chunked_array([pa.array(items[:1], type=kind), pa.array(items[1:], type=kind)])


def tensors(sequences: list[list[int]]) -> Any:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.tensor(padded(sequences))


def structs(rows: list[dict]) -> pa.Array:
    kind = pa.struct({"intent": pa.string(), "slots": pa.large_list(pa.string())})
    return pa.array([utterance("I", "T"), *rows], type=kind)[1:]


FORMS: dict[str, Callable[[list[dict]], Any]] = {
    "ids": ids,
    "columns of names": columns,
    "columns of ids": lambda rows: columns(ids(rows)),
    "NumPy rows": lambda rows: columns(ids(rows), np.array, lambda items: [np.array(i, dtype=int) for i in items]),
    "padded NumPy": lambda rows: columns(ids(rows), np.array, padded),
    "padded int8, more columns": lambda rows: columns(
        ids(rows), np.int8, lambda items: padded(items, 3).astype(np.int8)
    ),
    "padded floats": lambda rows: columns(ids(rows), np.float64, lambda items: padded(items).astype(float)),
    "Fortran order": lambda rows: columns(ids(rows), np.array, lambda items: np.asfortranarray(padded(items, 1))),
    "wider than a step a column": lambda rows: columns(ids(rows), np.array, lambda items: padded(items, 40)),
    "tensors": lambda rows: columns(ids(rows), np.array, tensors),
    "sliced Arrow columns": lambda rows: columns(rows, sliced, sliced),
    "chunked Arrow columns": lambda rows: columns(rows, chunked, chunked),
    "Arrow ids": lambda rows: columns(ids(rows), pa.array, lambda items: pa.array(items, type=pa.list_(pa.int16()))),
    "Arrow structs": structs,
    "tuples": lambda rows: tuple({"intent": r["intent"], "slots": tuple(r["slots"])} for r in rows),
}


@given(rows=utterances())
def test_any_form_of_either_side(rows: tuple) -> None:
    predictions, references = rows
    wanted = compute(predictions, references, detailed=True)
    for form, make in FORMS.items():
        note(form)
        p, r = make(predictions), make(references)
        for pair in ((p, r), (p, references), (predictions, r)):
            assert_same(compute(*pair, detailed=True), wanted)


@given(utterances(), st.integers(0, 2), st.randoms(use_true_random=False))
def test_predictions_at_padded_positions_play_no_part(rows: tuple, more: int, random: Any) -> None:
    """What a model says at -100 may be anything; -100 may also stand at the front and between tokens."""
    predictions, references = map(ids, rows)
    gold, predicted = [], []
    for p, r in zip(predictions, references):
        gold.append([-100] + sum(([slot, -100] for slot in r["slots"]), []))
        predicted.append([3] + sum(([slot, random.choice([-100, 0, 5])] for slot in p["slots"]), []))
    p, r = columns(predictions), columns(references)
    wanted = compute(*rows, detailed=True)
    assert_same(compute(p | {"slots": predicted}, r | {"slots": gold}, detailed=True), wanted)
    p["slots"], r["slots"] = padded(predicted, more, fill=6), padded(gold, more)
    assert_same(compute(p, r, detailed=True), wanted)


def test_rows_of_equal_length_keep_their_trailing_pads_where_others_are_trimmed() -> None:
    references = {"intent": [0, 0], "slots": [[-100, 1, -100], [2, -100, -100]]}
    predictions = {"intent": [0, 0], "slots": [[4, 1, 4], [2]]}
    assert compute(predictions, references)["jsa"] == 1.0


@given(st.lists(st.lists(st.booleans(), max_size=4), min_size=1, max_size=8), st.integers(0, MAX_COLUMNS + 1))
def test_rows_with_any_ragged_and_of_one_width(rows: list, width: int) -> None:
    for flags in (rows, [(row * width + [False] * width)[:width] for row in rows]):
        found = _rows_with_any(np.array(sum(flags, []), dtype=bool), np.array([len(row) for row in flags]))
        assert found.tolist() == [any(row) for row in flags]


def test_no_python_call_a_row_for_records_columns_and_arrow() -> None:
    def calls(n: int, make: Callable) -> int:
        p, r = make([utterance("E", "T", "O")] * n), make([utterance("E", "T", "S")] * n)
        count = 0

        def tally(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event == "call"

        compute(p, r)  # imports
        sys.setprofile(tally)
        try:
            compute(p, r)
        finally:
            sys.setprofile(None)
        return count

    for form in [lambda rows: rows, FORMS["ids"], FORMS["padded NumPy"], FORMS["sliced Arrow columns"]]:
        assert calls(4000, form) - calls(40, form) < 40


# --- refusals -----------------------------------------------------------------------------------------------------

RIGHT = [utterance("E", "T"), utterance("O", "S", "P")]


@pytest.mark.parametrize(
    ("references", "message"),
    [
        ([*RIGHT[:1], utterance("X", "S", "P")], "references[1][\"intent\"]: unknown intent 'X'; allowed: E, I, A, O"),
        ([*RIGHT[:1], utterance(None, "S", "P")], 'references[1]["intent"]: missing intent (None)'),
        ([*RIGHT[:1], utterance("O", "S", None)], 'references[1]["slots"][1]: missing slot (None)'),
        (
            [*RIGHT[:1], utterance("O", "S", 4)],
            'references[1]["slots"][1]: an id (4) in an input that starts with a name',
        ),
        ([*RIGHT[:1], {"intent": "O", "slots": "SP"}], "references[1][\"slots\"]: 'SP' instead of a sequence"),
        ([*RIGHT[:1], {"intent": "O"}], "references[1]: no field 'slots'"),
        ([*RIGHT[:1], utterance("O", "S", "P") | {"tokens": ["gg", "you"]}], "references[1]: more fields than that"),
        ([*RIGHT[:1], ("O", ["S", "P"])], "references[1]: a tuple; allowed: records with the fields intent, slots"),
        (RIGHT[:1], "predictions and references: 2 and 1 rows"),
        ({"intent": ["E", "O"], "slots": [["T"]]}, 'references["intent"] and references["slots"]: 2 and 1 rows'),
        ({"intent": ["E", "O"]}, "references: the fields 'intent'; allowed: records with the fields intent, slots"),
        ({"intent": [0, 3], "slots": np.zeros((2, 2, 7))}, 'references["slots"]: an array of shape (2, 2, 7)'),
        ({"intent": [0, 3], "slots": np.array([[0, -100], [1, 7]])}, 'references[1]["slots"][1]: unknown slot 7'),
        ({"intent": [0, 3], "slots": np.array([[0, -100], [1, -1]])}, 'references[1]["slots"][1]: unknown slot -1'),
        ({"intent": [0, 3], "slots": np.array([[0, -100], [1, 260]])}, 'references[1]["slots"][1]: unknown slot 260'),
        ({"intent": [0, 3], "slots": np.array([[0, -100], [1, 0.5]])}, 'references[1]["slots"][1]: unknown slot 0.5'),
        ({"intent": [0, 3], "slots": np.array([[0, np.nan], [1, 1]])}, 'references[0]["slots"][1]: missing slot (nan)'),
        ({"intent": np.array([[0.1, 0.9]] * 2), "slots": [[0]] * 2}, 'references["intent"]: an array of shape (2, 2)'),
        (
            {"intent": pa.array(["E", "O"]), "slots": pa.array([["T"], ["S", None]])},
            'references[1]["slots"][1]: missing',
        ),
        (
            {"intent": pa.array(["E", "O"]), "slots": pa.array([["T"], ["S", "Q"]])},
            'references[1]["slots"][1]: unknown',
        ),
    ],
)
def test_refusals_name_the_row_and_what_is_allowed(references: Any, message: str) -> None:
    metric = toxeval.load("conda_joint")
    with pytest.raises(ValueError, match="^conda_joint: ") as caught:
        metric.compute(predictions=RIGHT, references=references)
    assert str(caught.value).startswith(f"conda_joint: {message}")
    assert metric.compute(predictions=RIGHT, references=RIGHT)["jsa"] == 1.0


@pytest.mark.parametrize("row", [0, ROWS_AT_A_TIME - 1, ROWS_AT_A_TIME, 2 * ROWS_AT_A_TIME + 5])
def test_rows_are_numbered_across_the_blocks_they_are_read_in(row: int) -> None:
    good = [utterance("E", "T", "O")] * (2 * ROWS_AT_A_TIME + 10)
    for bad, place in [
        (utterance("X", "T", "O"), f'references[{row}]["intent"]'),
        (utterance("E", "T", "Q"), f'references[{row}]["slots"][1]'),
        (utterance("E", "T"), f'predictions[{row}]["slots"] and references[{row}]["slots"]'),
        ({"intent": "E", "slots": None}, f'references[{row}]["slots"]'),
        ("E", f"references[{row}]"),
    ]:
        assert refusal(good, [*good[:row], bad, *good[row + 1 :]]).startswith(f"conda_joint: {place}: ")


@pytest.mark.parametrize("hold", [pd.DataFrame, pa.Table.from_pandas, datasets.Dataset.from_pandas])
def test_a_table_is_refused_with_what_to_give_of_it(hold: Callable[..., Any]) -> None:
    frame = pd.DataFrame({"intent": ["E", "O"], "slots": [["P"], ["S", "T"]]})
    table = hold(frame)
    metric = toxeval.load("conda_joint")
    advice = '{"intent": table["intent"], "slots": table["slots"]}'
    with pytest.raises(ValueError, match=f"conda_joint: predictions: a {type(table).__name__}; .*") as refused:
        metric.compute(predictions=table, references=frame.to_dict("records"))
    assert f"(of a table give {advice})" in str(refused.value)
    followed = eval(advice)
    scores = metric.compute(predictions=followed, references=frame.to_dict("records"))
    assert scores["jsa"] == 1.0


@pytest.mark.parametrize(("slots", "jsa"), [([], 1.0), (None, 0.5), ("no slots", 0.5)])
def test_an_invalid_answer_is_not_right_where_no_slot_is_wanted(slots: Any, jsa: float) -> None:
    predictions = [{"intent": "E", "slots": slots}, utterance("E", "T")]
    found = toxeval.load("conda_joint").compute(
        predictions=predictions, references=[utterance("E"), utterance("E", "T")], invalid="count"
    )
    assert found["jsa"] == jsa
