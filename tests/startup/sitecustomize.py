"""For every Python that the tests start, and their own: ``evaluate`` does without ``transformers``.

It takes it for its evaluators alone, and PyTorch with it: three seconds a process. Where a test wants evaluators, see
tests/trainer/test_stock_evaluate.py.
"""

import sys
from typing import Any


class Hidden:
    """Finds no ``transformers`` while ``evaluate`` is being imported."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        evaluate = sys.modules.get("evaluate")
        if name == "transformers" and evaluate is not None and not hasattr(evaluate, "load"):
            raise ModuleNotFoundError("transformers is hidden while evaluate is imported", name=name)


sys.meta_path.insert(0, Hidden)  # type: ignore[arg-type]
