"""Files in the layouts that other programs write: scored as they are, as `compute` scores what is in them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from command import Answer, toxeval

import toxeval as package
from toxeval.read import Rows, open_files, plain_cells, separated

pytestmark = pytest.mark.filterwarnings("ignore:.*undefined")
PERSPECTIVE = {
    "attributeScores": {
        name: {
            "spanScores": [{"begin": 0, "end": 4, "score": {"value": value, "type": "PROBABILITY"}}],
            "summaryScore": {"value": value, "type": "PROBABILITY"},
        }
        for name, value in {"THREAT": 0.25, "TOXICITY": 0.75}.items()
    },
    "languages": ["en"],
    "detectedLanguages": ["en"],
}


def json_lines(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def comparable(scores: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: None if math.isnan(value) else value for key, value in (scores or {}).items()}


def check(tmp_path: Path, metric: str, inputs: Mapping[str, Any], *arguments: str | Path) -> Answer:
    """The command's scores, those of the same files through Python, and those of ``inputs`` are the same ones; the
    result verifies."""
    name, _, config = metric.partition("/")
    said = list(map(str, arguments)) + (["--config", config] if config else [])
    answer = toxeval("score", name, *said, "--json")
    loaded = package.load(name, config or "default")
    assert answer.json()["scores"] == comparable(loaded.compute(**inputs))
    given = dict(zip(said[::2], said[1::2]))
    names = {"--references": "references", "--data-dir": "data_dir", "--format": "format"}
    files = open_files(given["--predictions"], **{names[key]: given[key] for key in given if key in names})
    columns = dict(pair.split("=") for pair in given.get("--columns", "").split(",") if pair)
    assert comparable(loaded.compute(**Rows(loaded.definition, *files, columns).collect())) == comparable(
        loaded.compute(**inputs)
    )
    saved = tmp_path / "result.json"
    saved.write_text(answer.out, encoding="utf-8")
    of_a_result = {"--config", "--format", "--columns"}
    again = [part for key in given if key not in of_a_result for part in (key, given[key])]
    verified = toxeval("verify", saved, *again)
    assert verified.status == 0, verified.out + verified.err
    return answer


# --- JointBERT ------------------------------------------------------------------------------------------------------


def jointbert_folder(path: Path, rows: Sequence[Mapping[str, Any]], side: str) -> Path:
    """What JointBERT's data sets are."""
    path.mkdir()
    for name, lines in {
        "seq.in": [" ".join(row["tokens"]) for row in rows],
        "seq.out": [" ".join(row[f"{side}_slots"]) for row in rows],
        "label": [row[f"{side}_intent"] for row in rows],
    }.items():
        (path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def jointbert_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """What its predict.py writes."""
    with path.open("w", encoding="utf-8") as f:
        for row in rows:
            line = ""
            for word, pred in zip(row["tokens"], row["pred_slots"]):
                line += word + " " if pred == "O" else f"[{word}:{pred}] "
            f.write("<{}> -> {}\n".format(row["pred_intent"], line.strip()))
    return path


@pytest.fixture(scope="module")
def conda(shared: Path) -> list[dict[str, Any]]:
    path = shared / "data" / "golden" / "conda" / "valid_c_half_lexicon.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("kind", ["lines", "folder"])
def test_jointbert_on_the_validation_split(tmp_path: Path, conda: list[dict[str, Any]], kind: str) -> None:
    gold = jointbert_folder(tmp_path / "gold", conda, "ref")
    mine = jointbert_lines(tmp_path / "outputs.txt", conda)
    if kind == "folder":
        mine = jointbert_folder(tmp_path / "mine", conda, "pred")
    records = {
        name: [{"intent": row[f"{side}_intent"], "slots": row[f"{side}_slots"]} for row in conda]
        for name, side in {"predictions": "pred", "references": "ref"}.items()
    }
    files = ["--format", "jointbert", "--predictions", mine, "--references", gold]
    scores = check(tmp_path, "conda_joint", records, *files).json()["scores"]
    assert scores["jsa"] == pytest.approx(0.474816, abs=5e-7)
    intents = {name: [each["intent"] for each in side] for name, side in records.items()}
    answer = check(tmp_path, "conda_joint/intent", intents, *files).json()
    assert answer["scores"]["u_f1_E"] == pytest.approx(0.676195, abs=5e-7)
    assert "format" not in answer["signature"]  # the rows say it all


def test_jointbert_lines_against_the_data_set(tmp_path: Path, conda: list[dict[str, Any]], shared: Path) -> None:
    mine = jointbert_lines(tmp_path / "outputs.txt", conda)
    given = ["--predictions", mine, "--dataset", "conda:validation", "--data-dir", shared / "data" / "conda", "--json"]
    scores = toxeval("score", "conda_joint", "--format", "jointbert", *given).json()["scores"]
    assert scores["jsa"] == pytest.approx(0.474816, abs=5e-7)


def test_words_that_look_like_slots_are_words(tmp_path: Path) -> None:
    rows = [
        {"tokens": ["[a:T]", "b"], "pred_slots": ["O", "S"], "pred_intent": "O", "ref_slots": ["O", "S"]},
        {"tokens": ["[SEPA]", ":P"], "pred_slots": ["SEPA", "P"], "pred_intent": "E", "ref_slots": ["SEPA", "O"]},
        {"tokens": [], "pred_slots": [], "pred_intent": "O", "ref_slots": []},
    ]
    rows = [row | {"ref_intent": "O"} for row in rows]
    mine, gold = jointbert_lines(tmp_path / "outputs.txt", rows), jointbert_folder(tmp_path / "gold", rows, "ref")
    table, _ = open_files(str(mine), str(gold), format="jointbert")
    (batch,) = table.batches(["pred_slots"])
    assert batch["pred_slots"] == [["O", "S"], ["SEPA", "P"], []]


# --- SOLD -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sold(shipped: Path) -> Path:
    return shipped / "sold" / "synthetic_SOLD_test.tsv"


@pytest.mark.parametrize("config", ["default", "token"])
def test_sold_in_its_own_file(tmp_path: Path, sold: Path, config: str) -> None:
    with sold.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    if config == "default":
        gold: list[Any] = [row["label"] for row in rows]
        guesses: list[Any] = [["OFF", "NOT"][i % 2] for i in range(len(rows))]
    else:
        gold = [json.loads(row["rationales"]) or [0] * len(row["tokens"].split(" ")) for row in rows]
        guesses = [[i % 2 for i in range(len(marks))] for marks in gold]
    metric = "sold_macro_f1" if config == "default" else "sold_macro_f1/token"
    inputs = {"predictions": guesses, "references": gold}
    # the predictions in a file of their own, by id; in another column of SOLD's
    apart = [{"post_id": row["post_id"], "predictions": guess} for row, guess in zip(rows, guesses)]
    mine = json_lines(tmp_path / "mine.jsonl", apart[::-1])
    check(tmp_path, metric, inputs, "--format", "sold", "--predictions", mine, "--references", sold)
    beside = tmp_path / "beside.tsv"
    with beside.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [*rows[0], "predictions"], delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            row | {"predictions": json.dumps(guess) if config == "token" else guess}
            for row, guess in zip(rows, guesses)
        )
    check(tmp_path, metric, inputs, "--format", "sold", "--predictions", beside)


