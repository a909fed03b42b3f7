"""A metric's folder as a Space of the Hub, or a dataset as a Hub dataset: built whole, checked, shown, uploaded."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import toxeval
from toxeval.core.refusals import refuse
from toxeval.data import DATASETS
from toxeval.hub.checks import space_problems
from toxeval.hub.export import export, own_use_notice, refuse_taken
from toxeval.hub.flat import flatten
from toxeval.loading import METRICS


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
    who = "toxeval.publish"
    if name not in (known := DATASETS if dataset else METRICS):
        refuse(f"unknown name {name!r}", ", ".join(known), where=who)
    check_repo(repo, None if dataset else name)
    if dataset and (notice := own_use_notice(name)):
        refuse(notice, where=who)
    target = None if out is None else Path(out).expanduser()
    if target is not None:
        refuse_taken(who, target)
    with tempfile.TemporaryDirectory(prefix="toxeval-publish-") as scratch:
        folder = Path(scratch, "build")
        if dataset:
            export(name, folder, data_dir=data_dir)
            kind, problems = "dataset", []
        else:
            build_space(name, repo, folder)
            kind, problems = "space", list(space_problems(folder, name))
        if problems:
            refuse("".join([f"{name} is not fit for the Hub:", *(f"\n- {each}" for each in problems)]), where=who)
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


def check_repo(repo: str, script: str | None) -> None:
    """Refuse a repository id the Hub wouldn't take, or that ``evaluate.load`` couldn't find the script in.

    >>> check_repo("jane/f2", "f1")
    Traceback (most recent call last):
    ...
    toxeval.core.refusals.Refusal: toxeval.publish: repo 'jane/f2': evaluate.load would look for f2.py; allowed: jane/f1
    """
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo)
        owner, name = repo.split("/")
    except ValueError:
        owner = name = ""
    where = f"toxeval.publish: repo {repo!r}"
    if not name:
        refuse("not a repository", f"owner/name, as your-name/{script or 'name'}", where=where)
    if script is not None and name != script:
        refuse(f"evaluate.load would look for {name}.py", f"{owner}/{script}", where=where)


def build_space(name: str, repo: str, folder: Path) -> None:
    """A metric's folder with everything in it, the licence too; its examples load it from ``repo``."""
    flatten(name, folder)
    for path in (*folder.glob("*.md"), *folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f'"metrics/{name}"', f'"{repo}"'), encoding="utf-8")
    if licence := licence_file():
        shutil.copy(licence, folder / "LICENSE")


def licence_file() -> Path | None:
    """This package's licence: what was installed with it, or what lies in the checkout."""
    checkout = Path(toxeval.__file__).parent.parent
    try:
        installed = importlib.metadata.files("toxeval") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    candidates = [Path(str(file.locate())) for file in installed if file.name == "LICENSE"]
    return next((path for path in [*candidates, checkout / "LICENSE"] if path.is_file()), None)


def upload(folder: Path, repo: str, kind: str, message: str) -> str:
    """Make the repository if need be, send the folder, and return the repository's address."""
    from huggingface_hub import HfApi

    api = HfApi(library_name="toxeval", library_version=toxeval.__version__)
    address = api.create_repo(repo, repo_type=kind, exist_ok=True, space_sdk="gradio" if kind == "space" else None)
    api.upload_folder(repo_id=repo, repo_type=kind, folder_path=folder, commit_message=message)
    return str(address)
