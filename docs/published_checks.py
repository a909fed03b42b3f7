"""What can be said of a published number: whether it follows from the numbers printed beside it, by our definitions.

A printed number stands for all numbers that round to it. Two things agree where some numbers that round to what is
printed make them equal. One function checks a kind of row of `published.json`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import floor
from typing import Any

import numpy as np

from toxeval.loading import plain

#: The reviewed fractions of the collaboration tables, and of their table by subgroup.
ALPHAS = (".001", ".005", ".01", ".02", ".05", ".1", ".15", ".2")
SUBGROUP_ALPHAS = (".01", ".05", ".1", ".15", ".2")
MATCHES, DIFFERS, OPEN = "matches", "differs because", "can't be recomputed because"
#: `published.json`, and one of its rows.
Data = Mapping[str, Any]
Row = Mapping[str, Any]


class Unexplained(Exception):
    """A number disagrees and nobody says why, or agrees although a reason is given why it doesn't."""


@dataclass(frozen=True)
class Check:
    """What became of a printed number, or of a series of them: what we get, the verdict, and the name of its reason.

    ``but`` are the places of a series that differ, where the others match.
    """

    key: str
    printed: str
    ours: str
    verdict: str
    reason: str = ""
    but: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many numbers got which verdict."""
        n = len(self.printed.split())
        return {MATCHES: n - len(self.but), DIFFERS: len(self.but)} if self.but else {self.verdict: n}


def check(data: Data, row: Row) -> list[Check]:
    """The verdicts on a row.

    Raises:
        Unexplained: a verdict and the reasons given in the row contradict each other.
    """
    return list(KINDS[row["kind"]](data, row))


def judge(row: Row, key: str, printed: str, ours: str, agrees: bool, but: Sequence[str] = ()) -> Check:
    """The verdict on numbers that can be recomputed; ``but``: where in the series they disagree."""
    reason = row.get("differs", {}).get(key, "")
    if agrees == bool(reason):
        what = "agrees, but a reason is given why it doesn't" if agrees else "disagrees, and no reason is given"
        refuse(row, f"{key} {what}: printed {printed}, ours {ours}")
    return Check(key, printed, ours, DIFFERS if reason else MATCHES, reason, tuple(but))


def refuse(row: Row, what: str) -> None:
    """Say what is wrong with a row."""
    name = ", ".join(row[part] for part in ("kind", "data", "review", "system", "what") if part in row)
    raise Unexplained(f"{name}: {what}")


# --- numbers that were rounded ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """The numbers from ``low`` to ``high``, none negative: one of them is meant."""

    low: Fraction
    high: Fraction

    def __add__(self, other: "Span") -> "Span":
        return Span(self.low + other.low, self.high + other.high)

    def __mul__(self, other: "Span") -> "Span":
        return Span(self.low * other.low, self.high * other.high)

    def rest(self) -> "Span":
        """One minus it."""
        return Span(1 - self.high, 1 - self.low)

    def meets(self, other: "Span") -> bool:
        """Whether both can be the same number."""
        return self.low <= other.high and other.low <= self.high

    @property
    def middle(self) -> Fraction:
        """What it is if nothing was rounded."""
        return (self.low + self.high) / 2


def span(printed: str) -> Span:
    """What rounds to a printed number.

    >>> span("0.5") == Span(Fraction("0.45"), Fraction("0.55"))
    True
    """
    half = Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))
    return Span(max(Fraction(printed) - half, Fraction(0)), Fraction(printed) + half)


def exactly(value: Fraction) -> Span:
    """A number that was not rounded."""
    return Span(value, value)


def rounds_to(value: float, printed: str) -> bool:
    """Whether a number is printed so; one at the edge may go either way.

    >>> rounds_to(0.25, "0.2"), rounds_to(0.25, "0.3"), rounds_to(0.26, "0.2")
    (True, True, False)
    """
    slack = Fraction(1, 10**12)
    return span(printed).meets(Span(Fraction(value) - slack, Fraction(value) + slack))


def shown(values: Sequence[Any], digits: int = 4) -> str:
    """Numbers as the page has them."""
    return " ".join(str(value) if isinstance(value, int) else f"{float(value):.{digits}f}" for value in values)


# --- a model and a moderator -----------------------------------------------------------------------------------------


def check_model(data: Data, row: Row) -> Iterator[Check]:
    """A model alone. Its accuracy is what the rows of the team are checked against."""
    for key in ("auroc", "auprc", "brier", "ece", *(key for key in row if key.startswith("calibration_"))):
        yield Check(key, row[key], "", OPEN, without_predictions(row, key))


def check_review(data: Data, row: Row) -> Iterator[Check]:
    """A team at eight fractions: OC-Acc = Acc + (k/n) RE, and effectiveness = (k/n) RE / (1 - Acc)."""
    printed = {key: row[key].split() for key in row if key.startswith(("oc_", "review_e"))}
    model, n = find(data, kind="model", data=row["data"], system=row["system"]), data["comments"][row["data"]]
    accuracy = span(model["accuracy"])
    efficiency = [span(text) for text in printed["review_efficiency"]]
    mended = [exactly(Fraction(floor(Fraction(alpha) * n), n)) * each for alpha, each in zip(ALPHAS, efficiency)]
    team = [accuracy + each for each in mended]
    agrees = all(ours.meets(span(text)) for ours, text in zip(team, printed["oc_accuracy"]))
    yield judge(row, "oc_accuracy", row["oc_accuracy"], shown([each.middle for each in team]), agrees)
    caught = [accuracy.rest() * span(text) for text in printed["review_effectiveness"]]
    apart = [alpha for alpha, ours, theirs in zip(ALPHAS, mended, caught) if not ours.meets(theirs)]
    ours = shown([each.middle / accuracy.rest().middle for each in mended])
    yield judge(row, "review_effectiveness", row["review_effectiveness"], ours, not apart, apart)
    for key, alone in (("oc_accuracy", "accuracy"), ("oc_auroc", "auroc"), ("oc_auprc", "auprc")):
        refuse_falling(row, key, model[alone])
    for key in ("oc_auroc", "oc_auprc"):
        yield Check(key, row[key], "", OPEN, without_predictions(row, key))


def check_subgroup(data: Data, row: Row) -> Iterator[Check]:
    """OC-accuracy without a review efficiency beside it: from Acc to Acc + α."""
    refuse_falling(row, "oc_accuracy", row["accuracy"])
    best = [span(row["accuracy"]) + exactly(Fraction(alpha)) for alpha in SUBGROUP_ALPHAS]
    agrees = all(span(text).low <= most.high for text, most in zip(row["oc_accuracy"].split(), best))
    yield judge(row, "oc_accuracy", row["oc_accuracy"], f"from {row['accuracy']} to {row['accuracy']} + α", agrees)


def without_predictions(row: Row, key: str) -> str:
    """Why a score of a model can't be recomputed."""
    of_fractions = row["data"] == "CivilComments" and key.removeprefix("oc_") in ("auroc", "auprc", "brier")
    return "raw labels" if of_fractions else "no predictions"


