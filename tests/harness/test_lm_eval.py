"""lm-evaluation-harness as a whole command, with its dummy model, whose answers come out of the harness's cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from asked import TASKS, answers, computed, differences, scored_log

from toxeval.harness.lm_eval import TASKS as YAML
from toxeval.harness.tasks import DATA, prompts, rows
from toxeval.read.layouts.logs import from_lm_eval

pytestmark = pytest.mark.skipif(
    find_spec("lm_eval") is None, reason="lm-evaluation-harness is not installed: pip install 'lm-eval>=0.4.9'"
)
every = pytest.mark.parametrize("task", TASKS)


@dataclass(frozen=True)
class Run:
    """Its results as JSON, task -> the lines of its samples, and task -> their file."""

    results: Mapping[str, Any]
    samples: Mapping[str, list[dict[str, Any]]]
    logs: Mapping[str, Path]

    def scores(self, task: str) -> dict[str, Any]:
        found = self.results["results"][f"toxeval_{task}"]
        scores = {key.removesuffix(",none"): value for key, value in found.items() if key.endswith(",none")}
        return {key: value for key, value in scores.items() if not key.endswith("_stderr")}


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    home = tmp_path_factory.mktemp("lm_eval")
    environment = os.environ | {DATA: str(data), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA, str(data))
        remember(home / "answers_rank0.db")

    def python(*arguments: str) -> str:
        command = [sys.executable, "-m", *arguments]
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip()

    folder = python("toxeval.harness", "path")
    options = ["--model", "dummy", "--tasks", "toxeval", "--use_cache", str(home / "answers"), "--log_samples"]
    python("lm_eval", *options, "--include_path", folder, "--output_path", str(home / "out"))
    (results,) = home.glob("out/*/results_*.json")
    samples = {task: next(results.parent.glob(f"samples_toxeval_{task}_*.jsonl")) for task in TASKS}
    lines = {task: path.read_text(encoding="utf-8").splitlines() for task, path in samples.items()}
    return Run(
        json.loads(results.read_text(encoding="utf-8")),
        {task: [json.loads(line) for line in each] for task, each in lines.items()},
        samples,
    )


def remember(path: Path) -> None:
    """Write the answers into a cache of the harness: the dummy model would say "lol" to everything."""
    from lm_eval.api.model import hash_args
    from sqlitedict import SqliteDict

    options = yaml.safe_load((YAML / "shared").read_text(encoding="utf-8"))["generation_kwargs"]
    with SqliteDict(str(path), autocommit=True) as cache:
        for task, prompt in prompts().items():
            asked = [row["prompt"] for row in rows(prompt)]
            for question, answer in zip(asked, answers(task, len(asked))):
                cache[hash_args("generate_until", (question, options))] = answer


@every
def test_the_model_was_asked_and_answered_as_the_prompt_says(run: Run, in_data: Path, task: str) -> None:
    asked = rows(prompts()[task])
    records = run.samples[task]
    assert [record["arguments"]["gen_args_0"]["arg_0"] for record in records] == [row["prompt"] for row in asked]
    assert [record["filtered_resps"] for record in records] == [[answer] for answer in answers(task, len(asked))]


@every
def test_all_scores_are_those_of_compute_on_the_logged_answers(run: Run, task: str) -> None:
    records = run.samples[task]
    given = {name: [record["doc"][name] for record in records] for name in prompts()[task].columns}
    assert given["references"] == [record["target"] for record in records]
    expected = computed(task, [record["filtered_resps"][0] for record in records], given)
    assert differences(run.scores(task), expected) == []


@every
def test_the_command_gives_the_log_the_same_scores(run: Run, task: str) -> None:
    assert differences(scored_log(task, "lm-eval", run.logs[task]), run.scores(task)) == []


@every
def test_standard_errors_are_not_available_and_the_headline_has_an_interval(run: Run, task: str) -> None:
    found = run.results["results"][f"toxeval_{task}"]
    assert {value for key, value in found.items() if key.endswith("_stderr,none")} == {"N/A"}
    headline = prompts()[task].headline
    assert 0 < found[f"{headline}_low,none"] < found[f"{headline},none"] < found[f"{headline}_high,none"] < 1
    better = run.results["higher_is_better"][f"toxeval_{task}"]
    assert {key for key, higher in better.items() if higher} == {headline}


@every
def test_results_keep_the_prompt_and_its_version(run: Run, task: str) -> None:
    prompt = prompts()[task]
    about = run.results["configs"][f"toxeval_{task}"]["metadata"]
    assert (about["prompt"], about["answers"], about["version"]) == (prompt.text, prompt.rule, prompt.version)
    assert run.results["versions"][f"toxeval_{task}"] == prompt.version


@every
def test_the_log_is_read_as_answers(run: Run, in_data: Path, task: str) -> None:
    prompt = prompts()[task]
    asked = rows(prompt)
    read = list(map(from_lm_eval, run.samples[task]))
    assert [each.id for each in read] == [row["id"] for row in asked]
    assert [each.answer for each in read] == answers(task, len(asked))
    assert [each.reference for each in read] == [row["references"] for row in asked]
    given = {name: [each.others[name] for each in read] for name in prompt.columns}
    assert given == {name: [row[name] for row in asked] for name in prompt.columns}
