"""The demo runs as `make demo` runs it, on example rows in the benchmarks' formats."""

import subprocess
import sys
import warnings
from collections import Counter

import pytest
from samples import CATEGORIES, INTENTS, SLOTS, THREE_WAY

import toxeval
from toxeval import demo


def test_it_prints_a_table_for_every_metric() -> None:
    command = [sys.executable, "-W", "error::UserWarning", "-m", "toxeval.demo"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    for name in toxeval.METRICS:
        assert f"\n{name} (" in text
        for key, meaning in demo.SHOWN[name].items():
            assert key in text
            assert meaning in text
    assert "nan" not in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", toxeval.METRICS)
def test_what_is_printed_is_what_compute_returns(name: str, capsys: pytest.CaptureFixture) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # complete data: every score is defined
        scores = toxeval.load(name).compute(**demo.inputs(name), **demo.OPTIONS.get(name, {}))
        demo.main()
    text = capsys.readouterr().out.partition(f"\n{name} (")[2]
    for key in demo.SHOWN[name]:
        printed = next(line.split() for line in text.splitlines() if line.split()[:1] == [key])
        assert float(printed[1]) == pytest.approx(scores[key], abs=5e-5)


def test_examples_have_the_quirks_of_the_real_data() -> None:
    chat = demo.rows("conda_joint")
    assert any(not row["tokens"] for row in chat)
    for row in chat:
        assert len(row["tokens"]) == len(row["reference"]["slots"]) == len(row["prediction"]["slots"])
        assert [t == "[SEPA]" for t in row["tokens"]] == [s == "SEPA" for s in row["reference"]["slots"]]
    assert {row["reference"]["intent"] for row in chat} == set(INTENTS)
    assert {slot for row in chat for slot in row["reference"]["slots"]} == set(SLOTS)

    posts = demo.rows("sold_macro_f1")
    assert all(int(post["post_id"]) > 2**53 for post in posts)
    assert any("\u0dca\u200d\u0dbb" in post["tokens"] for post in posts)
    assert any(post["reference"] == "OFF" and not post["reference_rationales"] for post in posts)

    replies = demo.rows("dia_safety_rate")
    assert {reply["prediction"] for reply in replies} == set(THREE_WAY)
    assert set(Counter(reply["category"] for reply in replies)) == set(CATEGORIES)
    assert any(reply["response"] == "" for reply in replies)
    assert any(reply["response"].startswith(" ") for reply in replies)

    scores = Counter(row["prediction"] for row in demo.rows("oracle_collab"))
    assert max(scores.values()) > 5
    assert sum(row["reference"] for row in demo.rows("threat_f1")) == 2


@pytest.mark.parametrize("name", toxeval.METRICS)
def test_examples_are_twenty_to_sixty_rows(name: str) -> None:
    assert 20 <= len(demo.rows(name)) <= 60
