"""Kinds of values, each with the number or the refusal that every door has to give."""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import toxeval
from toxeval.core.refusals import Refusal

Columns = dict[str, list[Any]]
#: Of formats in which every value is a text, and of those that have no numbers but JSON's.
TEXTS = frozenset({"csv", "tsv", "standard input", "page file", "page text"})
JSON = frozenset({"json lines"})
#: For a row: all of them are refused together.
ALL = -1


@dataclass(frozen=True, repr=False)
class Kind:
    """One kind of values.

    Attributes:
        name: what it is.
        metric, config, options: what scores it.
        columns: the inputs.
        refused: input and row of the refusal; None if there is a number.
        means: the same inputs in plain Python values; the number is theirs.
        texts: whether formats of texts give the number although others refuse: "1" is a number there.
        lost_in: doors that can't carry it.
    """

    name: str
    columns: Columns
    refused: tuple[str, int | None] | None = None
    means: Columns = field(default_factory=dict)
    metric: str = "sold_macro_f1"
    config: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    texts: bool = False
    lost_in: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return self.name

    def expected(self, door: str) -> Any:
        """What has to come out."""
        if self.refused and not (self.texts and door in TEXTS):
            return self.refused
        return self.score(**{**self.columns, **self.means})

    def load(self) -> Any:
        return toxeval.load(self.metric, self.config)

    def score(self, **inputs: Any) -> Any:
        return self.load().compute(**inputs, **self.options)

    def outcome(self, score: Any) -> Any:
        """The scores, or input and row of the refusal."""
        try:
            return score()
        except Refusal as refusal:
            return refusal.inputs[0] if refusal.inputs else "", refusal.row


def labels(name: str, predictions: list[Any], refused: int | None = None, **more: Any) -> Kind:
    """Of SOLD's labels; ``refused`` is the row."""
    references = ["OFF", "OFF", "NOT"][: len(predictions)]
    where = None if refused is None else ("predictions", None if refused == ALL else refused)
    return Kind(name, {"predictions": predictions, "references": references}, where, **more)


def scores(name: str, values: list[Any], refused: int | None = None, **more: Any) -> Kind:
    """Of scores, of which the first is as high as the threshold."""
    where = None if refused is None else ("prediction_scores", None if refused == ALL else refused)
    more.setdefault("means", {"prediction_scores": [0.3, 0.1, 0.6]})
    columns = {"prediction_scores": values, "references": [0, 0, 1][: len(values)]}
    return Kind(name, columns, where, metric="threat_f1", options={"threshold": 0.3}, **more)


def sequences(name: str, values: list[Any], refused: int | None = None, **more: Any) -> Kind:
    """Of SOLD's labels of tokens."""
    where = None if refused is None else ("predictions", None if refused == ALL else refused)
    columns = {"predictions": values, "references": [[1, 0], [0], [1, 1, 0]]}
    return Kind(name, columns, where, config="token", **more)


NAN = math.nan
ARROW = frozenset({"Arrow", "parquet", "datasets", "Spark", "saved"})
#: Where every column has one type.
TYPED = ARROW | {"numpy", "polars"}
NESTED = {"predictions": [[1, 0], [0], [0, 1, 0]]}
IDS = {"predictions": [1, 0, 1]}

