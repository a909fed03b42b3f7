"""Typed tables: Parquet files, and datasets of ``datasets``. Class labels come by the names their dataset declares.

pyarrow is imported only when there is such a table.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from toxeval.core.dataset_columns import class_label_names, has_class_labels
from toxeval.core.refusals import Known, Refusal, refuse

from . import tables
from .sources import Content, File, Limits
from .tables import Columns, Table, shown, split_path

#: A column, and the fields to follow in its records.
Path = tuple[str, list[str]]
#: How many times the allowed bytes of a file its columns may unpack to: as it says, and as they do.
UNPACKED, READ = 4, 10


def from_parquet(files: Sequence[File | Content], name: str, features: Mapping[str, Any] | None = None) -> Table:
    """A table in one or several Parquet files, one after the other.

    Args:
        name: what messages call them together.
        features: those of ``datasets``, where the files don't say them.
    """
    limits, opened = files[0].limits, list(map(_open, files))
    schema = opened[0].schema_arrow
    n_rows = sum(file.metadata.num_rows for file in opened)
    if not n_rows:
        refuse("no rows", file=name)
    limits.check_rows(name, n_rows)

    def read(places: Mapping[str, Path]) -> Iterator[Any]:
        size = 0
        for file in files:
            for batch in _read(file, places):
                size += batch.nbytes
                if limits.bytes is not None and size > READ * limits.bytes:
                    refuse(f"more than {READ * limits.bytes / 1e6:.0f} MB, unpacked", "less", file=name)
                yield batch

    return _table(name, "Parquet", schema, features or _features(schema.metadata), n_rows, read)


def _open(file: File | Content) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    options: dict[str, Any] = {"buffer_size": 1 << 20}  # read a piece of a row group at a time, not the row group
    if file.limits.bytes is not None:  # what a file says of itself needn't be so
        options = {"thrift_string_size_limit": file.limits.bytes, "thrift_container_size_limit": 10_000}
    if isinstance(file, File):
        file.check_unchanged()
    try:
        given = file.path if isinstance(file, File) else pa.BufferReader(file.content)
        return pq.ParquetFile(given, pre_buffer=False, **options)
    except (pa.ArrowException, OSError, MemoryError):
        refuse("not a whole Parquet file (was it cut short?)", file=file.name)


def _read(file: File | Content, places: Mapping[str, Path]) -> Iterator[Any]:
    """Batches of rows with some columns, of nested ones the fields that are wanted."""
    import pyarrow as pa

    opened, limited = _open(file), file.limits.bytes is not None
    tops = [column for column, _ in places.values()]
    _check_unpacked(file.name, opened.metadata, file.limits, tops)
    lacking = [column for column in tops if column not in opened.schema_arrow.names]
    try:
        if not lacking:
            yield from opened.iter_batches(batch_size=16 if limited else tables.BATCH_ROWS, columns=list(places))
    except Refusal:
        raise
    except (pa.ArrowException, OSError, MemoryError, ValueError, RecursionError):
        refuse("damaged, or with a field twice in a record", file=file.name)
    if lacking:
        refuse(f"without the columns {', '.join(map(shown, lacking))}", "the same columns in all files", file=file.name)
    if isinstance(file, File):
        file.check_unchanged()


def _check_unpacked(name: str, metadata: Any, limits: Limits, tops: Sequence[str]) -> None:
    """Refuse a file that says of itself that it unpacks to more than is allowed."""
    if limits.bytes is None:
        return
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    leaves = [group.column(i) for group in groups for i in range(group.num_columns)]
    leaves = [leaf for leaf in leaves if any(f"{leaf.path_in_schema}.".startswith(f"{top}.") for top in tops)]
    if sum(leaf.total_uncompressed_size for leaf in leaves) > UNPACKED * limits.bytes:
        refuse(f"more than {UNPACKED * limits.bytes / 1e6:.0f} MB, unpacked", "less", file=name)
    if limits.values is not None and sum(leaf.num_values for leaf in leaves) > limits.values:
        refuse("more values than are read here", f"up to {limits.values:,}", file=name)


def _features(metadata: Mapping[bytes, bytes] | None) -> Mapping[str, Any]:
    """What ``datasets`` wrote down about the columns."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def from_dataset(dataset: Any, name: str) -> Table:
    """A ``datasets.Dataset`` as a table."""
    features = json.loads(json.dumps(dataset.features.to_dict()))

    def read(places: Mapping[str, Path]) -> Iterator[Any]:
        tops = list(dict.fromkeys(column for column, _ in places.values()))
        yield from dataset.select_columns(tops).with_format("arrow").iter(batch_size=tables.BATCH_ROWS)

    return _table(name, "datasets", dataset.features.arrow_schema, features, len(dataset), read)


def _table(
    name: str,
    read_as: str,
    schema: Any,
    features: Mapping[str, Any],
    n_rows: int,
    read: Callable[[Mapping[str, Path]], Iterator[Any]],
) -> Table:
    """A table of what Arrow reads; ``read`` gives it in batches that have the columns of some places."""
    import pyarrow as pa

    names = tuple(dict.fromkeys(schema.names))
    nested = frozenset(field.name for field in schema if pa.types.is_struct(field.type))
    repeated = frozenset(column for column in names if schema.names.count(column) > 1)

    def batches(columns: Sequence[str]) -> Iterator[Columns]:
        places = {column: split_path(column, names, nested) for column in columns}
        start = 0
        for batch in read(places):
            with Known(file=name):
                values = {column: _values(batch, place, features, start) for column, place in places.items()}
            yield values
            start += batch.num_rows

    return Table(name, names, batches, read_as=read_as, n_rows=n_rows, repeated=repeated, nested=nested)


# --- columns ------------------------------------------------------------------------------------------------------


def _values(batch: Any, place: Path, features: Mapping[str, Any], start: int) -> Any:
    """A column of a batch, or a field in its records; class labels by name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column, path = place
    if column not in batch.schema.names:  # nothing there is called as the path says
        refuse(f"no field {shown('.'.join(path))} in {shown(column)}")
    array, feature = batch[column], features.get(column)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # pyarrow keeps several chunks where one would overflow
            array = pa.concat_arrays(array.chunks)
    for name in path:
        if not pa.types.is_struct(array.type) or array.type.get_field_index(name) < 0:
            refuse(f"no field {shown(name)} in {shown(column)}")
        array = pc.struct_field(array, name)
        feature = feature.get(name) if isinstance(feature, Mapping) else None
    return _named(array, feature, start) if has_class_labels(feature) else array


def _named(array: Any, feature: Any, start: int) -> Any:
    """Ids of class labels as the names the dataset declares: its order of ids needn't be the metric's. A column of
    labels has None for a negative one, which stands for none."""
    import pyarrow as pa

    if not pa.types.is_integer(array.type):
        return [_name(value, feature, start + i) for i, value in enumerate(array.to_pylist())]
    codes = array.dictionary_encode(null_encoding="encode")
    first = dict(zip(*map(reversed, (codes.indices.to_pylist(), range(len(array))))))  # code -> its first row
    names = [
        None if value is None or value < 0 else _name(value, feature, start + first[code])
        for code, value in enumerate(codes.dictionary.to_pylist())
    ]
    return pa.array(names, pa.string()).take(codes.indices)


def _name(value: Any, feature: Any, row: int) -> Any:
    with Known(row=row):
        return class_label_names(value, feature)
