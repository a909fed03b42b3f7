"""A metric's demo page apart from its looks: what is on it, and what it answers a browser or a program."""

import base64
import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from toxeval.core.declarations import INTERVAL_OPTIONS, Choice, Definition, GridWidth, Option, Picture
from toxeval.core.refusals import Refusal, refuse
from toxeval.page import results, scoring
from toxeval.page.controls import answers_of, choice, control, values_of
from toxeval.page.rows import BY, LIMITS, Given, columns_said, open_given, read_given
from toxeval.page.words import sentence
from toxeval.read import open_bytes

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
        file: the `app.py`, which has the card beside it.
        definitions: configuration -> the metric in it.
        title, question: heading, and the question the metric answers.
        examples: the first is there when the page opens.
        cards: key -> name of the scores shown large, the most important first; those that the result has are shown.
        alt: what the picture shows, for those who can't see it.
        configs: configuration -> what is scored in it, where there are several.
        options: names of the options that aren't folded away.
        picture: (system -> state, system -> result, options) -> `Picture`, where the page's isn't the definition's.
    """

    file: str
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

    @property
    def card(self) -> str:
        """The card without its front matter."""
        return Path(self.file).with_name("README.md").read_text("utf-8").partition("\n---\n")[2]

    @cached_property
    def controls(self) -> Mapping[str, Option]:
        """The options of all configurations; a grid bounds the memory of more rows than a page takes."""
        every = [option for each in self.definitions.values() for option in (*each.options, *INTERVAL_OPTIONS)]
        first = [option for name in (*self.options, "confidence_level") for option in every if option.name == name]
        return {option.name: option for option in [*first, *every] if not isinstance(option, GridWidth)}

    def options_html(self, number: int) -> str:
        """The form's options, as an example has them, those that few need folded away."""
        example, first = self.examples[number], {*self.options, "confidence_level"}
        values = AT_FIRST | dict(example.options)
        shown = {name: control(option, values.get(name, option.default)) for name, option in self.controls.items()}
        configs = {config: self.configs.get(config, config) for config in self.definitions}
        scored = choice("config_name", "What is scored", configs, example.config) if len(configs) > 1 else ""
        seen, folded = (
            "".join(shown[name] for name in shown if (name in first) == at_once) for at_once in (True, False)
        )
        return f"{scored}{seen}<details><summary>More options</summary>{folded}</details>"

    # What a browser asks for.

    def read(self, given: Mapping[str, Any]) -> Answer:
        """How rows are read, as HTML; ``refused`` is whether there is nothing that can be scored."""
        definition, _ = self._asked(given.get("options"))
        reading = read_given(definition, given)
        return {"html": results.reading_html(definition, reading), "refused": reading.n_rows == 0}

    def score(self, given: Mapping[str, Any]) -> Answer:
        """Scores as HTML, what is said of them aloud, and the files; or a message, and the option it is about."""
        try:
            scored, rows = self._scored(given)
        except Refusal as refusal:
            return {"message": sentence(refusal), "option": refusal.option.partition("[")[0]}
        files, cards = scoring.tables(scored.result), scored.cards or self.cards
        code = {
            "In Python": scoring.python_lines(scored, rows.saved_as),
            "As a command": scoring.command_lines(scored, rows.saved_as),
        }
        names = [*files, *([] if rows.saved_as == rows.file else [rows.saved_as])]
        return {
            "html": results.scores_html(scored, cards, names, code),
            "status": results.status(scored, cards),
            "files": files,
            "rows": {"name": rows.saved_as, "header": rows.header},
        }

    def draw(self, given: Mapping[str, Any]) -> Answer:
        """The picture as HTML, and its files in base64."""
        try:
            scored, _ = self._scored(given)
            files = scoring.picture(scored, self.picture, narrow=given.get("narrow") is True)
        except (Refusal, ImportError) as error:
            why = sentence(error) if isinstance(error, Refusal) else "matplotlib is not installed."
            return {"html": results.note_html(f"No picture: {why}"), "files": {}}
        encoded = {name: base64.b64encode(content).decode() for name, content in files.items()}
        alt = "Rates as they are and as corrected, with intervals." if scored.cards else self.alt
        return {"html": results.picture_html(encoded, alt), "files": encoded}

    @cache  # noqa: B019  there is one page a process
    def example(self, number: int, narrow: bool = False) -> Answer:
        """An example: its rows, the options, and what the page answers to them, its picture perhaps for a phone."""
        example = self.examples[number]
        options = {"config_name": example.config, **AT_FIRST, **example.options}
        given = {"text": example.text, "options": options, "narrow": narrow}
        answers = {"read": self.read(given), "score": self.score(given), "draw": self.draw(given)}
        return {"text": example.text, "options": self.options_html(number), **answers}

    # What a program asks for.

    def result(self, columns: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        """The result file of some columns, as JSON has it.

        Raises:
            Refusal: for what can't be scored.
        """
        definition, given = self._asked(options)
        answers, by = answers_of(given), str(given.pop(BY, ""))
        for name in given.keys() - self.controls.keys():
            allowed = ", ".join([*self.controls, "answers", "aliases", BY, "config_name"])
            refuse("unknown", allowed, where=f"option {name[:40]}")
        table = open_bytes("columns.json", json.dumps(columns).encode(), limits=LIMITS)
        said = columns_said(definition, {}, table) | ({BY: by} if by else {})
        scored = scoring.score(definition, table, said, self._values(definition, given), answers)
        return json.loads(scored.result.to_json())

    def _asked(self, options: Any) -> tuple[Definition, dict[str, Any]]:
        """The metric in the configuration that is asked for, and the other options."""
        given = dict(options) if isinstance(options, Mapping) else {}
        first = next(iter(self.definitions))
        choice = Choice("config_name", "", first, choices=tuple(self.definitions))
        return self.definitions[choice.check(given.pop("config_name", first))], given

    def _values(self, definition: Definition, given: Mapping[str, Any]) -> dict[str, Any]:
        own = {option.name for option in (*definition.options, *INTERVAL_OPTIONS)}
        return values_of({name: option for name, option in self.controls.items() if name in own}, given)

    def _scored(self, given: Mapping[str, Any]) -> tuple[scoring.Scored, Given]:
        definition, shown = self._asked(given.get("options"))
        answers = answers_of(shown)
        options, rows = self._values(definition, shown), open_given(definition, given)
        said = columns_said(definition, given, rows.table)
        return scoring.score(definition, rows.table, said, options, answers), rows
