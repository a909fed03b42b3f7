"""The scripts in `examples/` run, and say what they should."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed"),
]


def run(checkout: Path, script: str, *arguments: str) -> str:
    program = [sys.executable, str(checkout / "examples" / script), *arguments]
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "TRANSFORMERS_VERBOSITY": "error"}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_threat_classification(checkout: Path) -> None:
    told = dict(re.findall(r"^(\w+) +(\d\.\d+)$", run(checkout, "threat_classification.py"), flags=re.MULTILINE))
    assert float(told["f1_macro"]) > 0.8
    assert float(told["prevalence"]) == 0.05


def test_joint_intent_slots(checkout: Path) -> None:
    told = dict(re.findall(r"^(\w+) +(\d\.\d+)$", run(checkout, "joint_intent_slots.py"), flags=re.MULTILINE))
    assert float(told["jsa"]) > 0.5
    assert float(told["t_f1"]) > 0.8


def test_scores_by_identity(checkout: Path) -> None:
    told = run(checkout, "scores_by_identity.py")
    rows = re.findall(
        r"^(\w+) +\d+  (\d\.\d+) \[.*\] +(\S+) +(\d\.\d+) +(\d\.\d+) +(\d\.\d+)$", told, flags=re.MULTILINE
    )
    assert len(rows) == 7
    worst = min(rows, key=lambda row: float(row[1]))
    assert worst == min(rows, key=lambda row: float(row[4]))  # the mention alone is taken for toxic: BPSN says so, too
    assert f"from {worst[0]} to" in told


def test_moderators(checkout: Path) -> None:
    rows = re.findall(
        r"(\d+)% +([\d.]+)% +[\d.]+% +([\d.]+)%  (three|the expert)$",
        run(checkout, "moderators.py"),
        flags=re.MULTILINE,
    )
    assert [int(row[0]) for row in rows if row[3] == "three"] == [1, 2, 5, 10, 20]
    assert [int(row[0]) for row in rows if row[3] == "the expert"] == [30, 50]
    assert rows[3][1:3] == ("95.23", "96.34")  # the card's numbers


def test_review_curve(checkout: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    told = run(checkout, "review_curve.py", str(tmp_path / "curve.png"))
    rows = re.findall(r"^ +(\d+)% +(\d\.\d+) +(\d\.\d+)$", told, flags=re.MULTILINE)
    by_uncertainty, by_toxicity = ([float(row[i]) for row in rows] for i in (1, 2))
    assert len(rows) == 8
    assert by_uncertainty == sorted(by_uncertainty)
    assert by_uncertainty[-1] == by_toxicity[-1] == 1.0
    assert by_uncertainty[4] > by_toxicity[4]
    assert (tmp_path / "curve.png").stat().st_size > 10_000
