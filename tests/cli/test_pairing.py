"""Columns find their inputs, rows their references; refusals name the rows of the files."""

import csv
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import toxeval
from toxeval.columns import kinds
from toxeval.files import open_table
from toxeval.jobs import Job, score
from toxeval.loading import metric_class
from toxeval.pairing import collect, paired

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
    return plain(collect(paired(metric, "default", open_table(left), gold, columns or {})))


def plain(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: plain(part) for name, part in values.items()}
    return values if isinstance(values, list) else values.tolist()


CONFIGS = [(metric, config) for metric in toxeval.METRICS for config in metric_class(metric).configs]


@pytest.mark.parametrize(("metric", "config"), CONFIGS)
def test_the_inputs_are_the_modules_own(metric: str, config: str) -> None:
    assert set(kinds(metric, config)) == set(toxeval.load(metric, config).inputs)


def test_kinds_of_inputs_are_read_off_the_features() -> None:
    label, score = "label", "score"
    assert kinds("oracle_collab", "default") == {"predictions": score, "references": label, "review_scores": score}
    assert set(kinds("sold_macro_f1", "token").values()) == {"sequence"}
    assert kinds("conda_joint", "default") == {"predictions": "record", "references": "record", "cluster": "group"}


def test_inputs_are_found_by_name(tmp_path: Path) -> None:
    both = write(tmp_path / "a.jsonl", [{"text": "gg", "prediction": "OFF", "label": "NOT", "post_id": 1}])
    assert rows_of("sold_macro_f1", both) == {"predictions": ["OFF"], "references": ["NOT"]}
    mine = write(tmp_path / "b.jsonl", [{"guess": "OFF", "gold": "NOT"}])
    expected = {"predictions": ["OFF"], "references": ["NOT"]}
    assert rows_of("sold_macro_f1", mine, columns={"predictions": "guess", "references": "gold"}) == expected
    with pytest.raises(ValueError, match="no such column in .*allowed: one of the columns guess, gold .*--columns"):
        rows_of("sold_macro_f1", mine)
    with pytest.raises(ValueError, match="columns predictions=nothing: no such column; allowed: .*guess, gold"):
        rows_of("sold_macro_f1", mine, columns={"predictions": "nothing"})
    with pytest.raises(ValueError, match="columns prediction: unknown input; allowed: id, predictions, references"):
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
    with pytest.raises(ValueError, match=f"{message}.*say which one it is with --columns"):
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
    both = "--columns predictions=COLUMN or --columns prediction_scores=COLUMN"
    with pytest.raises(ValueError, match=rf"the columns \(unnamed\), guess, references \(.*{both}\)"):
        rows_of("threat_f1", path)
    fields = "--columns predictions.intent=COLUMN,predictions.slots=COLUMN"
    with pytest.raises(ValueError, match=f"--columns predictions=COLUMN or {fields}"):
        rows_of("conda_joint", path)


