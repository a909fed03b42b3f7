"""How a folder becomes whole: imports of every form followed and rewritten, and what can't be refused by name."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import toxeval.metrics

from toxeval.hub.flat import flatten
from toxeval.hub.publish import build_space

FILES = {
    "__init__.py": "",
    "small.py": '''\
"""A metric.

from toxeval.core.grid import what_a_docstring_says
"""

import evaluate

from .scores import LABELS


class Small(evaluate.Metric):
    """Small."""
''',
    "scores.py": '''\
"""Scores: ö, so that bytes and characters differ."""

from toxeval.core.labels import (  # a comment that stays
    IGNORE,  # and this one
    encode_labels as encode,
)
import toxeval.core.scoring as scoring; from toxeval import core  # noqa

LABELS = ("ä", IGNORE)


def later() -> str:
    """Imports what it needs when it needs it."""
    from toxeval.core import refusals, state as states
    from toxeval.core.ranking import Curve

    return f"{refusals.__name__} {states.__name__} {Curve.__module__} {scoring.__name__} {encode.__module__}"
''',
    "app.py": '''\
"""Its page."""

from __future__ import annotations

from toxeval.metrics.small.scores import later
from toxeval.page import words
from .scores import LABELS

print(later(), words.__name__, LABELS, __name__)
''',
    "README.md": "The page of ö.\n",
    "requirements.txt": "numpy\n",
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a metric that is found like the others."""
    folder = tmp_path / "metrics" / "small"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(toxeval.metrics, "__path__", [*toxeval.metrics.__path__, str(folder.parent)])
    yield folder
    for name in [name for name in sys.modules if name.startswith("toxeval.metrics.small")]:
        del sys.modules[name]
    vars(toxeval.metrics).pop("small", None)


def test_every_form_of_import(small: Path, tmp_path: Path) -> None:
    flatten("small", tmp_path / "out")
    found = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()}
    scores = found["scores.py"]
    assert scores.startswith('"""Scores: ö, so that bytes and characters differ."""\n')
    assert "from .labels import (  # a comment that stays\n    IGNORE,  # and this one\n" in scores
    assert "from . import scoring; from . import core  # noqa\n" in scores
    assert "    from . import refusals\n    from . import state as states\n    from .ranking import Curve\n" in scores
    assert (
        "from space.scores import later\nfrom space import page_words as words\nfrom space.scores import"
        in (found["app.py"])
    )
    assert found["page_words.py"].count("from .") == 2
    assert found["README.md"] == FILES["README.md"]
    for name, text in found.items():
        assert "import toxeval" not in text
        assert name == "small.py" or "from toxeval" not in text
        if name.endswith(".py"):
            ast.parse(text)
    # within core nothing has to change
    labels = Path(toxeval.__file__).with_name("core").joinpath("labels.py").read_text(encoding="utf-8")
    assert found["labels.py"] == labels


def test_the_script_names_what_the_others_need(small: Path, tmp_path: Path) -> None:
    flatten("small", tmp_path / "out")
    script = (tmp_path / "out" / "small.py").read_text(encoding="utf-8")
    imports = [line for line in script.splitlines() if line.startswith("from .")]
    assert imports[0] == "from .scores import LABELS"
    needed = [line.split()[1][1:] for line in imports[1:]]
    assert imports[1:] == [f"from .{name} import __name__ as _" for name in sorted(needed)]
    assert {"core", "containers", "labels", "ranking", "refusals", "scoring", "state"} <= set(needed)
    assert not {"small", "scores", "app", "page_words"} & set(needed)
    assert script.index("import LABELS") < script.index("# evaluate.load fetches") < script.index("class Small")


def test_the_page_runs_wherever_the_folder_is(small: Path, tmp_path: Path) -> None:
    home = tmp_path / "a b-c" / "1 Space"
    home.parent.mkdir()
    flatten("small", home)
    for code in (["app.py"], ["-c", "import app"]):
        run = subprocess.run([sys.executable, *code], cwd=home, capture_output=True, encoding="utf-8")
        assert run.returncode == 0, run.stderr
        *modules, label, ignore, name = run.stdout.split()
        assert modules == [
            f"space.{each}" for each in ("refusals", "state", "ranking", "scoring", "labels", "page_words")
        ]
        assert (label, ignore) == ("('ä',", "-100)")
        assert name == ("__main__" if code == ["app.py"] else "app")


def write(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8") and None


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            write("scores.py", "\nimport toxeval.core.labels\n"),
            "small.scores, line 2: import toxeval.core.labels; allow",
        ),
        (write("scores.py", "import toxeval as t\n"), "small.scores, line 1: import toxeval; allowed: from ... import"),
        (write("scores.py", "from toxeval import load\n"), "small.scores, line 1: load from toxeval; allowed: its mod"),
        (write("labels.py", "from toxeval.core import labels\n"), "small.labels and toxeval.core.labels would both be"),
        (write("json.py", ""), "toxeval.metrics.small.json would be json.py, which hides Python's own json"),
    ],
)
def test_what_cannot_be_flat(small: Path, tmp_path: Path, spoil: Callable[[Path], None], message: str) -> None:
    spoil(small)
    with pytest.raises(ValueError, match=f"^toxeval.publish: .*{message}"):
        flatten("small", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_module_that_is_not_there(small: Path, tmp_path: Path) -> None:
    (small / "scores.py").write_text("from .nothing import x\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="toxeval.metrics.small.nothing"):
        flatten("small", tmp_path / "out")


def test_examples_load_from_the_hub(small: Path, tmp_path: Path) -> None:
    (small / "README.md").write_text('evaluate.load("metrics/small")', encoding="utf-8")
    build_space("small", "jane/small", tmp_path / "out")
    assert (tmp_path / "out" / "README.md").read_text(encoding="utf-8") == 'evaluate.load("jane/small")'
    assert "Apache License" in (tmp_path / "out" / "LICENSE").read_text(encoding="utf-8")
