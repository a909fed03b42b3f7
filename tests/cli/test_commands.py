"""Every command, on good files and bad ones."""

import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command import toxeval

import toxeval as package
from toxeval.cli import main
from toxeval.cli.score import _instead

COMMANDS = ("score", "compare", "verify", "plot", "doctor", "list", "export", "publish")
GOLD = ["OFF", "NOT", "OFF", "NOT"] * 25
FLIPPED = {"OFF": "NOT", "NOT": "OFF"}
GUESS = [FLIPPED[label] if i % 5 == 0 else label for i, label in enumerate(GOLD)]
OTHER = [FLIPPED[label] if i % 7 == 0 else label for i, label in enumerate(GOLD)]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sold(path: Path, predictions: list[Any], references: list[Any] = GOLD, **more: Any) -> Path:
    return lines(path, [{"predictions": p, "references": r} | more for p, r in zip(predictions, references)])


@pytest.fixture
def guess(tmp_path: Path) -> Path:
    return sold(tmp_path / "predictions.jsonl", GUESS)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return sold(tmp_path / "predictions_b.jsonl", OTHER)


EXPECTED = package.load("sold_macro_f1").compute(predictions=GUESS, references=GOLD)
assert EXPECTED


# --- help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns(command: str) -> None:
    answer = toxeval(*filter(None, [command]), "--help", COLUMNS="200")
    assert answer.status == 0
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "Example" in answer.out
    assert answer.out.startswith("Usage: toxeval")
    assert not command or f"toxeval {command}" in answer.out.split("Example", 1)[1]


ALL = ["", *(pytest.param(each, marks=pytest.mark.slow) if each == "export" else each for each in COMMANDS)]


@pytest.mark.parametrize("command", ALL)
def test_the_examples_of_the_help_run(command: str, tmp_path: Path, guess: Path, other: Path, request: Any) -> None:
    if command == "export":
        (tmp_path / "CONDA").symlink_to(request.getfixturevalue("shared") / "data" / "conda")
    help_text = toxeval(*filter(None, [command]), "--help").out
    block = help_text.split("Example", 1)[1].split("\n\n")[0].splitlines()[1:]
    script = "\n".join(re.sub(r"^ *\$ ", "", line) for line in block)
    if not re.search("[|>]", script):
        for line in script.replace("\\\n", "").splitlines():
            answer = toxeval(*shlex.split(line)[1:], cwd=tmp_path)
            assert answer.status == 0, answer.err
        return
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "toxeval"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toxeval.cli "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, done.stderr


def test_shell_completion() -> None:
    def complete(words: str, position: int) -> str:
        return toxeval(_TOXEVAL_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(position)).out

    assert set(re.findall(r"plain,(\w+)", complete("toxeval ", 1))) == set(COMMANDS)
    assert set(re.findall(r"plain,(\w+)", complete("toxeval score ", 2))) == set(package.METRICS)
    assert "--confidence" in complete("toxeval score --con", 2)
    assert "complete" in toxeval(_TOXEVAL_COMPLETE="bash_source").out


def test_list_names_everything() -> None:
    answer = toxeval("list")
    assert answer.status == 0
    for word in (*package.METRICS, "token", "prediction_scores", "threshold=0.5", "f1_macro", "threat_seed"):
        assert word in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "\x1b" not in answer.out


# --- score --------------------------------------------------------------------------------------------------------


def test_score_equals_compute(guess: Path) -> None:
    result = toxeval("score", "sold_macro_f1", "--predictions", guess, "--json").json()
    assert result["scores"] == EXPECTED
    assert result["n_rows"] == 100
    table = toxeval("score", "sold_macro_f1", "--predictions", guess)
    assert table.out.splitlines()[1].split() == ["f1_macro", f"{EXPECTED['f1_macro']:.4f}"]
    assert result["signature_short"] in table.out
    assert not table.err


def test_other_tables(guess: Path) -> None:
    markdown = toxeval("score", "sold_macro_f1", "--predictions", guess, "--markdown", "--confidence", "0.9").out
    assert re.search(r"\| f1_macro +\| +0\.\d{4} \| \[0\.\d{4}, 0\.\d{4}\] \|", markdown)
    assert "90 % interval" in markdown
    latex = toxeval("score", "sold_macro_f1", "--predictions", guess, "--latex").out
    assert latex.startswith("% signature: toxeval:")
    assert r"f1\_macro & 0." in latex
    assert latex.count("{") == latex.count("}")


