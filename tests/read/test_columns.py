"""Columns find their inputs, and cells are read as the values that inputs take."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from tabled import SLOT_ROWS, rows_of, score, write

from toxeval.read import separated, tables


def test_inputs_are_found_by_name(tmp_path: Path) -> None:
    both = write(tmp_path / "a.jsonl", [{"text": "gg", "prediction": "OFF", "label": "NOT", "post_id": 1}])
    assert rows_of("sold_macro_f1", both) == {"predictions": ["OFF"], "references": ["NOT"]}
    mine = write(tmp_path / "b.jsonl", [{"guess": "OFF", "gold": "NOT"}])
    expected = {"predictions": ["OFF"], "references": ["NOT"]}
    assert rows_of("sold_macro_f1", mine, columns={"predictions": "guess", "references": "gold"}) == expected
    with pytest.raises(ValueError, match=r"no such column in .*allowed: one of the columns guess, gold .*columns=\{"):
        rows_of("sold_macro_f1", mine)
    capitals = write(tmp_path / "c.jsonl", [{"Prediction": "OFF", "gold": "NOT"}])
    with pytest.raises(ValueError, match="'Prediction'}"):
        rows_of("sold_macro_f1", capitals)
    with pytest.raises(ValueError, match="columns predictions=nothing: no such column; allowed: .*guess, gold"):
        rows_of("sold_macro_f1", mine, columns={"predictions": "nothing"})
    with pytest.raises(
        ValueError, match=r"columns prediction: unknown input; allowed: id, .* \(did you mean predictions\?\)"
    ):
        rows_of("sold_macro_f1", mine, columns={"prediction": "guess"})
    # one column can't be both: a file with labels only has no predictions
    with pytest.raises(ValueError, match="no such column"):
        rows_of("sold_macro_f1", write(tmp_path / "c.jsonl", [{"label": "OFF"}]))


@pytest.mark.parametrize(
    ("metric", "row", "message"),
    [
        (
            "sold_macro_f1",
            {"prediction": 1, "predictions": 0, "label": 0},
            "predictions: .* has predictions and prediction;",
        ),
        ("sold_macro_f1", {"predictions": 0, "label": 0, "reference": 1}, "references: .* has reference and label; .*"),
        ("dia_safety_rate", {"predictions": 0, "category": 0, "categories": 1}, "has categories and category"),
        (
            "conda_joint",
            {**SLOT_ROWS[0], "intent": "E", "slots": ["T", "O"]},
            "has ref_intent, ref_slots and intent, slots",
        ),
        ("conda_joint", {**SLOT_ROWS[0], "predictions": {}}, "has predictions and pred_intent, pred_slots"),
    ],
)
def test_two_columns_for_one_input_are_refused(metric: str, row: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", [row])
    with pytest.raises(ValueError, match=f"{message}.*say which one it is with columns="):
        rows_of(metric, path)


def test_a_column_is_said_to_be_one_input(tmp_path: Path) -> None:
    both = write(tmp_path / "a.jsonl", [{"prediction": 1, "predictions": 0, "label": 0}])
    assert rows_of("sold_macro_f1", both, columns={"predictions": "prediction"})["predictions"] == [1]
    # a pipeline's own label, and the gold label of the same name in the other file
    left, right = write(tmp_path / "p.jsonl", [{"label": 1}]), write(tmp_path / "r.jsonl", [{"label": 0}])
    assert rows_of("sold_macro_f1", left, right, {"predictions": "label"}) == {"predictions": [1], "references": [0]}
    # what is taken is no candidate for another input
    one = write(tmp_path / "o.jsonl", [{"label": 1, "reference": 0}])
    assert rows_of("sold_macro_f1", one, columns={"predictions": "label"}) == {"predictions": [1], "references": [0]}
    with pytest.raises(ValueError, match="columns references=label: the column of another input, too"):
        rows_of("sold_macro_f1", one, columns={"predictions": "label", "references": "label"})
    gold = write(tmp_path / "g.jsonl", [{"references": 0, "scores": 0.5}])
    with pytest.raises(ValueError, match=r"columns prediction_scores=scores: no such column in .*p.jsonl"):
        rows_of("threat_f1", write(tmp_path / "p.jsonl", [{"predictions": 1}]), gold, {"prediction_scores": "scores"})
    with pytest.raises(ValueError, match=r"predictions=a,b: .*one column is enough: that with P\(positive\)"):
        rows_of("oracle_collab", write(tmp_path / "c.jsonl", [{"a": 0.5, "b": 0.5}]), columns={"predictions": "a,b"})


def test_what_could_be_said_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", [{"": 0, "guess": 1, "references": 1}])
    both = r'columns=\{"predictions": ...\} or columns=\{"prediction_scores": ...\}'
    with pytest.raises(ValueError, match=rf"the columns \(unnamed\), guess, references \(.*{both}\)"):
        rows_of("threat_f1", path)
    fields = r'columns=\{"predictions.intent": ..., "predictions.slots": ...\}'
    with pytest.raises(ValueError, match=rf'columns=\{{"predictions": ...\}} or {fields}'):
        rows_of("conda_joint", path)


def test_a_column_without_a_name_is_no_input(tmp_path: Path) -> None:
    """So pandas writes its index: as intent and slots, it is the same on both sides."""
    rows = [{"": i, "intent": "EIA"[i], "slots": ["T"]} for i in range(3)]
    mine, gold = write(tmp_path / "p.csv", rows), write(tmp_path / "r.csv", [row | {"intent": "O"} for row in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rows_of("conda_joint", mine, gold)
    shuffled = write(tmp_path / "s.csv", rows[::-1])
    with pytest.raises(ValueError, match="no ids in common, and an index of pandas has the same values in another ord"):
        rows_of("conda_joint", mine, shuffled)
    assert [found[side]["intent"] for side in ("predictions", "references")] == [["E", "I", "A"], ["O"] * 3]
    with pytest.raises(ValueError, match="conda_joint: predictions: no such column"):
        rows_of("conda_joint", mine)
    with pytest.raises(ValueError, match="columns predictions=: no such column"):
        rows_of("sold_macro_f1", mine, columns={"predictions": ""})


def test_fields_of_records_are_all_said_or_none(tmp_path: Path) -> None:
    row = {"": 0, "intent": "O", "slots": ["S"], "ri": "O", "rs": ["S"]}
    path = write(tmp_path / "p.csv", [row])
    columns = {"predictions.slots": "slots", "references.intent": "ri", "references.slots": "rs"}
    with pytest.raises(ValueError, match="columns predictions.intent: no column for it; allowed: a column for every"):
        rows_of("conda_joint", path, columns=columns)
    with pytest.raises(ValueError, match="columns references: given as a whole and by field"):
        rows_of("conda_joint", path, columns=columns | {"predictions.intent": "intent", "references": "ri"})
    found = rows_of("conda_joint", path, columns=columns | {"predictions.intent": "intent"})
    assert found["predictions"] == found["references"] == {"intent": ["O"], "slots": [["S"]]}


def test_fields_by_their_whole_name(tmp_path: Path) -> None:
    dotted = {"pred_": "predictions.", "ref_": "references."}
    rows = [{dotted[k.partition("_")[0] + "_"] + k.partition("_")[2]: v for k, v in row.items()} for row in SLOT_ROWS]
    expected = rows_of("conda_joint", write(tmp_path / "a.csv", SLOT_ROWS))
    assert rows_of("conda_joint", write(tmp_path / "b.csv", rows)) == expected


@pytest.mark.filterwarnings("ignore:.*undefined")
def test_records(tmp_path: Path) -> None:
    sides = {"predictions": "pred", "references": "ref"}
    expected = {
        side: {"intent": [row[f"{p}_intent"] for row in SLOT_ROWS], "slots": [row[f"{p}_slots"] for row in SLOT_ROWS]}
        for side, p in sides.items()
    }
    for name in ("flat.jsonl", "flat.csv"):
        assert rows_of("conda_joint", write(tmp_path / name, SLOT_ROWS)) == expected
    nested = [
        {
            side: {"intent": row[f"{p}_intent"], "slots": row[f"{p}_slots"]}
            for side, p in (("predictions", "pred"), ("references", "ref"))
        }
        for row in SLOT_ROWS
    ]
    assert rows_of("conda_joint", write(tmp_path / "nested.jsonl", nested)) == {
        side: [row[side] for row in nested] for side in expected
    }
    texts = [{side: json.dumps(row[side]) for side in row} for row in nested]
    assert rows_of("conda_joint", write(tmp_path / "nested.csv", texts)) == {
        side: [row[side] for row in nested] for side in expected
    }
    halves = []
    for p in ("pred", "ref"):
        rows = [{"intent": row[f"{p}_intent"], "slots": json.dumps(row[f"{p}_slots"])} for row in SLOT_ROWS]
        halves.append(write(tmp_path / f"{p}.csv", rows))
    assert rows_of("conda_joint", *halves) == expected
    # predictions beside the dataset's own columns
    mixed = [
        {"intent": r["ref_intent"], "slots": r["ref_slots"], "i": r["pred_intent"], "s": r["pred_slots"]}
        for r in SLOT_ROWS
    ]
    path = write(tmp_path / "mixed.jsonl", mixed)
    assert rows_of("conda_joint", path, columns={"predictions.intent": "i", "predictions.slots": "s"}) == expected
    results = [score("conda_joint", str(tmp_path / n)) for n in ("flat.jsonl", "flat.csv", "nested.jsonl")]
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["OFF", "NOT"], ["OFF", "NOT"]),
        (["1", "0"], [1.0, 0.0]),
        (["1.0", "-100"], [1.0, -100.0]),
        (["NA", "null", "nan", ""], ["NA", "null", "nan", ""]),
        (["", "OFF", ""], ["", "OFF", ""]),
        (["", "1", "", "0"], [None, 1.0, None, 0.0]),
    ],
)
def test_cells_of_labels(tmp_path: Path, cells: list[str], values: list[Any]) -> None:
    path = write(tmp_path / "p.csv", [{"predictions": cell, "references": "OFF"} for cell in cells])
    assert rows_of("sold_macro_f1", path)["predictions"] == values


@pytest.mark.parametrize("by_id", [False, True])
def test_empty_cells_among_ids_are_missing_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_id: bool) -> None:
    """Whatever batch they are in: no row decides alone what its column holds."""
    monkeypatch.setattr(tables, "BATCH_ROWS", 2)
    cells = ["", "", "1", "0", "1", "", "0"]
    rows = [{"id": i, "predictions": cell} for i, cell in enumerate(cells)]
    gold = [{"id": i, "references": cell} for i, cell in enumerate(cells)]
    if by_id:
        found = rows_of("sold_macro_f1", write(tmp_path / "p.csv", rows), write(tmp_path / "r.csv", gold))
    else:
        found = rows_of("sold_macro_f1", write(tmp_path / "p.csv", [a | b for a, b in zip(rows, gold)]))
    assert found["predictions"] == found["references"] == [None, None, 1, 0, 1, None, 0]


def test_empty_cells_are_refused_or_counted_by_the_metric(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("predictions,categories\n,0\n1,0\n1,1\n0,2\n")
    with pytest.raises(ValueError, match=r"predictions\[0\]: missing verdict"):
        score("dia_safety_rate", str(path))
    with pytest.warns(UserWarning, match="undefined"):
        scores = score("dia_safety_rate", str(path), invalid="count")
    # of four replies two are unsafe, and one has no verdict
    assert (scores["unsafe_rate_micro"], scores["n_invalid"], scores["unsafe_rate_offending_user"]) == (0.5, 1, 0.5)
    path.write_text("predictions,references\n1,0\n0,\n")
    with pytest.raises(ValueError, match=r"references\[1\]: missing label"):
        score("threat_f1", str(path))


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ('{"intent": "O", "intent": "E", "slots": []}', "an object has a field twice"),
        ('{"intent": "E", "slots": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
        ('{"intent": ' + "1" * 5000 + ', "slots": []}', "limit"),
        ('{"intent": "E"', "a text of .*; allowed: a JSON object"),
    ],
)
def test_json_in_cells_is_read_as_in_files(tmp_path: Path, cell: str, found: str) -> None:
    good = '{"intent": "E", "slots": []}'
    path = write(tmp_path / "p.csv", [{"predictions": text, "references": good} for text in (good, cell)])
    with pytest.raises(ValueError, match=rf"conda_joint: predictions\[1\]: .*{found}"):
        rows_of("conda_joint", path)


@pytest.mark.parametrize("cell", ["[0.1 0.9]", "0.1 0.9"])
def test_how_two_scores_are_written(tmp_path: Path, cell: str) -> None:
    path = write(tmp_path / "p.csv", [{"prediction_scores": cell, "references": 1}])
    with pytest.raises(ValueError, match=r"two as in \[0.1, 0.9\] \(one column with P\(positive\) is enough\)"):
        rows_of("threat_f1", path)


@pytest.mark.parametrize("part", [1, 1 << 20])  # by the fast road, and by the strict one
def test_whole_numbers_are_no_floats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(separated, "PART", part)
    large = [2**53, 2**53 + 1, 3]
    rows = [{"predictions": 0.5, "references": 1, "review_scores": n} for n in large]
    assert rows_of("oracle_collab", write(tmp_path / "p.csv", rows))["review_scores"] == large


def test_cells_of_numbers_keep_every_digit(tmp_path: Path) -> None:
    numbers = [0.1 + 0.2, 1e-300, 0.5000000001, 1 / 3]
    path = write(tmp_path / "p.csv", [{"predictions": repr(x), "references": "1"} for x in numbers])
    assert rows_of("oracle_collab", path)["predictions"] == numbers
    two = write(tmp_path / "q.csv", [{"predictions": json.dumps([1 - x, x]), "references": "1"} for x in numbers])
    assert rows_of("oracle_collab", two)["predictions"] == [[1 - x, x] for x in numbers]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["0.5", "high"], r"predictions\[1\]: 'high'; allowed: a number in every row"),
        (["0.5", ""], r"predictions\[1\]: an empty cell; allowed: a number in every row"),
        (["0.5", "0,5"], r"predictions\[1\]: '0,5'"),
        (["0.5", "what a nice long sentence"], r"predictions\[1\]: a text of 25 characters"),
    ],
)
def test_cells_that_are_no_numbers(tmp_path: Path, cells: list[str], message: str) -> None:
    path = write(tmp_path / "p.csv", [{"predictions": cell, "references": "1"} for cell in cells])
    with pytest.raises(ValueError, match=f"oracle_collab: {message}"):
        rows_of("oracle_collab", path)


def test_names_after_ids_in_a_column(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", [{"predictions": cell, "references": "OFF"} for cell in ("1", "OFF")])
    with pytest.raises(ValueError, match=r"predictions\[1\]: 'OFF'; allowed: ids or names, not both"):
        rows_of("sold_macro_f1", path)
