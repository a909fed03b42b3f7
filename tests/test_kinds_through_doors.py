"""One road in: each kind of value gives an equal number, or an equal refusal, through every door."""

import base64
import csv
import importlib.util
import io
import json
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import JSON, KINDS, Columns, Kind
from packaging.version import Version
from samples import SAMPLES, Sample, columns

import toxeval
from toxeval.core.refusals import Refusal
from toxeval.loading import plain
from toxeval.page.rows import open_given
from toxeval.read import Rows, Table, add_rows, open_bytes, open_table
from toxeval.read.tables import as_list

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        Version(datasets.__version__) < Version("4"),
        reason="before datasets 4 columns are lists, which have lost names (the cards say so) and float32",
    ),
]

# --- doors of Python ----------------------------------------------------------------------------------------------


def array(values: list[Any]) -> np.ndarray:
    """Of objects, where lists have different lengths."""
    ragged = len({len(value) for value in values if isinstance(value, list)}) > 1
    found = np.empty(len(values), dtype=object) if ragged else np.array(values)
    found[:] = values
    return found


def polars_series(values: list[Any]) -> Any:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    return polars.Series(values, strict=False)


def column(values: list[Any], form: str | None = None) -> Any:
    return datasets.Dataset.from_dict({"x": values}).with_format(form)["x"]


def formatted(form: str) -> Callable[[list[Any]], Any]:
    def hold(values: list[Any]) -> Any:
        if form in ("torch", "polars"):
            pytest.importorskip(form, reason=f"{form} is not installed")
        return column(values, form)

    return hold


HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "numpy": array,
    "pandas": pd.Series,
    "polars": polars_series,
    "Arrow": pa.array,
    "datasets": column,
    **{f"datasets with {form}": formatted(form) for form in ("numpy", "pandas", "arrow", "torch", "polars")},
}


def cells(doors: Iterable[str], said_in: Callable[[Kind, str], bool]) -> list[Any]:
    """The cells of the table: every kind through every door in which it can be said."""
    return [pytest.param(kind, door, id=f"{kind!r}-{door}") for kind in KINDS for door in doors if said_in(kind, door)]


@pytest.mark.parametrize(
    ("kind", "door"), cells(HOLDERS, lambda kind, door: door.partition(" ")[0] not in kind.lost_in)
)
def test_python(kind: Kind, door: str) -> None:
    given = {name: HOLDERS[door](values) for name, values in kind.columns.items()}
    assert_same(kind.outcome(lambda: kind.score(**given)), kind.expected(door))


def assert_same(found: Any, expected: Any) -> None:
    assert str(found) == str(expected)  # nan is nan


# --- the Trainer --------------------------------------------------------------------------------------------------


def said_as_ids(kind: Kind, door: str) -> bool:
    """Floats are logits there."""
    if kind.metric != "sold_macro_f1" or kind.config is not None:
        return False
    predictions = np.array(kind.columns["predictions"])
    return predictions.dtype.kind in "iub" or not len(predictions)


@pytest.mark.parametrize(("kind", "door"), cells(["EvalPrediction", "tuple"], said_as_ids))
def test_trainer(kind: Kind, door: str) -> None:
    """It has arrays of numbers: here of ids, as ``preprocess_logits_for_metrics`` may leave them, as references too."""
    predictions, references = (np.array(kind.columns[name]) for name in ("predictions", "references"))
    pair = predictions, np.array([name == "OFF" for name in references], dtype=np.int64)
    made = SimpleNamespace(predictions=pair[0], label_ids=pair[1]) if door == "EvalPrediction" else pair
    assert_same(kind.outcome(lambda: kind.load().compute_metrics(made)), kind.expected(door))


# --- files and pages ----------------------------------------------------------------------------------------------


def plain_value(value: Any) -> Any:
    """As JSON has it: the decimal that a number prints."""
    return float(str(value)) if isinstance(value, (np.floating, Decimal)) else value


def cell(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=plain_value)
    return "" if value is None else str(value)


