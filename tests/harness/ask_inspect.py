"""Runs the tasks in inspect with its mock model, which answers to each question what a file says.

ask_inspect.py ANSWERS LOGS RESULTS: writes logs, and all scores as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

answers = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


def answer(asked: list[Any], *_: Any) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", answers[asked[-1].text])
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it looks for a tokenizer
    return output


def scores(log: EvalLog) -> dict[str, Any]:
    assert log.results is not None, log.error
    assert log.status == "success"
    (score,) = log.results.scores
    return {key: metric.value for key, metric in score.metrics.items()} | {"version": log.eval.task_version}


def run(tasks: list[str], folder: str, **options: Any) -> dict[str, dict[str, Any]]:
    model = get_model("mockllm/model", custom_outputs=answer)
    logs = eval(tasks, model=model, log_dir=f"{sys.argv[2]}/{folder}", display="none", **options)
    return {log.eval.task.removeprefix("toxeval/"): scores(log) for log in logs}


results = run(["toxeval/sold", "toxeval/dia_safety", "toxeval/threat_seed", "toxeval/conda_intents"], "eval")
two_epochs = run(["toxeval/sold"], "json", log_format="json", epochs=2)
Path(sys.argv[3]).write_text(json.dumps({"eval": results, "json": two_epochs}), encoding="utf-8")
