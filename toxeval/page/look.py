"""The looks of a demo page, and what it does in the browser."""

from typing import Any

from toxeval.page.cells import MAX_BYTES, MAX_ROWS
from toxeval.page.files import FORMATS

UPLOAD_HTML = f"""
<label class="tox-drop">
  <input type="file" accept="{",".join(FORMATS)}" aria-describedby="tox-upload-hint">
  <strong>Choose a file</strong> or drop it here
  <small id="tox-upload-hint">JSON, JSONL, CSV, TSV or Parquet; up to {MAX_BYTES / 1e6:.0f} MB and {MAX_ROWS:,} rows.
  Only the columns named in the table are read.</small>
</label>
"""

#: Reads the chosen file in the browser; one that is too large isn't even sent.
RECEIVE_JS = f"""
const send = async (file) => {{
  if (!file) return;
  let data = '';
  if (file.size <= {MAX_BYTES}) {{
    data = await new Promise((resolve, reject) => {{
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result).split(',')[1] || '');
      reader.onerror = reject;
      reader.readAsDataURL(file);
    }});
  }}
  props.value = JSON.stringify({{name: file.name, size: file.size, data}});
  trigger('upload');
}};
element.addEventListener('change', (event) => {{
  send(event.target.files[0]);
  event.target.value = '';
}});
element.addEventListener('dragover', (event) => event.preventDefault());
element.addEventListener('drop', (event) => {{
  event.preventDefault();
  send(event.dataTransfer.files[0]);
}});
"""

#: An empty row at the end of the table.
ROW_JS = """
(table) => {
  const row = Array(table.headers.length).fill('');
  return {...table, data: [...table.data, row], metadata: null};
}
"""

#: After a computation: the first message if there is one, else the result where it is out of sight.
SHOW_JS = """
() => setTimeout(() => {
  const message = document.querySelector('.tox-error');
  if (message) return message.scrollIntoView({block: 'center'});
  const result = document.querySelector('#tox-result');
  const top = result.getBoundingClientRect().top;
  if (top < 0 || top > window.innerHeight - 150) result.scrollIntoView({block: 'start'});
}, 50)
"""


def theme() -> Any:
    """Gradio's own, with system fonts (nothing is fetched from elsewhere) and colours of enough contrast."""
    import gradio as gr

    return gr.themes.Default(
        primary_hue="blue",
        neutral_hue="zinc",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover_dark="*primary_700",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_300",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_300",
    )


