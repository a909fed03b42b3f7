"""Columns find their inputs, rows their references; refusals name the rows of the files."""

import csv
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toxeval.loading import definition
from toxeval.loading import plain as load
from toxeval.read import Rows, add_rows, open_table, sources, tables

SLOT_ROWS = [
    {"pred_intent": "E", "pred_slots": ["T", "O"], "ref_intent": "E", "ref_slots": ["T", "S"]},
    {"pred_intent": "O", "pred_slots": [], "ref_intent": "A", "ref_slots": []},
]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    """Rows as JSON Lines, or as CSV with lists as words."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            for row in rows:
                writer.writerow({k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()})
    return str(path)


def rows_of(metric: str, left: str, right: str = "", columns: dict[str, str] | None = None) -> Any:
    gold = open_table(right) if right else None
    return plain(Rows(definition(metric), open_table(left), gold, columns).collect())


def score(metric: str, path: str, references: str = "", **options: Any) -> dict[str, Any]:
    scored = load(metric, **options)
    add_rows(scored, Rows(definition(metric), open_table(path), open_table(references) if references else None))
    return scored.compute() or {}


def plain(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: plain(part) for name, part in values.items()}
    return values if isinstance(values, list) else values.tolist()


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


def test_rows_of_two_files_by_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH_ROWS", 3)
    monkeypatch.setattr(sources, "BLOCK", 64)
    left = write(tmp_path / "p.jsonl", [{"predictions": i % 2} for i in range(10)])
    right = write(tmp_path / "r.csv", [{"references": i % 2, "id": i} for i in range(10)])
    assert rows_of("sold_macro_f1", left, right) == {"predictions": [0, 1] * 5, "references": [0, 1] * 5}
    for other, lengths in ((12, "10 rows in .* and 12 in"), (7, "10 rows in .* and 7 in")):
        uneven = write(tmp_path / "u.csv", [{"references": 0} for _ in range(other)])
        with pytest.raises(ValueError, match=f"sold_macro_f1: predictions and references: {lengths}"):
            rows_of("sold_macro_f1", left, uneven)


def test_rows_of_two_files_by_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH_ROWS", 3)
    monkeypatch.setattr(sources, "BLOCK", 64)
    rng = np.random.default_rng(0)
    predictions, references = rng.integers(2, size=(2, 20)).tolist()
    order = rng.permutation(20).tolist()
    left = write(tmp_path / "p.csv", [{"id": i, "predictions": predictions[i]} for i in order])
    right = write(tmp_path / "r.jsonl", [{"id": str(i), "references": references[i]} for i in range(20)])
    pairs = rows_of("sold_macro_f1", left, right)
    assert pairs == {"predictions": [predictions[i] for i in order], "references": [references[i] for i in order]}
    renamed = write(tmp_path / "n.jsonl", [{"key": i, "references": references[i]} for i in range(20)])
    assert rows_of("sold_macro_f1", left, renamed, {"id": "key"}) == pairs


def test_rows_by_position_that_could_be_matched(tmp_path: Path) -> None:
    texts = ["gg", "wp", "you are bad"]
    left = write(tmp_path / "p.csv", [{"text": t, "ID": i, "predictions": i % 2} for i, t in enumerate(texts)])
    right = write(tmp_path / "r.csv", [{"text": t, "ID": i, "label": i % 2} for i, t in enumerate(texts)][::-1])
    found = (
        r'p.csv and .*r.csv have no ids in common, and text has the same values in another order; .*columns=\{"id": '
    )
    with pytest.raises(ValueError, match=found + "'text'"):
        rows_of("sold_macro_f1", left, right)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows_of("sold_macro_f1", left, right, {"id": "ID"}) == {
            "predictions": [0, 1, 0],
            "references": [0, 1, 0],
        }
        other = write(tmp_path / "o.csv", [{"label": 0, "other": 1, "predictions": 1}] * 3)
        rows_of("sold_macro_f1", left, other)


def test_an_index_of_pandas_is_no_id(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"predictions": [0, 1, 1], "label": [0, 1, 1]})
    frame[["predictions"]].iloc[[2, 0, 1]].to_parquet(tmp_path / "p.parquet")
    frame[["label"]].to_parquet(tmp_path / "r.parquet")
    with pytest.raises(ValueError, match="an index of pandas of .*p.parquet says that its rows aren't in their first"):
        rows_of("sold_macro_f1", str(tmp_path / "p.parquet"), str(tmp_path / "r.parquet"))


def test_the_id_of_two_is_the_one_in_both_files(tmp_path: Path) -> None:
    both = [{"id": i, "post_id": 2 - i, "predictions": int(i == 0)} for i in range(3)]
    left = write(tmp_path / "p.jsonl", both)
    gold = [{"post_id": i, "references": int(i == 2)} for i in range(3)]
    expected = {"predictions": [1, 0, 0], "references": [1, 0, 0]}
    assert rows_of("sold_macro_f1", left, write(tmp_path / "r.jsonl", gold)) == expected
    right = write(tmp_path / "s.jsonl", [row | {"id": 7} for row in gold])
    with pytest.raises(ValueError, match="id: .*p.jsonl has id and post_id; .* columns={.id.: ...}"):
        rows_of("sold_macro_f1", left, right)
    assert rows_of("sold_macro_f1", left, right, {"id": "post_id"}) == expected


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([1, 2, 2], [1, 2, 3], r"id: rows 1 and 2 of .*p.jsonl have the same one; allowed: each id once"),
        ([1, 2, 3, 4, 1], [1, 2, 3, 4], r"id: rows 0 and 4 of .*p.jsonl have the same one"),
        ([1, 2, 3], [1, 3, 3], r"id: rows 1 and 2 of .*r.jsonl have the same one"),
        (
            [1, 2, 3],
            [1, 2, 4],
            r"1 of .*p.jsonl aren't in .* \(row 2\) and 1 of .*r.jsonl aren't in .* \(row 2\)",
        ),
        ([1], [1, 2, 3], r"id: 2 of .*r.jsonl aren't in .*p.jsonl \(rows 1, 2\); allowed: the same ids in both"),
        ([*range(9), *range(20, 30)], [*range(9)], r"10 of .*p.jsonl aren't in .* \(rows 9, 10, 11, 12, 13 …\)"),
        ([1, None], [1, 2], r"id\[1\]: None in .*p.jsonl; allowed: a text or a whole number in every row"),
        ([1, 2], ["1", ""], r"id\[1\]: '' in .*r.jsonl"),
        ([1, 2.5], [1, 2], r"id\[1\]: 2.5 in"),
    ],
)
def test_ids_that_do_not_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: list[Any], right: list[Any], message: str
) -> None:
    monkeypatch.setattr(tables, "BATCH_ROWS", 3)
    monkeypatch.setattr(sources, "BLOCK", 64)
    predictions = write(tmp_path / "p.jsonl", [{"id": i, "predictions": 0} for i in left])
    references = write(tmp_path / "r.jsonl", [{"id": i, "references": 0} for i in right])
    with pytest.raises(ValueError, match=message):
        rows_of("sold_macro_f1", predictions, references)


def test_refusals_name_the_rows_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH_ROWS", 3)
    monkeypatch.setattr(sources, "BLOCK", 64)
    labels = ["OFF"] * 10
    good = write(tmp_path / "good.jsonl", [{"id": i, "predictions": "OFF"} for i in range(10)])
    # in a later batch
    both = write(tmp_path / "b.jsonl", [{"predictions": x, "references": "OFF"} for x in [*labels, "UNK"]])
    with pytest.raises(ValueError, match=r"predictions\[10\]: unknown label 'UNK'"):
        score("sold_macro_f1", both)
    # of the references, which are in another order
    gold = [{"id": 9 - i, "references": "UNK" if i == 2 else "OFF"} for i in range(10)]
    with pytest.raises(ValueError, match=r"references\[2\]: unknown label 'UNK'"):
        score("sold_macro_f1", good, write(tmp_path / "gold.jsonl", gold))
    # of two columns of probabilities, whose row is named twice
    pairs = [{"predictions": [0.5, 0.5], "references": 1} for _ in range(5)] + [
        {"predictions": [0.5, 0.6], "references": 1}
    ]
    with pytest.raises(ValueError, match=r"predictions\[5\]: row 5 sums to 1.1"):
        score("oracle_collab", write(tmp_path / "two.jsonl", pairs))
    # of two sequences
    slots = [dict(SLOT_ROWS[0]) for _ in range(4)] + [SLOT_ROWS[0] | {"pred_slots": ["T"]}]
    with pytest.raises(ValueError, match=r'predictions\[4\]\["slots"\] and references\[4\]\["slots"\]: 1 predicted'):
        score("conda_joint", write(tmp_path / "slots.jsonl", slots))


def test_missing_values_reach_the_metric(tmp_path: Path) -> None:
    rows = [{"predictions": x, "categories": "Risk Ignorance"} for x in ("Safe", None, "Unsafe")]
    path = write(tmp_path / "p.jsonl", rows)
    with pytest.raises(ValueError, match=r"predictions\[1\]"):
        score("dia_safety_rate", path)
    with pytest.warns(UserWarning, match="undefined"):
        assert score("dia_safety_rate", path, invalid="count")["n_invalid"] == 1


# --- the order of rows --------------------------------------------------------------------------------------------


def two(tmp_path: Path, mine: list[dict[str, Any]], gold: list[dict[str, Any]]) -> tuple[str, str]:
    return write(tmp_path / "p.jsonl", mine), write(tmp_path / "r.jsonl", gold)


@pytest.mark.parametrize("batch_rows", [2, 100])
def test_ids_under_different_names_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch_rows: int) -> None:
    """They are named, and used only when somebody says so."""
    monkeypatch.setattr(tables, "BATCH_ROWS", batch_rows)
    mine = [{"key": f"post{i}", "text": "gg " * i, "predictions": i % 2} for i in range(9)]
    gold = [{"uid": f"post{i}", "references": i % 2} for i in range(9)]
    left, right = two(tmp_path, mine, gold[::-1])
    found = "key and uid have the same values in another order; allowed: rows in the same order, or ids"
    with pytest.raises(ValueError, match=found) as refused:
        rows_of("sold_macro_f1", left, right)
    assert "(to match them by it: columns={\"id\": 'key', \"references.id\": 'uid'}; if the ord" in str(refused.value)
    said = {"id": "key", "references.id": "uid"}
    matched = Rows(definition("sold_macro_f1"), open_table(left), open_table(right), said)
    assert matched.matched == "key and uid"
    assert plain(matched.collect()) == {
        "predictions": [i % 2 for i in range(9)],
        "references": [i % 2 for i in range(9)],
    }
    with warnings.catch_warnings():  # in one order there is nothing to say
        warnings.simplefilter("error")
        rows_of("sold_macro_f1", *two(tmp_path, mine, gold))


def test_ids_that_one_file_calls_otherwise_are_no_numbers_of_rows(tmp_path: Path) -> None:
    mine = [{"id": 10 - i, "predictions": i % 2} for i in range(9)]
    gold = [{"number": i + 2, "references": i % 2} for i in range(9)]
    left, right = two(tmp_path, mine, gold)
    with pytest.raises(ValueError, match="id and number have the same values in another order"):
        rows_of("sold_macro_f1", left, right)
    # who knows better says that there are no ids
    assert rows_of("sold_macro_f1", left, right, {"id": ""})["predictions"] == [i % 2 for i in range(9)]


def test_a_column_that_agrees_in_every_row_settles_the_order(tmp_path: Path) -> None:
    mine = [{"text": f"gg {i}", "rank": i, "model": "a", "predictions": 1} for i in range(9)]
    gold = [{"text": f"gg {i}", "rank": 8 - i, "model": "b", "references": 1} for i in range(9)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows_of("sold_macro_f1", *two(tmp_path, mine, gold))
    for row in gold:
        del row["text"]
    with pytest.raises(ValueError, match="rank has the same values in another order"):
        rows_of("sold_macro_f1", *two(tmp_path, mine, gold))


def test_columns_that_differ_are_doubted(tmp_path: Path) -> None:
    """Their values aren't the same ones in another order: nothing is known."""
    mine = [{"text": f"gg {i}", "predictions": 1} for i in range(9)]
    gold = [{"text": f"wp {i}", "references": 1} for i in range(9)]
    with pytest.warns(UserWarning, match=r"matched by position, .*, and they differ in text \(.*columns="):
        rows_of("sold_macro_f1", *two(tmp_path, mine, gold))


