"""The tasks for inspect (``inspect_ai``), which finds them by this package's entry point.

    inspect eval toxeval/sold --model ...

An answer's score only says what was answered and what is right; each metric is that of all answers together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState, generate

from toxeval.core.prompt import Prompt

from .tasks import Row, prompts, read, rows, score


@metric(scores="unreduced")
def corpus_scores() -> Metric:
    """All scores of a task, from all its answers. With several epochs each answer is a row of its own; the interval of
    the headline is nan then, since rows that share a question say less than as many others.
    """

    def corpus(samples: list[SampleScore]) -> Mapping[str, float]:
        given = [dict(sample.score.metadata or {}) for sample in samples]
        prompt = prompts()[given[0]["task"]]
        predictions = read(prompt, [sample.score.answer for sample in samples])
        found = score(prompt, [row | {"predictions": each} for row, each in zip(given, predictions)])
        if len({sample.sample_id for sample in samples}) < len(samples):
            found |= dict.fromkeys((f"{prompt.headline}_low", f"{prompt.headline}_high"), math.nan)
        return {key: float(value) for key, value in found.items()}

    return corpus


@scorer(metrics=[corpus_scores()])
def label(task: str) -> Scorer:
    """Whether an answer is right, and what `corpus_scores` needs of it.

    Args:
        task: the task's name.
    """
    prompt = prompts()[task]

    async def judge(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        right = read(prompt, [text]) == [target.text]
        inputs = {name: state.metadata[name] for name in prompt.columns}
        return Score(value=CORRECT if right else INCORRECT, answer=text, metadata={"task": task, **inputs})

    return judge


def sample(task: str, record: Mapping[str, Any], number: int = 0) -> Sample:
    """A row of a data set as inspect asks it.

    Args:
        task: the task's name.
        record: the row, as `datasets` gives it.
        number: its position.
    """
    return _sample(prompts()[task], prompts()[task].ask(record, number))


def _sample(prompt: Prompt, row: Row) -> Sample:
    inputs = {name: row[name] for name in prompt.columns}
    return Sample(input=row["prompt"], target=row["references"], id=row["id"], metadata=inputs)


def _task(prompt: Prompt) -> Callable[..., Task]:
    def asked(data_dir: str | None = None, split: str | None = None) -> Task:
        """A benchmark.

        Args:
            data_dir: see `tasks.rows`.
            split: another split of the data set.
        """
        samples = [_sample(prompt, row) for row in rows(prompt, data_dir=data_dir, split=split)]
        data = MemoryDataset(samples, name=prompt.dataset)
        return Task(dataset=data, solver=generate(), scorer=label(prompt.task), version=prompt.version)

    return asked


for _prompt in prompts().values():
    globals()[_prompt.task] = task(name=_prompt.task)(_task(_prompt))
