"""conda_joint against the paper's definitions, scikit-learn, and figures from the real validation split."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.conda_joint import SCORED
from plain.conda_joint import conda_joint as plain
from samples import INTENTS, SLOTS, assert_same, conda_rows
from sklearn.metrics import f1_score, precision_recall_fscore_support
from toxeval.metrics.conda_joint.conda_joint import MAX_COLUMNS, _rows_with_any
from toxeval.metrics.inputs import ROWS_AT_A_TIME

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

ZERO_DIVISION = st.sampled_from([0.0, 1.0, math.nan])
OPTIONS = st.fixed_dictionaries({"zero_division": ZERO_DIVISION, "detailed": st.booleans()})


@st.composite
def utterances(draw: st.DrawFn) -> tuple[list[dict], list[dict]]:
    """Predictions and references: ragged, some empty, often of few classes, often right."""
    intents = draw(st.lists(st.sampled_from(INTENTS), min_size=1, max_size=4))
    slots = draw(st.lists(st.sampled_from(SLOTS), min_size=1, max_size=7))
    rows = []
    for length in draw(st.lists(st.integers(0, 5), min_size=1, max_size=12)):
        reference = {
            "intent": draw(st.sampled_from(intents)),
            "slots": draw(st.lists(st.sampled_from(slots), min_size=length, max_size=length)),
        }
        other = draw(conda_rows())["predictions"]
        prediction = {
            "intent": draw(st.sampled_from([reference["intent"], other["intent"]])),
            "slots": [draw(st.sampled_from([slot, draw(st.sampled_from(SLOTS))])) for slot in reference["slots"]],
        }
        rows.append((prediction, reference))
    return [p for p, _ in rows], [r for _, r in rows]


def utterance(intent: Any, *slots: Any) -> dict[str, Any]:
    return {"intent": intent, "slots": list(slots)}


def compute(predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
    scores = toxeval.load("conda_joint").compute(predictions=predictions, references=references, **options)
    assert scores is not None
    return scores


def refusal(predictions: Any, references: Any) -> str:
    with pytest.raises(ValueError, match="^conda_joint: ") as caught:
        compute(predictions, references)
    return str(caught.value)


# --- definitions --------------------------------------------------------------------------------------------------


@given(utterances(), OPTIONS)
def test_every_key_is_what_plain_loops_count(rows: tuple, options: dict) -> None:
    assert_same(compute(*rows, **options), plain(*rows, **options))


@given(utterances(), ZERO_DIVISION)
def test_scikit_learn_agrees(rows: tuple, zero_division: float) -> None:
    predictions, references = rows
    found = compute(predictions, references, zero_division=zero_division, detailed=True)
    sides = {
        "u": ([r["intent"] for r in references], [p["intent"] for p in predictions], INTENTS),
        "t": (sum((r["slots"] for r in references), []), sum((p["slots"] for p in predictions), []), SLOTS),
    }
    for prefix, (gold, predicted, labels) in sides.items():
        if not gold:
            continue
        by_class = precision_recall_fscore_support(gold, predicted, labels=list(labels), zero_division=zero_division)
        for kind, values in zip(("precision", "recall", "f1", "support"), by_class):
            keys = {f"{prefix}_{kind}_{label}": value for label, value in zip(labels, values)}
            keys = {key: value for key, value in keys.items() if key not in ("t_f1_O", "t_f1_SEPA")}
            assert_same({key: found[key] for key in keys}, keys)
    gold, predicted, _ = sides["t"]
    for key, labels in {"t_f1": SCORED, "t_f1_with_sepa": [*SCORED, "SEPA"]}.items():
        if {*gold, *predicted} & set(labels):
            micro = f1_score(gold, predicted, labels=labels, average="micro")
            assert found[key] == pytest.approx(micro, abs=1e-12)


@given(utterances())
def test_right_ones_and_the_three_ways_to_be_wrong_are_all_utterances(rows: tuple) -> None:
    found = compute(*rows, detailed=True)
    errors = [found[f"jsa_errors_{kind}"] for kind in ("intent_only", "slots_only", "both")]
    assert found["jsa"] + sum(errors) == pytest.approx(1.0, abs=1e-12)
    assert found["uca"] == pytest.approx(found["jsa"] + found["jsa_errors_slots_only"], abs=1e-12)


def test_four_utterances_worked_by_hand() -> None:
    references = [
        utterance("E", "P", "T"),
        utterance("O", "S", "SEPA", "O"),
        utterance("A", "C", "D"),
        utterance("O"),
    ]
    predictions = [
        utterance("E", "P", "T"),
        utterance("O", "S", "SEPA", "S"),
        utterance("I", "C", "D"),
        utterance("O"),
    ]
    found = compute(predictions, references, detailed=True)
    assert found["uca"] == 3 / 4
    assert found["jsa"] == 2 / 4  # an O and the empty utterance count
    assert [found[f"u_f1_{label}"] for label in "EIAO"] == [1.0, 0.0, 0.0, 1.0]
    assert [found[f"t_f1_{label}"] for label in "TSCDP"] == [1.0, 2 / 3, 1.0, 1.0, 1.0]
    assert found["t_f1"] == 10 / 11  # 5 right, 1 too many
    assert found["t_f1_with_sepa"] == 12 / 13
    assert found["slot_accuracy"] == 6 / 7
    assert (found["jsa_errors_intent_only"], found["jsa_errors_slots_only"], found["jsa_errors_both"]) == (
        0.25,
        0.25,
        0,
    )
    assert (found["n_utterances"], found["n_tokens"]) == (4, 7)


def test_no_token_at_all() -> None:
    with pytest.warns(match=r"t_f1_T .*; t_f1 .*|slot_accuracy \(there is no token, set to nan\)"):
        found = compute([utterance("O")] * 2, [utterance("O"), utterance("A")], detailed=True)
    assert (found["jsa"], found["uca"], found["t_f1"], found["n_tokens"]) == (0.5, 0.5, 0.0, 0)
    assert math.isnan(found["slot_accuracy"])


# --- the same utterances, however they come -----------------------------------------------------------------------


def ids(rows: list[dict]) -> list[dict]:
    return [utterance(INTENTS.index(r["intent"]), *map(SLOTS.index, r["slots"])) for r in rows]


def columns(rows: list[dict], intents: Callable = list, slots: Callable = list) -> dict[str, Any]:
    return {"intent": intents([r["intent"] for r in rows]), "slots": slots([r["slots"] for r in rows])}


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


@pytest.mark.parametrize("form", FORMS)
@given(rows=utterances())
def test_any_form_of_either_side(form: str, rows: tuple) -> None:
    predictions, references = rows
    wanted = compute(predictions, references, detailed=True)
    make = FORMS[form]
    for p, r in [
        (make(predictions), make(references)),
        (make(predictions), references),
        (predictions, make(references)),
    ]:
        assert_same(compute(p, r, detailed=True), wanted)


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


# --- the real validation split ------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["a_all_O", "c_half_lexicon"])
def test_figures_of_the_validation_split(system: str, shared: Path) -> None:
    folder = shared / "data" / "golden" / "conda"
    wanted = json.loads((folder / "expected_valid.json").read_text())[system]
    with open(folder / f"valid_{system}.jsonl", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    predictions, references = ([utterance(r[f"{s}_intent"], *r[f"{s}_slots"]) for r in rows] for s in ("pred", "ref"))
    figures = {
        "uca": wanted["UCA"],
        "jsa": wanted["JSA"],
        "t_f1": wanted["T_micro_TSCDP"]["f1"],
        "t_f1_with_sepa": wanted["T_micro_TSCDP_SEPA"]["f1"],
        "u_f1_macro": wanted["U_macro_f1"],
        "slot_accuracy": wanted["token_accuracy"],
        "n_tokens": wanted["n_tokens"],
        "n_utterances": 8974,
    }
    for prefix, labels in {"U": INTENTS, "T": SLOTS}.items():
        for label in labels:
            for kind in ("precision", "recall", "f1", "support"):
                figures[f"{prefix.lower()}_{kind}_{label}"] = wanted[prefix][label][kind]
    del figures["t_f1_O"], figures["t_f1_SEPA"]
    found = compute(predictions, references, detailed=True)
    assert_same({key: found[key] for key in figures}, figures)
    assert found["jsa"] == wanted["JSA_count"] / 8974
    slots_right = found["jsa"] + found["jsa_errors_intent_only"]
    assert slots_right == pytest.approx(wanted["slot_sentence_accuracy"], abs=1e-12)


def test_the_table_of_the_two_systems_to_six_digits(shared: Path) -> None:
    table = {
        "a_all_O": [0.738690, 0, 0, 0, 0.849708, 0, 0, 0, 0, 0, 0, 0, 0.569210, 0.298529],
        "c_half_lexicon": [0.862603, 0.676195, 0.723316, 0.547106, 0.918781, 0.791941, 0.420352, 0.591416, 0.675541]
        + [0.684272, 0.615484, 0.737235, 0.820717, 0.474816],
    }
    keys = ["uca", *(f"u_f1_{i}" for i in INTENTS), *(f"t_f1_{s}" for s in SCORED), "t_f1", "t_f1_with_sepa"]
    for system, figures in table.items():
        path = shared / "data" / "golden" / "conda" / f"valid_{system}.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        sides = ([utterance(r[f"{s}_intent"], *r[f"{s}_slots"]) for r in rows] for s in ("pred", "ref"))
        found = compute(*sides, detailed=True)
        assert [round(found[key], 6) for key in [*keys, "slot_accuracy", "jsa"]] == figures


# --- inputs that broke other tools --------------------------------------------------------------------------------

VALUES = {
    "conda-02-single-letter-tags": (
        [utterance("E", "T", "O", "S")],
        [utterance("E", "T", "O", "D")],
        {"t_f1_T": 1.0, "t_f1_D": 0.0, "jsa": 0.0, "uca": 1.0},
    ),
    "conda-05-minus-100": ([utterance(0, 1, 0)], [utterance(0, 1, -100)], {"jsa": 1.0, "n_tokens": 1}),
    "conda-06-mask-by-reference-only": (
        [utterance("E", "T", "T")],
        [utterance("E", "O", "T")],
        {"jsa": 0.0, "t_precision_T": 0.5, "t_recall_T": 1.0},
    ),
    "conda-08-false-positive-class": (
        [utterance("O", "O", "C")],
        [utterance("O", "O", "O")],
        {"t_precision_C": 0.0, "t_support_C": 0, "jsa": 0.0},
    ),
    "conda-10-empty-slot-list": (
        [utterance("O"), utterance("A", "T")],
        [utterance("O"), utterance("E", "T")],
        {"jsa": 0.5, "uca": 0.5, "n_utterances": 2},
    ),
    "conda-16-seq-accuracy-masks": (
        [utterance(0, 5, 1, 2)],
        [utterance(0, -100, 1, 2)],
        {"jsa": 1.0, "slot_accuracy": 1.0},
    ),
    "conda-17-padding-inflates": (
        [utterance(0, 2, 0, 0, 0)],
        [utterance(0, 1, -100, -100, -100)],
        {"slot_accuracy": 0.0, "jsa": 0.0, "n_tokens": 1},
    ),
}


@pytest.mark.parametrize("case", VALUES)
def test_case(case: str) -> None:
    predictions, references, wanted = VALUES[case]
    found = compute(predictions, references, detailed=True)
    assert {key: found[key] for key in wanted} == wanted


REFUSED = {
    "conda-04-pad-string": (
        [utterance("E", "T", "O")],
        [utterance("E", "T", "<PAD>")],
        "conda_joint: references[0][\"slots\"][1]: unknown slot '<PAD>'; allowed: T, S, C, D, P, O, SEPA (ids 0 to 6)",
    ),
    "conda-05-minus-100 elsewhere": (
        [utterance(0, 1, -100)],
        [utterance(0, 1, 2)],
        'conda_joint: predictions[0]["slots"][1]: -100 where the reference is a label',
    ),
    "conda-07-lenient-scheme": (
        [utterance("E", "I-T", "I-T")],
        [utterance("E", "T", "T")],
        "conda_joint: predictions[0][\"slots\"][0]: unknown slot 'I-T'",
    ),
    "conda-13-truncation": (
        [utterance("E", "T", "O")],
        [utterance("E", "T", "O", "S")],
        'conda_joint: predictions[0]["slots"] and references[0]["slots"]: 2 predicted and 3 in the reference',
    ),
    "data-07-hidden-test": (
        [utterance("O")],
        [utterance(-1)],
        'conda_joint: references[0]["intent"]: unknown intent -1; allowed: E, I, A, O (ids 0 to 3) '
        "(CONDA's test split is published without annotation; it is scored on the CodaLab competition of its authors)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_case(case: str) -> None:
    predictions, references, message = REFUSED[case]
    assert refusal(predictions, references).startswith(message)
    as_columns = refusal(columns(predictions), columns(references))
    assert as_columns.startswith(message)


def test_case_label_18_superset_labels() -> None:
    two = compute([utterance("E", "T"), utterance("O", "O")], [utterance("E", "T"), utterance("E", "T")], detailed=True)
    four = compute([utterance(i, *SLOTS) for i in INTENTS], [utterance(i, *SLOTS) for i in INTENTS], detailed=True)
    assert list(two) == list(four)
    assert two["u_f1_macro"] == (2 / 3 + 0 + 0 + 0) / 4


def test_case_batch_02_entity_f1() -> None:
    predictions = [utterance("E", "T"), utterance("O", "S", "P"), utterance("A"), utterance("I", "T", "O")]
    references = [utterance("E", "T"), utterance("I", "S", "O"), utterance("O"), utterance("I", "O", "T")]
    metric = toxeval.load("conda_joint")
    for p, r in zip(predictions, references):
        metric.add(prediction=p, reference=r)
    assert metric.compute(detailed=True) == compute(predictions, references, detailed=True)


def test_case_out_01_int64() -> None:
    found = compute([utterance(i, *SLOTS) for i in INTENTS], [utterance(i, *SLOTS) for i in INTENTS], detailed=True)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert {type(value) for value in found.values()} == {float, int}


def test_case_conda_12_definition_unclear(checkout: Path) -> None:
    card = (checkout / "metrics" / "conda_joint" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in card.splitlines() if line.startswith(("| 1 ", "| 2 ", "| 3 ", "| 4 "))]
    assert len(rows) == 4
    assert all(name in card for name in ("UCA =", "U-F1 =", "T-F1 =", "JSA ="))


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
