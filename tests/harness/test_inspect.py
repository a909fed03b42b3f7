"""inspect as a whole command, with its mock model."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from asked import TASKS, answers, computed, differences, inspect_answers, scored_log

from toxeval.harness.tasks import DATA, prompts, rows
from toxeval.read.layouts.logs import Answer

pytestmark = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="inspect is not installed: pip install 'inspect-ai>=0.3.260'"
)
every = pytest.mark.parametrize("task", TASKS)


@dataclass(frozen=True)
class Run:
    """The folder with a folder of logs of each kind."""

    logs: Path

    def log(self, kind: str, task: str) -> Path:
        (path,) = (self.logs / kind).glob(f"*_{task.replace('_', '-')}_*.{kind}")
        return path

    def scores(self, kind: str, task: str) -> dict[str, Any]:
        from inspect_ai.log import read_eval_log

        log = read_eval_log(str(self.log(kind, task)))
        assert log.status == "success", log.error
        assert log.results is not None
        assert log.eval.task_version == prompts()[task].version
        (score,) = log.results.scores
        return {key: metric.value for key, metric in score.metrics.items()}

    def answers(self, kind: str, task: str) -> list[Answer]:
        return sorted(inspect_answers(self.log(kind, task)), key=lambda each: int(each.id.lstrip("b"), 16))


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    home = tmp_path_factory.mktemp("inspect")
    said = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA, str(data))
        for task, prompt in prompts().items():
            asked = [row["prompt"] for row in rows(prompt)]
            said |= dict(zip(asked, answers(task, len(asked))))
    (home / "answers.json").write_text(json.dumps(said), encoding="utf-8")
    eval_all = ["eval", *(f"toxeval/{task}" for task in TASKS), "--log-dir", "logs/eval"]
    two_epochs = ["eval", "toxeval/sold", "--epochs", "2", "--log-format", "json", "--log-dir", "logs/json"]
    for arguments in (eval_all, two_epochs):
        inspect(home, data, "answers.json", *arguments, "--model", "answers/mock", "--display", "none")
    return Run(home / "logs")


def inspect(home: Path, data: Path, *arguments: str) -> None:
    """Run the command in a folder."""
    command = [sys.executable, str(Path(__file__).with_name("ask_inspect.py")), *arguments]
    environment = os.environ | {DATA: str(data), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@every
def test_all_scores_are_those_of_compute_on_the_logged_answers(run: Run, task: str) -> None:
    logged = run.answers("eval", task)
    given = {name: [each.others[name] for each in logged] for name in prompts()[task].columns}
    assert given["references"] == [each.reference for each in logged]
    assert differences(run.scores("eval", task), computed(task, [each.answer for each in logged], given)) == []


@every
def test_the_command_gives_the_log_the_same_scores(run: Run, task: str) -> None:
    assert differences(scored_log(task, "inspect", run.log("eval", task)), run.scores("eval", task)) == []


@every
def test_the_log_has_what_was_asked_and_answered(run: Run, in_data: Path, task: str) -> None:
    asked = rows(prompts()[task])
    logged = run.answers("eval", task)
    assert [each.id for each in logged] == [row["id"] for row in asked]
    assert [each.answer for each in logged] == answers(task, len(asked))
    assert [each.reference for each in logged] == [row["references"] for row in asked]


def test_each_answer_of_several_epochs_is_a_row_and_there_is_no_interval(run: Run) -> None:
    logged = run.answers("json", "sold")
    scores, once = run.scores("json", "sold"), run.scores("eval", "sold")
    assert len(logged) == 2 * len(run.answers("eval", "sold"))
    assert scores["n_invalid"] == 2 * once["n_invalid"]
    ends = ("f1_macro_low", "f1_macro_high")
    assert all(math.isnan(scores[end]) for end in ends)
    assert {key for key in once if key not in ends and scores[key] != once[key]} == {"n_invalid"}
    found = scored_log("sold", "inspect", run.log("json", "sold"))
    assert [key for key in differences(found, scores) if key not in ends] == []


def test_a_row_as_others_who_take_objects_of_inspect_want_it() -> None:
    from toxeval.harness.inspect_tasks import sample

    asked = sample("sold", {"post_id": "7", "text": "පෙළ", "label": 1})
    assert (asked.id, asked.target, asked.metadata) == ("7", "OFF", {"references": "OFF"})
    assert asked.input == prompts()["sold"].text.format(text="පෙළ")
