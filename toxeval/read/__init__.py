"""The one reader of files, tables and columns: from what people have to the inputs of a metric."""

from .group_columns import split_groups
from .grouped import count_groups
from .layouts import LAYOUTS, open_files
from .opening import open_bytes, open_pasted, open_table
from .pairing import Batch, Rows, add_rows
from .sources import Limits
from .tables import Table, from_columns

__all__ = [
    "LAYOUTS",
    "Batch",
    "Limits",
    "Rows",
    "Table",
    "add_rows",
    "count_groups",
    "from_columns",
    "open_bytes",
    "open_files",
    "open_pasted",
    "open_table",
    "split_groups",
]
