"""The dataset cards: their front matter and figures hold, and their example runs."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from sources import CONDA, DIA, REPLIES, SOLD, jigsaw, pin, write

from toxeval.data import DATASETS, builder_class, load_dataset
from toxeval.hub.export import card_path

PAIRED = {"conda": "conda_joint", "sold": "sold_macro_f1", "dia_safety": "dia_safety_rate", "threat_seed": "threat_f1"}
LABEL_TUPLES = {
    "conda": ("INTENTS", "SLOTS"),
    "sold": ("LABELS",),
    "dia_safety": ("LABELS", "CATEGORIES"),
    "threat_seed": ("LABELS",),
}
SECTIONS = ["How to load", "Splits", "Fields", "What to know before using it", "Dataset card example", "Citation"]


def card(name: str) -> tuple[dict[str, Any], str]:
    _, front, body = card_path(name).read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def section(body: str, title: str) -> str:
    return body.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize("name", DATASETS)
def test_front_matter_and_sections(name: str) -> None:
    front, body = card(name)
    assert set(front) == {"pretty_name", "language", "license", "task_categories", "size_categories", "tags"}
    assert re.findall(r"^## (.*)$", body, re.MULTILINE) == SECTIONS
    assert f"`{PAIRED[name]}`" in body
    assert front["license"] == {"dia_safety": "apache-2.0", "threat_seed": "cc-by-sa-3.0"}.get(name, "unknown")


@pytest.mark.parametrize("name", DATASETS)
def test_the_pins_are_those_of_the_script(name: str) -> None:
    body = card(name)[1]
    script = import_module(f"toxeval.datasets_scripts.{name}.{name}")
    for pin_name in ("COMMIT", "REVISION"):
        if hasattr(script, pin_name):
            assert f"`{getattr(script, pin_name)}`" in body
    for file, source in builder_class(name).FILES.items():
        if source.sha256 is not None and not source.path.startswith("generations/"):
            assert f"| `{file}` | {source.split} | {source.size} | `{source.sha256}` |" in body


@pytest.mark.parametrize("name", DATASETS)
def test_each_field_is_in_the_card(name: str, tmp_path: Path) -> None:
    fields = section(card(name)[1], "Fields")
    for config in builder_class(name).builder_configs:
        info = builder_class(name)(config_name=config, cache_dir=str(tmp_path)).info
        for field in info.features:
            assert f"`{field}`" in fields


@pytest.mark.parametrize("name", DATASETS)
def test_label_tuples_are_those_of_the_metric(name: str) -> None:
    metric = import_module(f"toxeval.metrics.{PAIRED[name]}.scores")
    script = import_module(f"toxeval.datasets_scripts.{name}.{name}")
    for labels in LABEL_TUPLES[name]:
        assert getattr(metric, labels) == getattr(script, labels)


def test_the_counts_of_conda(shared: Path, tmp_path: Path) -> None:
    splits = section(card("conda")[1], "Splits")
    data = load_dataset("conda", data_dir=shared / "data" / "conda", cache_dir=tmp_path)
    both = [data["train"], data["validation"]]
    for field, feature in (("intent", both[0].features["intent"]), ("slot", both[0].features["slots"].feature)):
        column = "slots" if field == "slot" else field
        for label in feature.names:
            number = feature.str2int(label)
            counts = [
                sum(value == number for row in split[column] for value in (row if field == "slot" else [row]))
                for split in both
            ]
            assert re.search(rf"^\| {field} {label}, [^|]*\| {counts[0]} \| {counts[1]} \| \|$", splits, re.MULTILINE)
    assert f"| utterances | {len(both[0])} | {len(both[1])} | {len(data['test'])} |" in splits
    different = [sum(len(r["utterance"].split()) != len(r["tokens"]) for r in split) for split in both]
    assert f"{different[0]:,} train and {different[1]} validation" in card("conda")[1]


def test_the_counts_of_dia_safety(shared: Path, tmp_path: Path) -> None:
    splits = section(card("dia_safety")[1], "Splits")
    data = load_dataset("dia_safety", data_dir=shared / "data" / "diasafety", cache_dir=tmp_path)
    category, label = data["train"].features["category"], data["train"].features["label"]
    cells: dict[str, list[str]] = {"all": []}
    for split in data.values():
        counts = Counter((category.int2str(row["category"]), label.int2str(row["label"])) for row in split)
        for each in category.names:
            cells.setdefault(each, []).append(f"{counts[each, 'Safe']} / {counts[each, 'Unsafe']}")
        both = [sum(counts[each, kind] for each in category.names) for kind in ("Safe", "Unsafe")]
        cells["all"].append(f"{both[0]} / {both[1]}")
    for each, row in cells.items():
        assert f"| {each} | {' | '.join(row)} |" in splits


def example(name: str) -> str:
    (code,) = re.findall(r"```python\n(.*?)```", section(card(name)[1], "Dataset card example"), re.DOTALL)
    return code


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run the example as it stands in the card; what it prints."""
    exec(compile(example(name), f"{name}/README.md", "exec"), {"__name__": "card"})
    return capsys.readouterr().out


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", DATASETS)
def test_the_example_runs_on_the_invented_files(
    name: str, site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"conda": CONDA, "sold": SOLD, "dia_safety": {**DIA, **REPLIES}, "threat_seed": jigsaw()}[name]
    folder = write(tmp_path / "jigsaw", files)
    cls = builder_class(name)
    if name == "dia_safety":
        for file, source in cls.FILES.items():
            if source.path.startswith("generations/"):
                write(folder, {file: REPLIES["dialo_test_medium_10_1.0.json"]})
    pin(monkeypatch, name, folder, base_url=site.url if cls.BASE_URL else None)
    site.files.update({f"/{source.path}": (folder / file).read_bytes() for file, source in cls.FILES.items()})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("datasets.config.DOWNLOADED_DATASETS_PATH", tmp_path / "cache" / "downloads")
    assert re.search(r"\w+ [01]\.\d{3}", run(name, capsys))


