"""One road in: the same rows give the same result, or the same refusal, in every format and through every door."""

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toxeval
from toxeval.core.refusals import Refusal
from toxeval.loading import plain
from toxeval.read import Rows, Table, add_rows, from_columns, open_bytes, open_pasted, open_table

pytestmark = pytest.mark.filterwarnings("ignore")

Columns = dict[str, list[Any]]


def separated(columns: Columns, delimiter: str) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerows([list(columns), *zip(*columns.values())])
    return stream.getvalue().encode()


def parquet(columns: Columns) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def tables(columns: Columns, folder: Path | None = None) -> dict[str, Table]:
    """The same table through each door; texts hold numbers and names as they are written."""
    records = [dict(zip(columns, row)) for row in zip(*columns.values())]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    found = {
        "columns": from_columns("a table", columns),
        "cells": from_columns("a table", {n: list(map(str, v)) for n, v in columns.items()}, text=True),
        "csv": open_bytes("p.csv", separated(columns, ","), multiline=True),
        "tsv": open_bytes("p.tsv", separated(columns, "\t"), multiline=True),
        "json lines": open_bytes("p.jsonl", lines.encode()),
        "json": open_bytes("p.json", json.dumps(records).encode()),
        "pasted": open_pasted(lines),
        "pasted csv": open_pasted(separated(columns, ",").decode(), multiline=True),
        "parquet": open_bytes("p.parquet", parquet(columns)),
    }
    if folder is not None:
        datasets.Dataset.from_dict(columns).save_to_disk(folder)
        found["saved"] = open_table(str(folder))
    return found


def outcome(metric: str, table: Table, **options: Any) -> Any:
    """The scores, or which row of which input is refused."""
    scored = plain(metric, **options)
    try:
        add_rows(scored, Rows(scored.definition, table))
        return scored.compute()
    except Refusal as refusal:
        return refusal.inputs, refusal.row


LABELS = st.sampled_from(["OFF", "NOT", "OFF ", "off", "nan", "", "UNK", "a, b", 'say "OFF"', "1"])
IDS = st.sampled_from([0, 1, 2, -1, -100, 7])
SCORES = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5, 1.5, -0.25, 1e-300])


@given(st.data())
def test_names_in_every_format(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    columns = {
        name: data.draw(st.lists(LABELS, min_size=n, max_size=n).filter(lambda cells: cells[0] not in ("1", "", "nan")))
        for name in ("predictions", "references")
    }
    found = {name: outcome("sold_macro_f1", table) for name, table in tables(columns).items()}
    assert len(set(map(str, found.values()))) == 1, found


@given(st.data())
def test_ids_and_scores_in_every_format(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 6))
    ids, scores = (data.draw(st.lists(kind, min_size=n, max_size=n)) for kind in (IDS, SCORES))
    for metric, columns in (
        ("sold_macro_f1", {"predictions": ids, "references": ids[::-1]}),
        ("threat_f1", {"prediction_scores": scores, "references": ids}),
    ):
        found = {name: outcome(metric, table) for name, table in tables(columns).items()}
        assert len(set(map(str, found.values()))) == 1, found


@pytest.mark.parametrize(
    ("kind", "values", "accepted"),
    [
        ("names", ["OFF", "NOT", "OFF"], True),
        ("ids", [1, 0, 1], True),
        ("whole floats", [1.0, 0.0, 1.0], True),
        ("None", ["OFF", None, "OFF"], False),
        ("white space", ["OFF", "NOT ", "OFF"], False),
        ("a fraction", [1.0, 0.5, 1.0], False),
        ("empty", ["OFF", "", "OFF"], False),
        ("bools", [True, False, True], True),
    ],
)
def test_kinds_of_labels(kind: str, values: list[Any], accepted: bool, tmp_path: Path) -> None:
    columns = {"predictions": values, "references": ["OFF", "OFF", "OFF"]}
    through = tables(columns, tmp_path / "saved")
    if kind in ("None", "bools"):  # which texts can't have: a cell says '' or 'True'
        texts = ("cells", "csv", "tsv", "pasted csv")
        through = {name: table for name, table in through.items() if name not in texts}
    found = {name: outcome("sold_macro_f1", table) for name, table in through.items()}
    expected: Any = (("predictions",), 0 if kind == "bools" else 1)
    if accepted:
        given: Any = dict(columns)
        expected = toxeval.load("sold_macro_f1").compute(**given)
    assert {name: str(each) for name, each in found.items()} == dict.fromkeys(found, str(expected))


@pytest.mark.parametrize("kind", ["float32", "Decimal", "numbers as texts"])
def test_kinds_of_scores(kind: str, tmp_path: Path) -> None:
    """The decimals mean the same, whatever holds them."""
    decimals, references = ["0.3", "0.1", "0.6", "0.31"], [0, 0, 1, 1]
    expected = toxeval.load("threat_f1", threshold=0.3).compute(
        prediction_scores=list(map(float, decimals)), references=references
    )
    values: Any = {
        "float32": pa.array(np.array(decimals, dtype=np.float32)),
        "Decimal": pa.array(list(map(Decimal, decimals)), pa.decimal128(6, 4)),
    }.get(kind)
    if values is None:
        table = open_bytes("p.csv", separated({"prediction_scores": decimals, "references": references}, ","))
    else:
        table = open_bytes("p.parquet", parquet({"prediction_scores": values, "references": references}))
    assert outcome("threat_f1", table, threshold=0.3) == expected
