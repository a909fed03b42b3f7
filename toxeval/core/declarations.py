"""What a metric takes, as data: its inputs, its options, and the functions that make it up.

An option stands here once, with its name, kind, default, range and a sentence. ``compute``, the command's help, the
controls of a page, the signature of a result and the card's table all follow from it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .group_states import AtOnce
from .judged_rate import JudgedRate
from .refusals import BOOLS, Known, describe, is_number, refuse
from .scoring import Scores
from .state import State
from .thresholds import Thresholds

# --- inputs -------------------------------------------------------------------------------------------------------

#: What a row of an input holds: a label's name or id; a number, or two; several labels; fields with names; what tells
#: groups of rows apart.
LABEL, SCORE, SEQUENCE, RECORD, GROUP = "label", "score", "sequence", "record", "group"
#: A text that is read as a label.
TEXT = "text"


@dataclass(frozen=True)
class Input:
    """One of the columns a metric takes.

    Attributes:
        name: what ``compute`` calls it.
        kind: what a row of it holds: `LABEL`, `SCORE`, `SEQUENCE`, `RECORD` or `GROUP`.
        about: a sentence about it.
        labels: the declared names, in the order of their ids.
        fields: of a record.
        required: whether it must be there.
        gold: whether it belongs to the data and not to a system: all systems that are compared share it.
        also: further names of columns it is looked for under, beside its own in the plural and the singular.
        numbers: whether labels may also come as fractions.
        probabilities: whether scores are probabilities, or their logits, which may come in two columns, of the negative
            and of the positive class; otherwise they are any finite numbers.
        sparse: whether some rows may have none: None or an empty cell.
        empty_means: of sequences in a table: (column, label), where an empty one stands for that label at every word
            of that column.
        in_layouts: further names of columns in files of some layouts (`toxeval.read.layouts`): (layout, column).
    """

    name: str
    kind: str
    about: str = ""
    labels: tuple[str, ...] = ()
    fields: tuple["Input", ...] = ()
    required: bool = True
    gold: bool = False
    also: tuple[str, ...] = ()
    numbers: bool = False
    probabilities: bool = True
    sparse: bool = False
    empty_means: tuple[str, Any] | None = None
    in_layouts: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of columns in which it is looked for.

        >>> Input("categories", LABEL).columns
        ('categories', 'category')
        """
        return tuple(dict.fromkeys((self.name, singular(self.name), *self.also)))


def singular(name: str) -> str:
    """An input's name for a single row.

    >>> singular("predictions"), singular("categories"), singular("cluster")
    ('prediction', 'category', 'cluster')
    """
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


# --- options ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """One of the keyword arguments of ``compute`` that isn't an input. Its kind is its class.

    Attributes:
        name: what it is called.
        about: a sentence about it.
        default: the value in force where none is given. None may be given if it is the default.
        with_rows: whether it must be known when rows come in.
        changes_numbers: whether scores depend on it, and not only which ones are shown.
        later: whether it came after results had been signed, whose signature doesn't name it: it then stands in a
            signature only where it isn't the default.
    """

    name: str
    about: str
    default: Any = None
    with_rows: bool = False
    changes_numbers: bool = True
    later: bool = False
    #: what a page shows for it
    kind: ClassVar[str] = ""

    def check(self, value: Any) -> Any:
        """The value in its one form (1 is 1.0 for a number, a NumPy scalar is the decimal it prints).

        Raises:
            Refusal: if it isn't allowed.
        """
        if value is None and self.default is None:
            return None
        return self._checked(value)

    def from_json(self, value: Any) -> Any:
        """The value that JSON has for it: null is nan where None isn't allowed."""
        return math.nan if value is None and self.default is not None else value

    def _checked(self, value: Any) -> Any:
        raise NotImplementedError

    @property
    def allowed(self) -> str:
        """What is allowed, for messages and help."""
        raise NotImplementedError

    def _refuse(self, value: Any) -> Any:
        refuse(describe(value), self.allowed, option=self.name)


