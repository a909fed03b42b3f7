"""Threats among comments as a task for language models."""

from toxeval.core.prompt import Prompt

from .scores import DEFINITIONS

PROMPTS = (
    Prompt(
        task="threat_seed",
        version=1,
        definition=DEFINITIONS["default"],
        dataset="threat_seed",
        split="test",
        columns={"references": "label"},
        headline="f1_macro",
        id="id",
        text="Does this comment threaten somebody with harm? Answer with one word: threat if it does, non-threat if it "
        "does not.\n\nComment: {text}\nAnswer:",
    ),
)
