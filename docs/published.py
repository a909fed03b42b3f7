"""Make `published.md` of `published.json`: ``python docs/published.py``; with ``--check`` only say if it is up to date.

Each number that is checked agrees with what is recomputed from the numbers printed beside it, or its row says why it
doesn't: anything else stops the script.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from published_checks import ALPHAS, DIFFERS, MATCHES, OPEN, Check, Data, Row, check, shown

DATA = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).with_suffix(".md")
HEAD = """\
# Published numbers, recomputed

Which numbers of the papers our definitions give. `python docs/published.py` makes this page of
[`published.json`](published.json), where each row stands as it is printed, with its source: edit that file, not this
page. A number

* *matches*: it follows from the numbers printed beside it, to the last digit;
* *differs because* …: it can be recomputed, and is another one;
* *can't be recomputed because* …: what it takes isn't published.
"""
#: The numbers of wide tables, one column each: key -> what the column is called.
MODEL = {
    "accuracy": "Acc",
    "auroc": "AUROC",
    "auprc": "AUPRC",
    "brier": "Brier",
    "ece": "ECE",
    "calibration_auroc": "calibration AUROC",
    "calibration_auprc": "calibration AUPRC",
    "calibration_auroc_by_toxicity": "the same, by toxicity: AUROC",
    "calibration_auprc_by_toxicity": "AUPRC",
}
CLASSES = {
    **{"uca": "UCA", **{f"u_f1_{intent}": f"U-F1 {intent}" for intent in "EIAO"}, "u_f1_macro": "mean U-F1"},
    **{f"t_f1_{slot}": f"T-F1 {slot}" for slot in "TSCDP"},
    **{"slot_accuracy": "slot accuracy", "t_f1_with_sepa": "T-F1 with SEPA", "jsa": "JSA"},
}
#: The series of a team's row, and what each is computed from where it can be.
REVIEW = {
    "oc_accuracy": ("OC-Acc", "Acc + (k/n) RE"),
    "review_efficiency": ("review efficiency, RE", ""),
    "review_effectiveness": ("review effectiveness", "(k/n) RE / (1 − Acc)"),
    "oc_auroc": ("OC-AUROC", ""),
    "oc_auprc": ("OC-AUPRC", ""),
}
Checked = Sequence[tuple[Row, Sequence[Check]]]


def page(data: Data) -> str:
    """The page.

    Raises:
        Unexplained: a number disagrees and nobody says why, or agrees although a reason is given why it doesn't.
    """
    checked = [(row, check(data, row)) for row in data["rows"]]
    reasons = [[name, reason] for name, reason in data["reasons"].items()]
    parts = [HEAD, summary(data, checked), "The reasons, by the names the tables have for them:\n"]
    parts.append(table(["reason", "because"], reasons))
    for metric, note in data["notes"].items():
        chosen = [(row, checks) for row, checks in checked if row["metric"] == metric]
        sources = {name: data["sources"][name] for name in dict.fromkeys(row["source"] for row, _ in chosen)}
        links = "".join(f"* {name}: [{source['what']}]({source['url']})\n" for name, source in sources.items())
        parts += [f"## {metric}\n", f"{note}\n", f"Printed in\n\n{links}", *tables(data, chosen)]
    return "\n".join(parts)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *lines])


def summary(data: Data, checked: Checked) -> str:
    """How many printed numbers of each metric got which verdict."""
    verdicts = (MATCHES, DIFFERS, OPEN)
    counts: Counter[tuple[str, str]] = Counter()
    for row, checks in checked:
        for one in checks:
            counts.update({(row["metric"], verdict): n for verdict, n in one.counts().items()})
    lines = []
    for metric in data["notes"]:
        n_rows = sum(row["metric"] == metric for row, _ in checked)
        lines.append([f"[{metric}](#{metric})", str(n_rows), *(f"{counts[metric, verdict]:,}" for verdict in verdicts)])
    return table(["metric", "rows", "numbers that match", "differ", "can't be recomputed"], lines)


def tables(data: Data, checked: Checked) -> Iterator[str]:
    """The tables of a metric: wide ones for rows with the same numbers, then one for all others."""
    for place in dict.fromkeys(row["place"] for row, _ in checked if row["kind"] == "review"):
        chosen = [(row, checks) for row, checks in checked if (row["kind"], row["place"]) == ("review", place)]
        yield f"### {chosen[0][0]['data']}, review by {chosen[0][0]['review']}\n\nThere: {place}.\n"
        yield table(["system", "α =", *ALPHAS, "verdict"], [line for one in chosen for line in review_lines(*one)])
    for kind, columns, name in (("model", MODEL, "The models alone"), ("classes", CLASSES, "Intents and slots")):
        chosen = [(row, checks) for row, checks in checked if row["kind"] == kind]
        if chosen:
            yield f"### {name}\n"
            head = ["system", "", *columns.values(), "verdict"]
            yield table(head, [line for one in chosen for line in wide_lines(columns, *one)])
    others = [(row, checks) for row, checks in checked if row["kind"] not in ("review", "model", "classes")]
    if others:
        yield "### Others\n"
        lines = [other_line(data, row, one) for row, checks in others for one in checks]
        yield table(["printed in", "what", "printed", "ours", "verdict"], lines)


def review_lines(row: Row, checks: Sequence[Check]) -> Iterator[list[str]]:
    """A team: each printed series, and below it what is recomputed."""
    by_key = {one.key: one for one in checks}
    for key, (name, formula) in REVIEW.items():
        system = row["system"] if key == "oc_accuracy" else ""
        yield [system, name, *row[key].split(), "" if formula else says(by_key.get(key))]
        if formula:
            yield ["", formula, *by_key[key].ours.split(), says(by_key[key])]


def wide_lines(columns: dict[str, str], row: Row, checks: Sequence[Check]) -> Iterator[list[str]]:
    """A row with a column a number: what is printed, and below it what is recomputed, if anything."""
    by_key = {one.key: one for one in checks}
    name = f"{row['system']}, {row['data']}" if "data" in row else row["system"]
    printed = [by_key[key].printed if key in by_key else row[key] for key in columns]
    ours = [by_key[key].ours if key in by_key else "" for key in columns]
    verdicts: dict[str, list[str]] = {}
    for key, column in columns.items():
        if key in by_key:
            verdicts.setdefault(says(by_key[key]), []).append(column)
    most = max(verdicts, key=lambda verdict: len(verdicts[verdict]))
    rest = [f"{', '.join(names)} {verdict}" for verdict, names in verdicts.items() if verdict != most]
    verdict = "; but ".join([most, *rest])
    yield [
        name,
        "printed",
        *(text if len(text) < 7 else shown([text]) for text in printed),
        "" if any(ours) else verdict,
    ]
    if any(ours):
        yield ["", "ours", *ours, verdict]


def other_line(data: Data, row: Row, one: Check) -> list[str]:
    """A number of its own."""
    what = row.get("what") or row["system"]
    if row["kind"] not in ("sum", "seed", "text"):
        what += f": {one.key}"
    given = "".join(f", {key} {row[key]}" for key in ("precision", "recall") if key in row)
    parts = f": {row['parts'].replace(' ', ' + ')}" if "parts" in row else ""
    reason = f" {data['reasons'][one.reason]}" if one.reason else ""
    return [f"{row['source']}, {row['place']}", what + given + parts, one.printed, one.ours, f"*{one.verdict}*{reason}"]


def says(one: Check | None) -> str:
    """A verdict, with the name of its reason."""
    if one is None:
        return ""
    but = f"*{MATCHES}*, but at {', '.join(one.but)} " if one.but else ""
    return f"{but}*{one.verdict}*" + (f" “{one.reason}”" if one.reason else "")


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` compare it."""
    made = page(json.loads(DATA.read_text(encoding="utf-8")))
    if list(arguments) == ["--check"]:
        current = PAGE.read_text(encoding="utf-8") == made
        print(f"{PAGE.name} is {'up to date' if current else 'not what published.py makes: run it'}")
        return 0 if current else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
