"""A metric that keeps rows: they come in by batches or at once, and scores come out. Metrics differ in their
`Definition` only."""

from typing import Any

from .corrections import Corrections
from .declarations import Definition
from .formulas import Formulas
from .judged import judged
from .refusals import refuse
from .scoring import warn_undefined
from .state import State, merge, merge_compact
from .trainer import batches, begins_evaluation

#: Batches whose counts wait before they are summed: a sum a batch would cost more than counting it.
MERGE_EVERY = 64
#: Rows that wait before equal ones become a single entry; a metric that is called once with fewer never sorts for it.
COMPACT_FROM = 1 << 22


class Metric(Corrections, Formulas):
    """A metric in one of its configurations, with its options and the rows that were added; see `Formulas`."""

    def __init__(self, definition: Definition, **options: Any) -> None:
        self._evaluation: Metric | None = None
        self._forget()
        super().__init__(definition, **options)

    # Rows in.

    def _forget(self) -> None:
        self._pending: list[State] = []
        self._pending_size, self._compact_at = 0, COMPACT_FROM
        self._pending_inputs: set[str] | None = None
        self._pending_options: dict[str, Any] = {}

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
        # None is what the row has in an input that is required or sparse: a missing verdict, which may be counted
        present = {each.name: each.required or each.sparse for each in self.definition.inputs}
        rows = {k: [v] for k, v in given.items() if k in present and (v is not None or present[k])}
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

    def judged(self, human: bool | None = None, **options: Any) -> "Metric":
        """The metric that counts what `corrected_rate` needs of some rows: its ``state`` takes predictions, the other
        inputs, and ``human``, the human labels of some rows or all.

        Args:
            human: whether there are labels of all rows, or of none; not given: there may be of some.
            **options: those on which the predicted labels depend, beside those fixed when this one was loaded.
        """
        definition = judged(self.definition, human)
        known = {option.name for option in definition.options}
        return Metric(definition, **{k: v for k, v in self._fixed.items() if k in known} | options)

    # Scores out.

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any] | None:
        """Score the rows given here together with those added before.

        Args:
            predictions, references: one item a row.
            **kwargs: the metric's other inputs and its options; an unknown name is refused.

        Returns:
            Flat dict of plain floats and ints; of several processes on the first alone, ``None`` on the others.

        Raises:
            ValueError: if an input is bad (the message says which, the row, what was found and what is allowed), an
                option is unknown or out of range, or there is no row at all. Rows added before stay.
        """
        inputs, options = self._split(predictions, references, kwargs, self._taken, "option")
        row_options = {k: options.pop(k) for k in self._row_options if k in options}
        states = self._pending
        if inputs:
            states = [*states, self._count_rows(inputs, row_options)[0]]
        elif self._pending_inputs is not None:
            for key, value in row_options.items():
                if value != self._pending_options[key]:
                    allowed = "the same value there, as an option of add_batch"
                    self._refuse_changed(key, value, "when the rows were added", allowed)
        gathered = self._gathered(states)
        found = None if gathered is None else self._score_states(gathered, options)
        self._forget()
        if found is None:
            return None
        warn_undefined(self.name, found[1])
        return found[0]

    def _gathered(self, states: list[State]) -> list[State] | None:
        """The states of all processes that count together; ``None`` where another one scores them."""
        return states

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
            evaluation = self.without_rows()
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
