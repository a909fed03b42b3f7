"""CONDA: the invented files row by row, the real ones against the csv module, and every way to be damaged."""

import csv
from pathlib import Path
from typing import Any

import pytest
from sources import CONDA, kinds, pin, read_all, rows, write

from toxeval.data import load_dataset

INTENTS = ("E", "I", "A", "O")
SLOTS = ("T", "S", "C", "D", "P", "O", "SEPA")
FEATURES = {
    "id": "int32",
    "match_id": "int32",
    "conversation_id": "int32",
    "utterance": "string",
    "chat_time": "int32",
    "player_slot": "int32",
    "intent": INTENTS,
    "tokens": ["string"],
    "slots": [SLOTS],
}
COLUMNS = ("id", "match_id", "conversation_id", "utterance", "chat_time", "player_slot", "intent", "tokens", "slots")
TRAIN = [
    (0, 7, 3, "gg wp, all", -12, 0, 2, ["gg", "wp", "all"], [1, 1, 5]),
    (4, 7, 3, "na", 61, 5, 3, ["na"], [5]),
    (2, 7, 3, 'you are "bad" [SEPA] :)', 75, 0, 0, ["you", "are", "bad", "[SEPA]", ":))"], [4, 5, 0, 6, 5]),
    (6, 8, 5, "", 90, 9, 3, [], []),
    (5, 8, 5, "#NAME?", 80, 9, 3, ["#NAME?"], [5]),
]


