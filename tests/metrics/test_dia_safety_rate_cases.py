"""dia_safety_rate on the real test split, and on inputs that broke other tools."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain.dia_safety_rate import CATEGORIES as SLUGS
from samples import CATEGORIES, SAFETY, assert_same
from sklearn.exceptions import UndefinedMetricWarning

import toxeval
from toxeval.answers import read_answers

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


def compute(**inputs: Any) -> dict[str, Any]:
    scores = toxeval.load("dia_safety_rate").compute(**inputs)
    assert scores is not None
    return scores


# --- the real test split ------------------------------------------------------------------------------------------


def test_figures_of_the_rule_classifier(shipped: Path) -> None:
    folder = shipped / "diasafety"
    golden = json.loads((folder / "expected.json").read_text())
    rows = [json.loads(line) for line in (folder / "test_rule.jsonl").read_text().splitlines()]
    found = compute(
        predictions=[row["prediction"] for row in rows],
        references=[row["reference"] for row in rows],
        categories=[row["category"] for row in rows],
        detailed=True,
    )
    wanted = class_figures(golden["coarse_overall"], "")
    wanted |= {"accuracy": golden["coarse_overall"]["accuracy"], "n_replies": golden["coarse_overall"]["n"]}
    wanted["unsafe_rate_micro"] = golden["coarse_overall"]["pred_unsafe_rate"]
    for category, slug in SLUGS.items():
        figures = golden["per_category"][category]
        wanted |= class_figures(figures, f"_{slug}")
        wanted |= {f"unsafe_rate_{slug}": figures["pred_unsafe_rate"], f"n_{slug}": figures["n"]}
    wanted["f1_macro_by_category"] = golden["per_category_macro_mean_f1"]
    wanted["unsafe_rate"] = sum(golden["per_category"][c]["pred_unsafe_rate"] for c in CATEGORIES) / 5
    assert_same({key: found[key] for key in wanted}, wanted)
    unsafe_f1 = [found[f"f1_Unsafe_{slug}"] for slug in SLUGS.values()]
    assert sum(unsafe_f1) / 5 == pytest.approx(golden["unsafe_f1_mean_over_categories"], abs=1e-12)

    by_hand = {"precision_Safe": 0.593715, "recall_Safe": 0.890572, "f1_Safe": 0.712458, "precision_Unsafe": 0.681373}
    by_hand |= {"recall_Unsafe": 0.277445, "f1_Unsafe": 0.394326, "f1_macro": 0.553392, "accuracy": 0.610046}
    by_hand |= {"unsafe_rate_micro": 0.186301, "f1_macro_by_category": 0.528428}
    of_categories = [0.439672, 0.531331, 0.551317, 0.648977, 0.470843]
    by_hand |= {f"f1_macro_{slug}": value for slug, value in zip(SLUGS.values(), of_categories)}
    assert {key: round(found[key], 6) for key in by_hand} == by_hand


def class_figures(golden: dict, suffix: str) -> dict[str, float]:
    kinds = ("precision", "recall", "f1", "support")
    figures = {f"{kind}_{label}{suffix}": golden[label][kind] for kind in kinds for label in SAFETY}
    return figures | {f"f1_macro{suffix}": golden["macro"]["f1"]}


def test_figures_of_the_two_step_procedure(shipped: Path) -> None:
    folder = shipped / "diasafety"
    golden = json.loads((folder / "expected.json").read_text())["two_step"]["dialo_test_medium_10_1.0"]
    golden = golden["any_split_contexts"]
    path = folder / "twostep_dialo_test_medium_10_1.0_any_split_contexts.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    found = compute(
        predictions=[
            "Utterance-Unsafe" if row["utterance_unsafe"] else "Context-Unsafe" if row["context_unsafe"] else "Safe"
            for row in rows
        ],
        categories=[row["category"] for row in rows],
        detailed=True,
    )
    wanted: dict[str, float] = {"n_replies": golden["responses"]}
    kinds = {"ut": "utterance_unsafe", "ctx": "context_unsafe", "total_unsafe": "unsafe"}
    for short, kind in kinds.items():
        wanted[f"{kind}_rate"] = golden["overall"]["macro"][f"{short}_rate"]
        wanted[f"{kind}_rate_micro"] = golden["overall"]["micro"][f"{short}_rate"]
        for category, slug in SLUGS.items():
            key = "total_unsafe_rate" if kind == "unsafe" else f"{short}_rate"
            wanted[f"{kind}_rate_{slug}"] = golden["per_category"][category][key]
    for category, slug in SLUGS.items():
        counts = golden["per_category"][category]
        wanted[f"n_{slug}"] = counts["all_cnt"]
        wanted[f"n_utterance_unsafe_{slug}"] = counts["ut_cnt"]
        wanted[f"n_context_unsafe_{slug}"] = counts["ctx_cnt"]
    assert_same({key: found[key] for key in wanted}, wanted)

    by_hand = {"utterance_unsafe_rate": 0.013744, "context_unsafe_rate": 0.145898, "unsafe_rate": 0.159641}
    by_hand |= {"utterance_unsafe_rate_micro": 0.012152, "context_unsafe_rate_micro": 0.155630}
    by_hand |= {"unsafe_rate_micro": 0.167781}
    assert {key: round(found[key], 6) for key in by_hand} == by_hand


# --- inputs that broke other tools --------------------------------------------------------------------------------


def test_case_label_09_target_names_crash() -> None:
    found = compute(predictions=[0, 1], references=[0, 1], categories=[1, 2], detailed=True)
    for slug in ("offending_user", "toxicity_agreement", "biased_opinion"):
        assert found[f"n_{slug}"] == 0
        assert math.isnan(found[f"unsafe_rate_{slug}"])


def test_case_label_23_taxonomy_mismatch() -> None:
    with pytest.raises(
        ValueError, match=r"categories\[0\]: unknown category 'hate'; allowed: " + ", ".join(CATEGORIES)
    ):
        compute(predictions=["Safe", "Unsafe"], categories=["hate", "Risk Ignorance"])


def test_case_dia_04_denominator() -> None:
    per_prompt = [[1, 0, 0, 0], [0, 0, 0, 0]]
    found = compute(predictions=sum(per_prompt, []), categories=[0] * 8, detailed=True)
    assert found["unsafe_rate_micro"] == found["unsafe_rate"] == 0.125
    assert (found["n_unsafe"], found["n_replies"]) == (1, 8)


def test_case_dia_05_verdict_parsing() -> None:
    raw = "\n\nunsafe\nS1"
    for invalid in ("error", "count"):
        with pytest.raises(ValueError, match=r"predictions\[0\]: a text of 11 characters where a verdict") as caught:
            compute(predictions=[raw], categories=[0], invalid=invalid)
        assert "S1" not in str(caught.value)
    (verdict,) = read_answers([raw], SAFETY, "first_line")
    found = compute(predictions=[verdict], categories=[0], invalid="count", detailed=True)
    assert (found["n_invalid"], found["n_unsafe"], found["n_offending_user"]) == (0, 1, 1)


@pytest.mark.parametrize(
    "verdict",
    [
        "Unsafe ",
        "\nUnsafe",
        "UNSAFE",
        "**Unsafe**",
        "Unsafe.",
        '"Unsafe"',
        "unsafe\nS1",
        "Unsafe\u200b",
        "Verdict: Unsafe",
    ],
)
def test_a_verdict_in_some_dress_is_never_missing(verdict: str) -> None:
    with pytest.raises(ValueError, match=r"predictions\[1\]: .*toxeval.answers"):
        compute(predictions=["Safe", verdict], categories=[1, 1], invalid="count")


@pytest.mark.parametrize("bools", [[True, False], np.array([True, False])])
def test_a_bool_says_neither_safe_nor_unsafe(bools: Any) -> None:
    for given_inputs in ({"predictions": bools, "categories": [0, 1]}, {"predictions": [0, 1], "references": bools}):
        with pytest.raises(ValueError, match="the bool True; .*a bool may mean safe or unsafe"):
            compute(**given_inputs)


def test_nothing_but_invalid_verdicts() -> None:
    with pytest.warns(UndefinedMetricWarning, match="unsafe_rate_micro \\(there is no valid verdict"):
        found = compute(predictions=[None, None], categories=[0, 0], invalid="count")
    assert math.isnan(found["unsafe_rate"])
    assert math.isnan(found["unsafe_rate_offending_user"])
    assert (found["unsafe_rate_at_least"], found["unsafe_rate_at_most"]) == (0.0, 1.0)


def test_case_dia_06_partial_category_filter() -> None:
    with pytest.raises(ValueError, match="unknown category 'Risk Ignorence'.*did you mean 'Risk Ignorance'"):
        compute(predictions=["Safe", "Safe"], categories=["Risk Ignorance", "Risk Ignorence"])


def test_case_dia_07_toxic_label_missing() -> None:
    with pytest.raises(ValueError, match="unknown verdict 'toxic'; allowed: Safe, Unsafe"):
        compute(predictions=["toxic"], categories=[0])
    with pytest.raises(ValueError, match="option unsafe_label: unknown"):
        compute(predictions=["Unsafe"], categories=[0], unsafe_label="toxic")


def test_case_dia_08_classifier_or_generator() -> None:
    rates = compute(predictions=["Safe", "Unsafe"], categories=[0, 1])
    assert all("rate" in key for key in rates)
    scores = compute(predictions=["Safe", "Unsafe"], references=["Safe", "Safe"])
    assert {"f1_macro", "f1_Safe", "f1_Unsafe"} < set(scores)


def test_case_dia_09_rate_interval() -> None:
    found = compute(predictions=[0] * 10, categories=[0] * 10, confidence_level=0.95)
    assert found["unsafe_rate_micro"] == 0.0
    assert found["unsafe_rate_micro_low"] == 0.0
    assert found["unsafe_rate_micro_high"] == pytest.approx(0.2775327998628892, abs=1e-12)


def test_case_ci_05_group_missing() -> None:
    found = compute(predictions=[1] + [0, 1] * 100, categories=[0] + [1] * 200, confidence_level=0.95)
    assert found["unsafe_rate_offending_user_low"] == pytest.approx(0.206549, abs=1e-6)
    assert found["unsafe_rate_risk_ignorance_low"] < 0.5 < found["unsafe_rate_risk_ignorance_high"]


def test_case_out_06_classwise_logging() -> None:
    found = compute(predictions=["Unsafe"] * 5, categories=list(CATEGORIES))
    assert found["unsafe_rate_risk_ignorance"] == 1.0
    assert {type(value) for value in found.values()} == {float}


@pytest.mark.parametrize("nearly", ["safe", "UNSAFE", "Safe ", "context-unsafe", "1", "0.0", "2", "-1", "True"])
def test_a_verdict_in_other_letters_or_an_id_as_a_text_is_no_missing_verdict(nearly: str) -> None:
    """Counted as missing, a column of them would make a chatbot perfectly safe."""
    for verdicts in ([nearly, "Safe"], ["Safe", nearly], [nearly] * 3, [None, nearly]):
        row = verdicts.index(nearly)
        with pytest.raises(ValueError, match=rf"^dia_safety_rate: predictions\[{row}\]: "):
            toxeval.load("dia_safety_rate").compute(
                predictions=verdicts, categories=[0] * len(verdicts), invalid="count"
            )
