"""How a language model is asked for the predictions of a metric, as data; `toxeval.harness` runs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .declarations import Definition
from .refusals import refuse


@dataclass(frozen=True)
class Prompt:
    """A benchmark as a task for language models.

    Attributes:
        task: the name under which it is run.
        version: a new one for every change that may change an answer or a score.
        definition: the metric, in its configuration.
        dataset, split: what is asked, as ``toxeval.load_dataset`` calls them.
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

    def ask(self, record: Mapping[str, Any], number: int = 0) -> dict[str, str]:
        """A row of the data set as ``id``, ``prompt`` and the metric's inputs, labels as names.

        Args:
            record: the row, labels as ids.
            number: its position.

        Raises:
            Refusal: if it has no label.
        """
        row = {"id": str(record[self.id] if self.id else number), "prompt": self.text.format(**record)}
        labels = {each.name: each.labels for each in self.definition.inputs}
        for name, column in self.columns.items():
            if record[column] == -1:
                refuse("no label", "a split whose rows all have one", where=f"{self.dataset}: {column}", row=number)
            row[name] = labels[name][record[column]]
        return row
