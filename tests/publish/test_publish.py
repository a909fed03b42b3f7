"""What is built for the Hub, what is refused before anything is sent, and what arrives there."""

import ast
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest
from hub import Hub, running
from huggingface_hub.errors import HfHubHTTPError

import toxeval
from toxeval.hub.publish import build_space, publish, space_problems

CHECKOUT_METRICS = Path(toxeval.__file__).parent.parent / "metrics"


def imports(script: Path) -> set[tuple[str, str]]:
    """Pairs (library, "") for what comes from elsewhere, and ("", file) for what lies beside the script."""
    found = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name.split(".")[0], "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            library, _, file = ("space." * bool(node.level) + (node.module or "")).rstrip(".").partition(".")
            found |= {("", file or alias.name) if library == "space" else (library, "") for alias in node.names}
    return found


def nowhere(line: str) -> None:
    """Where tests let `publish` tell what it does."""


@pytest.mark.parametrize("name", toxeval.METRICS)
def test_the_folder_is_whole_and_has_no_links(name: str, tmp_path: Path) -> None:
    told: list[str] = []
    out = tmp_path / "space"
    assert publish(name, f"jane/{name}", out=out, tell=told.append) is None
    source = CHECKOUT_METRICS / name
    own = {path.name for path in source.iterdir() if path.is_file() and path.name != "__init__.py"}
    wanted = {path.name for path in out.rglob("*")}
    assert wanted > own | {"LICENSE", "evaluate_module.py", "metric.py", "labels.py"}
    for path in out.iterdir():
        assert not path.is_symlink()
        if path.suffix == ".py":
            assert not {library for library, _ in imports(path) if library == "toxeval"}
            assert {sibling for library, sibling in imports(path) if not library} <= {each[:-3] for each in wanted}
        elif path.name not in ("README.md", "LICENSE"):
            assert path.read_bytes() == (source / path.name).read_bytes()
    card = (out / "README.md").read_text(encoding="utf-8")
    assert f'evaluate.load("jane/{name}"' in card
    assert f'"metrics/{name}"' not in card
    assert told[0].startswith(f"space jane/{name}: {len(wanted)} files, ")
    assert {line.split()[0] for line in told[1:-1]} == wanted
    assert told[-1] == f"not uploaded; it is in {out}"
    with pytest.raises(FileExistsError, match="is there already"):
        publish(name, f"jane/{name}", out=out, tell=told.append)


