"""What holds the rows: a list, an array, a tensor, a column. Each becomes a list, a NumPy or a pyarrow array.

Nothing here guesses, clips, drops or repairs a value.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .dataset_columns import read_column
from .refusals import Text, describe, refuse

#: Python objects that are looked at several times are taken so many at a time: they then stay in the processor's cache.
ROWS_AT_A_TIME = 2048


class Place(NamedTuple):  # a tuple, since one is made for every input of every small batch
    """What is being read: an input, a field of its records, a single row of it."""

    name: str
    field: str = ""
    row: int | None = None

    def refuse(
        self, found: Text, allowed: Text = "", hint: Text = "", row: int | None = None, position: int | None = None
    ) -> NoReturn:
        """Refuse something in it."""
        row = self.row if row is None else row
        refuse(found, allowed, hint, inputs=(self.name,), row=row, field=self.field, position=position)


def same_length(**lengths: int) -> None:
    """Refuse inputs of different lengths, and inputs without a row.

    >>> same_length(predictions=2, references=3)
    Traceback (most recent call last):
    ...
    toxeval.core.refusals.Refusal: predictions and references: 2 and 3 rows; allowed: one row of each an item
    """
    first, *others = lengths
    for name in others:
        if lengths[name] != lengths[first]:
            refuse(f"{lengths[first]} and {lengths[name]} rows", "one row of each an item", inputs=(first, name))
    if lengths[first] == 0:
        refuse("no rows", "at least one row", inputs=(first,))


def materialise(place: Place, values: Any) -> Any:
    """Whatever holds the rows (list, tuple, NumPy, torch, pandas, pyarrow, ``datasets`` column) as a list, a NumPy
    array, or (strings and lists in Arrow) a pyarrow array.

    Raises:
        Refusal: for anything without an order and a length: a scalar, a string, a dict, a set, a generator.
    """
    if isinstance(values, (list, np.ndarray)):
        if isinstance(values, np.ndarray) and values.ndim == 0:
            place.refuse("a single number", "one value a row")
        return _unmasked(place, values) if isinstance(values, np.ma.MaskedArray) else values
    if isinstance(values, tuple):
        return list(values)
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step)
    if values is None:
        place.refuse("missing", "one value a row")
    library = type(values).__module__.partition(".")[0]
    if library == "datasets":
        if not hasattr(values, "__len__"):
            hint = "a stream has no column: give its batches to add_batch"
            place.refuse(describe(values), "a list, an array or a column with one value a row", hint)
        return materialise(place, read_column(values))
    if library == "pyarrow":
        return from_arrow(place, values)
    if hasattr(values, "detach"):
        return numbers_of_tensor(place, values)
    if library == "polars" and values.dtype.is_nested():  # whose lists and records are objects of its own
        return from_arrow(place, values.to_arrow())
    if hasattr(values, "to_numpy"):  # pandas and polars: by position, whatever the index
        return values.to_numpy()
    if hasattr(values, "__array__"):
        return materialise(place, np.asarray(values))
    place.refuse(describe(values), "a list, an array or a column with one value a row")


def _unmasked(place: Place, values: np.ma.MaskedArray) -> np.ndarray:
    """A masked array's values; what lies under a mask is none."""
    mask = np.asarray(values.mask)  # without dimensions if there is none
    if mask.any():
        place.refuse("a masked value", "a value in every row", row=int(np.argwhere(mask)[0][0]))
    array: np.ndarray = np.asarray(values)
    return array


def numbers_of_tensor(place: Place, tensor: Any, row: int | None = None) -> np.ndarray:
    """A torch tensor as a NumPy array."""
    try:
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        # NumPy has no bfloat16; float32 holds each of its values
        array: np.ndarray = (tensor.float() if tensor_type(tensor) == "torch.bfloat16" else tensor).numpy()
    except (TypeError, RuntimeError):  # sparse, nested, quantised, without data, or of a type NumPy hasn't
        place.refuse(f"a tensor of {tensor.dtype} that NumPy can't hold", "a dense tensor of numbers", row=row)
    return array


