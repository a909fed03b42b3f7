"""``python -m toxeval.harness path``: the folder for lm-evaluation-harness's ``--include_path``."""

import sys

from toxeval.harness.lm_eval import TASKS

if __name__ == "__main__":
    if sys.argv[1:] != ["path"]:
        sys.exit("python -m toxeval.harness path: the folder with the tasks of lm-evaluation-harness")
    print(TASKS)
