"""SOLD: the invented files row by row, the synthetic file of the figures, and every way to be damaged."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from sources import SOLD, SOLD_HEADER, kinds, pin, read_all, rows, write

from toxeval.core.refusals import Refusal
from toxeval.data import builder_class, load_dataset

FEATURES = {
    "post_id": "string",
    "text": "string",
    "tokens": ["string"],
    "rationales": ["int64"],
    "label": ("NOT", "OFF"),
}


@pytest.mark.parametrize("streaming", [False, True])
def test_every_cell_of_the_invented_files(
    sold: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    pin(monkeypatch, "sold", sold)
    data = load_dataset("sold", data_dir=sold, cache_dir=cache, streaming=streaming)
    assert list(data) == ["train", "test", "trial"]
    assert kinds(data["train"].features) == FEATURES
    greeting = "සුබ\u200d දවසක්"
    quoted = '"හොඳ" කතාවක් , ඔව්'
    train = [
        ("900000000000000001", greeting, greeting.split(" "), [], 0),
        ("900000000000000002", "ඔබ නරකයි නරකයි", ["ඔබ", "නරකයි", "නරකයි"], [0, 1, 1], 1),
        ("900000000000000003", quoted, ['"හොඳ"', "කතාවක්", ",", "ඔව්"], [], 0),
        ("900000000000000004", "නරක දෙයක්", ["නරක", "දෙයක්"], [], 1),
    ]
    assert rows(data["train"]) == [dict(zip(FEATURES, row)) for row in train]
    assert rows(data["test"])[0]["rationales"] == [0, 0]
    assert len(rows(data["trial"])) == 1


def test_the_synthetic_file_of_the_figures(shipped: Path, tmp_path: Path, cache: Path) -> None:
    source = shipped / "sold" / "synthetic_SOLD_test.tsv"
    copy = shutil.copy(source, tmp_path / "SOLD_test.tsv")
    with pytest.warns(UserWarning, match="expected rows 2500, NOT 1485, OFF 1015; found rows 5, NOT 2, OFF 3"):
        data = load_dataset("sold", split="test", data_files=copy, cache_dir=cache, verification_mode="no_checks")
    with source.open(encoding="utf-8", newline="") as lines:
        expected = list(csv.DictReader(lines, delimiter="\t"))
    assert len(data) == len(expected) == 5
    for row, cells in zip(data, expected):
        assert row["post_id"] == cells["post_id"]
        assert row["text"] == cells["text"]
        assert " ".join(row["tokens"]) == cells["tokens"]
        assert row["rationales"] == json.loads(cells["rationales"])
        assert ("NOT", "OFF")[row["label"]] == cells["label"]
    assert any("\u200d" in row["text"] for row in data)


@pytest.mark.parametrize("streaming", [False, True])
def test_one_split_needs_one_file(sold: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool) -> None:
    pin(monkeypatch, "sold", sold)
    options = {"data_dir": sold, "cache_dir": cache, "streaming": streaming}
    whole = rows(load_dataset("sold", split="test", **options))
    (sold / "SOLD_train.tsv").unlink()
    assert rows(load_dataset("sold", split="test", **options)) == whole
    if not streaming:
        assert len(load_dataset("sold", split="test[:1]+trial", **options)) == 2
    refused = r"^sold: data_dir .*sold lacks SOLD_train.tsv \(one split needs only its own files: split='test'\)$"
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match=refused) as caught:
            load_dataset("sold", **options)
        assert isinstance(caught.value, Refusal)
        with pytest.raises(FileNotFoundError, match="^sold: data_dir .*sold lacks SOLD_train.tsv$"):
            load_dataset("sold", split="train", **options)
        assert rows(load_dataset("sold", split="test", **options)) == whole


def test_other_numbers_of_rows_are_refused(sold: Path, cache: Path) -> None:
    """The files' digests are not known, so a file that lacks rows is told by its counts."""
    assert builder_class("sold").COUNTS["SOLD_test.tsv"] == {"rows": 2500, "NOT": 1485, "OFF": 1015}
    for _ in range(2):
        with pytest.raises(ValueError, match="SOLD_train.tsv: expected rows 7500, .*; found rows 4, NOT 2, OFF 2"):
            load_dataset("sold", data_dir=sold, cache_dir=cache)


def test_square_brackets_in_a_post_are_no_list(sold: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = ("[]", "[ a ]", "[1]", "['a", "[a, b]", "()")
    write(sold, {"SOLD_test.tsv": SOLD_HEADER + "".join(f"{i}\t-\t{cell}\t[]\tNOT\n" for i, cell in enumerate(cells))})
    pin(monkeypatch, "sold", sold)
    data = load_dataset("sold", split="test", data_dir=sold, cache_dir=cache)
    assert [" ".join(row["tokens"]) for row in data] == list(cells)


def row_of(rationales: str, label: str = "OFF", tokens: str = "a b") -> str:
    return SOLD_HEADER + f"1\ta b\ttoken x\t[]\tNOT\n2\ta b\t{tokens}\t{rationales}\t{label}\n"


DAMAGE = {
    "column of the authors' README": (SOLD["SOLD_test.tsv"].replace("rationales", "rationals"), "line 1: .*rationales"),
    "commas for tabs": (SOLD["SOLD_test.tsv"].replace("\t", ","), "line 1: expected the columns"),
    "unknown label": (row_of("[]", "UNK"), "line 3: label: expected one of NOT, OFF; found 'UNK'"),
    "too few marks": (row_of("[1]"), "line 3: rationales: 1 marks for 2 tokens"),
    "lists of another revision": (row_of("[]", tokens="['a', 'b']"), "line 3: tokens: expected words .*; found a list"),
    "not 0 or 1": (row_of("[0, 2]"), "line 3: rationales: expected a list of 0 and 1"),
    "true for 1": (row_of("[0, true]"), "line 3: rationales: expected a list of 0 and 1"),
    "cut list": (row_of("[0, 1"), "line 3: rationales: not readable as JSON"),
    "no list": (row_of("1"), "line 3: rationales: expected a list of 0 and 1"),
    "open quote": (row_of("[]", tokens='"a b'), "line 3: not readable as CSV"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_stops_with_file_and_line(sold: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    content, message = DAMAGE[damage]
    write(sold, {"SOLD_test.tsv": content})
    monkeypatch.setattr(builder_class("sold"), "COUNTS", {name: {} for name in SOLD})
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^sold: SOLD_test.tsv, {message}"):
            load_dataset("sold", data_dir=sold, cache_dir=cache)
    with pytest.raises(ValueError, match=message):
        read_all(load_dataset("sold", data_dir=sold, streaming=True))
