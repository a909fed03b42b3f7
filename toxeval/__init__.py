"""toxeval: the published scores of toxicity benchmarks, as Hugging Face ``evaluate`` modules."""

from toxeval.data import DATASETS, load_dataset
from toxeval.loading import METRICS, load

__all__ = ["DATASETS", "METRICS", "__version__", "load", "load_dataset"]

__version__ = "0.1.0"