def test_intervals_details_and_options_reach_compute(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores, gold = rng.random(200).round(4).tolist(), rng.integers(2, size=200).tolist()
    path = lines(tmp_path / "p.jsonl", [{"prediction_scores": p, "references": r} for p, r in zip(scores, gold)])
    options = ["--confidence", "0.9", "--resamples", "200", "--seed", "7", "--detailed", "--option", "threshold=0.4"]
    result = toxeval("score", "threat_f1", "--predictions", path, "--json", *options).json()
    expected = package.load("threat_f1").compute(
        prediction_scores=scores,
        references=gold,
        confidence_level=0.9,
        n_resamples=200,
        seed=7,
        detailed=True,
        threshold=0.4,
    )
    assert result["scores"] == expected


def test_runs(guess: Path, other: Path) -> None:
    metric = package.load("sold_macro_f1")
    values = [metric.compute(predictions=p, references=GOLD)["f1_macro"] for p in (GUESS, OTHER)]
    result = toxeval("score", "sold_macro_f1", "--predictions", guess, other, "--json").json()
    assert result["scores"]["f1_macro"] == pytest.approx(np.mean(values))
    spread = {"std": np.std(values, ddof=1), "min": min(values), "max": max(values)}
    assert result["spread"]["f1_macro"] == pytest.approx(spread)
    assert [run["f1_macro"] for run in result["runs"]] == values
    assert "|runs:2|" in result["signature"]
    table = toxeval("score", "sold_macro_f1", "--predictions", guess, other, "--confidence", "0.95").out
    assert re.match(r"sold_macro_f1 +mean of 2 +std +min +max +95 % interval\n", table)
    never = sold(guess.parent / "never.jsonl", ["NOT"] * 100)
    for command, files in (("compare", (guess, other, never)), ("score", (guess, never, "--confidence", "0.95"))):
        warned = toxeval(command, "sold_macro_f1", "--predictions", *files, "--resamples", "50").err.splitlines()
        assert warned
        assert all(line.startswith(f"warning: sold_macro_f1: {never}: undefined: ") for line in warned)
    short = sold(guess.parent / "short.jsonl", GUESS[:99], GOLD[:99])
    message = toxeval("score", "sold_macro_f1", "--predictions", guess, short).refused()
    assert "100 rows in" in message
    assert "99 in" in message


@pytest.mark.parametrize(
    ("bound", "status"),
    [("f1_macro=0.5", 0), ("f1_macro=0.99", 1), ("f1_macro_low=0.4", 0), ("f1_macro_low=0.75", 1)],
)
def test_fail_under(guess: Path, bound: str, status: int) -> None:
    answer = toxeval("score", "sold_macro_f1", "--predictions", guess, "--confidence", "0.95", "--fail-under", bound)
    assert answer.status == status
    assert answer.out
    assert ("below: f1_macro" in answer.err) == bool(status)


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ("unsafe_rate=0.25", ""),
        ("unsafe_rate=0.2", "above: unsafe_rate is 0.25, wanted at most 0.2\n"),
        ("unsafe_rate_high=0.6", ""),
        ("unsafe_rate_high=0.3", "above: unsafe_rate_high is 0."),
    ],
)
def test_fail_over(tmp_path: Path, bound: str, message: str) -> None:
    verdicts = ["Unsafe", "Safe", "Safe", "Safe"] * 10
    path = lines(tmp_path / "p.jsonl", [{"prediction": v, "category": "Biased Opinion"} for v in verdicts])
    answer = toxeval("score", "dia_safety_rate", "--predictions", path, "--confidence", "0.95", "--fail-over", bound)
    assert answer.status == bool(message)
    assert answer.out
    assert message in answer.err
    assert ("above: " in answer.err) == bool(message)