CSS = """
.gradio-container { overflow: clip !important; width: 100% !important;
  max-width: 1320px !important; margin: 0 auto !important; }
.tox-head .html-container, .tox-columns .html-container { padding: 0 !important; }
.block.tox-message:has(.prose:empty) { display: none; }
.tox-compute { position: sticky; bottom: .5rem; z-index: 5; }
#tox-result { scroll-margin-top: 1rem; }
.tox-columns { display: grid !important; gap: 1.5rem; align-items: start;
  grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); }
@media (max-width: 900px) { .tox-columns { grid-template-columns: minmax(0, 1fr); } }
.tox-head h1 { margin: 0 0 .25rem; font-size: 1.7rem; }
.tox-head p { margin: .25rem 0; max-width: 75ch; }
.tox-head .tox-warning { border-left: 4px solid #d97706; padding: .35rem .75rem;
  background: color-mix(in srgb, #d97706 10%, transparent); }
.tox-step { margin: .5rem 0 0 !important; font-size: 1.15rem; }
.tox-hint { color: var(--body-text-color-subdued); margin: 0 !important; font-size: .85rem !important; }
.tox-error { margin: .25rem 0; padding: .5rem .75rem; border-left: 4px solid #dc2626; border-radius: 4px;
  background: color-mix(in srgb, #dc2626 12%, transparent); color: var(--body-text-color);
  overflow-wrap: anywhere; }
.tox-good { margin: .25rem 0; padding: .5rem .75rem; border-left: 4px solid #059669; border-radius: 4px;
  background: color-mix(in srgb, #059669 12%, transparent); overflow-wrap: anywhere; }
.tox-empty { padding: 2rem 1rem; text-align: center; color: var(--body-text-color-subdued);
  border: 1px dashed var(--border-color-primary); border-radius: 8px; }
.tox-note { font-size: .9rem; margin: .5rem 0; color: var(--body-text-color-subdued); }
.tox-note ul { margin: .25rem 0 .25rem 1.2rem; }
.tox-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.tox-cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: .6rem;
  margin-bottom: .6rem; }
.tox-card { border: 1px solid var(--border-color-primary); border-radius: 8px; padding: .6rem .8rem;
  background: var(--background-fill-secondary); }
.tox-card strong { display: block; font-size: 1.6rem; line-height: 1.2; color: var(--body-text-color);
  font-variant-numeric: tabular-nums; }
.tox-card small, .tox-card div { color: var(--body-text-color-subdued); font-size: .85rem; }
.tox-scroll { overflow: auto; max-height: 22rem; border: 1px solid var(--border-color-primary);
  border-radius: 8px; }
.tox-scores { width: 100%; border: 0 !important; border-collapse: collapse; font-size: .9rem; margin: 0 !important; }
.tox-scores, .tox-scores * { border-left: 0 !important; border-right: 0 !important; }
.tox-scores caption { text-align: left; padding: .4rem .75rem; color: var(--body-text-color-subdued); }
.tox-scores th, .tox-scores td { padding: .3rem .75rem !important; border: 0 !important;
  border-top: 1px solid var(--border-color-primary) !important; text-align: left; }
.tox-scores thead th { position: sticky; top: 0; background: var(--background-fill-secondary); z-index: 1; }
.tox-scores tbody th { font-weight: 400; font-family: var(--font-mono); }
.tox-scores td { font-variant-numeric: tabular-nums; white-space: nowrap; }
.tox-range { position: relative; display: block; width: 100%; min-width: 70px; height: 10px; border-radius: 5px;
  background: color-mix(in srgb, var(--body-text-color) 10%, transparent); }
.tox-range > span { position: absolute; top: 0; bottom: 0; min-width: 2px; border-radius: 5px;
  background: #3b82f6; opacity: .55; }
@media (max-width: 600px) { .tox-scores tr > :nth-child(4) { display: none; } }
.tox-range > i { position: absolute; top: -2px; bottom: -2px; width: 3px; margin-left: -1.5px;
  background: var(--body-text-color); }
.tox-picture { overflow-x: auto; }
.tox-picture img { width: 100%; max-width: 480px; margin: 0 auto !important; }
.tox-picture img.tox-wide { max-width: 100%; min-width: 600px; }
.dark .tox-picture img { filter: invert(1) hue-rotate(180deg); }
.tox-drop { display: block; padding: 1rem; text-align: center; cursor: pointer; border-radius: 8px;
  border: 2px dashed var(--border-color-primary); }
.tox-drop:hover, .tox-drop:focus-within { border-color: var(--color-accent); }
.tox-drop:focus-within { outline: 2px solid var(--color-accent); outline-offset: 2px; }
.tox-drop input { position: absolute; width: 1px; height: 1px; opacity: 0; }
.tox-drop small { display: block; color: var(--body-text-color-subdued); }
.tox-downloads { display: flex; flex-wrap: wrap; gap: .5rem; }
.tox-button { padding: .5rem 1rem; border-radius: 8px; border: 1px solid var(--border-color-primary);
  cursor: pointer;
  background: var(--button-secondary-background-fill); color: var(--button-secondary-text-color);
  font-weight: 600; }
.tox-button:focus-visible, .gradio-container button:focus-visible { outline: 2px solid var(--color-accent);
  outline-offset: 2px; }
.tox-card-text { max-width: 80ch; margin: 0 auto; }
.tox-card-text pre, .tox-card-text table { overflow-x: auto; }
.tox-card-text table { display: block; }
"""
