"""Valid inputs of all five metrics, as rows: a row is a dict from input name to one item.

`SAMPLES` lists every way of calling a metric that has inputs of its own; tests run over all of them.
"""

import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import sklearn
from hypothesis import strategies as st

import toxeval
from toxeval.core.resampling import replicate_counts

Row = dict[str, Any]

SOLD = ("NOT", "OFF")
INTENTS = ("E", "I", "A", "O")
SLOTS = ("T", "S", "C", "D", "P", "O", "SEPA")
SAFETY = ("Safe", "Unsafe")
THREE_WAY = ("Safe", "Utterance-Unsafe", "Context-Unsafe")
CATEGORIES = ("Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion")
THREAT = ("non-threat", "threat")
TOXIC = ("non-toxic", "toxic")
#: What scikit-learn can be compared on: 1.3 refuses nan, and has another F1 with 1.
SKLEARN_ZERO_DIVISION = st.sampled_from([0.0, 1.0, math.nan] if sklearn.__version__ >= "1.4" else [0.0])


@dataclass(frozen=True, repr=False)
class Sample:
    """One way of calling a metric.

    Attributes:
        metric, config: what is loaded.
        row: generates one row.
        complete: rows on which every score is defined.
        single: rows of a single class, on which some score isn't.
        options: an option's name and two values that are both allowed with these inputs.
        names: input -> label names, for inputs of labels (or of sequences of labels).
        sequences: inputs whose items are sequences of labels.
        needed: options this way of calling needs.
    """

    metric: str
    row: st.SearchStrategy[Row]
    complete: list[Row]
    single: list[Row]
    options: dict[str, tuple[Any, Any]]
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sequences: tuple[str, ...] = ()
    config: str | None = None
    variant: str = ""
    needed: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return "-".join(filter(None, [self.metric, self.config, self.variant]))

    def __repr__(self) -> str:
        return self.id

    def load(self, **options: Any) -> Any:
        return toxeval.load(self.metric, self.config, **options)

    @cached_property
    def _loaded(self) -> Any:
        """For `compute`: loading takes longer than a few rows."""
        return self.load(**self.needed)

    def script(self) -> Any:
        return importlib.import_module(f"toxeval.metrics.{self.metric}.scores")

    def rows(self, min_size: int = 1, max_size: int = 12) -> st.SearchStrategy[list[Row]]:
        return st.lists(self.row, min_size=min_size, max_size=max_size)

    def compute(self, rows: Sequence[Row], **options: Any) -> dict[str, Any]:
        return self.compute_columns(columns(rows), **options)

    def compute_columns(self, given: dict[str, Any], **options: Any) -> dict[str, Any]:
        result: dict[str, Any] = self._loaded.compute(**given, **options)
        return result

    def state(self, rows: Sequence[Row]) -> Any:
        metric = self.load()
        return metric.count(metric.encode(**columns(rows), **self._options(with_rows=True)))

    def score(self, state: Any, **options: Any) -> Any:
        """The `Scores` of a state."""
        return self.load().score(state, **self._options(with_rows=False), **options)

    def _options(self, *, with_rows: bool) -> dict[str, Any]:
        """Those needed that must be known when rows come in, or the others."""
        option = self.load().definition.option
        return {name: value for name, value in self.needed.items() if option(name).with_rows == with_rows}


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The inputs as ``compute`` takes them."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def labels(*names: str) -> st.SearchStrategy[str]:
    return st.sampled_from(names)


def probabilities() -> st.SearchStrategy[float]:
    """With many ties, and with the ends."""
    return st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000000001, 0.75, 1.0]) | st.floats(0.0, 1.0)


@st.composite
def token_rows(draw: st.DrawFn, names: tuple[str, ...]) -> Row:
    length = draw(st.integers(0, 5))
    sequence = st.lists(labels(*names), min_size=length, max_size=length)
    return {"predictions": draw(sequence), "references": draw(sequence)}


@st.composite
def conda_rows(draw: st.DrawFn) -> Row:
    length = draw(st.integers(0, 5))
    item = st.fixed_dictionaries(
        {"intent": labels(*INTENTS), "slots": st.lists(labels(*SLOTS), min_size=length, max_size=length)}
    )
    return {"predictions": draw(item), "references": draw(item)}


def _pairs(names: tuple[str, ...]) -> list[Row]:
    """Every label, once right and once taken for the next."""
    shifted = names[1:] + names[:1]
    return [{"predictions": p, "references": r} for p, r in [*zip(names, names), *zip(names, shifted)]]


