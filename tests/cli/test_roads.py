"""What went wrong for users of other tools, at the doors of the command: the right value, or a refusal."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import started, toxeval

import toxeval as package
from toxeval import demo

RNG = np.random.default_rng(1)
PREDICTIONS, LABELS = (np.where(RNG.random(5000) < 0.5, "OFF", "NOT").tolist() for _ in range(2))
CSV = "prediction,label\n" + "".join(f"{p},{r}\n" for p, r in zip(PREDICTIONS, LABELS))


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


# --- input that can't be read twice -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["<(cat p.csv)", "/dev/stdin", "pipe"])
def test_pipes_are_read_whole(tmp_path: Path, name: str) -> None:
    """road-01, road-03"""
    (tmp_path / "p.csv").write_text(CSV)
    expected = package.load("sold_macro_f1").compute(predictions=PREDICTIONS, references=LABELS)
    score = f"{sys.executable} -m toxeval.cli score sold_macro_f1 --json --predictions {name}"
    script = {"pipe": f"mkfifo pipe; cat p.csv > pipe & {score}", "/dev/stdin": f"cat p.csv | {score}"}.get(name, score)
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_rows"] == 5000
    assert json.loads(done.stdout)["scores"] == expected


def test_a_pipe_that_is_wanted_again_is_refused_and_nobody_waits(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for command in (
        ["score", "sold_macro_f1", "--predictions", pipe, pipe],
        ["score", "sold_macro_f1", "--predictions", pipe, "--references", pipe],
        ["compare", "sold_macro_f1", "--predictions", pipe, pipe],
    ):
        assert "wanted more than once" in toxeval(*command).refused()
    other = tmp_path / "p.csv"
    other.write_text(CSV)
    writer = threading.Thread(target=lambda: pipe.write_text(CSV))
    writer.start()  # without references of its own a comparison goes through the first file twice
    message = toxeval("compare", "sold_macro_f1", "--predictions", pipe, other).refused()
    assert f"{pipe}: wanted more than once" in message
    writer.join()


# --- tables -------------------------------------------------------------------------------------------------------


def test_raw_quotes(tmp_path: Path) -> None:
    """road-06"""
    path = tmp_path / "q.tsv"
    path.write_text(
        'id\ttext\tprediction\tlabel\n1\t"what a game\tOFF\tNOT\n2\tnice one\tNOT\tNOT\n'
        '3\twell done"\tOFF\tOFF\n4\tok\tNOT\tNOT\n'
    )
    message = toxeval("score", "sold_macro_f1", "--predictions", path).refused()
    assert "a quoted cell of 3 lines that holds as many separators as rows do" in message
    assert "if it is meant: --multiline)" in message
    result = toxeval("score", "sold_macro_f1", "--predictions", path, "--multiline", "--json").json()
    assert result["n_rows"] == 2
    answer = toxeval("doctor", "sold_macro_f1", "--predictions", path, "--multiline")
    assert "rows: quoted cells span 2 lines more than there are rows" in answer.out
    assert "a quoted cell of 3 lines" in toxeval("doctor", "sold_macro_f1", "--predictions", path).out


def test_a_boolean_says_what_the_metric_says(tmp_path: Path) -> None:
    """road-13 and its kind: a bool of a two-label metric is the positive label in JSON; as a text it is none."""
    path = lines(tmp_path / "p.jsonl", [{"prediction": p, "label": r} for p, r in [(True, True), (False, True)]])
    assert toxeval("score", "sold_macro_f1", "--predictions", path, "--json").json()["scores"]["recall_OFF"] == 0.5
    (tmp_path / "p.csv").write_text("prediction,label\nTrue,True\n")
    assert "unknown label 'True'" in toxeval("score", "sold_macro_f1", "--predictions", tmp_path / "p.csv").refused()


def test_a_boolean_says_nothing_where_it_may_mean_either(tmp_path: Path) -> None:
    """road-13: is_safe, or unsafe?"""
    rows = [{"is_safe": safe, "category": "Risk Ignorance"} for safe in (True, True, True, False)]
    files = "--predictions", lines(tmp_path / "bt.jsonl", rows), "--columns", "predictions=is_safe"
    assert "predictions[0]: the bool True; allowed: " in toxeval("score", "dia_safety_rate", *files).refused()
    answer = toxeval("doctor", "dia_safety_rate", *files)
    assert answer.status == 1
    assert "predictions: " in answer.out


def test_confidences_of_the_predicted_label(tmp_path: Path) -> None:
    """road-14: what a text-classification pipeline calls score."""
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.uniform(0.02, 0.4, 340), rng.uniform(0.55, 0.98, 60)]).round(3)
    mine = [{"label": "threat" if x > 0.5 else "non-threat", "score": max(x, round(1 - x, 3))} for x in p.tolist()]
    gold = lines(tmp_path / "gold.jsonl", [{"label": int(rng.random() < x)} for x in p.tolist()])
    files = "--predictions", lines(tmp_path / "pipe.jsonl", mine), "--references", gold
    said = "--columns", "prediction_scores=score,references=label"
    answer = toxeval("doctor", "threat_f1", *files, *said)
    assert answer.status == 1
    assert "prediction_scores: no score is below 0.5" in answer.out
    scored = toxeval("score", "threat_f1", *files, *said)
    assert "warning: threat_f1: prediction_scores: no score is below 0.5 (are these confidences" in scored.err


def test_a_run_that_was_logged_twice(tmp_path: Path) -> None:
    """road-23"""
    path = lines(tmp_path / "dup.jsonl", [{"id": i, "prediction": i % 2, "label": 1} for i in (0, 1, 2, 3, 0, 1)])
    message = toxeval("score", "sold_macro_f1", "--predictions", path).refused()
    assert f"id: rows 0 and 4 of {path} have the same one; allowed: each id once" in message
    assert "say which column does: --columns id=COLUMN)" in message
    assert "4 rows share their id with another" in toxeval("doctor", "sold_macro_f1", "--predictions", path).out


def test_what_a_rationale_left_empty(tmp_path: Path, shipped: Path) -> None:
    """road-48: as the loader scores it."""
    source = shipped / "sold" / "synthetic_SOLD_test.tsv"
    rows = [line.split("\t") for line in source.read_text(encoding="utf-8").splitlines()[1:]]
    guesses = [{"post_id": row[0], "predictions": [0] * len(row[2].split(" "))} for row in rows]
    path = lines(tmp_path / "p.jsonl", guesses)
    command = ["score", "sold_macro_f1", "--config", "token", "--predictions", path, "--references", source, "--json"]
    result = toxeval(*command).json()
    assert (result["n_rows"], result["matched"]) == (len(rows), "post_id")


def test_matching_is_said(tmp_path: Path) -> None:
    mine = lines(tmp_path / "p.jsonl", [{"post_id": i, "prediction": i % 2} for i in range(6)])
    gold = lines(tmp_path / "r.jsonl", [{"post_id": i, "label": 1} for i in range(5, -1, -1)])
    command = ["sold_macro_f1", "--predictions", mine, "--references", gold]
    assert "\n6 rows by post_id\nsignature: " in toxeval("score", *command).out
    assert "\n\n6 rows by post_id\n\nSignature: `" in toxeval("score", *command, "--markdown").out
    assert "\n% 6 rows by post_id\n" in toxeval("score", *command, "--latex").out
    both = ["sold_macro_f1", "--predictions", mine, mine, "--references", gold]
    assert "\n6 rows by post_id\nsignature: " in toxeval("compare", *both).out
    assert toxeval("compare", *both, "--json").json()["matched"] == "post_id"
    keys = lines(tmp_path / "k.jsonl", [{"key": str(i), "label": 1} for i in range(5, -1, -1)])
    message = toxeval("score", *command[:3], "--references", keys).refused()
    assert "post_id and key have the same values in another order" in message
    assert "--columns id=post_id,references.id=key" in message
    said = ["--columns", "id=post_id,references.id=key"]
    assert toxeval("score", *command[:3], "--references", keys, *said, "--json").json()["matched"] == "post_id and key"


# --- results ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_results_as_powershell_saves_them(tmp_path: Path, encoding: str) -> None:
    """road-18"""
    path = lines(tmp_path / "s.jsonl", [{"prediction": p, "label": r} for p, r in zip(PREDICTIONS[:50], LABELS)])
    saved = toxeval("score", "sold_macro_f1", "--predictions", path, "--json").out
    (tmp_path / "r.json").write_text(saved, encoding=encoding)
    assert toxeval("verify", tmp_path / "r.json", "--predictions", path).status == 0


def test_a_result_knows_its_columns(tmp_path: Path) -> None:
    path = lines(tmp_path / "s.jsonl", [{"mine": {"v": p}, "gold": r} for p, r in zip(PREDICTIONS[:50], LABELS)])
    columns = "--columns", "predictions=mine.v,references=gold"
    saved = toxeval("score", "sold_macro_f1", "--predictions", path, *columns, "--json")
    assert saved.json()["columns"] == {"predictions": "mine.v", "references": "gold"}
    (tmp_path / "r.json").write_text(saved.out)
    assert toxeval("verify", tmp_path / "r.json", "--predictions", path).status == 0
    other = lines(tmp_path / "o.jsonl", [{"theirs": p, "gold": r} for p, r in zip(PREDICTIONS[:50], LABELS)])
    given = "--predictions", other, "--columns", "predictions=theirs"
    assert toxeval("verify", tmp_path / "r.json", *given).status == 0


def test_rows_that_are_missing_are_said_first(tmp_path: Path) -> None:
    rows = [{"prediction": p, "label": r} for p, r in zip(PREDICTIONS[:50], LABELS)]
    path = lines(tmp_path / "s.jsonl", rows)
    (tmp_path / "r.json").write_text(toxeval("score", "sold_macro_f1", "--predictions", path, "--json").out)
    answer = toxeval("verify", tmp_path / "r.json", "--predictions", lines(tmp_path / "t.jsonl", rows[:-2]))
    assert answer.status == 1
    assert answer.out.startswith("mismatch: 2 rows are missing")
    assert answer.out.splitlines()[2].split() == ["n_rows", "50", "48"]


#: What the version before wrote of the examples in the package.
SIGNATURES = {
    "conda_joint": "config:default|zero_division:0.0|dataset:-|rows:32|"
    "sha256:d066395e02f6f0fa8a7a37cba76c2884ee310de114e0ae94ee82db012b2f3335",
    "dia_safety_rate": "config:default|invalid:error|verdicts:auto|zero_division:0.0|dataset:-|rows:30|"
    "sha256:f878b6d2a34e83d8268bc3c10819d7afa0c8e7bfbba21a774f0bc2f795fe48fb",
    "oracle_collab": "config:default|from_logits:no|label_threshold:-|score_resolution:-|review_strategy:uncertainty|"
    "review_fractions:0.001,0.005,0.01,0.02,0.05,0.1,0.15,0.2|threshold:0.5|n_bins:15|targets:-|zero_division:0.0|"
    "dataset:-|rows:60|sha256:03d8b52b5b04a7965673435484834dab7b0702d0f16fe146f8c8dc61005b3ecb",
    "sold_macro_f1": "config:default|zero_division:0.0|dataset:-|rows:24|"
    "sha256:2dbcc05f547c5bac4e33ecaba65b7b5f728534eee9ece0d9b378998a350354b6",
    "threat_f1": "config:default|from_logits:no|score_resolution:-|threshold:0.5|zero_division:0.0|dataset:-|rows:60|"
    "sha256:8145e0c948a5016ec2f8a4ac75405c5976718077507756d2665a33cc02f91bc5",
}


@pytest.mark.parametrize("metric", SIGNATURES)
def test_signatures_stay_what_they_were(metric: str, checkout: Path) -> None:
    path = checkout / "toxeval" / "examples" / f"{metric}.jsonl"
    found = toxeval("score", metric, "--predictions", path, "--json").json()
    assert found["signature"] == f"toxeval:{package.__version__}|metric:{metric}|{SIGNATURES[metric]}"


def test_signatures_of_options_stay_what_they_were(checkout: Path) -> None:
    examples = checkout / "toxeval" / "examples"
    options = ["threshold=0.25", "zero_division=nan", "score_resolution=0.0009765625"]
    given = [part for option in options for part in ("--option", option)]
    found = toxeval("score", "threat_f1", "--predictions", examples / "threat_f1.jsonl", *given, "--json").json()
    assert found["signature"].endswith(
        "|score_resolution:0.0009765625|threshold:0.25|zero_division:nan|dataset:-|rows:60|"
        "sha256:ce5f23a202c3c437bba97424ba804ff640f1686fe1410e4303e83af86e63d11a"
    )
    options = ['targets={"oc_accuracy": 0.95}', "review_fractions=[0.1, 1]", "review_strategy=toxicity"]
    given = [part for option in options for part in ("--option", option)]
    found = toxeval(
        "score", "oracle_collab", "--predictions", examples / "oracle_collab.jsonl", *given, "--json"
    ).json()
    assert (
        "|review_strategy:toxicity|review_fractions:0.1,1.0|threshold:0.5|n_bins:15|targets:oc_accuracy=0.95|"
        in (found["signature"])
    )
    found = toxeval(
        "score",
        "sold_macro_f1",
        "--predictions",
        examples / "sold_macro_f1.jsonl",
        "--option",
        "invalid=count",
        "--json",
    ).json()
    assert "|invalid:count|" in found["signature"]


# --- comparisons --------------------------------------------------------------------------------------------------


def test_a_comparison_depends_on_no_third_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    gold = (rng.random(300) < 0.3).astype(int)
    paths = []
    for name, noise in (("a", 0.4), ("b", 0.6), ("c", 0.9)):
        scores = np.clip(0.5 * gold + noise * rng.random(300), 0, 1).round(3).tolist()
        rows = [{"id": i, "prediction_score": p, "label": r} for i, (p, r) in enumerate(zip(scores, gold.tolist()))]
        order = rng.permutation(300)
        paths.append(lines(tmp_path / f"{name}.jsonl", [rows[i] for i in order]))
    command = ["compare", "threat_f1", "--key", "roc_auc", "--key", "f1_macro", "--resamples", "100", "--json"]
    two = toxeval(*command, "--predictions", *paths[:2]).json()["comparisons"]
    three = toxeval(*command, "--predictions", *paths).json()["comparisons"]
    assert three["b"] == two["b"]


# --- the command itself -------------------------------------------------------------------------------------------

HEAVY = ("evaluate", "datasets", "pandas", "sklearn", "scipy", "pyarrow", "matplotlib", "tqdm")


def test_scoring_the_examples_imports_nothing_heavy(checkout: Path, tmp_path: Path) -> None:
    code = "import sys\nfrom toxeval.cli import main\n"
    for metric in package.METRICS:
        arguments = ["toxeval", "score", metric, "--predictions", f"{checkout}/toxeval/examples/{metric}.jsonl"]
        for option, value in demo.OPTIONS.get(metric, {}).items():  # with which every score is defined
            arguments += ["--option", f"{option}={list(value)}"]
        code += f"sys.argv = {arguments}\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
    code += "print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    modules = {name.partition(".")[0] for name in done.stderr.split()}
    assert "numpy" in modules
    assert not modules.intersection(HEAVY)


def test_the_command_starts_in_a_blink(checkout: Path, tmp_path: Path) -> None:
    example = str(checkout / "toxeval" / "examples" / "sold_macro_f1.jsonl")

    def seconds(*arguments: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, cwd=tmp_path)
        return time.perf_counter() - start

    scoring = ("-m", "toxeval.cli", "score", "sold_macro_f1", "--predictions", example)
    ratios: list[float] = []
    while len(ratios) < 3 and min(ratios, default=1) > 0.25:  # others may be at work
        ratios.append(seconds(*scoring) / seconds("-c", "import evaluate"))
    assert min(ratios) <= 0.25, ratios


def test_help_lists_the_options_of_the_metric() -> None:
    answer = toxeval("score", "threat_f1", "--help")
    assert answer.status == 0
    for text in ("Options of threat_f1, as --option NAME=VALUE", "from_logits", "threshold", "Default: 0.5."):
        assert text in " ".join(answer.out.split())
    assert "Options of sold_macro_f1 --config token" in toxeval("doctor", "sold_macro_f1", "--help").out
    assert "toxeval score METRIC --help lists them." in toxeval("score", "--help").out
    assert "--option" not in toxeval("verify", "--help").out
    for command in ("score", "compare", "plot", "doctor"):
        text = toxeval(command, "oracle_collab", "--help", COLUMNS="200").out
        assert max(map(len, text.splitlines())) <= 80


def test_no_bare_errno(tmp_path: Path) -> None:
    message = toxeval("verify", tmp_path / "none.json", "--predictions", "p.csv").refused()
    assert f"error: {tmp_path / 'none.json'}: No such file or directory" in message
    message = toxeval("score", "sold_macro_f1", "--predictions", tmp_path).refused()
    assert "Errno" not in message


def test_an_answer_of_a_real_start(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("prediction,label\nOFF,OFF\nNOT,OFF \n")
    message = started("score", "sold_macro_f1", "--predictions", "p.csv", cwd=tmp_path).refused()
    assert message.startswith("error: sold_macro_f1: references[1]: unknown label 'OFF '; allowed: NOT, OFF")
