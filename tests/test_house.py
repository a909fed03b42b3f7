"""Who may import whom, and who may know a metric by its name. CONTRIBUTING.md prints the same table."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import toxeval

ROOT = Path(__file__).resolve().parent.parent
HOMES = {"toxeval": "toxeval", "toxeval.metrics": "metrics", "toxeval.datasets_scripts": "datasets_scripts"}

#: Room -> the rooms it may import, which stand above it.
ROOMS: dict[str, tuple[str, ...]] = {
    "core": (),
    "answers": ("core",),
    "read": ("core",),
    "subtokens": ("core",),
    "evaluate_module": ("core",),
    "metrics/*": ("core", "evaluate_module"),
    "loading": ("core", "evaluate_module", "metrics/*"),
    "sources": ("core",),
    "datasets_scripts/*": ("core", "sources"),
    "data": ("core", "sources", "datasets_scripts/*"),
    "toxeval": ("core", "loading", "data"),
    "plots": ("core", "read"),
    "pictures": ("core", "read"),
    "signature": ("core", "read", "toxeval"),
    "result_files": ("core", "answers", "read", "loading", "signature"),
    "report": ("core", "signature"),
    "systems": ("core", "read", "loading"),
    "doctor": ("core", "read"),
    "hub": ("core", "loading", "data", "toxeval"),
    "page": ("core", "answers", "read", "plots", "pictures", "signature", "report"),
    "metrics/*/app.py": ("core", "metrics/*", "plots", "page"),
    "spark": ("core", "answers", "read", "loading", "toxeval", "plots", "signature", "systems", "doctor"),
    "harness": ("core", "answers", "loading", "data"),
    "cli": tuple(
        [
            "core",
            "answers",
            "read",
            "loading",
            "data",
            "toxeval",
            "plots",
            "pictures",
            "signature",
            "result_files",
            "report",
            "systems",
            "doctor",
            "hub",
        ],
    ),
    "demo": ("loading", "report"),
}
#: Rooms that may name metrics: the demo is one of the examples.
NAME_METRICS = ("demo",)


def modules() -> dict[str, Path]:
    """Module -> its file."""
    found = {}
    for package, home in HOMES.items():
        for path in sorted((ROOT / home).rglob("*.py")):
            parts = path.relative_to(ROOT / home).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


MODULES = modules()


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_bytes())


def room(module: str) -> str:
    """The room that a module is in: a file or folder of the package, or what the folders of metrics hold."""
    first, *rest = [*module.split(".")[1:], ""]
    if first in ("", "checkout", "version"):  # the package itself, and where it finds its metrics
        return "toxeval"
    if first in ("metrics", "datasets_scripts"):
        return f"{first}/*/app.py" if rest[1:2] == ["app"] else f"{first}/*"
    return first


def imported(module: str) -> Iterator[str]:
    """The modules of this package that a module imports, anywhere in its text."""
    package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "toxeval")
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            if base.split(".")[0] == "toxeval":
                names = [f"{base}.{alias.name}" for alias in node.names]
                yield from (name if name in MODULES else base for name in names)


def test_every_module_is_in_a_room_and_every_room_is_there() -> None:
    assert {room(module) for module in MODULES} == set(ROOMS)


def test_rooms_import_what_they_may() -> None:
    found = {(module, other) for module in MODULES for other in imported(module) if room(module) != room(other)}
    assert [pair for pair in sorted(found) if room(pair[1]) not in ROOMS.get(room(pair[0]), ())] == []


def test_there_are_no_circles() -> None:
    order = list(ROOMS)
    assert [name for name, may in ROOMS.items() if any(order.index(o) >= order.index(name) for o in may)] == []
    graph = {module: set(imported(module)) - {module} for module in MODULES}
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("home", ["toxeval.metrics.", "toxeval.datasets_scripts."])
def test_metrics_know_nothing_of_each_other_and_datasets_neither(home: str) -> None:
    within = [module for module in MODULES if module.startswith(home)]
    assert within
    for module in within:
        assert {other.split(".")[2] for other in imported(module) if other.startswith(home)} <= {module.split(".")[2]}


def test_the_kernel_needs_numpy_alone() -> None:
    """What else it uses, it imports where it uses it."""
    for module in [module for module in MODULES if room(module) == "core"]:
        libraries = set()
        for node in tree(module).body:
            if isinstance(node, ast.Import):
                libraries |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                libraries.add((node.module or "").split(".")[0])
        assert libraries - sys.stdlib_module_names <= {"numpy", "toxeval"}, module


def test_nobody_else_knows_a_metric_by_name() -> None:
    """Running text may: docstrings, and what the command's help says, have examples."""
    for module in [module for module in MODULES if room(module) not in NAME_METRICS]:
        words = []
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and not re.search(r"\s", node.value):
                words.append(node.value)
            elif isinstance(node, (ast.Name, ast.Attribute)):
                words.append(node.id if isinstance(node, ast.Name) else node.attr)
        others = "|".join(name for name in toxeval.METRICS if name not in module.split("."))
        assert [word for word in words if re.search(rf"\b({others})\b", word)] == [], module


def test_there_are_no_links() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: git says nothing about links")
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert [line for line in listed.stdout.splitlines() if line.startswith("120000")] == []


def test_contributing_prints_the_table() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^|]*) \|$", text, re.MULTILINE)
    assert [(name, tuple(re.findall(r"`([^`]+)`", may))) for name, may in rows] == list(ROOMS.items())
