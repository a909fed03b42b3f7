"""The same numbers from Apache Spark: rows are encoded and counted where they lie, and only counts travel.

Each partition goes through the metric's own ``encode`` and ``count`` in Arrow batches, the states of partitions merge
in a tree, and the driver scores. What a worker refuses travels as data, too, and is raised on the driver. Needs the
extra ``toxeval[spark]``, and toxeval on the workers.
"""

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from toxeval.core.declarations import GROUP, MIN_ROWS
from toxeval.core.group_columns import name_of
from toxeval.core.group_scores import GroupScores
from toxeval.core.group_states import GroupStates
from toxeval.core.metric import Metric
from toxeval.core.refusals import Refusal, Words, refuse
from toxeval.core.state import State, merge, merge_compact
from toxeval.loading import plain
from toxeval.read import Table
from toxeval.read.cells import Parser
from toxeval.read.columns import ID, Place, columns_of, find_inputs
from toxeval.read.human_labels import columns_of_judge, columns_of_verdicts

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Rows counted at a time.
BATCH_ROWS = 1 << 16
#: States a task merges into one, and at most so many reach the driver.
FAN_IN = 16
#: Columns of the tables the tasks hand on. A row has a state, or what was refused.
KEY, STATE, REFUSED = "toxeval key", "toxeval state", "toxeval refusal"
#: The key of rows whose own is NaN: each NaN differs from all others, and this one is itself.
NAN = float("nan")


