"""Exported folders give the same rows and types through plain `load_dataset`, in this version and in the others."""

import warnings
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
import yaml
from sources import kinds, pin, read_all, rows, write

from toxeval.data import DATASETS, builder_class, load_dataset
from toxeval.hub.export import export

SHARED_FOLDERS = {"conda": "conda", "dia_safety": "diasafety"}


@pytest.fixture
def folders(conda: Path, sold: Path, dia: Path, kaggle: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    found = dict(zip(DATASETS, (conda, sold, dia, kaggle)))
    for name, folder in found.items():
        pin(monkeypatch, name, folder)
    return found


def front_matter(folder: Path) -> dict[str, Any]:
    _, front, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front)


@pytest.mark.filterwarnings("ignore:toxeval.export. the source of")
@pytest.mark.parametrize("name", DATASETS)
def test_the_same_rows_and_types(folders: dict[str, Path], tmp_path: Path, cache: Path, name: str) -> None:
    out = export(name, tmp_path / "out", data_dir=folders[name], cache_dir=cache)
    for config in builder_class(name).builder_configs:
        built = load_dataset(name, config, data_dir=folders[name], cache_dir=cache)
        plain = datasets.load_dataset(str(out), config, cache_dir=str(cache))
        assert list(plain) == list(built)
        assert read_all(plain) == read_all(built)
        for split in built:
            assert kinds(plain[split].features) == kinds(built[split].features)
            assert plain[split].features.arrow_schema.types == built[split].features.arrow_schema.types
            if datasets.__version__ >= "3":
                assert plain[split].features == built[split].features
            stream = datasets.load_dataset(str(out), config, split=split, streaming=True)
            assert rows(stream) == rows(built[split])


@pytest.mark.parametrize("name", [pytest.param("conda", marks=pytest.mark.slow), "dia_safety"])
@pytest.mark.filterwarnings("ignore:toxeval.export. the source of")
def test_the_real_rows(shared: Path, tmp_path: Path, name: str) -> None:
    folder = shared / "data" / SHARED_FOLDERS[name]
    out = export(name, tmp_path / "out", data_dir=folder, cache_dir=tmp_path)
    for config in builder_class(name).builder_configs:
        built = load_dataset(name, config, data_dir=folder, cache_dir=tmp_path)
        plain = datasets.load_dataset(str(out), config, cache_dir=str(tmp_path / "plain"))
        for split in built:
            assert plain[split].data.table.combine_chunks().equals(built[split].data.table.combine_chunks())


@pytest.mark.filterwarnings("ignore:toxeval.export. the source of")
@pytest.mark.parametrize("name", DATASETS)
def test_the_card_says_how_to_read_the_folder(folders: dict[str, Path], tmp_path: Path, cache: Path, name: str) -> None:
    out = export(name, tmp_path / "out", data_dir=folders[name], cache_dir=cache)
    front = front_matter(out)
    assert [config["config_name"] for config in front["configs"]] == list(builder_class(name).builder_configs)
    for config, info in zip(front["configs"], front["dataset_info"]):
        assert config["config_name"] == info["config_name"]
        sizes = {split["name"]: split["num_examples"] for split in info["splits"]}
        for file in config["data_files"]:
            parquet = pq.ParquetFile(out / file["path"])
            assert parquet.metadata.num_rows == sizes[file["split"]]
            assert b"huggingface" not in (parquet.schema_arrow.metadata or {})
        assert not any("list" in feature for feature in info["features"]), "older versions read `sequence` only"
    written = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    named = [file["path"] for config in front["configs"] for file in config["data_files"]]
    assert written == sorted(["README.md", *named])


@pytest.mark.parametrize("name", ["conda", "sold"])
def test_what_must_not_be_uploaded(folders: dict[str, Path], tmp_path: Path, cache: Path, name: str) -> None:
    with pytest.warns(UserWarning, match="states no licence: .* your own use and must not be uploaded") as caught:
        out = export(name, tmp_path / "out", data_dir=folders[name], cache_dir=cache)
    assert len(caught) == 1
    assert set(front_matter(out)) == {"configs", "dataset_info"}
    assert "must not be uploaded" in (out / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "licence"), [("dia_safety", "apache-2.0"), ("threat_seed", "cc-by-sa-3.0")])
