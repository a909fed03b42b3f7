"""Loading the metric modules that are installed with this package."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toxeval.metrics

if TYPE_CHECKING:
    from toxeval.metrics.base import Metric

#: The metric modules: every folder of ``metrics`` that holds a script of its own name.
METRICS = tuple(
    sorted(
        script.stem for script in Path(toxeval.metrics.__path__[0]).glob("*/*.py") if script.stem == script.parent.name
    )
)


def load(name: str, config_name: str | None = None, **options: Any) -> Metric:
    """A metric module, as ``evaluate.load`` gives it, from the installed package: no network, nothing copied.

    Args:
        name: one of `METRICS`.
        config_name: the module's configuration, such as ``"token"`` of ``sold_macro_f1``.
        **options: options of the metric to fix beforehand (``threshold=0.3``), and the keyword arguments of
            `evaluate.load` for several processes (``num_process``, ``process_id``, ``experiment_id``, ``cache_dir``).

    Raises:
        ValueError: for an unknown metric, configuration or option.

    >>> metric = load("sold_macro_f1")
    >>> metric.compute(predictions=["OFF", "NOT"], references=["OFF", "NOT"])["f1_macro"]
    1.0
    """
    if name not in METRICS:
        raise ValueError(f"toxeval.load: unknown metric {name!r}; allowed: {', '.join(METRICS)}")
    script = importlib.import_module(f"toxeval.metrics.{name}.{name}")
    classes = [cls for _, cls in inspect.getmembers(script, inspect.isclass) if cls.__module__ == script.__name__]
    metric: Callable[..., Metric] = classes[0]
    return metric(config_name=config_name, **options)
