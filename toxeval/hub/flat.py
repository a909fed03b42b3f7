"""A metric's folder made whole: beside its own files those of this package that they import, under flat names.

A Space is one folder, and ``evaluate.load("owner/name")`` fetches from it one script and the files that this script
itself imports from beside it. So every module that is imported, directly or by another one, becomes a file there:
``toxeval/core/labels.py`` becomes ``labels.py``, and ``toxeval/page/look.py`` becomes ``page_look.py``. Only the
statements that import them are rewritten.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple, NoReturn

from toxeval.core.refusals import refuse

#: The demo page, which is run by itself: ``python app.py``.
APP = "app"

#: What stands before the page's imports.
PACKAGE = """\
# The files of this folder import each other as parts of a package. This makes one of the folder, whatever its name.
import sys
import types
from pathlib import Path

_package = sys.modules["space"] = types.ModuleType("space")
_package.__path__ = [str(Path(__file__).resolve().parent)]

"""

#: What stands behind the imports of the metric's script.
FETCHED = """\

# evaluate.load fetches the files that this script imports, and no others: these are needed by those above.
"""


class Module(NamedTuple):
    """A module of this package: its name as Python has it, and its file."""

    name: str
    path: Path

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__.py`` of a folder."""
        return self.path.name == "__init__.py"


class Import(NamedTuple):
    """A name that a statement imports from this package: a ``whole`` module, or something in it."""

    alias: ast.alias
    module: Module
    whole: bool


def flatten(metric: str, folder: Path) -> None:
    """Write a metric's folder, with all that its files need of this package.

    Raises:
        ValueError: an import can't be followed, or a file would hide another one.
    """
    home = _find(f"toxeval.metrics.{metric}")
    names = _flat_names(home)
    # __init__.py makes a package of the folder where toxeval is installed; on the Hub it is none
    shutil.copytree(home.path.parent, folder, ignore=shutil.ignore_patterns("__pycache__", ".*", "*.py"))
    for module, name in names.items():
        text = _rewritten(module, names, "space" if name == APP else "")
        if name == APP:
            text = _with_package(text)
        elif name == metric:
            text = _with_fetched(text, _only_others_need(module, names))
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


def _flat_names(home: Module) -> dict[Module, str]:
    """The modules of a metric's folder and all that they import -> the names of their files."""
    waiting = [_find(f"{home.name}.{path.stem}") for path in sorted(home.path.parent.glob("[!_]*.py"))]
    names: dict[Module, str] = {}
    for module in waiting:  # it grows on the way
        if module in names:
            continue
        name = _flat_name(module, home)
        if name in names.values():
            other = next(other for other in names if names[other] == name)
            _refuse(f"{other.name} and {module.name} would both be {name}.py")
        if name in sys.stdlib_module_names:
            _refuse(f"{module.name} would be {name}.py, which hides Python's own {name}")
        names[module] = name
        waiting += _imported(module)
    return names


def _flat_name(module: Module, home: Module) -> str:
    """The name of a module's file.

    >>> home = Module("toxeval.metrics.x", Path())
    >>> [_flat_name(Module(f"toxeval.{n}", Path()), home) for n in ("metrics.x.scores", "core.labels", "page.look")]
    ['scores', 'labels', 'page_look']
    """
    within = module.name.removeprefix(f"{home.name}.").removeprefix("toxeval.").removeprefix("core.")
    return within.replace(".", "_")


def _only_others_need(script: Module, names: Mapping[Module, str]) -> list[str]:
    """The names of the files that a script needs and doesn't import itself, at its top."""
    needed = [script]
    for module in needed:  # it grows on the way
        needed += [each for each in dict.fromkeys(_imported(module)) if each not in needed]
    body = ast.parse(script.path.read_bytes()).body
    own = [each.module for node in body for each in _imports(node, script)]
    return sorted(names[each] for each in needed if each not in [script, *own])


# --- what is imported ---------------------------------------------------------------------------------------------


def _find(name: str) -> Module:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return Module(name, Path(spec.origin))


