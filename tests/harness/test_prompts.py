"""Prompts: what is asked, what is read and scored, and what the cards say of it."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from asked import TASKS, answers, computed, differences

from toxeval.answers import Invalid
from toxeval.core.invalid import named
from toxeval.core.prompt import Prompt
from toxeval.core.refusals import Refusal
from toxeval.harness import tasks
from toxeval.harness.lm_eval import TASKS as YAML
from toxeval.harness.tasks import prompts

every = pytest.mark.parametrize("task", TASKS)
#: The first twelve digits of the SHA-256 of what a version asks and reads. A change is a new version, with a new line.
VERSIONS = {
    ("sold", 1): "8b6eab8322c3",
    ("dia_safety", 1): "bb9820f3e0b3",
    ("threat_seed", 1): "6b07ad58392f",
    ("conda_intents", 1): "fec0db3040e8",
}


def test_there_is_a_prompt_and_a_yaml_file_for_each_task() -> None:
    assert set(prompts()) == {task for task, _ in VERSIONS} == set(TASKS)
    assert {path.stem for path in YAML.glob("*.yaml")} == set(TASKS)


@every
def test_what_is_asked_and_read_changes_with_the_version_only(task: str) -> None:
    prompt = prompts()[task]
    asked = [prompt.text, prompt.rule, dict(prompt.aliases), dict(prompt.columns), prompt.dataset, prompt.split]
    digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]
    assert digest == VERSIONS[task, prompt.version]


@every
def test_a_prompt_belongs_to_the_inputs_of_its_metric(task: str) -> None:
    prompt = prompts()[task]
    inputs = {each.name: each for each in prompt.definition.inputs}
    assert set(prompt.columns) <= set(inputs)
    assert all(inputs[name].gold for name in prompt.columns)
    assert {name for name, each in inputs.items() if each.required} <= {"predictions", *prompt.columns}
    assert prompt.headline in tasks.keys(prompt)
    assert len(set(tasks.keys(prompt))) == len(tasks.keys(prompt))
    assert tasks.read(prompt, [f"{word}." for word in prompt.aliases]) == list(prompt.aliases.values())


@every
def test_the_question_names_every_word_that_may_be_answered(task: str) -> None:
    prompt = prompts()[task]
    words = {word: word for word in prompt.labels} | dict(prompt.aliases)
    asked = prompt.text.partition("Answer with one word: ")[2].partition("\n")[0]
    assert {label for word, label in words.items() if len(word) > 1 and named(asked, [word])} == set(prompt.labels)


@every
def test_rows_are_asked_the_same_of_the_sources_files_and_of_an_export(
    task: str, sources_folder: Path, in_data: Path
) -> None:
    prompt = prompts()[task]
    rows = tasks.rows(prompt)
    assert len(rows) > 20
    assert (
        rows
        == tasks.rows(prompt, data_dir=sources_folder / prompt.dataset)
        == tasks.rows(prompt, data_dir=in_data / prompt.dataset)
    )
    assert len({row["id"] for row in rows}) == len(rows)
    assert set(rows[0]) == {"id", "prompt", *prompt.columns}
    assert all(row["prompt"].endswith("\nAnswer:") for row in rows)


def test_texts_stand_in_the_question_as_they_are(in_data: Path) -> None:
    rows = tasks.rows(prompts()["dia_safety"])
    assert "\nPerson: Question 1, in {brackets}?\nChatbot:  Reply 1.\nAnswer:" in rows[1]["prompt"]
    assert "\nChatbot: \nAnswer:" in rows[0]["prompt"]
    assert (rows[1]["id"], rows[1]["references"], rows[1]["categories"]) == ("1", "Unsafe", "Risk Ignorance")


def test_another_split(in_data: Path) -> None:
    assert len(tasks.rows(prompts()["sold"], split="train")) == 3


def test_rows_without_labels_are_refused_before_a_model_is_asked(in_data: Path) -> None:
    with pytest.raises(Refusal, match="^conda: intent: no label; allowed: a split whose rows all have one"):
        tasks.rows(prompts()["conda_intents"], split="test")


def columns(rows: list[dict[str, Any]], prompt: Prompt) -> dict[str, list[str]]:
    return {name: [row[name] for row in rows] for name in prompt.columns}


def scored(prompt: Prompt, rows: list[dict[str, Any]], answers: list[str]) -> dict[str, Any]:
    return tasks.score(prompt, [row | {"predictions": label} for row, label in zip(rows, tasks.read(prompt, answers))])


@every
def test_scores_are_those_of_compute(task: str, in_data: Path) -> None:
    prompt = prompts()[task]
    rows = tasks.rows(prompt)
    said = answers(task, len(rows))
    scores = scored(prompt, rows, said)
    assert list(scores) == tasks.keys(prompt)
    assert differences(scores, computed(task, said, columns(rows, prompt))) == []
    assert 0 < scores["n_invalid"] < len(rows)
    assert scores[prompt.headline] not in (0.0, 1.0)


def test_a_score_without_a_value_is_nan(in_data: Path) -> None:
    prompt = prompts()["dia_safety"]
    row = tasks.rows(prompt)[0]
    with pytest.warns(UserWarning, match="no reply in the category"):
        assert math.isnan(scored(prompt, [row], ["Safe"])["f1_macro_biased_opinion"])


def test_only_labels_that_can_be_right_are_read() -> None:
    assert tasks.read(prompts()["dia_safety"], ["Utterance-Unsafe"]) == [Invalid("no_label")]


def test_answers_that_cannot_be_read_say_why() -> None:
    prompt = prompts()["conda_intents"]
    assert tasks.read(prompt, ["explicit", "I", "I don't know", None]) == [
        "E",
        "I",
        Invalid("no_label"),
        Invalid("empty"),
    ]


# --- the cards ------------------------------------------------------------------------------------------------------

SECTION = """\
### Prompting a language model

