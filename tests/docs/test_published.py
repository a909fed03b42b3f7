"""docs/published.md is what docs/published.py makes of docs/published.json, and no digit there can change unnoticed."""

from __future__ import annotations

import copy
import doctest
import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
#: Kind of row -> the numbers that a changed digit contradicts; the page shows that of any other number.
HELD = {
    "review": {"oc_accuracy", "review_efficiency", "review_effectiveness"},
    "classes": {"intents", "slots", "uca", "u_f1_macro", "slot_accuracy", "jsa"},
    "counts": {"scores"},
    "sum": {"parts", "total"},
    "f1": {"f1"},
}


@pytest.fixture(scope="module")
def scripts() -> Iterator[tuple[Any, Any]]:
    """The two modules, as ``python docs/published.py`` finds them."""
    sys.path.insert(0, str(DOCS))
    try:
        yield importlib.import_module("published"), importlib.import_module("published_checks")
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DOCS / "published.json").read_text(encoding="utf-8"))
    return content


def test_the_page_is_up_to_date_and_takes_no_evaluate(checkout: Path) -> None:
    code = "import runpy, sys; sys.argv = ['published.py', '--check']\n"
    code += f"sys.path.insert(0, {str(DOCS)!r})\n"
    code += "try: runpy.run_module('published', run_name='__main__')\n"
    code += "except SystemExit as end: print(end.code, sorted({'evaluate', 'datasets', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True)
    assert done.stdout == "published.md is up to date\n0 []\n", done.stderr


def test_examples_run(scripts: tuple[Any, Any]) -> None:
    assert doctest.testmod(scripts[1]).attempted >= 3
    assert not doctest.testmod(scripts[1]).failed


def test_each_row_says_where_it_is_printed(data: dict[str, Any]) -> None:
    for row in data["rows"]:
        assert row["source"] in data["sources"]
        assert row["place"]
        assert row["metric"] in data["notes"]
    used = {row["source"] for row in data["rows"]}
    assert used == set(data["sources"])


def test_every_row_of_the_collaboration_tables_is_there(data: dict[str, Any], scripts: tuple[Any, Any]) -> None:
    rows = [row for row in data["rows"] if row["kind"] == "review"]
    assert Counter((row["data"], row["review"]) for row in rows) == dict.fromkeys(
        [(name, review) for name in data["comments"] for review in ("uncertainty", "toxicity")], 10
    )
    for row in rows:
        assert all(len(row[key].split()) == 8 for key in row if key.startswith(("oc_", "review_e")))
        first = scripts[1].check(data, row)[0]
        assert (first.key, first.verdict) == ("oc_accuracy", "matches")  # equation 2


def other_digit(text: str) -> str:
    """The last number of a series with another second decimal, or of whole numbers with another first digit."""
    *before, last = text.split(" ")
    place = last.index(".") + 2 if "." in last and len(last.partition(".")[2]) > 1 else len(last) - 1
    digit = "5" if last[place] != "5" else "7"
    return " ".join([*before, last[:place] + digit + last[place + 1 :]])