@pytest.mark.parametrize("streaming", [False, True])
def test_every_cell_of_the_invented_files(
    conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    pin(monkeypatch, "conda", conda)
    data = load_dataset("conda", data_dir=conda, cache_dir=cache, streaming=streaming)
    assert list(data) == ["train", "validation", "test"]
    assert kinds(data["train"].features) == FEATURES
    assert rows(data["train"]) == [dict(zip(COLUMNS, row)) for row in TRAIN]
    assert rows(data["test"])[0] == dict(zip(COLUMNS, (3, 7, 3, "report mid", 70, 2, -1, [], [])))


def test_context_is_built_over_the_union_of_the_files(
    conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(monkeypatch, "conda", conda)
    data = load_dataset("conda", "context", data_dir=conda, cache_dir=cache)
    last = data["train"][1]
    assert last["id"] == 4
    assert last["context_ids"] == [0, 1, 2, 3]
    assert last["context"] == ["gg wp, all", "push mid pls", 'you are "bad" [SEPA] :)', "report mid"]
    assert last["context_player_slots"] == [0, 2, 0, 2]
    assert data["train"][0]["context"] == []
    assert data["validation"][1]["context"] == ["#NAME?", ""]
    plain = load_dataset("conda", data_dir=conda, cache_dir=cache)
    for split in plain:
        assert rows(data[split].select_columns(list(COLUMNS))) == rows(plain[split])


def test_one_split_and_part_of_one(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "conda", conda)
    assert len(load_dataset("conda", split="train[:2]", data_dir=conda, cache_dir=cache)) == 2
    stream = load_dataset("conda", split="validation", data_dir=conda, cache_dir=cache, streaming=True)
    assert [row["id"] for row in stream] == [1, 7]
    with pytest.raises(ValueError, match="dev"):
        load_dataset("conda", split="dev", data_dir=conda, cache_dir=cache)


def test_data_files_build_only_their_splits(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "conda", conda)
    data = load_dataset("conda", data_files=str(conda / "CONDA_valid.csv"), cache_dir=cache)
    assert list(data) == ["validation"]
    data = load_dataset("conda", data_files={"train": [conda / "CONDA_train.csv"]}, cache_dir=cache)
    assert list(data) == ["train"]
    with pytest.raises(ValueError, match="CONDA_train.csv is the split train, not test"):
        load_dataset("conda", data_files={"test": conda / "CONDA_train.csv"}, cache_dir=cache)
    with pytest.raises(ValueError, match="the original names are CONDA_train.csv, CONDA_valid.csv, CONDA_test.csv"):
        load_dataset("conda", data_files=[conda / "mine.csv"], cache_dir=cache)
    with pytest.raises(FileNotFoundError, match="there is no file .*CONDA_test.csv"):
        load_dataset("conda", data_files=[conda / "elsewhere" / "CONDA_test.csv"], cache_dir=cache)
    with pytest.raises(FileNotFoundError, match="context needs all three files; missing: CONDA_train.csv"):
        load_dataset("conda", "context", data_files=[conda / "CONDA_valid.csv"], cache_dir=cache)
    with pytest.raises(ValueError, match="data_dir or data_files, not both"):
        load_dataset("conda", data_dir=conda, data_files=[conda / "CONDA_valid.csv"], cache_dir=cache)


def test_a_missing_split_file_stops(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "conda", conda)
    (conda / "CONDA_test.csv").unlink()
    with pytest.raises(FileNotFoundError, match="lacks CONDA_test.csv"):
        load_dataset("conda", data_dir=conda, cache_dir=cache)


def test_one_split_needs_one_file_but_its_context_all(
    conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(monkeypatch, "conda", conda)
    (conda / "CONDA_train.csv").unlink()
    assert len(load_dataset("conda", split="validation[:1]", data_dir=conda, cache_dir=cache)) == 1
    assert len(load_dataset("conda", split="test+validation", data_dir=conda, cache_dir=cache)) == 4
    with pytest.raises(FileNotFoundError, match="context needs all three files; missing: CONDA_train.csv"):
        load_dataset("conda", "context", split="test", data_dir=conda, cache_dir=cache)
    write(conda / "more", {"CONDA_test.csv": ""})
    with pytest.raises(ValueError, match="data_files: two files are called CONDA_test.csv"):
        load_dataset("conda", data_files=[conda / "CONDA_test.csv", conda / "more" / "CONDA_test.csv"])


def test_a_relative_data_dir_is_the_callers(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "conda", conda)
    monkeypatch.chdir(conda.parent)
    assert len(load_dataset("conda", split="train", data_dir="conda", cache_dir=cache)) == 5


def test_the_layout_of_the_repository_is_known(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "conda", write(tmp_path / "clone" / "data", CONDA))
    assert len(load_dataset("conda", split="test", data_dir=tmp_path / "clone", cache_dir=cache)) == 2


def test_a_changed_file_is_read_anew(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "conda", conda)
    assert load_dataset("conda", split="test", data_dir=conda, cache_dir=cache)[1]["utterance"] == "ez"
    write(conda, {"CONDA_test.csv": CONDA["CONDA_test.csv"].replace(",ez,", ",gl,")})
    pin(monkeypatch, "conda", conda)
    assert load_dataset("conda", split="test", data_dir=conda, cache_dir=cache)[1]["utterance"] == "gl"


def test_not_the_pinned_file(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused with both values; with no_checks a warning, and the result is not served to who wants checks."""
    pin(monkeypatch, "conda", conda)
    write(conda, {"CONDA_test.csv": CONDA["CONDA_test.csv"].replace(",ez,", ",ezz,")})
    refused = r"CONDA_test.csv: expected \d+ bytes with SHA-256 \w{64}; found \d+ bytes with SHA-256 \w{64}; read from"
    for _ in range(2):
        with pytest.raises(ValueError, match=refused):
            load_dataset("conda", data_dir=conda, cache_dir=cache)
    with pytest.warns(UserWarning, match=refused + ".*without checks"):
        data = load_dataset("conda", data_dir=conda, cache_dir=cache, verification_mode="no_checks")
    assert data["test"][1]["utterance"] == "ezz"
    with pytest.raises(ValueError, match=refused):
        load_dataset("conda", data_dir=conda, cache_dir=cache)
    with pytest.warns(UserWarning, match=refused):
        rows(load_dataset("conda", split="test", data_dir=conda, streaming=True, verification_mode="no_checks"))
    with pytest.raises(ValueError, match=refused):
        rows(load_dataset("conda", split="test", data_dir=conda, streaming=True))


TRAIN_FILE = CONDA["CONDA_train.csv"]
DAMAGE = {
    "a column renamed": (
        TRAIN_FILE.replace("slotTokens", "slots", 1),
        "line 1: expected the columns Id.*missing: slotTokens",
    ),
    "a column less": (
        TRAIN_FILE.replace("playerId,", "", 1),
        "line 1: .*found 9, 0 of them unknown; missing: playerId",
    ),
    "columns swapped": (TRAIN_FILE.replace("Id,matchId", "matchId,Id", 1), "line 1: .*in another order"),
    "an error page": ("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "line 1: .*looks like a web page"),
    "empty": ("", "line 1: expected the columns"),
    "only the header": (TRAIN_FILE.split("\r\n")[0] + "\r\n", "line 2: no rows"),
    "unknown intent": (
        TRAIN_FILE.replace(",A,", ",X,", 1),
        "line 2: intentClass: expected one of E, I, A, O; found 'X'",
    ),
    "unknown slot": (TRAIN_FILE.replace("wp (S)", "wp (B-S)", 1), "line 2: slotTokens, slot 1: .*found 'B-S'"),
    "lengths differ": (TRAIN_FILE.replace("S S O", "S S", 1), "line 2: slotTokens has 3 slots and slotClasses 2"),
    "slots differ": (TRAIN_FILE.replace("S S O", "S O S", 1), "line 2: slotTokens has 3 slots and slotClasses 3"),
    "cut in a slot": (TRAIN_FILE[: TRAIN_FILE.rindex(" (O)")] + '"', "line 6: slotTokens: .*before the last"),
    "a piece without slot": (TRAIN_FILE.replace("wp (S)", "wp", 1), "line 2: slotTokens: .*piece 1 is different"),
    "cut in a quote": (TRAIN_FILE[:-1], "line 6: not readable as CSV: unexpected end of data"),
    "cut in a row": (TRAIN_FILE[: TRAIN_FILE.rindex(",nick three,O,O")], "line 6: expected 10 cells, found 6"),
    "a cell more": (TRAIN_FILE.replace("61,5", "61,5,5", 1), "line 3: expected 10 cells, found 11"),
    "not a number": (TRAIN_FILE.replace(",-12,", ",soon after,", 1), "line 2: chatTime: .*a text of 10 characters"),
}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_stops_with_file_and_line(
    conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: str, streaming: bool
) -> None:
    content, message = DAMAGE[damage]
    write(conda, {"CONDA_train.csv": content})
    pin(monkeypatch, "conda", conda)
    for _ in range(2):
        with pytest.raises(ValueError, match=message) as caught:
            read_all(load_dataset("conda", data_dir=conda, cache_dir=cache, streaming=streaming))
        words = str(caught.value)
        assert words.startswith("conda: CONDA_train.csv, line ")
        assert not any(text in words for text in ("nick", "gg wp", "bad", "soon"))
    write(conda, CONDA)
    pin(monkeypatch, "conda", conda)
    assert len(load_dataset("conda", split="train", data_dir=conda, cache_dir=cache)) == 5


def test_not_utf8(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (conda / "CONDA_train.csv").write_bytes(TRAIN_FILE.replace("na,61", "n\u00e9,61").encode("latin-1"))
    pin(monkeypatch, "conda", conda)
    with pytest.raises(ValueError, match="CONDA_train.csv, line 3: not UTF-8: byte 0xe9"):
        load_dataset("conda", data_dir=conda, cache_dir=cache)


def test_an_id_twice_stops_the_context(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(conda, {"CONDA_test.csv": CONDA["CONDA_test.csv"].replace("8,9,6", "4,9,6")})
    pin(monkeypatch, "conda", conda)
    with pytest.raises(ValueError, match="CONDA_test.csv, line 3: Id 4 occurs twice"):
        load_dataset("conda", "context", data_dir=conda, cache_dir=cache)


def source_rows(shared: Path, file: str) -> list[dict[str, str]]:
    with (shared / "data" / "conda" / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


FILES = {"train": "CONDA_train.csv", "validation": "CONDA_valid.csv", "test": "CONDA_test.csv"}
COUNTS = {
    "train": (26921, (3528, 1692, 1719, 19982), (4295, 10036, 4781, 1274, 12000, 56823, 10419), 834),
    "validation": (8974, (1183, 582, 580, 6629), (1469, 3322, 1641, 398, 3936, 18986, 3603), 268),
    "test": (8974, (0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0), 8974),
}


@pytest.mark.parametrize("split", FILES)
def test_every_real_row_against_the_csv_module(shared: Path, real_conda: Any, split: str) -> None:
    read = rows(real_conda[split])
    source = source_rows(shared, FILES[split])
    assert len(read) == len(source)
    for row, cells in zip(read, source):
        assert row["utterance"] == cells["utterance"]
        numbers = [row[name] for name in ("id", "match_id", "conversation_id", "chat_time", "player_slot")]
        assert numbers == [int(cells[n]) for n in ("Id", "matchId", "conversationId", "chatTime", "playerSlot")]
        slots = [SLOTS[slot] for slot in row["slots"]]
        assert slots == cells.get("slotClasses", "").split()
        assert "".join(f"{token} ({slot}), " for token, slot in zip(row["tokens"], slots)) == cells.get(
            "slotTokens", ""
        )
        assert row["intent"] == (INTENTS.index(cells["intentClass"]) if "intentClass" in cells else -1)


@pytest.mark.parametrize("split", FILES)
def test_real_counts(real_conda: Any, split: str) -> None:
    n_rows, intents, slots, without_slots = COUNTS[split]
    data = real_conda[split]
    assert len(data) == n_rows
    assert tuple(list(data["intent"]).count(number) for number in range(4)) == intents
    flat = [slot for row in data["slots"] for slot in row]
    assert tuple(flat.count(number) for number in range(7)) == slots
    assert sum(not row for row in data["slots"]) == without_slots


def test_the_word_na_survives(real_conda: Any) -> None:
    utterances = list(real_conda["train"]["utterance"])
    assert utterances.count("na") > 0
    assert utterances.count("") == 7


@pytest.mark.slow
def test_real_context_against_a_plain_search(shared: Path, tmp_path: Path) -> None:
    data = load_dataset("conda", "context", data_dir=shared / "data" / "conda", cache_dir=tmp_path)
    union = [cells for file in FILES.values() for cells in source_rows(shared, file)]
    talks: dict[str, list[dict[str, str]]] = {}
    for cells in union:
        talks.setdefault(cells["conversationId"], []).append(cells)
    assert len(union) == 44869
    assert len(talks) == 12152
    for split in FILES:
        for row in data[split]:
            others = [c for c in talks[str(row["conversation_id"])] if int(c["Id"]) < row["id"]]
            others.sort(key=lambda cells: int(cells["Id"]))
            assert row["context_ids"] == [int(cells["Id"]) for cells in others]
            assert row["context"] == [cells["utterance"] for cells in others]
            assert row["context_player_slots"] == [int(cells["playerSlot"]) for cells in others]
