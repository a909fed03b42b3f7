"""A metric's demo page apart from its looks: what is on it, and what is computed.

The metric's own script runs, through ``evaluate.load``, so that the page shows what users get.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import evaluate

from toxeval import plots
from toxeval.core.declarations import GROUP
from toxeval.page.cells import Refused, cell_of, inputs_of, refusal
from toxeval.page.controls import Option
from toxeval.page.results import downloads_html, empty_html, message_html, picture_html, scores_html, snippet

#: The options every metric has.
COMMON = (
    Option(
        "zero_division",
        "Zero division",
        "choice",
        "Value of a precision, recall or F1 with a zero denominator.",
        choices=(("0", 0.0), ("1", 1.0), ("nan", float("nan"))),
        more=True,
    ),
    Option(
        "confidence_level",
        "Confidence level",
        "choice",
        "Of the intervals; in code there are none by default.",
        choices=(("none", None), ("90 %", 0.9), ("95 %", 0.95), ("99 %", 0.99)),
    ),
    Option("detailed", "Detailed", "flag", "More scores, and counts."),
    Option("n_resamples", "Resamples", "whole", "For intervals without a closed form.", low=1, high=5_000, more=True),
    Option("seed", "Seed", "whole", "Of the resamples.", high=2**31, more=True),
    Option("stratify", "Stratify", "flag", "Resample within each class of the references.", more=True),
)
#: What the page shows at first where the metric's own default would leave it poorer.
SHOWN_AT_FIRST = {"confidence_level": 0.95}


@dataclass(frozen=True)
class Example:
    """Rows to start from; options not named are at the page's defaults."""

    name: str
    rows: Sequence[Sequence[Any]]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Run:
    """One computation: what a picture may need of it."""

    metric: Any
    inputs: Mapping[str, Any]
    options: Mapping[str, Any]
    result: Mapping[str, Any]

    @cached_property
    def state(self) -> Any:
        """What the metric counts."""
        with_rows = self.metric.options.keys() - self.metric.score_options.keys()
        return self.metric.state(**self.inputs, **{k: v for k, v in self.options.items() if k in with_rows})

    @cached_property
    def undefined(self) -> Mapping[str, str]:
        """Key -> why it has no value, of which ``compute`` only warns."""
        chosen = {k: v for k, v in self.options.items() if k in self.metric.score_options}
        reasons: Mapping[str, str] = self.metric.score(self.state, **chosen).undefined
        return reasons

    @property
    def script(self) -> Any:
        """The module of the metric's script."""
        return sys.modules[type(self.metric).__module__]


def confusions(run: Run) -> Any:
    """The metric's confusion matrices."""
    return plots.confusion(run.metric.confusions(run.state))


