"""Tables, read in batches, and those that come as Parquet or from ``datasets``: typed, with names for class labels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

#: Rows read at a time.
BATCH_ROWS = 1 << 16

#: What messages call it.
STANDARD_INPUT = "standard input"

Columns = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """A table that is read as often as `batches` is called (from standard input: once).

    Attributes:
        name: what messages call it.
        columns: the names of its columns.
        text: whether every value is a text (CSV, TSV), so that numbers and lists must be parsed.
        n_rows: how many rows, where the format says so beforehand.
        batches: column names -> iterator over dicts of equally long lists or pyarrow arrays.
        late: fields of JSON that the first record hasn't -> where they first were, as far as it was read.
    """

    name: str
    columns: tuple[str, ...]
    text: bool
    n_rows: int | None
    batches: Callable[[Sequence[str]], Iterator[Columns]]
    late: dict[str, str] = field(default_factory=dict)


def read_json(text: str | bytes) -> Any:
    """A JSON value.

    Raises:
        ValueError: also for what Python's own reader ends with another error, or takes without a word: of a field
            that is there twice it keeps the last value.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("an object has a field twice")
    return record


def from_folder(folder: Path, split: str) -> Table:
    """A folder that ``datasets`` saved, or one of Parquet files."""
    if (folder / "dataset_dict.json").exists():
        splits = json.loads((folder / "dataset_dict.json").read_text(encoding="utf-8"))["splits"]
        return from_folder(folder / _one_split(folder, splits, split), "")
    if (folder / "state.json").exists():
        return from_dataset(_load_from_disk(folder), str(folder))
    card = folder / "README.md"
    if card.exists() and re.match(r"---\n(.*\n)*?configs:", card.read_text(encoding="utf-8")):
        return _from_card(folder, split)
    files = sorted(folder.rglob("*.parquet"))
    if not files:
        raise ValueError(f"{folder}: neither a folder saved by datasets nor one with Parquet files")
    by_split: dict[str, list[Path]] = {}
    for file in files:
        shard = re.fullmatch(r"(.+)-\d+-of-\d+", file.stem)
        by_split.setdefault(shard[1] if shard else "", []).append(file)
    if split or len(by_split) > 1:
        files = by_split[_one_split(folder, by_split, split)]
    return from_parquet(files, str(folder))


def _from_card(folder: Path, wanted: str) -> Table:
    """A folder whose card says which Parquet files are which split, and what their class labels are."""
    import datasets

    config, _, split = wanted.rpartition("/")
    try:
        builder = datasets.load_dataset_builder(str(folder.absolute()), config or None)
        files, features = dict(builder.config.data_files), builder.info.features
    except (ValueError, TypeError, KeyError) as error:
        hint = "give one configuration of it as FOLDER:CONFIG/SPLIT"
        raise ValueError(f"{folder}: not readable by its card ({type(error).__name__}); {hint}") from None
    names = {f"{config}/{name}" if config else str(name): list(paths) for name, paths in files.items()}
    paths = [Path(path) for path in names[_one_split(folder, names, wanted)]]
    if any(path.suffix != ".parquet" for path in paths):
        raise ValueError(f"{folder}: not Parquet; give the file itself")
    return from_parquet(paths, str(folder), features.to_dict() if features else {})


def _one_split(folder: Path, splits: Iterable[str], wanted: str) -> str:
    names = list(splits)
    if wanted in names:
        return wanted
    if not wanted and len(names) == 1:
        return names[0]
    found = f"no split {wanted!r}" if wanted else "several splits"
    raise ValueError(f"{folder}: {found}; give one of them: {', '.join(f'{folder}:{name}' for name in names)}")


def _load_from_disk(folder: Path) -> Any:
    import datasets

    try:
        return datasets.load_from_disk(str(folder))
    except (OSError, ValueError, KeyError) as error:
        raise ValueError(f"{folder}: not readable as a saved dataset ({type(error).__name__})") from None


