"""Tables of some rows, and what a metric takes of them."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toxeval.loading import definition
from toxeval.loading import plain as load
from toxeval.read import Rows, add_rows, open_table

SLOT_ROWS = [
    {"pred_intent": "E", "pred_slots": ["T", "O"], "ref_intent": "E", "ref_slots": ["T", "S"]},
    {"pred_intent": "O", "pred_slots": [], "ref_intent": "A", "ref_slots": []},
]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    """Rows as JSON Lines, or as CSV with lists as words."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            for row in rows:
                writer.writerow({k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()})
    return str(path)


def rows_of(metric: str, left: str, right: str = "", columns: dict[str, str] | None = None) -> Any:
    gold = open_table(right) if right else None
    return plain(Rows(definition(metric), open_table(left), gold, columns).collect())


def score(metric: str, path: str, references: str = "", **options: Any) -> dict[str, Any]:
    scored = load(metric, **options)
    add_rows(scored, Rows(definition(metric), open_table(path), open_table(references) if references else None))
    return scored.compute() or {}


def plain(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: plain(part) for name, part in values.items()}
    return values if isinstance(values, list) else values.tolist()
