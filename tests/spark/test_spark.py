"""Apache Spark with several worker processes gives the numbers of ``compute``, or the library's own error."""

import os
import runpy
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from kinds import KINDS
from samples import SAMPLES, Row, Sample, assert_same, ids

pytest.importorskip("pyspark", reason="the extra toxeval[spark] is not installed")
if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
    pytest.skip("Spark needs Java", allow_module_level=True)

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning", "ignore:PySpark does not yet")
pytestmark = [pytest.mark.slow, quiet, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module")
def spark(checkout: Path) -> Iterator[Any]:
    """Two worker processes beside the driver."""
    from pyspark.sql import SparkSession

    before = dict(os.environ)
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for key, value in runpy.run_path(str(checkout / "benchmarks" / "scale.py"))["LOCAL"].items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    os.environ.clear()
    os.environ.update(before)


def frame(spark: Any, rows: list[Row], partitions: int = 0) -> Any:
    df = spark.createDataFrame(pa.Table.from_pylist(rows))
    return df.repartition(partitions) if partitions else df.coalesce(1)


def score(df: Any, sample: Sample, **options: Any) -> Any:
    import toxeval.spark

    return toxeval.spark.score(df, sample.metric, config_name=sample.config, **sample.needed, **options)


def some_rows(sample: Sample, n: int) -> list[Row]:
    """The sample's rows, in some order."""
    rows = (sample.complete + sample.single) * (1 + n // len(sample.complete + sample.single))
    return [rows[i] for i in np.random.default_rng(n).permutation(len(rows))[:n]]


# --- the numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_any_metric_in_any_partitions(spark: Any, sample: Sample) -> None:
    rows = some_rows(sample, 11)
    wanted = sample.compute(rows, detailed=True)
    for partitions in (2, 16):  # 16 of 11 rows: some are empty
        assert_same(score(frame(spark, rows, partitions), sample, detailed=True), wanted)


def test_many_rows_with_intervals(spark: Any) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(100_000).round(4)
    table = pa.table({"p": p, "label": (rng.random(len(p)) < p).astype(np.int8)})
    import toxeval.spark

    options: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 20, "targets": {"oc_accuracy": 0.9}}
    df = spark.createDataFrame(table).repartition(10)
    found = toxeval.spark.score(df, "oracle_collab", columns={"predictions": "p"}, **options)
    metric = toxeval.load("oracle_collab")
    assert_same(found, metric.compute(predictions=p, references=table["label"], **options))


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.metric in ("sold_macro_f1", "oracle_collab")], ids=ids)
def test_a_result_for_each_value_of_a_column(spark: Any, sample: Sample) -> None:
    rows = some_rows(sample, 60)
    languages = ["si", "en", None]
    marked = [row | {"the.language": languages[i % 3]} for i, row in enumerate(rows)]
    found = score(frame(spark, marked, 5), sample, by="the.language", detailed=True)
    assert list(found) == ["en", "si", None]
    for i, language in enumerate(languages):
        assert_same(found[language], sample.compute(rows[i::3], detailed=True))


def test_by_a_column_that_is_an_input(spark: Any) -> None:
    import toxeval.spark

    rows = [{"predictions": p, "references": r} for p, r in [("OFF", "OFF"), ("NOT", "OFF"), ("NOT", "NOT")] * 4]
    found = toxeval.spark.score(frame(spark, rows, 3), "sold_macro_f1", by="references")
    assert (found["NOT"]["recall_NOT"], found["OFF"]["recall_OFF"]) == (1.0, 0.5)


def test_corrected_rates_as_in_python(spark: Any) -> None:
    """By labels of other rows and of some of the same, for all rows and for each chatbot."""
    import toxeval
    import toxeval.spark

    rng, metric = np.random.default_rng(8), toxeval.load("dia_safety_rate")
    names = ["Biased Opinion", "Risk Ignorance"]
    rows = [
        {"bot": "ab"[i % 2], "predictions": int(rng.random() < 0.3), "categories": names[i % 3 % 2]} for i in range(300)
    ]
    labelled = [{"predictions": int((i % 10 == 0) ^ (i < 100)), "human": int(i < 100)} for i in range(250)]
    inputs = {name: [row[name] for row in rows] for name in ("predictions", "categories")}
    judge_on = {
        "predictions": [row["predictions"] for row in labelled],
        "references": [row["human"] for row in labelled],
    }
    others = frame(spark, labelled, 3)
    found = toxeval.spark.corrected_rate(frame(spark, rows, 4), "dia_safety_rate", judge_on=others)
    assert_same(found, metric.corrected_rate(**inputs, judge_on=judge_on))
    by_bot = toxeval.spark.corrected_rate(frame(spark, rows, 4), "dia_safety_rate", judge_on=others, by="bot")
    assert set(by_bot) == {"a", "b"}
    for i, bot in enumerate("ab"):
        own = {name: values[i::2] for name, values in inputs.items()}
        assert_same(by_bot[bot], metric.corrected_rate(**own, judge_on=judge_on))
    human = [int(rng.random() < 0.3) if i % 4 == 0 else None for i in range(300)]
    both = [{**row, "human": label} for row, label in zip(rows, human)]
    found = toxeval.spark.corrected_rate(frame(spark, both, 4), "dia_safety_rate")
    assert_same(found, metric.corrected_rate(**inputs, human=human))


