"""The thin `evaluate.Metric` around a metric's three pure functions:

* ``encode(inputs) -> arrays`` refuses what is wrong and turns the rest into arrays,
* ``count(arrays) -> State`` keeps what adds up over batches, processes and machines,
* ``score(state) -> Scores`` holds the formulas of the paper.
"""

import abc
import difflib
import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

import datasets
import evaluate
import numpy as np

from .inputs import GROUP, LABEL, SCORE, SEQUENCE, check_choice, refuse
from .scoring import Scores, State, check_state, merge, merge_compact, warn_undefined
from .trainer import batches, begins_evaluation

#: Batches whose counts wait before they are summed: a sum a batch would cost more than counting it.
MERGE_EVERY = 64
#: Rows that wait before equal ones become a single entry; a module that is called once with fewer never sorts for it.
COMPACT_FROM = 1 << 22


class Metric(evaluate.Metric, abc.ABC):
    """An `evaluate.Metric` made of ``encode``, ``count`` and ``score``.

    A subclass sets the three functions and `headline`, and describes itself in ``_info``. What it accepts is read off
    the functions' signatures: ``encode``'s positional parameters are the inputs (those with a default may be left
    out), its keyword-only parameters the options that must be known when rows come in; ``score``'s keyword-only
    parameters are the other options. Any option can also be fixed when the module is loaded
    (``evaluate.load(path, threshold=0.3)``).

    In one process nothing is written to disk and nothing goes through Arrow. With ``num_process > 1`` the processes
    exchange their states through stock ``evaluate``, and process 0 scores.
    """

    #: names of its configurations
    configs: ClassVar[tuple[str, ...]] = ("default",)
    #: the main score's key, first in the result
    headline: ClassVar[str]
    #: input, or field of a record -> its labels by id, where these aren't the ``LABELS`` of the script
    labels: ClassVar[Mapping[str, Sequence[str]]] = {}
    #: inputs of one row, on which options that are fixed at load are tried
    example: Mapping[str, Any] = {"predictions": [0], "references": [0]}
    encode: Callable[..., dict[str, np.ndarray]]
    count: Callable[[dict[str, np.ndarray]], State]
    score: Callable[..., Scores]
    #: (score, state, **options of ``score``) -> a function from `resampling.Draws` to the scores of resampled rows
    replicate: Callable[..., Callable[[Any], Mapping[str, np.ndarray]]]
    #: `intervals.interval_scores`: (name, state, scores, replicate, **its options) -> bounds of confidence intervals
    intervals: Callable[..., dict[str, Any]]
    #: state -> title -> (confusion matrix, rows references; its labels): its picture. Not in metrics with another one
    confusions: Callable[[State], dict[str, tuple[np.ndarray, Sequence[str]]]]
    #: (predictions, label_ids) of the Trainer -> inputs and options of ``encode``
    from_trainer: Callable[[Any, Any], dict[str, Any]]

    @abc.abstractmethod
    def _info(self) -> evaluate.MetricInfo:
        """Description, citation, inputs and features, for ``evaluate``. Abstract, so that ``evaluate.load`` passes over
        this class: it takes the first concrete one it finds in a script."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        stock = inspect.signature(evaluate.Metric.__init__).parameters
        self._fixed: dict[str, Any] = {}
        self._evaluation: Metric | None = None
        self._exchanges = 0
        self._forget()
        fixed = {key: kwargs.pop(key) for key in list(kwargs) if key not in stock}
        kwargs["seed"] = kwargs.get("seed") or 0  # stock evaluate reads NumPy's global state for want of a seed
        super().__init__(*args, **kwargs)
        check_choice(self.name, "config_name", self.config_name, self.configs)
        #: what its states say of who counted them
        self._full_name = self.name if self.config_name == "default" else f"{self.name} ({self.config_name})"
        parameters = inspect.signature(self.encode).parameters.values()
        #: input name -> whether it is required
        self._inputs = {p.name: p.default is p.empty for p in parameters if p.kind is not p.KEYWORD_ONLY}
        #: option name -> the value in force unless another is given with the rows: fixed here, or else the default
        self._encode_options = _keyword_defaults(self.encode)
        self._score_options = _keyword_defaults(self.score)
        self._interval_options = _keyword_defaults(self.intervals)
        self.check_options(fixed)
        self._fixed = fixed
        values = {"seed": self.seed} | fixed
        for options in (self._encode_options, self._score_options, self._interval_options):
            options.update({name: values[name] for name in options if name in values})
        self._known_with_rows = self._inputs | self._encode_options
        self._known = self._known_with_rows | self._score_options | self._interval_options
        if fixed:
            self._try_options()

    def _try_options(self) -> None:
        """Refuse a fixed option that is out of range now, and not after the first epoch of a training."""
        state = self.count(self.encode(**self.example, **self._encode_options))
        self.score(state, **self._score_options)
        self.intervals(self.name, state, Scores(), None, **self._interval_options)

    @property
    def inputs(self) -> dict[str, bool]:
        """Input name -> whether it is required."""
        return dict(self._inputs)

    @property
    def kinds(self) -> dict[str, str | dict[str, str]]:
        """Input name -> what a row of it holds, one of the kinds in `inputs`; of a record, that of each field.

        >>> import toxeval
        >>> toxeval.load("conda_joint").kinds["predictions"]
        {'intent': 'label', 'slots': 'sequence'}
        """
        ways = self.features if isinstance(self.features, list) else [self.features]
        first = {name: feature for way in reversed(ways) for name, feature in way.items()}
        kinds = {name: _kind(first[name]) for name in dict.fromkeys(name for way in ways for name in way)}
        return kinds | ({"cluster": GROUP} if "cluster" in kinds else {})

    @property
    def options(self) -> dict[str, Any]:
        """The metric's options: those fixed when it was loaded, and the defaults of the others."""
        return self._encode_options | self._score_options

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
        self._check_names(given, self._encode_options | self._score_options | self._interval_options, "option")

    def _check_names(self, given: Mapping[str, Any], allowed: Mapping[str, Any], kind: str) -> None:
        for name in given:
            if name not in allowed:
                close = difflib.get_close_matches(name, allowed, n=1)
                hint = f"did you mean {close[0]}?" if close else ""
                refuse(self.name, f"{kind} {name}", "unknown", ", ".join(allowed), hint)

    def __getstate__(self) -> dict[str, Any]:
        """Without the copies of its own methods stock ``evaluate`` keeps on the instance: they can't be pickled."""
        kept = {key: value for key, value in self.__dict__.items() if key not in ("compute", "add", "add_batch")}
        return kept | {"_pending": list(self._pending)}  # a copy's rows are its own

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """What ``evaluate.load`` made is loaded again where it is unpickled: a new process doesn't know its class."""
        if type(self).__module__.startswith("evaluate_modules."):
            return evaluate.load, (inspect.getfile(type(self)), self.config_name), self.__getstate__()
        return super().__reduce_ex__(protocol)

    # Rows in.

    def _forget(self) -> None:
        self._pending: list[State] = []
        self._pending_size, self._compact_at = 0, COMPACT_FROM
        self._pending_inputs: set[str] | None = None
        self._pending_options: dict[str, Any] = {}

    def state(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> State:
        """What counts of some rows, as a value of its own: the module keeps nothing of it.

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
        inputs, options = self._split(predictions, references, kwargs, self._known_with_rows, "input")
        return self._counted(self.encoded(**inputs, **options))

    def _counted(self, arrays: dict[str, np.ndarray]) -> State:
        """What ``count`` makes of them, with the metric's name, by which other metrics refuse it."""
        state = self.count(arrays)
        object.__setattr__(state, "metric", self._full_name)  # nobody has it yet; a copy costs a small batch a tenth
        return state

    def encoded(self, **inputs_and_options: Any) -> dict[str, np.ndarray]:
        """The arrays ``encode`` makes of some rows, with the options that were fixed when the module was loaded."""
        for name, required in self._inputs.items():
            if required and name not in inputs_and_options:
                refuse(self.name, name, "missing", "one value a row")
        return self.encode(**self._encode_options | inputs_and_options)

    def _split(
        self, predictions: Any, references: Any, others: dict[str, Any], known: Mapping[str, Any], kind: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The inputs that were given (None is none), and the options. ``kind`` is what a name not known is called."""
        self._check_names(others, known, kind)
        given = {"predictions": predictions, "references": references, **others}
        inputs = {k: v for k, v in given.items() if v is not None and k in self._inputs}
        return inputs, {k: v for k, v in others.items() if k not in self._inputs}

    def _count_rows(self, given: dict[str, Any], options: dict[str, Any]) -> tuple[State, set[str], dict[str, Any]]:
        """The state of one batch; touches nothing of the instance, so that a refused batch leaves nothing behind."""
        chosen = self._encode_options | options
        if self._pending_inputs is not None and self._pending_inputs != set(given):
            found = f"{_names(given)} here and {_names(self._pending_inputs)} in the batches before"
            refuse(self.name, "inputs", found, "the same inputs in every batch")
        if self._pending_inputs is not None and self._pending_options != chosen:
            changed = [k for k in chosen if chosen[k] != self._pending_options[k]][0]
            found = f"{chosen[changed]!r} here and {self._pending_options[changed]!r} in the batches before"
            refuse(self.name, f"option {changed}", found, "the same value for every batch")
        state = self._counted(self.encoded(**given, **options))
        for key, values in state.rows.items() if self._pending else ():
            if (values.dtype.kind == "U") != (self._pending[0].rows[key].dtype.kind == "U"):
                refuse(self.name, key, "texts in one batch and numbers in another", "one kind for all rows")
        return state, set(given), chosen

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add a batch of rows; nothing is kept of a batch that is refused.

        Args:
            predictions, references, and the metric's other inputs: as in ``compute``.
            **kwargs: the other inputs, and the options that must be known when rows come in.
        """
        inputs, options = self._split(predictions, references, kwargs, self._known_with_rows, "input")
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
        # None in a required input is what the row has there: a missing verdict, which may be counted
        rows = {k: [v] for k, v in given.items() if k in self._inputs and (v is not None or self._inputs[k])}
        self.add_batch(**given | rows)

    def __len__(self) -> int:
        """How many rows were added and not yet scored."""
        return sum(state.n_rows for state in self._pending)

    def added_state(self) -> State:
        """The state of the rows that were added and not yet scored."""
        return merge(self._pending) if self._pending else State(0)

    # Scores out.

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any] | None:
        """Score the rows given here together with those added before.

        Args:
            predictions, references: one item a row.
            **kwargs: the metric's other inputs and its options; an unknown name is refused.

        Returns:
            Flat dict of plain floats and ints; ``None`` on all processes but the first.

        Raises:
            ValueError: if an input is bad (the message says which, the row, what was found and what is allowed), an
                option is unknown or out of range, or there is no row at all. Rows added before stay.
        """
        inputs, options = self._split(predictions, references, kwargs, self._known, "option")
        encode_options = {k: options.pop(k) for k in self._encode_options if k in options}

        states = self._pending
        if inputs:
            states = [*states, self._count_rows(inputs, encode_options)[0]]
        else:
            for key, value in encode_options.items():
                if self._pending_inputs is not None and value != self._pending_options[key]:
                    found = f"{value!r} here and {self._pending_options[key]!r} when the rows were added"
                    refuse(self.name, f"option {key}", found, "the same value there, as an option of add_batch")
        if self.num_process > 1:
            gathered = self._gather(merge(states) if states else State(0))
            if gathered is None:
                self._forget()
                return None
            states = gathered
        result, undefined = self._score_states(states, options)
        self._forget()
        warn_undefined(self.name, undefined)
        return result

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
        check_state(self.name, "state", state)
        if state.metric not in ("", self._full_name):
            refuse(self.name, "state", f"counted by {state.metric}", f"states of {self._full_name}")
        self._check_names(options, self._score_options | self._interval_options, "option")
        result, undefined = self._score_states([state], options)
        warn_undefined(self.name, undefined)
        return result

    def _score_states(self, states: list[State], given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The result, and which scores are undefined."""
        score_options = self._score_options | {k: v for k, v in given.items() if k in self._score_options}
        interval_options = self._interval_options | {k: v for k, v in given.items() if k in self._interval_options}
        if not any(state.n_rows for state in states):
            refuse(self.name, "predictions", "no rows", "at least one row, here or through add or add_batch")
        state = merge(states)
        scores = self.score(state, **score_options)
        unset = {"zero_division": float("nan")} if "zero_division" in self._score_options else {}
        replicate = partial(self.replicate, self.score, state, **score_options | unset)
        intervals = self.intervals(self.name, state, scores, replicate, **interval_options)
        return scores.as_dict(self.headline) | intervals, scores.undefined

    def compute_metrics(self, eval_prediction: Any, compute_result: bool = True) -> dict[str, Any]:
        """For the Trainer of ``transformers``, as it is: ``Trainer(compute_metrics=metric.compute_metrics)``.

        Options are those fixed when the module was loaded. The rows are kept apart from those of ``add`` and
        ``add_batch``. A Trainer of several processes gathers the rows itself and calls this on each of them, so
        ``num_process`` plays no part here.

        Args:
            eval_prediction: an ``EvalPrediction``: ``predictions`` as the model returned them, and ``label_ids``.
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
        for predictions, label_ids in batches(self.name, eval_prediction):
            given = self.from_trainer(predictions, label_ids)
            evaluation.add_batch(**{key: value for key, value in given.items() if key not in self._fixed})
        if compute_result:
            return evaluation.compute() or {}
        self._evaluation = evaluation
        return {}

    def without_rows(self) -> "Metric":
        """A module like this one, for one process and without rows."""
        alone: Metric = object.__new__(type(self))
        alone.__dict__.update(self.__getstate__() | {"num_process": 1, "process_id": 0})
        alone._forget()
        return alone

    def _gather(self, state: State) -> list[State] | None:
        """The states of all processes on process 0, ``None`` elsewhere, by way of stock ``evaluate``'s files and locks.

        States and not rows are exchanged: they are small, a process without rows is welcome, and nobody's data is
        written to the cache.
        """
        exchange = _StateExchange(
            config_name=f"{self.name}-{self.config_name}",
            num_process=self.num_process,
            process_id=self.process_id,
            # a process that is done may begin the next exchange while process 0 still reads this one's files
            experiment_id=f"{self.experiment_id}-{self._exchanges % 2}",
            cache_dir=self._data_dir_root,
            timeout=self.timeout,
            seed=0,
        )
        try:
            answer = exchange.compute(state=[state.to_bytes()])
        except (ValueError, OSError) as error:  # a process never came, or ended while it wrote
            traceback.clear_frames(error.__traceback__)  # they hold locks of the other processes' files
            where = f"process {self.process_id} of {self.num_process}"
            found = f"the others' counts can't be had, waiting {self.timeout} s for each ({error})"
            refuse(self.name, where, found, "every process calls compute, with the same experiment_id")
        finally:
            exchange.let_go()
        self._exchanges += 1
        return None if answer is None else [State.from_bytes(data) for data in answer["states"]]

    def _build_data_dir(self) -> str:
        """Stock ``evaluate`` makes a cache folder at load; nothing would ever lie in it here."""
        folder: str = self._data_dir_root
        return folder


class _StateExchange(evaluate.Metric):
    """Stock ``evaluate`` with one row a process, the process's state. Not imported by metric scripts by name, so that
    ``evaluate.load`` doesn't take it for the metric."""

    def _info(self) -> evaluate.MetricInfo:
        features = datasets.Features({"state": datasets.Value("large_binary")})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, *, state: list[bytes]) -> dict[str, list[bytes]]:
        return {"states": state}

    def let_go(self) -> None:
        """Release and delete what an error leaves held, so that nobody waits for it."""
        if self.writer is not None:
            self.writer.close()
        for lock in (self.rendez_vous_lock, self.filelock, *(self.filelocks or ())):
            if lock is not None:
                lock.release()
        if self.cache_file_name is not None:
            Path(self.cache_file_name).unlink(missing_ok=True)


def _keyword_defaults(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def _kind(feature: Any) -> Any:
    if isinstance(feature, dict):
        return {field: _kind(part) for field, part in feature.items()}
    if not isinstance(feature, (datasets.Value, datasets.ClassLabel)):
        return SEQUENCE
    return SCORE if feature.dtype.startswith("float") else LABEL


def _names(names: Any) -> str:
    return ", ".join(sorted(names)) or "nothing"
