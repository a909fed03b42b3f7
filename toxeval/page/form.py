"""The form: rows, options, and the place for the result."""

from html import escape

from toxeval.page.look import CSS
from toxeval.page.page import Page
from toxeval.page.rows import LIMITS
from toxeval.read.opening import ENDINGS

NOTE = (
    "This metric scores systems that detect offensive language. Labels and scores are all it needs: please leave the "
    "texts themselves out. Nothing you enter is stored; the server forgets it within a minute."
)


def form_html(page: Page) -> str:
    """A page's form, as its first example has it."""
    names = [example.name for example in page.examples]
    buttons = "".join(
        f'<button type="button" data-example="{number}">{escape(name)}</button>' for number, name in enumerate(names)
    )
    limits = f"{', '.join(ENDINGS)}; up to {(LIMITS.bytes or 0) / 1e6:.0f} MB and {LIMITS.rows:,} rows"
    return f"""<style>{CSS}</style>
<div class="tox-head"><h1>{escape(page.title)}</h1><p>{escape(page.question)}</p><p class="tox-doubt">{NOTE}</p></div>
<form class="tox-columns" autocomplete="off" aria-label="{escape(page.title)}">
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
    <div id="tox-options">{page.options_html(0)}</div>
    <button type="submit" class="tox-compute">Compute</button>
  </div>
  <div>
    <h2 id="tox-step-3">3. Result</h2>
    <p id="tox-status" role="status"></p>
    <div id="tox-result"></div>
  </div>
</form>
"""