def changed(row: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The row with one digit changed, in each of its numbers or series of numbers."""
    for key, value in row.items():
        if isinstance(value, str) and re.fullmatch(r"[\d. ]+", value):
            yield key, row | {key: other_digit(value)}
    for field in ("intents", "slots", "scores"):
        for number, (key, value) in enumerate(row.get(field, {}).items()):
            words = value.split()
            at = number % len(words)  # precision of the first class, recall of the next, and so on
            words[at] = other_digit(words[at])
            yield field, row | {field: row[field] | {key: " ".join(words)}}


KINDS = ("model", "review", "subgroup", "classes", "counts", "f1", "sum", "seed", "text", "open")


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_digit_makes_it_fail(data: dict[str, Any], scripts: tuple[Any, Any], kind: str) -> None:
    _, checks = scripts
    rows = [row for row in data["rows"] if row["kind"] == kind]
    assert rows
    for row in rows:
        before = checks.check(data, row)
        for key, other in changed(row):
            try:
                after = checks.check(data, other)
            except checks.Unexplained:
                continue
            assert key not in HELD.get(kind, set()) - set(row.get("differs", ())), (key, row)
            # another number on the page; an accuracy is held by its teams' rows, and parts are shown as they are
            assert after != before or (kind, key) in (("model", "accuracy"), ("seed", "parts"))


def test_a_changed_accuracy_contradicts_its_teams(data: dict[str, Any], scripts: tuple[Any, Any]) -> None:
    for row in data["rows"]:
        if row["kind"] == "model":
            other = row | {"accuracy": other_digit(row["accuracy"])}
            rows = data["rows"]
            team = next(
                r for r in rows if r["kind"] == "review" and r["data"] + r["system"] == row["data"] + row["system"]
            )
            with pytest.raises(scripts[1].Unexplained, match="oc_accuracy disagrees, and no reason is given"):
                scripts[1].check(data | {"rows": [other, *rows]}, team)


def test_a_reason_that_is_not_needed_fails(data: dict[str, Any], scripts: tuple[Any, Any]) -> None:
    row = next(row for row in data["rows"] if row["kind"] == "sum")
    with pytest.raises(scripts[1].Unexplained, match="total agrees, but a reason is given"):
        scripts[1].check(data, row | {"differs": {"total": "round number"}})


def test_check_says_that_a_page_is_old(
    scripts: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    published, _ = scripts
    page = tmp_path / "published.md"
    page.write_text(published.PAGE.read_text(encoding="utf-8").replace("0.9231", "0.9232", 1), encoding="utf-8")
    monkeypatch.setattr(published, "PAGE", page)
    assert published.main(["--check"]) == 1
    assert "not what published.py makes" in capsys.readouterr().out
    assert published.main([]) == 0
    assert published.main(["--check"]) == 0


def test_counts_behind_a_report(scripts: tuple[Any, Any]) -> None:
    """Labels whose report is known give a report whose labels have the same counts."""
    references, predictions = list("EEEEEIIIAAOOOOOOOO"), list("EEEEIIIOAOOOOOOOAE")
    pairs = Counter(zip(references, predictions))
    report = {}
    for label in "EIAO":
        tp, predicted, n = pairs[label, label], predictions.count(label), references.count(label)
        report[label] = f"{tp / predicted:.4f} {tp / n:.4f} {2 * tp / (predicted + n):.4f} {n}"
    accuracy = f"{sum(pairs[label, label] for label in 'EIAO') / len(references):.4f}"
    found = scripts[1].counts_behind({"kind": "classes", "intents": report, "uca": accuracy}, "intents", "uca")
    assert [Counter(side) for side in found] == [Counter(references), Counter(predictions)]
    right = Counter(r for r, p in zip(*found) if r == p)
    assert right == {label: pairs[label, label] for label in "EIAO"}


# --- the same numbers in the cards and in the real files -------------------------------------------------------------

CARDS = sorted([*DOCS.parent.glob("metrics/*/README.md"), *DOCS.parent.glob("datasets_scripts/*/README.md")])


@pytest.mark.parametrize("card", CARDS, ids=lambda path: path.parent.name)
def test_figures_of_papers_in_a_card_lead_to_the_page(card: Path) -> None:
    text = card.read_text(encoding="utf-8")
    if card.parent.name != "conda" or "reported" in text.lower():
        assert "`docs/published.md`" in text


def test_the_cards_figures_are_those_of_the_data(data: dict[str, Any]) -> None:
    def card(name: str) -> str:
        return (DOCS.parent / "metrics" / name / "README.md").read_text(encoding="utf-8")

    def row(**wanted: str) -> dict[str, Any]:
        found: dict[str, Any] = next(r for r in data["rows"] if all(r.get(key) == wanted[key] for key in wanted))
        return found

    collaboration = card("oracle_collab")
    for review in ("uncertainty", "toxicity"):
        series = row(kind="review", data="Wikipedia Talk", review=review, system="Deterministic")["oc_accuracy"]
        assert f"| review by {review} | {' | '.join(text.lstrip('0') for text in series.split())} |" in collaboration
    model = row(kind="model", data="Wikipedia Talk", system="Deterministic")
    for key in ("accuracy", "auroc", "auprc", "brier", "ece", *(key for key in model if key.startswith("calibration"))):
        assert model[key].lstrip("0") in collaboration
    for each in (r for r in data["rows"] if r["kind"] == "classes"):
        f1 = [each["intents"][intent].split()[2] for intent in "EIAO"] + [each["slots"]["T"].split()[2]]
        cells = [each["uca"], *f1, f"{float(each['jsa']):.4f}"]
        name = each["system"].partition(",")[0]
        assert f"| {name} | {' | '.join(cell.lstrip('0') for cell in cells)} |" in card("conda_joint")
    for each in (r for r in data["rows"] if r["kind"] == "counts"):
        assert all(text in card(each["metric"]) for text in each["scores"].values())


def rows_of(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = (
        json.loads(text) if path.suffix == ".json" else list(map(json.loads, text.splitlines()))
    )
    return rows


def test_the_real_files_of_dia_safety_have_these_counts(data: dict[str, Any], shared: Path, shipped: Path) -> None:
    folder, golden = shared / "data" / "diasafety", shipped / "diasafety"
    for row in data["rows"]:
        if row["source"] == "diasafety-files":
            found = Counter((r["category"], r["label"]) for r in rows_of(folder / row["place"]))
            rule = next(r for r in data["rows"] if r["kind"] == "counts" and r["metric"] == "dia_safety_rate")
            categories = list(dict.fromkeys(cell[0] for cell in rule["cells"]))
            assert row["parts"] == " ".join(str(found[c, label]) for c in categories for label in ("Safe", "Unsafe"))
    rule, two_step = (r for r in data["rows"] if r["kind"] == "counts" and r["metric"] == "dia_safety_rate")
    test = rows_of(folder / "test.json")
    verdicts = [r["prediction"] for r in rows_of(golden / "test_rule.jsonl")]
    counted = Counter((r["category"], r["label"], verdict) for r, verdict in zip(test, verdicts, strict=True))
    assert counted == {tuple(cell[:-1]): cell[-1] for cell in rule["cells"]}
    names = {"safe": "Safe", "utterance_unsafe": "Utterance-Unsafe", "context_unsafe": "Context-Unsafe"}
    replies = rows_of(golden / "twostep_dialo_test_medium_10_1.0_any_split_contexts.jsonl")
    counted = Counter((r["category"], names[r["status"]]) for r in replies)
    assert counted == {tuple(cell[:-1]): cell[-1] for cell in two_step["cells"]}


def test_the_real_files_of_conda_have_these_counts(data: dict[str, Any], shared: Path) -> None:
    lines = {n: (shared / "data" / "conda" / f"CONDA_{n}.csv").read_text(encoding="utf-8").splitlines() for n in SPLITS}
    total = next(row for row in data["rows"] if row["source"] == "conda-files" and row["place"] == "the three files")
    assert total["parts"] == " ".join(str(len(lines[name]) - 1) for name in SPLITS)


SPLITS = ("train", "valid", "test")


def test_nothing_is_changed_by_checking(data: dict[str, Any], scripts: tuple[Any, Any]) -> None:
    before = copy.deepcopy(data)
    scripts[0].page(data)
    assert data == before