@dataclass(frozen=True)
class Flag(Option):
    """True or False."""

    default: Any = False
    kind: ClassVar[str] = "flag"

    @property
    def allowed(self) -> str:
        """True and False."""
        return "False, True"

    def _checked(self, value: Any) -> bool:
        return bool(value) if isinstance(value, BOOLS) else self._refuse(value)


@dataclass(frozen=True)
class Choice(Option):
    """One of a few values."""

    choices: tuple[Any, ...] = ()
    kind: ClassVar[str] = "choice"

    @property
    def allowed(self) -> str:
        """The choices."""
        return ", ".join(repr(choice) for choice in self.choices if choice is not None)

    def _checked(self, value: Any) -> Any:
        for choice in self.choices:
            if is_number(value) and is_number(choice):
                if value == choice or value != value and choice != choice:  # a large int is no float
                    return choice
            elif type(value) is type(choice) and value == choice:
                return choice
        return self._refuse(value)


@dataclass(frozen=True)
class Number(Option):
    """A number in [low, high]; with ``inside`` in (low, high). Infinity is none."""

    low: float = 0.0
    high: float = 1.0
    inside: bool = False
    kind: ClassVar[str] = "number"

    @property
    def allowed(self) -> str:
        """The range."""
        return self._range

    @property
    def _range(self) -> str:
        """What one number may be, also where several are given."""
        if self.inside:
            return f"above {self.low:g} and below {self.high:g}"
        return f"a number from {self.low} {'up' if self.high == math.inf else f'to {self.high}'}"

    def _checked(self, value: Any) -> float:
        return self._number(value)

    def _number(self, value: Any, within: str = "") -> float:
        outside = not is_number(value) or not self.low <= value <= self.high or value == math.inf
        if outside or self.inside and value in (self.low, self.high):
            refuse(describe(value), self._range, option=within or self.name)
        return plain_number(value) + 0.0  # + 0.0 makes 0.0 of -0.0


@dataclass(frozen=True)
class Whole(Option):
    """A whole number in [low, high]."""

    low: int = 0
    high: int | None = None
    odd: bool = False
    kind: ClassVar[str] = "whole"

    @property
    def allowed(self) -> str:
        """The range."""
        upto = f"from {self.low} up" if self.high is None else f"from {self.low} to {self.high}"
        return f"{'an odd' if self.odd else 'a whole'} number {upto}"

    def _checked(self, value: Any) -> int:
        high = math.inf if self.high is None else self.high
        if not is_number(value) or not self.low <= value <= high or value % 1 or self.odd and value % 2 != 1:
            self._refuse(value)
        return int(value)


@dataclass(frozen=True)
class Numbers(Number):
    """A list of numbers in [low, high]."""

    kind: ClassVar[str] = "numbers"

    @property
    def allowed(self) -> str:
        """The range of each."""
        return f"a list of numbers from {self.low:g} to {self.high:g}"

    def _checked(self, value: Any) -> Any:
        several = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))
        if not several or isinstance(value, np.ndarray) and value.ndim != 1:
            self._refuse(value)
        return tuple(self._number(number, f"{self.name}[{i}]") for i, number in enumerate(value))