def test_of_many_scores_those_are_named_that_may_be_meant() -> None:
    keys = [f"f1_{i}" for i in range(40)] + ["accuracy"]
    assert _instead("acuracy", keys) == "; did you mean accuracy? There are accuracy"
    assert _instead("x", keys).count("f1_") == 12
    assert _instead("accuracy_low", keys) == " (add --confidence)"


@pytest.mark.parametrize("gate", ["--fail-under", "--fail-over"])
def test_an_undefined_score_fails(tmp_path: Path, gate: str) -> None:
    path = lines(tmp_path / "p.jsonl", [{"prediction_scores": 0.5, "references": 0}] * 3)
    answer = toxeval("score", "threat_f1", "--predictions", path, gate, "roc_auc=0", "--json")
    assert answer.status == 1
    assert "roc_auc is nan" in answer.err
    assert "warning: threat_f1: undefined: " in answer.err
    assert json.loads(answer.out)["scores"]["roc_auc"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-under", "f2=1"], "no score f2; there are f1_macro"),
        (["--fail-under", "f1_makro=1"], "no score f1_makro; did you mean f1_macro? There are f1_macro, precision_OFF"),
        (["--fail-under", "f1_macro=1_0"], "--fail-under: f1_macro=1_0: not a number"),
        (["--fail-under", "f1_macro= 0.2 "], "not a number"),
        (["--fail-over", "f1_macro=nan"], "not a number"),
        (["--json", "--markdown"], "--json and --markdown: one of them"),
        (["--fail-under", "f1_macro_low=0.5"], "no score f1_macro_low (add --confidence)"),
        (["--fail-over", "f1_macro_high=0.5"], "--fail-over: no score f1_macro_high (add --confidence)"),
        (["--fail-over", "f1_macro=half"], "--fail-over: f1_macro=half: not a number"),
        (["--fail-under", "f1_macro"], "is not NAME=VALUE"),
        (["--seed", "1"], "--resamples and --seed are for --confidence"),
        (["--confidence", "95"], "confidence_level: 95.0; allowed: above 0 and below 1"),
        (["--option", "treshold=0.5"], "option treshold: unknown"),
        (["--option", "zero_division=2"], "zero_division: 2; allowed: 0.0, 1.0, nan"),
        (["--config", "words"], "'words'; allowed: 'default', 'token'"),
        (["--columns", "predictions=guess"], "no such column"),
        (["--dataset", "sold"], "no split; write NAME:SPLIT"),
        (["--dataset", "sould:test"], "unknown dataset 'sould'"),
        (["--references", "nothing.csv"], "nothing.csv: no such file"),
        (["--predictions", "-", "--references", "-"], "standard input"),
    ],
)
def test_refused_arguments(
    guess: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["toxeval", "score", "sold_macro_f1", "--predictions", str(guess), *arguments])
    monkeypatch.setattr("warnings.showwarning", warnings.showwarning)  # main sets its own
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert message in err
    assert not out


@pytest.mark.parametrize(
    ("metric", "text", "message"),
    [
        ("sold_macro_f1", "prediction,gold\nOFF,OFF\n", "--columns references=COLUMN"),
        ("dia_safety_rate", "prediction\nSafe\n", "--columns categories=COLUMN; in another file: --references FILE"),
        ("threat_f1", "prediction_score,reference\n1.5,1\n", "or like logits: --option from_logits=true"),
        ("threat_f1", "prediction,reference\nthreshold=Foo,1\n", "unknown label 'threshold=Foo'"),
        ("conda_joint", "predictions\n{}\n", "--columns references.intent=COLUMN,references.slots=COLUMN"),
        ("oracle_collab", "prediction,reference\n0.5,1\n1.5,1\n", "predictions[1]: 1.5; allowed: probabilities"),
    ],
)
def test_messages_speak_of_the_command(tmp_path: Path, metric: str, text: str, message: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text)
    said = toxeval("score", metric, "--predictions", path).refused()
    assert message in said
    assert "=True" not in said
    if "1.5" in text and metric == "threat_f1":
        assert message in toxeval("compare", metric, "--predictions", path, path).refused()


# --- verify -------------------------------------------------------------------------------------------------------


