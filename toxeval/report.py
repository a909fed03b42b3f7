"""Results as tables: for a terminal, for Markdown, for LaTeX, and as CSV."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toxeval.core.group_columns import label
from toxeval.signature import Result

#: How LaTeX writes the characters that mean something else there.
LATEX = {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"} | {
    c: f"\\{c}" for c in "_%&#${}"
}


def render(result: Result, style: str) -> str:
    """A result as a table with its signature, in the style text, markdown, latex or csv; CSV is for programs, without
    the signature, and with every digit."""
    if style == "csv":
        return _csv(result)
    head, rows = group_rows(result) if result.groups else _rows(result)
    return signed(table(head, rows, style), result, style)


def _csv(result: Result) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["score", "value", *(["low", "high"] if result.level else [])])
    rows.writerows([key, value, *ends] for key, value, *ends in _with_ends(result))
    return text.getvalue()


def _with_ends(result: Result) -> Iterator[list[Any]]:
    """Key and score, and where there are intervals their ends, None for a score that has none."""
    bounds = interval_ends(result.scores)
    for key, value in result.scores.items():
        if key not in bounds:
            ends = [result.scores.get(f"{key}_{end}") for end in ("low", "high")]
            yield [key, value, *(ends if result.level else [])]


def interval_ends(scores: Mapping[str, Any]) -> set[str]:
    """The keys that are ends of intervals."""
    return {key for key in scores if key.endswith(("_low", "_high")) and key.rpartition("_")[0] in scores}


def signed(body: str, result: Result, style: str) -> str:
    """A table with how rows were matched, if there were two tables, how many don't count, and the signature."""
    signature = result.signature(short=True)
    rows = f"{result.n_rows} rows by {result.matched}" if result.matched else ""
    left_out = result.left_out and f"left out: {result.left_out}"
    matched = "; ".join(filter(None, [rows, left_out, _gap(result.groups)]))
    if style == "markdown":
        return "\n\n".join(filter(None, [body, matched, f"Signature: `{signature}`"]))
    if style == "latex":
        comments = [f"signature: {signature}", matched]
        return "\n".join([*(f"% {comment}" for comment in comments if comment), body])
    return "\n".join(filter(None, [f"{body}\n\n{matched}" if matched else f"{body}\n", f"signature: {signature}"]))


def _rows(result: Result) -> tuple[list[str], list[list[str]]]:
    if result.runs:
        head = [result.metric, f"mean of {len(result.runs)}", "std", "min", "max"]
    else:
        head = [result.metric, "score"]
    if result.level:
        head.append(f"{result.level * 100:g} % interval")
    rows = []
    for key, value, *ends in _with_ends(result):
        row = [key, number(value), *(number(spread) for spread in result.spread.get(key, {}).values())]
        if ends:
            row.append(_interval(*ends) if None not in ends else "")
        rows.append(row)
    return head, rows


def group_rows(result: Result) -> tuple[list[str], list[list[str]]]:
    """A line for all rows and for each group: its size, its score, how that differs from the rows outside it, and for
    metrics of scores the areas."""
    groups, level = result.groups, result.level
    key, records = groups["key"], groups["groups"]
    areas = list(groups["auc_means"])
    everyone = {"n_rows": result.n_rows, "scores": result.scores, "difference": None, "aucs": None}
    rows = []
    for name, record in [("all rows", everyone), *((label(each["group"]), each) for each in records)]:
        scores, difference = record["scores"] or {}, record["difference"]
        row = [name, str(record["n_rows"]), number(scores[key]) if scores else ""]
        if level:
            row.append(_interval(scores.get(f"{key}_low"), scores.get(f"{key}_high")) if scores else "")
            row += [""] * 3 if difference is None else _difference(difference)
        row += [number(record["aucs"][area]) if record["aucs"] else "" for area in areas]
        rows.append(row)
    if areas:
        blank = [""] * (len(rows[0]) - len(areas) - 1)
        rows.append(["power mean", *blank, *(number(groups["auc_means"][area]) for area in areas)])
    interval = f"{100 * level:g} % interval" if level else ""
    compared = [interval, "to the rest", interval, "p (Holm)"] if level else []
    return [f"{result.metric} by {', '.join(groups['by'])}", "rows", key, *compared, *areas], rows


def _difference(found: Mapping[str, Any]) -> list[str]:
    return [f"{found['value']:+.4f}", f"[{found['low']:+.4f}, {found['high']:+.4f}]", f"{found['p_holm']:.4g}"]


def _interval(low: Any, high: Any) -> str:
    return f"[{number(low)}, {number(high)}]"


def _gap(groups: Mapping[str, Any]) -> str:
    """The gap between groups, in words."""
    gap = groups.get("gap")
    if not gap:
        return ""
    ends = "" if gap["low"] is None else f" {_interval(gap['low'], gap['high'])}"
    largest, smallest = (", ".join(map(label, gap[which])) for which in ("largest", "smallest"))
    return f"gap of {groups['key']}: {number(gap['value'])}{ends}, {largest} to {smallest}"


def number(value: Any) -> str:
    """Four digits of a float, an int as it is."""
    if value is None or isinstance(value, float) and math.isnan(value):
        return "nan"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], style: str = "text") -> str:
    """Rows of texts under a head, the first column to the left, the others to the right.

    >>> print(table(["score", "value"], [["f1_macro", "0.5563"]]))
    score      value
    f1_macro  0.5563
    """
    if style == "latex":
        lines = [r"\begin{tabular}{l" + "r" * (len(head) - 1) + "}", r"\toprule", _latex_row(head), r"\midrule"]
        return "\n".join([*lines, *map(_latex_row, rows), r"\bottomrule", r"\end{tabular}"])
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    cells = [[c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))] for row in [head, *rows]]
    if style == "markdown":
        rule = [("-" * (w - 1) + ":") if i else "-" * w for i, w in enumerate(widths)]
        return "\n".join(f"| {' | '.join(row)} |" for row in [cells[0], rule, *cells[1:]])
    return "\n".join("  ".join(row).rstrip() for row in cells)


def _latex_row(cells: Sequence[str]) -> str:
    escaped = ["".join(LATEX.get(character, character) for character in cell) for cell in cells]
    return " & ".join(escaped) + r" \\"