def _utterance(intent: str, *slots: str) -> Row:
    return {"intent": intent, "slots": list(slots)}


def _by_category(rows: list[Row]) -> list[Row]:
    return [row | {"categories": category} for category in CATEGORIES for row in rows]


def _samples() -> list[Sample]:
    scored = [
        {"prediction_scores": p, "references": r} for p, r in zip((0.9, 0.3, 0.7, 0.1), ("threat", *THREAT, "threat"))
    ]
    scored += [{"prediction_scores": 0.2, "references": "non-threat"}]
    oracle = [
        {"predictions": p, "references": TOXIC[r]} for p, r in [(0.9, 1), (0.3, 1), (0.7, 0), (0.1, 0), (0.45, 0)] * 250
    ]
    safety = _pairs(SAFETY)
    zero = {"zero_division": (0.0, 1.0), "detailed": (False, True)}
    return [
        Sample(
            "sold_macro_f1",
            st.fixed_dictionaries({"predictions": labels(*SOLD), "references": labels(*SOLD)}),
            _pairs(SOLD),
            [{"predictions": "NOT", "references": "NOT"}] * 3,
            zero,
            {"predictions": SOLD, "references": SOLD},
        ),
        Sample(
            "sold_macro_f1",
            token_rows(SOLD),
            [{"predictions": ["OFF", "NOT"], "references": ["OFF", "OFF"]}, {"predictions": [], "references": []}]
            + [{"predictions": ["NOT", "OFF"], "references": ["NOT", "NOT"]}],
            [{"predictions": ["NOT"], "references": ["NOT"]}, {"predictions": [], "references": []}],
            zero,
            {"predictions": SOLD, "references": SOLD},
            sequences=("predictions", "references"),
            config="token",
        ),
        Sample(
            "conda_joint",
            conda_rows(),
            [
                {"predictions": _utterance(p, *SLOTS), "references": _utterance(r, *SLOTS)}
                for p, r in zip("EIAOE", "EIAOO")
            ],
            [{"predictions": _utterance("O", "O"), "references": _utterance("O", "O")}] * 2,
            zero,
        ),
        Sample(
            "conda_joint",
            st.fixed_dictionaries({"predictions": labels(*INTENTS), "references": labels(*INTENTS)}),
            _pairs(INTENTS),
            [{"predictions": "O", "references": "O"}] * 2,
            zero,
            {"predictions": INTENTS, "references": INTENTS},
            config="intent",
        ),
        Sample(
            "oracle_collab",
            st.fixed_dictionaries({"predictions": probabilities(), "references": labels(*TOXIC)}),
            oracle,
            [{"predictions": 0.2, "references": "non-toxic"}, {"predictions": 0.6, "references": "non-toxic"}],
            {"review_strategy": ("uncertainty", "toxicity"), "threshold": (0.5, 0.3), "detailed": (False, True)},
            {"references": TOXIC},
        ),
        Sample(
            "oracle_collab",
            st.fixed_dictionaries(
                {
                    "predictions": probabilities(),
                    "references": labels(*TOXIC),
                    "review_scores": st.sampled_from([-3.0, 0.0, 1.5]) | st.floats(-1e6, 1e6),
                }
            ),
            [row | {"review_scores": float(i % 7)} for i, row in enumerate(oracle)],
            [{"predictions": 0.2, "references": "toxic", "review_scores": 1.0}] * 2,
            {"review_fractions": ((0.1, 0.5), (0.25, 1.0)), "detailed": (False, True)},
            {"references": TOXIC},
            variant="review_scores",
        ),
        Sample(
            "dia_safety_rate",
            st.fixed_dictionaries({"predictions": labels(*SAFETY), "categories": labels(*CATEGORIES)}),
            _by_category([{"predictions": "Safe"}, {"predictions": "Unsafe"}]),
            [{"predictions": "Safe", "categories": "Risk Ignorance"}] * 2,
            {"detailed": (False, True), "invalid": ("error", "count")},
            {"predictions": SAFETY, "categories": CATEGORIES},
        ),
        Sample(
            "dia_safety_rate",
            st.fixed_dictionaries({"predictions": labels(*THREE_WAY), "categories": labels(*CATEGORIES)}),
            _by_category([{"predictions": verdict} for verdict in THREE_WAY]),
            [{"predictions": "Safe", "categories": "Toxicity Agreement"}] * 2,
            {"detailed": (False, True)},
            {"categories": CATEGORIES},
            variant="three_way",
            needed={"verdicts": "three-way"},
        ),
        Sample(
            "dia_safety_rate",
            st.fixed_dictionaries({"predictions": labels(*SAFETY), "references": labels(*SAFETY)}),
            safety,
            [{"predictions": "Unsafe", "references": "Unsafe"}],
            {"detailed": (False, True), "zero_division": (0.0, 1.0)},
            {"predictions": SAFETY, "references": SAFETY},
            variant="references",
        ),
        Sample(
            "dia_safety_rate",
            st.fixed_dictionaries(
                {"predictions": labels(*SAFETY), "references": labels(*SAFETY), "categories": labels(*CATEGORIES)}
            ),
            _by_category(safety),
            [{"predictions": "Safe", "references": "Safe", "categories": "Biased Opinion"}] * 3,
            {"detailed": (False, True), "zero_division": (0.0, 1.0)},
            {"predictions": SAFETY, "references": SAFETY, "categories": CATEGORIES},
            variant="references_categories",
        ),
        Sample(
            "threat_f1",
            st.fixed_dictionaries({"predictions": labels(*THREAT), "references": labels(*THREAT)}),
            _pairs(THREAT),
            [{"predictions": "non-threat", "references": "non-threat"}] * 3,
            zero,
            {"predictions": THREAT, "references": THREAT},
        ),
        Sample(
            "threat_f1",
            st.fixed_dictionaries({"prediction_scores": probabilities(), "references": labels(*THREAT)}),
            scored,
            [{"prediction_scores": 0.2, "references": "non-threat"}] * 3,
            zero | {"threshold": (0.5, 0.3)},
            {"references": THREAT},
            variant="scores",
        ),
        Sample(
            "threat_f1",
            st.fixed_dictionaries(
                {
                    "predictions": labels(*THREAT),
                    "prediction_scores": st.floats(-1e3, 1e3) | st.sampled_from([0.0, 50.0, -50.0]),
                    "references": labels(*THREAT),
                }
            ),
            [row | {"predictions": "threat" if i < 3 else "non-threat"} for i, row in enumerate(scored)],
            [{"predictions": "threat", "prediction_scores": 0.2, "references": "threat"}],
            zero,
            {"predictions": THREAT, "references": THREAT},
            variant="both_logits",
            needed={"from_logits": True},
        ),
    ]