def test_a_dry_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built_before: None) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told: list[str] = []
    assert publish("threat_f1", "jane/threat_f1", dry_run=True, tell=told.append) is None
    assert told[-1] == "not uploaded"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "repo", "message"),
    [
        ("threat", "jane/threat", "unknown name 'threat'; allowed: conda_joint, "),
        ("threat_f1", "threat_f1", "repo 'threat_f1': not a repository; allowed: owner/name, as your-name/threat_f1"),
        ("threat_f1", "jane/doe/threat_f1", "repo 'jane/doe/threat_f1': not a repository"),
        ("threat_f1", "jane doe/threat_f1", "repo 'jane doe/threat_f1': not a repository"),
        (
            "threat_f1",
            "jane/threats",
            "repo .jane/threats.: evaluate.load would look for threats.py; allowed: jane/threat_f1",
        ),
    ],
)
def test_names(name: str, repo: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^toxeval.publish: {message}"):
        publish(name, repo, dry_run=True, tell=nowhere)


@pytest.mark.parametrize("name", ["conda", "sold"])
def test_data_without_a_licence_stay_at_home(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"the source of {name} states no licence: .* must not be uploaded"):
        publish(name, f"jane/{name}", dataset=True, out=tmp_path / "out", data_dir=tmp_path, tell=nowhere)
    assert list(tmp_path.iterdir()) == []


def edit(file: str, old: str, new: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return spoil


def remove(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


def add(file: str, text: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with (folder / file).open("a") as stream:
            stream.write(text)

    return spoil


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is fit for the Hub."""
    folder = tmp_path_factory.mktemp("built") / "space"
    build_space("threat_f1", "jane/threat_f1", folder)
    before = sorted(folder.rglob("*"))
    assert list(space_problems(folder, "threat_f1")) == []
    assert sorted(folder.rglob("*")) == before
    return folder


@pytest.fixture
def built_before(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`publish` takes a folder that was built before: building takes longest."""
    monkeypatch.setattr("toxeval.hub.publish.build_space", lambda name, repo, folder: shutil.copytree(built, folder))


#: What is spoiled together, and what is then said of each.
SPOILED: list[list[tuple[Callable[[Path], None], str]]] = [
    [(remove("README.md"), "README.md: missing")],
    [(remove("requirements.txt"), "requirements.txt: missing")],
    [(remove("threat_f1.py"), "threat_f1.py: missing")],
    [(remove("LICENSE"), "LICENSE: missing")],
    [
        (edit("README.md", "title:", "titel:"), "README.md: front matter: title is missing"),
        (edit("README.md", "colorTo: ", "colorTo: dark"), "README.md: front matter: colorTo: 'dark"),
        (edit("README.md", "sdk: gradio", "sdk: docker"), "README.md: front matter: sdk: 'docker'; allowed: 'gradio'"),
        (edit("README.md", "sdk_version: 6", "sdk_version: 5"), "is not within gradio"),
        (edit("README.md", "- evaluate", "- evaluation"), "tags must have 'evaluate' and 'metric'"),
        (edit("README.md", "short_description: ", f"short_description: {'x' * 60}"), "longer than 60 characters"),
        (edit("README.md", "license: ", "licence: "), "README.md: front matter: license is missing"),
        (remove("app.py"), "app.py: missing, and the front matter's app_file"),
        (add("labels.py", "\nimport torch\n"), "requirements.txt: torch is imported and torch not required"),
        (add("labels.py", "\nfrom .plots import x\n"), "threat_f1.py: must import .plots too, as labels.py does"),
        (add("threat_f1.py", "TEXT = '''\nimport chainer\n'''\n"), "takes a line of text for an import of chainer"),
    ],
    [
        (edit("README.md", "short_description: ", "description: "), "front matter: short_description is missing"),
        (edit("requirements.txt", ">=1.26,<3", ""), "numpy without a range of versions"),
        (edit("requirements.txt", "scikit-learn", "scikit-lern"), "scipy is imported and scikit-learn not required"),
        (add("requirements.txt", "a b c\n"), "is no requirement"),
        (add("datasets.py", ""), "datasets.py: a file of this name hides the library datasets"),
        (remove("labels.py"), "threat_f1.py: imports .labels, which is not in the folder"),
        (edit("threat_f1.py", "import DEFINITIONS", "import DEFINITIONS  # o"), "comment behind the import of .scores"),
    ],
    [
        (edit("README.md", "---\n", ""), "README.md: no front matter (YAML between two lines of ---)"),
        (add("labels.py", "\nfrom . import plots\n"), "threat_f1.py: must import .plots too, as labels.py does"),
    ],
    [(edit("README.md", "title: ", "title: ["), "README.md: the front matter is no YAML")],
    [(edit("evaluate_module.py", "evaluate.Metric, abc.ABC", "evaluate.Metric"), "takes EvaluateModule for")],
    [
        (
            edit("threat_f1.py", "\n_DESC", "\nfrom .evaluate_module import _StateExchange\n_DESC"),
            "takes _StateExchange for",
        )
    ],
    [(add("scores.py", "\n1 / 0\n"), "threat_f1.py: can't be imported: ZeroDivisionError")],
]


@pytest.mark.parametrize("spoiled", SPOILED, ids=[each[0][1] for each in SPOILED])
def test_a_folder_that_is_not_fit(
    spoiled: list[tuple[Callable[[Path], None], str]], built: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(built, tmp_path / "space")
    for spoil, _ in spoiled:
        spoil(folder)
    said = list(space_problems(folder, "threat_f1"))
    for _, problem in spoiled:
        assert any(problem in each for each in said), problem


def test_nothing_is_sent_of_a_folder_that_is_not_fit(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def build(name: str, repo: str, folder: Path) -> None:
        shutil.copytree(built, folder)
        (folder / "requirements.txt").write_text("numpy\n")

    def send(*args: Any) -> str:
        raise AssertionError("sent")

    monkeypatch.setattr("toxeval.hub.publish.build_space", build)
    monkeypatch.setattr("toxeval.hub.publish.upload", send)
    with pytest.raises(
        ValueError, match=r"threat_f1 is not fit for the Hub:\n- requirements.txt: line 1: numpy without"
    ):
        publish("threat_f1", "jane/threat_f1", tell=nowhere)
    with pytest.raises(ValueError, match="is not fit"):
        publish("threat_f1", "jane/threat_f1", out=tmp_path / "out", tell=nowhere)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A Hub that `huggingface_hub` takes for the one."""
    with running() as hub:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_TOKEN", "hf_invented")
        yield hub


def test_what_is_uploaded_is_the_folder(hub: Hub, built: Path, built_before: None) -> None:
    told: list[str] = []
    wanted = {path.name: path.read_bytes() for path in built.iterdir()}
    publish("threat_f1", "jane/threat_f1", tell=told.append)
    assert hub.repos["space", "jane/threat_f1"] == wanted
    assert hub.created["jane/threat_f1"]["sdk"] == "gradio"
    assert told[-1] == f"uploaded to {hub.endpoint}/spaces/jane/threat_f1"
    assert len(told) == len(wanted) + 2


def test_a_dataset(hub: Hub, shared: Path, tmp_path: Path) -> None:
    publish("dia_safety", "jane/d", dataset=True, data_dir=shared / "data" / "diasafety", tell=nowhere)
    files = hub.repos["dataset", "jane/d"]
    assert "README.md" in files
    for path, content in files.items():
        target = tmp_path / "downloaded" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    data = datasets.load_dataset(str(tmp_path / "downloaded"), "default", cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in data.items()} == {"train": 9017, "validation": 1097, "test": 1095}
    shutil.rmtree(tmp_path / "downloaded")
    with pytest.raises(ValueError, match="unknown name 'threat_f1'; allowed: conda, sold"):
        publish("threat_f1", "jane/d", dataset=True, tell=nowhere)


def test_a_refusal_of_the_hub_comes_through(hub: Hub, monkeypatch: pytest.MonkeyPatch, built_before: None) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"{hub.endpoint}/elsewhere")
    with pytest.raises(HfHubHTTPError):
        publish("threat_f1", "jane/threat_f1", tell=nowhere)