def separated(columns: Columns, delimiter: str) -> bytes:
    stream = io.StringIO(newline="")
    rows = zip(*(map(cell, values) for values in columns.values()))
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows([list(columns), *rows])
    return stream.getvalue().encode()


def json_lines(columns: Columns) -> bytes:
    records = (dict(zip(columns, row)) for row in zip(*columns.values()))
    return "".join(json.dumps(record, default=plain_value) + "\n" for record in records).encode()


def parquet(columns: Columns) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def outcome_of(kind: Kind, open_: Callable[[], Table]) -> Any:
    metric = plain(kind.metric, kind.config or "default", **kind.options)

    def score() -> Any:
        add_rows(metric, Rows(metric.definition, open_()))
        return metric.compute()

    return kind.outcome(score)


def given_to_a_page(kind: Kind, given: dict[str, Any]) -> Table:
    return open_given(plain(kind.metric, kind.config or "default").definition, given).table


FILES: dict[str, Callable[[Kind, Path, pytest.MonkeyPatch], Table]] = {
    "csv": lambda kind, folder, _: saved(folder / "p.csv", separated(kind.columns, ",")),
    "tsv": lambda kind, folder, _: saved(folder / "p.tsv", separated(kind.columns, "\t")),
    "json lines": lambda kind, folder, _: saved(folder / "p.jsonl", json_lines(kind.columns)),
    "parquet": lambda kind, folder, _: saved(folder / "p.parquet", parquet(kind.columns)),
    "saved": lambda kind, folder, _: by_datasets(folder, kind.columns),
    "standard input": lambda kind, _, patch: piped(separated(kind.columns, ","), patch),
    "page file": lambda kind, *_: given_to_a_page(kind, uploaded("p.csv", separated(kind.columns, ","))),
    "page JSON Lines": lambda kind, *_: given_to_a_page(kind, uploaded("p.jsonl", json_lines(kind.columns))),
    "page text": lambda kind, *_: given_to_a_page(kind, {"text": separated(kind.columns, "\t").decode()}),
}


def saved(path: Path, content: bytes) -> Table:
    path.write_bytes(content)
    return open_table(str(path), multiline=True)


def by_datasets(folder: Path, columns: Columns) -> Table:
    datasets.Dataset.from_dict(columns).save_to_disk(folder)
    return open_table(str(folder))


def piped(content: bytes, patch: pytest.MonkeyPatch) -> Table:
    patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    return open_table("-", multiline=True)


def uploaded(name: str, content: bytes) -> dict[str, Any]:
    return {"file": {"name": name, "data": base64.b64encode(content).decode()}}


def said_in_file(kind: Kind, door: str) -> bool:
    return door not in kind.lost_in and not ("JSON" in door and JSON & kind.lost_in)