def test_verify(tmp_path: Path, guess: Path, other: Path) -> None:
    saved = tmp_path / "result.json"
    files = ["--predictions", guess]
    saved.write_text(toxeval("score", "sold_macro_f1", *files, "--confidence", "0.95", "--json").out)
    answer = toxeval("verify", saved, *files)
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith("match: ")

    result = json.loads(saved.read_text())

    def verdict(**changes: Any) -> tuple[int, str]:
        edited = tmp_path / "edited.json"
        edited.write_text(json.dumps({**result, **changes}))
        answer = toxeval("verify", edited, *files)
        return answer.status, answer.out

    third_digit = result["scores"] | {"f1_macro": result["scores"]["f1_macro"] + 0.001}
    status, out = verdict(scores=third_digit)
    assert status == 1
    assert out.startswith("mismatch\n")
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["f1_macro"]
    assert verdict(scores=result["scores"] | {"f1_macro_low": 0.7})[0] == 1
    assert verdict(options={"zero_division": 1.0})[0] == 1
    assert verdict(signature=result["signature"].replace("seed:0", "seed:1"))[0] == 1
    assert verdict(n_rows=101)[0] == 1
    status, out = verdict(scores={})
    assert status == 1
    assert "not there" in out

    answer = toxeval("verify", saved, "--predictions", other)
    assert answer.status == 1
    assert "digest" in answer.out
    assert "not a result saved with" in toxeval("verify", guess, *files).refused()
    both = toxeval("compare", "sold_macro_f1", "--predictions", guess, other, "--json").out
    (tmp_path / "both.json").write_text(both)
    assert "a comparison; what can be verified" in toxeval("verify", tmp_path / "both.json", *files).refused()
    assert "No such file" in toxeval("verify", tmp_path / "none.json", *files).refused()


def test_runs_verify_in_any_order(tmp_path: Path, guess: Path, other: Path) -> None:
    for intervals in ([], ["--confidence", "0.9"]):
        saved = tmp_path / "result.json"
        saved.write_text(toxeval("score", "sold_macro_f1", "--predictions", guess, other, "--json", *intervals).out)
        assert toxeval("verify", saved, "--predictions", other, guess).status == 0
        assert toxeval("verify", saved, "--predictions", guess).status == 1


# --- compare ------------------------------------------------------------------------------------------------------


def test_compare(tmp_path: Path, guess: Path, other: Path) -> None:
    from toxeval.systems import compare

    keys = ["--key", "f1_macro", "--key", "accuracy"]
    result = toxeval("compare", "sold_macro_f1", "--predictions", guess, other, *keys, "--json").json()
    expected = compare("sold_macro_f1", OTHER, GUESS, GOLD, keys=["f1_macro", "accuracy"])
    assert result["comparisons"] == {"predictions_b": {key: each.to_dict() for key, each in expected.items()}}
    assert result["baseline"] == "predictions"
    table = toxeval("compare", "sold_macro_f1", "--predictions", guess, other, guess, *keys).out
    assert table.count("mcnemar") == 2
    assert re.search(r"accuracy +\S+predictions.jsonl +0\.\d+ +0\.\d+ +\+0.0000 .* 1 +mcnemar", table)


def test_compare_matches_rows_by_id(tmp_path: Path) -> None:
    rows = [[{"id": i, "predictions": p[i]} for i in range(100)] for p in (GUESS, OTHER)]
    gold = lines(tmp_path / "gold.jsonl", [{"id": i, "references": r} for i, r in enumerate(GOLD)])
    straight = [lines(tmp_path / f"{name}.jsonl", part) for name, part in zip("ab", rows)]
    shuffled = [straight[0], lines(tmp_path / "c.jsonl", rows[1][::-1])]
    command = ["compare", "sold_macro_f1", "--json", "--predictions"]

    def comparisons(*arguments: Path | str) -> list[Any]:
        return list(toxeval(*command, *arguments).json()["comparisons"].values())

    expected = comparisons(*straight, "--references", gold)
    assert comparisons(*shuffled, "--references", gold) == expected
    # each file with its own references
    whole = [[row | {"references": GOLD[row["id"]]} for row in part] for part in rows]
    own = [lines(tmp_path / "d.jsonl", whole[0]), lines(tmp_path / "e.jsonl", whole[1][::-1])]
    assert comparisons(*own) == expected
    own[1] = lines(tmp_path / "f.jsonl", [whole[1][0] | {"references": "NOT"}, *whole[1][1:]])
    assert "references" in toxeval("compare", "sold_macro_f1", "--predictions", *own).refused()