def test_groups_as_in_python(spark: Any) -> None:
    import toxeval
    import toxeval.spark

    rng = np.random.default_rng(3)
    rows = [
        {"prediction_scores": float(s), "references": int(y), "team": t, "female": bool(f), "male": int(m)}
        for s, y, t, f, m in zip(
            rng.random(300).round(2), rng.random(300) < 0.3, rng.choice(["a", "b"], 300), *rng.integers(0, 2, (2, 300))
        )
    ]
    df, options = frame(spark, rows, 3), {"confidence_level": 0.95, "n_resamples": 50}
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    metric = toxeval.load("threat_f1")
    inputs = {name: columns[name] for name in ("prediction_scores", "references")}
    for by, groups in [
        ("team", columns["team"]),
        (["female", "male"], {name: columns[name] for name in ("female", "male")}),
    ]:
        found = toxeval.spark.score_by(df, "threat_f1", by, key="recall_threat", **options)
        wanted = metric.compute_by(groups, key="recall_threat", **inputs, **options)
        for name, result in wanted.groups.items():
            assert_same(found.groups[name], result)
        assert_same(found.all, wanted.all)
        assert (found.sizes, found.aucs, found.gap) == (wanted.sizes, wanted.aucs, wanted.gap)
    for by, message in [
        (["team"], "a column of string"),
        (["prediction_scores"], "a value"),
        (["x"], "no column"),
    ]:
        with pytest.raises(ValueError, match=f"^threat_f1: option by.*: {message}"):
            toxeval.spark.score_by(df, "threat_f1", by)


# --- refusals -----------------------------------------------------------------------------------------------------


def test_a_bad_row_anywhere_is_the_librarys_error(spark: Any) -> None:
    import toxeval.spark

    rows = [{"guess": "OFF", "references": "OFF"}] * 99 + [{"guess": "<PAD>", "references": "OFF"}]
    with pytest.raises(ValueError, match="^sold_macro_f1: predictions .column guess.: unknown label '<PAD>'") as caught:
        toxeval.spark.score(frame(spark, rows, 4), "sold_macro_f1", columns={"predictions": "guess"})
    assert str(caught.value).endswith("allowed: NOT, OFF (ids 0 to 1)")

    scores = [{"prediction_scores": 0.5, "references": 1}] * 30 + [{"prediction_scores": None, "references": 1}]
    with pytest.raises(ValueError, match="^threat_f1: prediction_scores .column prediction_scores.: None; allowed: "):
        toxeval.spark.score(frame(spark, scores, 2), "threat_f1")


def test_what_is_wrong_before_any_row_is_read(spark: Any) -> None:
    import toxeval.spark

    df = frame(spark, [{"predictions": "OFF", "references": "OFF"}])
    for options, message in [
        ({"columns": {"predictions": "nowhere"}}, "columns predictions=nowhere: no such column; allowed: one of the"),
        ({"by": "language"}, "option by: no column 'language' in the DataFrame; allowed: predictions, references"),
        ({"detail": True}, "option detail: unknown"),
        ({"num_process": 2}, "option num_process: unknown"),
    ]:
        with pytest.raises(ValueError, match=f"^sold_macro_f1: {message}"):
            toxeval.spark.score(df, "sold_macro_f1", **options)
    with pytest.raises(ValueError, match="^sold_macro_f1: references: no such column in the DataFrame; allowed: predi"):
        toxeval.spark.score(df.select("predictions"), "sold_macro_f1")
    with pytest.raises(ValueError, match="^sold_macro_f1: predictions: no rows"):
        toxeval.spark.score(df.where("predictions = 'NOT'"), "sold_macro_f1")
    with pytest.raises(ValueError, match="^sold_macro_f1: predictions: no rows"):
        toxeval.spark.score(df.where("predictions = 'NOT'"), "sold_macro_f1", by="references")


REFUSED_KINDS = "None among names", "bools that may mean either", "NaN among scores", "lists of different lengths"


