"""What a page shows: how rows were read, scores with their intervals, what one takes away. All text is escaped."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from toxeval.core.declarations import Definition
from toxeval.core.judged import HUMAN
from toxeval.page.rows import Reading, asked
from toxeval.page.scoring import Scored
from toxeval.page.words import sentence
from toxeval.read.columns import ID
from toxeval.report import group_rows, interval_ends

#: So many characters of a value are shown.
LONGEST_SHOWN = 24


def reading_html(definition: Definition, reading: Reading) -> str:
    """How rows were read: a sentence, and for each input where it was found."""
    parts, choices, given = [], [], reading.given
    if reading.refusal is not None:
        parts.append(f'<p class="tox-error" role="alert">{escape(sentence(reading.refusal))}</p>')
    if given is not None and reading.n_rows:
        choices = list(dict.fromkeys([*given.table.columns, *filter(None, (reading.found or {}).values())]))
        many = f"{_n(reading.n_rows, 'row')}, {_n(len(given.table.columns), 'column')}"
        parts.append(f'<p class="tox-good">{escape(given.table.read_as)}: {many}.</p>')
        if given.table.separator:
            box = f'<input type="checkbox" id="tox-header"{" checked" * given.named}>'
            parts.append(f"<p><label>{box} The first row has the names of the columns</label></p>")
    columns = "".join(
        _column_html(reading, choices, *each)
        for each in asked(definition, human=bool((reading.found or {}).get(HUMAN)))
        if each[0] != ID or ID in (reading.found or {})
    )
    return f'{"".join(parts)}<div class="tox-inputs" role="group" aria-label="Columns">{columns}</div>'


def _column_html(reading: Reading, choices: Sequence[str], name: str, about: str, required: bool) -> str:
    found = (reading.found or {}).get(name, "")
    none = "no rows yet" if not choices else "choose a column" if required else "none"
    options = f'<option value="">{none}</option>' + "".join(
        f"<option{' selected' * (choice == found)}>{escape(choice)}</option>" for choice in choices
    )
    lacking = ' class="tox-lacking"' if choices and required and not found else ""
    values = [str(value) for value in reading.values(found)] if found else []
    first = escape(", ".join(value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…" for value in values))
    return (
        f'<div{lacking}><label for="tox-column-{name}"><strong>{name.replace(".", ".<wbr>")}</strong>'
        f" <small>{escape(about)}{'' if required else ' (may be left out)'}</small></label>"
        f'<div><select id="tox-column-{name}" data-column="{name}"{"" if choices else " disabled"}>{options}</select>'
        f"<small>{first}{', …' * bool(values)}</small></div></div>"
    )


def _n(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


# --- scores -------------------------------------------------------------------------------------------------------


def scores_html(scored: Scored, cards: Mapping[str, str], files: Sequence[str], code: Mapping[str, str]) -> str:
    """The most important scores in large figures, the picture's place, all scores, and what one takes away.

    Args:
        scored: the result.
        cards: key -> what it is called, in large figures.
        files: names of the files that can be saved.
        code: title -> lines that give the same.
    """
    scores = scored.result.scores
    large = "".join(
        f'<div class="tox-card"><div>{escape(name)}</div><strong>{_number(scores[key])}</strong>'
        f"<small>{_interval(scores, key) or '&nbsp;'}</small></div>"
        for key, name in cards.items()
        if key in scores
    )
    doubts = "".join(f'<p class="tox-doubt">{escape(doubt)}</p>' for doubt in scored.doubts)
    return (
        f'<div class="tox-cards">{large}</div>{doubts}{_undefined_html(scored.undefined)}'
        f'<div id="tox-picture"></div>{_groups_table(scored)}{_scores_table(scored, cards)}{_taken_html(files, code)}'
    )


def status(scored: Scored, cards: Mapping[str, str]) -> str:
    """The result in a sentence, for those who hear it."""
    scores = scored.result.scores
    key = next(key for key in (*cards, *scores) if key in scores)
    interval = _interval(scores, key).replace("–", "to")
    return (
        f"Result of {_n(scored.result.n_rows, 'row')}: {cards.get(key, key)} "
        f"{_number(scores[key])}{f', interval {interval}' if interval else ''}."
    )


def _undefined_html(undefined: Mapping[str, str]) -> str:
    if not undefined:
        return ""
    notes = "".join(f"<li><code>{escape(key)}</code>: {escape(why)}</li>" for key, why in undefined.items())
    many = "One score is" if len(undefined) == 1 else f"{len(undefined)} scores are"
    return f'<details class="tox-note"><summary>{many} undefined</summary><ul>{notes}</ul></details>'


def _scores_table(scored: Scored, cards: Mapping[str, str]) -> str:
    scores, level = scored.result.scores, scored.result.level
    heads = ["score", "value", *([f"{100 * level:g} % interval"] if level else [])]
    ends, rows = interval_ends(scores), []
    for key in dict.fromkeys([*(key for key in cards if key in scores), *scores]):
        name, value = escape(key), f' data-key="{escape(key)}" data-value="{scores[key]!r}"'
        cells = [(value, _number(scores[key])), *([("", _interval(scores, key))] if level else [])]
        rows += [] if key in ends else [(name.replace("_", "_<wbr>"), cells)]
    return _table(f"All scores of {_n(scored.result.n_rows, 'row')}", heads, rows)


def _groups_table(scored: Scored) -> str:
    """A line for each group of rows."""
    if scored.groups is None:
        return ""
    heads, lines = group_rows(scored.result)
    return _table("Groups of rows", heads, [(escape(name), [("", cell) for cell in cells]) for name, *cells in lines])


def _table(name: str, heads: Sequence[str], rows: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> str:
    """A table; a row is the HTML of its head, and the attributes and the text of each cell."""
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    lines = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td{about}>{escape(text)}</td>" for about, text in cells)}</tr>'
        for first, cells in rows
    )
    return (
        f'<div class="tox-scroll" tabindex="0" role="region" aria-label="{name}"><table class="tox-scores">'
        f"<caption>{name}</caption><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def _number(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def _interval(scores: Mapping[str, Any], key: str) -> str:
    low, high = scores.get(f"{key}_low", math.nan), scores.get(f"{key}_high", math.nan)
    return "" if math.isnan(low) or math.isnan(high) else f"{low:.4f} – {high:.4f}"


# --- taken away ---------------------------------------------------------------------------------------------------


def _taken_html(files: Sequence[str], code: Mapping[str, str]) -> str:
    blocks = "".join(
        f'<h3 id="tox-code-{i}">{escape(title)}</h3><div class="tox-code"><pre tabindex="0" role="region" '
        f'aria-labelledby="tox-code-{i}">{escape(lines)}</pre>'
        f'<button type="button" data-copy>Copy</button></div>'
        for i, (title, lines) in enumerate(code.items())
    )
    buttons = "".join(map(file_button, files))
    return f'<div class="tox-take"><h3>To take away</h3><div class="tox-files">{buttons}</div>{blocks}</div>'


def file_button(name: str) -> str:
    """A button that saves a file."""
    return f'<button type="button" data-file="{escape(name)}">{escape(name)}</button>'


def picture_html(files: Mapping[str, str], alt: str) -> str:
    """The picture, and buttons for its files.

    Args:
        files: name -> content in base64; the first is shown.
        alt: what it shows, for those who can't see it.
    """
    name, content = next(iter(files.items()))
    return (
        f'<div class="tox-picture"><img alt="{escape(alt)}" src="data:image/{name[-3:]};base64,{content}"></div>'
        f'<div class="tox-files tox-take">{"".join(map(file_button, files))}</div>'
    )


def note_html(text: str) -> str:
    """A remark."""
    return f'<p class="tox-note">{escape(text)}</p>'
