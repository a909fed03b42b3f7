"""A metric's folder as a Space of the Hub, or a dataset as a Hub dataset: built whole, checked, shown, uploaded."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import toxeval
from toxeval.data import DATASETS
from toxeval.export import export, own_use_notice, refuse_taken
from toxeval.loading import METRICS

#: What the Hub takes for colorFrom and colorTo.
COLORS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
#: Requirements by the libraries they bring, where the names differ.
BROUGHT_BY = {"sklearn": "scikit-learn", "pyarrow": "datasets", "pandas": "datasets"}


def publish(
    name: str,
    repo: str,
    *,
    dataset: bool = False,
    dry_run: bool = False,
    out: str | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    tell: Callable[[str], None] = print,
) -> str | None:
    """Upload a metric as a Space, for ``evaluate.load(repo)``, or a dataset, for ``datasets.load_dataset(repo)``.

    Everything is checked before anything is sent. The token is the one ``hf auth login`` or ``HF_TOKEN`` set.

    Args:
        name: one of `toxeval.METRICS`; with ``dataset`` one of `toxeval.data.DATASETS`.
        repo: "owner/name". A Space must have the metric's name: ``evaluate.load`` looks for a script called like it.
        dataset: publish a dataset. conda and sold are refused: their sources state no licence.
        dry_run: build, check and show it, and send nothing.
        out: a new folder to leave it in, instead of sending it.
        data_dir: your own copy of the dataset's files.
        tell: gets each line about what will be uploaded.

    Returns:
        The address of the repository, or None if nothing was sent.

    Raises:
        ValueError: for an unknown name, a repo that can't be, a folder that isn't fit for the Hub (all that is wrong
            with it), or a dataset that must not be passed on.
        FileExistsError: ``out`` is there and not empty.
        OSError: the Hub can't be reached or refuses (`huggingface_hub.errors.HfHubHTTPError`).
    """
    check_name(name, DATASETS if dataset else METRICS)
    check_repo(repo, None if dataset else name)
    if dataset and (notice := own_use_notice(name)):
        raise ValueError(f"toxeval.publish: {notice}")
    target = None if out is None else Path(out).expanduser()
    if target is not None:
        refuse_taken("toxeval.publish", target)
    with tempfile.TemporaryDirectory(prefix="toxeval-publish-") as scratch:
        folder = Path(scratch, "build")
        if dataset:
            export(name, folder, data_dir=data_dir)
            kind, problems = "dataset", []
        else:
            build_space(name, repo, folder)
            kind, problems = "space", list(space_problems(folder, name))
        if problems:
            lines = "".join(f"\n- {problem}" for problem in problems)
            raise ValueError(f"toxeval.publish: {name} is not fit for the Hub:{lines}")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        tell(f"{kind} {repo}: {len(files)} files, {sum(path.stat().st_size for path in files):,} bytes")
        for path in files:
            tell(f"  {path.relative_to(folder).as_posix()}  {path.stat().st_size:,}")
        if target is not None:
            shutil.copytree(folder, target, dirs_exist_ok=True)
            tell(f"not uploaded; it is in {target}")
            return None
        if dry_run:
            tell("not uploaded")
            return None
        address = upload(folder, repo, kind, f"{name} of toxeval {toxeval.__version__}")
        tell(f"uploaded to {address}")
        return address


def check_name(name: str, allowed: tuple[str, ...]) -> None:
    """Refuse a name that isn't one of ours."""
    if name not in allowed:
        raise ValueError(f"toxeval.publish: unknown name {name!r}; allowed: {', '.join(allowed)}")


def check_repo(repo: str, script: str | None) -> None:
    """Refuse a repository id the Hub wouldn't take, or that ``evaluate.load`` couldn't find the script in.

    >>> check_repo("jane/threats", "threat_f1")
    Traceback (most recent call last):
    ...
    ValueError: toxeval.publish: repo 'jane/threats': evaluate.load would look for threats.py; allowed: jane/threat_f1
    """
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo)
        owner, name = repo.split("/")
    except ValueError:
        allowed = f"owner/name, as your-name/{script or 'name'}"
        raise ValueError(f"toxeval.publish: repo {repo!r}: not a repository; allowed: {allowed}") from None
    if script is not None and name != script:
        found = f"evaluate.load would look for {name}.py"
        raise ValueError(f"toxeval.publish: repo {repo!r}: {found}; allowed: {owner}/{script}")


