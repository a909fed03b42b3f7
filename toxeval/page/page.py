"""A metric's demo page apart from its looks: what is on it, and what it answers a browser or a program."""

import base64
import csv
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from toxeval.core.declarations import Choice, Definition, Option, Picture
from toxeval.core.refusals import Refusal, refuse
from toxeval.page import results, scoring
from toxeval.page.controls import options_of, shown, values_of
from toxeval.page.rows import LIMITS, columns_said, file_name, open_given, read_given
from toxeval.page.words import sentence
from toxeval.read import Table, open_bytes

#: What a browser sends, and what it gets.
Given = Mapping[str, Any]
Answer = dict[str, Any]
#: What the page shows at first where a default would leave it poorer.
AT_FIRST = {"confidence_level": 0.95}


@dataclass(frozen=True)
class Example:
    """Rows to start from.

    Attributes:
        name: what its button says.
        columns: column -> values, all of the same length; a sequence is a text with its labels between spaces.
        config: the configuration.
        options: those that aren't as the page has them at first.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    config: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The rows as CSV."""
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([self.columns, *zip(*self.columns.values())])
        return lines.getvalue()


@dataclass(frozen=True, eq=False)
class Page:
    """What a metric's `app.py` says about it.

    Attributes:
        folder: the metric's, with its card.
        definitions: configuration -> the metric in it.
        title, question: heading, and the question the metric answers.
        examples: the first is there when the page opens.
        cards: key -> name of the scores shown large, the most important first; those that the result has are shown.
        alt: what the picture shows, for those who can't see it.
        configs: configuration -> what is scored in it, where there are several.
        options: names of the options that aren't folded away.
        picture: (system -> state, system -> result, options) -> `Picture`, where the page's isn't the definition's.
    """

    folder: Path
    definitions: Mapping[str, Definition]
    title: str
    question: str
    examples: Sequence[Example]
    cards: Mapping[str, str]
    alt: str = "Confusion matrix: rows are references, columns predictions."
    configs: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    picture: Callable[..., Picture] | None = None

    @property
    def name(self) -> str:
        """The metric's name."""
        return next(iter(self.definitions.values())).name

    @cached_property
    def controls(self) -> Mapping[str, Option]:
        """The options of all configurations."""
        return options_of(list(self.definitions.values()))

    def at_first(self, name: str) -> Any:
        """The value of an option as the page opens."""
        return AT_FIRST.get(name, self.controls[name].default)

    # What a browser asks for.

    def read(self, given: Given) -> Answer:
        """How rows are read, as HTML; ``refused`` is whether there is nothing that can be scored."""
        reading = read_given(self._definition(given.get("config")), given)
        return {"html": results.reading_html(reading), "refused": reading.n_rows == 0}

    def score(self, given: Given) -> Answer:
        """Scores as HTML, what is said of them aloud, and the files; or a message, and the option it is about."""
        try:
            scored, table, named = self._scored(given)
        except Refusal as refusal:
            return {"message": sentence(refusal), "option": refusal.option.partition("[")[0]}
        file = file_name(given, table, named)
        code = {
            "In Python": scoring.python_lines(scored, os.environ.get("SPACE_ID", ""), file),
            "As a command": scoring.command_lines(scored, file),
        }
        files = scoring.tables(scored)
        kept = [] if named and given.get("file") else [file]
        return {
            "html": results.scores_html(scored, self.cards, [*files, *kept], code),
            "status": results.status(scored, self.cards),
            "files": files,
            "rows": {"name": file, "head": "" if named else table.separator.join(table.columns) + "\n"},
        }

    def draw(self, given: Given) -> Answer:
        """The picture as HTML, and its files in base64."""
        try:
            files, wide = scoring.picture(self._scored(given)[0], self.picture)
        except (Refusal, ImportError) as error:
            why = sentence(error) if isinstance(error, Refusal) else "matplotlib is not installed."
            return {"html": results.note_html(f"No picture: {why}"), "files": {}}
        encoded = {name: base64.b64encode(content).decode() for name, content in files.items()}
        return {"html": results.picture_html(encoded, self.alt, wide=wide), "files": encoded}

    @cache  # noqa: B019  there is one page a process
    def example(self, number: int) -> Answer:
        """An example: its rows, what the controls show, and what the page answers to them."""
        example = self.examples[number]
        options = {n: shown(o, example.options.get(n, self.at_first(n))) for n, o in self.controls.items()}
        given = {"text": example.text, "config": example.config, "options": options}
        return {**given, "read": self.read(given), "score": self.score(given), "draw": self.draw(given)}

    # What a program asks for.

    def result(self, columns: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        """The result file of some columns, as JSON has it.

        Raises:
            Refusal: for what can't be scored.
        """
        given = dict(options)
        definition = self._definition(given.pop("config_name", None))
        for name in set(given) - set(options_of([definition])):
            refuse("unknown", ", ".join(options_of([definition])), where=f"option {name[:40]}")
        table = open_bytes("columns.json", json.dumps(columns).encode(), limits=LIMITS)
        scored = scoring.score(definition, table, {}, values_of(options_of([definition]), given))
        return json.loads(scored.result.to_json())

    def _definition(self, config: Any) -> Definition:
        chosen = Choice("config_name", "", next(iter(self.definitions)), choices=tuple(self.definitions))
        return self.definitions[chosen.default if config is None else chosen.check(config)]

    def _scored(self, given: Given) -> tuple[scoring.Scored, Table, bool]:
        """Scores, the table, and whether that has its columns' names."""
        definition = self._definition(given.get("config"))
        shown_now = given.get("options")
        options = values_of(options_of([definition]), shown_now if isinstance(shown_now, dict) else {})
        table, named = open_given(definition, given)
        return scoring.score(definition, table, columns_said(given, table), options), table, named
