"""Loading the metric modules that are installed with this package."""

from __future__ import annotations

import importlib
import inspect
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
        ValueError: for an unknown metric, configuration or option, or an option out of range.

    >>> metric = load("sold_macro_f1")
    >>> metric.compute(predictions=["OFF", "NOT"], references=["OFF", "NOT"])["f1_macro"]
    1.0
    """
    return metric_class(name)(config_name=config_name, **options)


def metric_class(name: str) -> type[Metric]:
    """The class in a metric's script.

    Raises:
        ValueError: for an unknown metric.

    >>> metric_class("sold_macro_f1").configs
    ('default', 'token')
    """
    if name not in METRICS:
        raise ValueError(f"toxeval.load: unknown metric {name!r}; allowed: {', '.join(METRICS)}")
    import evaluate  # here, since it is slow to import

    script = importlib.import_module(f"toxeval.metrics.{name}.{name}")
    classes = [cls for cls in vars(script).values() if inspect.isclass(cls) and cls.__module__ == script.__name__]
    return next(cls for cls in classes if issubclass(cls, evaluate.Metric))
