"""A signature changes with everything that changes the numbers, and with nothing else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toxeval.cli.job import Job, job_of
from toxeval.cli.job import result_of as score
from toxeval.result_files import read_result
from toxeval.signature import differences, mismatches

# classes that few rows can't define are no matter here
pytestmark = pytest.mark.filterwarnings("ignore:.*undefined")

ROWS = [
    {"prediction_scores": p, "references": y, "note": "gg"}
    for p, y in zip(
        (0.9, 0.8, 0.31, 0.3, 0.2, 0.6), ("threat", "threat", "threat", "non-threat", "non-threat", "non-threat")
    )
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return lines(tmp_path / "p.jsonl", ROWS)


def lines(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def signature(*paths: str, **given: Any) -> str:
    return score(Job("threat_f1", paths, **given)).signature()


def test_what_is_in_it(path: str) -> None:
    result = score(
        Job("threat_f1", (path,), options={"threshold": 0.25}, confidence={"confidence_level": 0.9, "seed": 3})
    )
    long, short = result.signature(), result.signature(short=True)
    assert long.startswith(f"toxeval:{result.version}|metric:threat_f1|config:default|from_logits:no|")
    assert "|threshold:0.25|zero_division:0.0|" in long
    ending = "|confidence_level:0.9|n_resamples:1000|seed:3|stratify:no"
    assert long.endswith(f"{ending}|dataset:-|rows:6|sha256:{result.digest}")
    start = f"toxeval:{result.version}|metric:threat_f1|threshold:0.25"
    assert short == f"{start}{ending}|rows:6|sha256:{result.digest[:12]}"


def test_what_does_not_change_it(tmp_path: Path, path: str) -> None:
    same = [
        signature(path),
        signature(path, options={"threshold": 0.5, "zero_division": 0}),
        signature(path, detailed=True),
    ]
    same.append(signature(lines(tmp_path / "columns.jsonl", [dict(reversed(row.items())) for row in ROWS])))
    same.append(signature(lines(tmp_path / "rows.jsonl", ROWS[::-1])))
    ids = [row | {"references": int(row["references"] == "threat"), "id": i} for i, row in enumerate(ROWS)]
    same.append(signature(lines(tmp_path / "ids.jsonl", ids)))
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "p.parquet")
    same.append(signature(str(tmp_path / "p.parquet")))
    text = "".join(f"{row['references']},{row['prediction_scores']}\n" for row in ROWS)
    (tmp_path / "p.csv").write_text("references,prediction_scores\n" + text)
    same.append(signature(str(tmp_path / "p.csv")))
    gold = lines(tmp_path / "gold.jsonl", [{"label": row["references"]} for row in ROWS])
    scores = lines(tmp_path / "scores.jsonl", [{"p": row["prediction_scores"]} for row in ROWS])
    same.append(signature(scores, references=gold, columns={"prediction_scores": "p"}))
    assert len(set(same)) == 1


def test_what_changes_it(tmp_path: Path, path: str) -> None:
    others = [signature(path)]
    others += [
        signature(path, options=options)
        for options in ({"threshold": 0.4}, {"zero_division": float("nan")}, {"from_logits": True})
    ]
    others.append(signature(path, confidence={"confidence_level": 0.95}))
    others.append(signature(path, confidence={"confidence_level": 0.95, "seed": 1}))
    others.append(signature(path, confidence={"confidence_level": 0.95, "n_resamples": 500}))
    others.append(signature(lines(tmp_path / "digit.jsonl", [ROWS[0] | {"prediction_scores": 0.9000001}, *ROWS[1:]])))
    others.append(signature(lines(tmp_path / "label.jsonl", [*ROWS[:-1], ROWS[-1] | {"references": "threat"}])))
    others.append(signature(lines(tmp_path / "fewer.jsonl", ROWS[:-1])))
    others.append(signature(lines(tmp_path / "twice.jsonl", ROWS * 2)))
    swapped = [row | {"references": other["references"]} for row, other in zip(ROWS, ROWS[::-1])]
    others.append(signature(lines(tmp_path / "swapped.jsonl", swapped)))
    assert len(set(others)) == len(others)


def test_the_review_strategy_that_is_meant(tmp_path: Path) -> None:
    rows = [{"predictions": p, "references": y} for p, y in ((0.1, 0), (0.6, 0), (0.45, 1), (0.9, 1))]
    path = lines(tmp_path / "p.jsonl", rows)
    own = lines(tmp_path / "own.jsonl", [row | {"review_scores": row["predictions"]} for row in rows])

    def strategy(path: str, **options: Any) -> str:
        parts = dict(
            part.split(":", 1) for part in score(Job("oracle_collab", (path,), options=options)).signature().split("|")
        )
        return parts["review_strategy"]

    assert strategy(path) == strategy(path, review_strategy="uncertainty") == "uncertainty"
    assert strategy(path, review_strategy="toxicity") == "toxicity"
    assert strategy(own) == "review_scores"
    some = score(Job("oracle_collab", (path,), options={"review_fractions": [0.5, 1], "targets": {"oc_accuracy": 1}}))
    assert "|review_fractions:0.5,1.0|" in some.signature()
    assert "|targets:oc_accuracy=1.0|" in some.signature()
    assert_verifies(tmp_path, some, path)
    assert_verifies(tmp_path, score(Job("oracle_collab", (own,))), own)
    words = lines(tmp_path / "words.jsonl", [row | {"moderator_label": row["references"]} for row in rows])
    assert "|moderator_error:moderator_labels|" in score(Job("oracle_collab", (words,))).signature(short=True)
    assert_verifies(tmp_path, score(Job("oracle_collab", (words,))), words)


def assert_verifies(tmp_path: Path, result: Any, *paths: str) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(result.to_json())
    reported, written = read_result(str(saved))
    assert mismatches(reported, written, score(job_of(reported, predictions=paths))) == []


@pytest.mark.parametrize(
    "given",
    [{}, {"detailed": True}, {"options": {"zero_division": float("nan")}}, {"confidence": {"confidence_level": 0.9}}],
)
def test_saved_results_verify(tmp_path: Path, path: str, given: dict[str, Any]) -> None:
    assert_verifies(tmp_path, score(Job("threat_f1", (path,), **given)), path)


def test_undefined_scores_are_null_and_verify(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", [row | {"references": 0} for row in ROWS])
    with pytest.warns(UserWarning, match="undefined"):
        result = score(Job("threat_f1", (path,)))
    assert json.loads(result.to_json())["scores"]["roc_auc"] is None
    with pytest.warns(UserWarning, match="undefined"):
        assert_verifies(tmp_path, result, path)


def test_differences_in_the_last_bits_are_none() -> None:
    assert differences({"a": 0.1 + 0.2, "b": float("nan")}, {"a": 0.3, "b": None}) == []
    assert differences({"a": 0.300001}, {"a": 0.3}) == [("a", 0.300001, 0.3)]
    assert differences({"a": 1}, {"b": 1}) == [("a", 1, "not there"), ("b", "not there", 1)]
    assert differences({"a": float("nan")}, {"a": 0.0})[0][0] == "a"


def test_row_order_does_not_matter_where_rows_are_kept(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"predictions": rng.random(200_000).round(3), "references": rng.integers(2, size=200_000)})
    digests = []
    for name, order in (("a", np.arange(200_000)), ("b", rng.permutation(200_000))):
        pq.write_table(table.take(order), tmp_path / f"{name}.parquet", row_group_size=70_000)
        digests.append(score(Job("oracle_collab", (str(tmp_path / f"{name}.parquet"),))).digest)
    assert digests[0] == digests[1]