# --- Kaggle ---------------------------------------------------------------------------------------------------------


def submission(path: Path, labels: Path) -> dict[str, float]:
    """A submission for all ids of a file of labels; id -> P(threat)."""
    with labels.open(newline="") as stream:
        ids = [row["id"] for row in csv.DictReader(stream)]
    scores = {each: (i * 37 % 101) / 100 for i, each in enumerate(ids)}
    lines = [f"{each},0.5,0.1,0.4,{scores[each]},0.3,0.2\n" for each in reversed(ids)]
    path.write_text("id,toxic,severe_toxic,obscene,threat,insult,identity_hate\n" + "".join(lines))
    return scores


@pytest.mark.parametrize(("metric", "column"), [("threat_f1", "threat"), ("oracle_collab", "toxic")])
def test_a_submission_to_kaggle(tmp_path: Path, shipped: Path, metric: str, column: str) -> None:
    labels = shipped / "threat_seed" / "test_labels.csv"
    threats = submission(tmp_path / "submission.csv", labels)
    with labels.open(newline="") as stream:
        all_rows = list(csv.DictReader(stream))
    scored = [row for row in all_rows if row[column] != "-1"]
    assert 0 < len(scored) < len(all_rows)
    references = [int(row[column]) for row in scored]
    inputs: dict[str, Any] = {"references": references}
    if metric == "threat_f1":
        inputs["prediction_scores"] = [threats[row["id"]] for row in scored]
    else:
        inputs["predictions"] = [0.5] * len(scored)
    files = ["--format", "kaggle", "--predictions", tmp_path / "submission.csv", "--references", labels]
    result = check(tmp_path, metric, inputs, *files).json()
    assert "|format:kaggle|" in result["signature"]
    n = len(all_rows) - len(scored)
    shown = toxeval("score", metric, *files).out
    assert f"left out: {n} rows whose labels are -1, which are unscored by definition" in shown


