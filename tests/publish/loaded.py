"""Run where toxeval isn't installed: the metrics of a Hub, computed, pickled, and in two processes.

    python loaded.py INPUTS FOLDER

INPUTS is a JSON file, metric -> inputs; FOLDER is for what the processes exchange. Prints what was found as JSON.
"""

import importlib.util
import json
import multiprocessing
import pickle
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def one_of_two(name: str, inputs: dict[str, list[Any]], process_id: int, folder: str) -> dict[str, Any] | None:
    """What one of two processes gets; the first has one row, the other has the rest."""
    import evaluate

    warnings.simplefilter("ignore")
    metric = evaluate.load(
        f"jane/{name}", num_process=2, process_id=process_id, experiment_id=name, cache_dir=folder, timeout=60
    )
    metric.add_batch(**{key: values[1:] if process_id else values[:1] for key, values in inputs.items()})
    scores: dict[str, Any] | None = metric.compute(detailed=True)
    return scores


def of_a_pickle(pickled: bytes) -> dict[str, Any]:
    """The scores of a metric that another process added rows to."""
    warnings.simplefilter("ignore")
    scores: dict[str, Any] = pickle.loads(pickled).compute(detailed=True)
    return scores


def main(inputs_file: str, folder: str) -> None:
    """Print metric -> its scores, the same from a pickle elsewhere, and from two processes."""
    import evaluate

    warnings.simplefilter("ignore")
    if importlib.util.find_spec("toxeval") is not None:
        raise SystemExit("toxeval is importable here")
    with open(inputs_file, encoding="utf-8") as file:
        all_inputs = json.load(file)
    found = {}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        for name, inputs in all_inputs.items():
            metric = evaluate.load(f"jane/{name}")
            metric.add_batch(**inputs)
            pickled = pool.submit(of_a_pickle, pickle.dumps(metric))
            halves = [pool.submit(one_of_two, name, inputs, number, folder) for number in range(2)]
            found[name] = {
                "here": metric.compute(detailed=True),
                "pickled": pickled.result(),
                "two processes": halves[0].result(),
            }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