def test_kinds_of_values(spark: Any) -> None:
    """What all doors are asked in test_kinds_through_doors.py, here in one session."""
    import toxeval.spark

    wrong = {}
    for kind in KINDS:
        if "Spark" in kind.lost_in or kind.refused and kind.name not in REFUSED_KINDS:  # each takes seconds
            continue
        df = spark.createDataFrame(pa.table(kind.columns)).coalesce(1)
        found = kind.outcome(
            lambda df=df, kind=kind: toxeval.spark.score(df, kind.metric, config_name=kind.config, **kind.options)
        )
        expected = kind.expected("Spark")
        if isinstance(found, tuple) and isinstance(expected, tuple):  # rows of a table in Spark have no numbers
            found, expected = found[0], expected[0]
        if str(found) != str(expected):
            wrong[kind.name] = found, expected
    assert not wrong


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_rows_whose_key_is_no_number_are_one_group(spark: Any, partitions: int) -> None:
    """road-33: as df.groupBy says."""
    import toxeval.spark

    nan = float("nan")
    rows = [("OFF", "OFF", nan), ("NOT", "OFF", nan), ("NOT", "NOT", nan), ("OFF", "OFF", nan), ("OFF", "NOT", 1.0)]
    rows += [("OFF", "OFF", None), ("OFF", "OFF", -0.0), ("NOT", "NOT", 0.0)]
    df = spark.createDataFrame(rows, ["prediction", "label", "g"]).repartition(partitions)
    found = toxeval.spark.score(df, "sold_macro_f1", by="g", detailed=True)
    assert [str(key).removeprefix("-") for key in found] == ["0.0", "1.0", "nan", "None"]
    assert [result["accuracy"] for result in found.values()] == [1.0, 0.0, 0.75, 1.0]
    assert [result["support_OFF"] for result in found.values()] == [1, 0, 3, 1]


def test_groups_by_nested_values_are_refused(spark: Any) -> None:
    import toxeval.spark

    df = frame(spark, [{"predictions": "OFF", "references": "OFF", "g": {"a": 1}, "h": [1]}])
    for by, kind in (("g", "struct<a:bigint>"), ("h", "array<bigint>")):
        with pytest.raises(
            ValueError, match=f"^sold_macro_f1: option by: a column of {kind}; allowed: a column of sing"
        ):
            toxeval.spark.score(df, "sold_macro_f1", by=by)


def test_messages_say_nothing_of_the_command_or_of_rows(spark: Any) -> None:
    import toxeval.spark

    pairs = [{"prediction_scores": [0.5, 0.6], "references": 1}]
    with pytest.raises(
        ValueError, match=r"^threat_f1: prediction_scores \(column prediction_scores\): a row sums to 1.1"
    ):
        toxeval.spark.score(frame(spark, pairs), "threat_f1")
    with pytest.raises(ValueError, match=r'say which one it is with columns=\{"predictions": ...\}') as refused:
        toxeval.spark.score(frame(spark, [{"guess": 1, "label": 1}]), "sold_macro_f1")
    assert "--columns" not in str(refused.value)
    nested = [{"scores": {"threat": {"value": 0.9}}, "label": 1}, {"scores": {"threat": {"value": 0.2}}, "label": 0}]
    said = {"prediction_scores": "scores.threat.value"}
    assert toxeval.spark.score(frame(spark, nested), "threat_f1", columns=said)["accuracy"] == 1.0


def test_an_error_of_sparks_own_stays_as_it_is(spark: Any) -> None:
    import toxeval.spark

    df = frame(spark, [{"predictions": "OFF", "references": "OFF"}])
    broken = df.selectExpr("predictions", "assert_true(references = 'NOT') as references")
    with pytest.raises(Exception, match="is not true") as caught:
        toxeval.spark.score(broken, "sold_macro_f1")
    assert not isinstance(caught.value, ValueError)


# --- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("victim", ["Python worker", "executor"])
def test_a_process_killed_in_mid_job(spark: Any, victim: str, tmp_path: Path) -> None:
    import toxeval.spark

    marker = str(tmp_path / "killed")

    def once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for i, batch in enumerate(batches):
            yield batch
            if i == 0 and batch.num_rows:
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                pid = os.getpid()
                while victim == "executor" and b"java" not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]:
                    pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                os.kill(pid, signal.SIGKILL)

    rng = np.random.default_rng(0)
    p = rng.random(60_000).round(3)
    table = pa.table({"prediction_scores": p, "references": (rng.random(len(p)) < p).astype(np.int64)})
    df = spark.createDataFrame(table).repartition(6)
    found = toxeval.spark.score(df.mapInArrow(once, df.schema), "threat_f1", detailed=True)
    assert os.path.exists(marker)
    columns_ = {name: table[name] for name in table.column_names}
    assert_same(found, toxeval.load("threat_f1").compute(**columns_, detailed=True))
