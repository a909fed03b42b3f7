"""The tasks for lm-evaluation-harness (``lm-eval``): what the YAML files in `TASKS` name.

The harness scores documents and averages; here a document only says what was answered and what is right, and each score
is that of all documents, which for a macro F1 is another number.

    lm-eval run --tasks toxeval_sold --include_path "$(python -m toxeval.harness path)" --model ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toxeval.core.prompt import Prompt

from . import tasks
from .tasks import Row

#: The folder for ``--include_path``.
TASKS = Path(__file__).with_name("lm_eval_tasks")


def named_in_yaml() -> dict[str, Any]:
    """What the YAML files name: for each task ``<task>_about``, ``_data``, ``_result`` and ``_metrics``."""
    found: dict[str, Any] = {}
    for task, prompt in tasks.prompts().items():
        parts = {"about": about(prompt), "data": data(prompt), "result": result(prompt), "metrics": metrics(prompt)}
        found |= {f"{task}_{name}": part for name, part in parts.items()}
    return found


def about(prompt: Prompt) -> dict[str, Any]:
    """The task's metadata, which the harness keeps with the results."""
    return {
        "version": prompt.version,
        "prompt": prompt.text,
        "answers": prompt.rule,
        "aliases": dict(prompt.aliases),
        "metric": prompt.definition.full_name,
    }


def data(prompt: Prompt) -> Callable[..., dict[str, Any]]:
    """The function that loads the documents; the harness hands it all metadata, of which it takes two."""

    def load(data_dir: str | None = None, split: str | None = None, **_: Any) -> dict[str, Any]:
        import datasets

        return {"test": datasets.Dataset.from_list(tasks.rows(prompt, data_dir=data_dir, split=split))}

    return load


def result(prompt: Prompt) -> Callable[[Row, Sequence[str]], dict[str, list[str]]]:
    """The function from a document and its answer to what the scores need: the prediction and the other inputs, in a
    list, since the harness logs them once for each score.
    """
    keys = tasks.keys(prompt)

    def read(document: Row, answers: Sequence[str]) -> dict[str, list[str]]:
        return dict.fromkeys(keys, [tasks.read(prompt, answers)[0], *(document[name] for name in prompt.columns)])

    return read


def metrics(prompt: Prompt) -> list[dict[str, Any]]:
    """The scores, each a function of the results of all documents. The harness has N/A for their standard errors: the
    headline has the ends of its interval instead, as scores of their own.
    """
    inputs = ("predictions", *prompt.columns)
    last: tuple[Sequence[list[str]], Mapping[str, Any]] = ((), {})

    def scores(results: Sequence[list[str]]) -> Mapping[str, Any]:
        nonlocal last
        if results != last[0]:  # those of each score are the same objects: to compare them takes no time
            last = results, tasks.score(prompt, [dict(zip(inputs, values)) for values in results])
        return last[1]

    def of_all(key: str) -> Callable[[Sequence[list[str]]], float]:
        def corpus_score(results: Sequence[list[str]]) -> float:
            return float(scores(results)[key])

        return corpus_score

    better = {prompt.headline: True, "invalid_rate": False}
    return [
        {"metric": key, "aggregation": of_all(key), "higher_is_better": better.get(key)} for key in tasks.keys(prompt)
    ]