def score(
    df: "DataFrame",
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
        by: a column of single values; the rows of each of its values are scored by themselves.
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
    scored = plain(metric, config_name, **options)
    grouped = options.get("confidence_level") is not None  # only intervals depend on groups
    states = _states(df, _Loading(metric, config_name, options), by, columns, grouped=grouped)
    results = {key: scored.score_state(state) for key, state in states.items()}
    return results[None] if by is None else results


def score_by(
    df: "DataFrame",
    metric: str,
    by: str | Sequence[str],
    *,
    key: str | None = None,
    min_rows: int = MIN_ROWS.default,
    columns: Mapping[str, str] | None = None,
    config_name: str | None = None,
    **options: Any,
) -> GroupScores:
    """Score groups of the rows of a Spark DataFrame: what ``compute_by`` gives for the same rows.

    Args:
        df, metric, columns, config_name, **options: as in `score`.
        by: a column of names, for one pass over the rows; or several columns of yes and no (bools, or 1 and 0), with a
            pass over the rows of each: a row may be in several of these groups, or in none.
        key, min_rows: as in ``compute_by``.

    Raises:
        ValueError: for what `score` and ``compute_by`` refuse.

    Example:
        ``toxeval.spark.score_by(posts, "threat_f1", ["female", "male"], confidence_level=0.95).gap``
    """
    scored, load = plain(metric, config_name, **options), _Loading(metric, config_name, options)
    grouped = options.get("confidence_level") is not None
    if isinstance(by, str):
        groups = {name_of(name): state for name, state in _states(df, load, by, columns, grouped=grouped).items()}
        whole = merge(groups.values())
    else:
        whole = _states(df, load, None, columns, grouped=grouped)[None]
        parts = {name: _rows_with(df, metric, name) for name in by}
        groups = {name: _states(part, load, None, columns, grouped=grouped)[None] for name, part in parts.items()}
    return scored.score_by(GroupStates(groups, whole), key=key, min_rows=min_rows)


def _rows_with(df: "DataFrame", metric: str, name: str) -> "DataFrame":
    """The rows with a yes in a column."""
    _check_by(df, metric, name)
    column, kind = _column(df, name), dict(df.dtypes)[name]
    if kind in ("string", "binary", "date") or kind.startswith("timestamp"):
        refuse(f"a column of {kind}", "True and False, or 1 and 0", metric=metric, option=f"by {name}")
    if df.filter(~column.cast("double").isin(0.0, 1.0) | column.isNull()).limit(1).count():
        refuse("a value that is neither yes nor no", "True and False, or 1 and 0", metric=metric, option=f"by {name}")
    return df.filter(column.cast("double") == 1.0)


def corrected_rate(
    df: "DataFrame",
    metric: str,
    *,
    judge_on: "DataFrame | None" = None,
    by: str | None = None,
    columns: Mapping[str, str] | None = None,
    config_name: str | None = None,
    judge_by_category: bool = False,
    confidence_level: float = 0.95,
    **options: Any,
) -> dict[Any, Any]:
    """A rate of a Spark DataFrame corrected for its judge: what ``corrected_rate`` of the metric gives for these rows.

    Args:
        df: one row an item, with the judge's verdict; without ``judge_on`` also a column ``human`` with the labels of
            some of the rows, null in the others.
        metric: one of `toxeval.METRICS`.
        judge_on: other rows, each with a verdict and a label (``human``, ``references`` or ``label``).
        by: a column of single values, such as the chatbot; the rows of each of its values are rated by themselves.
        columns: input -> column, as for `score`; for ``judge_on`` alone ``judge_on.predictions`` and so on.
        config_name: the metric's configuration.
        judge_by_category, confidence_level: as in ``corrected_rate``.
        **options: of the metric, on which verdicts depend.

    Returns:
        The dict ``corrected_rate`` returns; with ``by`` a dict from that column's values to such dicts.

    Raises:
        ValueError: for what `score` and ``corrected_rate`` refuse.

    Example:
        ``toxeval.spark.corrected_rate(verdicts, "dia_safety_rate", judge_on=labelled, by="chatbot")``
    """
    scored, said = plain(metric, config_name, **options), columns or {}
    human = None if judge_on is None else False
    own = columns_of_verdicts(said, labelled=judge_on is None)
    states = _states(df, _Loading(metric, config_name, options, verdicts=True, human=human), by, own)
    way: dict[str, Any] = {"judge_by_category": judge_by_category, "confidence_level": confidence_level}
    if judge_on is not None:
        judge = _Loading(metric, config_name, options, verdicts=True, human=True)
        way["judge_on"] = _states(judge_on, judge, None, columns_of_judge(said))[None]
    results = {key: scored.corrected_rate(state=state, **way) for key, state in states.items()}
    return results[None] if by is None else results


@dataclass(frozen=True)
class _Loading:
    """A metric, as each task loads it.

    Attributes:
        name, config: what is loaded.
        options: of the whole call.
        verdicts: whether it is to count verdicts and labels; ``human`` is then as for `judged`.
    """

    name: str
    config: str | None
    options: Mapping[str, Any]
    verdicts: bool = False
    human: bool | None = None

    def __call__(self) -> Metric:
        metric = plain(self.name, self.config, **self.options)
        return metric.judged(self.human) if self.verdicts else metric


def _states(
    df: "DataFrame", load: _Loading, by: str | None, columns: Mapping[str, str] | None, *, grouped: bool = False
) -> dict[Any, State]:
    """The states of the rows of each value of ``by``, in order; ``grouped`` if groups of rows count."""
    definition, table = load().definition, _table(df)
    (places,) = find_inputs(definition, [table], {**(columns or {}), ID: ""})
    for each in definition.inputs:
        if each.required and each.name not in places:
            found, allowed = "no such column in the DataFrame", ", ".join(df.columns)
            refuse(found, allowed, metric=load.name, inputs=(each.name,))
        if each.kind == GROUP and not grouped:
            places.pop(each.name, None)
    if by is not None:
        _check_by(df, load.name, by)
    task = _Counting(load, table, places)
    wanted = Parser(definition, table, places).columns  # Spark would take a dot in their names for a path
    selected = [_column(df, *table.path(name)).alias(_alias(i)) for i, name in enumerate(wanted)]
    if by is not None:
        selected.append(_column(df, by).alias(KEY))
    states = _collect(_counted(df.select(*selected), task), SparkWords(places))
    if by is None:
        return {None: states.get(None, State(0))}
    if not states:
        refuse("no rows", "at least one row", metric=load.name, inputs=("predictions",))
    in_order = sorted(states, key=lambda key: (key is None, key is NAN, 0 if key is NAN else key))
    return {key: states[key] for key in in_order}


class SparkWords(Words):
    """Rows of a DataFrame have columns and no numbers."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._columns = {name: ", ".join(columns_of({name: place})) for name, place in places.items()}

    def input(self, refusal: Refusal, name: str) -> str:
        """An input, with its column."""
        field = f'["{refusal.field}"]' if refusal.field else ""
        position = "" if refusal.position is None else f"[{refusal.position}]"
        column = f" (column {self._columns[name]})" if name in self._columns else ""
        return f"{name}{field}{position}{column}"

    def row(self, refusal: Refusal) -> str:
        """Some row."""
        return "a row"


class _Refused(Refusal):
    """What a worker refused, in the words of Spark."""

    def __init__(self, refusal: Refusal, words: SparkWords) -> None:
        super().__init__(refusal.found)
        self.__dict__.update(refusal.__dict__)
        self._words = words

    def __str__(self) -> str:
        return self.text(self._words)


def _table(df: "DataFrame") -> Table:
    from pyspark.sql.types import StructType

    nested = frozenset(field.name for field in df.schema.fields if isinstance(field.dataType, StructType))
    return Table("the DataFrame", tuple(df.columns), _not_read, nested=nested)


def _not_read(columns: Any) -> NoReturn:
    raise AssertionError("rows are read by Spark")


def _column(df: "DataFrame", name: str, path: Iterable[str] = ()) -> Any:
    """A column by its name, dots and all, or a field in its records."""
    column = df["`" + name.replace("`", "``") + "`"]
    for field in path:
        column = column.getField(field)
    return column


def _alias(i: int) -> str:
    """What the tasks call the column number ``i`` of those that are wanted."""
    return f"column {i}"


def _check_by(df: "DataFrame", metric: str, by: str) -> None:
    from pyspark.sql.types import ArrayType, MapType, StructType

    if by not in df.columns:
        refuse(f"no column {by!r} in the DataFrame", ", ".join(df.columns), metric=metric, option="by")
    kind = next(field.dataType for field in df.schema.fields if field.name == by)
    if isinstance(kind, (ArrayType, MapType, StructType)) or kind.typeName() == "variant":
        found = f"a column of {kind.simpleString()}"
        refuse(found, "a column of single values, such as texts or numbers", metric=metric, option="by")


# --- the tree -----------------------------------------------------------------------------------------------------


def _counted(rows: "DataFrame", task: "_Counting") -> "DataFrame":
    """A table of (key, state or refusal), of `FAN_IN` partitions at most."""
    from pyspark.sql.types import BinaryType, StructField, StructType

    keys = [field for field in rows.schema.fields if field.name == KEY]
    schema = StructType([*keys, StructField(STATE, BinaryType()), StructField(REFUSED, BinaryType())])
    states = rows.mapInArrow(task, schema)
    width = _cores(rows)
    while True:
        states = states.repartition(width).mapInArrow(_merging, schema)
        if width <= FAN_IN:
            return states
        width = -(-width // FAN_IN)


def _cores(rows: "DataFrame") -> int:
    """How many tasks run at once. (A session of Spark Connect doesn't say; then as many as a shuffle has.)"""
    session: Any = rows.sparkSession
    if hasattr(session, "_jsparkSession"):
        return int(session.sparkContext.defaultParallelism)
    return int(session.conf.get("spark.sql.shuffle.partitions"))


def _collect(states: "DataFrame", words: SparkWords) -> dict[Any, State]:
    """Key -> state, on the driver.

    Raises:
        Refusal: what a worker refused.
    """
    parts: dict[Any, list[State]] = {}
    for row in states.collect():
        if row[REFUSED] is not None:
            raise _Refused(pickle.loads(row[REFUSED]), words)
        parts.setdefault(_one_nan(row.asDict().get(KEY)), []).append(State.from_bytes(row[STATE]))
    return {key: merge(several) for key, several in parts.items()}


def _one_nan(key: Any) -> Any:
    """A key that is itself."""
    return NAN if key != key else key


# --- on the workers -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Counting:
    """The task of a partition: its rows to a state a key.

    Attributes:
        load: gives the metric.
        table: the DataFrame's columns.
        places: input -> column.
    """

    load: _Loading
    table: Table
    places: Mapping[str, Place]

    def __call__(self, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        metric = self.load()
        parse = Parser(metric.definition, self.table, self.places)
        metrics: dict[Any, Metric] = {}
        kind = None
        for rows in _in_blocks(batches):
            kind = rows.schema.field(KEY).type if KEY in rows.schema.names else None
            for key, part in _by_key(rows):
                counted = metrics.setdefault(key, metric.without_rows())
                try:
                    columns = {name: part[_alias(i)].combine_chunks() for i, name in enumerate(parse.columns)}
                    counted.add_batch(**parse(columns))
                except Refusal as refusal:
                    yield _row(kind, None, refused=pickle.dumps(refusal))
                    return
        yield from _as_batches({key: counted.added_state().compact() for key, counted in metrics.items()}, kind)


def _in_blocks(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.Table]":
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


def _by_key(rows: "pa.Table") -> "Iterator[tuple[Any, pa.Table]]":
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
        yield _one_nan(key), rows.slice(start, n)
        start += n


def _merging(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """The task of a node of the tree: states of the same key to one; of a refusal nothing else matters."""
    states: dict[Any, list[State]] = {}
    kind = None
    for batch in batches:
        keys = [None] * batch.num_rows
        if KEY in batch.schema.names:
            kind, keys = batch.schema.field(KEY).type, batch[KEY].to_pylist()
        for key, state, refused in zip(keys, batch[STATE], batch[REFUSED]):
            if refused.is_valid:
                yield _row(kind, None, refused=refused.as_py())
                return
            several = states.setdefault(_one_nan(key), [])
            several.append(State.from_bytes(state.as_py()))
            if len(several) == FAN_IN:
                states[_one_nan(key)] = [merge_compact(several)]
    yield from _as_batches({key: merge_compact(several) for key, several in states.items()}, kind)


def _as_batches(states: Mapping[Any, State], kind: "pa.DataType | None") -> "Iterator[pa.RecordBatch]":
    """A state a row, each in a batch of its own: together they may not fit."""
    for key, state in states.items():
        yield _row(kind, key, state=state.to_bytes())


def _row(
    kind: "pa.DataType | None", key: Any, *, state: bytes | None = None, refused: bytes | None = None
) -> "pa.RecordBatch":
    """A row of the tables that tasks hand on; ``kind`` is the type of its key, if there are keys."""
    import pyarrow as pa

    keys = {} if kind is None else {KEY: pa.array([key], kind)}
    data = {name: pa.array([value], pa.binary()) for name, value in ((STATE, state), (REFUSED, refused))}
    return pa.RecordBatch.from_pydict({**keys, **data})
