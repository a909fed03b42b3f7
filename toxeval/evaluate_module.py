"""A metric as an `evaluate.Metric`: what ``evaluate`` asks of a module, and nothing that a score depends on."""

import abc
import inspect
import itertools
import textwrap
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

import datasets
import evaluate

from toxeval.core.declarations import INTERVAL_OPTIONS, RECORD, SCORE, SEQUENCE, Choice, Definition, Input
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, refuse
from toxeval.core.state import State, merge


class EvaluateModule(Metric, evaluate.Metric, abc.ABC):
    """A `Metric` that ``evaluate.load`` loads; a metric's script names its definitions and describes it.

    In one process nothing is written to disk and nothing goes through Arrow. With ``num_process > 1`` the processes
    exchange their states through stock ``evaluate``, and process 0 scores.
    """

    #: configuration -> the metric in it
    definitions: ClassVar[Mapping[str, Definition]]

    @abc.abstractmethod
    def _info(self) -> evaluate.MetricInfo:
        """Description, citation, inputs and features, for ``evaluate``; see `module_info`. Abstract, so that
        ``evaluate.load`` passes over this class: it takes the first concrete one it finds in a script."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        stock = inspect.signature(evaluate.Metric.__init__).parameters
        options = {key: kwargs.pop(key) for key in list(kwargs) if key not in stock}
        chosen = args[0] if args else kwargs.get("config_name")
        first = next(iter(self.definitions.values()))
        with Known(metric=first.name):
            config = Choice("config_name", "", "default", choices=tuple(self.definitions)).check(chosen or "default")
        if kwargs.get("seed") is None:
            kwargs["seed"] = 0  # stock evaluate reads NumPy's global state for want of a seed
        else:
            options["seed"] = kwargs["seed"]
        evaluate.Metric.__init__(self, *args, **kwargs)
        self._exchanges = 0
        Metric.__init__(self, self.definitions[config], **options)

    def __getstate__(self) -> dict[str, Any]:
        """Without the copies of its own methods stock ``evaluate`` keeps on the instance: they can't be pickled."""
        kept = {key: value for key, value in self.__dict__.items() if key not in ("compute", "add", "add_batch")}
        return kept | {"_pending": list(self._pending)}  # a copy's rows are its own

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """What ``evaluate.load`` made is loaded again where it is unpickled: a new process doesn't know its class."""
        if type(self).__module__.startswith("evaluate_modules."):
            return evaluate.load, (inspect.getfile(type(self)), self.config_name), self.__getstate__()
        return super().__reduce_ex__(protocol)

    def _gathered(self, states: list[State]) -> list[State] | None:
        """The states of all processes on process 0, ``None`` elsewhere, by way of stock ``evaluate``'s files and locks.

        States and not rows are exchanged: they are small, a process without rows is welcome, and nobody's data is
        written to the cache.
        """
        if self.num_process == 1:
            return states
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
            answer = exchange.compute(state=[(merge(states) if states else State(0)).to_bytes()])
        except (ValueError, OSError) as error:  # a process never came, or ended while it wrote
            traceback.clear_frames(error.__traceback__)  # they hold locks of the other processes' files
            where = f"process {self.process_id} of {self.num_process}"
            found = f"the others' counts can't be had, waiting {self.timeout} s for each ({error})"
            allowed = "every process calls compute, with the same experiment_id"
            refuse(found, allowed, metric=self.name, where=where)
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


# --- what a module says of itself ---------------------------------------------------------------------------------


def module_info(
    definition: Definition, *, description: str, citation: str, returns: str, urls: Sequence[str]
) -> evaluate.MetricInfo:
    """What a module's ``_info`` returns.

    Args:
        definition: the metric in the module's configuration.
        description: what it measures.
        citation: BibTeX of its paper.
        returns: what ``compute`` returns, with examples; the arguments follow from the definition.
        urls: where to read on.
    """
    return evaluate.MetricInfo(
        description=description,
        citation=citation,
        inputs_description=f"\n{_arguments(definition)}\n{returns}",
        features=[datasets.Features(columns) for columns in _features(definition)],
        reference_urls=list(urls),
    )


def _arguments(definition: Definition) -> str:
    """The inputs and options, each with its sentence."""
    told = [(each.name, each.about) for each in definition.inputs]
    told += [
        (each.name, f"{each.about} Default: {each.default!r}.") for each in (*definition.options, *INTERVAL_OPTIONS)
    ]
    lines = [textwrap.fill(f"{n}: {t}", 110, initial_indent="    ", subsequent_indent="        ") for n, t in told]
    return "\n".join(["Args:", *lines, ""])


def _features(definition: Definition) -> Iterator[dict[str, Any]]:
    """The columns that a module takes, once for each choice of inputs and for names and ids."""
    usual = {"predictions", "references"}  # these first: evaluate.combine passes on the inputs of the first way
    others = [each for each in definition.inputs if not each.required]
    ways = [chosen for n in range(len(others) + 1) for chosen in itertools.combinations(others, n)]
    for chosen in sorted(ways, key=lambda chosen: {each.name for each in chosen} != usual & {o.name for o in others}):
        inputs = [each for each in definition.inputs if each.required or each in chosen]
        for kind in ("string", "int64"):
            yield {each.name: _feature(each, kind) for each in inputs}


def _feature(column: Input, kind: str) -> Any:
    if column.kind == RECORD:
        return {field.name: _feature(field, kind) for field in column.fields}
    value = datasets.Value("float64" if column.kind == SCORE else kind)
    return datasets.Sequence(value) if column.kind == SEQUENCE else value
