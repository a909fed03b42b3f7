"""The threat Seed: the rows both fold algorithms must pick, the join by id, and every way to be damaged."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold
from sources import jigsaw, kinds, pin, read_all, rows, write
from toxeval.datasets_scripts.threat_seed.folds import seed_rows

from toxeval.data import load_dataset

ALGORITHMS = {"sklearn-0.21": "sklearn_0.21.3_pinned_by_repo", "sklearn-0.22": "sklearn_ge_0.22"}


@st.composite
def label_columns(draw: st.DrawFn) -> np.ndarray:
    """Binary labels in any proportion, the larger class with 100 rows or more, in any order."""
    n = draw(st.integers(200, 1500))
    n_threats = draw(st.integers(0, n // 2))
    labels = np.zeros(n, dtype=int)
    labels[:n_threats] = 1
    np.random.default_rng(draw(st.integers(0, 999))).shuffle(labels)
    return 1 - labels if draw(st.booleans()) else labels


@given(labels=label_columns(), seed=st.integers(0, 2**32 - 1), percentage=st.integers(1, 100))
def test_folds_022_are_those_of_the_installed_scikit_learn(labels: np.ndarray, seed: int, percentage: int) -> None:
    folds = StratifiedKFold(100, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer than 100 rows
        tests = [test for _, test in folds.split(np.zeros(len(labels)), labels)]
    chosen = seed_rows(labels, seed=seed, percentage=percentage, split_algorithm="sklearn-0.22")
    assert chosen.tolist() == np.concatenate(tests[:percentage]).tolist()


@given(labels=label_columns(), seed=st.integers(0, 2**32 - 1))
def test_folds_021_against_a_plain_reading_of_the_algorithm(labels: np.ndarray, seed: int) -> None:
    """One generator over the classes; class members, shuffled, cut into 100 runs that differ by one at most."""
    generator = np.random.RandomState(seed)
    fold_of: dict[int, int] = {}
    for label in sorted(set(labels.tolist())):
        members = [row for row in range(len(labels)) if labels[row] == label]
        places = np.arange(max(len(members), 100))
        generator.shuffle(places)
        queue = places.tolist()
        for fold in range(100):
            length = len(places) // 100 + (fold < len(places) % 100)
            taken, queue = queue[:length], queue[length:]
            fold_of.update({members[place]: fold for place in taken if place < len(members)})
    expected = [row for fold in range(5) for row in range(len(labels)) if fold_of[row] == fold]
    assert seed_rows(labels, seed=seed, percentage=5, split_algorithm="sklearn-0.21").tolist() == expected


@pytest.mark.parametrize("split_algorithm", ALGORITHMS)
def test_sizes_on_the_scale_of_the_real_file(split_algorithm: str) -> None:
    labels = np.zeros(159571, dtype=int)
    labels[::333][:478] = 1
    labels[np.flatnonzero(labels == 0)[: 478 - labels.sum()]] = 1
    chosen = seed_rows(labels, seed=20200303, percentage=5, split_algorithm=split_algorithm)
    assert len(chosen) == len(set(chosen.tolist())) == 7980
    assert labels[chosen].sum() == 25


def test_all_folds_are_all_rows_once() -> None:
    labels = np.array([0] * 300 + [1] * 40)
    for split_algorithm in ALGORITHMS:
        chosen = seed_rows(labels, seed=1, percentage=100, split_algorithm=split_algorithm)
        assert sorted(chosen.tolist()) == list(range(340))


@pytest.mark.filterwarnings("ignore:threat_seed. test_labels.csv")
@pytest.mark.parametrize("split_algorithm", ALGORITHMS)
def test_the_ids_of_the_synthetic_folder(shipped: Path, tmp_path: Path, split_algorithm: str) -> None:
    folder = shipped / "threat_seed"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with pytest.warns(UserWarning, match="expected rows 159571, threats 478; found rows 6000, threats 250"):
        data = load_dataset(
            "threat_seed",
            data_dir=folder,
            cache_dir=tmp_path,
            split_algorithm=split_algorithm,
            verification_mode="no_checks",
        )
    known = expected[ALGORITHMS[split_algorithm]]
    assert list(data["train"]["id"]) == known["ids"]
    assert sum(data["train"]["label"]) == known["threat"]
    assert len(data["test"]) == expected["test_labelled"]
    assert sum(data["test"]["label"]) == expected["test_threat"]


@pytest.mark.filterwarnings("ignore:threat_seed. test_labels.csv")
def test_the_texts_of_the_synthetic_folder(shipped: Path, tmp_path: Path) -> None:
    folder = shipped / "threat_seed"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["preprocessed_examples"]
    with pytest.warns(UserWarning, match="found rows 6000"):
        data = load_dataset(
            "threat_seed",
            split="train",
            data_dir=folder,
            cache_dir=tmp_path,
            percentage=100,
            verification_mode="no_checks",
        )
    assert len(data) == 6000
    texts = dict(zip(data["id"], data["text"]))
    assert {row_id: texts[row_id] for row_id in expected} == expected


@pytest.mark.parametrize("streaming", [False, True])
def test_every_row_of_the_invented_folder(
    kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    pin(monkeypatch, "threat_seed", kaggle)
    data = load_dataset("threat_seed", data_dir=kaggle, cache_dir=cache, percentage=100, streaming=streaming)
    assert kinds(data["train"].features) == {"id": "string", "text": "string", "label": ("non-threat", "threat")}
    texts = ['say "hello", friend', "two lines here", "all good now", "", "fine by me"]
    train = {
        f"a{i:04x}": (f"{texts[i % 5]} {'I will find you' if i % 10 == 0 else ''}".strip(), int(i % 10 == 0))
        for i in range(400)
    }
    assert {row["id"]: (row["text"], row["label"]) for row in data["train"]} == train
    assert rows(data["test"]) == [
        {"id": f"b{i:04x}", "text": f"{texts[i % 5]} number {i}".strip(), "label": int(i % 10 == 0)}
        for i in range(30)
        if i % 3 != 2
    ]


def test_the_options_choose_the_rows(kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "threat_seed", kaggle)
    labels = np.array([int(i % 10 == 0) for i in range(400)])

    def ids(**options: object) -> list[str]:
        return list(load_dataset("threat_seed", split="train", data_dir=kaggle, cache_dir=cache, **options)["id"])

    for options in (
        {},
        {"seed": 20200304},
        {"percentage": 12},
        {"split_algorithm": "sklearn-0.22"},
        {"seed": 7, "percentage": 1},
    ):
        chosen = {"seed": 20200303, "percentage": 5, "split_algorithm": "sklearn-0.21", **options}
        assert ids(**options) == [f"a{row:04x}" for row in seed_rows(labels, **chosen)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"percentage": 0}, "percentage is a whole number from 1 to 100; found 0"),
        ({"percentage": 101}, "percentage is a whole number from 1 to 100; found 101"),
        ({"percentage": 2.5}, "percentage is a whole number from 1 to 100; found 2.5"),
        ({"percentage": True}, "percentage is a whole number from 1 to 100; found True"),
        ({"seed": -1}, "seed is a whole number from 0 to 4294967295; found -1"),
        (
            {"split_algorithm": "sklearn-1.9"},
            "unknown split_algorithm 'sklearn-1.9'; allowed: sklearn-0.21, sklearn-0.22",
        ),
    ],
)
def test_options_out_of_range(kaggle: Path, cache: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_dataset("threat_seed", data_dir=kaggle, cache_dir=cache, **options)


def test_too_few_rows_for_the_folds(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path, jigsaw(n=100))
    pin(monkeypatch, "threat_seed", folder)
    with pytest.raises(ValueError, match="100 stratified folds need 100 rows of one class; the larger has 90"):
        load_dataset("threat_seed", data_dir=folder, cache_dir=cache)


def test_without_data_dir_the_error_says_where_to_get_the_files(kaggle: Path, cache: Path) -> None:
    for streaming in (False, True):
        with pytest.raises(FileNotFoundError, match='no data_dir given.*"Toxic Comment Classification Challenge"'):
            load_dataset("threat_seed", cache_dir=cache, streaming=streaming)
    (kaggle / "test_labels.csv").unlink()
    with pytest.raises(FileNotFoundError, match="lacks test_labels.csv.*Toxic Comment Classification Challenge"):
        load_dataset("threat_seed", data_dir=kaggle, cache_dir=cache)
    with pytest.raises(FileNotFoundError, match="needs both test.csv and test_labels.csv"):
        load_dataset("threat_seed", data_files=[kaggle / "test.csv"], cache_dir=cache)


def test_one_split_needs_its_files(kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "threat_seed", kaggle)
    test = rows(load_dataset("threat_seed", split="test", data_dir=kaggle, cache_dir=cache))
    (kaggle / "train.csv").unlink()
    assert rows(load_dataset("threat_seed", split="test", data_dir=kaggle, cache_dir=cache)) == test
    (kaggle / "test_labels.csv").unlink()
    with pytest.raises(FileNotFoundError, match="lacks test_labels.csv"):
        load_dataset("threat_seed", split="test", data_dir=kaggle, cache_dir=cache)


def test_only_the_seed(kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "threat_seed", kaggle)
    assert list(load_dataset("threat_seed", data_files=kaggle / "train.csv", cache_dir=cache)) == ["train"]


def test_a_shortened_file_is_refused(kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "threat_seed", kaggle)
    write(kaggle, {"train.csv": jigsaw(n=390)["train.csv"]})
    for _ in range(2):
        with pytest.raises(ValueError, match="train.csv: expected rows 400, threats 40; found rows 390, threats 39"):
            load_dataset("threat_seed", data_dir=kaggle, cache_dir=cache)


FOLDER = jigsaw()
DAMAGE = {
    "a column less": ("train.csv", FOLDER["train.csv"].replace(",threat", "", 1), "line 1: .*missing: threat"),
    "unknown label": (
        "train.csv",
        FOLDER["train.csv"].replace("0,0,0,1,0,0", "0,0,0,2,0,0", 1),
        "line 2: threat: .*'2'",
    ),
    "unlabelled train row": (
        "train.csv",
        re.sub("0,0,0,1,0,0", "-1,-1,-1,-1,-1,-1", FOLDER["train.csv"], count=1),
        "line 2: toxic",
    ),
    "label after a comment of two lines": (
        "train.csv",
        FOLDER["train.csv"].replace("0,0,0,0,0,0", "0,0,0,0,0,x", 3).replace("0,0,0,0,0,x", "0,0,0,0,0,0", 2),
        "line 6: identity_hate: .*found 'x'",
    ),
    "open quote": ("test.csv", FOLDER["test.csv"] + 'b001e,"and then', "not readable as CSV: unexpected end"),
    "test row without labels": (
        "test.csv",
        FOLDER["test.csv"] + "zz,hello\n",
        "this id was there before, or is not in",
    ),
    "test row twice": ("test.csv", FOLDER["test.csv"] + "b0000,hello\n", "this id was there before"),
    "test rows lost": ("test.csv", FOLDER["test.csv"][: FOLDER["test.csv"].index("b001c")], "2 ids of test_labels.csv"),
    "labels twice": (
        "test_labels.csv",
        FOLDER["test_labels.csv"] + "b0000,0,0,0,0,0,0\n",
        "line 32: this id was there",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_stops_with_file_and_line(
    kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    file, content, message = DAMAGE[damage]
    pin(monkeypatch, "threat_seed", kaggle)
    write(kaggle, {file: content})
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^threat_seed: {file}, line \\d+: ") as caught:
            load_dataset("threat_seed", data_dir=kaggle, cache_dir=cache)
        assert re.search(message, str(caught.value))
        assert not any(text in str(caught.value) for text in ("hello", "friend", "fine", "and then"))
    with pytest.raises(ValueError, match=message):
        read_all(load_dataset("threat_seed", data_dir=kaggle, streaming=True))
