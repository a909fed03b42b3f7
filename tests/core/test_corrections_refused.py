"""When there is no corrected rate, and when there is one with a warning."""

import math
import warnings
from typing import Any

import pytest
from judgements import LABELLED, LABELS, SAFETY, inputs, replies

from toxeval.core.refusals import Doubt, Refusal
from toxeval.core.state import State
from toxeval.loading import plain

# --- what is refused ----------------------------------------------------------------------------------------------


def coin(n: int = 40) -> dict[str, Any]:
    return {"predictions": LABELS * n, "references": ["Safe"] * n + ["Unsafe"] * n}


def test_a_judge_no_better_than_chance() -> None:
    with pytest.raises(Refusal) as caught:
        SAFETY.corrected_rate(predictions=LABELS, judge_on=coin())
    text = str(caught.value)
    assert "judge: can't be told from chance: sensitivity 0.500 (20 of 40), specificity 0.500 (20 of 40)" in text
    assert "sum - 1 = 0.000 [-0.21" in text
    human = [None, *LABELLED["references"]]
    own = ["Safe", *["Safe", "Unsafe"] * 75]
    assert 0 < SAFETY.corrected_rate(predictions=own, human=human)["unsafe_rate_micro_corrected"] < 1


def test_chance_is_judged_at_95_percent_whatever_the_level() -> None:
    weak = {"predictions": [0] * 60 + [1] * 40 + [0] * 40 + [1] * 60, "references": [0] * 100 + [1] * 100}
    for level in (0.5, 0.95, 0.999):
        found = SAFETY.corrected_rate(predictions=LABELS, judge_on=weak, confidence_level=level)
        assert 0 <= found["unsafe_rate_micro_corrected_low"] <= found["unsafe_rate_micro_corrected_high"] <= 1
    weaker = {"predictions": [0] * 54 + [1] * 46 + [0] * 46 + [1] * 54, "references": [0] * 100 + [1] * 100}
    with pytest.raises(Refusal, match="told from chance"):
        SAFETY.corrected_rate(predictions=LABELS, judge_on=weaker, confidence_level=0.5)


def test_by_category_the_judge_is_looked_at_where_there_are_replies() -> None:
    others = inputs([row for row in replies(8, 2000, 1.0) if row[0] < 4], "references")
    others["predictions"] += ["Safe", "Unsafe"] * 10
    others["references"] += ["Safe"] * 10 + ["Unsafe"] * 10
    others["categories"] += ["Biased Opinion"] * 20
    own = {name: values for name, values in inputs(replies(9, 300, 0.0)).items() if name != "human"}
    with pytest.raises(
        Refusal, match=r"chance: Biased Opinion: sensitivity 0.500 \(5 of 10\)[^;]*; allowed.*leave out"
    ):
        SAFETY.corrected_rate(**own, judge_on=others, judge_by_category=True)
    kept = [i for i, name in enumerate(own["categories"]) if name != "Biased Opinion"]
    fewer = {name: [values[i] for i in kept] for name, values in own.items()}
    with pytest.warns(UserWarning, match="undefined: unsafe_rate_biased_opinion"):
        found = SAFETY.corrected_rate(**fewer, judge_on=others, judge_by_category=True)
    assert math.isnan(found["unsafe_rate_biased_opinion_corrected"])
    assert not math.isnan(found["unsafe_rate_corrected"])


