"""What keeps a folder from being a Space and an ``evaluate`` module."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import types
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

#: What the Hub takes for colorFrom and colorTo.
COLORS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
#: Requirements by the libraries they bring, where the names differ.
BROUGHT_BY = {"sklearn": "scikit-learn", "scipy": "scikit-learn", "pyarrow": "datasets", "pandas": "datasets"}
#: What a card begins with. The Hub shows no more of a short_description than `SHORT` characters.
FRONT_MATTER = ("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "app_file", "tags", "license")
SHORT = 60
#: A script's name -> what it imports, as `_imports` gives it.
Imports = Mapping[str, list[tuple[str, str]]]


def space_problems(folder: Path, name: str) -> Iterator[str]:
    """One sentence for each. What can't be told where one of them is true isn't looked for."""
    for wanted in (f"{name}.py", "README.md", "requirements.txt", "LICENSE"):
        if not (folder / wanted).is_file():
            yield f"{wanted}: missing"
            return
    imports = {path.stem: _imports(path.read_bytes()) for path in sorted(folder.glob("*.py"))}
    ranges: dict[str, Any] = {}
    problems = [
        *_requirement_problems(folder / "requirements.txt", imports, ranges),
        *_front_matter_problems(folder, ranges.get("gradio")),
        *_import_problems(folder, name, imports),
    ]
    yield from problems or _problems_of_loading(folder, name)


def _requirement_problems(file: Path, imports: Imports, ranges: dict[str, Any]) -> Iterator[str]:
    """Also fills in the ``ranges`` of versions by library."""
    from packaging.requirements import InvalidRequirement, Requirement

    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            yield f"requirements.txt: line {number} is no requirement"
            continue
        ranges[requirement.name.lower()] = requirement.specifier
        operators = {part.operator for part in requirement.specifier}
        if not (operators & {">=", ">"} and operators & {"<", "<="} or operators & {"==", "~="}):
            yield f"requirements.txt: line {number}: {requirement.name} without a range of versions (>= and <)"
    libraries = {library for each in imports.values() for library, _ in each if library}
    for library in sorted(libraries - set(sys.stdlib_module_names) - {"space"}):
        if library in imports:
            yield f"{library}.py: a file of this name hides the library {library}"
        if BROUGHT_BY.get(library, library) not in ranges:
            yield f"requirements.txt: {library} is imported and {BROUGHT_BY.get(library, library)} not required"


def _front_matter_problems(folder: Path, gradio: Any) -> Iterator[str]:
    import yaml

    text = (folder / "README.md").read_text(encoding="utf-8")
    match = re.match(r"---\n(.*?\n)---\n", text, flags=re.DOTALL)
    try:
        front = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError as error:
        yield f"README.md: the front matter is no YAML ({getattr(error, 'problem', 'syntax error')})"
        return
    if not isinstance(front, dict):
        yield "README.md: no front matter (YAML between two lines of ---)"
        return
    for key in (*FRONT_MATTER, "short_description"):
        if not front.get(key):
            yield f"README.md: front matter: {key} is missing"
    for key in ("colorFrom", "colorTo"):
        if front.get(key) and front[key] not in COLORS:
            yield f"README.md: front matter: {key}: {front[key]!r}; allowed: {', '.join(COLORS)}"
    if front.get("sdk") not in (None, "gradio"):
        yield f"README.md: front matter: sdk: {front['sdk']!r}; allowed: 'gradio'"
    version = str(front.get("sdk_version", ""))
    if version and (gradio is None or not gradio.contains(version)):
        yield f"README.md: front matter: sdk_version {version} is not within gradio{gradio or ''} of requirements.txt"
    if front.get("app_file") and not (folder / str(front["app_file"])).is_file():
        yield f"{front['app_file']}: missing, and the front matter's app_file"
    if front.get("tags") and not {"evaluate", "metric"} <= set(front["tags"]):
        yield "README.md: front matter: tags must have 'evaluate' and 'metric'"
    if len(str(front.get("short_description", ""))) > SHORT:
        yield f"README.md: front matter: short_description is longer than {SHORT} characters"


def _import_problems(folder: Path, name: str, imports: Imports) -> Iterator[str]:
    """``evaluate.load`` reads the main script's import lines as text, and fetches what they name from beside it."""
    from evaluate.loading import get_imports

    read = get_imports(str(folder / f"{name}.py"))
    for kind, target, *_ in read:
        if kind == "external":
            yield f"{name}.py: evaluate.load takes the comment behind the import of .{target} for an address"
    fetched = {target for kind, target, *_ in read if kind == "internal"}
    libraries = {target for kind, target, *_ in read if kind == "library"}
    for library in sorted(libraries - {library for library, _ in imports[name]}):
        yield f"{name}.py: evaluate.load takes a line of text for an import of {library}"
    for script in sorted({name, *fetched} & set(imports)):
        for sibling in dict.fromkeys(file for library, file in imports[script] if not library):
            if sibling not in imports:
                yield f"{script}.py: imports .{sibling}, which is not in the folder"
            elif sibling not in fetched:
                yield f"{name}.py: must import .{sibling} too, as {script}.py does: evaluate.load fetches nothing else"


@cache
def _imports(script: bytes) -> list[tuple[str, str]]:
    """Pairs (library, "") for what comes from elsewhere and ("", file) for ``from .file import``."""
    found = []
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Import):
            found += [(alias.name.partition(".")[0], "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            first = (node.module or "").partition(".")[0]
            if not node.level:
                found.append((first, ""))
            else:
                found += [("", first)] if first else [("", alias.name) for alias in node.names]
    return found


def _problems_of_loading(folder: Path, name: str) -> Iterator[str]:
    """``evaluate.load`` takes the first class that is a metric: is it the script's own?"""
    from evaluate.loading import import_main_class

    package = types.ModuleType(f"toxeval_published_{name}")
    package.__path__ = [str(folder)]
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder is what will be sent
    sys.modules[package.__name__] = package
    try:
        importlib.invalidate_caches()
        found = import_main_class(f"{package.__name__}.{name}")
        if found is None or found.__module__ != f"{package.__name__}.{name}":
            yield f"{name}.py: evaluate.load takes {getattr(found, '__qualname__', 'no class')} for the metric"
    except Exception as error:
        yield f"{name}.py: can't be imported: {type(error).__name__}: {error}"
    finally:
        sys.dont_write_bytecode = writes
        for each in [each for each in sys.modules if each.split(".")[0] == package.__name__]:
            del sys.modules[each]
