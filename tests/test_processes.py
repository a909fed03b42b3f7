"""Several processes, a process that dies, threads, and modules that are copied or sent elsewhere."""

import copy
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest
from samples import ONE_EACH, assert_same, columns

import toxeval

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")]
SPAWN = multiprocessing.get_context("spawn")
SCORES, LABELS = np.linspace(0.1, 0.95, 40), np.arange(40) % 3 == 0


def in_processes(n: int, work: Callable[..., Any], *args: Any) -> list[Any]:
    """What ``work(process_id, n, *args)`` gives in each of n new processes."""
    with SPAWN.Pool(n) as pool:
        return pool.starmap_async(work, [(i, n, *args) for i in range(n)], chunksize=1).get(timeout=240)


# --- num_process --------------------------------------------------------------------------------------------------


def rounds(process_id: int, n: int, folder: str) -> list[Any]:
    """Many exchanges in a row, as fast as they go, with another share of the rows each."""
    metric = toxeval.load(
        "threat_f1", num_process=n, process_id=process_id, experiment_id="rounds", cache_dir=folder, timeout=60
    )
    results = []
    for i in range(10):
        mine = (np.arange(40) * (i + 1) // 7) % (n + 1) == process_id  # uneven; sometimes nothing
        mine |= (process_id == 0) & ((np.arange(40) * (i + 1) // 7) % (n + 1) == n)
        if mine.any():
            metric.add_batch(prediction_scores=SCORES[mine], references=LABELS[mine])
        results.append(metric.compute(detailed=True, confidence_level=0.9, n_resamples=50))
    return results


def test_four_processes_again_and_again(tmp_path: Path) -> None:
    first, *others = in_processes(4, rounds, str(tmp_path))
    metric = toxeval.load("threat_f1", confidence_level=0.9, n_resamples=50)
    wanted = metric.compute(prediction_scores=SCORES, references=LABELS, detailed=True)
    for result in first:
        assert_same(result, wanted)
    assert others == [[None] * 10] * 3


def of_two(process_id: int, folder: Path, timeout: float) -> Any:
    options = {"experiment_id": "dying", "cache_dir": str(folder), "timeout": timeout}
    return toxeval.load("sold_macro_f1", num_process=2, process_id=process_id, **options)


def second_process(folder: Path, dies: str) -> None:
    metric = of_two(1, folder, 60)
    if dies == "before it computes":
        os.kill(os.getpid(), signal.SIGKILL)
    if dies == "while it writes":
        evaluate.Metric._finalize = lambda self: os.kill(os.getpid(), signal.SIGKILL)
    metric.add_batch(predictions=["OFF", "NOT"], references=["OFF", "OFF"])
    assert metric.compute() is None


@pytest.mark.parametrize("dies", ["before it computes", "while it writes"])
def test_a_killed_process_is_reported_and_blocks_nobody(dies: str, tmp_path: Path) -> None:
    metric = of_two(0, tmp_path, 3 if dies == "before it computes" else 60)
    metric.add_batch(predictions=["OFF"], references=["OFF"])
    killed = SPAWN.Process(target=second_process, args=(tmp_path, dies))
    killed.start()
    if dies == "before it computes":
        killed.join(60)
    with pytest.raises(ValueError, match="sold_macro_f1: process 0 of 2: the others' counts can't be had") as kept:
        metric.compute()
    killed.join(60)
    assert killed.exitcode == -signal.SIGKILL

    metric.timeout = 60  # a new second process comes, and the rows of the first are still there
    other = SPAWN.Process(target=second_process, args=(tmp_path, "never"))
    other.start()
    assert metric.compute(detailed=True)["tp"] == 2
    other.join(60)
    assert other.exitcode == 0
    assert not list(tmp_path.rglob("*.arrow"))
    assert kept.value  # an error that somebody holds on to holds no lock


# --- copies -------------------------------------------------------------------------------------------------------

FRESH = """
import pickle, sys
work = pickle.load(sys.stdin.buffer)
results = [(metric.compute(**rows), type(metric).__module__) for metric, rows in work]
sys.stdout.buffer.write(pickle.dumps(results))
"""


@pytest.mark.parametrize("how", ["toxeval.load", "evaluate.load"])
def test_copies_and_pickles(how: str, in_checkout: Path) -> None:
    load = toxeval.load if how == "toxeval.load" else lambda name, **o: evaluate.load(f"metrics/{name}", **o)
    work, wanted = [], []
    for sample in ONE_EACH:
        metric = load(sample.metric, detailed=True)
        wanted.append(metric.compute(**columns(sample.complete)))
        metric.add_batch(**columns(sample.complete[:3]))  # what was added goes along
        rest = columns(sample.complete[3:])
        for twin in (copy.deepcopy(metric), copy.copy(metric), pickle.loads(pickle.dumps(metric))):
            assert len(twin) == 3
            assert twin.compute(**rest) == wanted[-1]
        work.append((metric, rest))
    program = [sys.executable, "-c", FRESH]
    fresh = subprocess.run(program, input=pickle.dumps(work), capture_output=True, timeout=120, cwd=in_checkout.parent)
    assert fresh.returncode == 0, fresh.stderr[-2000:]
    assert [result for result, _ in pickle.loads(fresh.stdout)] == wanted
    home = "evaluate_modules." if how == "evaluate.load" else "toxeval.metrics."
    assert all(module.startswith(home) for _, module in pickle.loads(fresh.stdout))
    assert [metric.compute(**rest) for metric, rest in work] == wanted


def test_a_module_a_thread() -> None:
    def work(i: int) -> list[Any]:
        sample = ONE_EACH[i % len(ONE_EACH)]
        metric = toxeval.load(sample.metric, detailed=True)
        results = []
        for _ in range(20):
            for row in sample.complete:
                metric.add_batch(**columns([row]))
            results.append(metric.compute())
        return results

    with ThreadPoolExecutor(8) as pool:
        for i, results in enumerate(pool.map(work, range(16))):
            sample = ONE_EACH[i % len(ONE_EACH)]
            wanted = toxeval.load(sample.metric, detailed=True).compute(**columns(sample.complete))
            for result in results:
                assert_same(result, wanted)


# --- torch.distributed --------------------------------------------------------------------------------------------


def join_group(rank: int, n: int, port: int) -> None:
    address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(n), **address, "OMP_NUM_THREADS": "1"}
    os.environ |= {"ACCELERATE_USE_CPU": "true"}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def distributed(rank: int, n: int, port: int, folder: str) -> Any:
    """Each process scores its own, uneven share; torch only keeps them in step."""
    join_group(rank, n, port)
    import torch.distributed as dist

    dist.init_process_group("gloo")
    mine = slice(0, 9) if rank == 0 else slice(9, None)
    group = {"num_process": dist.get_world_size(), "process_id": dist.get_rank(), "experiment_id": "gloo"}
    metric = toxeval.load("oracle_collab", **group, cache_dir=folder, timeout=60)
    metric.add_batch(predictions=SCORES[mine], references=LABELS[mine])
    result = metric.compute()
    dist.barrier()
    dist.destroy_process_group()
    return result


def test_two_processes_of_torch_distributed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    first, second = in_processes(2, distributed, free_port(), str(tmp_path))
    assert_same(first, toxeval.load("oracle_collab").compute(predictions=SCORES, references=LABELS))
    assert second is None


def gathering(rank: int, n: int, port: int) -> Any:
    """The recipe of `accelerate`: gather, then every process has all rows and scores them as if it were alone."""
    join_group(rank, n, port)
    import torch
    from accelerate import Accelerator
    from torch.utils.data import DataLoader, TensorDataset

    accelerator = Accelerator(cpu=True)
    data = TensorDataset(torch.tensor(SCORES), torch.tensor(LABELS).long())
    loader = accelerator.prepare(DataLoader(data, batch_size=7))
    metric = toxeval.load("threat_f1")
    for scores, labels in loader:
        scores, labels = accelerator.gather_for_metrics((scores, labels))
        metric.add_batch(prediction_scores=scores, references=labels)
    seen = len(metric)
    result = metric.compute()
    accelerator.end_training()
    return seen, result


def test_gather_for_metrics_of_accelerate() -> None:
    pytest.importorskip("accelerate")
    wanted = toxeval.load("threat_f1").compute(prediction_scores=SCORES, references=LABELS)
    for seen, result in in_processes(2, gathering, free_port()):
        assert seen == len(SCORES)  # 40 rows in batches of 7 on two processes: none twice, none lost
        assert_same(result, wanted)


def trainers(rank: int, n: int, port: int, folder: str) -> Any:
    join_group(rank, n, port)
    from tiny import CASES, rows

    results = {}
    for case in CASES:
        if case.id in ("threat-with-hidden-states", "oracle", "conda"):
            for each in (False, True):
                data = rows(2, case.labels, n=27)
                trainer = case.trainer(Path(folder), data=data, ddp_backend="gloo", batch_eval_metrics=each)
                results[case.id, each] = trainer.evaluate()
    return results


def test_a_trainer_on_two_processes(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from tiny import CASES, rows

    first, second = in_processes(2, trainers, free_port(), str(tmp_path))
    for case in CASES:
        if (case.id, True) in first:
            wanted = case.trainer(tmp_path, data=rows(2, case.labels, n=27)).evaluate()
            for each in (False, True):
                for found in (first[case.id, each], second[case.id, each]):
                    ours = {key for key in wanted if not key.endswith(("_second", "runtime", "time", "loss"))}
                    assert {k: found[k] for k in ours} == pytest.approx({k: wanted[k] for k in ours}, nan_ok=True)