# --- DiaSafety's generations ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["beside", "each", "lists"])
def test_verdicts_on_the_replies_of_a_chatbot(tmp_path: Path, shared: Path, kind: str) -> None:
    replies_file = shared / "data" / "diasafety" / "generations" / "dialo_test_medium_10_1.0.json"
    replies = json.loads(replies_file.read_text(encoding="utf-8"))
    names = ["Safe", "Utterance-Unsafe", "Context-Unsafe"]
    verdicts = [[names[(7 * i + j) % 11 % 3] for j in range(len(r["gen_response"]))] for i, r in enumerate(replies)]
    known: dict[str, str] = {}
    for name in ("train", "val", "test"):
        for row in json.loads((shared / "data" / "diasafety" / f"{name}.json").read_text(encoding="utf-8")):
            known[" ".join(row["context"].split())] = row["category"]
    inputs: dict[str, list[str]] = {"predictions": [], "categories": []}
    for reply, each in zip(replies, verdicts):
        if category := known.get(" ".join(reply["context"].split())):
            inputs["predictions"] += each
            inputs["categories"] += [category] * len(each)
    assert len(inputs["predictions"]) == 8990
    path: Path | str = tmp_path / "beside.json"
    if kind == "beside":
        content = [reply | {"verdicts": each} for reply, each in zip(replies, verdicts)]
        (tmp_path / "beside.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    elif kind == "each":
        path = json_lines(tmp_path / "each.jsonl", [{"verdicts": verdict} for each in verdicts for verdict in each])
    else:
        contexts = [{"context": reply["context"], "verdicts": each} for reply, each in zip(replies, verdicts)]
        path = json_lines(tmp_path / "lists.jsonl", contexts)
    files = ["--format", "generations", "--predictions", path, "--data-dir", shared / "data" / "diasafety"]
    files += [] if kind == "beside" else ["--references", replies_file]
    answer = check(tmp_path, "dia_safety_rate", inputs, *files)
    assert answer.json()["left_out"].startswith("2080 replies to contexts that aren't among DiaSafety's")


# --- pipelines ------------------------------------------------------------------------------------------------------

SCORES = [0.9, 0.2, 0.75, 0.5]
GOLD = ["threat", "non-threat", "non-threat", "threat"]


def best(score: float) -> dict[str, Any]:
    label = "threat" if score > 0.5 else "non-threat"
    return {"label": label, "score": max(score, 1.0 - score)}


def every(score: float) -> list[dict[str, Any]]:
    both = [{"label": "threat", "score": score}, {"label": "non-threat", "score": 1.0 - score}]
    return sorted(both, key=lambda each: -each["score"])


@pytest.mark.parametrize("output", [best, every])
@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_the_output_of_a_pipeline(tmp_path: Path, output: Any, name: str) -> None:
    path = json_lines(tmp_path / name, [output(score) for score in SCORES])
    if name == "out.json":
        path.write_text(json.dumps([output(score) for score in SCORES], indent=1))
    gold = json_lines(tmp_path / "gold.jsonl", [{"label": label} for label in GOLD])
    scores = [1.0 - (1.0 - score) if output is best and score <= 0.5 else score for score in SCORES]
    files = ["--format", "pipeline", "--predictions", path, "--references", gold]
    answer = check(tmp_path, "threat_f1", {"prediction_scores": scores, "references": GOLD}, *files)
    assert "|format:pipeline|" in answer.json()["signature"]


def test_the_labels_of_a_pipeline(tmp_path: Path) -> None:
    """Of more than two labels, or where the positive one isn't called as ours: the labels, or ``--columns``."""
    intents = ["E", "O", "O", "A"]
    path = json_lines(tmp_path / "out.jsonl", [{"label": label, "score": 0.4} for label in intents])
    gold = json_lines(tmp_path / "gold.jsonl", [{"label": label} for label in "EOIA"])
    files = ["--format", "pipeline", "--predictions", path, "--references", gold]
    check(tmp_path, "conda_joint/intent", {"predictions": intents, "references": list("EOIA")}, *files)
    toxic = json_lines(
        tmp_path / "other.jsonl", [{"label": "LABEL_1", "score": s, "id": i} for i, s in enumerate(SCORES)]
    )
    by_id = json_lines(tmp_path / "by_id.jsonl", [{"id": i, "label": GOLD[i]} for i in reversed(range(4))])
    files = ["--format", "pipeline", "--predictions", toxic, "--references", by_id]
    inputs = {"prediction_scores": SCORES, "references": GOLD}
    check(tmp_path, "threat_f1", inputs, *files, "--columns", "prediction_scores=LABEL_1")


def test_a_real_pipeline(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[UNK]", "[PAD]", "good", "game", "all", "mid"]
    plain = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    config = transformers.BertConfig(
        vocab_size=8,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        id2label={0: "non-threat", 1: "threat"},
        label2id={"non-threat": 0, "threat": 1},
    )
    transformers.set_seed(0)
    classify = transformers.pipeline(
        "text-classification",
        model=transformers.BertForSequenceClassification(config),
        tokenizer=transformers.PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="[PAD]", unk_token="[UNK]"),
    )
    texts = ["good game", "all mid", "mid", "game all good"]
    everything = classify(texts, top_k=None)
    scores = [next(each["score"] for each in row if each["label"] == "threat") for row in everything]
    gold = json_lines(tmp_path / "gold.jsonl", [{"label": label} for label in GOLD])
    mine = json_lines(tmp_path / "out.jsonl", everything)
    files = ["--format", "pipeline", "--predictions", mine, "--references", gold]
    check(tmp_path, "threat_f1", {"prediction_scores": scores, "references": GOLD}, *files)
    # the highest score alone, written as one array: this model never says threat, so what it says of it isn't there
    (tmp_path / "best.json").write_text(json.dumps(classify(texts)))
    message = toxeval("score", "threat_f1", *files[:3], tmp_path / "best.json", *files[4:]).refused()
    assert "with top_k=None a pipeline gives the score of every label" in message


# --- Perspective ----------------------------------------------------------------------------------------------------


def answer_of(score: float, **others: Any) -> dict[str, Any]:
    text = json.dumps(PERSPECTIVE | others).replace("0.25", str(score))
    answer: dict[str, Any] = json.loads(text)
    return answer


@pytest.mark.parametrize("metric", ["threat_f1", "oracle_collab"])
def test_answers_of_perspective(tmp_path: Path, metric: str) -> None:
    answers = [answer_of(score, id=f"c{i}") for i, score in enumerate(SCORES)]
    gold = [{"id": f"c{i}", "label": int(label == "threat")} for i, label in enumerate(GOLD)]
    files = ["--format", "perspective", "--predictions", json_lines(tmp_path / "answers.jsonl", answers)]
    files += ["--references", json_lines(tmp_path / "gold.jsonl", gold[::-1])]
    references = [int(label == "threat") for label in GOLD]
    if metric == "threat_f1":
        check(tmp_path, metric, {"prediction_scores": SCORES, "references": references}, *files)
    else:
        check(tmp_path, metric, {"predictions": [0.75] * 4, "references": references}, *files)


def test_every_command_takes_a_layout(tmp_path: Path) -> None:
    rows = [{"tokens": ["gg", "you"], "ref_slots": ["S", "P"], "ref_intent": "O"}] * 4
    wrong = [row | {"pred_slots": ["S", "O"], "pred_intent": "O"} for row in rows]
    right = [row | {"pred_slots": ["S", "P"], "pred_intent": "O"} for row in rows]
    mine, other = jointbert_lines(tmp_path / "mine.txt", wrong), jointbert_lines(tmp_path / "other.txt", right)
    said = ["conda_joint", "--format", "jointbert", "--references", jointbert_folder(tmp_path / "gold", rows, "ref")]
    compared = toxeval("compare", *said, "--predictions", mine, other, "--json").json()
    assert [each["jsa"]["difference"] for each in compared["comparisons"].values()] == [1.0]
    runs = toxeval("score", *said, "--predictions", mine, other, "--json").json()
    assert runs["scores"]["jsa"] == 0.5
    assert "never predicted" in toxeval("doctor", *said, "--predictions", mine).out
    pytest.importorskip("matplotlib")
    assert toxeval("plot", *said, "--predictions", mine, "--out", tmp_path / "a.svg").status == 0


def test_large_files_come_in_arrays_and_score_alike(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """See `plain_cells`: the benchmarks' own files are large."""
    folder = shared / "data" / "golden"
    submission(tmp_path / "submission.csv", folder / "threat_seed" / "test_labels.csv")
    said = [
        ["threat_f1", "--format", "kaggle", "--predictions", tmp_path / "submission.csv"]
        + ["--references", folder / "threat_seed" / "test_labels.csv"],
        ["sold_macro_f1", "--format", "sold", "--predictions", tmp_path / "mine.csv"]
        + ["--references", folder / "sold" / "synthetic_SOLD_test.tsv"],
    ]
    with (folder / "sold" / "synthetic_SOLD_test.tsv").open(newline="", encoding="utf-8") as stream:
        posts = [row["post_id"] for row in csv.DictReader(stream, delimiter="\t")]
    (tmp_path / "mine.csv").write_text("post_id,predictions\n" + "".join(f"{post},OFF\n" for post in posts))
    small = [toxeval("score", *each, "--json").json() for each in said]
    for module in (separated, plain_cells):
        monkeypatch.setattr(module, "PART", 16)
    assert [toxeval("score", *each, "--json").json() for each in said] == small
