"""A dataset as a folder of Parquet files and a card, which plain `datasets.load_dataset` reads without any code."""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toxeval.core.refusals import refuse
from toxeval.data import Paths, builder_class, make_builder


def own_use_notice(name: str) -> str | None:
    """The line that goes with an export which must stay with its maker, or None.

    >>> own_use_notice("conda")
    'the source of conda states no licence: the folder is for your own use and must not be uploaded or shared'
    """
    if builder_class(name).SHAREABLE:
        return None
    return f"the source of {name} states no licence: the folder is for your own use and must not be uploaded or shared"


def export(
    name: str,
    out: str | os.PathLike[str],
    *,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    data_files: Paths | Mapping[str, Paths] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    verification_mode: str | None = None,
    seed: int | None = None,
    percentage: int | None = None,
    split_algorithm: str | None = None,
) -> Path:
    """Write a dataset to a new folder, as Parquet with a dataset card.

    `datasets.load_dataset(out)` of any version gives the same rows and types; so does the viewer of the Hub.
    Where the source states no licence (conda, sold), a warning says that the folder must not be uploaded.

    Args:
        name: `"conda"`, `"sold"`, `"dia_safety"` or `"threat_seed"`.
        out: the folder to make; it must not exist, or be empty.
        config: one configuration, or None for all of the dataset's.
        split: one split, or None for all of them.
        data_dir, data_files, cache_dir, verification_mode, seed, percentage, split_algorithm: as in
            `toxeval.load_dataset`.

    Returns:
        The folder.

    Raises:
        FileExistsError: the folder is there and not empty.
        ValueError, FileNotFoundError: as in `toxeval.load_dataset`. The folder is then not made.

    >>> folder = export("threat_seed", "threat_seed_parquet", data_dir="jigsaw")  # doctest: +SKIP
    """
    options = {"seed": seed, "percentage": percentage, "split_algorithm": split_algorithm}
    target = Path(out).expanduser().absolute()
    refuse_taken("toxeval.export", target)
    if notice := own_use_notice(name):
        warnings.warn(f"toxeval.export: {notice}", UserWarning, stacklevel=2)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        infos = []
        for each in list(builder_class(name).builder_configs) if config is None else [config]:
            builder = make_builder(
                name, each, split=split, data_dir=data_dir, data_files=data_files, cache_dir=cache_dir, options=options
            )
            builder.download_and_prepare(verification_mode=verification_mode)
            infos.append(_write_config(builder, scratch, split))
        (scratch / "README.md").write_text(_card(name, infos), encoding="utf-8")
        scratch.chmod(0o755)
        if target.exists():
            target.rmdir()
        scratch.rename(target)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return target


def refuse_taken(who: str, folder: Path) -> None:
    """Refuse to write a new folder where there is something already, unless it is an empty folder."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{who}: {folder} is there already, and not an empty folder")


def _write_config(builder: Any, folder: Path, split: str | None) -> dict[str, Any]:
    """Write each split, or one, as a Parquet file, and return the config's entry of `dataset_info`."""
    import pyarrow.parquet as pq

    config = builder.config.name
    built = list(builder.info.splits)
    if split is not None and split not in built:
        refuse(f"unknown split {split!r}", ", ".join(built), where=f"toxeval.export: {builder.dataset} ({config})")
    (folder / config).mkdir()
    splits = []
    for each in built if split is None else [split]:
        data = builder.as_dataset(split=each)
        # without the schema's metadata: what newer `datasets` write there, older ones cannot read
        table = data.with_format("arrow")[:].replace_schema_metadata(None)
        pq.write_table(table, folder / config / f"{each}.parquet")
        splits.append({"name": each, "num_bytes": table.nbytes, "num_examples": len(data)})
    return {
        "config_name": config,
        "features": [_feature(column, feature) for column, feature in builder.info.features.items()],
        "splits": splits,
        "download_size": sum(path.stat().st_size for path in (folder / config).iterdir()),
        "dataset_size": sum(split["num_bytes"] for split in splits),
    }


def _feature(name: str, feature: Any) -> dict[str, Any]:
    """A feature for the card, in the words that every version of `datasets` reads (`sequence`, not `list`)."""
    inner = getattr(feature, "feature", None)
    if inner is not None:
        plain = _dtype(inner)
        return {"name": name, "sequence": plain["dtype"] if isinstance(plain["dtype"], str) else plain}
    return {"name": name, **_dtype(feature)}


def _dtype(feature: Any) -> dict[str, Any]:
    names = getattr(feature, "names", None)
    if names is None:
        return {"dtype": feature.dtype}
    return {"dtype": {"class_label": {"names": {str(number): label for number, label in enumerate(names)}}}}


def _card(name: str, infos: list[dict[str, Any]]) -> str:
    """The folder's README: how it is laid out for `datasets`, and the dataset's own card if it may be passed on."""
    import yaml

    front = {
        "configs": [
            {
                "config_name": info["config_name"],
                "data_files": [
                    {"split": split["name"], "path": f"{info['config_name']}/{split['name']}.parquet"}
                    for split in info["splits"]
                ],
            }
            for info in infos
        ],
        "dataset_info": infos,
    }
    if notice := own_use_notice(name):
        body = f"# {name}, exported for your own use\n\nDo not upload: {notice}.\n"
    else:
        _, source_front, body = card_path(name).read_text(encoding="utf-8").split("---\n", 2)
        front, body = {**yaml.safe_load(source_front), **front}, body.lstrip("\n")
    return f"---\n{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---\n\n{body}"


def card_path(name: str) -> Path:
    """The dataset card that lies beside the loading script."""
    return Path(inspect.getfile(builder_class(name))).with_name("README.md")