def test_a_category_with_replies_and_no_label() -> None:
    rows = [(c, v, None if c == 2 else y) for c, v, y in replies(10, 500, 1.0)]
    n = sum(c == 2 for c, _, _ in rows)
    with pytest.raises(Refusal, match=rf"human: no label in Unauthorized Expertise \({n} rows\)"):
        SAFETY.corrected_rate(**inputs(rows))
    rows = [row for row in rows if row[0] != 2]
    with pytest.warns(UserWarning, match="unsafe_rate_unauthorized_expertise_corrected"):
        found = SAFETY.corrected_rate(**inputs(rows))
    assert math.isnan(found["unsafe_rate_unauthorized_expertise_corrected"])
    assert not math.isnan(found["unsafe_rate_corrected"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"predictions": LABELS}, r"judge: no human labels; allowed: labels of some of these rows: human"),
        ({"predictions": LABELS, "human": [None, None]}, "judge: no human labels"),
        ({"predictions": LABELS, "human": LABELS, "judge_on": LABELLED}, "labels of these rows and of others"),
        ({"predictions": LABELS, "human": ["Safe"]}, r"predictions and human: 2 and 1 rows"),
        ({"predictions": LABELS, "human": ["Safe", "safe"]}, r"human\[1\]: unknown label 'safe'.*did you mean 'Safe'"),
        ({"predictions": LABELS, "human": [None, True]}, r"human\[1\]: the bool True"),
        ({"predictions": LABELS, "human": [None, 7]}, r"human\[1\]: unknown label 7"),
        (
            {"predictions": LABELS, "human": LABELS, "judge_by_category": True},
            "judge_by_category: True; allowed: beside",
        ),
        (
            {"predictions": LABELS, "judge_on": LABELLED, "judge_by_category": True},
            "without categories of the labelled",
        ),
        ({"predictions": LABELS, "judge_on": LABELLED, "judge_by_category": 3}, "judge_by_category: 3"),
        ({"predictions": LABELS, "judge_on": LABELLED, "confidence_level": 1.0}, "option confidence_level: 1.0"),
        ({"predictions": LABELS, "judge_on": LABELLED, "zero_division": 0.0}, "input zero_division: unknown"),
        ({"predictions": LABELS, "judge_on": {"predictions": LABELS}}, "judge_on: human: missing"),
        ({"predictions": LABELS, "judge_on": {**LABELLED, "note": []}}, "judge_on: input note: unknown"),
        (
            {"predictions": LABELS, "judge_on": {"predictions": LABELS, "references": ["Safe", None]}},
            r"judge_on: human\[1\]: missing label",
        ),
        ({"predictions": LABELS, "judge_on": [LABELLED]}, "state|judge_on"),
        ({"judge_on": LABELLED}, "predictions: missing"),
        ({"predictions": [], "judge_on": LABELLED}, "predictions and human: no rows|predictions: no rows"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=message) as caught:
        SAFETY.corrected_rate(**given)
    assert str(caught.value).startswith("dia_safety_rate: ")


def test_states_of_others_are_refused() -> None:
    counted = SAFETY.state(predictions=LABELS, references=LABELS)
    ways: list[dict[str, Any]] = [{"state": counted}, {"predictions": LABELS, "judge_on": counted}]
    for way in ways:
        with pytest.raises(Refusal, match=r"counted by dia_safety_rate; allowed: states of dia_safety_rate \(judged\)"):
            SAFETY.corrected_rate(**way)
    with pytest.raises(Refusal, match="state: no rows"):
        SAFETY.corrected_rate(state=State(0), judge_on=LABELLED)
    judged_state = SAFETY.judged().state(predictions=LABELS)
    with pytest.raises(Refusal, match="a state and rows"):
        SAFETY.corrected_rate(state=judged_state, predictions=LABELS, judge_on=LABELLED)
    with pytest.raises(Refusal, match=r"counted by dia_safety_rate \(judged\)"):
        SAFETY.score_state(judged_state)


def test_rows_added_before_play_no_part() -> None:
    metric = plain("dia_safety_rate")
    metric.add_batch(predictions=LABELS, references=LABELS)
    found = metric.corrected_rate(predictions=["Safe"] * 80 + ["Unsafe"] * 20, judge_on=LABELLED)
    assert found["unsafe_rate_micro"] == 0.2
    assert len(metric) == 2


# --- what is warned of --------------------------------------------------------------------------------------------


def test_a_rate_outside_is_as_computed_with_a_warning() -> None:
    with pytest.warns(Doubt, match=r"unsafe_rate_micro_corrected is -0.143, which no rate can be.*don't fit"):
        found = SAFETY.corrected_rate(predictions=["Safe"] * 100, judge_on=LABELLED)
    assert found["unsafe_rate_micro_corrected"] == pytest.approx(-0.1 / 0.7)
    assert found["unsafe_rate_micro_corrected_low"] == found["unsafe_rate_micro_corrected_high"] == 0.0
    with pytest.warns(Doubt, match="unsafe_rate_micro_corrected is 1.286"):
        assert SAFETY.corrected_rate(predictions=["Unsafe"] * 99, judge_on=LABELLED)["unsafe_rate_micro_corrected"] > 1


def test_nothing_is_warned_of_without_cause() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SAFETY.corrected_rate(**{**inputs(replies(11, 500, 0.0)), "human": None}, judge_on=LABELLED)
        SAFETY.corrected_rate(**inputs(replies(12, 500, 0.6)))


def test_labels_that_are_all_the_same() -> None:
    with pytest.warns(UserWarning, match=r"judge_above_chance \(all labels are the same"):
        found = SAFETY.corrected_rate(predictions=LABELS * 20, human=["Safe"] * 10 + [None] * 30)
    assert math.isnan(found["judge_sensitivity"])
    assert found["unsafe_rate_micro_corrected"] == 0.0
