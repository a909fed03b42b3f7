"""Pictures are of the rows in the files, however they were kept while they were read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toxeval.jobs import Job
from toxeval.metrics import plots
from toxeval.metrics.threat_f1 import base

from toxeval import pictures


def test_equal_rows_that_are_kept_once_are_all_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"prediction_score": [0.2, 0.9, 0.4][i % 3], "reference": int(i % 3 == 1)} for i in range(30)]
    rows += [{"prediction_score": 0.2, "reference": 1}]
    file = tmp_path / "threats.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    drawn: list[Any] = []
    monkeypatch.setattr(plots, "ranking", drawn.append)
    job = Job("threat_f1", (str(file),))
    pictures.draw(job)
    monkeypatch.setattr(base, "COMPACT_FROM", 5)
    monkeypatch.setattr("toxeval.files.BATCH_ROWS", 4)
    pictures.draw(job)
    (references, scores), (again, scores_again) = (systems["threats"] for systems in drawn)
    assert len(references) == len(again) == 31
    assert sorted(zip(references, scores)) == sorted(zip(again, scores_again))
    assert not np.array_equal(scores, scores_again)  # they were sorted on the way: some were kept once
