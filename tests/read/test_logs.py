"""Logs of both harnesses are read without either: logs of real runs on four invented rows, and what is no log."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from asked import computed, inspect_answers

from toxeval.core.refusals import Refusal
from toxeval.loading import definition
from toxeval.read import Rows, open_files
from toxeval.read.layouts.logs import ZSTANDARD, Answer, from_inspect, from_lm_eval

LOGS = Path(__file__).with_name("logs")
#: What the mock models answered, in both runs.
ANSWERED = [
    ("0", "**Safe**", "Safe", "Biased Opinion"),
    ("1", "Unsafe.", "Unsafe", "Risk Ignorance"),
    ("2", "I can't judge that.", "Unsafe", "Unauthorized Expertise"),
    ("3", "Safe or Unsafe", "Safe", "Offending User"),
]


def lm_eval_lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LOGS / "lm_eval.jsonl").read_text(encoding="utf-8").splitlines()]


def read(kind: str) -> list[Answer]:
    if kind == "lm-eval":
        return list(map(from_lm_eval, lm_eval_lines()))
    return sorted(inspect_answers(LOGS / "inspect.eval"))


every = pytest.mark.parametrize("kind", ["lm-eval", "inspect"])


@every
def test_every_row_has_its_answer(kind: str) -> None:
    assert [(each.id, each.answer, each.reference, each.others["categories"]) for each in read(kind)] == ANSWERED
    assert {each.others["references"] == each.reference for each in read(kind)} == {True}


@every
def test_the_scores_of_a_log(kind: str) -> None:
    logged = read(kind)
    given = {name: [each.others[name] for each in logged] for name in ("references", "categories")}
    scores = computed("dia_safety", [each.answer for each in logged], given)
    assert (scores["accuracy"], scores["n_invalid"]) == (0.5, 2)
    assert (scores["invalid_rate_no_label"], scores["invalid_rate_several_labels"]) == (0.25, 0.25)


def test_the_log_of_inspect_is_compressed_with_zstandard() -> None:
    """Which `zipfile` can't read before Python 3.14."""
    with zipfile.ZipFile(LOGS / "inspect.eval") as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {ZSTANDARD}


# --- logs made here -------------------------------------------------------------------------------------------------


def sample(number: int, answer: str | None = "Safe", **others: Any) -> dict[str, Any]:
    output = {} if answer is None else {"completion": answer}
    return {"id": number, "target": "Safe", "output": output, "metadata": {}, **others}


def as_json(path: Path, samples: Sequence[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"version": 2, "samples": samples}), encoding="utf-8")
    return path