def build_space(name: str, repo: str, folder: Path) -> None:
    """Copy a metric's folder: all of it, real files for links, and in the card examples that load it from ``repo``."""
    source = Path(str(importlib.import_module(f"toxeval.metrics.{name}").__file__)).parent
    # __init__.py makes a package of the folder where toxeval is installed; on the Hub it is none
    unwanted = shutil.ignore_patterns("__init__.py", "__pycache__", ".*")
    shutil.copytree(source, folder, ignore=unwanted)
    card = folder / "README.md"
    if card.exists():
        text = card.read_text(encoding="utf-8")
        card.write_text(text.replace(f'"metrics/{name}"', f'"{repo}"'), encoding="utf-8")


def space_problems(folder: Path, name: str) -> Iterator[str]:
    """What keeps a folder from being a Space and an ``evaluate`` module, one sentence each."""
    for wanted in (f"{name}.py", "README.md", "requirements.txt"):
        if not (folder / wanted).is_file():
            yield f"{wanted}: missing"
            return
    scripts = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.py"))}
    requirements = yield from _requirement_problems(folder / "requirements.txt", scripts)
    yield from _front_matter_problems(folder, requirements.get("gradio"))
    yield from _import_problems(name, scripts)


def _requirement_problems(file: Path, scripts: dict[str, ast.Module]) -> Generator[str, None, dict[str, Any]]:
    """Also returns the version ranges by library."""
    from packaging.requirements import InvalidRequirement, Requirement

    ranges: dict[str, Any] = {}
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
    libraries = {library for script in scripts.values() for library, _ in _imports(script) if library not in scripts}
    for library in sorted(libraries - set(sys.stdlib_module_names) - {""}):
        if BROUGHT_BY.get(library, library) not in ranges:
            yield f"requirements.txt: {library} is imported and {BROUGHT_BY.get(library, library)} not required"
    return ranges


def _front_matter_problems(folder: Path, gradio: Any) -> Iterator[str]:
    import yaml

    text = (folder / "README.md").read_text(encoding="utf-8")
    match = re.match(r"---\n(.*?\n)---\n", text, flags=re.DOTALL)
    try:
        front = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError as error:
        front = None
        yield f"README.md: the front matter is no YAML ({getattr(error, 'problem', 'syntax error')})"
        return
    if not isinstance(front, dict):
        yield "README.md: no front matter (YAML between two lines of ---)"
        return
    for key in ("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "app_file", "tags"):
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
    if len(str(front.get("short_description", ""))) > 60:
        yield "README.md: front matter: short_description is longer than 60 characters"


def _import_problems(name: str, scripts: dict[str, ast.Module]) -> Iterator[str]:
    """``evaluate.load`` fetches what the main script imports from beside it, and doesn't look into that."""
    fetched = {sibling for library, sibling in _imports(scripts[name], top_level=True) if not library}
    for script in sorted({name, *fetched} & set(scripts)):
        for library, sibling in _imports(scripts[script]):
            if library:
                continue
            if sibling not in scripts:
                yield f"{script}.py: imports .{sibling}, which is not in the folder"
            elif sibling not in fetched:
                yield f"{name}.py: must import .{sibling} too, as {script}.py does: evaluate.load fetches nothing else"


def _imports(script: ast.Module, top_level: bool = False) -> Iterator[tuple[str, str]]:
    """Pairs (library, "") for absolute imports and ("", file) for ``from .file import``."""
    for node in script.body if top_level else ast.walk(script):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            first = (node.module or "").partition(".")[0]
            yield ("", first) if node.level else (first, "")


def upload(folder: Path, repo: str, kind: str, message: str) -> str:
    """Make the repository if need be, send the folder, and return the repository's address."""
    from huggingface_hub import HfApi

    api = HfApi(library_name="toxeval", library_version=toxeval.__version__)
    address = api.create_repo(repo, repo_type=kind, exist_ok=True, space_sdk="gradio" if kind == "space" else None)
    api.upload_folder(repo_id=repo, repo_type=kind, folder_path=folder, commit_message=message)
    return str(address)
