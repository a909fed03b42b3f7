"""What a release and a stranger rely on: versions agree, commands exist, the forms for issues are whole."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import toxeval

ROOT = Path(__file__).resolve().parent.parent


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_versions_agree() -> None:
    citation: dict[str, Any] = yaml.safe_load(read("CITATION.cff"))
    newest = re.search(r"^## (\S+) - (unreleased|\d{4}-\d\d-\d\d)$", read("CHANGELOG.md"), re.MULTILINE)
    assert newest
    assert newest[1] == citation["version"] == toxeval.__version__
    assert ("date-released" in citation) == (newest[2] != "unreleased")


def test_the_citation_says_what_the_package_says() -> None:
    setup = configparser.ConfigParser()
    setup.read_string(read("setup.cfg"))
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["authors"] == [{"name": setup["metadata"]["author"]}]
    assert citation["license"] == setup["metadata"]["license"]
    assert (
        citation["title"]
        == f"toxeval: {setup['metadata']['description'][0].lower()}{setup['metadata']['description'][1:]}"
    )


def test_every_package_is_installed() -> None:
    """setup.cfg can't find those of `toxeval` by itself, since two more lie beside it."""
    setup = configparser.ConfigParser()
    setup.read_string(read("setup.cfg"))
    homes = [path.parent.relative_to(ROOT) for path in sorted((ROOT / "toxeval").rglob("__init__.py"))]
    packages = {".".join(home.parts) for home in homes} | {"toxeval.metrics", "toxeval.datasets_scripts"}
    assert set(setup["options"]["packages"].split()) == packages
    folders = [path.parent for home in ("metrics", "datasets_scripts") for path in (ROOT / home).glob("*/__init__.py")]
    assert not [path for folder in folders for path in folder.iterdir() if path.is_dir() and path.name[0] not in "._"]


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/adding_a_metric.md"])
def test_make_targets_exist(document: str) -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z][\w-]*)(?=[ `\n])", "\n".join(code(read(document))))) <= targets


def code(text: str) -> list[str]:
    return re.findall(r"^ *```\w*\n.*?^ *```$|`[^`\n]+`", text, re.MULTILINE | re.DOTALL)


def test_extras_that_are_named_exist() -> None:
    setup = configparser.ConfigParser()
    setup.read_string(read("setup.cfg"))
    for document in ("README.md", "CONTRIBUTING.md", "Makefile"):
        assert set(re.findall(r"toxeval\[(\w+)\]", read(document))) <= set(setup["options.extras_require"])


@pytest.mark.parametrize("form", ["wrong_number", "bug", "new_benchmark"])
def test_forms(form: str) -> None:
    content = yaml.safe_load(read(f".github/ISSUE_TEMPLATE/{form}.yml"))
    assert {"name", "description", "title", "labels", "body"} == set(content)
    fields = [part for part in content["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in fields}) == len(fields)
    assert all(part["attributes"]["label"] for part in fields)
    required = [part["id"] for part in fields if part.get("validations", {}).get("required")]
    assert required
    assert ("signature" in required) == (form == "wrong_number")