@pytest.mark.slow
def test_the_example_runs_on_the_real_conda(
    shared: Path, site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve_real("conda", shared / "data" / "conda", site, tmp_path, monkeypatch)
    scores = {key: float(value) for key, value in re.findall(r"(\w+) ([01]\.\d{3})", run("conda", capsys))}
    assert set(scores) == {"uca", "t_f1", "jsa"}
    assert scores["t_f1"] > 0.95, "the slots are a look-up"


def test_the_example_runs_on_the_real_dia_safety(
    shared: Path, site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the two files of replies that are here; the others are not asked for."""
    serve_real("dia_safety", shared / "data" / "diasafety", site, tmp_path, monkeypatch)
    here = {
        file: source for file, source in builder_class("dia_safety").FILES.items() if f"/{source.path}" in site.files
    }
    monkeypatch.setattr(builder_class("dia_safety"), "FILES", here)
    script = import_module("toxeval.datasets_scripts.dia_safety.dia_safety")
    monkeypatch.setattr(script, "GENERATIONS", {file: () for file in script.GENERATIONS if file in here})
    out = run("dia_safety", capsys)
    assert re.search(r"f1_macro 0\.[5-7]\d\d, by category 0\.[5-7]\d\d\n.*classifier: 0\.\d{3}\n", out)


def serve_real(name: str, folder: Path, site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cls = builder_class(name)
    for file, source in cls.FILES.items():
        for path in (folder / file, folder / "generations" / file):
            if path.is_file():
                site.files[f"/{source.path}"] = path.read_bytes()
    monkeypatch.setattr(cls, "BASE_URL", site.url)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("datasets.config.DOWNLOADED_DATASETS_PATH", tmp_path / "cache" / "downloads")
