"""The benchmarks' data as the harnesses are given them: invented rows, in the sources' files and exported."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest
from asked import conda_rows, dia_rows, sold_rows
from sources import jigsaw, pin, write

from toxeval.harness.tasks import DATA
from toxeval.hub.export import export


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmarks' files, a folder each."""
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
    for name, contents in files.items():
        write(home / name, contents)
    return home


@pytest.fixture
def sources_folder(written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same; while one test runs they pass for the known ones."""
    for folder in written.iterdir():
        pin(monkeypatch, folder.name, folder)
    return written


@pytest.fixture(scope="session")
def data(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as exports: a folder for TOXEVAL_DATA."""
    home = tmp_path_factory.mktemp("data")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # of licences
        for folder in written.iterdir():
            pin(patch, folder.name, folder)
            export(folder.name, home / folder.name, config="default", data_dir=folder)
    return home


@pytest.fixture
def in_data(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(DATA, str(data))
    return data