SAMPLES = _samples()


def one_of(metric: str) -> Sample:
    """The first way of calling a metric."""
    for sample in SAMPLES:
        if sample.metric == metric:
            return sample
    raise LookupError(f"tests/samples.py has no Sample of {metric}: add one, as docs/adding_a_metric.md shows")


#: One way of calling each metric.
ONE_EACH = [one_of(name) for name in toxeval.METRICS]


def ids(sample: Sample) -> str:
    return sample.id


def to_ids(sample: Sample, rows: Sequence[Row], which: Callable[[str], bool] = lambda name: True) -> list[Row]:
    """The rows with ids instead of names in the inputs that ``which`` picks."""

    def convert(name: str, item: Any) -> Any:
        if not which(name):
            return item
        if sample.id == "conda_joint":
            return {"intent": INTENTS.index(item["intent"]), "slots": [SLOTS.index(slot) for slot in item["slots"]]}
        if name not in sample.names:
            return item
        known = sample.names[name]
        return [known.index(label) for label in item] if name in sample.sequences else known.index(item)

    return [{name: convert(name, item) for name, item in row.items()} for row in rows]


def rows_of_counts(tp: int, fp: int, fn: int, tn: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and references, as ids, that have these confusion counts."""
    predictions = np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])
    return predictions, np.repeat([1, 0, 1, 0], [tp, fp, fn, tn])


def replicate(metric: Any, state: Any, **options: Any) -> Callable[[Any], dict[str, Any]]:
    """The function from draws to the scores of resampled rows."""
    definition = metric.definition
    make = definition.replicate or partial(replicate_counts, definition.score)
    return make(state, **metric.score_options | options)  # type: ignore[no-any-return]


def assert_same(found: dict[str, Any], wanted: dict[str, Any], tolerance: float = 1e-12) -> None:
    """Equal keys, and values within the tolerance; nan equals nan."""
    assert set(found) == set(wanted)
    different = {k: (found[k], wanted[k]) for k in wanted if not close(found[k], wanted[k], tolerance)}
    assert not different


def close(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(a) and math.isnan(b))