def refuse_falling(row: Row, key: str, alone: str) -> None:
    """A team is no worse than its model, and not worse with more reviews."""
    if any(float(more) < float(fewer) for fewer, more in pairwise([alone, *row[key].split()])):
        refuse(row, f"{key} falls: {alone} alone, then {row[key]}")


def find(published: Data, /, **wanted: str) -> Row:
    """The first row with these fields."""
    row: Row = next(each for each in published["rows"] if all(each.get(key) == value for key, value in wanted.items()))
    return row


# --- classes ---------------------------------------------------------------------------------------------------------


def check_classes(data: Data, row: Row) -> Iterator[Check]:
    """Reports of precision, recall, F1 and support by class: the counts behind them, scored by our metric."""
    intents, slots = counts_behind(row, "intents", "uca"), counts_behind(row, "slots", "slot_accuracy")
    # The reports don't say whose tokens they are: the first utterance gets them all, and JSA is left open.
    none: list[list[str]] = [[]] * (len(intents[0]) - 1)
    references, predictions = ({"intent": i, "slots": [s, *none]} for i, s in zip(intents, slots))
    scores = scored("conda_joint", references=references, predictions=predictions)
    printed = {key: row[key] for key in ("uca", "u_f1_macro", "slot_accuracy", "t_f1_with_sepa")}
    for prefix, field in (("u", "intents"), ("t", "slots")):
        for label, report in row[field].items():
            for kind, text in zip(("precision", "recall", "f1", "support"), report.split()):
                printed[f"{prefix}_{kind}_{label}"] = text
    for key in sorted(printed.keys() & scores.keys()):  # T-F1 is of five classes
        yield judge(row, key, printed[key], shown([scores[key]]), rounds_to(scores[key], printed[key]))
    n = scores["n_utterances"]
    right = round(Fraction(row["jsa"]) * n)
    if abs(Fraction(row["jsa"]) * n - right) > Fraction(1, 10**6) or right > round(scores["uca"] * n):
        refuse(row, f"jsa {row['jsa']} is no share of {n} utterances that have the right intent")
    yield Check("jsa", row["jsa"], f"{right:,} of {n:,}", OPEN, "withheld")


