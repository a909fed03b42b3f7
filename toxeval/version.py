"""The version of toxeval, by itself: a folder on the Hub has it, too."""

__version__ = "0.1.0"
