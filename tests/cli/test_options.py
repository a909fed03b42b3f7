"""What is written behind --columns and --option."""

import csv
import math
from pathlib import Path

import click
import pytest
from command import toxeval

from toxeval.cli.options import INPUTS, OPTIONS, with_options


def parsed(*args: str) -> tuple[dict[str, str], dict[str, object]]:
    @click.command()
    @with_options(*INPUTS, *OPTIONS)
    def command(**given: object) -> dict[str, object]:
        return given

    given = command.main(["--predictions", "guess.csv", *args], standalone_mode=False)
    return given["columns"], given["options"]


@pytest.mark.parametrize(
    "args",
    [
        ["--columns", "predictions=call, final,references=gold"],
        ["--columns", "predictions=call, final, references=gold"],
        ["--columns", "references=gold", "--columns", "predictions=call, final"],
    ],
)
def test_a_column_may_have_commas(args: list[str]) -> None:
    assert parsed(*args)[0] == {"predictions": "call, final", "references": "gold"}


def test_a_column_with_a_comma_is_scored(tmp_path: Path) -> None:
    with (tmp_path / "guess.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["call, final", "gold"], ["OFF", "OFF"], ["NOT", "OFF"]])
    columns = ["--columns", "predictions=call, final,references=gold"]
    result = toxeval("score", "sold_macro_f1", "--predictions", tmp_path / "guess.csv", *columns, "--json").json()
    assert result["scores"]["accuracy"] == 0.5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("True", True),
        ("False", False),
        ("null", None),
        ("None", None),
        ("0.3", 0.3),
        ("[0.02, 0.1]", [0.02, 0.1]),
        ('{"oc_accuracy": 0.9}', {"oc_accuracy": 0.9}),
        ("toxicity", "toxicity"),
    ],
)
def test_values_as_json_or_as_python_writes_them(text: str, value: object) -> None:
    found = parsed("--option", f"x={text}")[1]["x"]
    assert found == value
    assert type(found) is type(value)


def test_nan() -> None:
    found = parsed("--option", "x=nan")[1]["x"]
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--columns", "predictions=a,predictions=b"], "predictions is there twice"),
        (["--option", "x=1", "--option", "x=2"], "x is there twice"),
        (["--columns", "gold"], "'gold' is not NAME=VALUE"),
    ],
)
def test_refused(args: list[str], message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        parsed(*args)