def test_a_column_without_a_name_is_no_input(tmp_path: Path) -> None:
    """So pandas writes its index: as intent and slots, it is the same on both sides."""
    rows = [{"": i, "intent": "EIA"[i], "slots": ["T"]} for i in range(3)]
    mine, gold = write(tmp_path / "p.csv", rows), write(tmp_path / "r.csv", [row | {"intent": "O"} for row in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rows_of("conda_joint", mine, gold)
    shuffled = write(tmp_path / "s.csv", rows[::-1])
    with pytest.warns(UserWarning, match="there is an index of pandas"):
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
    results = [score(Job("conda_joint", (str(tmp_path / n),))) for n in ("flat.jsonl", "flat.csv", "nested.jsonl")]
    assert len({result.signature() for result in results}) == 1


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
    monkeypatch.setattr("toxeval.files.BATCH_ROWS", 2)
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
        score(Job("dia_safety_rate", (str(path),)))
    with pytest.warns(UserWarning, match="undefined"):
        scores = score(Job("dia_safety_rate", (str(path),), options={"invalid": "count"})).scores
    # of four replies two are unsafe, and one has no verdict
    assert (scores["unsafe_rate_micro"], scores["n_invalid"], scores["unsafe_rate_offending_user"]) == (0.5, 1, 0.5)
    path.write_text("predictions,references\n1,0\n0,\n")
    with pytest.raises(ValueError, match=r"references\[1\]: missing label"):
        score(Job("threat_f1", (str(path),)))


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
    monkeypatch.setattr("toxeval.files.BATCH_ROWS", 3)
    left = write(tmp_path / "p.jsonl", [{"predictions": i % 2} for i in range(10)])
    right = write(tmp_path / "r.csv", [{"references": i % 2, "id": i} for i in range(10)])
    assert rows_of("sold_macro_f1", left, right) == {"predictions": [0, 1] * 5, "references": [0, 1] * 5}
    for other, lengths in ((12, "10 rows in .* and 12 in"), (7, "10 rows in .* and 7 in")):
        uneven = write(tmp_path / "u.csv", [{"references": 0} for _ in range(other)])
        with pytest.raises(ValueError, match=f"sold_macro_f1: predictions and references: {lengths}"):
            rows_of("sold_macro_f1", left, uneven)


def test_rows_of_two_files_by_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toxeval.files.BATCH_ROWS", 3)
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
    with pytest.warns(
        UserWarning, match=r"p.csv and .*r.csv are matched by position, .*they differ in text, ID; .*--columns id="
    ):
        assert rows_of("sold_macro_f1", left, right)["references"] == [0, 1, 0]
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
    with pytest.warns(UserWarning, match="there is an index of pandas: is the order the same"):
        found = rows_of("sold_macro_f1", str(tmp_path / "p.parquet"), str(tmp_path / "r.parquet"))
    assert found == {"predictions": [1, 0, 1], "references": [0, 1, 1]}


def test_the_id_of_two_is_the_one_in_both_files(tmp_path: Path) -> None:
    both = [{"id": i, "post_id": 2 - i, "predictions": int(i == 0)} for i in range(3)]
    left = write(tmp_path / "p.jsonl", both)
    gold = [{"post_id": i, "references": int(i == 2)} for i in range(3)]
    expected = {"predictions": [1, 0, 0], "references": [1, 0, 0]}
    assert rows_of("sold_macro_f1", left, write(tmp_path / "r.jsonl", gold)) == expected
    right = write(tmp_path / "s.jsonl", [row | {"id": 7} for row in gold])
    with pytest.raises(ValueError, match="id: .*p.jsonl has id and post_id; .* --columns id=COLUMN"):
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
    monkeypatch.setattr("toxeval.files.BATCH_ROWS", 3)
    predictions = write(tmp_path / "p.jsonl", [{"id": i, "predictions": 0} for i in left])
    references = write(tmp_path / "r.jsonl", [{"id": i, "references": 0} for i in right])
    with pytest.raises(ValueError, match=message):
        rows_of("sold_macro_f1", predictions, references)


def test_refusals_name_the_rows_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toxeval.files.BATCH_ROWS", 3)
    labels = ["OFF"] * 10
    good = write(tmp_path / "good.jsonl", [{"id": i, "predictions": "OFF"} for i in range(10)])
    # in a later batch
    both = write(tmp_path / "b.jsonl", [{"predictions": x, "references": "OFF"} for x in [*labels, "UNK"]])
    with pytest.raises(ValueError, match=r"predictions\[10\]: unknown label 'UNK'"):
        score(Job("sold_macro_f1", (both,)))
    # of the references, which are in another order
    gold = [{"id": 9 - i, "references": "UNK" if i == 2 else "OFF"} for i in range(10)]
    with pytest.raises(ValueError, match=r"references\[2\]: unknown label 'UNK'"):
        score(Job("sold_macro_f1", (good,), references=write(tmp_path / "gold.jsonl", gold)))
    # of two columns of probabilities, whose row is named twice
    pairs = [{"predictions": [0.5, 0.5], "references": 1} for _ in range(5)] + [
        {"predictions": [0.5, 0.6], "references": 1}
    ]
    with pytest.raises(ValueError, match=r"predictions\[5\]: row 5 sums to 1.1"):
        score(Job("oracle_collab", (write(tmp_path / "two.jsonl", pairs),)))
    # of two sequences
    slots = [dict(SLOT_ROWS[0]) for _ in range(4)] + [SLOT_ROWS[0] | {"pred_slots": ["T"]}]
    with pytest.raises(ValueError, match=r'predictions\[4\]\["slots"\] and references\[4\]\["slots"\]: 1 predicted'):
        score(Job("conda_joint", (write(tmp_path / "slots.jsonl", slots),)))


def test_missing_values_reach_the_metric(tmp_path: Path) -> None:
    rows = [{"predictions": x, "categories": "Risk Ignorance"} for x in ("Safe", None, "Unsafe")]
    path = write(tmp_path / "p.jsonl", rows)
    with pytest.raises(ValueError, match=r"predictions\[1\]"):
        score(Job("dia_safety_rate", (path,)))
    with pytest.warns(UserWarning, match="undefined"):
        assert score(Job("dia_safety_rate", (path,), options={"invalid": "count"})).scores["n_invalid"] == 1
