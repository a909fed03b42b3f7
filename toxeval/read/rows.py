"""Rows of inputs: columns of values, or of the fields of records, by the name of the input."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .tables import as_list


def n_rows(inputs: Mapping[str, Any]) -> int:
    """How many rows some inputs have."""
    values = next(iter(inputs.values()))
    return n_rows(values) if isinstance(values, dict) else len(values)


def slice_rows(inputs: Mapping[str, Any], start: int, stop: int | None) -> dict[str, Any]:
    """Some rows of inputs."""
    return {k: slice_rows(v, start, stop) if isinstance(v, dict) else v[start:stop] for k, v in inputs.items()}


def take(inputs: Mapping[str, Any], positions: np.ndarray) -> dict[str, Any]:
    """The rows at some positions."""

    def part(values: Any) -> Any:
        if isinstance(values, dict):
            return take(values, positions)
        if isinstance(values, list):
            return list(map(values.__getitem__, positions.tolist()))
        return values.take(positions)  # NumPy or Arrow

    return {name: part(values) for name, values in inputs.items()}


def join(batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Batches end to end."""

    def part(values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return join(values)
        if any(isinstance(each, list) for each in values):
            return [value for each in values for value in as_list(each)]
        if isinstance(values[0], np.ndarray):
            return np.concatenate(values)
        import pyarrow as pa

        return pa.concat_arrays(values)

    return {name: part([batch[name] for batch in batches]) for name in batches[0]}
