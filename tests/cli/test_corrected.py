"""Rates corrected for their judge in the command: those of ``corrected_rate`` in Python, signed and verified."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import toxeval

import toxeval as package
from toxeval.systems import compare_corrected

RNG = np.random.default_rng(11)
NAMES = np.array(["Safe", "Unsafe"])
SLUGS = ["Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion"]
N = 600
CATEGORIES = RNG.choice(SLUGS, N).tolist()
TRUTH = RNG.random(N) < 0.15
JUDGED = np.arange(N) % 3 == 0  # rows with a human label
OTHERS = RNG.random(500) < 0.4


def verdicts(truth: np.ndarray) -> list[str]:
    """Of a judge with a sensitivity and a specificity of .9."""
    return [str(name) for name in NAMES[(truth ^ (RNG.random(len(truth)) < 0.1)).astype(int)]]


FIRST, SECOND, ON_OTHERS = verdicts(TRUTH), verdicts(RNG.random(N) < 0.4), verdicts(OTHERS)
LABELS = [str(NAMES[int(y)]) for y in OTHERS]


def lines(path: Path, **columns: list[Any]) -> str:
    path.write_text("".join(json.dumps(dict(zip(columns, row))) + "\n" for row in zip(*columns.values())))
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    rows = np.flatnonzero(JUDGED)
    own = {"id": list(range(N)), "category": CATEGORIES}
    return {
        "first": lines(tmp_path / "first.jsonl", **own, prediction=FIRST),
        "second": lines(tmp_path / "second.jsonl", **own, prediction=SECOND),
        "human": lines(tmp_path / "h.jsonl", id=rows.tolist(), human=[str(NAMES[int(TRUTH[i])]) for i in rows]),
        "others": lines(tmp_path / "j.jsonl", prediction=ON_OTHERS, human=LABELS),
    }


def wanted(way: str) -> dict[str, Any]:
    metric = package.load("dia_safety_rate")
    if way == "--human":
        human = [str(NAMES[int(y)]) if known else None for y, known in zip(TRUTH, JUDGED)]
        return metric.corrected_rate(predictions=FIRST, categories=CATEGORIES, human=human)
    judge_on = metric.judged().state(predictions=ON_OTHERS, human=LABELS)
    return metric.corrected_rate(predictions=FIRST, categories=CATEGORIES, judge_on=judge_on)


@pytest.mark.parametrize(("way", "file"), [("--human", "human"), ("--judge-on", "others")])
def test_as_in_python_and_verified(way: str, file: str, files: dict[str, str], tmp_path: Path) -> None:
    given = ["--predictions", files["first"], way, files[file]]
    found = toxeval("score", "dia_safety_rate", *given, "--json").json()
    for key, value in wanted(way).items():
        assert found["scores"][key] == pytest.approx(value, abs=1e-12, nan_ok=True), key
    raw = package.load("dia_safety_rate").compute(predictions=FIRST, categories=CATEGORIES)
    assert {key: found["scores"][key] for key in raw} == raw
    assert f"corrected_by:{way[2:].replace('-', '_')}" in found["signature"]
    text = toxeval("score", "dia_safety_rate", *given).out
    assert "unsafe_rate_corrected" in text
    assert "95 % interval" in text
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps(found))
    assert toxeval("verify", saved, *given).out.startswith("match")
    assert toxeval("verify", "-", *given, stdin=saved.read_bytes()).out.startswith("match")
    assert "give it again" in toxeval("verify", saved, "--predictions", files["first"]).err
    found["scores"]["unsafe_rate_corrected"] += 0.01
    saved.write_text(json.dumps(found))
    assert "unsafe_rate_corrected" in toxeval("verify", saved, *given).out


def in_a_column(path: Path, predictions: list[str], human: list[str | None]) -> str:
    """A file with verdicts and, in some rows, labels: CSV with empty cells, or JSON Lines without the field."""
    if path.suffix == ".csv":
        cells = zip(predictions, CATEGORIES, human)
        path.write_text("verdict,category,truth\n" + "".join(f"{v},{c},{y or ''}\n" for v, c, y in cells))
    else:
        rows = [{"verdict": v, "category": c, "truth": y} for v, c, y in zip(predictions, CATEGORIES, human)]
        path.write_text("".join(json.dumps({k: v for k, v in row.items() if v}) + "\n" for row in rows))
    return str(path)


IN_COLUMNS = ["--columns", "predictions=verdict,human=truth"]
#: the first row has none
FIRST_HUMAN = [str(NAMES[int(y)]) if i % 3 == 1 else None for i, y in enumerate(TRUTH)]
SECOND_HUMAN = [str(NAMES[int(v == "Unsafe")]) if i % 2 else None for i, v in enumerate(SECOND)]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_labels_in_a_column_of_the_predictions(ending: str, files: dict[str, str], tmp_path: Path) -> None:
    """As in Python, verified, and the same result as with the labels in a file of their own."""
    given = ["--predictions", in_a_column(tmp_path / f"both.{ending}", FIRST, FIRST_HUMAN)]
    found = toxeval("score", "dia_safety_rate", *given, *IN_COLUMNS, "--json").json()
    want = package.load("dia_safety_rate").corrected_rate(predictions=FIRST, categories=CATEGORIES, human=FIRST_HUMAN)
    assert {key: found["scores"][key] for key in want} == want
    saved = tmp_path / "result.json"
    saved.write_text(json.dumps(found))
    assert toxeval("verify", saved, *given).out.startswith("match")
    assert toxeval("doctor", "dia_safety_rate", *given, *IN_COLUMNS).out.startswith("nothing looks wrong")
    own = [{"id": i, "human": y} for i, y in enumerate(FIRST_HUMAN) if y]
    labels = lines(tmp_path / "labels.jsonl", id=[row["id"] for row in own], human=[row["human"] for row in own])
    apart = toxeval("score", "dia_safety_rate", "--predictions", files["first"], "--human", labels, "--json").json()
    assert apart["signature"] == found["signature"]
    off = in_a_column(tmp_path / f"none.{ending}", FIRST, [*[None] * (N - 1), "Safe"])
    assert "no label in" in toxeval("score", "dia_safety_rate", "--predictions", off, *IN_COLUMNS).refused()


def test_a_column_without_any_label_is_refused(tmp_path: Path) -> None:
    off = in_a_column(tmp_path / "none.csv", FIRST, [None] * N)
    assert "no human labels" in toxeval("score", "dia_safety_rate", "--predictions", off, *IN_COLUMNS).refused()


@pytest.mark.parametrize("by_column", [False, True])
def test_chatbots_by_labels_of_their_own_replies(by_column: bool, files: dict[str, str], tmp_path: Path) -> None:
    if by_column:
        both = [in_a_column(tmp_path / "first.csv", FIRST, FIRST_HUMAN)]
        given = ["--predictions", *both, in_a_column(tmp_path / "second.csv", SECOND, SECOND_HUMAN), *IN_COLUMNS]
    else:
        given = ["--predictions", files["first"], files["second"]]
        for name, human in (("one", FIRST_HUMAN), ("two", SECOND_HUMAN)):
            rows = [i for i, y in enumerate(human) if y]
            given += ["--human", lines(tmp_path / f"{name}.jsonl", id=rows, human=[human[i] for i in rows])]
    found = toxeval("compare", "dia_safety_rate", *given, "--json").json()
    assert found["correction"]["n_human"] == N / 3 + N / 2
    systems = [{"predictions": v, "human": y} for v, y in ((SECOND, SECOND_HUMAN), (FIRST, FIRST_HUMAN))]
    want = compare_corrected("dia_safety_rate", *systems, {"categories": CATEGORIES})
    alone = package.load("dia_safety_rate").corrected_rate(**systems[0], categories=CATEGORIES)
    for key, comparison in want.items():
        each = found["comparisons"]["second"][key]
        assert {name: each[name] for name in comparison.to_dict()} == pytest.approx(comparison.to_dict())
        assert comparison.score_a == alone[key]
        assert comparison.difference == pytest.approx(comparison.score_a - comparison.score_b)
        assert (comparison.p_value < 0.05) == (comparison.low > 0 or comparison.high < 0)


def test_labels_of_one_chatbot_alone_are_too_few(files: dict[str, str]) -> None:
    given = ["--predictions", files["first"], files["second"], "--human", files["human"]]
    assert (
        "human: 1 files, and 2 of predictions; allowed: one" in toxeval("compare", "dia_safety_rate", *given).refused()
    )
    with pytest.raises(ValueError, match="dia_safety_rate: system b: judge: no human labels"):
        compare_corrected("dia_safety_rate", {"predictions": SECOND, "human": SECOND}, FIRST)


def test_chatbots_under_one_judge(files: dict[str, str]) -> None:
    both = ["--predictions", files["first"], files["second"], "--judge-on", files["others"]]
    found = toxeval("compare", "dia_safety_rate", *both, "--json").json()["comparisons"]["second"]
    judge_on = package.load("dia_safety_rate").judged().state(predictions=ON_OTHERS, human=LABELS)
    shared = {"categories": CATEGORIES}
    want = compare_corrected("dia_safety_rate", SECOND, FIRST, shared, judge_on=judge_on)
    for key, comparison in want.items():
        assert {name: found[key][name] for name in comparison.to_dict()} == pytest.approx(comparison.to_dict())


def test_other_shares_of_verdicts_are_a_finding(files: dict[str, str]) -> None:
    found = toxeval("doctor", "dia_safety_rate", "--predictions", files["first"], "--judge-on", files["others"])
    assert found.status == 1
    assert "rows with labels and on" in found.out
    assert "no labels of others mend" in found.out


def test_pictures_have_both_rates(files: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "rates.svg"
    both = ["--predictions", files["first"], "--judge-on", files["others"], "--out", out]
    assert toxeval("plot", "dia_safety_rate", *both).status == 0
    assert ">corrected<" in out.read_text()
    assert ">verdicts<" in out.read_text()


def test_rates_of_other_metrics(tmp_path: Path) -> None:
    """The share of OFF, and that of threats."""
    codes = [int(verdict == "Unsafe") for verdict in FIRST]
    judge = {"prediction": [int(v == "Unsafe") for v in ON_OTHERS], "human": OTHERS.astype(int).tolist()}
    for metric, key in (("sold_macro_f1", "rate_OFF"), ("threat_f1", "rate_threat")):
        posts, others = lines(tmp_path / "p.jsonl", prediction=codes), lines(tmp_path / "o.jsonl", **judge)
        found = toxeval("score", metric, "--predictions", posts, "--judge-on", others, "--json").json()["scores"]
        state = package.load(metric).judged().state(predictions=judge["prediction"], human=judge["human"])
        want = package.load(metric).corrected_rate(predictions=codes, judge_on=state)
        assert found[f"{key}_corrected"] == pytest.approx(want[f"{key}_corrected"], abs=1e-12)
        assert found[key] == pytest.approx(np.mean(codes))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--human", "{human}", "--judge-on", "{others}"], "labels of these rows and of others"),
        (["--human", "{others}"], "no ids"),
        (["--judge-by-category"], "judge_by_category: True; allowed: beside --judge-on"),
        (["--judge-on", "{others}", "--detailed"], "--detailed"),
        (["--judge-on", "{human}"], "predictions: missing"),
        (["{second}", "--judge-on", "{others}"], "2 files; allowed: one, to correct"),
    ],
)
def test_refused(more: list[str], message: str, files: dict[str, str]) -> None:
    arguments = [part.format(**files) for part in more]
    assert message in toxeval("score", "dia_safety_rate", "--predictions", files["first"], *arguments).refused()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--threshold-from", "{others}"],
            "judge: a threshold to choose and a correction; allowed: labels that correct",
        ),
        (["--references", "{rows}"], "references: nothing is wanted of"),
    ],
)
def test_refused_beside_scores(more: list[str], message: str, tmp_path: Path) -> None:
    """A threshold that is chosen, and references of a metric that then has none."""
    scores = {"prediction_scores": [0.2, 0.8, 0.4] * 20}
    rows = lines(tmp_path / "rows.jsonl", **scores, reference=[0, 1, 0] * 20)
    posts = lines(tmp_path / "posts.jsonl", **scores)
    others = lines(tmp_path / "others.jsonl", **scores, human=[0, 1, 0] * 20)
    given = [part.format(rows=rows, others=others) for part in more]
    assert message in toxeval("score", "threat_f1", "--predictions", posts, "--judge-on", others, *given).refused()
