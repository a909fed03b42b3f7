"""DiaSafety: the invented files row by row, the real ones against the json module, and every way to be damaged."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sources import DIA, REPLIES, kinds, pin, read_all, rows, write

from toxeval.data import builder_class, load_dataset

LABELS = ("Safe", "Unsafe")
CATEGORIES = ("Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion")
FILES = {"train": "train.json", "validation": "val.json", "test": "test.json"}


def encoded(row: dict[str, str]) -> dict[str, Any]:
    return {**row, "category": CATEGORIES.index(row["category"]), "label": LABELS.index(row["label"])}


@pytest.mark.parametrize("streaming", [False, True])
def test_every_cell_of_the_invented_files(
    dia: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    pin(monkeypatch, "dia_safety", dia)
    data = load_dataset("dia_safety", data_dir=dia, cache_dir=cache, streaming=streaming)
    assert kinds(data["train"].features) == {
        "context": "string",
        "response": "string",
        "category": CATEGORIES,
        "label": LABELS,
    }
    assert read_all(data) == {split: [encoded(row) for row in DIA[file]] for split, file in FILES.items()}


@pytest.mark.parametrize("streaming", [False, True])
def test_replies_with_the_category_of_their_context(
    dia: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool
) -> None:
    pin(monkeypatch, "dia_safety", dia)
    data = load_dataset("dia_safety", "generations", data_dir=dia, cache_dir=cache, streaming=streaming)
    assert kinds(data["test"].features) == {
        "bot": "string",
        "model_size": "string",
        "top_k": "int32",
        "top_p": "float64",
        "context": "string",
        "responses": ["string"],
        "category": CATEGORIES,
    }
    dialo = {"bot": "dialogpt", "model_size": "medium", "top_k": 10, "top_p": 1.0}
    assert rows(data["test"]) == [
        {**dialo, "context": "I feel  dizzy today. ", "responses": ["ok", "", " no"], "category": 1},
        {**dialo, "context": "Is it raining?", "responses": ["yes", "no", "maybe"], "category": -1},
    ]
    plato = {"bot": "plato2", "model_size": "base", "top_k": None, "top_p": None}
    assert rows(data["validation"]) == [
        {**plato, "context": "My code fails again.", "responses": ["sorry", "oh", "why"], "category": 0}
    ]


def test_the_28_files_of_replies() -> None:
    files = {name: source for name, source in builder_class("dia_safety").FILES.items() if name not in FILES.values()}
    assert len(files) == 28
    assert Counter(source.split for source in files.values()) == {"validation": 14, "test": 14}
    assert files["plato_base_test.json"].path == "generations/plato2_gen/plato_base_test.json"
    assert all(source.split == "test" for name, source in files.items() if "test" in name)


def test_generations_need_the_dataset_for_the_categories(
    dia: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(monkeypatch, "dia_safety", dia)
    replies = dia / "plato_base_val.json"
    with pytest.raises(FileNotFoundError, match="needs val.json, test.json for the categories"):
        load_dataset("dia_safety", "generations", data_files=[replies, dia / "train.json"], cache_dir=cache)
    all_of_it = [replies, *(dia / name for name in DIA)]
    data = load_dataset("dia_safety", "generations", data_files=all_of_it, cache_dir=cache)
    assert list(data) == ["validation"]
    for name in REPLIES:
        (dia / name).unlink()
    with pytest.raises(FileNotFoundError, match="lacks blender_test_large"):
        load_dataset("dia_safety", "generations", data_dir=dia, cache_dir=cache)


def test_replies_of_a_chatbot_of_ones_own(dia: Path, site: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By path; the categories come from the dataset's own files, from the source unless they are named, too."""
    pin(monkeypatch, "dia_safety", dia, base_url=site.url)
    for name, source in builder_class("dia_safety").FILES.items():
        if name in DIA:
            site.files[f"/{source.path}"] = (dia / name).read_bytes()
    mine = write(dia / "mine", {"My bot.v2.json": REPLIES["dialo_test_medium_10_1.0.json"]}) / "My bot.v2.json"
    own = {"bot": "My bot.v2", "model_size": None, "top_k": None, "top_p": None}
    wanted = [
        {**own, "context": "I feel  dizzy today. ", "responses": ["ok", "", " no"], "category": 1},
        {**own, "context": "Is it raining?", "responses": ["yes", "no", "maybe"], "category": -1},
    ]
    data = load_dataset("dia_safety", "generations", data_files=mine, cache_dir=cache)
    assert read_all(data) == {"test": wanted}
    assert len(site.asked) == 3
    site.files.clear()
    listed = {None: [dia / name for name in DIA], "validation": [mine, dia / "plato_base_val.json"]}
    data = read_all(load_dataset("dia_safety", "generations", data_files=listed, cache_dir=cache))
    assert list(data) == ["validation"]
    assert data["validation"][0]["bot"] == "plato2"
    assert data["validation"][1:] == wanted
    with pytest.raises(FileNotFoundError, match="no download: .* as data_files"):
        load_dataset("dia_safety", "generations", data_files=mine, cache_dir=cache / "another")
    with pytest.raises(ValueError, match="no file of this dataset is called My bot.v2.json; the original names are"):
        load_dataset("dia_safety", data_files=mine, cache_dir=cache)
    write(mine.parent, {mine.name: DIA["test.json"]})
    with pytest.raises(ValueError, match="My bot.v2.json, line 2: expected the keys context, gen_response"):
        load_dataset("dia_safety", "generations", data_files=[mine, *(dia / name for name in DIA)], cache_dir=cache)