@dataclass(frozen=True, eq=False)
class Page:
    """What a metric's `app.py` says about it.

    Attributes:
        folder: the metric's; its name is the metric's.
        title, question: heading, and the question the metric answers.
        examples: the first is there when the page opens. Their rows have a cell for each of `columns`.
        options: the metric's own, beside `COMMON`.
        cards: key -> name of the scores shown large.
        draw: the picture: a matplotlib Figure, or why there is none.
        picture: its description.
    """

    folder: Path
    title: str
    question: str
    examples: Sequence[Example]
    options: Sequence[Option]
    cards: Mapping[str, str]
    draw: Callable[[Run], Any] = confusions
    picture: str = "Confusion matrix: rows are references, columns predictions."

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.folder.name

    @property
    def module(self) -> str:
        """What to hand to ``evaluate.load``: on the Hub the Space's id, elsewhere the folder."""
        return os.environ.get("SPACE_ID") or os.path.relpath(self.folder / f"{self.name}.py")

    @cached_property
    def kinds(self) -> Mapping[str, Mapping[str, str]]:
        """Configuration -> column -> what its cells hold; ``predictions.intent`` is the field of a record."""
        kinds: dict[str, dict[str, str]] = {config: {} for config in self.classes}
        for config, metric in self.classes.items():
            for name, kind in metric.kinds.items():
                if isinstance(kind, dict):
                    kinds[config] |= {f"{name}.{field}": part for field, part in kind.items()}
                elif kind != GROUP:  # a cluster is a refinement for code
                    kinds[config][name] = kind
        return kinds

    @property
    def columns(self) -> list[str]:
        """The columns of the table; every configuration has the same."""
        return list(next(iter(self.kinds.values())))

    @cached_property
    def classes(self) -> Mapping[str, Any]:
        """Configuration -> a module of it. Each computation makes its own: modules hold rows."""
        script = str(self.folder / f"{self.name}.py")
        return {config: evaluate.load(script, config) for config in evaluate.load(script).configs}

    @cached_property
    def required(self) -> list[str]:
        """The inputs that can't be left out."""
        return [name for name, needed in next(iter(self.classes.values())).inputs.items() if needed]

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """Option -> the metric's own default."""
        metric = next(iter(self.classes.values()))
        return {"config_name": next(iter(self.classes)), **metric.options, **metric.interval_options}

    @cached_property
    def controls(self) -> list[Option]:
        """All options on the page, the metric's own first; those few need last."""
        return sorted([*self.options, *COMMON], key=lambda option: option.more)

    def run(self, columns: Mapping[str, Sequence[Any]], shown: Sequence[Any]) -> list[Any]:
        """Compute, and say so on the page.

        Args:
            columns: column -> cells.
            shown: what each of `controls` shows.

        Returns:
            Values for the outputs: two messages (rows, options), scores, picture, code, downloads.
        """
        try:
            return self._run(columns, shown)
        except Refused as error:
            return self.refused(error)

    @staticmethod
    def refused(error: Refused) -> list[Any]:
        """What `run` returns where there is no result."""
        messages = [message_html(str(error)), ""]
        if error.beside == "options":
            messages.reverse()
        return [*messages, empty_html("No result: see the message beside the input."), "", "", ""]

    def _run(self, columns: Mapping[str, Sequence[Any]], shown: Sequence[Any]) -> list[Any]:
        chosen = {option.name: option.value(value) for option, value in zip(self.controls, shown)}
        config = chosen.pop("config_name", "default")
        metric = type(self.classes[config])(config_name=config)
        inputs = inputs_of(columns, self.kinds[config], self.required)
        options = {name: value for name, value in chosen.items() if repr(value) != repr(self.defaults[name])}
        try:
            result = metric.compute(**inputs, **options)
        except ValueError as error:
            raise refusal(self.name, str(error)) from None
        run = Run(metric, inputs, {**self.defaults, **options}, result)
        n_rows = run.state.n_rows
        saved = {"metric": self.module, "config_name": config, "options": options, "n_rows": n_rows, "scores": result}
        code = snippet(self.module, config, inputs, options, n_rows)
        files = {"result.json": saved} | ({"inputs.json": inputs} if "inputs.json" in code else {})
        return [
            "",
            "",
            scores_html(result, self.cards, run.undefined, chosen["confidence_level"], n_rows),
            picture_html(lambda: self.draw(run), self.picture),
            code,
            downloads_html(files),
        ]

    def shown(self, options: Mapping[str, Any]) -> list[Any]:
        """What the controls show for some options, the others at the page's defaults."""
        values = {**self.defaults, **SHOWN_AT_FIRST, **options}
        return [option.shown(values[option.name]) for option in self.controls]

    @cache  # noqa: B019  there is one page a process
    def example(self, number: int) -> list[Any]:
        """An example's table, what the controls show, and its result."""
        example = self.examples[number]
        rows = [[cell_of(cell) for cell in row] for row in example.rows]
        shown = self.shown(example.options)
        return [rows, *shown, *self.run(dict(zip(self.columns, map(list, zip(*rows)))), shown)]
