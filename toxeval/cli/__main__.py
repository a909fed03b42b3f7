"""``python -m toxeval.cli``."""

from . import main

main()
