"""A benchmark as a task for language models: how each row is asked, how answers are read, and what they score.

A metric that can be asked for has a file ``prompts.py`` in its folder, with a tuple ``PROMPTS``. Whoever runs a model
(`lm_eval`, `inspect_tasks`) takes everything from there.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toxeval.answers import Invalid, read_answers
from toxeval.core.declarations import Definition
from toxeval.core.metric import Metric
from toxeval.core.refusals import refuse
from toxeval.data import load_dataset
from toxeval.loading import METRICS

#: The environment variable with a folder in which each data set has a folder of its own name.
DATA = "TOXEVAL_DATA"
#: The level of the headline's interval.
LEVEL = 0.95
#: How the keys end that intervals add.
_OF_INTERVALS = ("_low", "_high", "n_undefined_resamples")

Row = dict[str, Any]


@dataclass(frozen=True)
class Prompt:
    """How a language model is asked for the predictions of a metric.

    Attributes:
        task: the name under which it is run.
        version: a new one for every change that may change an answer or a score.
        definition: the metric, in its configuration.
        dataset, split: what is asked, as `toxeval.load_dataset` calls them.
        columns: input of the metric -> column of the data set; all inputs but the predictions.
        headline: the score that the task is run for; the larger, the better.
        text: the question; ``{name}`` is what the data set has in that column.
        aliases: other words for a label, which the question may use.
        id: the column that tells rows apart; their position if there is none.
        rule: how answers are read, one of `toxeval.answers.RULES`.
    """

    task: str
    version: int
    definition: Definition
    dataset: str
    split: str
    columns: Mapping[str, str]
    headline: str
    text: str
    aliases: Mapping[str, str] = field(default_factory=dict)
    id: str = ""
    rule: str = "exact"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that can be right."""
        references = self.definition.input("references")
        return references.labels if references else ()

    def read(self, answers: Sequence[Any]) -> list[str | Invalid]:
        """Answers as predictions: labels, or why there is none."""
        return read_answers(answers, self.labels, self.rule, aliases=self.aliases)

    def rows(self, *, data_dir: str | os.PathLike[str] | None = None, split: str | None = None) -> list[Row]:
        """The rows of the data set, asked: ``id``, ``prompt`` and the metric's inputs, labels as names.

        Args:
            data_dir: the source's files, or a folder that `toxeval.export` made; else the data set's folder in that of
                the environment variable TOXEVAL_DATA; else it is downloaded.
            split: another split of the data set.

        Raises:
            ValueError: if a row has no label, which is known before any model was asked; or as `load_dataset`.
        """
        return [
            self.row(record, number) for number, record in enumerate(_load(self.dataset, data_dir, split or self.split))
        ]

    def row(self, record: Mapping[str, Any], number: int = 0) -> Row:
        """One of `rows`, from what the data set has there."""
        row = {"id": str(record[self.id] if self.id else number), "prompt": self.text.format(**record)}
        labels = {each.name: each.labels for each in self.definition.inputs}
        for name, column in self.columns.items():
            if record[column] == -1:
                refuse("no label", "a split whose rows all have one", where=f"{self.dataset}: {column}", row=number)
            row[name] = labels[name][record[column]]
        return row

    def score(self, rows: Sequence[Row]) -> dict[str, Any]:
        """What ``compute`` gives for some rows, invalid predictions counted: the headline, the ends of its interval
        (``f1_macro_low``, ``f1_macro_high``), and all other scores.

        Args:
            rows: the metric's inputs, one value each; ``predictions`` as `read` gives them.
        """
        columns = {name: [row[name] for row in rows] for name in ("predictions", *self.columns)}
        metric = Metric(self.definition, invalid="count")
        scores = metric.score_state(metric.state(**columns), confidence_level=LEVEL)
        first = (self.headline, f"{self.headline}_low", f"{self.headline}_high")
        others = [key for key in scores if key not in first and not key.endswith(_OF_INTERVALS)]
        return {key: scores[key] for key in (*first, *others)}

    @property
    def keys(self) -> list[str]:
        """The keys of `score`: they don't depend on the rows."""
        inputs = {each.name: each for each in self.definition.inputs}
        row = {name: inputs[name].labels[0] for name in ("predictions", *self.columns)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a single row leaves undefined
            return list(self.score([row]))


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