def counts_behind(row: Row, field: str, accuracy: str) -> tuple[list[str], list[str]]:
    """References and predictions that a printed report is right of, one label an item."""
    reports = {label: report.split() for label, report in row[field].items()}
    total = sum(int(report[3]) for report in reports.values())
    for choice in product(*(class_counts(*report) for report in reports.values())):
        right, predicted = (sum(column) for column in zip(*choice))
        if predicted == total and rounds_to(right / total, row[accuracy]):
            break
    else:
        refuse(row, f"no counts of {field} give the printed report")
    references = [label for label, (tp, _) in zip(reports, choice) for _ in range(tp)]
    predictions = list(references)
    missed = {label: int(report[3]) - tp for (label, report), (tp, _) in zip(reports.items(), choice)}
    extra = {label: predicted - tp for label, (tp, predicted) in zip(reports, choice)}
    for _ in range(total - len(references)):  # any pairing of errors gives the same scores; the hardest class first
        load = {label: missed[label] + extra[label] for label in reports}
        hardest = max(load, key=lambda label: load[label])
        one, other = (missed, extra) if missed[hardest] else (extra, missed)
        partner = max((label for label in load if other[label] and label != hardest), key=lambda label: load[label])
        one[hardest] -= 1
        other[partner] -= 1
        references.append(hardest if one is missed else partner)
        predictions.append(partner if one is missed else hardest)
    return references, predictions


def class_counts(precision: str, recall: str, f1: str, support: str) -> list[tuple[int, int]]:
    """The numbers (true positives, predictions) of a class that are printed so.

    >>> class_counts("0.67", "0.50", "0.57", "4")
    [(2, 3)]
    """
    n, (p, r) = int(support), (span(precision), span(recall))
    found = []
    for tp in range(floor(r.low * n), min(n, floor(r.high * n)) + 1):
        for predicted in range(max(tp, floor(tp / p.high)), floor(tp / p.low) + 1):
            shares = (tp / max(predicted, 1), tp / n, 2 * tp / (predicted + n))
            if all(map(rounds_to, shares, (precision, recall, f1))):
                found.append((tp, predicted))
    return found


def check_counts(data: Data, row: Row) -> Iterator[Check]:
    """Scores of rows of which only the number of each sort is given."""
    *columns, numbers = zip(*row["cells"])
    scores = scored(row["metric"], **{name: np.repeat(column, numbers) for name, column in zip(row["inputs"], columns)})
    for key, text in row["scores"].items():
        yield judge(row, key, text, shown([scores[key]]), rounds_to(scores[key], text))