TRAIN = json.dumps(DIA["train.json"], indent=0)
DAMAGE = {
    "a key renamed": (TRAIN.replace('"label"', '"verdict"', 1), "line 2: expected the keys .*missing: label"),
    "a key less": (TRAIN.replace('"response": "",\n', ""), "line 14: .*found 3, 0 of them unknown; missing: response"),
    "unknown label": (
        TRAIN.replace('"Unsafe"', '"UNK"', 1),
        "line 2: label: expected one of Safe, Unsafe; found 'UNK'",
    ),
    "unknown category": (TRAIN.replace("Risk Ignorance", "Risk Taking", 1), "line 2: category: .*a text of 11 chara"),
    "a number for a text": (TRAIN.replace('""', "3"), "line 14: response: expected a text"),
    "half a character": (TRAIN.replace('""', '"\\ud83d"'), "line 14: response: holds half of a surrogate pair"),
    "null for a label": (TRAIN.replace('"Safe"', "null", 1), "line 8: label: .*found None"),
    "not an object": (TRAIN[:-2] + ",\n3\n]", "line 26: expected an object, found a int"),
    "cut in a text": (TRAIN[: TRAIN.index("Let's")], "line 10: not readable as JSON: Unterminated string"),
    "cut between rows": (TRAIN[: TRAIN.index("},") + 1], "line 7: not readable as JSON: .*found the end of the file"),
    "cut after a comma": (TRAIN[: TRAIN.index("},") + 2], "line 7: not readable as JSON: Expecting value"),
    "an error page": ("<html>\n<body>404</body></html>", "line 1: .*looks like a web page"),
    "empty": ("", "line 1: .*found the end of the file"),
    "twice": (TRAIN + TRAIN, "line 26: text after the end"),
    "one object": (json.dumps(DIA["train.json"][0]), "line 1: not readable as JSON: expected '\\['"),
    "no rows": ("[]", "line 1: not readable as JSON"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_stops_with_file_and_line(dia: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    content, message = DAMAGE[damage]
    write(dia, {"train.json": content})
    pin(monkeypatch, "dia_safety", dia)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^dia_safety: train.json, {message}") as caught:
            load_dataset("dia_safety", data_dir=dia, cache_dir=cache)
        assert not any(text in str(caught.value) for text in ("dizzy", "drive", "code", "Taking"))
    with pytest.raises(ValueError, match=message):
        read_all(load_dataset("dia_safety", data_dir=dia, streaming=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"context": "Hi.", "gen_response": ["a", 3]}], "line 2: gen_response: expected a text; found 3"),
        ([{"context": "Hi.", "gen_response": "a"}], "line 2: gen_response: expected a list of texts"),
        ([{"context": None, "gen_response": ["a"]}], "line 2: context: expected a text"),
        ([{"context": "Hi.", "responses": ["a"]}], "line 2: expected the keys context, gen_response"),
    ],
)
def test_damaged_replies(
    dia: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, content: list[Any], message: str
) -> None:
    write(dia, {"plato_base_val.json": content})
    pin(monkeypatch, "dia_safety", dia)
    with pytest.raises(ValueError, match=f"plato_base_val.json, {message}"):
        load_dataset("dia_safety", "generations", data_dir=dia, cache_dir=cache)


def test_a_context_in_two_categories_stops_the_join(dia: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(dia, {"test.json": [{**DIA["test.json"][1], "category": "Biased Opinion"}]})
    pin(monkeypatch, "dia_safety", dia)
    with pytest.raises(ValueError, match="test.json, line 2: category: the same context has another one elsewhere"):
        load_dataset("dia_safety", "generations", data_dir=dia, cache_dir=cache)


@pytest.mark.parametrize(
    ("split", "n_rows", "safe"), [("train", 9017, 4839), ("validation", 1097, 595), ("test", 1095, 594)]
)
def test_every_real_row_against_the_json_module(
    shared: Path, tmp_path: Path, split: str, n_rows: int, safe: int
) -> None:
    source = json.loads((shared / "data" / "diasafety" / FILES[split]).read_text(encoding="utf-8"))
    data = rows(load_dataset("dia_safety", split=split, data_dir=shared / "data" / "diasafety", cache_dir=tmp_path))
    assert data == [encoded(row) for row in source]
    assert len(data) == n_rows
    assert sum(row["label"] == 0 for row in data) == safe
    if split == "train":
        assert sum(row["response"].startswith(" ") for row in data) == 2298


def test_real_replies_against_the_json_module(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "diasafety"
    data = load_dataset("dia_safety", "generations", data_dir=folder, cache_dir=tmp_path)
    assert list(data) == ["test"]
    categories = {
        " ".join(row["context"].split()): CATEGORIES.index(row["category"])
        for file in FILES.values()
        for row in json.loads((folder / file).read_text(encoding="utf-8"))
    }
    expected = []
    for file, bot in (("blender_test_medium_10_1.0", "blenderbot"), ("dialo_test_medium_10_1.0", "dialogpt")):
        for row in json.loads((folder / "generations" / f"{file}.json").read_text(encoding="utf-8")):
            category = categories.get(" ".join(row["context"].split()), -1)
            expected.append((bot, 10, 1.0, row["context"], row["gen_response"], category))
    names = ("bot", "top_k", "top_p", "context", "responses", "category")
    assert [tuple(row[name] for name in names) for row in data["test"]] == expected
    for bot in ("blenderbot", "dialogpt"):
        one = [row for row in data["test"] if row["bot"] == bot]
        assert len(one) == 1107
        assert sum(row["category"] == -1 for row in one) == 208
        assert all(len(row["responses"]) == 10 for row in one)
