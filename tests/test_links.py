"""Links in Markdown files lead somewhere inside the tree; a card's stay in its folder: the Hub has no more."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Folders that are made here and not part of the project.
MADE = ("build", "dist", "node_modules")
LINK = re.compile(
    r"!?\[[^\]]*\]\(<?([^)\s>]+)>?(?: +\"[^\"]*\")?\)|^\[[^\]]+\]: +(\S+)|(?:src|href)=\"([^\"]+)\"", re.MULTILINE
)


def pages() -> list[Path]:
    found = [path.relative_to(ROOT) for path in ROOT.rglob("*.md")]
    return sorted(path for path in found if not any(p in MADE or p.startswith(".venv") for p in path.parts))


def prose(page: Path) -> str:
    """The text without code and the YAML at the top."""
    text = re.sub(r"\A---\n.*?\n---\n", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"^ *(`{3,}|~{3,}).*?^ *\1 *$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    text = re.sub(r"`+[^`\n]+`+", "code", prose(page))
    return [next(filter(None, groups)) for groups in LINK.findall(text)]


def anchors(page: Path) -> set[str]:
    """The headings as GitHub and the Hub make anchors of them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.*?)(?: +#+)?$", prose(page), re.MULTILINE):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", shown.lower()).strip().replace(" ", "-")
        found.add(next(a for a in [anchor, *(f"{anchor}-{i}" for i in range(1, 99))] if a not in found))
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", prose(page)))


@pytest.mark.parametrize("page", pages(), ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    card = page.name == "README.md" and page.parts[0] in ("metrics", "datasets_scripts")
    home = (ROOT / page).parent.resolve() if card else ROOT
    for link in links(page):
        if re.match(r"[a-z][a-z0-9+.-]*:", link, re.IGNORECASE):
            assert re.match(r"https://[\w.-]+\.\w+(?:/\S*)?$", link), link
            continue
        path, _, anchor = unquote(link).partition("#")
        assert not path.startswith("/"), link
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert target.exists(), link
        assert target.is_relative_to(home), link
        if anchor:
            assert anchor in anchors(target.relative_to(ROOT)), link


def test_links_are_found() -> None:
    assert Path("README.md") in pages()
    assert sum(len(links(page)) for page in pages()) > 20
