"""In a checkout the metrics and the loaders lie beside this package: Python started there takes them from where they
are, also if toxeval isn't installed, or is installed as a copy."""

import importlib.util
import sys
from pathlib import Path

for _name in ("metrics", "datasets_scripts"):
    _home = Path(__file__).resolve().parent.parent / _name
    if importlib.util.find_spec(f"toxeval.{_name}") is None and _home.is_dir():
        _spec = importlib.util.spec_from_file_location(
            f"toxeval.{_name}", _home / "__init__.py", submodule_search_locations=[str(_home)]
        )
        if _spec is not None and _spec.loader is not None:
            _module = importlib.util.module_from_spec(_spec)
            sys.modules[f"toxeval.{_name}"] = _module
            setattr(sys.modules["toxeval"], _name, _module)
            _spec.loader.exec_module(_module)