@cache
def _import_nodes(data: bytes) -> list[ast.Import | ast.ImportFrom]:
    """Every import in a module's text; metrics share most of their modules."""
    return [node for node in ast.walk(ast.parse(data)) if isinstance(node, ast.Import | ast.ImportFrom)]


def _imported(module: Module) -> list[Module]:
    """The modules of this package that a module imports, anywhere in it."""
    return [each.module for node in _import_nodes(module.path.read_bytes()) for each in _imports(node, module)]


def _imports(node: ast.AST, module: Module) -> Iterator[Import]:
    """What a node of a module's text imports from this package."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if _is_ours(alias.name):
                if alias.asname is None or alias.name == "toxeval":
                    found = f"{module.name}, line {node.lineno}: import {alias.name}"
                    _refuse(found, "from ... import ..., or with a name: import ... as ...")
                yield Import(alias, _find(alias.name), whole=True)
    elif isinstance(node, ast.ImportFrom):
        package = module.name if module.is_package else module.name.rpartition(".")[0]
        base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
        if _is_ours(base):
            source = _find(base)
            for alias in node.names:
                whole = source.is_package and importlib.util.find_spec(f"{base}.{alias.name}") is not None
                if not whole and base == "toxeval":
                    found = f"{module.name}, line {node.lineno}: {alias.name} from toxeval"
                    _refuse(found, "its modules, and what is in them")
                yield Import(alias, _find(f"{base}.{alias.name}") if whole else source, whole)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == "toxeval"


def _refuse(found: str, allowed: str = "") -> NoReturn:
    refuse(found, allowed, where="toxeval.publish")


# --- what is written ----------------------------------------------------------------------------------------------


def _rewritten(module: Module, names: Mapping[Module, str], package: str) -> str:
    """A module's text, its imports from this package made imports of files beside it.

    Args:
        package: what the files are parts of, as the module has to say; "" if it is a part itself.
    """
    data = module.path.read_bytes()
    starts = [0, *(match.end() for match in re.finditer(b"\n", data))]
    found = [(node, list(_imports(node, module))) for node in _import_nodes(data)]
    statements = [(node, imports) for node, imports in found if imports]
    for node, imports in sorted(statements, key=lambda each: (each[0].lineno, each[0].col_offset), reverse=True):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        lines = _statements(node, data[start:end].decode(), imports, names, package)
        data = data[:start] + f"\n{' ' * node.col_offset}".join(lines).encode() + data[end:]
    return data.decode()


def _statements(
    node: ast.stmt, text: str, imports: list[Import], names: Mapping[Module, str], package: str
) -> list[str]:
    """The statements that one statement becomes."""
    if not any(each.whole for each in imports):  # what is imported stays as it is laid out
        return [re.sub(r"\Afrom\s+\S+", f"from {package}.{names[imports[0].module]}", text)]
    ours = {each.alias: each for each in imports}
    lines = []
    for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
        each = ours.get(alias)
        if each is None:
            lines.append(f"import {ast.unparse(alias)}")
        elif each.whole:
            name = alias.asname or alias.name
            renamed = "" if name == names[each.module] else f" as {name}"
            lines.append(f"from {package or '.'} import {names[each.module]}{renamed}")
        else:
            lines.append(f"from {package}.{names[each.module]} import {ast.unparse(alias)}")
    return lines


def _with_package(text: str) -> str:
    """The page, its folder made a package before anything is imported."""
    tree, lines = ast.parse(text), text.split("\n")
    first = next(
        (
            node.lineno
            for node in tree.body
            if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
            and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ),
        len(lines),
    )
    return "\n".join([*lines[: first - 1], PACKAGE + "\n".join(lines[first - 1 :])])


def _with_fetched(text: str, names: list[str]) -> str:
    """The metric's script, importing these files too, behind what it imports already."""
    last = max(node.end_lineno or 0 for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom)))
    lines = text.split("\n")
    fetched = FETCHED + "\n".join(f"from .{name} import __name__ as _" for name in names)
    return "\n".join([*lines[:last], fetched, *lines[last:]]) if names else text