def tensor_type(values: Any) -> str:
    """The type of a tensor's or an array's numbers, as it prints."""
    return str(getattr(values, "dtype", ""))


def from_arrow(place: Place, values: Any) -> Any:
    """Numbers as a NumPy array, anything else as one pyarrow array; a null is refused with its row."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # pyarrow keeps several chunks where one would overflow
            values = pa.concat_arrays(values.chunks)
    if not isinstance(values, pa.Array):
        place.refuse(describe(values), "a list, an array or a column with one value a row")
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if values.null_count:
        row = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        place.refuse("None", "a value in every row", row=row)
    kind = values.type
    if pa.types.is_decimal(kind):  # cast at once, 0.3 would be 3 * 0.1
        return values.cast(pa.string()).cast(pa.float64()).to_numpy()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return values.to_numpy(zero_copy_only=False)
    return values


def is_arrow(values: Any) -> bool:
    """Whether ``values`` is a pyarrow array (pyarrow itself is imported only when it is)."""
    return type(values).__module__.partition(".")[0] == "pyarrow"


def plain_values(values: Sequence[Any]) -> list[Any]:
    """The items of a list, with tensors and arrays of no dimension as Python's numbers, decimals and fractions as
    floats, and what a masked array masks as None."""
    masked = np.ma.masked
    return [
        None
        if value is masked
        else value.item()
        if getattr(value, "ndim", None) == 0
        else float(value)
        if isinstance(value, (Decimal, Fraction))
        else value
        for value in values
    ]


def columns_of(name: str, values: Any, fields: Iterable[str]) -> dict[str, Any]:
    """The fields of records: given as a list of dicts, a dict of columns, or a struct column.

    >>> columns_of("references", [{"intent": "E", "slots": []}], ("intent", "slots"))
    {'intent': ['E'], 'slots': [[]]}
    """
    fields, place = tuple(fields), Place(name)
    allowed = f"records with the fields {', '.join(fields)}"
    if isinstance(values, Mapping):
        if set(values) != set(fields):
            place.refuse(f"the fields {', '.join(map(describe, values)) or '(none)'}", allowed)
        return {field: values[field] for field in fields}
    if hasattr(values, "columns") or hasattr(values, "column_names"):  # of pandas, polars, pyarrow, ``datasets``
        parts = ", ".join(f'"{field}": table["{field}"]' for field in fields)
        place.refuse(f"a {type(values).__name__}", allowed, f"of a table give {{{parts}}}")
    rows = materialise(place, values)
    if not len(rows):  # an empty Arrow column has no type
        return {field: [] for field in fields}
    if is_arrow(rows):
        import pyarrow as pa

        if not pa.types.is_struct(rows.type) or {f.name for f in rows.type} != set(fields):
            place.refuse(f"an Arrow column of {rows.type}", allowed)
        return {field: rows.field(field) for field in fields}
    rows = list(rows)
    columns: dict[str, list[Any]] = {field: [] for field in fields}
    sizes: set[int] = set()
    try:
        for start in range(0, len(rows), ROWS_AT_A_TIME):
            block = rows[start : start + ROWS_AT_A_TIME]
            for field in fields:
                columns[field].extend(map(itemgetter(field), block))
            sizes.update(map(len, block))
        whole = sizes <= {len(fields)}
    except (KeyError, TypeError, IndexError):
        whole = False
    if not whole:
        for row, record in enumerate(rows):
            if not isinstance(record, Mapping):
                place.refuse(describe(record), allowed, row=row)
            if set(record) != set(fields):
                missing = [field for field in fields if field not in record]
                found = f"no field {missing[0]!r}" if missing else "more fields than that"
                place.refuse(found, allowed, row=row)
    return columns
