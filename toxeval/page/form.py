"""The form: rows, options, and the place for the result."""

from collections.abc import Collection, Mapping
from html import escape
from typing import Any

from toxeval.core.declarations import Option
from toxeval.page.controls import choice, control
from toxeval.page.look import CSS
from toxeval.page.rows import LIMITS
from toxeval.read.opening import ENDINGS

NOTE = (
    "This metric scores systems that detect offensive language. Labels and scores are all it needs: please leave the "
    "texts themselves out. Nothing you enter is stored; the server forgets it within a minute."
)


def form_html(title: str, question: str, examples: Collection[str], options: str) -> str:
    """A page's form.

    Args:
        title, question: at its head.
        examples: what their buttons say.
        options: the HTML of the options.
    """
    buttons = "".join(
        f'<button type="button" data-example="{number}">{escape(name)}</button>' for number, name in enumerate(examples)
    )
    limits = f"{', '.join(ENDINGS)}; up to {(LIMITS.bytes or 0) / 1e6:.0f} MB and {LIMITS.rows:,} rows"
    return f"""<style>{CSS}</style>
<div class="tox-head"><h1>{escape(title)}</h1><p>{escape(question)}</p><p class="tox-doubt">{NOTE}</p></div>
<form class="tox-columns" autocomplete="off" aria-label="{escape(title)}">
  <div>
    <h2>1. Rows</h2>
    <div class="tox-files" role="group" aria-label="Examples"><strong>Examples</strong>{buttons}</div>
    <div id="tox-box">
      <label for="tox-text"><strong>Rows</strong>
        <small>from a spreadsheet, CSV (commas or semicolons) or JSON Lines; with or without a header</small></label>
      <textarea id="tox-text" rows="8" spellcheck="false" autocapitalize="off"></textarea>
    </div>
    <p id="tox-chosen" hidden><strong></strong> <button type="button" id="tox-remove">Remove the file</button></p>
    <label id="tox-drop"><input type="file" id="tox-file" accept="{",".join(ENDINGS)}">
      <strong>Choose a file</strong> or drop it here <small>{limits}</small></label>
    <div id="tox-reading"></div>
    <p id="tox-message" class="tox-error" role="alert"></p>
    <h2>2. Options</h2>
    <div id="tox-options">{options}</div>
    <button type="submit" class="tox-compute">Compute</button>
  </div>
  <div>
    <h2 id="tox-step-3">3. Result</h2>
    <p id="tox-status" role="status"></p>
    <div id="tox-result"></div>
  </div>
</form>
"""


def options_html(
    options: Mapping[str, Option],
    values: Mapping[str, Any],
    folded: Collection[str],
    configs: Mapping[str, str],
    config: str,
) -> str:
    """The controls, those that few need folded away.

    Args:
        options: name -> option.
        values: what each shows.
        folded: names of those that are folded away.
        configs: configuration -> what is scored in it.
        config: the one that is chosen.
    """
    shown = {name: control(option, values[name]) for name, option in options.items()}
    first = choice("config_name", "What is scored", configs, config) if len(configs) > 1 else ""
    more = "".join(html for name, html in shown.items() if name in folded)
    first += "".join(html for name, html in shown.items() if name not in folded)
    return f"{first}<details><summary>More options</summary>{more}</details>"
