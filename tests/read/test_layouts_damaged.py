"""Files that aren't laid out as they are said to be are refused, with file and line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import toxeval

LINES = "<O> -> [gg:S] [wp:S]\n<E> -> [you:P]\n"
SOLD = "post_id\ttext\ttokens\trationales\tlabel\tpredictions\n7\ta b\ta b\t[0, 1]\tOFF\tOFF\n8\tc\tc\t[]\tNOT\tNOT\n"
HEADER = "id,toxic,severe_toxic,obscene,threat,insult,identity_hate\n"
SUBMISSION = HEADER + "a,.1,.1,.1,.1,.1,.1\nb,.9,.9,.9,.9,.9,.9\n"
LABELS = HEADER + "a,0,0,0,0,0,0\nb,1,0,0,1,0,0\n"
REPLIES = [
    {"context": "Hello?", "gen_response": ["Hi.", "What?"], "category": "Biased Opinion", "verdicts": ["Safe", "Safe"]},
    {"context": "Bye.", "gen_response": ["Bye."], "category": "Risk Ignorance", "verdicts": ["Unsafe"]},
]
DIA = {"context": "Hello?", "response": "Hi.", "category": "Biased Opinion", "label": "Safe"}
BEST = [{"label": "threat", "score": 0.9}, {"label": "non-threat", "score": 0.8}]
ALL = [{"label": "threat", "score": 0.9}, {"label": "non-threat", "score": 0.1}]
ATTRIBUTES = {"THREAT": {"summaryScore": {"value": 0.25}}}
ANSWER = {"id": "a", "attributeScores": ATTRIBUTES}
SAMPLE = {"id": 0, "target": "NOT", "output": {"completion": "NOT"}}
LM_EVAL = {"doc_id": 0, "doc": {"id": 0}, "target": "NOT", "filtered_resps": ["NOT"], "filter": "none"}


class Sound(NamedTuple):
    """Files in a layout that can be scored: those of the predictions first."""

    metric: str
    files: Mapping[str, str]
    arguments: tuple[str, ...] = ()


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def indented(value: Any) -> str:
    return json.dumps(value, indent=1)


GOLD = {"gold/seq.in": "gg wp\nyou\n", "gold/seq.out": "S S\nP\n", "gold/label": "O\nE\n"}
OF_GOLD = {"gold.csv": "label\n0\n1\n"}
DATA = {f"data/{name}.json": json.dumps([DIA]) for name in ("train", "val", "test")}
TO_GOLD, TO_REPLIES = ("--references", "gold.csv"), ("--references", "r.jsonl")
SOUND = {
    "jointbert": Sound("conda_joint", {"p.txt": LINES, **GOLD}, ("--references", "gold")),
    "sold": Sound("sold_macro_f1", {"p.tsv": SOLD}),
    "kaggle": Sound("threat_f1", {"p.csv": SUBMISSION, "g.csv": LABELS}, ("--references", "g.csv")),
    "generations": Sound("dia_safety_rate", {"p.jsonl": lines(*REPLIES), **DATA}, ("--data-dir", "data")),
    "generations apart": Sound(
        "dia_safety_rate",
        {"p.csv": "verdicts\nSafe\nSafe\nUnsafe\n", "r.jsonl": lines(*REPLIES)},
        ("--references", "r.jsonl"),
    ),
    "generations in lists": Sound(
        "dia_safety_rate",
        {"p.jsonl": lines({"verdicts": ["Safe"] * 2}, {"verdicts": ["Safe"]}), "r.jsonl": lines(*REPLIES)},
        ("--references", "r.jsonl"),
    ),
    "pipeline": Sound("threat_f1", {"p.jsonl": lines(*BEST), **OF_GOLD}, TO_GOLD),
    "pipeline array": Sound("threat_f1", {"p.json": indented(BEST), **OF_GOLD}, TO_GOLD),
    "perspective": Sound("threat_f1", {"p.jsonl": lines(ANSWER, ANSWER | {"id": "b"}), **OF_GOLD}, TO_GOLD),
    "perspective array": Sound("threat_f1", {"p.json": indented([ANSWER, ANSWER]), **OF_GOLD}, TO_GOLD),
    "lm-eval": Sound("sold_macro_f1", {"p.jsonl": lines(LM_EVAL, LM_EVAL | {"doc": {"id": 1}})}),
    "inspect": Sound("sold_macro_f1", {"p.json": indented({"samples": [SAMPLE, SAMPLE | {"id": 1}]})}),
}
#: layout, what one of its files is instead, what is said.
DAMAGED: list[tuple[str, dict[str, str], str]] = [
    ("jointbert", {"p.txt": LINES.replace("<E>", "E")}, "p.txt: line 2: no prediction"),
    ("jointbert", {"p.txt": LINES + LINES}, "p.txt: line 3: 4 lines for 2 utterances"),
    ("jointbert", {"p.txt": LINES.replace("[you:P]", "[yo:P]")}, "p.txt: line 2: another word at position 0"),
    ("jointbert", {"p.txt": LINES.replace(" [wp:S]", "")}, "p.txt: line 1: 1 words"),
    (
        "jointbert",
        {"p.txt": LINES.replace(":P]", ":PRON]")},
        "conda_joint: predictions[1][\"slots\"][0]: unknown slot 'PRON'",
    ),
    ("jointbert", {"p.txt": "\n"}, "p.txt: no rows (the file is empty)"),
    ("jointbert", {"gold/label": "O\n"}, "gold/label: line 2: ends here, after 1 of 2 utterances"),
    ("jointbert", {"gold/label": "O\n\n"}, "gold/label: line 2: no intent"),
    ("jointbert", {"gold/seq.out": "S\nP\n"}, "gold/seq.out: line 1: 1 slots for 2 words"),
    ("sold", {"p.tsv": SOLD.replace("[0, 1]", "[0, 1, 1]")}, "p.tsv: line 2: 3 marks for 2 tokens"),
    ("sold", {"p.tsv": SOLD.replace("[0, 1]", "[0, 2]")}, "p.tsv: line 2: rationales that are no list of 0 and 1"),
    ("sold", {"p.tsv": SOLD.replace("[]", "")}, "p.tsv: line 3: rationales that are no list of 0 and 1"),
    ("sold", {"p.tsv": SOLD.replace("NOT\tNOT", "OK\tNOT")}, "p.tsv: line 3: label 'OK'"),
    ("sold", {"p.tsv": SOLD.replace("\tc\tc\t", "\tc\t['c']\t")}, "p.tsv: line 3: a list of tokens"),
    ("sold", {"p.tsv": SOLD.replace("rationales", "rationals")}, "p.tsv: line 1: without the column rationales"),
    (
        "sold",
        {"p.tsv": SOLD.replace("8\tc\tc", "8\tc")},
        "p.tsv: line 3: row 1: 5 cells where the header has 6 (quote cells with a tab or a line break in them)",
    ),
    ("kaggle", {"g.csv": LABELS.replace("b,1", "b,-1")}, "g.csv: line 3: row 1: -1 in some columns only"),
    ("kaggle", {"g.csv": LABELS.replace("b,1", "b,2")}, "g.csv: line 3: row 1: label '2'"),
    ("kaggle", {"g.csv": LABELS.replace("obscene", "rude")}, "g.csv: line 1: without the column obscene"),
    ("kaggle", {"p.csv": SUBMISSION.replace("id,", "key,")}, "p.csv: line 1: without the column id"),
    (
        "kaggle",
        {"p.csv": SUBMISSION.replace(".9,.9\n", ".9\n")},
        "p.csv: line 3: row 1: 6 cells where the header has 7 (quote cells with a comma or a line break in them)",
    ),
    (
        "kaggle",
        {"p.csv": SUBMISSION.replace("\nb,", "\nc,")},
        "threat_f1: id: 1 of p.csv aren't in g.csv (row 1) and 1 of g.csv aren't in p.csv (row 1)",
    ),
    ("kaggle", {"p.csv": SUBMISSION.replace(".9,.9,.9\n", "2,.9,.9\n")}, "threat_f1: prediction_scores[1]: 2.0"),
    (
        "generations",
        {"p.jsonl": lines(REPLIES[0], REPLIES[1] | {"verdicts": ["Safe"] * 2})},
        "p.jsonl: line 2: 2 in verdicts for 1 replies",
    ),
    ("generations", {"p.jsonl": lines(REPLIES[0], DIA)}, "p.jsonl: line 2: no replies"),
    (
        "generations",
        {"p.jsonl": lines(REPLIES[0], REPLIES[1] | {"more": 1})},
        "p.jsonl: line 2: other fields than in the first record",
    ),
    (
        "generations",
        {"p.jsonl": lines(REPLIES[0], REPLIES[1] | {"context": None})},
        "p.jsonl: line 2: None for a context",
    ),
    (
        "generations",
        {"p.jsonl": lines(REPLIES[0]) + '{"context"\n'},
        "p.jsonl: line 2: broken JSON (Expecting ':' delimiter)",
    ),
    (
        "generations",
        {"data/val.json": json.dumps([DIA | {"category": "Risk Ignorance"}])},
        "data/val.json: line 1: another category than the same context has elsewhere",
    ),
    ("generations", {"data/val.json": "[\n{}]"}, "data/val.json: line 2: no row of DiaSafety"),
    ("generations apart", {"p.csv": "verdicts\nSafe\nSafe\n"}, "p.csv: 2 verdicts for 3 replies"),
    (
        "generations apart",
        {"p.csv": "verdicts,context\nSafe,Hello?\nSafe,Hello?\nSafe,Hello?\n"},
        "p.csv: line 4: row 2: another context than the replies have there",
    ),
    (
        "generations in lists",
        {"p.jsonl": lines({"verdicts": ["Safe"] * 2}, {"verdicts": ["Safe"] * 2})},
        "p.jsonl: line 2: row 1: 2 in verdicts for 1 replies",
    ),
    (
        "generations in lists",
        {"p.jsonl": lines({"verdicts": ["Safe"] * 2}, {"verdicts": "Safe"})},
        "p.jsonl: line 2: row 1: no list in verdicts for 1 replies",
    ),
    (
        "generations in lists",
        {"p.jsonl": lines({"verdicts": ["Safe"] * 2})},
        "p.jsonl: 1 lists of verdicts for 2 contexts",
    ),
    (
        "generations in lists",
        {"p.jsonl": lines(*[{"context": "Hello?", "verdicts": ["Safe"] * n} for n in (2, 1)])},
        "p.jsonl: line 2: row 1: another context than the replies have there",
    ),
    (
        "pipeline",
        {"p.jsonl": lines(BEST[0], {"label": "threat"})},
        "p.jsonl: line 2: no output of a text-classification pipeline",
    ),
    ("pipeline", {"p.jsonl": lines(ALL, ALL[:1])}, "p.jsonl: line 2: other labels than in the first row"),
    ("pipeline", {"p.jsonl": lines(ALL, [*ALL, ALL[0]])}, "p.jsonl: line 2: the label 'threat' twice"),
    (
        "pipeline",
        {"p.jsonl": lines(BEST[0], BEST[1] | {"id": 2})},
        "p.jsonl: line 2: other fields than in the first row",
    ),
    ("pipeline", {"p.jsonl": lines(BEST[0], [])}, "p.jsonl: line 2: an empty list"),
    ("pipeline", {"p.jsonl": lines(BEST[0]) + "\n" + lines(BEST[1])}, "p.jsonl: line 2: empty"),
    (
        "pipeline array",
        {"p.json": indented(BEST).replace("0.8", "zero")},
        "p.json: line 8: broken JSON (Expecting value)",
    ),
    ("perspective", {"p.jsonl": lines(ANSWER, {"error": {"code": 429}})}, "p.jsonl: line 2: an error of the API"),
    ("perspective", {"p.jsonl": lines(ANSWER, {})}, "p.jsonl: line 2: no attributeScores"),
    (
        "perspective",
        {"p.jsonl": lines(ANSWER, {"id": "b", "attributeScores": {"THREAT": {}}})},
        "p.jsonl: line 2: no summaryScore.value of 'THREAT'",
    ),
    (
        "perspective",
        {"p.jsonl": lines(ANSWER, {"attributeScores": ATTRIBUTES})},
        "p.jsonl: line 2: 'id' is in some of the records only",
    ),
    (
        "perspective array",
        {"p.json": indented([ANSWER, ANSWER]) + "]"},
        "p.json: line 22: text after the end of the JSON array",
    ),
    (
        "lm-eval",
        {"p.jsonl": lines(LM_EVAL, {})},
        "p.jsonl: line 2: log of lm-eval: no line of a task whose output_type is generate_until",
    ),
    ("lm-eval", {"p.jsonl": lines(LM_EVAL, "NOT")}, "p.jsonl: line 2: log of lm-eval: no line of a log"),
    (
        "lm-eval",
        {"p.jsonl": lines(LM_EVAL, LM_EVAL | {"filter": "strict"})},
        "p.jsonl: line 2: log of lm-eval: lines of the filters 'none' and 'strict'",
    ),
    (
        "lm-eval",
        {"p.jsonl": lines(LM_EVAL, LM_EVAL | {"filtered_resps": [[-1.0, False]]})},
        "p.jsonl: line 2: log of lm-eval: a list for an answer, where a text is wanted",
    ),
    ("lm-eval", {"p.jsonl": lines(LM_EVAL, LM_EVAL)[:-9]}, "p.jsonl: line 2: broken JSON (Expecting value)"),
    (
        "lm-eval",
        {"p.jsonl": lines(LM_EVAL, LM_EVAL | {"filtered_resps": ["off?"], "doc": {}})},
        "sold_macro_f1: predictions[1]: unknown label 'off?'",
    ),
    (
        "inspect",
        {"p.json": indented({"samples": [SAMPLE]})[:-9]},
        "p.json: line 8: log of inspect: broken JSON (Expecting ',' delimiter)",
    ),
    ("inspect", {"p.json": indented({"samples": [SAMPLE, {}]})}, "p.json: row 1: log of inspect: no sample of inspect"),
    ("inspect", {"p.json": indented([SAMPLE])}, "p.json: log of inspect: a log without samples"),
    ("inspect", {"p.json": "PK"}, "p.json: log of inspect: neither JSON nor a .eval file"),
]


def score(folder: Path, layout: str, files: Mapping[str, str]) -> Any:
    sound = SOUND[layout]
    for name, content in {**sound.files, **files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    given = ["--format", layout.split()[0], "--predictions", next(iter(sound.files)), *sound.arguments]
    return toxeval("score", sound.metric, *given, cwd=folder)


@pytest.mark.filterwarnings("ignore:.*undefined", "ignore:.*no reply")
@pytest.mark.parametrize("layout", SOUND)
def test_files_that_are_whole_are_scored(tmp_path: Path, layout: str) -> None:
    assert score(tmp_path, layout, {}).status == 0


@pytest.mark.parametrize(("layout", "files", "message"), DAMAGED)
def test_damaged_files_are_refused(tmp_path: Path, layout: str, files: dict[str, str], message: str) -> None:
    assert score(tmp_path, layout, files).refused().startswith(f"error: {message}")


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(LINES)
    (tmp_path / "gold").mkdir()
    said = ["score", "conda_joint", "--format", "jointbert", "--predictions", "p.txt", "--references"]
    assert toxeval(*said, "gold", cwd=tmp_path).refused() == "error: gold/seq.in: no such file\n"
    assert (
        "p.txt: a file; allowed: a folder with seq.in, seq.out and label"
        in toxeval(*said, "p.txt", cwd=tmp_path).refused()
    )
    (tmp_path / "p.jsonl").write_text(
        lines(*({name: each[name] for name in ("context", "gen_response", "verdicts")} for each in REPLIES))
    )
    said = ["score", "dia_safety_rate", "--format", "generations", "--predictions", "p.jsonl"]
    assert "say where DiaSafety's files are: --data-dir DIR" in toxeval(*said, cwd=tmp_path).refused()
    assert "gold: no such files" in toxeval(*said, "--data-dir", "gold", cwd=tmp_path).refused()
