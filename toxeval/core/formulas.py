"""A metric with its options: rows become a state, and states become scores. It keeps no rows."""

import difflib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .declarations import INTERVAL_OPTIONS, MIN_ROWS, RECORD, SCORE, THRESHOLD, ZERO_DIVISION, Definition
from .group_scores import GroupScores, score_groups
from .group_states import GroupStates, count_groups
from .refusals import Doubt, Known, Refusal, refuse
from .scorer import Scored, Scorer
from .scoring import Scores, warn_undefined
from .state import State, check_state, merge
from .thresholds import Rule, choose, rule_of

#: Rows from which on a look at all of them tells whether they look wrong.
DOUBTED_ROWS = 20


class Formulas:
    """A metric in one of its configurations, with its options.

    Args:
        definition: what it takes, and its functions.
        **options: those to fix beforehand (``threshold=0.3``); they are tried at once.

    Raises:
        ValueError: for an option that is unknown or out of range.
    """

    def __init__(self, definition: Definition, **options: Any) -> None:
        self.definition = definition
        self._known = Known(metric=definition.name)
        every = {each.name: each for each in (*definition.options, *INTERVAL_OPTIONS)}
        self._check_names(options, every, "option")
        self._fixed = definition.check_options(options)
        values = {name: option.default for name, option in every.items()} | self._fixed
        #: options that must be known when rows come in, those of the scores, and those of the intervals -> the values
        #: in force unless others are given with the rows
        self._row_options = {o.name: values[o.name] for o in definition.options if o.with_rows}
        self._score_options = {o.name: values[o.name] for o in definition.options if not o.with_rows}
        self._interval_options = {o.name: values[o.name] for o in INTERVAL_OPTIONS}
        self._taken_with_rows = {i.name: i for i in definition.inputs} | self._row_options
        self._taken = self._taken_with_rows | self._score_options | self._interval_options
        if options:  # what is out of range together is refused now, and not after the first epoch
            self._try_options()

    def _try_options(self) -> None:
        """Refuse options that go with none of the examples, for what the first one says."""
        refusals = []
        for example in (self.definition.example, *self.definition.more_examples):
            try:
                self._score_states([self.state(**example)], {"confidence_level": None})
                return
            except Refusal as refusal:
                refusals.append(refusal)
        raise refusals[0]

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.definition.name

    @property
    def inputs(self) -> dict[str, bool]:
        """Input name -> whether it is required."""
        return {each.name: each.required for each in self.definition.inputs}

    @property
    def kinds(self) -> dict[str, str | dict[str, str]]:
        """Input name -> what a row of it holds, one of the kinds in `declarations`; of a record, that of each field.

        >>> import toxeval
        >>> toxeval.load("conda_joint").kinds["predictions"]
        {'intent': 'label', 'slots': 'sequence'}
        """
        return {
            each.name: {field.name: field.kind for field in each.fields} if each.kind == RECORD else each.kind
            for each in self.definition.inputs
        }

    @property
    def options(self) -> dict[str, Any]:
        """The metric's options: those fixed when it was loaded, and the defaults of the others."""
        return self._row_options | self._score_options

    @property
    def score_options(self) -> dict[str, Any]:
        """Those of `options` that may also be given when the rows are in."""
        return dict(self._score_options)

    @property
    def interval_options(self) -> dict[str, Any]:
        """The options of confidence intervals, likewise."""
        return dict(self._interval_options)

    def check_options(self, given: Mapping[str, Any]) -> None:
        """Refuse names that aren't options of ``compute``."""
        self._check_names(given, self._row_options | self._score_options | self._interval_options, "option")

    def _check_names(self, given: Mapping[str, Any], allowed: Mapping[str, Any], kind: str) -> None:
        for name in given:
            if name not in allowed:
                close = difflib.get_close_matches(name, allowed, n=1)
                hint = f"did you mean {close[0]}?" if close else ""
                refuse("unknown", ", ".join(allowed), hint, metric=self.name, where=f"{kind} {name}")

    # The three functions.

    def encode(self, **inputs_and_options: Any) -> dict[str, np.ndarray]:
        """The arrays that some rows are, with the options that were fixed when the metric was loaded."""
        options = {name: value for name, value in inputs_and_options.items() if name in self._row_options}
        chosen = self._row_options | (self.definition.check_options(options) if options else {})
        inputs = {name: value for name, value in inputs_and_options.items() if name not in options}
        return self._encode(inputs, chosen)

    def _encode(self, inputs: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, np.ndarray]:
        for each in self.definition.inputs:
            if each.required and each.name not in inputs:
                refuse("missing", "one value a row", metric=self.name, inputs=(each.name,))
        with self._known:
            return self.definition.encode(**inputs, **options)

    def count(self, arrays: dict[str, np.ndarray]) -> State:
        """What counts of some rows; its name says which metric, by which others refuse it."""
        state = self.definition.count(arrays)
        object.__setattr__(state, "metric", self.definition.full_name)  # nobody has it yet; a copy costs a tenth
        return state

    def score(self, state: State, **options: Any) -> Scores:
        """The scores of a state, with what is known of each; options as in ``compute``, but for those of intervals."""
        with self._known:
            return self.definition.score(state, **self._score_options | self.definition.check_options(options))

    # Rows in, scores out.

    def state(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> State:
        """What counts of some rows, as a value of its own: the metric keeps nothing of it.

        States add up (``a + b``, `merge`), travel (`State.to_bytes`, `State.from_bytes`), and `score_state` scores
        them: on any number of machines, in any order.

        Args:
            predictions, references: one item a row.
            **kwargs: the metric's other inputs, and the options that must be known when rows come in.

        >>> import toxeval
        >>> metric = toxeval.load("sold_macro_f1")
        >>> a = metric.state(predictions=["OFF"], references=["OFF"])
        >>> b = metric.state(predictions=["NOT"], references=["NOT"])
        >>> metric.score_state(a + b)["f1_macro"]
        1.0
        """
        inputs, options = self._split(predictions, references, kwargs, self._taken_with_rows, "input")
        return self.count(self._encode(inputs, self._row_options | options))

    def _split(
        self, predictions: Any, references: Any, others: dict[str, Any], taken: Mapping[str, Any], kind: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The inputs that were given (None is none), and the options. ``kind`` is what a name not known is called."""
        self._check_names(others, taken, kind)
        inputs, options = {}, {}
        for name, value in {"predictions": predictions, "references": references, **others}.items():
            if self.definition.input(name) is None:
                options[name] = value
            elif value is not None:
                inputs[name] = value
        for name in ("predictions", "references"):
            options.pop(name, None)
        return inputs, self.definition.check_options(options) if options else options

    def score_state(self, state: State, **options: Any) -> dict[str, Any]:
        """Score a state, as ``compute`` would score its rows.

        Args:
            state: of `state`, or the sum of several; or what the function ``count`` of this metric made.
            **options: of ``compute``, but not those that must be known when rows come in.

        Returns:
            Flat dict of plain floats and ints.

        Raises:
            ValueError: if it is no state, or another metric's or configuration's; if an option is unknown or out of
                range, or there is no row.
        """
        self._check_counted_here(state)
        self._check_names(options, self._score_options | self._interval_options, "option")
        result, undefined = self._score_states([state], self.definition.check_options(options))
        warn_undefined(self.name, undefined)
        return result

    def _check_counted_here(self, state: Any) -> None:
        """Refuse what is no state, or another metric's."""
        check_state(f"{self.name}: state", state)
        if state.metric not in ("", self.definition.full_name):
            allowed = f"states of {self.definition.full_name}"
            refuse(f"counted by {state.metric}", allowed, metric=self.name, where="state")

    def _score_states(self, states: list[State], given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The result, and which scores are undefined; the options are checked."""
        if not any(state.n_rows for state in states):
            allowed = "at least one row, here or through add or add_batch"
            refuse("no rows", allowed, metric=self.name, inputs=("predictions",))
        with self._known:
            scored = Scored(self._scorer(given), merge(states))
            result = scored.result()
        self._warn_doubts(scored.state)
        return result, scored.scores.undefined

    def _warn_doubts(self, state: State) -> None:
        """Warn of inputs that look wrong: so many rows are so by chance no more."""
        doubts = self.definition.doubts
        for name, found, hint in doubts(state) if doubts is not None and state.n_rows >= DOUBTED_ROWS else ():
            warnings.warn(Doubt(found, hint=hint, metric=self.name, inputs=(name,)), stacklevel=4)

    def _scorer(self, given: Mapping[str, Any]) -> Scorer:
        """What scores states with these options, and those in force of the others."""
        options, intervals = (
            in_force | {key: given[key] for key in in_force if key in given}
            for in_force in (self._score_options, self._interval_options)
        )
        return Scorer(self.definition, options, intervals)

    # Thresholds.

    def choose_threshold(
        self,
        *,
        maximise: str | None = None,
        recall_at_least: float | None = None,
        precision_at_least: float | None = None,
        references: Any = None,
        **inputs: Any,
    ) -> float:
        """The threshold to use on other rows, chosen on these, validation rows.

        At most one rule is given; without one the metric's usual score is maximised. A threshold t makes the rows with
        a probability above t positive, so tied rows move together, and it is 0 or one of the probabilities. Of several
        that serve the rule alike, the highest is taken: it has the fewest alarms.

        Args:
            maximise: the score whose largest value is wanted, such as ``"f1_threat"``.
            recall_at_least: the best precision with at least so much recall of the positive class, in (0, 1].
            precision_at_least: the best recall with at least so much precision.
            references: one item a row.
            **inputs: the scores, and options that must be known when rows come in.

        Raises:
            ValueError: if the metric has no threshold to choose, for what ``compute`` refuses, rows without a positive
                one, and a recall or precision that no threshold attains.

        >>> import toxeval
        >>> metric = toxeval.load("threat_f1")
        >>> validation = {"prediction_scores": [0.9, 0.4, 0.3, 0.2], "references": [1, 0, 1, 0]}
        >>> metric.choose_threshold(**validation), metric.choose_threshold(**validation, precision_at_least=1)
        (0.2, 0.4)
        """
        rule = self.threshold_rule(
            maximise=maximise, recall_at_least=recall_at_least, precision_at_least=precision_at_least
        )
        return self.threshold_of_state(self.state(references=references, **inputs), rule)

    def threshold_rule(self, **given: Any) -> Rule:
        """The rule of `choose_threshold`, refused if it is none; its keywords are those of there."""
        with self._known:
            if self.definition.thresholds is None:
                refuse("no threshold that could be chosen", where="threshold")
            return rule_of(self.definition.thresholds, **given)

    def threshold_of_state(self, state: State, rule: Rule) -> float:
        """The threshold that `choose_threshold` gives for the rows of a state."""
        self._check_counted_here(state)
        thresholds = self.definition.thresholds
        if thresholds is None or not state.rows:
            scores = [each.name for each in self.definition.inputs if each.kind == SCORE]
            refuse("missing", "a threshold is chosen for scores", metric=self.name, inputs=scores)
        unset = {THRESHOLD.name: THRESHOLD.default, ZERO_DIVISION.name: float("nan")}
        chosen = {name: unset.get(name, value) for name, value in self._score_options.items()}
        with self._known:
            return choose(
                thresholds,
                state,
                rule,
                lambda decided: self.definition.score(decided, **chosen),
                self.definition.better,
            )

    # Scores by group.

    def compute_by(
        self,
        groups: Any,
        *,
        key: str | None = None,
        min_rows: int = MIN_ROWS.default,
        predictions: Any = None,
        references: Any = None,
        **kwargs: Any,
    ) -> GroupScores:
        """The scores of groups of the rows given here. Rows that were added before play no part, and stay.

        With ``confidence_level`` there are intervals, that of the gap among them, and p-values of the differences to
        the rest; without it, as in ``compute``, there are none.

        Args:
            groups: the group of each row, n texts or whole numbers (None and NaN are groups, too); or a dict from
                group to n answers, True and False or 1 and 0: a row may then be in several groups, or in none.
            key: the score to compare groups by; the one that leads the result, if not given.
            min_rows: groups of fewer rows are listed with their size and without scores; at least 1.
            predictions, references, **kwargs: inputs and options, as in ``compute``. What "auto" means is settled by
                all rows, so that all groups have the same scores.

        Raises:
            ValueError: for what ``compute`` refuses, groups of other rows, a key that is no score.

        >>> import toxeval
        >>> metric = toxeval.load("sold_macro_f1")
        >>> posts = {"predictions": ["OFF", "NOT", "NOT", "OFF"], "references": ["OFF", "NOT", "OFF", "NOT"]}
        >>> found = metric.compute_by(["x", "x", "y", "y"], min_rows=1, **posts)
        >>> found.groups["x"]["f1_macro"], found.groups["y"]["f1_macro"], found.worst, found.gap.value
        (1.0, 0.0, ['y'], 1.0)
        """
        inputs, options = self._split(predictions, references, kwargs, self._taken, "option")
        row_options = self._row_options | {k: options.pop(k) for k in self._row_options if k in options}
        states = self._states_by(groups, inputs, row_options)
        result, undefined = self._score_by(states, key, min_rows, options)
        warn_undefined(self.name, undefined)
        return result

    def states_by(self, groups: Any, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> GroupStates:
        """What counts of some rows by group, as `state` gives it for all: such values add up, and `score_by` scores
        them.

        Args:
            groups: as in `compute_by`.
            predictions, references, **kwargs: as in `state`.
        """
        inputs, options = self._split(predictions, references, kwargs, self._taken_with_rows, "input")
        return self._states_by(groups, inputs, self._row_options | options)

    def _states_by(self, groups: Any, inputs: dict[str, Any], options: dict[str, Any]) -> GroupStates:
        arrays, of = self._encode(inputs, options), self.definition
        with self._known:
            return count_groups(self.count, of.at_once, arrays, of.per_token, groups, beside=next(iter(inputs)))

    def score_by(
        self, states: GroupStates, *, key: str | None = None, min_rows: int = MIN_ROWS.default, **options: Any
    ) -> GroupScores:
        """Score states by group, as `compute_by` would score their rows.

        Args:
            states: of `states_by`, or the sum of several.
            key, min_rows: as in `compute_by`.
            **options: of ``compute``, but not those that must be known when rows come in.
        """
        for state in (states.all, *states.groups.values()):
            self._check_counted_here(state)
        self._check_names(options, self._score_options | self._interval_options, "option")
        result, undefined = self._score_by(states, key, min_rows, self.definition.check_options(options))
        warn_undefined(self.name, undefined)
        return result

    def _score_by(
        self, states: GroupStates, key: Any, min_rows: Any, given: Mapping[str, Any]
    ) -> tuple[GroupScores, dict[str, str]]:
        with self._known:
            found = score_groups(self._scorer(given), states, key, MIN_ROWS.check(min_rows))
        self._warn_doubts(states.all)
        return found
