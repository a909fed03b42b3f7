"""toxeval: the published scores of toxicity benchmarks, as Hugging Face ``evaluate`` modules."""

from toxeval.loading import METRICS, load

__all__ = ["METRICS", "__version__", "load"]

__version__ = "0.1.0"
