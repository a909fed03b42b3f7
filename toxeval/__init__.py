"""toxeval: the published scores of toxicity benchmarks, as Hugging Face ``evaluate`` modules."""

from toxeval import checkout as _checkout  # noqa: F401, I001  first: the others import what it finds

from toxeval.data import DATASETS, load_dataset
from toxeval.loading import METRICS, load
from toxeval.core.state import State, merge
from toxeval.version import __version__

__all__ = ["DATASETS", "METRICS", "State", "__version__", "load", "load_dataset", "merge"]
