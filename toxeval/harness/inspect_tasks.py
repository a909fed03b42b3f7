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

from .prompts import Prompt, prompts


@metric(scores="unreduced")
def corpus_scores(task: str) -> Metric:
    """All scores of a task, from all its answers. With several epochs each answer is a row of its own; the interval of
    the headline is nan then, since rows that share a question say less than as many others.

    Args:
        task: its name.
    """
    prompt = prompts()[task]

    def scores(samples: list[SampleScore]) -> Mapping[str, float]:
        given = [dict(sample.score.metadata or {}) for sample in samples]
        predictions = prompt.read([sample.score.answer for sample in samples])
        found = prompt.score([row | {"predictions": each} for row, each in zip(given, predictions)])
        if len({sample.sample_id for sample in samples}) < len(samples):
            found |= dict.fromkeys((f"{prompt.headline}_low", f"{prompt.headline}_high"), math.nan)
        return {key: float(value) for key, value in found.items()}

    return scores


@scorer(metrics=[])
def label(task: str) -> Scorer:
    """Whether an answer is right, and what `corpus_scores` needs of it.

    Args:
        task: the task's name.
    """
    prompt = prompts()[task]

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        prediction = prompt.read([text])[0]
        inputs = {name: state.metadata[name] for name in prompt.columns}
        return Score(value=CORRECT if prediction == target.text else INCORRECT, answer=text, metadata=inputs)

    return score


def _task(prompt: Prompt) -> Callable[..., Task]:
    def asked(data_dir: str | None = None, split: str | None = None) -> Task:
        """A benchmark.

        Args:
            data_dir: see `Prompt.rows`.
            split: another split of the data set.
        """
        samples = []
        for row in prompt.rows(data_dir=data_dir, split=split):
            inputs: dict[str, Any] = {name: row[name] for name in prompt.columns}
            samples.append(Sample(input=row["prompt"], target=row["references"], id=row["id"], metadata=inputs))
        return Task(
            dataset=MemoryDataset(samples, name=prompt.dataset),
            solver=generate(),
            scorer=label(prompt.task),
            metrics=[corpus_scores(prompt.task)],
            version=prompt.version,
        )

    return asked


for _prompt in prompts().values():
    globals()[_prompt.task] = task(name=_prompt.task)(_task(_prompt))
