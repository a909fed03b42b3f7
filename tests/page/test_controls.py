"""The controls of options: what they show, take and refuse."""

from __future__ import annotations

import math
from typing import Any

import pytest

from toxeval.core.declarations import Choice, Flag, NamedNumbers, Number, Numbers, Whole
from toxeval.core.refusals import Refusal
from toxeval.page.controls import answers_of, shown, values_of
from toxeval.page.words import sentence

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

FRACTIONS = Numbers("review_fractions", "", (0.1,))
TARGETS = NamedNumbers("targets", "", names=("oc_accuracy", "oc_recall"))


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (FRACTIONS, "0.2, 0.5,", (0.2, 0.5)),
        (FRACTIONS, "0.2", (0.2,)),
        (FRACTIONS, 0.2, (0.2,)),
        (FRACTIONS, [0.2, 1], (0.2, 1.0)),
        (TARGETS, "oc_accuracy=0.9, oc_recall = 0.5", {"oc_accuracy": 0.9, "oc_recall": 0.5}),
        (TARGETS, {"oc_recall": 1}, {"oc_recall": 1.0}),
        (TARGETS, "", None),
        (Whole("n", "", 5, low=1), "3", 3),
        (Whole("n", "", 5, low=1), 3.0, 3),
        (Number("o", ""), "", None),
        (Number("o", ""), " 0.7 ", 0.7),
        (Number("o", "", 0.5), "1", 1.0),
        (Flag("f", ""), True, True),
        (Choice("z", "", 0.0, choices=(0.0, math.nan)), "nan", math.nan),
        (Choice("z", "", 0.0, choices=(0.0, math.nan)), None, math.nan),
        (Choice("s", "", choices=(None, "toxicity")), "toxicity", "toxicity"),
    ],
)
def test_options_as_controls_and_as_json_have_them(option: Any, text: Any, value: Any) -> None:
    found = values_of({option.name: option}, {option.name: text}).get(option.name, option.default)
    assert repr(found) == repr(value)
    again = values_of({option.name: option}, {option.name: shown(option, value)}).get(option.name, option.default)
    assert repr(again) == repr(value)


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        (FRACTIONS, "0.1, x", "Review fractions, 1: 'x'; allowed: a number from 0.0 to 1.0."),
        (FRACTIONS, "1," * 51, "Review fractions: 51 of them; allowed: up to 50 here."),
        (TARGETS, "oc_accuracy", "Targets, 'oc_accuracy': ''; allowed: a number from 0.0 to 1.0."),
        (TARGETS, "oc_accuracy=0.9,oc_accuracy =0.1", "Targets: a text of 32 characters; allowed: a dict such as"),
        (TARGETS, "other=1", "Targets: 'other'; allowed: 'oc_accuracy', 'oc_recall'."),
        (Flag("f", ""), "false", "F: 'false'; allowed: False, True."),
        (Number("o", ""), "x", "O: 'x'; allowed: a number from 0.0 to 1.0."),
        (Number("o", ""), "2", "O: 2; allowed: a number from 0.0 to 1.0."),
        (Number("o", "", 0.5), "", "O: None; allowed: a number from 0.0 to 1.0."),
        (Whole("n_resamples", "", 5), "5001", "Number of resamples: 5001; allowed: up to 5000 here."),
        (Whole("n", "", 5), "2.5", "N: 2.5; allowed: a whole number from 0 up."),
        (Whole("n", "", 5), "nan", "N: nan; allowed: a whole number from 0 up."),
        (Whole("n", "", 5), {"a": 1}, "N: a dict; allowed: a whole number from 0 up."),
        (Whole("n", "", 5), "__import__('os')", "N: \"__import__('os')\"; allowed: a whole number from 0 up."),
    ],
)
def test_refused_options(option: Any, text: Any, said: str) -> None:
    with pytest.raises(Refusal) as refused:
        values_of({option.name: option}, {option.name: text})
    assert sentence(refused.value).startswith(said)
    assert refused.value.option.partition("[")[0] == option.name


def test_how_predictions_are_read_is_one_choice() -> None:
    for given, answers, invalid in (
        ({"invalid": "error"}, {}, "error"),
        ({"invalid": "count", "aliases": "x=OFF"}, {}, "count"),
        ({"invalid": "exact", "aliases": "offensive=OFF, x = NOT"}, {"offensive": "OFF", "x": "NOT"}, "count"),
        ({"invalid": "json:FIELD", "rule_part": "a.b"}, {}, "count"),
        ({"answers": "first_line", "aliases": {"x": "OFF"}, "invalid": "count"}, {"x": "OFF"}, "count"),
    ):
        found = answers_of(given)
        assert given == {"invalid": invalid}
        assert found.get("aliases", {}) == answers
    assert answers_of({"invalid": "json:FIELD", "rule_part": "a.b"})["rule"] == "json:a.b"
    assert answers_of({"invalid": "regex:PATTERN", "rule_part": "is: (.*)"})["rule"] == "regex:is: (.*)"
