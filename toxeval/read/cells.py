"""What stands in the columns of a table, as the inputs of a metric."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from toxeval.core.containers import is_arrow
from toxeval.core.declarations import GROUP, LABEL, RECORD, SCORE, SEQUENCE, TEXT, Definition, Input
from toxeval.core.refusals import NUMBER, Refusal, describe, refuse

from .columns import ID, Place, columns_of
from .json_texts import read_json
from .tables import Table, as_list


class Parser:
    """Turns the columns of a table's batches into a metric's inputs.

    Values with types of their own pass as they are. Of texts (CSV, TSV) the first cell of a column that isn't empty
    says whether it holds numbers; a later one that doesn't fit is refused, so that nothing changes meaning half way.
    Among ids an empty cell is None, a missing label.
    """

    def __init__(self, definition: Definition, table: Table, places: Mapping[str, Place]) -> None:
        self._definition, self._table, self._places = definition, table, places
        self._inputs = {each.name: each for each in definition.inputs if each.name in places}
        self._numeric: dict[tuple[str, str], bool] = {}
        self._empty: dict[str, bool] = {}
        #: input -> the column whose words an empty sequence is as long as
        self._words = {
            name: each.empty_means[0]
            for name, each in self._inputs.items()
            if each.empty_means is not None and each.empty_means[0] in table.columns
        }

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([*columns_of(self._places), *self._words.values()]))

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs in one batch of the table, ``id`` as a list of texts among them.

        Raises:
            Refusal: for cells that are no such values; its row is that of the batch.
        """
        inputs: dict[str, Any] = {}
        if ID in self._places:
            inputs[ID] = self._ids(as_list(batch[str(self._places[ID])]))
        for name, each in self._inputs.items():
            place = self._places[name]
            if self._left_out(each, batch):
                continue
            if isinstance(place, dict):
                fields = {field.name: field for field in each.fields}
                inputs[name] = {f: self._column(name, fields[f], batch[c], f) for f, c in place.items()}
            else:
                inputs[name] = self._column(name, each, batch[place])
            if name in self._words:
                inputs[name] = self._filled(each, inputs[name], batch[self._words[name]])
        return inputs

    def _refuse(self, name: str, row: int, found: str, allowed: str = "", hint: str = "", field: str = "") -> NoReturn:
        refuse(found, allowed, hint, metric=self._definition.name, inputs=(name,), row=row, field=field)

    def _left_out(self, each: Input, batch: Mapping[str, Any]) -> bool:
        """Whether an optional input's cells are all empty: as in a table with room for it."""
        if not self._table.text or each.required or each.sparse or self._empty.get(each.name) is False:
            return False
        columns = columns_of({each.name: self._places[each.name]})
        row = next((row for c in columns for row, text in enumerate(as_list(batch[c])) if text), None)
        if self._empty.setdefault(each.name, row is None) and row is not None:
            found = "the first value after empty cells"
            self._refuse(each.name, row, found, "a value in every row or in none")
        return self._empty[each.name]

    def _column(self, name: str, each: Input, values: Any, field: str = "") -> Any:
        """A column as an input, or as the field ``each`` of an input's records."""
        if not self._table.text:
            return values.to_pylist() if getattr(values, "null_count", 0) else values
        if each.kind in (GROUP, TEXT):
            return values
        if each.kind in (LABEL, SCORE) and self._numeric.get((name, field), True):
            numbers = _plain_numbers(values)
            if numbers is not None:
                self._numeric[name, field] = True
                return numbers
        values = as_list(values)
        if each.kind in (RECORD, SEQUENCE) or each.kind == SCORE and values[0].startswith("["):
            return [self._nested(name, each, row, text, field) for row, text in enumerate(values)]
        if each.kind == SCORE:
            return self._numbers(name, each, values, field)
        first = next((text for text in values if text and text.lower() != "nan"), "")
        if (name, field) not in self._numeric:
            if not first:
                return [None] * len(values)
            self._numeric[name, field] = NUMBER.fullmatch(first) is not None
        return self._numbers(name, each, values, field) if self._numeric[name, field] else values

    def _numbers(self, name: str, each: Input, values: Sequence[str], field: str) -> Any:
        """Cells as numbers. Whole ones stay whole: beyond 2^53 floats would be tied, which the metric refuses."""
        plain = "".join(values)
        # what Python's own functions take beside plain numbers: 1_000, spaces around, digits of other scripts
        if plain.isascii() and "_" not in plain and len(plain.split()) == 1:
            for kind in (int, float) if each.kind == SCORE else (float,):
                try:
                    numbers = list(map(kind, values))
                except ValueError:
                    continue
                return numbers if kind is int else np.array(numbers)
        found: list[float | None] = []
        for row, text in enumerate(values):
            if not NUMBER.fullmatch(text) and (text or each.kind == SCORE):
                allowed, hint = self._allowed(name, each)
                if NUMBER.fullmatch(text.replace(",", ".").rstrip("% ")):
                    hint = "a decimal point, and no percent sign: 0.025 for 2,5 %"
                self._refuse(name, row, describe(text) if text else "an empty cell", allowed, hint, field)
            found.append(float(text) if text else None)
        return found

    @staticmethod
    def _allowed(name: str, each: Input) -> tuple[str, str]:
        """What cells with numbers may be, and a hint."""
        if each.kind == LABEL:
            return "ids or names, not both in one column", ""
        if not each.probabilities:
            return "a number in every row", ""
        return "a number in every row, or two as in [0.1, 0.9]", "one column with P(positive) is enough"

    def _nested(self, name: str, each: Input, row: int, text: str, field: str) -> Any:
        """A sequence as a JSON list or words between white space, a record as a JSON object, scores as a JSON list."""
        if each.kind == SEQUENCE and not text.startswith("["):
            words = text.split()
            return [float(w) for w in words] if words and all(map(NUMBER.fullmatch, words)) else words
        try:
            return read_json(text)
        except json.JSONDecodeError:
            allowed, hint = "a JSON list, or words between white space", ""
            if each.kind == RECORD:
                allowed = "a JSON object"
            elif each.kind == SCORE:
                allowed, hint = self._allowed(name, each)
            self._refuse(name, row, describe(text), allowed, hint, field)
        except Refusal as refusal:
            self._refuse(name, row, str(refusal.found), field=field)

    def _filled(self, each: Input, values: Any, words: Any) -> Any:
        """Sequences, an empty one as a label at each word: a post without a rationale has nothing marked."""
        assert each.empty_means is not None
        label = each.empty_means[1]
        lengths = map(_n_words, as_list(words))
        return [
            [label] * n if isinstance(value, (list, tuple)) and not value else value
            for value, n in zip(as_list(values), lengths)
        ]

    def _ids(self, values: list[Any]) -> list[str]:
        """Ids as texts, so that 12 in one file is "12" in the other."""
        if set(map(type, values)) - {str, int} or "" in values:
            for row, value in enumerate(values):
                if not isinstance(value, (str, int)) or isinstance(value, bool) or value == "":
                    found = f"{describe(value)} in {self._table.name}"
                    self._refuse(ID, row, found, "a text or a whole number in every row")
        return list(map(str, values))


def _plain_numbers(values: Any) -> np.ndarray | None:
    """Texts of Arrow's as the finite numbers that they all are; None if they aren't, or aren't Arrow's, or are so large
    that whole ones might be tied as floats."""
    if not is_arrow(values):
        return None
    import pyarrow as pa

    try:
        floats = values.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    numbers = np.frombuffer(floats.buffers()[1], np.float64)[floats.offset :][: len(floats)]  # to_numpy imports pandas
    return numbers if bool((np.abs(numbers) < 2.0**53).all()) else None


def _n_words(words: Any) -> int:
    """How many words there are: in a list, or a text with one space between two."""
    if isinstance(words, str):
        return len(words.split(" ")) if words else 0
    return len(words) if isinstance(words, (list, tuple)) else 0