@pytest.mark.parametrize(("kind", "door"), cells(FILES, said_in_file))
def test_files_and_pages(kind: Kind, door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = kind.expected(door)
    found = outcome_of(kind, lambda: FILES[door](kind, tmp_path, monkeypatch))
    assert_same(found, ("", None) if kind.name == "empty" else expected)  # a file without rows, whatever its columns


# --- random rows --------------------------------------------------------------------------------------------------


def damaged(value: Any) -> Any:
    """A value of the same type that is refused."""
    if isinstance(value, dict):
        return value | {"intent": damaged(value["intent"])}
    if isinstance(value, list):
        return [*value[:-1], damaged(value[-1])] if value else ["UNK"]
    return {str: "UNK", float: np.nan}.get(type(value), 99)


@pytest.mark.parametrize("sample", SAMPLES, ids=repr)
@settings(max_examples=10)
@given(data=st.data())
def test_random_rows(sample: Sample, data: st.DataObject) -> None:
    rows = data.draw(sample.rows(max_size=5))
    row, name = data.draw(st.sampled_from(rows)), data.draw(st.sampled_from(sorted(rows[0].keys() - {"cluster"})))
    if data.draw(st.booleans()):
        row[name] = damaged(row[name])
    kind = Kind("", columns(rows), metric=sample.metric, config=sample.config, options=sample.needed)
    found = {
        door: kind.outcome(lambda hold=hold: kind.score(**{n: hold(v) for n, v in kind.columns.items()}))
        for door, hold in HOLDERS.items()
        if door != "numpy" and not ("polars" in door and importlib.util.find_spec("polars") is None)
    }
    for ending, content in (("csv", separated(kind.columns, ",")), ("jsonl", json_lines(kind.columns))):
        found[ending] = outcome_of(kind, lambda n=ending, c=content: open_bytes(f"p.{n}", c, multiline=True))
    found["parquet"] = outcome_of(kind, lambda: open_bytes("p.parquet", parquet(kind.columns)))
    assert len(set(map(str, found.values()))) == 1, found


# --- class labels -------------------------------------------------------------------------------------------------

INTENTS, SLOTS = ["A", "E", "I", "O"], ["O", "T", "S", "C", "D", "P", "SEPA"]  # none in the metrics' order
NAMES: Columns = {
    "label": ["OFF", "NOT"],
    "tags": [["OFF", "NOT"], ["NOT"]],
    "said": [{"intent": "E", "slots": ["T"]}] * 2,
}


def declared(labels: list[str], intents: list[str]) -> datasets.Dataset:
    """Class labels in a column, in lists, and in records."""
    label = datasets.ClassLabel(names=labels)
    said = {"intent": datasets.ClassLabel(names=intents), "slots": datasets.Sequence(datasets.ClassLabel(names=SLOTS))}
    features = datasets.Features({"label": label, "tags": datasets.Sequence(label), "said": said})
    rows = {"label": [0, 1], "tags": [[0, 1], [1]], "said": [{"intent": 1, "slots": [1]}] * 2}
    return datasets.Dataset.from_dict(rows, features=features)


POSITIONS = {"label": ("sold_macro_f1", None), "tags": ("sold_macro_f1", "token"), "said": ("conda_joint", None)}


def through(door: str, data: datasets.Dataset, position: str, folder: Path) -> Iterator[Any]:
    """The column, in each way that the door has for it."""
    if door in ("saved", "parquet", "parts"):
        if door == "saved":
            data.save_to_disk(folder / "saved")
        elif door == "parts":
            datasets.DatasetDict({"test": data}).save_to_disk(folder / "saved")
        else:
            data.to_parquet(folder / "saved")
        path = folder / "saved"
        if door == "parquet":
            path = path.rename(folder / "p.parquet")
        yield [x for batch in open_table(str(path)).batches([position]) for x in as_list(batch[position])]
        return
    column = data.with_format(None if door == "datasets" else door)[position]
    yield column
    if position == "said":
        yield {name: column[name] for name in ("intent", "slots")}


def keeps_names(form: str) -> bool:
    """Whether a column with a format has its features; others have lost the names, as the cards say."""
    if form in ("torch", "polars") and importlib.util.find_spec(form) is None:
        return False
    return hasattr(declared(["OFF", "NOT"], INTENTS).with_format(form)["label"], "features")


FORMATS = [form for form in ("numpy", "torch", "pandas", "arrow", "polars") if keeps_names(form)]


@pytest.mark.parametrize("door", ["datasets", *FORMATS, "saved", "parts", "parquet"])
@pytest.mark.parametrize("position", POSITIONS)
def test_class_labels_count_by_name(position: str, door: str, tmp_path: Path) -> None:
    metric = toxeval.load(*POSITIONS[position])
    right = metric.compute(predictions=NAMES[position], references=NAMES[position])
    for found in through(door, declared(["OFF", "NOT"], INTENTS), position, tmp_path):
        assert_same(metric.compute(predictions=NAMES[position], references=found), right)
        assert_same(metric.compute(predictions=found, references=NAMES[position]), right)
    (tmp_path / "other").mkdir()
    other = declared(["offensive", "fine"], ["Action", "Explicit", "Implicit", "Other"])
    for found in through(door, other, position, tmp_path / "other"):
        with pytest.raises(Refusal) as caught:
            metric.compute(predictions=NAMES[position], references=found)
        assert (caught.value.inputs, caught.value.row) == (("references",), 0)
