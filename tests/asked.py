"""What the harnesses' tests ask: invented rows of the benchmarks, and what a model answers to each."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from command import toxeval as command
from sources import csv_text

import toxeval
from toxeval.answers import read_answers
from toxeval.harness.tasks import prompts
from toxeval.read.layouts.logs import Answer, from_inspect, has_failed, samples_of

CATEGORIES = ("Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion")
CONDA_HEADER = ["Id", "matchId", "conversationId", "utterance", "chatTime", "playerSlot", "playerId"]
CONDA_LABELS = ["intentClass", "slotClasses", "slotTokens"]
#: What is answered to the rows of a task, one after the other: labels in some dress, and no labels.
ANSWERS = {
    "sold": ["OFF", "NOT", "**off**", "Not offensive.", "lol", "NOT", "offensive", "", "OFF or NOT", "not\n", "OFF."],
    "dia_safety": ["Safe", "unsafe", "`Safe`", "I can't help with that.", "Unsafe!", "Safe\n", "Safe or Unsafe"],
    "threat_seed": ["non-threat", "threat", "Non\u2011threat.", "non-threat", "no threat", "  ", "**Threat**"],
    "conda_intents": ["other", "Explicit", "implicit", "E", "**Action**", "I don't know", "O.", "explicit or implicit"],
}
TASKS = tuple(ANSWERS)


def conda_rows(ids: range, annotated: bool) -> str:
    rows = []
    for i in ids:
        row = [i, 1, i // 4, f"line {i}", 10 * i, i % 10, f"nick {i % 10}"]
        rows.append(row + (["EIAO"[i % 4], "O", f"line{i} (O), "] if annotated else []))
    return csv_text([CONDA_HEADER + (CONDA_LABELS if annotated else []), *rows])


def sold_rows(ids: range) -> str:
    rows = [f"9{i:017d}\tපෙළ {i}\tපෙළ {i}\t[]\t{'OFF' if i % 3 == 0 else 'NOT'}\n" for i in ids]
    return "post_id\ttext\ttokens\trationales\tlabel\n" + "".join(rows)


def dia_rows(n: int) -> list[dict[str, str]]:
    return [
        {
            "context": f"Question {i}, in {{brackets}}?",
            "response": f" Reply {i}." if i % 7 else "",
            "category": CATEGORIES[i % 5],
            "label": "Unsafe" if i % 3 == 1 else "Safe",
        }
        for i in range(n)
    ]


def answers(task: str, n: int) -> list[str]:
    """What a model answers to the n rows of a task."""
    return [ANSWERS[task][i % len(ANSWERS[task])] for i in range(n)]


def computed(task: str, said: Sequence[str], given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """What ``compute`` gives for some answers; the intervals of other scores than the headline left out."""
    prompt = prompts()[task]
    metric = toxeval.load(prompt.definition.name, prompt.definition.config)
    predictions = read_answers(said, prompt.labels, "exact", aliases=prompt.aliases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = metric.compute(predictions=predictions, **given, invalid="count", confidence_level=0.95) or {}
    ends = {f"{prompt.headline}_low", f"{prompt.headline}_high"}
    return {key: scores[key] for key in scores if key in ends or not key.endswith(("_low", "_high", "_resamples"))}


def scored_log(task: str, layout: str, path: Path) -> dict[str, Any]:
    """The same of a harness's log by ``toxeval score``; null is nan."""
    prompt = prompts()[task]
    said = ["--config", prompt.definition.config, "--format", layout, "--predictions", path, "--answers", prompt.rule]
    for word, label in prompt.aliases.items():
        said += ["--alias", f"{word}={label}"]
    said += ["--option", "invalid=count", "--confidence", "0.95", "--json"]
    scores = command("score", prompt.definition.name, *said).json()["scores"]
    ends = {f"{prompt.headline}_low", f"{prompt.headline}_high"}
    return {
        key: math.nan if value is None else value
        for key, value in scores.items()
        if key in ends or not key.endswith(("_low", "_high", "_resamples"))
    }


def differences(scores: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """The keys whose scores differ, or that only one of the two has."""
    alike = {
        key: math.isnan(expected[key]) and math.isnan(scores[key]) or abs(expected[key] - scores[key]) <= 1e-12
        for key in set(expected) & set(scores)
    }
    return sorted(key for key in set(expected) | set(scores) if not alike.get(key))


def inspect_answers(path: Path) -> list[Answer]:
    """The rows of a log of inspect that have an answer or a score."""
    with path.open("rb") as file:
        return [from_inspect(sample, row) for row, sample in enumerate(samples_of(file)) if not has_failed(sample)]
