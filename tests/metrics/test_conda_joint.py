"""conda_joint against the paper's definitions, scikit-learn, and figures from the real validation split."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain.conda_joint import SCORED
from plain.conda_joint import conda_joint as plain
from samples import INTENTS, SKLEARN_ZERO_DIVISION, SLOTS, assert_same
from sklearn.metrics import f1_score, precision_recall_fscore_support
from utterances import columns, compute, refusal, utterance, utterances

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

ZERO_DIVISION = st.sampled_from([0.0, 1.0, math.nan])
OPTIONS = st.fixed_dictionaries({"zero_division": ZERO_DIVISION, "detailed": st.booleans()})


# --- definitions --------------------------------------------------------------------------------------------------


@given(utterances(), OPTIONS)
def test_every_key_is_what_plain_loops_count(rows: tuple, options: dict) -> None:
    assert_same(compute(*rows, **options), plain(*rows, **options))


@given(utterances(), SKLEARN_ZERO_DIVISION)
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
        "(CONDA's test split is published without annotation; its CodaLab competition takes no more submissions)",
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


@given(st.lists(st.tuples(st.sampled_from(INTENTS), st.sampled_from(INTENTS)), min_size=1), st.booleans())
def test_intents_alone_score_as_beside_slots(pairs: list[tuple[str, str]], detailed: bool) -> None:
    predictions, references = map(list, zip(*pairs))
    found = toxeval.load("conda_joint", "intent").compute(
        predictions=predictions, references=references, detailed=detailed
    )
    beside = plain(*([utterance(intent) for intent in side] for side in (predictions, references)), detailed=True)
    kinds = ("uca", "u_", "n_utterances") if detailed else ("uca", "u_f1_")
    assert_same(found, {key: value for key, value in beside.items() if key.startswith(kinds)})
