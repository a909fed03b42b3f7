"""Cells become inputs, files become cells; what is no use is refused in one sentence, without the visitor's text."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pages import KINDS

import toxeval

space_inputs = pytest.importorskip("space_inputs")

import space_files  # noqa: E402
import space_options  # noqa: E402
import space_results  # noqa: E402
from inputs import LABEL, SCORE, SEQUENCE  # noqa: E402
from space_files import read_file  # noqa: E402
from space_inputs import Refused, cell_of, inputs_of, refusal  # noqa: E402
from space_options import Option  # noqa: E402


@pytest.mark.parametrize(
    "module", [space_inputs, space_files, space_options, space_results], ids=lambda module: module.__name__
)
def test_docstring_examples(module: Any) -> None:
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


# --- cells --------------------------------------------------------------------------------------------------------


def test_empty_rows_at_the_end_and_empty_columns_are_not_given() -> None:
    kinds = KINDS["threat_f1"]
    table = {"predictions": ["", None, ""], "prediction_scores": ["0.5", "0.25", " "], "references": ["1", "0", ""]}
    assert inputs_of(table, kinds, ["references"]) == {"prediction_scores": [0.5, 0.25], "references": [1, 0]}


def test_an_empty_cell_in_between_is_not_dropped() -> None:
    assert inputs_of({"predictions": ["OFF", "", "NOT"]}, {"predictions": LABEL}, []) == {
        "predictions": ["OFF", None, "NOT"]  # for the metric to refuse, or to count
    }
    with pytest.raises(Refused, match="Row 2, predictions: an empty cell; allowed: a number"):
        inputs_of({"predictions": ["0.5", "", "0.5"]}, {"predictions": SCORE}, [])


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["1", "0"], [1, 0]),
        (["1.0", "0"], [1.0, 0.0]),
        (["1", "OFF"], ["1", "OFF"]),
        ([" OFF ", "NOT"], ["OFF", "NOT"]),
        ([1, 0], [1, 0]),
        (["١"], ["١"]),  # a digit, but of no id
        (["", "1", " ", "0"], [None, 1, None, 0]),  # an empty cell doesn't make texts of the others
        (["1", None, "0.5"], [1.0, None, 0.5]),
        (["1", "nan", "0"], [1.0, None, 0.0]),
        ([1, None, float("nan"), 0], [1, None, None, 0]),
    ],
)
def test_labels(cells: list[Any], wanted: list[Any]) -> None:
    found = inputs_of({"a": cells}, {"a": LABEL}, [])["a"]
    assert found == wanted
    assert list(map(type, found)) == list(map(type, wanted))


def test_an_empty_verdict_among_ids_is_the_only_one_missing() -> None:
    table = {"predictions": ["1", "1", "0", "", "0"], "categories": ["0", "1", "2", "3", "4"]}
    given = inputs_of(table, KINDS["dia_safety_rate"], ["predictions"])
    scores = toxeval.load("dia_safety_rate").compute(**given, invalid="count")
    assert scores["unsafe_rate_micro"] == scores["unsafe_rate"] == 2 / 5
    assert scores["n_invalid"] == 1
    with pytest.raises(ValueError, match=r"predictions\[3\]: missing verdict \(None\)"):
        toxeval.load("dia_safety_rate").compute(**given)


def test_scores_and_sequences() -> None:
    assert inputs_of({"a": ["0.1 0.9", "[0.5, 0.5]"]}, {"a": SCORE}, []) == {"a": [[0.1, 0.9], [0.5, 0.5]]}
    assert inputs_of({"a": ["1e-3", ".5", "-2."]}, {"a": SCORE}, []) == {"a": [0.001, 0.5, -2.0]}
    with pytest.raises(Refused, match="Row 1, a: a text that is no number"):
        inputs_of({"a": ["1_0"]}, {"a": SCORE}, [])
    for cell in ("[0.2, 0.8]", "[0.2 0.8]", " [ 0.2,0.8 ] ", "0.2 0.8", "0.2\t0.8"):
        assert inputs_of({"a": [cell]}, {"a": SCORE}, []) == {"a": [[0.2, 0.8]]}
    assert inputs_of({"a": ["T O", "", '["T"]']}, {"a": SEQUENCE}, []) == {"a": [["T", "O"], [], ["T"]]}
    assert inputs_of({"a": ["0 1", "1"]}, {"a": SEQUENCE}, []) == {"a": [[0, 1], [1]]}


@pytest.mark.parametrize("label", [["Safe"], ["Safe", "Safe"], [1], []], ids=str)
def test_a_list_is_no_label_by_way_of_the_table_either(label: list[Any]) -> None:
    kinds = {"predictions": LABEL, "categories": LABEL}
    table = {"predictions": ["Safe", label], "categories": [0, 1]}
    with pytest.raises(ValueError, match=r"predictions\[1\]: a list where one verdict is wanted"):
        toxeval.load("dia_safety_rate").compute(**inputs_of(table, kinds, []), invalid="count")
    with pytest.raises(Refused, match=r"^Row 2, predictions: a list; allowed: one label\.$"):
        inputs_of({name: list(map(cell_of, cells)) for name, cells in table.items()}, kinds, [])


def test_a_text_in_brackets_is_no_list() -> None:
    assert inputs_of({"a": ["[unsafe]", "[PAD"]}, {"a": LABEL}, []) == {"a": ["[unsafe]", "[PAD"]}


@given(st.lists(st.lists(st.sampled_from(["T", "1", "O"])) | st.lists(st.integers(0, 6)), min_size=1))
def test_sequences_survive_the_table(sequences: list[list[Any]]) -> None:
    assert inputs_of({"a": list(map(cell_of, sequences))}, {"a": SEQUENCE}, []) == {"a": sequences}


@pytest.mark.parametrize(
    "cell", ["0 1", "0.0 1.0", " 0  1\t", "+0 1e0", "[0, 1]", "[0.0, 1]", '["0", "1"]', "NOT 1", ""]
)
def test_sequences_are_read_as_the_command_reads_them(cell: str, tmp_path: Path) -> None:
    from toxeval.columns import Parser
    from toxeval.files import open_table

    file = tmp_path / "rows.tsv"
    file.write_text(f"predictions\treferences\n{cell_in_tsv(cell)}\tOFF NOT\nOFF\tNOT\n", encoding="utf-8")
    table = open_table(str(file))
    parser = Parser("sold_macro_f1", "token", table, {"predictions": "predictions", "references": "references"})
    (batch,) = table.batches(table.columns)
    kinds = {"predictions": SEQUENCE, "references": SEQUENCE}
    assert inputs_of(read_file("rows.tsv", file.read_bytes(), list(kinds)), kinds, []) == parser(batch)


def cell_in_tsv(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


@given(
    st.lists(st.integers(-100, 3) | st.floats(0, 3) | st.booleans() | st.none() | st.text('[]TO 01.,\n"', max_size=3))
)
def test_a_list_is_read_from_the_table_as_from_a_file(value: list[Any]) -> None:
    found = inputs_of({"a": [cell_of(value), "T"]}, {"a": SEQUENCE}, [])["a"][0]
    assert found == value
    assert [isinstance(part, bool) for part in found] == [isinstance(part, bool) for part in value]


@pytest.mark.parametrize("cell", ["2,5", "0,25", "0.2, 0.8", "0.2,0.8", "0,2 0,8", ",5", "1,", "1,5e-3"])
def test_a_decimal_comma_does_not_make_two_columns(cell: str) -> None:
    kinds = {"predictions": SCORE, "references": LABEL}
    message = (
        r"^Row 2, predictions: a comma outside of brackets; allowed: a number with a point such as 0\.85, "
        r"or two columns such as \[0\.2, 0\.8\] or 0\.2 0\.8\.$"
    )
    pasted = f"predictions\treferences\n0.5\t1\n{cell}\t0\n".encode()
    quoted = f'predictions,references\n0.5,1\n"{cell}",0\n'.encode()
    for table in (read_file("", pasted, list(kinds)), read_file("a.csv", quoted, list(kinds))):
        with pytest.raises(Refused, match=message):
            inputs_of(table, kinds, [])


@pytest.mark.parametrize(
    "cell", ["0.5]", "[0.5", "[]", "[0.2,,0.8]", "[0.2, 0.8,]", "[0,2 0,8]", "[[0.2, 0.8]]", "a,b"]
)
def test_brackets_hold_numbers(cell: str) -> None:
    with pytest.raises(Refused, match="Row 1, a: a text that is no number; allowed: a number such as 0.85"):
        inputs_of({"a": [cell]}, {"a": SCORE}, [])


def test_rows_that_are_missing() -> None:
    kinds = KINDS["sold_macro_f1"]
    for table in ({}, {"predictions": [], "references": []}, {"predictions": [""], "references": [None]}):
        with pytest.raises(Refused, match="There are no rows yet"):
            inputs_of(table, kinds, ["predictions", "references"])
    with pytest.raises(Refused, match="The column references is empty"):
        inputs_of({"predictions": ["OFF"], "references": [""]}, kinds, ["predictions", "references"])
    with pytest.raises(Refused, match="100,001 rows are more than this page takes"):
        inputs_of({"predictions": ["OFF"] * 100_001}, kinds, [])


# --- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "beside", "sentence"),
    [
        ("m: predictions[0]: None; allowed: NOT, OFF", "rows", "Row 1, predictions: None; allowed: NOT, OFF."),
        (
            "m: references[17][\"slots\"][3]: unknown slot '<PAD>'; allowed: T",
            "rows",
            "Row 18, references.slots, position 4: unknown slot '<PAD>'; allowed: T.",
        ),
        ("m: predictions and references: 2 and 3 rows", "rows", "Predictions and references: 2 and 3 rows."),
        (
            "m: option threshold: 1.5; allowed: a number from 0.0 to 1.0",
            "options",
            "Option threshold: 1.5; allowed: a number from 0.0 to 1.0.",
        ),
    ],
)
def test_refusals_of_the_metric(message: str, beside: str, sentence: str) -> None:
    refused = refusal("m", message)
    assert (refused.beside, str(refused)) == (beside, sentence)


def test_options() -> None:
    fractions = Option("review_fractions", "Fractions", "numbers", high=3)
    assert fractions.value("0.1, 0.5,") == (0.1, 0.5)
    assert fractions.shown((0.1, 0.5)) == "0.1, 0.5"
    targets = Option("targets", "Targets", "pairs", high=2)
    assert targets.value("oc_accuracy=0.9, oc_recall = 0.5") == {"oc_accuracy": 0.9, "oc_recall": 0.5}
    assert targets.value(targets.shown(None)) is None
    whole = Option("n", "N", "whole", low=1, high=10)
    assert whole.value(3.0) == 3
    assert isinstance(whole.value(3.0), int)
    assert whole.value(None) is None
    optional = Option("o", "O", "optional")
    assert optional.shown(None) == ""
    assert optional.value("") is None
    assert optional.value(optional.shown(0.7)) == 0.7
    flag = Option("f", "F", "flag")
    assert flag.value(True) is True
    division = Option("z", "Z", "choice", choices=(("0", 0.0), ("nan", float("nan"))))
    assert division.shown(float("nan")) == "nan"
    for option, shown, message in (
        (fractions, "0.1, x", "Fractions: this page takes numbers between commas."),
        (fractions, "1,1,1,1", "Fractions: this page takes at most 3 values."),
        (targets, "oc_accuracy", "Targets: this page takes entries such as oc_accuracy=0.99."),
        (targets, "oc_accuracy=0.9,oc_accuracy=0.1", "Targets: this page takes each name once."),
        (targets, "oc_accuracy=0.9, oc_accuracy =0.9", "Targets: this page takes each name once."),
        (flag, "false", "F: this page takes true or false."),
        (optional, "x", "O: this page takes a number."),
        (optional, "2", "O: this page takes a number from 0 to 1."),
        (whole, 11, "N: this page takes a whole number from 1 to 10."),
        (whole, 2.5, "N: this page takes a whole number."),
        (whole, float("nan"), "N: this page takes a whole number from 1 to 10."),
        (whole, "__import__('os')", "N: this page takes a whole number from 1 to 10."),
    ):
        with pytest.raises(Refused, match=f"^{message}$") as refused:
            option.value(shown)
        assert refused.value.beside == "options"
