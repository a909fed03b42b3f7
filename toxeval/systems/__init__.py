"""Several runs of one system (random seeds), and two systems compared on the same rows."""

from .comparing import Comparison, compare
from .correcting import compare_corrected
from .runs import Summary, aggregate, summarise

__all__ = ["Comparison", "Summary", "aggregate", "compare", "compare_corrected", "summarise"]
