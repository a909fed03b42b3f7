"""Results that were saved with ``toxeval score --json``, read again."""

import codecs
import json
import sys
from pathlib import Path
from typing import Any

from toxeval.answers import with_answers
from toxeval.core.declarations import Option
from toxeval.core.refusals import Refusal, refuse
from toxeval.loading import definition
from toxeval.read import LAYOUTS
from toxeval.signature import FORMAT, OPTIONAL, Result, default_options


def read_result(path: str) -> tuple[Result, str]:
    """A result that was saved with ``--json``, and the signature written there; ``-`` is standard input.

    Raises:
        FileNotFoundError: if there is no such file.
        Refusal: if it isn't a result of this command.
    """
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # as PowerShell writes what a command prints
    try:
        content = json.loads(data.decode("utf-16" if data.startswith(marks) else "utf-8-sig"))
        layout, metric, config, options = (content[key] for key in ("format", "metric", "config", "options"))
        given = dict(options.items())
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        refuse(f"not a result saved with toxeval score --json ({type(error).__name__})", file=path)
    if "comparisons" in content:
        refuse("a comparison; what can be verified is saved with toxeval score --json", file=path)
    if layout != FORMAT:
        refuse(f"result of format {layout}; this version reads format {FORMAT}", file=path)
    defined, answers = definition(metric, config), content.get("answers") or {}
    if answers:
        defined = with_answers(defined, answers["rule"], answers["aliases"])
    known = {option.name: option for option in defined.options}
    for name in given:
        if name not in known:
            refuse("unknown to this version", metric=metric, option=name)
    if content.get("layout") and content["layout"] not in LAYOUTS:
        refuse("unknown to this version", metric=metric, where=f"format {content['layout']}")
    try:
        result = Result(
            definition=defined,
            options={key: _in_one_form(known[key], value) for key, value in given.items()},
            detailed=content["detailed"],
            n_rows=content["n_rows"],
            digest=content["sha256"],
            scores=content["scores"],
            version=content["toxeval"],
            **{name: content[name] for name in (*OPTIONAL, "runs", "spread", "groups") if content.get(name)},
        )
        return result, content["signature"]
    except KeyError as error:
        refuse(f"not a result saved with toxeval score --json (without {error})", file=path)


def settable_options(result: Result) -> dict[str, Any]:
    """The options of a result that aren't the defaults, and that can be set: others follow from the inputs."""
    metric = result.definition
    usual = default_options(metric)
    options = {key: value for key, value in result.options.items() if value != usual.get(key)}
    return {key: value for key, value in options.items() if _is_allowed(metric.option(key), value)}


def _in_one_form(option: Option, value: Any) -> Any:
    value = option.from_json(value)
    return option.check(value) if _is_allowed(option, value) else value


def _is_allowed(option: Option, value: Any) -> bool:
    try:
        option.check(value)
    except Refusal:
        return False
    return True
