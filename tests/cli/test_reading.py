"""What the command reads in tables, against what is in them: no row, field or cell is taken for something else."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import toxeval
from datasets import ClassLabel, Dataset, Features, Sequence, Value

import toxeval as package

GOLD = ["OFF", "NOT", "OFF", "NOT"] * 25
GUESS = ["NOT", *GOLD[1:50], *GOLD[49:99]]
EXPECTED = package.load("sold_macro_f1").compute(predictions=GUESS, references=GOLD)


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def guess(tmp_path: Path) -> Path:
    return lines(tmp_path / "predictions.jsonl", [{"predictions": p, "references": r} for p, r in zip(GUESS, GOLD)])


def test_rows_in_another_order_are_refused_or_matched(tmp_path: Path) -> None:
    mine = [{"text": i, "split": "test", "predictions": p} for i, p in enumerate(GUESS)]
    gold = lines(tmp_path / "r.jsonl", [{"text": i, "split": "test", "references": r} for i, r in enumerate(GOLD)])
    files = "--predictions", lines(tmp_path / "p.jsonl", mine[::-1]), "--references", gold
    message = toxeval("score", "sold_macro_f1", *files).refused()
    assert "have no ids in common, and text has the same values in another order" in message
    assert "(to match them by it: --columns id=text; if the order is right all the same: --columns id=)" in message
    by_text = toxeval("score", "sold_macro_f1", *files, "--columns", "id=text", "--json")
    assert not by_text.err
    assert by_text.json()["matched"] == "text"
    lines(tmp_path / "p.jsonl", mine)  # in the same order there's nothing to say
    in_order = toxeval("score", "sold_macro_f1", *files, "--json")
    assert not in_order.err
    assert in_order.json()["matched"] == "position"
    assert in_order.json()["scores"] == by_text.json()["scores"]
    assert "\n\n100 rows by position\nsignature: toxeval:" in toxeval("score", "sold_macro_f1", *files).out
    for row in mine:  # other values, of which nothing is known
        row["text"] += 1000
    lines(tmp_path / "p.jsonl", mine)
    answer = toxeval("score", "sold_macro_f1", *files)
    assert answer.status == 0
    assert re.fullmatch(
        r"warning: sold_macro_f1: rows of .* matched by position, .* they differ in text \(.*--columns id=COLUMN\)\n",
        answer.err,
    )


def test_an_input_is_in_every_record_or_in_none(tmp_path: Path) -> None:
    """One that comes later would be left out without a word; what is no input of the metric may come and go."""
    rows: list[dict[str, Any]] = [{"predictions": 0, "references": 0} for _ in range(8)]

    def late(metric: str, field: str, *options: str) -> Any:
        rows[6] = {"predictions": 0, "references": 0, field: 1}
        return toxeval("score", metric, "--predictions", lines(tmp_path / "p.jsonl", rows), *options)

    for metric, field in (
        ("dia_safety_rate", "category"),
        ("threat_f1", "prediction_score"),
        ("sold_macro_f1", "label"),
    ):
        message = late(metric, field).refused()
        assert f"p.jsonl: line 7: the first '{field}'; an input is in every record or in none" in message
    for metric, field in (("sold_macro_f1", "category"), ("sold_macro_f1", "id"), ("threat_f1", "rationales")):
        assert late(metric, field).status == 0
    assert late("sold_macro_f1", "label", "--columns", "references=references").status == 0


def test_an_optional_column_without_a_value_is_as_none(tmp_path: Path) -> None:
    rows = [f"0.{i},{i % 2},," for i in range(1, 9)]
    file = tmp_path / "p.csv"
    file.write_text("\n".join(["prediction_scores,references,predictions,cluster", *rows]) + "\n")
    assert "roc_auc" in toxeval("score", "threat_f1", "--predictions", file, "--json").json()["scores"]
    rows[5] = "0.5,1,1,"
    file.write_text("\n".join(["prediction_scores,references,predictions,cluster", *rows]) + "\n")
    assert "predictions[0]: missing label" in toxeval("score", "threat_f1", "--predictions", file).refused()


def test_whole_numbers_that_floats_would_tie_are_refused_in_every_format(tmp_path: Path) -> None:
    rows = [{"predictions": 0.9, "references": i % 2, "review_scores": 1700000000000000000 + i} for i in range(4)]
    csv_file = tmp_path / "p.csv"
    csv_file.write_text("\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n")
    for file in (csv_file, lines(tmp_path / "p.jsonl", rows)):
        assert "would be tied" in toxeval("score", "oracle_collab", "--predictions", file).refused()


def test_nan_does_not_make_ids_of_a_column_of_names(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    file.write_text("predictions,references\nnan,Safe\nSafe,Safe\nUnsafe,Unsafe\n")
    result = toxeval("score", "dia_safety_rate", "--predictions", file, "--option", "invalid=count", "--json").json()
    assert (result["scores"]["n_invalid"], result["scores"]["f1_Unsafe"]) == (1, 1.0)


def test_class_labels_in_records_and_in_lists(tmp_path: Path) -> None:
    intent, slot = ClassLabel(names=["O", "A", "I", "E"]), ClassLabel(names=["SEPA", "O", "P", "D", "C", "S", "T"])
    record = {"intent": intent, "slots": Sequence(slot)}
    utterances = [{"intent": "E", "slots": ["T", "O"]}, {"intent": "O", "slots": ["S"]}]
    features = Features({"predictions": record, "references": record})
    table = Dataset.from_dict({"predictions": utterances, "references": utterances[::-1]}, features=features)
    same = Dataset.from_dict({"predictions": utterances, "references": utterances}, features=features)
    for number, (data, wanted) in enumerate(((same, 1.0), (table.select([0]), None))):
        data.to_parquet(tmp_path / f"{number}.parquet")
        data.save_to_disk(tmp_path / f"{number}")
        for path in (tmp_path / f"{number}.parquet", tmp_path / f"{number}"):
            answer = toxeval("score", "conda_joint", "--predictions", path, "--json")
            if wanted is None:
                assert "2 predicted and 1 in the reference" in answer.refused()
            else:
                assert answer.json()["scores"]["jsa"] == wanted
                assert answer.json()["scores"]["u_f1_E"] == 1.0


def test_class_labels_without_a_name_are_refused(tmp_path: Path) -> None:
    schema = Features({"predictions": ClassLabel(names=["NOT", "OFF"]), "references": Value("string")}).arrow_schema
    table = pa.table({"predictions": [0, 7], "references": ["NOT", "OFF"]}, schema=schema)
    pq.write_table(table, tmp_path / "p.parquet")
    message = toxeval("score", "sold_macro_f1", "--predictions", tmp_path / "p.parquet").refused()
    assert "class label 7; allowed: 0 to 1" in message


def test_bad_files(tmp_path: Path, guess: Path) -> None:
    """What each kind of broken file says is tested with the readers; here, how the command ends."""
    text = guess.read_text()
    pq.write_table(pa.table({"predictions": GUESS, "references": GOLD}), tmp_path / "p.parquet")
    half = (tmp_path / "p.parquet").read_bytes()[:500]
    for name, content, message in (
        ("empty.jsonl", b"", "no rows"),
        ("broken.jsonl", (text + '{"predictions": "OFF"').encode(), "line 101: broken JSON at character 22"),
        ("half.parquet", half, "not a whole Parquet file"),
        ("columns.csv", b"guess,gold\nOFF,OFF\n", "allowed: one of the columns guess, gold"),
        ("label.csv", b"predictions,references\nOFF,OFF\nUNK,OFF\n", "predictions[1]: unknown label 'UNK'"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        assert message in toxeval("score", "sold_macro_f1", "--predictions", path).refused()
    assert "no such file" in toxeval("score", "sold_macro_f1", "--predictions", tmp_path / "none.csv").refused()
    ids = lines(tmp_path / "ids.jsonl", [{"id": i, "predictions": p} for i, p in enumerate(GUESS)])
    gold = lines(tmp_path / "gold.jsonl", [{"id": i // 2, "label": r} for i, r in enumerate(GOLD)])
    message = toxeval("score", "sold_macro_f1", "--predictions", ids, "--references", gold).refused()
    assert f"rows 0 and 1 of {gold} have the same one" in message


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "parquet"])
def test_standard_input(tmp_path: Path, guess: Path, form: str) -> None:
    separator = {"csv": ",", "tsv": "\t"}.get(form, "")
    content = guess.read_bytes()
    if separator:
        rows = [f"{p}{separator}{r}" for p, r in zip(GUESS, GOLD)]
        content = b"\xef\xbb\xbf" + "\r\n".join([f"predictions{separator}references", *rows]).encode()
    elif form == "parquet":
        pq.write_table(pa.table({"predictions": GUESS, "references": GOLD}), tmp_path / "p.parquet")
        content = (tmp_path / "p.parquet").read_bytes()
    answer = toxeval("score", "sold_macro_f1", "--predictions", "-", "--json", stdin=content)
    assert answer.json()["scores"] == EXPECTED
    answer = toxeval("score", "sold_macro_f1", "--predictions", guess, guess, "--references", "-", stdin=content)
    assert form == "parquet" or "wanted more than once" in answer.refused()


# the high-water mark of the program itself: getrusage's would hold that of the process which started it
PEAK = (
    "import re, sys\n"
    "from toxeval import cli\n"
    "try:\n    cli.main()\n"
    "finally:\n    print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr)\n"
)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize(
    "form", ["csv", *(pytest.param(each, marks=pytest.mark.slow) for each in ("jsonl", "parquet"))]
)
def test_a_million_rows_in_bounded_memory(tmp_path: Path, form: str) -> None:
    peaks = []
    for n in (1000, 1_000_000):
        path = tmp_path / f"{n}.{form}"
        if form == "parquet":
            many = {"predictions": GUESS * (n // 100), "references": GOLD * (n // 100), "text": ["gg wp " * 20] * n}
            pq.write_table(pa.table(many), path)
        else:
            with path.open("w") as stream:
                rows = list(zip(GUESS, GOLD))
                if form == "csv":
                    stream.write("predictions,references,text\n")
                    block = "".join(f"{p},{r},{'gg wp ' * 20}\n" for p, r in rows)
                else:
                    block = "".join(f'{{"predictions": "{p}", "references": "{r}"}}\n' for p, r in rows)
                stream.writelines(block for _ in range(n // 100))
        command = [sys.executable, "-c", PEAK, "score", "sold_macro_f1", "--predictions", str(path), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        assert result["n_rows"] == n
        assert result["scores"] == pytest.approx(EXPECTED)
        peaks.append(int(done.stderr.split()[-1]) // 1024)
    # the rows as Python objects would be some 200 MB
    assert peaks[1] - peaks[0] < 120, peaks
