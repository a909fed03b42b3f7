"""The benchmarks' data as the harnesses are given them: invented rows, in the sources' files and exported."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from asked import conda_rows, dia_rows, sold_rows
from sources import jigsaw, pin, write

from toxeval.harness.tasks import DATA
from toxeval.hub.export import export


@pytest.fixture(scope="session")
def sources_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The benchmarks' files, a folder each; while the tests run they pass for the known ones."""
    home = tmp_path_factory.mktemp("sources")
    files: Mapping[str, Mapping[str, str | list[dict[str, str]]]] = {
        "sold": {
            "SOLD_train.tsv": sold_rows(range(100, 103)),
            "SOLD_test.tsv": sold_rows(range(31)),
            "SOLD_trial.tsv": sold_rows(range(2)),
        },
        "dia_safety": {"train.json": dia_rows(3), "val.json": dia_rows(4), "test.json": dia_rows(37)},
        "threat_seed": jigsaw(n_test=45),
        "conda": {
            "CONDA_train.csv": conda_rows(range(3), True),
            "CONDA_valid.csv": conda_rows(range(3, 40), True),
            "CONDA_test.csv": conda_rows(range(40, 43), False),
        },
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, contents in files.items():
            pin(patch, name, write(home / name, contents))
        yield home


@pytest.fixture(scope="session")
def data(sources_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as exports: a folder for TOXEVAL_DATA."""
    home = tmp_path_factory.mktemp("data")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of licences
        for folder in sources_folder.iterdir():
            export(folder.name, home / folder.name, config="default", data_dir=folder)
    return home


@pytest.fixture
def in_data(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(DATA, str(data))
    return data