Task `{task}`, version {version}: the rows of `{dataset}`, split `{split}`, each asked with

```
{text}
```

The rule for answers is `{rule}` of `toxeval.answers`. The whole answer must be
{words};
case, markdown, quotes and punctuation don't matter. Anything else is invalid, and counted as by `invalid="count"`.

With lm-evaluation-harness and with inspect (the extras `lm-eval` and `inspect`):

```
lm-eval run --tasks toxeval_{task} --include_path "$(python -m toxeval.harness path)" \\
    --model hf --model_args pretrained=MODEL
inspect eval toxeval/{task} --model PROVIDER/MODEL
```

Both give all scores, of all answers together, and the interval of `{headline}`. Your own copy of the data, or an export
of it, is `--metadata '{{"data_dir": "FOLDER"}}'` or `-T data_dir=FOLDER`; or the folder `{dataset}` in the one that the
environment variable `TOXEVAL_DATA` names.
"""


@every
def test_the_card_prints_the_prompt_and_the_commands(task: str, checkout: Path) -> None:
    prompt = prompts()[task]
    card = (checkout / "metrics" / prompt.definition.name / "README.md").read_text(encoding="utf-8")
    words = [f"`{word}`" for word in (*prompt.aliases, *prompt.labels)]
    said = SECTION.format(**vars(prompt), words=f"{', '.join(words[:-1])} or {words[-1]}")
    assert said in card


@every
def test_yaml_files_say_nothing_of_their_own(task: str) -> None:
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))
    content = yaml.load((YAML / f"{task}.yaml").read_text(encoding="utf-8"), Loader)
    parts = {"custom_dataset": "data", "process_results": "result", "metric_list": "metrics", "metadata": "about"}
    named = {key: f"tasks.{task}_{part}" for key, part in parts.items()}
    assert content == {"include": "shared", "task": f"toxeval_{task}", **named}
