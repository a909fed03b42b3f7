"""From a state to a result: a metric's formulas with the options in force, and the intervals of its scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .declarations import Definition
from .intervals import Intervals, interval_scores
from .resampling import Draws, replicate_counts
from .scoring import Scores
from .state import State


@dataclass(frozen=True)
class Scorer:
    """What scores states of a metric.

    Attributes:
        definition: the metric.
        options: of its ``score``, all of them.
        interval_options: `declarations.INTERVAL_OPTIONS`, all of them.
    """

    definition: Definition
    options: Mapping[str, Any]
    interval_options: Mapping[str, Any]

    @property
    def level(self) -> float | None:
        """The confidence level; None if no intervals are wanted."""
        level: float | None = self.interval_options["confidence_level"]
        return level

    def scores(self, state: State) -> Scores:
        """The scores of a state, whose counts may have leading axes."""
        return self.definition.score(state, **self.options)

    def scored(self, state: State, key: str) -> "Scored":
        """A state with a score that is wanted, and perhaps no other."""
        at_once = self.definition.at_once
        if at_once is not None and at_once.decided is not None and state.rows:
            decided, options = at_once.decided(state, self.options)
            found = Scored(replace(self, options=options), decided)
            if key in found.scores.values:
                return found
        return Scored(self, state)

    def settled(self, state: State) -> "Scorer":
        """This one, with what an option such as "auto" means for the rows of a state; for parts of them, too."""
        settle = self.definition.settle
        return self if settle is None else replace(self, options=settle(state, self.options))

    def replicate(self, state: State) -> Callable[[Draws], Mapping[str, np.ndarray]]:
        """The function from draws to scores of resampled rows; undefined ones are nan, whatever their convention."""
        unset = {"zero_division": float("nan")} if "zero_division" in self.options else {}
        make = self.definition.replicate or partial(replicate_counts, self.definition.score)
        scores_of: Callable[[Draws], Mapping[str, np.ndarray]] = make(state, **{**self.settled(state).options, **unset})
        return scores_of


class Scored:
    """A state with its scores, and with their intervals when somebody asks for them.

    Args:
        scorer: scores it.
        state: without leading axes.
    """

    def __init__(self, scorer: Scorer, state: State) -> None:
        self.scorer, self.state = scorer, state
        self.scores = scorer.scores(state)

    @cached_property
    def intervals(self) -> Intervals:
        """The intervals of its scores."""
        options = {key: self.scorer.interval_options[key] for key in ("n_resamples", "seed", "stratify")}
        return Intervals(self.state, self.scores, partial(self.scorer.replicate, self.state), **options)

    def result(self) -> dict[str, Any]:
        """What ``compute`` returns; with a level also the bounds of every score, and with ``stratify``
        ``prevalence_held_fixed``, 1."""
        result = self.scores.as_dict(self.scorer.definition.headlines)
        if self.scorer.level is None:
            return result
        keys = [key for key in self.scores.values if key not in self.scores.notes]
        result |= interval_scores(self.intervals, keys, self.scorer.level)
        return result | ({"prevalence_held_fixed": 1} if self.scorer.interval_options["stratify"] else {})
