"""Columns of ``datasets``: as they are stored, with class labels by the names that the dataset declares."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .refusals import BOOLS, refuse


def read_column(column: Any) -> Any:
    """A lazy column of ``datasets``, as it is stored: the formats of tensors make float32 of float64. Class labels come
    as the names the dataset declares: its order of ids needn't be the metric's."""
    feature = getattr(column, "features", None)
    labels = has_class_labels(feature)
    if hasattr(column, "source") and (labels or _format(column) != "custom"):  # which makes what it likes
        narrow = not labels and _is_narrow(feature)  # Python's floats don't show that they were float32
        column = _stored(column, "arrow" if narrow else None)
    return [class_label_names(value, feature) for value in column] if labels else column[:]


def _format(column: Any) -> Any:
    """The format of the dataset that a lazy column is of."""
    source = getattr(column, "source", None)
    return _format(source) if hasattr(source, "source") else getattr(source, "format", {}).get("type")


def _stored(column: Any, form: str | None) -> Any:
    """A lazy column of ``datasets``, or of the records in one, in this format and no other."""
    if hasattr(column.source, "with_format"):
        return column.source.with_format(form)[column.column_name][:]
    records = _stored(column.source, form)
    if form is None:
        return [record[column.column_name] for record in records]
    import pyarrow.compute as pc

    return pc.struct_field(records, column.column_name)


def has_class_labels(feature: Any) -> bool:
    """Whether there are class labels anywhere in a feature of ``datasets``, as an object or as it is written down."""
    if getattr(feature, "names", None) is not None or isinstance(feature, Mapping) and _names(feature):
        return True
    return any(map(has_class_labels, _parts(feature)))


def class_label_names(value: Any, feature: Any) -> Any:
    """A value with names for the ids of class labels in it; a negative id, such as -100, stays as it is.

    >>> feature = {"_type": "Sequence", "feature": {"_type": "ClassLabel", "names": ["O", "T"]}}
    >>> class_label_names([1, 0, -100], feature)
    ['T', 'O', -100]
    """
    if isinstance(feature, (list, tuple)) and feature:  # a list of records, as older versions write it
        feature = {"feature": feature[0]}
    inner = feature.get("feature") if isinstance(feature, Mapping) else getattr(feature, "feature", None)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [class_label_names(item, inner) for item in value]
    if isinstance(value, Mapping):
        fields = inner if inner is not None else feature  # old files have a sequence of records as a record
        known = fields if isinstance(fields, Mapping) else {}
        return {key: class_label_names(item, known.get(key)) for key, item in value.items()}
    names = _names(feature)
    if not names or not isinstance(value, (int, np.integer)) or isinstance(value, BOOLS) or value < 0:
        return value
    if value >= len(names):
        refuse(f"class label {value}", f"0 to {len(names) - 1}: the dataset declares so many names")
    return names[value]


def _is_narrow(feature: Any) -> bool:
    """Whether there are float32 or float16 numbers in a feature."""
    return getattr(feature, "dtype", None) in ("float32", "float16") or any(map(_is_narrow, _parts(feature)))


def _names(feature: Any) -> Any:
    """The names of a class label, if a feature is one."""
    if isinstance(feature, Mapping):
        return feature.get("names") if feature.get("_type") == "ClassLabel" else None
    return getattr(feature, "names", None)


def _parts(feature: Any) -> Iterable[Any]:
    """The features within a feature."""
    if isinstance(feature, Mapping):
        return feature.values()
    if isinstance(feature, (list, tuple)):
        return feature
    inner = getattr(feature, "feature", None)
    return () if inner is None else (inner,)
