"""Loading the benchmark datasets with any version of `datasets`."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toxeval.core.refusals import refuse

if TYPE_CHECKING:
    import datasets

#: The datasets, in the order of the documentation, and the builder class in the script of each.
BUILDERS = {"conda": "Conda", "sold": "Sold", "dia_safety": "DiaSafety", "threat_seed": "ThreatSeed"}
DATASETS = tuple(BUILDERS)

#: How messages call what is asked.
WHO = "toxeval.load_dataset"

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def load_dataset(
    name: str,
    config: str | None = None,
    *,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    data_files: Paths | Mapping[str, Paths] | None = None,
    streaming: bool = False,
    cache_dir: str | os.PathLike[str] | None = None,
    verification_mode: datasets.VerificationMode | str | None = None,
    seed: int | None = None,
    percentage: int | None = None,
    split_algorithm: str | None = None,
) -> datasets.Dataset | datasets.DatasetDict | datasets.IterableDataset | datasets.IterableDatasetDict:
    """One of the benchmark datasets, typed and checked, whatever version of `datasets` is installed.

    Args:
        name: `"conda"`, `"sold"`, `"dia_safety"` or `"threat_seed"`.
        config: a configuration: `"context"` of conda, `"generations"` of dia_safety; else the default.
        split: one split (`"train"`), part of one (`"train[:50%]"`), or None for all of them.
        data_dir: folder with your own copy of the source's files, under their original names; one split needs no more
            than its own.
        data_files: your own copies one by one, instead of `data_dir`; only their splits are built. For the config
            `"generations"` of dia_safety also replies of a chatbot of your own, in a file of the same format.
        streaming: read the rows as they are asked for, and write nothing to the cache.
        cache_dir: where to keep downloads and the prepared data; the cache of `datasets` if None.
        verification_mode: `"no_checks"` makes a warning of what is otherwise an error: a file that is not the
            pinned one. A file that is not in the right format stays an error.
        seed: only threat_seed: random state of the split, 20200303 if None.
        percentage: only threat_seed: how many of the 100 folds make the Seed, 5 if None.
        split_algorithm: only threat_seed: `"sklearn-0.21"` (the paper's, also if None) or `"sklearn-0.22"`.

    Returns:
        What `datasets.load_dataset` returns: one split, or a dict of them; iterable ones when streaming.

    Raises:
        ValueError: unknown name, config, split or option; a file that is not the pinned one or is damaged
            (with file, line and what was found).
        FileNotFoundError: a file is missing, or the dataset has no download and no `data_dir` was given.
        ConnectionError: no network; `data_dir` does without. (Some versions of `datasets` raise FileNotFoundError.)

    >>> data = load_dataset("threat_seed", data_dir="jigsaw", seed=20200304)  # doctest: +SKIP
    """
    import datasets

    options = {"seed": seed, "percentage": percentage, "split_algorithm": split_algorithm}
    mode = datasets.VerificationMode(verification_mode or datasets.VerificationMode.BASIC_CHECKS)
    builder = make_builder(
        name, config, split=split, data_dir=data_dir, data_files=data_files, cache_dir=cache_dir, options=options
    )
    if streaming:
        builder.verified = mode != datasets.VerificationMode.NO_CHECKS
        return builder.as_streaming_dataset(split=split)
    builder.download_and_prepare(verification_mode=mode)
    return builder.as_dataset(split=split)


def builder_class(name: str) -> type[Any]:
    """The builder class of a dataset."""
    if name not in BUILDERS:
        refuse(f"unknown dataset {name!r}", ", ".join(BUILDERS), where=WHO)
    script = importlib.import_module(f"toxeval.datasets_scripts.{name}.{name}")
    found: type[Any] = getattr(script, BUILDERS[name])
    return found


def make_builder(
    name: str,
    config: str | None,
    *,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None,
    data_files: Paths | Mapping[str, Paths] | None,
    cache_dir: str | os.PathLike[str] | None,
    options: Mapping[str, Any],
) -> Any:
    """The builder of a dataset, its name, config and options checked; options that are None are left out.

    With ``split`` the files of other splits may be missing.
    """
    import datasets

    cls = builder_class(name)
    configs = list(cls.builder_configs)
    if config is not None and config not in configs:
        refuse(f"unknown config {config!r}", ", ".join(configs), where=f"{WHO}: {name}")
    known = [option for option in options if hasattr(cls.builder_configs[configs[0]], option)]
    options = {option: value for option, value in options.items() if value is not None}
    unknown = [option for option in options if option not in known]
    if unknown:
        allowed = ", ".join(known) or "none of its own"
        refuse(f"unknown option {', '.join(unknown)}", allowed, where=f"{WHO}: {name}")
    given = {"data_dir": data_dir, "data_files": data_files, "wanted_splits": splits_in(split), **options}
    cache = None if cache_dir is None else os.fspath(cache_dir)
    try:
        return cls(cache_dir=cache, config_name=config, **given)
    except PermissionError:
        # `datasets` < 4 locks a file beside the package's folder; where that is not writable, let it copy the script
        if int(datasets.__version__.split(".")[0]) >= 4:
            raise
        script = os.path.dirname(inspect.getfile(cls))
        return datasets.load_dataset_builder(script, config, cache_dir=cache, trust_remote_code=True, **given)


def splits_in(split: str | None) -> list[str] | None:
    """The splits that an expression of `datasets` speaks of; None for all of them.

    >>> splits_in("train[:50%]+test")
    ['train', 'test']
    """
    names = [part.partition("[")[0].strip() for part in str(split).split("+")]
    return None if split is None or "all" in names else names
