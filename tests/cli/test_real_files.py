"""The benchmarks' real files through the command: what `compute` says, what was published, and it verifies."""

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from command import toxeval

import toxeval as package


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def check(tmp_path: Path, metric: str, expected: dict[str, Any] | None, *arguments: str | Path) -> dict[str, Any]:
    """Scores equal compute's, and the saved result verifies."""
    saved = tmp_path / "result.json"
    answer = toxeval("score", metric, *arguments, "--json")
    result = answer.json()
    assert result["scores"] == expected
    saved.write_text(answer.out)
    again = toxeval("verify", saved, *[a for a in arguments if a not in ("--detailed",)])
    assert again.status == 0, again.out
    return result


def conda_records(rows: list[dict[str, Any]], side: str) -> list[dict[str, Any]]:
    return [{"intent": row[f"{side}_intent"], "slots": row[f"{side}_slots"]} for row in rows]


def test_conda(tmp_path: Path, shared: Path) -> None:
    path = shared / "data" / "golden" / "conda" / "valid_c_half_lexicon.jsonl"
    rows = read(path)
    expected = package.load("conda_joint").compute(
        predictions=conda_records(rows, "pred"), references=conda_records(rows, "ref"), detailed=True
    )
    result = check(tmp_path, "conda_joint", expected, "--predictions", path, "--detailed")
    assert result["scores"]["jsa"] == pytest.approx(0.474816, abs=5e-7)
    assert result["scores"]["t_f1_with_sepa"] == pytest.approx(0.737235, abs=5e-7)

    # against the dataset's own references, in its own order, from a CSV file
    guesses = tmp_path / "guesses.csv"
    with guesses.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["slots", "id", "intent"])
        writer.writerows([" ".join(row["pred_slots"]), row["id"], row["pred_intent"]] for row in rows[::-1])
    command = [
        "score",
        "conda_joint",
        "--predictions",
        guesses,
        "--dataset",
        "conda:validation",
        "--json",
        "--detailed",
    ]
    answer = toxeval(*command, "--data-dir", shared / "data" / "conda").json()
    assert answer["scores"] == expected
    assert answer["sha256"] == result["sha256"]
    assert "|dataset:conda/validation|" in answer["signature"]
    command[command.index("conda:validation")] = "conda:test"
    assert "not annotated" in toxeval(*command, "--data-dir", shared / "data" / "conda").refused()


def test_dia_safety(tmp_path: Path, shared: Path, shipped: Path) -> None:
    path = shipped / "diasafety" / "test_rule.jsonl"
    rows = read(path)
    columns = {"predictions": "prediction", "references": "reference", "categories": "category"}
    given = {name: [row[column] for row in rows] for name, column in columns.items()}
    metric = package.load("dia_safety_rate")
    expected = metric.compute(**given, confidence_level=0.9, n_resamples=200)
    check(tmp_path, "dia_safety_rate", metric.compute(**given), "--predictions", path)
    intervals = ["--confidence", "0.9", "--resamples", "200"]
    result = toxeval("score", "dia_safety_rate", "--predictions", path, *intervals, "--json").json()
    assert result["scores"] == expected
    assert result["scores"]["f1_macro"] == pytest.approx(0.553392, abs=5e-7)
    # against the dataset's own references, row by row: it has no ids
    data = ["--dataset", "dia_safety:test", "--data-dir", shared / "data" / "diasafety"]
    guesses = write(tmp_path / "guesses.jsonl", [{"prediction": row["prediction"]} for row in rows])
    answer = toxeval("score", "dia_safety_rate", "--predictions", guesses, *data, "--json").json()
    assert answer["scores"] == metric.compute(**given)


def test_dia_safety_of_a_chatbot(tmp_path: Path, shipped: Path) -> None:
    path = shipped / "diasafety" / "twostep_dialo_test_medium_10_1.0_any_split_contexts.jsonl"
    names = {"safe": "Safe", "utterance_unsafe": "Utterance-Unsafe", "context_unsafe": "Context-Unsafe"}
    verdicts = [{"prediction": names[row["status"]], "category": row["category"]} for row in read(path)]
    expected = package.load("dia_safety_rate").compute(
        predictions=[row["prediction"] for row in verdicts], categories=[row["category"] for row in verdicts]
    )
    result = check(tmp_path, "dia_safety_rate", expected, "--predictions", write(tmp_path / "v.jsonl", verdicts))
    assert result["scores"]["unsafe_rate"] == pytest.approx(0.159641, abs=5e-7)


@pytest.mark.parametrize("config", ["default", "token"])
def test_sold(tmp_path: Path, shipped: Path, config: str) -> None:
    path = shipped / "sold" / "synthetic_SOLD_test.tsv"
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    if config == "default":
        gold: list[Any] = [row["label"] for row in rows]
        guesses: list[Any] = ["NOT"] * len(rows)
    else:
        # a post without a rationale has nothing marked
        gold = [json.loads(row["rationales"]) or [0] * len(row["tokens"].split(" ")) for row in rows]
        guesses = [[1] * len(rationale) for rationale in gold]
    mine = [{"post_id": row["post_id"], "predictions": guess} for row, guess in zip(rows, guesses)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = package.load("sold_macro_f1", config).compute(predictions=guesses, references=gold)
    files = ["--predictions", write(tmp_path / "p.jsonl", mine[::-1]), "--references", path]
    check_config = [] if config == "default" else ["--config", config]
    answer = toxeval("score", "sold_macro_f1", *files, *check_config, "--json").json()
    assert answer["scores"] == expected


def test_threat_seed(tmp_path: Path, shipped: Path) -> None:
    source = shipped / "threat_seed"
    with (source / "test_labels.csv").open(newline="") as stream:
        labels = {row["id"]: int(row["threat"]) for row in csv.DictReader(stream) if row["threat"] != "-1"}
    scores = {i: (index * 37 % 101) / 100 for index, i in enumerate(labels)}
    path = write(tmp_path / "p.jsonl", [{"id": i, "prediction_scores": scores[i]} for i in labels])
    gold = tmp_path / "gold.csv"
    gold.write_text("id,label\n" + "".join(f"{i},{threat}\n" for i, threat in reversed(labels.items())))
    metric = package.load("threat_f1")
    expected = metric.compute(prediction_scores=list(scores.values()), references=list(labels.values()))
    check(tmp_path, "threat_f1", expected, "--predictions", path, "--references", gold)


@pytest.mark.filterwarnings("ignore:.*undefined")
def test_oracle_collab(tmp_path: Path, shipped: Path) -> None:
    case = json.loads((shipped / "oracle_collab" / "cases.json").read_text())[0]
    inputs = {name: case[name] for name in ("predictions", "references")}
    path = write(tmp_path / "p.jsonl", [dict(zip(inputs, row)) for row in zip(*inputs.values())])
    options = {name: case[name] for name in ("review_fractions", "review_strategy", "threshold")}
    expected = package.load("oracle_collab").compute(**inputs, **options)
    given = [part for name, value in options.items() for part in ("--option", f"{name}={json.dumps(value)}")]
    assert toxeval("score", "oracle_collab", "--predictions", path, *given, "--json").json()["scores"] == {
        key: None if value != value else value for key, value in (expected or {}).items()
    }
