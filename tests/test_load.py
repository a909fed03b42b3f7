"""Every way of loading a metric, and several processes at work."""

import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import datasets
import evaluate
import pytest
from samples import ONE_EACH, SAMPLES, Sample, assert_same, columns, ids
from workers import fail_then_compute, one_of_two, rows_of

import toxeval

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


@pytest.mark.parametrize("sample", ONE_EACH, ids=ids)
def test_by_folder_by_path_and_by_name(sample: Sample, in_checkout: Path) -> None:
    rows = columns(sample.complete)
    script = in_checkout / "metrics" / sample.metric / f"{sample.metric}.py"
    wanted = sample.compute(sample.complete, detailed=True)
    for path in (f"metrics/{sample.metric}", f"./metrics/{sample.metric}/{sample.metric}.py", str(script)):
        metric = evaluate.load(path, sample.config)
        assert isinstance(metric, evaluate.Metric)
        assert metric.compute(**rows, detailed=True) == wanted
        fixed = evaluate.load(path, sample.config, detailed=True)
        assert fixed.compute(**rows) == wanted


def test_configuration_by_name(in_checkout: Path) -> None:
    metric = evaluate.load("metrics/sold_macro_f1", "token")
    assert metric.compute(predictions=[["OFF"], []], references=[["OFF"], []])["recall_OFF"] == 1.0


@pytest.mark.parametrize("name", toxeval.METRICS)
def test_a_module_describes_itself(name: str) -> None:
    metric = toxeval.load(name)
    assert metric.name == name
    assert "toxeval" not in metric.description
    assert metric.citation.strip().startswith("@")
    assert set(metric.features[0]) >= {"predictions", "references"} or name == "threat_f1"
    assert "evaluate.load" in metric.inputs_description


def test_modules_can_be_combined(in_checkout: Path) -> None:
    both = evaluate.combine(["metrics/sold_macro_f1", "metrics/threat_f1"], force_prefix=True)
    result = both.compute(predictions=[1, 0], references=[1, 0])
    assert result["sold_macro_f1_f1_macro"] == result["threat_f1_f1_macro"] == 1.0


def test_python_started_in_a_checkout_finds_all_of_it_without_an_editable_install(checkout: Path) -> None:
    code = (
        "import sys; sys.meta_path[:] = [finder for finder in sys.meta_path if 'editable' not in finder.__module__]\n"
        "import toxeval, toxeval.metrics, toxeval.datasets_scripts\n"
        "print(toxeval.metrics.__file__, toxeval.datasets_scripts.__file__, *toxeval.METRICS, sep='\\n')"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    homes = [str(checkout / name / "__init__.py") for name in ("metrics", "datasets_scripts")]
    assert run.stdout.split() == [*homes, *toxeval.METRICS]


@pytest.fixture
def other_process() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("n_samples", [2, pytest.param(len(SAMPLES), marks=pytest.mark.slow)])
def test_two_processes_give_the_result_of_one(
    n_samples: int, other_process: ProcessPoolExecutor, checkout: Path, tmp_path: Path
) -> None:
    others = other_process.submit(one_of_two, 1, str(checkout / "metrics"), str(tmp_path), n_samples)
    first = one_of_two(0, str(checkout / "metrics"), str(tmp_path), n_samples)
    assert others.result() == [None] * 4 * n_samples
    for i, sample in enumerate(SAMPLES[:n_samples]):
        wanted = sample.compute(rows_of(sample), detailed=True)
        for found in first[4 * i : 4 * i + 4]:
            assert_same(found, wanted)
    assert not list(tmp_path.rglob("*.arrow"))


@pytest.mark.slow
def test_processes_side_by_side_in_one_home(checkout: Path) -> None:
    jobs = [SAMPLES.index(sample) for sample in ONE_EACH for _ in range(2)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        found = processes.map(fail_then_compute, [str(checkout / "metrics")] * len(jobs), jobs)
        for i, result in zip(jobs, found):
            assert_same(result, SAMPLES[i].compute(rows_of(SAMPLES[i])))


def test_caches_are_those_of_the_test_run(hf_home: Path) -> None:
    assert Path(datasets.config.HF_CACHE_HOME) == hf_home
    assert Path(evaluate.config.HF_CACHE_HOME) == hf_home
