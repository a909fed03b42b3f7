"""Folders: saved by ``datasets``, with a card that says which files are which split, or of Parquet files."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toxeval.core.refusals import refuse

from .parquet import from_dataset, from_parquet
from .sources import File, Limits
from .tables import Table

#: What lies in the folder of a table format, whose files are of all the table's versions -> what it is called.
TABLE_FORMATS = {"_delta_log": "Delta", ".hoodie": "Hudi", "metadata/*.metadata.json": "Iceberg"}


def from_folder(folder: Path, split: str, limits: Limits) -> Table:
    """The table in a folder; ``split`` says which, where there are several."""
    if (folder / "dataset_dict.json").exists():
        splits = json.loads((folder / "dataset_dict.json").read_text(encoding="utf-8"))["splits"]
        return from_folder(folder / _one_split(folder, splits, split), "", limits)
    if (folder / "state.json").exists():
        return from_dataset(_load_from_disk(folder), str(folder))
    card = folder / "README.md"
    if card.exists() and re.match(r"---\n(.*\n)*?configs:", card.read_text(encoding="utf-8")):
        return _from_card(folder, split, limits)
    for part, name in TABLE_FORMATS.items():
        if next(folder.rglob(part), None):
            hint = "export the version that is meant to Parquet"
            refuse(f"a table of {name}, whose folder also holds files of other versions", hint=hint, file=str(folder))
    # what Spark, Hive and Arrow skip, too
    hidden = ("_", ".")
    files = [
        file
        for file in sorted(folder.rglob("*.parquet"))
        if not any(part.startswith(hidden) for part in file.relative_to(folder).parts)
    ]
    if not files:
        refuse("neither a folder saved by datasets nor one with Parquet files", file=str(folder))
    by_split: dict[str, list[Path]] = {}
    for file in files:
        shard = re.fullmatch(r"(.+)-\d+-of-\d+", file.stem)
        by_split.setdefault(shard[1] if shard else "", []).append(file)
    if split or len(by_split) > 1:
        files = by_split[_one_split(folder, by_split, split)]
    return from_parquet([File(str(file), limits, file) for file in files], str(folder))


def _from_card(folder: Path, wanted: str, limits: Limits) -> Table:
    """A folder whose card says which Parquet files are which split, and what their class labels are."""
    import datasets

    config, _, split = wanted.rpartition("/")
    try:
        builder = datasets.load_dataset_builder(str(folder.absolute()), config or None)
        files, features = dict(builder.config.data_files), builder.info.features
    except (ValueError, TypeError, KeyError) as error:
        hint = "give one configuration of it as FOLDER:CONFIG/SPLIT"
        refuse(f"not readable by its card ({type(error).__name__})", hint=hint, file=str(folder))
    names = {f"{config}/{name}" if config else str(name): list(paths) for name, paths in files.items()}
    paths = [Path(path) for path in names[_one_split(folder, names, wanted)]]
    if any(path.suffix != ".parquet" for path in paths):
        refuse("not Parquet; give the file itself", file=str(folder))
    sources = [File(str(path), limits, path) for path in paths]
    return from_parquet(sources, str(folder), features.to_dict() if features else {})


def _one_split(folder: Path, splits: Iterable[str], wanted: str) -> str:
    names = list(splits)
    if wanted in names:
        return wanted
    if not wanted and len(names) == 1:
        return names[0]
    found = f"no split {wanted!r}" if wanted else "several splits"
    refuse(f"{found}; give one of them: {', '.join(f'{folder}:{name}' for name in names)}", file=str(folder))


def _load_from_disk(folder: Path) -> Any:
    import datasets

    try:
        return datasets.load_from_disk(str(folder))
    except IndexError:  # it saved no part
        refuse("no rows", "at least one row", file=str(folder))
    except (OSError, ValueError, KeyError) as error:
        refuse(f"not readable as a saved dataset ({type(error).__name__})", file=str(folder))
