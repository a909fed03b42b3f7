"""The folders as classic loading scripts of `datasets` 2 and 3, and what such a folder must keep to."""

import ast
import inspect
import shutil
from pathlib import Path
from typing import Any

import datasets
import pytest
from sources import pin, read_all

from toxeval.data import DATASETS, builder_class, load_dataset, make_builder

OLD = int(datasets.__version__.split(".")[0]) < 4
needs_old = pytest.mark.skipif(not OLD, reason="datasets 4 and later run no loading scripts")


def classic(checkout: Path, name: str, config: str | None = None, **options: Any) -> Any:
    folder = str(checkout / "datasets_scripts" / name)
    return datasets.load_dataset(folder, config, trust_remote_code=True, **options)


@needs_old
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DATASETS)
def test_script_and_builder_give_the_same(
    checkout: Path, conda: Path, sold: Path, dia: Path, kaggle: Path, cache: Path, name: str
) -> None:
    folder = str(dict(zip(DATASETS, (conda, sold, dia, kaggle)))[name])
    for config in builder_class(name).builder_configs:
        options = {"data_dir": folder, "cache_dir": str(cache), "verification_mode": "no_checks"}
        by_script = classic(checkout, name, config, **options)
        by_builder = load_dataset(name, config, **options)
        assert read_all(by_script) == read_all(by_builder)
        for split in by_builder:
            assert by_script[split].features == by_builder[split].features


@needs_old
@pytest.mark.parametrize(("name", "place"), [("conda", "conda"), ("dia_safety", "diasafety")])
def test_real_files_by_script(shared: Path, checkout: Path, cache: Path, name: str, place: str) -> None:
    folder = str(shared / "data" / place)
    for config in builder_class(name).builder_configs:
        by_script = classic(checkout, name, config, data_dir=folder, cache_dir=str(cache))
        by_builder = load_dataset(name, config, data_dir=folder, cache_dir=cache)
        for split in by_builder:
            assert by_script[split].data.table.equals(by_builder[split].data.table)


@needs_old
@pytest.mark.filterwarnings("ignore")
def test_a_script_alone_with_a_relative_folder_options_and_stream(
    checkout: Path, kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kaggle.parent)
    options = {"data_dir": "jigsaw", "seed": 5, "percentage": 9, "cache_dir": str(cache)}
    with pytest.raises(ValueError, match="expected rows 159571, threats 478; found rows 400, threats 40"):
        classic(checkout, "threat_seed", **options)
    by_script = classic(checkout, "threat_seed", verification_mode="no_checks", **options)
    pin(monkeypatch, "threat_seed", kaggle)
    assert read_all(by_script) == read_all(load_dataset("threat_seed", **options))
    with pytest.raises(ValueError, match="found rows 400"):
        read_all(classic(checkout, "threat_seed", streaming=True, **options))


@needs_old
@pytest.mark.filterwarnings("ignore")
def test_where_the_package_cannot_be_written_to_the_script_is_copied(
    kaggle: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls = builder_class("threat_seed")
    package = cls.__module__

    def refuse_lock(builder: Any) -> None:
        if type(builder).__module__ == package:
            raise PermissionError("no lock file here")

    monkeypatch.setattr("datasets.builder.extend_dataset_builder_for_streaming", refuse_lock)
    builder = make_builder("threat_seed", None, data_dir=kaggle, data_files=None, cache_dir=cache, options={"seed": 4})
    assert type(builder).__module__.startswith("datasets_modules.")
    assert builder.config.seed == 4
    assert builder.own_files["train.csv"] == str(kaggle / "train.csv")


@pytest.mark.parametrize("name", DATASETS)
def test_the_script_imports_each_file_it_needs(checkout: Path, name: str) -> None:
    """Only the main script's own imports are fetched with it, and only lines `from .file import ...` at column 0."""
    folder = checkout / "datasets_scripts" / name
    local = {
        path.stem: {
            node.module
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.level == 1
        }
        for path in folder.glob("*.py")
    }
    needed = set.union(*local.values())
    assert local[name] == needed
    assert needed == set(local) - {name, "__init__"}
    lines = (folder / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("from .") and " import " in line for line in lines) == len(needed)


def test_the_fingerprint_covers_all_code_that_rows_depend_on(
    checkout: Path, kaggle: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script, what lies beside it, and what the loaders share: else the cache would keep the rows of older code."""

    def fingerprint() -> str:
        options = {"data_dir": kaggle, "data_files": None, "cache_dir": cache, "options": {}}
        return str(make_builder("threat_seed", None, **options).hash)

    import toxeval.sources.builder as shared

    homes = {"script": checkout / "datasets_scripts" / "threat_seed", "shared": Path(shared.__file__).parent}
    copies = {name: shutil.copytree(home, tmp_path / name) for name, home in homes.items()}
    monkeypatch.setattr(
        inspect.getmodule(builder_class("threat_seed")), "__file__", copies["script"] / "threat_seed.py"
    )
    monkeypatch.setattr(shared, "__file__", copies["shared"] / "builder.py")
    found = {fingerprint()}
    for file in (copies["script"] / "folds.py", copies["script"] / "threat_seed.py", copies["shared"] / "reading.py"):
        with file.open("a") as stream:
            stream.write("# changed\n")
        found.add(fingerprint())
    assert len(found) == 4