def test_an_order_that_changes_late_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH_ROWS", 2)
    order = [*range(15), 16, 15]
    left = write(tmp_path / "p.csv", [{"text": f"gg {i}", "predictions": 1} for i in range(17)])
    right = write(tmp_path / "r.csv", [{"text": f"gg {i}", "references": 1} for i in order])
    with pytest.raises(ValueError, match="text has the same values in another order"):
        rows_of("sold_macro_f1", left, right)


def test_how_rows_are_matched_is_known(tmp_path: Path) -> None:
    def matched(*paths: str) -> str:
        return Rows(definition("sold_macro_f1"), *map(open_table, paths)).matched

    rows = [{"post_id": i, "predictions": 1, "references": 1} for i in range(3)]
    left, right = two(tmp_path, rows, rows)
    assert (matched(left), matched(left, right)) == ("", "post_id")
    other = write(tmp_path / "o.csv", [{"id": i, "label": 1} for i in range(3)])
    assert matched(left, other) == "post_id and id"
    assert matched(left, write(tmp_path / "n.csv", [{"label": 1}] * 3)) == "position"


@pytest.mark.parametrize("name", ["dup.jsonl", "dup.csv"])
def test_an_id_that_is_there_twice_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """road-23: a run that was logged twice."""
    monkeypatch.setattr(tables, "BATCH_ROWS", 2)
    rows = [{"id": i, "n": n, "predictions": i % 2, "references": 1} for n, i in enumerate([0, 1, 2, 3, 0, 1])]
    path = write(tmp_path / name, rows)
    with pytest.raises(
        ValueError, match=r"id: rows 0 and 4 of .*dup.* have the same one; allowed: each id once \(was "
    ):
        rows_of("sold_macro_f1", path)
    assert len(rows_of("sold_macro_f1", path, columns={"id": "n"})["predictions"]) == 6
    assert len(rows_of("sold_macro_f1", path, columns={"id": ""})["predictions"]) == 6


def test_rows_by_id_have_rows_of_their_own(tmp_path: Path) -> None:
    """A refusal of both sides says the row of each file."""
    mine = [{"id": i, "predictions": [0, 1]} for i in range(4)]
    gold = [{"id": i, "references": [0] if i == 1 else [0, 1]} for i in (3, 2, 1, 0)]
    left, right = two(tmp_path, mine, gold)
    metric = load("sold_macro_f1", "token")
    with pytest.raises(ValueError, match=r"predictions\[1\] and references\[2\]: 2 predicted and 1 in the reference"):
        add_rows(metric, Rows(metric.definition, open_table(left), open_table(right)))


def test_an_input_that_is_missing_gets_advice(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", [{"predictions": "Safe", "kind": 1}])
    with pytest.raises(ValueError, match=r"references; if they are there: columns=\{\"categories\": ...\}; in another"):
        score("dia_safety_rate", path)
