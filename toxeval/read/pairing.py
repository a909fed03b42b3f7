"""Predictions and their references, matched by id or by position, in batches that know where in the files they are."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np

from toxeval.core.declarations import GROUP, Definition
from toxeval.core.judged import HUMAN
from toxeval.core.metric import Metric
from toxeval.core.refusals import Refusal, SayColumns, SetOption, refuse

from .cells import Parser
from .columns import ID, columns_of, find_inputs, names_looked_for, say
from .group_columns import GroupColumns
from .human_labels import HumanLabels
from .ids import refuse_repeated, some
from .order import Order
from .rows import join, n_rows, slice_rows, take
from .tables import Table, shown

#: What is said of rows that were matched by position, and by no column.
POSITION = "position"
#: What stands beside a batch's inputs where a table, that of the predictions or of the references, has rows that don't
#: count: whether each row is one.
_UNSCORED = ("unscored predictions", "unscored references")


@dataclass(frozen=True)
class Batch:
    """Some rows, ready for a metric.

    Attributes:
        inputs: input -> values.
        n_rows: how many.
        row: (input, row in this batch) -> its row in its file.
    """

    inputs: dict[str, Any]
    n_rows: int
    row: Callable[[str, int], int]

    def locate(self, refusal: Refusal) -> None:
        """Give a refusal of these rows the rows of the files."""
        if refusal.row is None:
            return
        names = refusal.inputs or tuple(self.inputs)[:1]
        refusal.rows = {name: self.row(name, refusal.row) for name in names if name in self.inputs}
        refusal.row = next(iter(refusal.rows.values()), refusal.row)


class Rows:
    """The rows of one or two tables as a metric's inputs, batch after batch.

    Where both tables have ids (a column ``id`` or ``post_id``, or the one that is said to be the id), rows are matched
    by them, and the references are held in memory; else by position. The index of pandas is no id.

    Args:
        columns: input, field of one (``predictions.slots``), ``id``, or ``references.id`` where that is another -> its
            column, where it has another name. ``id`` without a column: there are no ids, and rows are in one order.
        human: a table with human labels of some of the rows, which are matched by id in any case; of a metric of
            verdicts and labels (`judged`).
        by: columns that say which group a row is in, in either table; see `group_columns`.

    Attributes:
        name, n_rows: of the predictions' table; None where it doesn't say how many beforehand.
        matched: the column by which rows are matched, or `POSITION`; "" for a single table.
        n_left_out: rows that don't count by definition (`Table.unscored`), as far as they were read.

    Raises:
        Refusal: for columns that are missing, or may be several inputs; and, while rows are read, for ids that are
            repeated or don't match, tables of different lengths or in another order, cells that are no such values.

    Warns:
        Doubt: if rows are matched by position and columns of the same name differ.

    >>> from toxeval.loading import definition
    >>> from toxeval.read import from_columns
    >>> table = from_columns("a table", {"prediction": ["OFF", "NOT"], "label": ["OFF", "OFF"]}, text=True)
    >>> Rows(definition("sold_macro_f1"), table).collect()
    {'predictions': ['OFF', 'NOT'], 'references': ['OFF', 'OFF']}
    """

    def __init__(
        self,
        definition: Definition,
        predictions: Table,
        references: Table | None = None,
        columns: Mapping[str, str] | None = None,
        human: Table | None = None,
        by: Sequence[str] = (),
    ) -> None:
        said = columns or {}
        self._human = None
        if human is not None:
            self._human = HumanLabels(definition, predictions, human, said)
            said = {name: column for name, column in said.items() if name != HUMAN}
            definition = replace(definition, inputs=tuple(e for e in definition.inputs if e.name != HUMAN))
        self.name, self.n_rows = predictions.name, predictions.n_rows
        self._without_ids = said.get(ID) == ""
        self._definition = definition
        self._tables = [predictions] if references is None else [predictions, references]
        self._places = find_inputs(definition, self._tables, said)
        self._by = GroupColumns(definition, self._tables, by)
        self._late = [names_looked_for(definition, i, len(self._tables), said) for i in range(len(self._tables))]
        self.matched, self.n_left_out = "", 0
        if self._human is not None:
            self.matched = shown(self._human.column)
        if references is not None:
            ids = [str(there[ID]) for there in self._places if ID in there]
            self.matched = " and ".join(dict.fromkeys(map(shown, ids))) or POSITION

    def __iter__(self) -> Iterator[Batch]:
        if len(self._tables) == 1:
            batches = self._alone()
        else:
            batches = self._by_id() if ID in self._places[0] else self._by_position()
        return self._counting(batches) if any(table.unscored for table in self._tables) else batches

    def _counting(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The rows that count."""
        self.n_left_out, n_kept = 0, 0
        for batch in batches:
            unscored = np.logical_or.reduce([batch.inputs.pop(name) for name in _UNSCORED if name in batch.inputs])
            self.n_left_out += int(unscored.sum())
            rows = np.flatnonzero(~unscored)
            n_kept += len(rows)
            if len(rows):
                yield Batch(take(batch.inputs, rows), len(rows), _within(batch, rows))
        if not n_kept:
            refuse(f"no rows but {self.left_out}", metric=self._definition.name, inputs=("predictions",))

    @property
    def left_out(self) -> str:
        """How many rows don't count, and why, in words; "" if all do."""
        whys = dict.fromkeys(table.unscored.why for table in self._tables if table.unscored)
        return f"{self.n_left_out} {' or '.join(whys)}" if self.n_left_out else ""

    def collect(self) -> dict[str, Any]:
        """All rows at once, in memory."""
        return join([batch.inputs for batch in self])

    def _parsed(self, i: int, more: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
        """The batches of a table: number of rows, the inputs, and further columns as they are."""
        table, places = self._tables[i], self._places[i]
        parse, row = Parser(self._definition, table, places), 0
        unscored = table.unscored
        marks = unscored.columns if unscored else ()
        human = self._human if i == 0 else None
        ids = [] if human is None else [human.column]
        wanted = [*parse.columns, *more, *marks, *ids, *self._by.of(i)]
        for columns in table.batches(list(dict.fromkeys(wanted))):
            n = len(next(iter(columns.values())))
            for name in self._late[i].intersection(table.late):  # it would be left out without a word
                found = f"the first {name!r}; an input is in every record or in none"
                refuse(found, file=table.name, where=table.late[name])
            try:
                inputs = parse(columns)
                if human is not None:
                    inputs[HUMAN] = human.of(columns)
                inputs |= self._by.parse(i, columns)
            except Refusal as refusal:
                Batch(dict.fromkeys([*places, *refusal.inputs]), n, _after(row)).locate(refusal)
                raise
            if unscored:
                inputs[_UNSCORED[i]] = unscored.find({name: columns[name] for name in marks})
            yield n, inputs, {name: columns[name] for name in more}
            row += n
        if human is not None:
            human.refuse_unseen()

    # One table.

    def _alone(self) -> Iterator[Batch]:
        start, hashes = 0, []  # 64 bits an id: enough to find one that is there again
        for n, inputs, _ in self._parsed(0):
            if ID in inputs:
                hashes.append(np.fromiter(map(hash, inputs.pop(ID)), dtype=np.int64, count=n))
            yield Batch(inputs, n, _after(start))
            start += n
        if hashes:
            self._refuse_repeated(hashes)

    def _refuse_repeated(self, hashes: Sequence[np.ndarray]) -> None:
        in_order = np.concatenate(hashes)
        in_order.sort()  # in place: there may be very many
        again = np.flatnonzero(in_order[1:] == in_order[:-1])
        if not len(again):
            return
        order = np.argsort(np.concatenate(hashes), kind="stable")
        pairs = np.stack([order[again], order[again + 1]])
        first, second = pairs[:, np.argmin(pairs[1])].tolist()
        way = SayColumns(((ID, None),))
        hint = ("was a run logged more than once? If it doesn't tell rows apart, say which column does: ", way)
        refuse_repeated(self._definition, self._tables[0], first, second, hint)

    # By position.

    def _by_position(self) -> Iterator[Batch]:
        names = {name for each in self._definition.inputs for name in each.columns}
        used = {column for places in self._places for column in columns_of(places)}
        order = Order(self._definition.name, self._tables, names | used)
        sides = [self._parsed(i, order.columns(i)) for i in (0, 1)]
        held: list[dict[str, Any] | None] = [None, None]
        start = 0
        while True:
            for i, side in enumerate(sides):
                if held[i] is None and (part := next(side, None)) is not None:
                    held[i] = {"row": range(part[0]), "inputs": part[1], "others": part[2]}
            first, second = held
            if first is None or second is None:
                break
            n = min(n_rows(first), n_rows(second))
            parts = [slice_rows(part, 0, n) for part in (first, second)]
            order.see(*(part["others"] for part in parts))
            yield Batch(parts[0]["inputs"] | parts[1]["inputs"], n, _after(start))
            start += n
            held = [slice_rows(part, n, None) if n_rows(part) > n else None for part in (first, second)]
        if held != [None, None]:
            lengths = [
                start + (n_rows(part) if part else 0) + sum(n for n, _, _ in side) for part, side in zip(held, sides)
            ]
            found = f"{lengths[0]} rows in {self._tables[0].name} and {lengths[1]} in {self._tables[1].name}"
            inputs = ("predictions", "references")
            refuse(found, "one row of each an item", metric=self._definition.name, inputs=inputs)
        if not self._without_ids:
            order.judge()

    # By id.

    def _by_id(self) -> Iterator[Batch]:
        gold = [inputs for _, inputs, _ in self._parsed(1)]
        ids = [i for inputs in gold for i in inputs.pop(ID)]
        rows = dict(zip(ids, range(len(ids))))
        if len(rows) < len(ids):
            again = next(row for row, i in enumerate(ids) if rows[i] != row)
            refuse_repeated(self._definition, self._tables[1], again, ids.index(ids[again], again + 1))
        references = join(gold)
        # the row of the predictions' file at which each reference's id was seen
        seen = np.full(len(ids), -1, dtype=np.int64)
        start, unknown = 0, []
        for _, inputs, _ in self._parsed(0):
            own = inputs.pop(ID)
            positions = np.fromiter(map(rows.get, own, repeat(-1)), dtype=np.int64, count=len(own))
            at = np.arange(start, start + len(own))
            start += len(own)
            unknown.extend(at[positions < 0].tolist())
            known, where = positions[positions >= 0], at[positions >= 0]
            self._refuse_again(seen, known, where)
            seen[known] = where
            if unknown:
                continue  # only to count them
            located = dict.fromkeys(inputs, at) | dict.fromkeys(references, positions)
            yield Batch(inputs | take(references, positions), len(own), _looked_up(located))
        self._refuse_different(unknown, np.flatnonzero(seen < 0).tolist())

    def _refuse_again(self, seen: np.ndarray, known: np.ndarray, where: np.ndarray) -> None:
        """Refuse predictions whose id another row has."""
        first = np.zeros(len(known), dtype=bool)
        first[np.unique(known, return_index=True)[1]] = True
        again = np.flatnonzero((seen[known] >= 0) | ~first)
        if len(again):
            position, row = known[again[0]], int(where[again[0]])
            before = seen[position] if seen[position] >= 0 else where[known == position][0]
            refuse_repeated(self._definition, self._tables[0], int(before), row)

    def _refuse_different(self, unknown: list[int], missing: list[int]) -> None:
        """Refuse ids that are in one table only."""
        first, second = (table.name for table in self._tables)
        found = []
        if unknown:
            found.append(f"{len(unknown)} of {first} aren't in {second} ({some(unknown)})")
        if missing:
            found.append(f"{len(missing)} of {second} aren't in {first} ({some(missing)})")
        if found:
            refuse(" and ".join(found), "the same ids in both", metric=self._definition.name, inputs=(ID,))


def _after(start: int) -> Callable[[str, int], int]:
    """The rows of a batch before which there were ``start`` others."""
    return lambda _, row: start + row


def _within(batch: Batch, rows: np.ndarray) -> Callable[[str, int], int]:
    """The rows of a batch of which some are taken."""
    return lambda name, row: batch.row(name, int(rows[row]))


def _looked_up(rows: Mapping[str, np.ndarray]) -> Callable[[str, int], int]:
    return lambda name, row: int(rows[name][row])


def add_rows(
    metric: Metric, rows: Rows, *, groups: bool = True, progress: Callable[[Rows], Iterable[Batch]] = iter
) -> set[str]:
    """Add rows to a metric, batch by batch: in constant memory, if its state is.

    Args:
        groups: whether inputs that only tell groups of rows apart are wanted, as intervals do.
        progress: gives the batches of the rows, and may show how far they are.

    Returns:
        The names of the inputs that were there.

    Raises:
        Refusal: as `Rows` does, and for what the metric refuses; its rows are those of the files.
    """
    left_out = set() if groups else {each.name for each in metric.definition.inputs if each.kind == GROUP}
    inputs: set[str] = set()
    for batch in progress(rows):
        given = {name: values for name, values in batch.inputs.items() if name not in left_out}
        inputs = set(given)
        try:
            metric.add_batch(**given)
        except Refusal as refusal:
            batch.locate(refusal)
            advise(refusal, metric.definition, inputs)
            raise
    return inputs


def advise(refusal: Refusal, definition: Definition, there: Iterable[str]) -> None:
    """To a refusal of an input that is missing, add how to say in which column it is."""
    each = definition.input(refusal.inputs[0]) if refusal.inputs else None
    if each is None or each.name in there or refusal.row is not None:
        return
    before = (refusal.hint, "; ") if isinstance(refusal.hint, str) and refusal.hint else ()
    file = SetOption("references", "FILE", reader=True)
    refusal.hint = (*before, "if they are there: ", *say(each), "; in another file: ", file)