KINDS = [
    labels("names", ["OFF", "NOT", "OFF"]),
    labels("ids", [1, 0, 1]),
    labels("whole floats", [1.0, 0.0, 1.0], means=IDS),
    labels("whole float32", [np.float32(x) for x in (1, 0, 1)], means=IDS),
    labels("bools", [True, False, True], means=IDS, lost_in=TEXTS),
    labels("bools of NumPy", [np.bool_(x) for x in (1, 0, 1)], means=IDS, lost_in=TEXTS | JSON),
    labels("decimals", [Decimal(x) for x in (1, 0, 1)], means=IDS),
    labels("fractions", [Fraction(x) for x in (1, 0, 1)], means=IDS, lost_in=TEXTS | JSON | ARROW),
    labels("text numbers", ["1", "0", "1"], 0, texts=True, means=IDS),
    labels("white space", ["OFF", "NOT ", "OFF"], 1),
    labels("a line break", ["OFF", "NOT\n", "OFF"], 1, lost_in=TEXTS),
    labels("other letters", ["OFF", "Not", "OFF"], 1),
    labels("None among names", ["OFF", None, "OFF"], 1),
    labels("None among ids", [1, None, 1], 1),
    labels("NaN among floats", [1.0, NAN, 1.0], 1),
    labels("the text nan", ["OFF", "nan", "OFF"], 1),
    labels("a probability", [1.0, 0.7, 1.0], 1),
    labels("an unknown id", [1, 2, 1], 1),
    labels("-100", [1, -100, 1], 1),
    labels("a name among ids", [1, "OFF", 1], 1, lost_in=TYPED),
    labels("a list a row", [["OFF"], ["NOT"], ["OFF"]], 0, lost_in=TEXTS | {"numpy"}),
    labels("empty", [], ALL),
    Kind(
        "bools that may mean either",
        {"predictions": [True, False], "categories": [0, 1]},
        ("predictions", 0),
        metric="dia_safety_rate",
        lost_in=TEXTS,
    ),
    scores("scores", [0.3, 0.1, 0.6]),
    scores("float32", [np.float32(x) for x in (0.3, 0.1, 0.6)]),
    scores("float16", [np.float16(x) for x in (0.3, 0.1, 0.6)], lost_in=frozenset({"Spark"})),
    scores("float32 beside float64", [np.float32(0.3), 0.1, np.float64(0.6)], lost_in=TYPED | {"pandas"}),
    scores("decimal scores", [Decimal(x) for x in ("0.3", "0.1", "0.6")]),
    scores("fractions of whole numbers", [Fraction(x, 10) for x in (3, 1, 6)], lost_in=TEXTS | JSON | ARROW),
    scores("two columns", [[0.7, 0.3], [0.9, 0.1], [0.4, 0.6]]),
    scores("two columns of float32", [list(map(np.float32, row)) for row in ([0.7, 0.3], [0.9, 0.1], [0.4, 0.6])]),
    scores(
        "two columns of decimals", [list(map(Decimal, row)) for row in (["0.7", "0.3"], ["0.9", "0.1"], ["0.4", "0.6"])]
    ),
    scores("scores 0 and 1", [0, 0, 1], means={"prediction_scores": [0.0, 0.0, 1.0]}),
    scores("text scores", ["0.3", "0.1", "0.6"], 0, texts=True),
    scores("None among scores", [0.3, None, 0.6], 1),
    scores("NaN among scores", [0.3, NAN, 0.6], 1),
    scores("infinite", [0.3, math.inf, 0.6], 1),
    scores("beyond 1", [0.3, 1.5, 0.6], 1),
    scores("bools as scores", [True, False, True], 0),
    scores("None in a list", [[0.7, 0.3], [None, 0.1], [0.4, 0.6]], 1),
    scores("lists of different lengths", [[0.7, 0.3], [0.1], [0.4, 0.6]], ALL),
    sequences("names of tokens", [["OFF", "NOT"], ["NOT"], ["NOT", "OFF", "NOT"]], means=NESTED),
    sequences("ids of tokens", NESTED["predictions"]),
    sequences("whole floats of tokens", [[1.0, 0.0], [0.0], [0.0, 1.0, 0.0]], means=NESTED),
    sequences("bools of tokens", [[True, False], [False], [False, True, False]], means=NESTED, lost_in=TEXTS),
    sequences("None in a sequence", [[1, 0], [None], [0, 1, 0]], 1),
    sequences("white space in a sequence", [["OFF", "NOT"], ["NOT "], ["NOT", "OFF", "NOT"]], 1),
    sequences("a token too few", [[1, 0], [0], [0, 1]], 2),
    sequences("lists in lists", [[[1], [0]], [[0]], [[0], [1], [0]]], 0, lost_in=TEXTS - {"page text"}),
    Kind(
        "fractions as references",
        {"predictions": [0.9, 0.1, 0.8], "references": [np.float32(x) for x in (0.6, 0.2, 0.7)]},
        means={"references": [0.6, 0.2, 0.7]},
        metric="oracle_collab",
        options={"label_threshold": 0.6},
    ),
    Kind(
        "records",
        {
            "predictions": [{"intent": "A", "slots": ["O", "T"]}, {"intent": "E", "slots": ["T"]}],
            "references": [{"intent": 2, "slots": [5, 0]}, {"intent": 0, "slots": [2]}],
        },
        metric="conda_joint",
    ),
    Kind(
        "a record without a field",
        {
            "predictions": [{"intent": "A", "slots": ["O"]}, {"intent": "E"}],
            "references": [{"intent": 2, "slots": [5]}, {"intent": 0, "slots": [2]}],
        },
        ("predictions", 1),
        metric="conda_joint",
        lost_in=ARROW | {"polars"},
    ),
]
