"""What other processes run in test_load.py; a module of its own, so that they can import it."""

from typing import Any

import evaluate
from samples import SAMPLES, Row, Sample, columns


def rows_of(sample: Sample) -> list[Row]:
    return (sample.complete + sample.single)[:20]


def shards(rows: list[Row]) -> list[tuple[list[Row], list[Row]]]:
    """The rows of two processes: uneven, the other way round, and all for one and nothing for the other."""
    return [(rows[:1], rows[1:]), (rows[:-1], rows[-1:]), (rows, []), ([], rows)]


def one_of_two(process_id: int, metrics: str, folder: str, n_samples: int) -> list[Any]:
    """The results of one process, for each of the first samples with each kind of shards."""
    results = []
    for sample in SAMPLES[:n_samples]:
        for i, shard in enumerate(shards(rows_of(sample))):
            metric = evaluate.load(
                f"{metrics}/{sample.metric}",
                sample.config,
                num_process=2,
                process_id=process_id,
                experiment_id=f"{sample.id}-{i}",
                cache_dir=folder,
                timeout=30,
                **sample.needed,
            )
            if shard[process_id]:
                metric.add_batch(**columns(shard[process_id]))
            results.append(metric.compute(detailed=True))
    return results


def fail_then_compute(metrics: str, sample_index: int) -> dict[str, Any]:
    """The scores of a sample, after an error of the same module."""
    sample = SAMPLES[sample_index]
    metric = evaluate.load(f"{metrics}/{sample.metric}", sample.config, **sample.needed)
    rows = columns(rows_of(sample))
    message = ""
    try:
        metric.compute(**rows | dict.fromkeys(rows, [None]))
    except ValueError as error:
        message = str(error)
    if not message.startswith(sample.metric):
        raise AssertionError(message)
    result: dict[str, Any] = metric.compute(**rows)
    return result
