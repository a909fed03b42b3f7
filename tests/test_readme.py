"""Every command and code block of the README runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def blocks(checkout: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language, code in BLOCK.findall((checkout / "README.md").read_text(encoding="utf-8")):
        found.setdefault(language, []).append(code)
    return found


def test_python_blocks(blocks: dict[str, list[str]], in_checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in blocks["python"]:
            exec(compile(code, "README.md", "exec"), namespace)
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"^print\(.*\)  # (.*)$", "\n".join(blocks["python"]), re.MULTILINE)
    assert promised
    assert printed == promised


def test_commands(blocks: dict[str, list[str]], checkout: Path, tmp_path: Path) -> None:
    for file in (checkout / "toxeval" / "examples").iterdir():
        shutil.copy(file, tmp_path)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    lines = [line for code in blocks["bash"] for line in code.splitlines()]
    assert len(lines) > 5
    for line in lines:
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def test_make_commands_exist(blocks: dict[str, list[str]], checkout: Path) -> None:
    makefile = (checkout / "Makefile").read_text(encoding="utf-8")
    for line in blocks["sh"][0].splitlines():
        assert re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE), line
    assert "make test" in (checkout / ".ci" / "run").read_text(encoding="utf-8")


def test_py_blocks_are_only_those_marked(checkout: Path) -> None:
    text = (checkout / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^```py\n", text, re.MULTILINE)) == len(
        re.findall(r"<!-- not run here: .*-->\n```py\n", text)
    )