def from_dataset(dataset: Any, name: str) -> Table:
    """A ``datasets.Dataset`` as a table; class labels become their names."""
    features = json.loads(json.dumps(dataset.features.to_dict()))

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        arrow = dataset.select_columns(list(columns)).with_format("arrow")
        for table in arrow.iter(batch_size=BATCH_ROWS):
            yield {column: _named(table[column], features[column]) for column in columns}

    return Table(name, tuple(dataset.column_names), False, len(dataset), batches)


def from_parquet(files: Sequence[Path | IO[bytes]], name: str, features: Mapping[str, Any] | None = None) -> Table:
    """A table in one or several Parquet files, one after the other; a stream is read into memory.

    ``features`` are those of ``datasets``, where the files don't say them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def opened(file: Path | IO[bytes]) -> Any:
        source = file if isinstance(file, Path) else pa.BufferReader(content)
        try:
            # read a piece of a row group at a time, not the row group
            return pq.ParquetFile(source, buffer_size=1 << 20, pre_buffer=False)
        except (pa.ArrowInvalid, OSError):
            where = str(file) if isinstance(file, Path) else name
            raise ValueError(f"{where}: not a whole Parquet file (was it cut short?)") from None

    content = b"" if isinstance(files[0], Path) else files[0].read()  # Parquet is read from its end
    first = opened(files[0])
    names = tuple(first.schema_arrow.names)
    n_rows = first.metadata.num_rows + sum(opened(file).metadata.num_rows for file in files[1:])
    if not n_rows:
        raise ValueError(f"{name}: no rows")
    info = json.loads((first.schema_arrow.metadata or {}).get(b"huggingface", b"{}"))
    known = features or info.get("info", {}).get("features") or {}

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        for file in files:
            try:
                for batch in opened(file).iter_batches(batch_size=BATCH_ROWS, columns=list(columns)):
                    yield {column: _named(batch[column], known.get(column)) for column in columns}
            except (pa.ArrowInvalid, OSError, KeyError):
                where = file if isinstance(file, Path) else name
                raise ValueError(f"{where}: damaged, or without the columns {', '.join(columns)}") from None

    return Table(name, names, False, n_rows, batches)


def _named(array: Any, feature: Any) -> Any:
    """Ids of class labels as the names the dataset declares: its order of ids needn't be the metric's."""
    import pyarrow as pa
    import pyarrow.compute

    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks)
    if not _class_labels(feature):
        return array
    if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
        known = pa.compute.greater_equal(array, 0)
        if len(array):
            _name(pa.compute.max(array).as_py() or 0, feature["names"])
        return pa.array(feature["names"]).take(pa.compute.if_else(known, array, pa.scalar(None, array.type)))
    return [_with_names(value, feature) for value in array.to_pylist()]


def _class_labels(feature: Any) -> bool:
    """Whether there are class labels anywhere in a feature, as ``datasets`` writes them down."""
    if isinstance(feature, dict):
        return feature.get("_type") == "ClassLabel" or any(map(_class_labels, feature.values()))
    return isinstance(feature, list) and any(map(_class_labels, feature))


def _with_names(value: Any, feature: Any) -> Any:
    """A nested value with names for ids; a negative one, such as -100, stays for the metric to refuse or leave out."""
    if isinstance(feature, list):
        feature = {"_type": "List", "feature": feature[0]}
    if value is None or not isinstance(feature, dict):
        return value
    if isinstance(value, list):
        return [_with_names(item, feature.get("feature")) for item in value]
    if isinstance(value, dict):
        fields = feature.get("feature", feature)  # old files have a sequence of records as a record of sequences
        return {key: _with_names(item, fields.get(key)) for key, item in value.items()}
    names = feature.get("names") if feature.get("_type") == "ClassLabel" else None
    return _name(value, names) if names and value >= 0 else value


def _name(label: int, names: Sequence[str]) -> str:
    if label >= len(names):
        raise ValueError(f"class label {label}: there are only {len(names)} names")
    return names[label]