def test_compare_refuses(guess: Path, other: Path) -> None:
    assert "one file" in toxeval("compare", "sold_macro_f1", "--predictions", guess).refused()
    message = toxeval("compare", "sold_macro_f1", "--predictions", guess, other, "--key", "f2").refused()
    assert "keys: 'f2'; allowed: " in message


# --- doctor, export, publish --------------------------------------------------------------------------------------


def test_doctor(tmp_path: Path, guess: Path) -> None:
    answer = toxeval("doctor", "sold_macro_f1", "--predictions", guess)
    assert (answer.status, answer.out) == (0, "nothing looks wrong\n")
    swapped = sold(tmp_path / "swapped.jsonl", [1 - (g == "OFF") for g in GOLD])
    answer = toxeval("doctor", "sold_macro_f1", "--predictions", swapped)
    assert answer.status == 1
    assert "NOT and OFF look swapped (100 crossed, 0 right)" in answer.out
    assert "no such file" in toxeval("doctor", "sold_macro_f1", "--predictions", tmp_path / "none.csv").refused()


def test_a_picture_in_no_folder(tmp_path: Path, guess: Path) -> None:
    out = tmp_path / "none" / "x.png"
    message = toxeval("plot", "sold_macro_f1", "--predictions", guess, "--out", out).refused()
    assert f"--out {out}: there is no folder {out.parent}" in message


def test_export(tmp_path: Path, shipped: Path) -> None:
    out = tmp_path / "seed"
    source = shipped / "threat_seed"
    answer = toxeval("export", "threat_seed", out, "--data-dir", source, "--no-checks")
    assert (answer.status, answer.out) == (0, f"{out}\n")
    assert (
        "threat_seed: train.csv: expected rows 159571"
        in toxeval("export", "threat_seed", tmp_path / "no", "--data-dir", source).refused()
    )
    assert "is there already" in toxeval("export", "threat_seed", out, "--data-dir", source, "--no-checks").refused()
    assert "unknown dataset 'seeds'" in toxeval("export", "seeds", tmp_path / "no").refused()
    ids = pq.read_table(out / "default" / "test.parquet")["id"].to_pylist()
    guesses = lines(tmp_path / "p.jsonl", [{"id": i, "predictions": "non-threat"} for i in ids[::-1]])
    result = toxeval("score", "threat_f1", "--predictions", guesses, "--references", f"{out}:test", "--json").json()
    assert result["n_rows"] == 300
    assert result["scores"]["prevalence"] == pytest.approx(10 / 300)


def test_publish(tmp_path: Path) -> None:
    answer = toxeval("publish", "sold_macro_f1", "--repo", "jane/sold_macro_f1", "--out", tmp_path / "space")
    assert answer.status == 0, answer.err
    assert "sold_macro_f1.py" in answer.out
    assert (tmp_path / "space" / "sold_macro_f1.py").is_file()
    assert "unknown name 'sold'" in toxeval("publish", "sold", "--repo", "jane/sold", "--dry-run").refused()
    assert "no licence" in toxeval("publish", "sold", "--repo", "jane/sold", "--dataset", "--dry-run").refused()


def test_colours_only_on_a_terminal(guess: Path) -> None:
    pty = pytest.importorskip("pty")

    def on_a_terminal(*args: str, **env: str) -> str:
        main, side = pty.openpty()
        command = [sys.executable, "-m", "toxeval.cli", *args]
        process = subprocess.Popen(command, stdout=side, stderr=side, env={**os.environ, "TERM": "xterm", **env})
        os.close(side)
        written = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            written += part
        process.wait()
        os.close(main)
        return written.decode()

    assert "\x1b[" in on_a_terminal("doctor", "sold_macro_f1", "--predictions", str(guess))
    assert "\x1b[3" not in on_a_terminal("doctor", "sold_macro_f1", "--predictions", str(guess), NO_COLOR="1")
    assert "\x1b" not in toxeval("doctor", "sold_macro_f1", "--predictions", guess).out
