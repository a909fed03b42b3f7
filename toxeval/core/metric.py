"""A metric: rows come in, by batches or at once, and scores come out. Metrics differ in their `Definition` only."""

import difflib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .declarations import INTERVAL_OPTIONS, MIN_ROWS, RECORD, Definition
from .group_scores import GroupScores, score_groups
from .group_states import GroupStates, count_groups
from .refusals import Doubt, Known, Refusal, refuse
from .scorer import Scored, Scorer
from .scoring import Scores, warn_undefined
from .state import State, check_state, merge, merge_compact
from .trainer import batches, begins_evaluation

#: Batches whose counts wait before they are summed: a sum a batch would cost more than counting it.
MERGE_EVERY = 64
#: Rows that wait before equal ones become a single entry; a metric that is called once with fewer never sorts for it.
COMPACT_FROM = 1 << 22
#: Rows from which on a look at all of them tells whether they look wrong.
DOUBTED_ROWS = 20


class Metric:
    """A metric in one of its configurations, with its options and the rows that were added.

    Args:
        definition: what it takes, and its functions.
        **options: those to fix beforehand (``threshold=0.3``); they are tried at once.

    Raises:
        ValueError: for an option that is unknown or out of range.
    """

    def __init__(self, definition: Definition, **options: Any) -> None:
        self.definition = definition
        self._known = Known(metric=definition.name)
        self._evaluation: Metric | None = None
        self._forget()
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

    # Rows in.

    def _forget(self) -> None:
        self._pending: list[State] = []
        self._pending_size, self._compact_at = 0, COMPACT_FROM
        self._pending_inputs: set[str] | None = None
        self._pending_options: dict[str, Any] = {}

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

    def _count_rows(self, given: dict[str, Any], options: dict[str, Any]) -> tuple[State, set[str], dict[str, Any]]:
        """The state of one batch; touches nothing of the metric, so that a refused batch leaves nothing behind."""
        chosen = self._row_options | options
        if self._pending_inputs is not None and self._pending_inputs != set(given):
            found = f"{_names(given)} here and {_names(self._pending_inputs)} in the batches before"
            refuse(found, "the same inputs in every batch", metric=self.name, where="inputs")
        if self._pending_inputs is not None and self._pending_options != chosen:
            changed = [k for k in chosen if chosen[k] != self._pending_options[k]][0]
            self._refuse_changed(changed, chosen[changed], "in the batches before", "the same value for every batch")
        state = self.count(self._encode(given, chosen))
        for key, values in state.rows.items() if self._pending else ():
            if (values.dtype.kind == "U") != (self._pending[0].rows[key].dtype.kind == "U"):
                found = "texts in one batch and numbers in another"
                refuse(found, "one kind for all rows", metric=self.name, inputs=(key,))
        if self._pending:
            self._check_state([*self._pending, state])
        return state, set(given), chosen

    def _check_state(self, states: list[State]) -> None:
        """Refuse rows of several batches that don't belong together."""
        if self.definition.check is not None:
            with self._known:
                self.definition.check(merge(states))

    def _refuse_changed(self, option: str, value: Any, when: str, allowed: str) -> None:
        found = f"{value!r} here and {self._pending_options[option]!r} {when}"
        refuse(found, allowed, metric=self.name, option=option)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add a batch of rows; nothing is kept of a batch that is refused.

        Args:
            predictions, references, and the metric's other inputs: as in ``compute``.
            **kwargs: the other inputs, and the options that must be known when rows come in.
        """
        inputs, options = self._split(predictions, references, kwargs, self._taken_with_rows, "input")
        state, names, chosen = self._count_rows(inputs, options)
        self._pending.append(state)
        self._pending_inputs, self._pending_options = names, chosen
        self._pending_size += state.n_rows if state.rows else 0
        if not state.rows and len(self._pending) >= MERGE_EVERY:
            self._pending = [merge(self._pending)]  # counts alone: constant memory for any number of batches
        elif self._pending_size >= self._compact_at:
            self._pending = [merge_compact(self._pending)]  # constant memory for any number of equal rows
            self._pending_size = len(next(iter(self._pending[0].rows.values())))
            self._compact_at = max(COMPACT_FROM, 2 * self._pending_size)  # each row is sorted a few times at most

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one row.

        Args:
            prediction, reference: one item of ``predictions`` and ``references``.
            **kwargs: one item of each other input under that input's name; options as in ``add_batch``.
        """
        given = {"predictions": prediction, "references": reference} | kwargs
        inputs = self.inputs
        # None in a required input is what the row has there: a missing verdict, which may be counted
        rows = {k: [v] for k, v in given.items() if k in inputs and (v is not None or inputs[k])}
        self.add_batch(**given | rows)

    def __len__(self) -> int:
        """How many rows were added and not yet scored."""
        return sum(state.n_rows for state in self._pending)

    def added_state(self) -> State:
        """The state of the rows that were added and not yet scored."""
        return merge(self._pending) if self._pending else State(0)

    def without_rows(self) -> "Metric":
        """A metric like this one, without rows."""
        return Metric(self.definition, **self._fixed)

    # Scores out.

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any] | None:
        """Score the rows given here together with those added before.

        Args:
            predictions, references: one item a row.
            **kwargs: the metric's other inputs and its options; an unknown name is refused.

        Returns:
            Flat dict of plain floats and ints.

        Raises:
            ValueError: if an input is bad (the message says which, the row, what was found and what is allowed), an
                option is unknown or out of range, or there is no row at all. Rows added before stay.
        """
        result, undefined = self._finish(*self._states_to_score(predictions, references, kwargs))
        warn_undefined(self.name, undefined)
        return result

    def _states_to_score(
        self, predictions: Any, references: Any, kwargs: dict[str, Any]
    ) -> tuple[list[State], dict[str, Any]]:
        """The states of the rows added before and of those given, and the options of scores and intervals."""
        inputs, options = self._split(predictions, references, kwargs, self._taken, "option")
        row_options = {k: options.pop(k) for k in self._row_options if k in options}
        if inputs:
            return [*self._pending, self._count_rows(inputs, row_options)[0]], options
        for key, value in row_options.items():
            if self._pending_inputs is not None and value != self._pending_options[key]:
                allowed = "the same value there, as an option of add_batch"
                self._refuse_changed(key, value, "when the rows were added", allowed)
        return self._pending, options

    def _finish(self, states: list[State], options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The result and which scores are undefined, after which the rows are forgotten."""
        found = self._score_states(states, options)
        self._forget()
        return found

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
        arrays, per_token = self._encode(inputs, options), self.definition.per_token
        with self._known:
            return count_groups(self.count, arrays, per_token, groups, beside=next(iter(inputs)))

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
            return score_groups(self._scorer(given), states, key, MIN_ROWS.check(min_rows))

    # The Trainer.

    def compute_metrics(self, eval_prediction: Any, compute_result: bool = True) -> dict[str, Any]:
        """For the Trainer of ``transformers``, as it is: ``Trainer(compute_metrics=metric.compute_metrics)``.

        Options are those fixed when the metric was loaded. The rows are kept apart from those of ``add`` and
        ``add_batch``. A Trainer of several processes gathers the rows itself and calls this on each of them, so
        ``num_process`` plays no part here.

        Args:
            eval_prediction: an ``EvalPrediction``: ``predictions`` as the model returned them, and ``label_ids``; or
                a tuple of these two.
            compute_result: False for every batch but the last, if ``batch_eval_metrics`` is set.

        Returns:
            What ``compute`` returns; an empty dict for a batch that isn't the last.

        Raises:
            ValueError: if the arrays don't have the shapes expected from the model (the message says which), or for
                what ``compute`` refuses. Then the evaluation is over, and the next one begins with no rows.
        """
        evaluation, self._evaluation = self._evaluation, None
        if evaluation is None or begins_evaluation():
            evaluation = Metric(self.definition, **self._fixed)
        with self._known:
            for predictions, label_ids in batches(eval_prediction):
                given = self.definition.from_trainer(predictions, label_ids)
                evaluation.add_batch(**{key: value for key, value in given.items() if key not in self._fixed})
        if compute_result:
            return evaluation.compute() or {}
        self._evaluation = evaluation
        return {}


def _names(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"
