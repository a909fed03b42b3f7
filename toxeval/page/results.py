"""What a demo page shows of a result: scores with intervals, the picture, the code that gives the same numbers."""

import base64
import io
import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pprint import pformat
from typing import Any

#: So many rows are written out in the snippet; more are read from a file the page offers.
INLINE_ROWS = 40

#: matplotlib's settings are global, and pictures are drawn with settings of their own.
_DRAWING = threading.Lock()


# --- scores -------------------------------------------------------------------------------------------------------


def scores_html(
    result: Mapping[str, Any],
    cards: Mapping[str, str],
    undefined: Mapping[str, str],
    level: float | None,
    n_rows: int,
) -> str:
    """The most important scores in large figures, then all of them with their intervals.

    Args:
        result: what ``compute`` returned.
        cards: key -> what it is called, in large figures.
        undefined: key -> why a score has no value.
        level: confidence level of the intervals, or None.
        n_rows: how many rows were scored.
    """
    large = "".join(
        f'<div class="tox-card"><div>{escape(name)}</div><strong>{_number(result[key])}</strong>'
        f"<small>{_interval(result, key) or '&nbsp;'}</small></div>"
        for key, name in cards.items()
        if key in result
    )
    heads = ["score", "value"]
    if level is not None:
        heads += [f"{100 * level:g} % interval", '<span class="tox-hidden">interval on a line from 0 to 1</span>']
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = "".join(_row(result, key, level) for key in result if not _is_bound(result, key))
    notes = "".join(f"<li><code>{escape(key)}</code>: {escape(why)}</li>" for key, why in undefined.items())
    how_many = "One score is" if len(undefined) == 1 else f"{len(undefined)} scores are"
    because = f'<details class="tox-note"><summary>{how_many} undefined</summary><ul>{notes}</ul></details>'
    return (
        f'<div class="tox-cards">{large}</div>{because if notes else ""}'
        f'<div class="tox-scroll" tabindex="0" role="region" aria-label="All scores"><table class="tox-scores">'
        f"<caption>All scores of {n_rows:,} row{'s' * (n_rows != 1)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _is_bound(result: Mapping[str, Any], key: str) -> bool:
    return key.endswith(("_low", "_high")) and key.rpartition("_")[0] in result


def _row(result: Mapping[str, Any], key: str, level: float | None) -> str:
    value, name = result[key], escape(key)
    cells = f'<th scope="row">{name.replace("_", "_<wbr>")}</th>'
    cells += f'<td data-key="{name}" data-value="{value!r}">{_number(value)}</td>'
    if level is not None:
        cells += f"<td>{_interval(result, key)}</td><td>{_range(result, key)}</td>"
    return f"<tr>{cells}</tr>"


def _number(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def _interval(result: Mapping[str, Any], key: str) -> str:
    low, high = result.get(f"{key}_low", math.nan), result.get(f"{key}_high", math.nan)
    return "" if math.isnan(low) or math.isnan(high) else f"{low:.4f} – {high:.4f}"


def _range(result: Mapping[str, Any], key: str) -> str:
    """The interval as a bar between 0 and 1, the value as a tick on it."""
    low, high, value = result.get(f"{key}_low", math.nan), result.get(f"{key}_high", math.nan), result[key]
    if not 0 <= low <= value <= high <= 1:  # nan too
        return ""
    style = f"left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"
    return (
        f'<span class="tox-range" aria-hidden="true"><span style="{style}"></span>'
        f'<i style="left:{100 * value:.1f}%"></i></span>'
    )


# --- picture ------------------------------------------------------------------------------------------------------


def picture_html(draw: Callable[[], Any], description: str) -> str:
    """The picture, transparent: dark pages show it with light and dark exchanged.

    Args:
        draw: returns a matplotlib Figure, or why there is none.
        description: for those who can't see it.
    """
    with _DRAWING:
        figure = draw()
        if isinstance(figure, str):
            return f'<p class="tox-note">No picture: {escape(figure)}</p>'
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=200, transparent=True)
    wide = ' class="tox-wide"' if figure.get_figwidth() > 5 else ""
    source = base64.b64encode(png.getvalue()).decode()
    return (
        f'<div class="tox-picture" tabindex="0" role="region" aria-label="Picture">'
        f'<img{wide} src="data:image/png;base64,{source}" alt="{escape(description)}"></div>'
    )


# --- code and downloads -------------------------------------------------------------------------------------------


def snippet(module: str, config: str, inputs: Mapping[str, Any], options: Mapping[str, Any], n_rows: int) -> str:
    """Python code that gives the same numbers.

    Args:
        module: the Space's id, or a path.
        config: the configuration, "default" or another.
        inputs: of ``compute``.
        options: of ``compute``, those that aren't at their defaults.
        n_rows: how many rows there are.
    """
    load = f"metric = evaluate.load({', '.join(map(json.dumps, [module] + [config] * (config != 'default')))})"
    arguments = [f"    {name}={_literal(value)},\n" for name, value in options.items()]
    if n_rows > INLINE_ROWS:
        return (
            "import json\n\nimport evaluate\n\n"
            'with open("inputs.json", encoding="utf-8") as file:  # from this page\n'
            f"    inputs = json.load(file)\n\n{load}\n"
            f"scores = metric.compute(\n    **inputs,\n{''.join(arguments)})\nprint(scores)\n"
        )
    arguments = [f"    {name}={_literal(value)},\n" for name, value in inputs.items()] + arguments
    return f"import evaluate\n\n{load}\nscores = metric.compute(\n{''.join(arguments)})\nprint(scores)\n"


def _literal(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return pformat(value, width=74, compact=True, sort_dicts=False).replace("\n", "\n    ")


def downloads_html(files: Mapping[str, Any]) -> str:
    """Buttons that save JSON files; they are on the page already, so nothing stays on the server.

    Args:
        files: name -> what it holds.
    """
    return (
        '<div class="tox-downloads">'
        + "".join(
            f'<button type="button" class="tox-button" data-file="{escape(name)}">Download {escape(name)}</button>'
            f"<pre hidden>{escape(json.dumps(content, indent=2 if name == 'result.json' else None))}</pre>"
            for name, content in files.items()
        )
        + "</div>"
    )


#: Saves the text behind a button of `downloads_html`.
SAVE_JS = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-file]');
  if (!button) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([button.nextElementSibling.textContent], {type: 'application/json'}));
  link.download = button.dataset.file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
"""


def message_html(message: str) -> str:
    """A refusal, read out by screen readers as it appears."""
    return f'<p class="tox-error" role="alert">{escape(message)}</p>' if message else ""


def empty_html(text: str) -> str:
    """What stands where a result will be."""
    return f'<p class="tox-empty">{escape(text)}</p>'


def card_text(readme: str) -> str:
    """A card without its front matter."""
    if readme.startswith("---\n"):
        return readme.partition("\n---\n")[2].lstrip()
    return readme


def columns_hint(kinds: Mapping[str, Mapping[str, str]], required: Sequence[str]) -> str:
    """What belongs into each column.

    >>> columns_hint({"default": {"predictions": "label", "review_scores": "score"}}, ["predictions"])
    'predictions: names or ids; review_scores: numbers (may stay empty)'
    """
    words = {"label": "names or ids", "score": "numbers", "sequence": "labels between spaces"}
    hints = []
    for column in next(iter(kinds.values())):
        said = dict.fromkeys(words[by_column[column]] for by_column in kinds.values())
        optional = "" if column.partition(".")[0] in required else " (may stay empty)"
        hints.append(f"{column}: {', or '.join(said)}{optional}")
    return "; ".join(hints)
