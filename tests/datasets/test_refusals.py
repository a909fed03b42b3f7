"""What is said of files that are missing or damaged: fields, said in the words of whoever reads them."""

import pickle
from pathlib import Path

import pytest
from sources import pin, write

from toxeval.core.refusals import OptionName, Refusal, SetOption, Words
from toxeval.data import load_dataset
from toxeval.sources.builder import MissingFile
from toxeval.sources.reading import DamagedFileError


class OfACommand(Words):
    """As a command would say it."""

    def option(self, option: SetOption) -> str:
        return f"--{option.name.replace('_', '-')} {option.value}"

    def option_name(self, option: OptionName) -> str:
        return f"--{option.name.replace('_', '-')}"


def refusal(name: str, **options: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        load_dataset(name, **options)
    return caught.value


def test_a_command_names_its_own_options(sold: Path, kaggle: Path, cache: Path, tmp_path: Path) -> None:
    (sold / "SOLD_train.tsv").unlink()
    missing = refusal("sold", data_dir=sold, cache_dir=cache)
    assert isinstance(missing, FileNotFoundError)
    said = f"sold: --data-dir {sold} lacks SOLD_train.tsv (one split needs only its own files: --split test)"
    assert missing.text(OfACommand()) == said
    assert (
        refusal("threat_seed", cache_dir=cache).text(OfACommand()).startswith("threat_seed: no --data-dir given (noth")
    )
    for folder in (tmp_path, kaggle):
        for split in (None, "train"):
            text = refusal("sold", split=split, data_dir=folder, cache_dir=cache).text(OfACommand())
            assert "lacks SOLD_train.tsv" in text
            assert "data_" not in text


def test_without_a_network_too(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "conda", conda, base_url="http://127.0.0.1:9/")
    text = refusal("conda", cache_dir=cache).text(OfACommand())
    assert text.startswith("conda: no download: ")
    assert text.endswith("(to do without a network, give your own copy of the source's files as --data-dir)")


def test_they_come_whole_out_of_another_process(sold: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = refusal("threat_seed", cache_dir=cache)
    write(sold, {"SOLD_test.tsv": "text\n"})
    pin(monkeypatch, "sold", write(sold, {}))
    damaged = refusal("sold", data_dir=sold, cache_dir=cache)
    for found, kind in ((missing, MissingFile), (damaged, DamagedFileError)):
        again = pickle.loads(pickle.dumps(found))
        assert type(again) is kind
        assert (str(again), vars(again)) == (str(found), vars(found))
    assert damaged.source == "SOLD_test.tsv"
