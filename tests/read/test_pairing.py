"""Rows find their references; refusals name the rows of the files."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tabled import SLOT_ROWS, plain, rows_of, score, write

from toxeval.loading import definition
from toxeval.loading import plain as load
from toxeval.read import Rows, add_rows, open_table, sources, tables


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