def scored(metric: str, **inputs: Any) -> dict[str, Any]:
    """What the metric says; without the warning of a class that nothing is predicted to be."""
    ours = plain(metric, detailed=True)
    scores: dict[str, Any] = ours.score(ours.state(**inputs)).as_dict()
    return scores


def check_f1(data: Data, row: Row) -> Iterator[Check]:
    """F1 is the harmonic mean of precision and recall, whichever of them is which."""
    p, r = span(row["precision"]), span(row["recall"])
    ours = Span(*(2 * a * b / (a + b) for a, b in ((p.low, r.low), (p.high, r.high))))
    yield judge(row, "f1", row["f1"], shown([ours.middle], 3), ours.meets(span(row["f1"])))


# --- sizes, texts, and what is printed alone -------------------------------------------------------------------------


def check_sum(data: Data, row: Row) -> Iterator[Check]:
    """Counts that make up a whole."""
    total = sum(map(int, row["parts"].split()))
    yield judge(row, "total", row["total"], str(total), total == int(row["total"]))


def check_seed(data: Data, row: Row) -> Iterator[Check]:
    """The first five of a hundred stratified folds: each class is dealt out evenly, one item a fold in turn."""
    dealt = sum(len(range(fold, int(part), 100)) for part in row["parts"].split() for fold in range(5))
    yield judge(row, "size", row["printed"], str(dealt), dealt == int(row["printed"]))


def check_text(data: Data, row: Row) -> Iterator[Check]:
    """What a text says of a table, from the table."""
    ours = shown(TEXTS[row["compute"]](data))
    agrees = all(rounds_to(float(one), text) for one, text in zip(ours.split(), row["printed"].split()))
    yield judge(row, "text", row["printed"], ours, agrees)


def check_open(data: Data, row: Row) -> Iterator[Check]:
    """A score that is printed alone."""
    yield Check(row["key"], row["printed"], "", OPEN, row["reason"])


def auroc_drop(data: Data) -> list[Fraction]:
    """By how much the AUROC of a model falls from one set to the other."""
    inside, outside = (Fraction(find(data, kind="model", data=name)["auroc"]) for name in data["comments"])
    return [inside - outside]


def fractions_led(data: Data) -> list[int]:
    """At how many fractions review by uncertainty has no lower OC-AUROC, for each model without focal loss."""
    rows = [row for row in data["rows"] if row["kind"] == "review" and row["data"] == "Wikipedia Talk"]
    series = {(row["review"], row["system"]): [float(text) for text in row["oc_auroc"].split()] for row in rows}
    systems = {system for _, system in series if "Focal" not in system}
    leads = [[a >= b for a, b in zip(series["uncertainty", s], series["toxicity", s])] for s in systems]
    return [sum(all(at_fraction) for at_fraction in zip(*leads))]


def random_review(data: Data) -> list[Fraction]:
    """Acc + α (1 - Acc) at .05 and .1."""
    accuracy = Fraction(find(data, kind="model")["accuracy"])
    return [accuracy + Fraction(alpha) * (1 - accuracy) for alpha in (".05", ".1")]


def uncertainty_review(data: Data) -> list[Fraction]:
    """OC-accuracy at .05 and .1."""
    series = dict(zip(ALPHAS, find(data, kind="review", review="uncertainty")["oc_accuracy"].split()))
    return [Fraction(series[alpha]) for alpha in (".05", ".1")]


TEXTS = {each.__name__: each for each in (auroc_drop, fractions_led, random_review, uncertainty_review)}
#: What checks a row, by its kind.
KINDS = {
    "model": check_model,
    "review": check_review,
    "subgroup": check_subgroup,
    "classes": check_classes,
    "counts": check_counts,
    "f1": check_f1,
    "sum": check_sum,
    "seed": check_seed,
    "text": check_text,
    "open": check_open,
}