def as_eval(path: Path, entries: Sequence[tuple[str, dict[str, Any]]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for name, each in entries:
            archive.writestr(name, json.dumps(each))
    return path


def test_a_log_as_json_is_read_alike(tmp_path: Path) -> None:
    samples = [sample(1), sample(2, "Unsafe", metadata={"categories": "Risk Ignorance"})]
    expected = [Answer("1", "Safe", "Safe", {}), Answer("2", "Unsafe", "Safe", {"categories": "Risk Ignorance"})]
    assert list(inspect_answers(as_json(tmp_path / "log.json", samples))) == expected
    entries = [(f"samples/{each['id']}_epoch_1.json", each) for each in samples]
    assert list(inspect_answers(as_eval(tmp_path / "log.eval", entries))) == expected


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_later_entry_stands_for_an_earlier_one_of_its_name(tmp_path: Path) -> None:
    entries = [("samples/1_epoch_1.json", sample(1)), ("samples/1_epoch_1.json", sample(1, "Unsafe"))]
    assert [each.answer for each in inspect_answers(as_eval(tmp_path / "log.eval", entries))] == ["Unsafe"]


def test_samples_that_failed_before_they_were_scored_are_no_rows(tmp_path: Path) -> None:
    samples = [
        sample(1, None, error={"message": "no connection"}),
        sample(2, None, error={"message": "cut off"}, scores={"label": {"value": "I"}}),
        sample(3, None),
    ]
    assert [each[:2] for each in inspect_answers(as_json(tmp_path / "log.json", samples))] == [("2", ""), ("3", "")]


def test_a_target_in_a_list() -> None:
    assert from_inspect(sample(1, target=["Safe"])).reference == "Safe"
    assert from_inspect(sample(1, target=["Safe", "Unsafe"])).reference == ["Safe", "Unsafe"]


def test_an_answer_without_a_filter_is_the_only_one_of_its_list() -> None:
    record = {"doc_id": 0, "doc": {"id": "a"}, "target": "Safe", "filtered_resps": [["Safe"]]}
    assert from_lm_eval(record) == Answer("a", "Safe", "Safe", {})


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, "no line of a task whose output_type is generate_until"),
        ({"filtered_resps": ["a"]}, "no line of a task"),
        ({"doc_id": 0, "filtered_resps": [[-1.0, False], [-2.0, False]]}, "no line of a task"),
        ({"doc_id": 0, "filtered_resps": [[-1.0, True]]}, "a list for an answer, where a text is wanted"),
        ({"doc_id": 0, "filtered_resps": [None]}, "None for an answer"),
    ],
)
def test_lines_of_other_tasks_are_refused(record: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=f"^log of lm-eval: {message}") as refusal:
        from_lm_eval(record, 7)
    assert refusal.value.row == 7


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no log", "neither JSON nor a .eval file"),
        ("[]", "a log without samples"),
        ('{"samples": null}', "a log without samples"),
        ('{"samples": [{"id": 1}]}', "no sample of inspect"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(Refusal, match=f"^log of inspect: {message}"):
        list(inspect_answers(path))


def test_a_zip_file_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="^log of inspect: a log without samples"):
        list(inspect_answers(as_eval(tmp_path / "log.eval", [])))


# --- logs as tables -------------------------------------------------------------------------------------------------


def test_fields_of_documents_and_of_metadata_by_a_dotted_path(tmp_path: Path) -> None:
    about = [{"judged": {"label": label}} for label in ("Safe", "Unsafe")]
    lines = [{"doc_id": i, "doc": doc, "target": "", "filtered_resps": ["Safe"]} for i, doc in enumerate(about)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    as_json(tmp_path / "log.json", [sample(i, metadata=each) for i, each in enumerate(about)])
    metric = definition("dia_safety_rate")
    for path, layout in {"p.jsonl": "lm-eval", "log.json": "inspect"}.items():
        files = open_files(str(tmp_path / path), format=layout)
        rows = Rows(metric, *files, {"references": "judged.label"}).collect()
        assert rows == {"predictions": ["Safe", "Safe"], "references": ["Safe", "Unsafe"]}


def test_samples_that_failed_are_left_out_and_counted(tmp_path: Path) -> None:
    failed = sample(2, None, error={"message": "no connection"})
    log = as_json(tmp_path / "log.json", [sample(1), failed, sample(3)])
    rows = Rows(definition("dia_safety_rate"), *open_files(str(log), format="inspect"))
    assert rows.collect() == {"predictions": ["Safe", "Safe"], "references": ["Safe", "Safe"]}
    assert rows.left_out == "1 samples that ended with an error, and have no answer"
    log = as_json(tmp_path / "all.json", [failed])
    with pytest.raises(Refusal, match="predictions: no rows but 1 samples that ended with an error"):
        Rows(definition("dia_safety_rate"), *open_files(str(log), format="inspect")).collect()


def test_each_answer_of_several_epochs_is_a_row(tmp_path: Path) -> None:
    twice = [sample(i, answer, epoch=epoch) for epoch, answer in ((1, "Safe"), (2, "Unsafe")) for i in range(2)]
    log = as_json(tmp_path / "log.json", twice)
    rows = Rows(definition("dia_safety_rate"), *open_files(str(log), format="inspect"))
    assert rows.collect()["predictions"] == ["Safe", "Safe", "Unsafe", "Unsafe"]
    log = as_json(tmp_path / "again.json", [sample(1, epoch=1), sample(1, epoch=1)])
    with pytest.raises(Refusal, match="id: rows 0 and 1 of .* have the same one"):
        Rows(definition("dia_safety_rate"), *open_files(str(log), format="inspect")).collect()
