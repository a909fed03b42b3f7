"""The metrics that are installed with this package."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toxeval.metrics
from toxeval.core.declarations import Choice, Definition
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, describe, refuse

if TYPE_CHECKING:
    from toxeval.evaluate_module import EvaluateModule

#: The metrics: every folder of ``metrics`` that holds a script of its own name.
METRICS = tuple(
    sorted(
        script.stem for script in Path(toxeval.metrics.__path__[0]).glob("*/*.py") if script.stem == script.parent.name
    )
)


def load(name: str, config_name: str | None = None, **options: Any) -> EvaluateModule:
    """A metric module, as ``evaluate.load`` gives it, from the installed package: no network, nothing copied.

    Args:
        name: one of `METRICS`.
        config_name: the module's configuration, such as ``"token"`` of ``sold_macro_f1``.
        **options: options of the metric to fix beforehand (``threshold=0.3``), and the keyword arguments of
            `evaluate.load` for several processes (``num_process``, ``process_id``, ``experiment_id``, ``cache_dir``).

    Raises:
        ValueError: for an unknown metric, configuration or option, or an option out of range.

    >>> metric = load("sold_macro_f1")
    >>> metric.compute(predictions=["OFF", "NOT"], references=["OFF", "NOT"])["f1_macro"]
    1.0
    """
    _check_name(name)
    script = importlib.import_module(f"toxeval.metrics.{name}.{name}")
    classes = [each for each in vars(script).values() if inspect.isclass(each) and each.__module__ == script.__name__]
    make: Any = classes[0]
    module: EvaluateModule = make(config_name=config_name, **options)
    return module


def definition(name: str, config_name: str | None = None) -> Definition:
    """What a metric takes and how it is scored, without ``evaluate``, which is slow to import.

    Raises:
        ValueError: for an unknown metric or configuration.

    >>> definition("sold_macro_f1", "token").full_name
    'sold_macro_f1 (token)'
    """
    by_config = definitions(name)
    with Known(metric=name):
        config = Choice("config_name", "", "default", choices=tuple(by_config)).check(config_name or "default")
    return by_config[config]


def definitions(name: str) -> Mapping[str, Definition]:
    """Configuration -> the metric in it."""
    _check_name(name)
    found: Mapping[str, Definition] = importlib.import_module(f"toxeval.metrics.{name}.scores").DEFINITIONS
    return found


def plain(name: str, config_name: str | None = None, **options: Any) -> Metric:
    """The metric that `load` gives, without ``evaluate``: for the command and other engines."""
    return Metric(definition(name, config_name), **options)


def _check_name(name: str) -> None:
    if name not in METRICS:
        refuse(f"unknown metric {describe(name)}", ", ".join(METRICS), where="toxeval.load")