@dataclass(frozen=True)
class NamedNumbers(Number):
    """Numbers in [low, high] by name, some of ``names`` or, with ``all_names``, all of them."""

    names: tuple[str, ...] = ()
    all_names: bool = False
    kind: ClassVar[str] = "named numbers"

    @property
    def allowed(self) -> str:
        """An example of such a dict."""
        names = self.names if self.all_names else self.names[:1]
        example = ", ".join(f'"{name}": {min(0.99, self.high)}' for name in names)
        return f"a dict such as {{{example}}}"

    def _checked(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            self._refuse(value)
        for name in value:
            if name not in self.names:
                refuse(describe(name), ", ".join(map(repr, self.names)), option=self.name)
        lacking = [name for name in self.names if name not in value] if self.all_names else []
        if lacking:
            refuse(f"without {lacking[0]}", f"a number for each of {', '.join(self.names)}", option=self.name)
        return {name: self._number(number, f"{self.name}[{name!r}]") for name, number in value.items()}


@dataclass(frozen=True)
class GridWidth(Option):
    """A power of two from 2^-40 to 1/2: the width of a grid whose points, and 1 minus them, are float64 numbers."""

    kind: ClassVar[str] = "grid width"

    @property
    def allowed(self) -> str:
        """The range."""
        return "a power of two from 2**-40 to 2**-1, or None"

    def _checked(self, value: Any) -> float:
        if not is_number(value) or not 2.0**-40 <= value <= 0.5 or math.frexp(value)[0] != 0.5:
            self._refuse(value)
        return float(value)


def plain_number(value: Any) -> float:
    """A number as Python's float; a NumPy scalar of few digits means the decimal it prints.

    >>> plain_number(np.float32(0.29))
    0.29
    """
    return float(str(value)) if isinstance(value, np.floating) else float(value)


#: Options that several metrics have.
ZERO_DIVISION = Choice(
    "zero_division",
    "The value of a precision, recall or F1 with a zero denominator.",
    0.0,
    choices=(0.0, 1.0, math.nan),
)
DETAILED = Flag("detailed", "Adds more scores, and counts.", changes_numbers=False)
INVALID = Choice(
    "invalid",
    '"error" refuses a prediction that is no label (None, empty, unparsed text); "count" counts it as wrong for its '
    "reference's class and as a false alarm for none, and adds n_invalid, invalid_rate and the rate of each reason.",
    "error",
    with_rows=True,
    later=True,
    choices=("error", "count"),
)
FROM_LOGITS = Flag("from_logits", "Scores are logits: of a sigmoid, or in two columns of a softmax.", with_rows=True)
THRESHOLD = Number("threshold", "A row is positive if its probability is above it.", 0.5)
SCORE_RESOLUTION = GridWidth(
    "score_resolution",
    "Probabilities are put on a grid of this width, which bounds the memory that any number of rows needs.",
    with_rows=True,
)
#: The option of scores by group.
MIN_ROWS = Whole("min_rows", "Groups of fewer rows are listed with their size and without scores.", 10, low=1)
#: The options of confidence intervals, which every metric has.
INTERVAL_OPTIONS = (
    Number("confidence_level", "Adds <key>_low and <key>_high for every score, such as 0.95.", inside=True),
    Whole("n_resamples", "Resamples, for scores whose interval has no closed form.", 1000, low=1),
    Whole("seed", "Of the resamples.", 0),
    Flag("stratify", "Resamples keep the number of rows of each class of the references."),
)


# --- the whole ----------------------------------------------------------------------------------------------------


def _as_given(options: Mapping[str, Any], inputs: Iterable[str]) -> dict[str, Any]:
    """For metrics whose options don't depend on the inputs."""
    return dict(options)


class Picture(NamedTuple):
    """A picture, before it is drawn: the name of a function of `toxeval.plots`, and its keyword arguments."""

    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Definition:
    """A metric in one of its configurations: what it takes, and the pure functions that score it.

    Attributes:
        name, config: of the metric and of the configuration.
        headlines: keys of its main scores. The first that a result has leads it.
        inputs, options: what ``compute`` takes.
        encode: (inputs and the options ``with_rows``, by keyword) -> arrays; refuses what is wrong.
        count: arrays -> `State`, which adds up.
        at_once: how many groups of rows are counted and scored at once; None where it is done one by one.
        score: (state, the other options by keyword) -> `Scores`: the published formulas.
        from_trainer: (predictions, label_ids) of the Trainer -> inputs and options of ``encode``.
        example: inputs of one row, on which options are tried that are fixed when the metric is loaded.
        more_examples: further ones, for options that don't go with the first; each has to go with one of all.
        replicate: (state, options of ``score``) -> a function from `resampling.Draws` to the scores of resampled rows;
            None for metrics that live on counts, whose ``score`` takes resampled counts.
        check: refuses a state whose rows, of several batches, don't belong together; None where all do.
        in_force: (options, names of the inputs) -> the options as they are in force with these inputs.
        settle: (state, options of ``score``) -> the options, with what "auto" means for this state; None where nothing
            depends on the rows.
        per_token: the arrays of ``encode`` with an entry a token; ``lengths`` are then the rows' lengths.
        ranked: state -> (labels 0 and 1, scores), a pair of arrays of shape (m,), for areas under curves; None for
            metrics without scores. It is called only with states that have rows.
        lower: beginnings of the keys of scores that are better the lower they are.
        neither: beginnings of the keys of scores of which neither way is better.
        decisions: (arrays, options) -> the predicted labels, shape (n,); None for metrics that live on counts.
        confusions: state -> title -> (confusion matrix, rows references; its labels).
        doubts: state -> (input, what looks wrong with it, what to do), of which ``compute`` warns.
        picture: (system -> state with an entry a row, system -> result, options of ``score``) -> `Picture`; None
            draws ``confusions``.
        picture_confidence: the level of the intervals that the picture shows; None if it shows none.
        thresholds: how the option ``threshold`` may be chosen on validation rows; None if it may not.
        judged: the share of one label among the predictions, which `corrections` corrects for the judge who gave them;
            None if there is none.
    """

    name: str
    headlines: tuple[str, ...]
    inputs: tuple[Input, ...]
    options: tuple[Option, ...]
    encode: Callable[..., dict[str, np.ndarray]]
    count: Callable[[dict[str, np.ndarray]], State]
    score: Callable[..., Scores]
    from_trainer: Callable[[Any, Any], dict[str, Any]]
    at_once: AtOnce | None = None
    example: Mapping[str, Any] = field(default_factory=lambda: {"predictions": [0], "references": [0]})
    more_examples: tuple[Mapping[str, Any], ...] = ()
    config: str = "default"
    replicate: Callable[..., Any] | None = None
    check: Callable[[State], None] | None = None
    in_force: Callable[[Mapping[str, Any], Iterable[str]], dict[str, Any]] = _as_given
    settle: Callable[[State, Mapping[str, Any]], dict[str, Any]] | None = None
    per_token: tuple[str, ...] = ()
    ranked: Callable[[State], tuple[np.ndarray, np.ndarray]] | None = None
    lower: tuple[str, ...] = ()
    neither: tuple[str, ...] = ()
    decisions: Callable[..., np.ndarray] | None = None
    confusions: Callable[[State], dict[str, tuple[np.ndarray, Sequence[str]]]] | None = None
    doubts: Callable[[State], list[tuple[str, str, str]]] | None = None
    picture: Callable[[Mapping[str, State], Mapping[str, Mapping[str, Any]], Mapping[str, Any]], Picture] | None = None
    picture_confidence: float | None = None
    thresholds: Thresholds | None = None
    judged: JudgedRate | None = None

    @property
    def full_name(self) -> str:
        """The metric's name, with the configuration if that isn't the default one."""
        return self.name if self.config == "default" else f"{self.name} ({self.config})"

    def input(self, name: str) -> Input | None:
        """The input of that name, if there is one."""
        return next((each for each in self.inputs if each.name == name), None)

    def option(self, name: str) -> Option:
        """The option of that name."""
        return next(each for each in (*self.options, *INTERVAL_OPTIONS) if each.name == name)

    def better(self, key: str) -> str:
        """Which way a score is better: "higher" or "lower"; empty if neither is."""
        if key.startswith(self.neither):
            return ""
        return "lower" if key.startswith(("invalid_rate", *self.lower)) else "higher"

    def check_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values in their one form.

        Raises:
            Refusal: if one of them isn't allowed.
        """
        with Known(metric=self.name):
            return {name: self.option(name).check(value) for name, value in given.items()}


def confusion_picture(
    states: Mapping[str, State], confusions: Callable[[State], dict[str, tuple[np.ndarray, Sequence[str]]]]
) -> Picture:
    """The confusion matrices of a system; several have a picture each."""
    if len(states) > 1:
        refuse(f"{len(states)} files", "one file a picture of confusion matrices", inputs=("predictions",))
    return Picture("confusion", {"matrices": confusions(*states.values())})
