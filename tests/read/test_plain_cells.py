"""The fast road into CSV and TSV reads what the strict one reads, and refuses what it refuses, in the same words."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toxeval.core.refusals import Refusal
from toxeval.read import open_bytes, plain_cells, separated
from toxeval.read.tables import as_list

CELLS = [
    "",
    "a",
    "bc",
    "0.5",
    '"a"',
    '"a,b"',
    '"a\tb"',
    '""',
    '"a ""b"""',
    '"x\ny"',
    '"x\r\ny"',
    "ü",
    "\ufeff",
    "NA",
    " a ",
]
BROKEN = ['a"b', '"a"b', '"', '""""', '"a', "\r", "\0", "a,b", "", "\udcff"]


def rows(cells: list[str], widths: st.SearchStrategy[int]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(widths.flatmap(lambda n: st.lists(st.sampled_from(cells), min_size=n, max_size=n)), max_size=12)


def text(rows: list[list[str]], separator: str, ends: list[str]) -> bytes:
    lines = [separator.join(cells) + ends[i % len(ends)] for i, cells in enumerate([["id", "x", "text"], *rows])]
    return "".join(lines).encode("utf-8", "surrogateescape")


def read(name: str, content: bytes, part: int) -> Any:
    """The columns, or what is said of a refused file."""
    with mock.patch.object(separated, "PART", part), mock.patch.object(plain_cells, "PART", part):
        try:
            table = open_bytes(name, content)
            batches = [
                {column: as_list(values) for column, values in batch.items()}
                for batch in table.batches(table.columns[::-1])
            ]
            lines = [table.line(row) for row in range(3)]
        except Refusal as refusal:
            return str(refusal)
    return {name: [value for batch in batches for value in batch[name]] for name in table.columns}, lines


SEPARATORS = st.sampled_from([("p.csv", ","), ("p.tsv", "\t"), ("p.csv", ";")])
ENDS = st.sampled_from([["\n"], ["\r\n"], ["\n", "\r\n"], ["\n", "\n\n"], ["\n", "\r"]])


@settings(max_examples=300)
@given(
    rows(CELLS, st.just(3)) | rows(CELLS + BROKEN, st.sampled_from([3, 3, 3, 2, 4])),
    SEPARATORS,
    ENDS,
    st.integers(1, 60),
    st.booleans(),
)
@example([["a", "b", "c"], ["a", '"x', "y"], ["c", 'z"', "b"]], ("p.csv", ","), ["\n"], 8, False)
def test_both_roads_lead_to_the_same(
    cells: list[list[str]], kind: tuple[str, str], ends: list[str], part: int, open_end: bool
) -> None:
    name, separator = kind
    content = text(cells, separator, ends)
    content = content.rstrip(b"\r\n") if open_end else content
    assert read(name, content, part) == read(name, content, 1 << 30)


@pytest.mark.parametrize("broken", ['b,"0', "b", "b,0,1"])
def test_what_is_wrong_far_into_a_file_has_its_line(broken: str) -> None:
    content = b"id,x\n" + b"a,0.5\n" * 1001 + f"{broken}\n".encode() + b"a,0.5\n" * 1000
    said = read("p.csv", content, 1 << 10)
    assert said == read("p.csv", content, 1 << 30)
    assert "line 1003" in said


def test_large_plain_files_go_the_fast_road() -> None:
    content = b"id,x\n" + b'a,"0.5"\n' * 300_000
    with mock.patch.object(separated._Rows, "_check", side_effect=AssertionError):
        table = open_bytes("p.csv", content)
        assert sum(len(batch["x"]) for batch in table.batches(["x"])) == 300_000