def test_what_may_be_passed_on_keeps_its_card(
    folders: dict[str, Path], tmp_path: Path, cache: Path, name: str, licence: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        out = export(name, tmp_path / "out", data_dir=folders[name], cache_dir=cache)
    assert front_matter(out)["license"] == licence
    assert "## Citation" in (out / "README.md").read_text(encoding="utf-8")


def test_one_config_and_options(folders: dict[str, Path], tmp_path: Path, cache: Path) -> None:
    out = export("dia_safety", tmp_path / "one", config="default", data_dir=folders["dia_safety"], cache_dir=cache)
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "default"]
    options = {"data_dir": folders["threat_seed"], "cache_dir": cache, "seed": 5, "percentage": 9}
    out = export("threat_seed", tmp_path / "seed", **options)
    plain = datasets.load_dataset(str(out), split="train", cache_dir=str(cache))
    assert rows(plain) == rows(load_dataset("threat_seed", split="train", **options))


@pytest.mark.filterwarnings("ignore:toxeval.export. the source of")
def test_one_split_needs_one_file(folders: dict[str, Path], tmp_path: Path, cache: Path) -> None:
    whole = export("sold", tmp_path / "whole", split="test", data_dir=folders["sold"], cache_dir=cache)
    for name in ("SOLD_train.tsv", "SOLD_trial.tsv"):
        (folders["sold"] / name).unlink()
    part = export("sold", tmp_path / "part", split="test", data_dir=folders["sold"], cache_dir=cache)
    for out in (whole, part):
        assert [str(path.relative_to(out)) for path in out.rglob("*.parquet")] == ["default/test.parquet"]
        plain = datasets.load_dataset(str(out), cache_dir=str(cache))
        assert read_all(plain) == {
            "test": rows(load_dataset("sold", "default", split="test", data_dir=folders["sold"]))
        }
    with pytest.raises(FileNotFoundError, match=r"lacks SOLD_train.tsv, SOLD_trial.tsv \(.*: split='test'\)"):
        export("sold", tmp_path / "none", data_dir=folders["sold"], cache_dir=cache)
    with pytest.raises(ValueError, match=r"sold \(default\): unknown split 'dev'; allowed: test"):
        export("sold", tmp_path / "none", split="dev", data_dir=folders["sold"], cache_dir=cache)
    assert not (tmp_path / "none").exists()


def test_a_folder_with_something_in_it_is_left_alone(folders: dict[str, Path], tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    export("threat_seed", out, data_dir=folders["threat_seed"], cache_dir=cache)
    before = sorted(out.rglob("*"))
    with pytest.raises(FileExistsError, match="is there already, and not an empty folder"):
        export("threat_seed", out, data_dir=folders["threat_seed"], cache_dir=cache)
    assert sorted(out.rglob("*")) == before


def test_nothing_is_left_after_a_refusal(folders: dict[str, Path], tmp_path: Path, cache: Path) -> None:
    write(folders["dia_safety"], {"plato_base_val.json": "[]"})
    place = tmp_path / "place"
    with pytest.raises(ValueError, match="plato_base_val.json"):
        export("dia_safety", place / "out", data_dir=folders["dia_safety"], cache_dir=cache)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("kaggle", {}, "unknown dataset 'kaggle'; allowed: conda, sold, dia_safety, threat_seed"),
        ("conda", {"config": "contexts"}, "conda: unknown config 'contexts'; allowed: default, context"),
        ("conda", {"seed": 3}, "conda: unknown option seed; allowed: none of its own"),
    ],
)
@pytest.mark.filterwarnings("ignore:toxeval.export. the source of")
def test_unknown_names(tmp_path: Path, name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_dataset(name, cache_dir=tmp_path, **options)
    with pytest.raises(ValueError, match=message):
        export(name, tmp_path / "out", cache_dir=tmp_path, **options)
    assert not (tmp_path / "out").exists()
