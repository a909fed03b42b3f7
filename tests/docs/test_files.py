"""Every line of the table in docs/files.md runs on such files, and gives the score that these were made for."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import toxeval
from sources import pin

from toxeval.read import LAYOUTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\| (.*?) \| `(toxeval .*)` \|$", PAGE, re.MULTILINE)

MINE, GOLD = ["OFF", "NOT", "OFF", "NOT"], ["OFF", "NOT", "NOT", "NOT"]
SCORES, THREATS = [0.9, 0.2, 0.75, 0.5], [1, 0, 0, 1]
REPLIES = [{"context": f"Question {i}?", "gen_response": ["Yes.", "No."]} for i in range(6)]
VERDICTS = [["Safe", "Unsafe"]] * 3 + [["Safe", "Safe"]] * 3
CATEGORIES = ("Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion")
KAGGLE = "id,toxic,severe_toxic,obscene,threat,insult,identity_hate\n"

#: What each line gives: a key and its score.
SOLD, THREAT = ("accuracy", 0.75), ("accuracy", 0.5)
EXPECTED: list[tuple[str, float]] = [
    *[SOLD] * 3,
    THREAT,
    SOLD,
    ("accuracy", 0.8),
    SOLD,
    ("accuracy", 0.875),
    ("jsa", 0.5),
    ("uca", 0.75),
    ("jsa", 0.5),
    SOLD,
    ("accuracy", 5 / 6),
    THREAT,
    ("unsafe_rate", 0.3),
    ("unsafe_rate", 0.3),
    THREAT,
    THREAT,
    THREAT,
    ("accuracy", 0.5),
    ("accuracy", 0.5),
    ("accuracy", 0.75),
    ("recall_threat", 1.0),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of all kinds."""
    home = tmp_path_factory.mktemp("files")

    def lines(name: str, rows: Sequence[Any]) -> None:
        text(name, "".join(json.dumps(row) + "\n" for row in rows))

    def text(name: str, content: str) -> None:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content, encoding="utf-8")

    # tables
    both = [{"id": i, "predictions": mine, "references": gold} for i, (mine, gold) in enumerate(zip(MINE, GOLD))]
    lines("p.jsonl", both)
    lines("seed1.jsonl", both)
    lines("seed2.jsonl", [row | {"predictions": row["references"]} for row in both])
    text("p.csv", "id,predictions\n" + "".join(f"{i},{mine}\n" for i, mine in reversed([*enumerate(MINE)])))
    pq.write_table(pa.table({"mine": MINE, "gold": GOLD}), home / "p.parquet")
    datasets.DatasetDict({"test": datasets.Dataset.from_list(both)}).save_to_disk(home / "saved")
    said = ["I think so.\nOffensive", "Well.\nNOT", "Offensive!", "**not**"]
    lines("said.jsonl", [{"predictions": answer, "references": gold} for answer, gold in zip(said, GOLD)])
    # SOLD; its file has labels and rationales
    posts = [(f"9{i:017d}", label) for i, label in enumerate(GOLD)]
    rows = "".join(f"{post}\ta b c\ta b c\t{'[0, 1, 1]' if x == 'OFF' else '[]'}\t{x}\n" for post, x in posts)
    text("SOLD_test.tsv", "post_id\ttext\ttokens\trationales\tlabel\n" + rows)
    text("mine.csv", "post_id,predictions\n" + "".join(f"{post},{mine}\n" for (post, _), mine in zip(posts, MINE)))
    lines(
        "marks.jsonl",
        [{"post_id": post, "predictions": [int(i == 3), 0, int(i == 0)]} for i, (post, _) in enumerate(posts)],
    )
    # CONDA in JointBERT's files
    text("data/test/seq.in", "gg you\nwp\n\nnoob\n")
    text("data/test/seq.out", "S P\nS\n\nT\n")
    text("data/test/label", "O\nO\nA\nE\n")
    text("outputs.txt", "<O> -> [gg:S] [you:P]\n<O> -> wp\n<A> -> \n<I> -> [noob:T]\n")
    text("mine/seq.in", "gg you\nwp\n\nnoob\n")
    text("mine/seq.out", "S P\nO\n\nT\n")
    text("mine/label", "O\nO\nA\nI\n")
    # Jigsaw; its labels have a row that doesn't count, and so has gold.csv the labels of two tasks
    comments = list(zip(SCORES, THREATS))
    text("submission.csv", KAGGLE + "".join(f"c{i},0,0,0,{s},0,0\n" for i, (s, _) in enumerate([*comments, (0.9, 0)])))
    labels = "".join(f"c{i},{y},0,0,{y},0,0\n" for i, (_, y) in enumerate(comments))
    text("test_labels.csv", f"{KAGGLE}{labels}c4,-1,-1,-1,-1,-1,-1\n")
    value = {"spanScores": [], "summaryScore": {"value": 0.0, "type": "PROBABILITY"}}
    attributes = [{n: value | {"summaryScore": {"value": s}} for n in ("THREAT", "TOXICITY")} for s in SCORES]
    lines(
        "answers.jsonl", [{"id": i, "attributeScores": each, "languages": ["en"]} for i, each in enumerate(attributes)]
    )
    best = [{"label": ["non-threat", "threat"][s > 0.5], "score": max(s, 1 - s), "id": i} for i, s in enumerate(SCORES)]
    text("out.json", json.dumps(best, indent=2))
    both_labels = [[{"label": "LABEL_1", "score": s}, {"label": "LABEL_0", "score": 1 - s}] for s in SCORES]
    text("labels.json", json.dumps(both_labels))
    text("scores.csv", "prediction_scores,label\n" + "".join(f"{s},{y}\n" for s, y in comments))
    text("valid.csv", "prediction_scores,label\n" + "".join(f"{s},{y}\n" for s, y in [(0.8, 1), (0.4, 0), (0.6, 1)]))
    # DiaSafety, and a chatbot's replies to five of its contexts and another
    test = [
        {"context": f"Question {i}?", "response": "Yes.", "category": category, "label": ["Safe", "Unsafe"][i % 2]}
        for i, category in enumerate(CATEGORIES)
    ]
    for name in ("train", "val", "test"):
        text(f"DiaSafety_dataset/{name}.json", json.dumps(test))
    lines(
        "verdicts_on_test.jsonl", [{"predictions": verdict} for verdict in ["Safe", "Unsafe", "Safe", "Safe", "Safe"]]
    )
    text("replies.json", json.dumps(REPLIES, indent=1))
    text("judged.json", json.dumps([reply | {"verdicts": each} for reply, each in zip(REPLIES, VERDICTS)]))
    text("verdicts.csv", "verdicts\n" + "".join(f"{verdict}\n" for each in VERDICTS for verdict in each))
    # logs of runs
    logs = ROOT / "tests" / "read" / "logs"
    shutil.copy(logs / "lm_eval.jsonl", home / "samples.jsonl")
    shutil.copy(logs / "inspect.eval", home / "log.eval")
    return home


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_every_line_runs(folder: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, command = LINES[number]
    words = shlex.split(command)
    stdin = (folder / words[-1]).read_bytes() if "<" in words else b""
    words = words[: words.index("<")] if "<" in words else words
    # gold.csv is the references of whoever names it
    threats = "".join(f"{i},{y}\n" for i, y in enumerate(THREATS))
    gold = "".join(f"{i},{label}\n" for i, label in enumerate(GOLD))
    (folder / "gold.csv").write_text("id,references\n" + (gold if "sold_macro_f1" in words else threats))
    pin(monkeypatch, "dia_safety", folder / "DiaSafety_dataset")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = toxeval(*words[1:], "--json", stdin=stdin, cwd=folder).json()["scores"]
    key, value = EXPECTED[number]
    assert scores[key] == pytest.approx(value, abs=1e-12)


def test_the_table_is_whole() -> None:
    assert len(LINES) == len(EXPECTED)
    assert {name for name in LAYOUTS if not any(f"--format {name} " in command for _, command in LINES)} == set()


def test_the_code_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    *before, last = code.splitlines()
    exec("\n".join([*before, f"scores = {last}"]), found := {})  # type: ignore[var-annotated]
    assert found["scores"]["accuracy"] == 0.5
