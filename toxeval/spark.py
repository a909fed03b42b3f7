"""The same numbers from Apache Spark: rows are encoded and counted where they lie, and only counts travel.

Each partition goes through the metric's own ``encode`` and ``count`` in Arrow batches, the states of partitions merge
in a tree, and the driver scores. Needs the extra ``toxeval[spark]``, and toxeval on the workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

import toxeval
from toxeval.columns import Parser, Place, columns_of, find_inputs
from toxeval.core.inputs import refuse
from toxeval.core.state import State, merge, merge_compact
from toxeval.tables import BATCH_ROWS, Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from toxeval.metrics.base import Metric

#: States a task merges into one, and at most so many reach the driver.
FAN_IN = 16
#: Columns of the tables the tasks hand on.
KEY, STATE = "toxeval key", "toxeval state"
#: Around the library's own words in the error of a task, which Spark wraps in several tracebacks.
BEGIN, END = "[toxeval: ", " :toxeval]"


def score(
    df: DataFrame,
    metric: str,
    *,
    by: str | None = None,
    columns: Mapping[str, str] | None = None,
    config_name: str | None = None,
    **options: Any,
) -> dict[Any, Any]:
    """Score the rows of a Spark DataFrame: what ``compute`` gives for the same rows, in one pass over them.

    The state of a rank metric grows with the number of distinct scores; ``score_resolution`` bounds it.

    Args:
        df: one row an item, in any order; partitions may be empty.
        metric: one of `toxeval.METRICS`.
        by: a column; the rows of each of its values are scored by themselves.
        columns: input -> column, where a column hasn't its input's name (or another that ``toxeval score`` knows).
        config_name: the metric's configuration.
        **options: of ``compute``: of the metric, of its intervals (``confidence_level``), and ``score_resolution``.

    Returns:
        The dict ``compute`` returns; with ``by`` a dict from that column's values (null: ``None``) to such dicts.

    Raises:
        ValueError: if a row is bad (the message says in which column, what was found and what is allowed), an option is
            unknown or out of range, a column is missing, or there is no row.

    Example:
        ``toxeval.spark.score(spark.read.parquet("decisions"), "sold_macro_f1", by="language")``
    """
    module = toxeval.load(metric, config_name)
    module.check_options(options)
    score_state = toxeval.load(metric, config_name, **options).score_state
    table = Table("the DataFrame", tuple(df.columns), False, None, _not_read)
    (places,) = find_inputs(metric, config_name or "default", [table], dict(columns or {}))
    for name in [name for name, required in module.inputs.items() if required and name not in places]:
        refuse(metric, name, "no such column in the DataFrame", ", ".join(df.columns))
    if by is not None and by not in df.columns:
        refuse(metric, "option by", f"no column {by!r} in the DataFrame", ", ".join(df.columns))
    task = _Counting(
        metric,
        config_name or "default",
        {key: options[key] for key in options if key in module.options and key not in module.score_options},
        places,
    )
    selected = [_column(df, name).alias(name) for name in columns_of(places)]
    if by is not None:
        selected.append(_column(df, by).alias(KEY))
    states = _collect(_counted(df.select(*selected), task), metric)
    if by is None:
        result: dict[Any, Any] = score_state(states.get(None, State(0)))
        return result
    if not states:
        refuse(metric, "predictions", "no rows", "at least one row")
    return {key: score_state(states[key]) for key in sorted(states, key=lambda key: (key is None, key))}


def _not_read(columns: Any) -> NoReturn:
    raise AssertionError("rows are read by Spark")


def _column(df: DataFrame, name: str) -> Any:
    """A column by its name, dots and all."""
    return df["`" + name.replace("`", "``") + "`"]


# --- the tree -----------------------------------------------------------------------------------------------------


def _counted(rows: DataFrame, task: _Counting) -> DataFrame:
    """A table of (key, state), of `FAN_IN` partitions at most."""
    from pyspark.sql.types import BinaryType, StructField, StructType

    keys = [field for field in rows.schema.fields if field.name == KEY]
    schema = StructType([*keys, StructField(STATE, BinaryType(), nullable=False)])
    states = rows.mapInArrow(task, schema)
    width = _cores(rows)
    while True:
        states = states.repartition(width).mapInArrow(_merging, schema)
        if width <= FAN_IN:
            return states
        width = -(-width // FAN_IN)


def _cores(rows: DataFrame) -> int:
    """How many tasks run at once. (A session of Spark Connect doesn't say; then as many as a shuffle has.)"""
    session: Any = rows.sparkSession
    if hasattr(session, "_jsparkSession"):
        return int(session.sparkContext.defaultParallelism)
    return int(session.conf.get("spark.sql.shuffle.partitions"))


def _collect(states: DataFrame, metric: str) -> dict[Any, State]:
    """Key -> state, on the driver.

    Raises:
        ValueError: what a worker refused, in the library's words.
    """
    try:
        table = states.collect()
    except Exception as error:
        refused = re.search(re.escape(BEGIN) + "(.*?)" + re.escape(END), str(error), re.DOTALL)
        if refused is None:
            raise
        raise ValueError(refused[1]) from None
    parts: dict[Any, list[State]] = {}
    for row in table:
        parts.setdefault(row.asDict().get(KEY), []).append(State.from_bytes(row[STATE]))
    return {key: merge(several) for key, several in parts.items()}


# --- on the workers -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Counting:
    """The task of a partition: its rows to a state a key.

    Attributes:
        metric, config: what is loaded.
        options: of ``encode``.
        places: input -> column.
    """

    metric: str
    config: str
    options: Mapping[str, Any]
    places: Mapping[str, Place]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from toxeval.options import import_evaluate

        import_evaluate()
        module = toxeval.load(self.metric, self.config, **self.options)
        table = Table("the DataFrame", tuple(columns_of(self.places)), False, None, _not_read)
        parse = Parser(self.metric, self.config, table, self.places)
        modules: dict[Any, Metric] = {}
        kind = None
        for rows in _in_blocks(batches):
            kind = rows.schema.field(KEY).type if KEY in rows.schema.names else None
            for key, part in _by_key(rows):
                if key not in modules:
                    modules[key] = module.without_rows()
                try:
                    modules[key].add_batch(**parse({name: part[name].combine_chunks() for name in table.columns}))
                except ValueError as error:
                    raise ValueError(f"{BEGIN}{self._explain(str(error))}{END}") from None
        yield from _as_batch({key: counted.added_state().compact() for key, counted in modules.items()}, kind)

    def _explain(self, message: str) -> str:
        """A metric's message with the column. Rows have no numbers in Spark, so the one of the block goes."""
        for name, place in self.places.items():
            column = place if isinstance(place, str) else ", ".join(place.values())
            message = re.sub(rf"\b{name}\[\d+\]", f"{name} (column {column})", message)
        return re.sub(r"\brow \d+\b", "a row", message)


def _in_blocks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Spark's batches, several at a time: it sends 10,000 rows."""
    import pyarrow as pa

    block: list[pa.RecordBatch] = []
    for batch in batches:
        block.append(batch)
        if sum(part.num_rows for part in block) >= BATCH_ROWS:
            yield pa.Table.from_batches(block)
            block = []
    if sum(part.num_rows for part in block):
        yield pa.Table.from_batches(block)


def _by_key(rows: pa.Table) -> Iterator[tuple[Any, pa.Table]]:
    """The rows of each key."""
    if KEY not in rows.schema.names:
        yield None, rows
        return
    keys = rows[KEY].combine_chunks().dictionary_encode(null_encoding="encode")
    codes = keys.indices.to_numpy()
    if len(keys.dictionary) > 1:
        rows = rows.take(np.argsort(codes, kind="stable"))
    start = 0
    for key, n in zip(keys.dictionary.to_pylist(), np.bincount(codes).tolist()):
        yield key, rows.slice(start, n)
        start += n


def _merging(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The task of a knot of the tree: states of the same key to one."""
    states: dict[Any, list[State]] = {}
    kind = None
    for batch in batches:
        keys = [None] * batch.num_rows
        if KEY in batch.schema.names:
            kind, keys = batch.schema.field(KEY).type, batch[KEY].to_pylist()
        for key, state in zip(keys, batch[STATE]):
            several = states.setdefault(key, [])
            several.append(State.from_bytes(state.as_py()))
            if len(several) == FAN_IN:
                states[key] = [merge_compact(several)]
    yield from _as_batch({key: merge_compact(several) for key, several in states.items()}, kind)


def _as_batch(states: Mapping[Any, State], kind: pa.DataType | None) -> Iterator[pa.RecordBatch]:
    """A state a row; nothing, if there are none."""
    import pyarrow as pa

    for key, state in states.items():  # each in a batch of its own: together they may not fit
        data = pa.array([state.to_bytes()], pa.binary())
        keys = {} if kind is None else {KEY: pa.array([key], kind)}
        yield pa.RecordBatch.from_pydict({**keys, STATE: data})
