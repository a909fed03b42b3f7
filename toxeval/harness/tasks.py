"""The tasks: their rows, what is read in the answers to them, and what these score.

A metric that a language model can be asked for has a file ``prompts.py`` in its folder, with a tuple ``PROMPTS`` of
`core.prompt.Prompt`. Whoever runs a model (`lm_eval`, `inspect_tasks`) takes everything from there.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toxeval.answers import Invalid, read_answers
from toxeval.core.metric import Metric
from toxeval.core.prompt import Prompt
from toxeval.data import load_dataset
from toxeval.loading import METRICS

#: The environment variable with a folder in which each data set has a folder of its own name.
DATA = "TOXEVAL_DATA"
#: The level of the headline's interval.
LEVEL = 0.95
#: How the keys end that intervals add.
_OF_INTERVALS = ("_low", "_high", "n_undefined_resamples")

Row = Mapping[str, Any]


def prompts() -> dict[str, Prompt]:
    """Task -> its prompt, for all tasks there are.

    >>> sorted(prompts())
    ['conda_intents', 'dia_safety', 'sold', 'threat_seed']
    """
    found: dict[str, Prompt] = {}
    for name in METRICS:
        home = f"toxeval.metrics.{name}"
        if importlib.util.find_spec(f"{home}.prompts") is not None:
            found |= {prompt.task: prompt for prompt in importlib.import_module(f"{home}.prompts").PROMPTS}
    return found


def rows(
    prompt: Prompt, *, data_dir: str | os.PathLike[str] | None = None, split: str | None = None
) -> list[dict[str, str]]:
    """The rows of a task's data set, asked (`Prompt.ask`).

    Args:
        prompt: the task's.
        data_dir: the source's files, or a folder that `toxeval.export` made; else the data set's folder in that of the
            environment variable TOXEVAL_DATA; else it is downloaded.
        split: another split of the data set.

    Raises:
        ValueError: if a row has no label, which is known before any model was asked; or as `load_dataset`.
    """
    records = _load(prompt.dataset, data_dir, split or prompt.split)
    return [prompt.ask(record, number) for number, record in enumerate(records)]


def _load(name: str, data_dir: str | os.PathLike[str] | None, split: str) -> Any:
    """One split of a data set: of the source's files, of an export, or downloaded."""
    if data_dir is None and os.environ.get(DATA):
        data_dir = Path(os.environ[DATA]) / name
    if data_dir is None:
        return load_dataset(name, split=split)
    folder = Path(data_dir).expanduser().absolute()
    if not any(folder.glob("default/*.parquet")):
        return load_dataset(name, split=split, data_dir=folder)
    import datasets

    return datasets.load_dataset(str(folder), "default", split=split)


def read(prompt: Prompt, answers: Sequence[Any]) -> list[str | Invalid]:
    """Answers as predictions: labels, or why there is none."""
    return read_answers(answers, prompt.labels, prompt.rule, aliases=prompt.aliases)


def score(prompt: Prompt, rows: Sequence[Row]) -> dict[str, Any]:
    """What ``compute`` gives for some rows, invalid predictions counted: the headline, the ends of its interval
    (``f1_macro_low``, ``f1_macro_high``), and all other scores.

    Args:
        prompt: the task's.
        rows: the metric's inputs, one value each; ``predictions`` as `read` gives them.
    """
    columns = {name: [row[name] for row in rows] for name in ("predictions", *prompt.columns)}
    metric = Metric(prompt.definition, invalid="count")
    scores = metric.score_state(metric.state(**columns), confidence_level=LEVEL)
    first = (prompt.headline, f"{prompt.headline}_low", f"{prompt.headline}_high")
    others = [key for key in scores if key not in first and not key.endswith(_OF_INTERVALS)]
    return {key: scores[key] for key in (*first, *others)}


def keys(prompt: Prompt) -> list[str]:
    """The keys of `score`: they don't depend on the rows."""
    labels = {each.name: each.labels for each in prompt.definition.inputs}
    row = {name: labels[name][0] for name in ("predictions", *prompt.columns)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a single row leaves undefined
        return list(score(prompt, [row]))
