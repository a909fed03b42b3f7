"""toxeval: the published scores of toxicity benchmarks, as Hugging Face ``evaluate`` modules."""

import os

# In a checkout the metrics and the loaders lie beside this folder, so that Python started there finds them, installed
# or not.
if not os.path.isdir(os.path.join(__path__[0], "metrics")):
    __path__.append(os.path.dirname(__path__[0]))

from toxeval.data import DATASETS, load_dataset
from toxeval.loading import METRICS, load
from toxeval.metrics.scoring import State, merge

__all__ = ["DATASETS", "METRICS", "State", "__version__", "load", "load_dataset", "merge"]

__version__ = "0.1.0"
