"""The command ``inspect``, with its mock model as ``answers/mock``, which answers to each question what a file says.

ask_inspect.py ANSWERS ARGUMENT...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai._cli.main import main
from inspect_ai.model import ModelOutput, ModelUsage, modelapi
from inspect_ai.model._providers.mockllm import MockLLM

answers = json.loads(Path(sys.argv.pop(1)).read_text(encoding="utf-8"))


def answer(asked: list[Any], *_: Any) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", answers[asked[-1].text])
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it looks for a tokenizer
    return output


@modelapi(name="answers")
class Answers(MockLLM):
    """The mock model; a command can't give it outputs."""

    def __init__(self, model_name: str, **options: Any) -> None:
        super().__init__(model_name, **options, custom_outputs=answer)


main()
