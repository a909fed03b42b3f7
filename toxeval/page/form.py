"""The form: rows, options, and the place for the result."""

from html import escape

from toxeval.page.controls import choice_control, control
from toxeval.page.look import CSS
from toxeval.page.page import Page
from toxeval.page.rows import LIMITS
from toxeval.read.opening import ENDINGS

NOTE = (
    "This metric scores systems that detect offensive language. Labels and scores are all it needs: please leave the "
    "texts themselves out. Nothing you enter is stored; the server forgets it within a minute."
)


def form_html(page: Page) -> str:
    """The page's form."""
    examples = "".join(
        f'<button type="button" data-example="{number}">{escape(example.name)}</button>'
        for number, example in enumerate(page.examples)
    )
    configs = ""
    if len(page.definitions) > 1:
        first = next(iter(page.definitions))
        named = {config: page.configs.get(config, config) for config in page.definitions}
        configs = choice_control("config", "What is scored", named, first).replace("data-option", "data-kind")
    limits = f"{', '.join(ENDINGS)}; up to {(LIMITS.bytes or 0) / 1e6:.0f} MB and {LIMITS.rows:,} rows"
    return f"""<style>{CSS}</style>
<div class="tox-head"><h1>{escape(page.title)}</h1><p>{escape(page.question)}</p><p class="tox-warning">{NOTE}</p></div>
<form class="tox-columns" autocomplete="off" aria-label="{escape(page.name)}">
  <div>
    <h2>1. Rows</h2>
    <div class="tox-files" role="group" aria-label="Examples"><strong>Examples</strong>{examples}</div>
    {configs}
    <div id="tox-box">
      <label for="tox-text"><strong>Rows</strong>
        <small>from a spreadsheet, CSV (commas or semicolons), JSON or JSON Lines; with or without a header</small></label>
      <textarea id="tox-text" rows="8" spellcheck="false" autocapitalize="off"></textarea>
    </div>
    <p id="tox-chosen" hidden><strong id="tox-name"></strong>
      <button type="button" id="tox-remove">Remove the file</button></p>
    <label id="tox-drop"><input type="file" id="tox-file" accept="{",".join(ENDINGS)}">
      <span><strong>Choose a file</strong> or drop it here <small>{limits}</small></span></label>
    <div id="tox-reading"></div>
    <p id="tox-message" class="tox-error" role="alert"></p>
    <h2>2. Options</h2>
    {_options_html(page)}
    <button type="submit" class="tox-compute">Compute</button>
  </div>
  <div>
    <h2 id="tox-step-3">3. Result</h2>
    <p id="tox-status" role="status"></p>
    <div id="tox-result"></div>
  </div>
</form>
"""


def _options_html(page: Page) -> str:
    """The controls, those that few need folded away."""
    shown = {name: control(option, page.at_first(name)) for name, option in page.controls.items()}
    first = "".join(shown.pop(name) for name in (*page.options, "confidence_level", "detailed"))
    return f"{first}<details><summary>More options</summary>{''.join(shown.values())}</details>"
