"""Downloads from a server on this machine: the right file, the wrong one, none, half of one, and trying again."""

import socket
from pathlib import Path
from typing import Any

import pytest
from sources import CONDA, REPLIES, pin, read_all, write

from toxeval.data import builder_class, load_dataset


@pytest.fixture
def conda_site(site: Any, conda: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    pin(monkeypatch, "conda", conda, base_url=site.url)
    site.serve(conda, "data/")
    return site


def get(cache: Path, **options: Any) -> dict[str, list[dict[str, Any]]]:
    return read_all(load_dataset("conda", cache_dir=cache, **options))


def prepared(cache: Path) -> list[Path]:
    """Whatever a second try could take for finished data."""
    return [path for path in cache.rglob("*") if path.name == "dataset_info.json" or path.suffix == ".arrow"]


def test_the_pinned_addresses() -> None:
    for name, host, version in (
        ("conda", "https://raw.githubusercontent.com/usydnlp/CONDA/", "3fb90675f881079c85c1de1f25df1bf8d521194f/"),
        (
            "dia_safety",
            "https://raw.githubusercontent.com/thu-coai/DiaSafety/",
            "5106a041b1c7e36f30e02a97c44897a7f2057278/",
        ),
        (
            "sold",
            "https://huggingface.co/datasets/sinhala-nlp/SOLD/resolve/",
            "547703301bd4d2ec938e287a6deea7c501e38b12/",
        ),
    ):
        assert host + version == builder_class(name).BASE_URL


def test_the_right_files(conda_site: Any, conda: Path, cache: Path) -> None:
    data = get(cache)
    assert data == get(cache, data_dir=conda)
    assert sorted(conda_site.asked) == [f"/data/{name}" for name in sorted(CONDA)]
    assert get(cache) == data
    assert len(conda_site.asked) == 3, "the second time, nothing is downloaded"


def test_streaming(conda_site: Any, conda: Path, cache: Path) -> None:
    data = get(cache, streaming=True)
    assert data == get(cache, data_dir=conda)
    assert {f"/data/{name}" for name in CONDA} == set(conda_site.asked)
    assert not (cache / "downloads").exists()


def test_context_from_downloads(conda_site: Any, conda: Path, cache: Path) -> None:
    data = read_all(load_dataset("conda", "context", cache_dir=cache))
    assert data == read_all(load_dataset("conda", "context", data_dir=conda, cache_dir=cache))


def test_the_wrong_file_and_then_the_right_one(conda_site: Any, cache: Path) -> None:
    right = conda_site.files["/data/CONDA_valid.csv"]
    conda_site.files["/data/CONDA_valid.csv"] = right.replace(b"mid", b"top", 1)
    refused = (
        rf"CONDA_valid.csv: expected {len(right)} bytes with SHA-256 \w{{64}}; found {len(right)} bytes with SHA-256"
    )
    for _ in range(2):
        with pytest.raises(ValueError, match=refused) as caught:
            get(cache)
        assert f"read from {conda_site.url}data/CONDA_valid.csv" in str(caught.value)
        assert not prepared(cache)
    with pytest.raises(ValueError, match=refused):
        get(cache, streaming=True)
    conda_site.files["/data/CONDA_valid.csv"] = right
    asked = len(conda_site.asked)
    assert len(get(cache)["validation"]) == 2
    assert conda_site.asked[asked:] == ["/data/CONDA_valid.csv"], "only the wrong file is downloaded again"


def test_the_wrong_file_without_checks(conda_site: Any, cache: Path) -> None:
    conda_site.files["/data/CONDA_test.csv"] = conda_site.files["/data/CONDA_test.csv"].replace(b"ez", b"gl")
    with pytest.warns(UserWarning, match="CONDA_test.csv: expected .* found .* without checks"):
        data = get(cache, verification_mode="no_checks")
    assert data["test"][1]["utterance"] == "gl"
    with pytest.raises(ValueError, match="CONDA_test.csv: expected"):
        get(cache)


def test_an_error_page_with_status_200(conda_site: Any, cache: Path) -> None:
    conda_site.files["/data/CONDA_train.csv"] = b"<html><body>Too many requests</body></html>"
    with pytest.raises(ValueError, match="CONDA_train.csv: expected .*looks like a web page"):
        get(cache)


def test_not_found(conda_site: Any, cache: Path) -> None:
    page = conda_site.files.pop("/data/CONDA_test.csv")
    for streaming in (False, True):
        with pytest.raises(FileNotFoundError, match="CONDA_test.csv"):
            get(cache, streaming=streaming)
    assert not prepared(cache)
    conda_site.files["/data/CONDA_test.csv"] = page
    assert len(get(cache)["test"]) == 2


@pytest.mark.parametrize("streaming", [False, True])
def test_no_server(conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, streaming: bool) -> None:
    with socket.socket() as bound:  # to a port where nobody listens
        bound.bind(("127.0.0.1", 0))
        pin(monkeypatch, "conda", conda, base_url=f"http://127.0.0.1:{bound.getsockname()[1]}/")
        with pytest.raises((FileNotFoundError, ConnectionError), match="CONDA_train.csv.* as data_dir") as refused:
            get(cache, streaming=streaming)
    assert str(refused.value).startswith("conda: no download: ")
    assert refused.value.__cause__ is not None
    assert not prepared(cache)
    assert get(cache, data_dir=conda)


def test_errors_of_the_hubs_client_say_how_to_do_without(
    conda: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    httpx = pytest.importorskip("httpx")
    pin(monkeypatch, "conda", conda, base_url="http://127.0.0.1/")
    for error, kind in (
        (httpx.ConnectError("refused"), ConnectionError),
        (TimeoutError(), TimeoutError),
        (OSError(28, "No space left on device"), OSError),
    ):

        def fail(*args: Any, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr("datasets.DownloadManager.download", fail)
        with pytest.raises(kind) as refused:
            get(cache)
        assert ("as data_dir" in str(refused.value)) == (kind is not OSError)


@pytest.mark.parametrize("unsized", [False, True])
def test_a_connection_cut_half_way(conda_site: Any, cache: Path, unsized: bool) -> None:
    """With a length announced, the client notices; without one, half a file looks whole until it is checked."""
    conda_site.cut, conda_site.unsized = {"/data/CONDA_train.csv"}, unsized
    with pytest.raises(Exception, match=r"CONDA_train.csv: expected" if unsized else "(?i)payload|IncompleteRead"):
        get(cache)
    assert not prepared(cache)
    conda_site.cut = set()
    assert len(get(cache)["train"]) == 5


def test_a_file_without_known_digest_is_downloaded_again_after_damage(
    site: Any, sold: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(monkeypatch, "sold", sold, base_url=site.url)
    site.serve(sold)
    right = site.files["/SOLD_train.tsv"]
    damaged = (
        (b"<html>busy</html>", "line 1: .*looks like a web page"),
        (right[: right.rindex(b"\t")], "line 5: expected 5 cells, found 4"),
        (right[: right[:-1].rindex(b"\n") + 1], "expected rows 4, OFF 2; found rows 3, OFF 1"),
    )
    for content, message in damaged:
        site.files["/SOLD_train.tsv"] = content
        with pytest.raises(ValueError, match=f"SOLD_train.tsv(, |: ){message}"):
            load_dataset("sold", cache_dir=cache)
        assert not prepared(cache)
    site.files["/SOLD_train.tsv"] = right
    assert read_all(load_dataset("sold", cache_dir=cache)) == read_all(load_dataset("sold", data_dir=sold))


def test_all_files_of_replies_are_downloaded(
    site: Any, dia: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls = builder_class("dia_safety")
    replies = [name for name, source in cls.FILES.items() if source.path.startswith("generations/")]
    write(dia, {name: [REPLIES["plato_base_val.json"][0]] for name in replies})
    pin(monkeypatch, "dia_safety", dia, base_url=site.url)
    for name, source in cls.FILES.items():
        site.files[f"/{source.path}"] = (dia / name).read_bytes()
    data = load_dataset("dia_safety", "generations", cache_dir=cache)
    assert {split: len(rows) for split, rows in data.items()} == {"validation": 14, "test": 14}
    assert len(site.asked) == 31
    settings = {(row["bot"], row["model_size"], row["top_k"], row["top_p"]) for row in data["test"]}
    assert len(settings) == 14
    assert ("blenderbot", "small", 40, 1.0) in settings
    assert ("plato2", "large", None, None) in settings
