"""The looks of a page. Gradio splits the styles it is given at every comma, so these stand in the form itself."""

from typing import Any


def theme() -> Any:
    """Gradio's own, with system fonts (nothing is fetched from elsewhere) and colours of enough contrast."""
    import gradio as gr

    fonts = {"font": ["system-ui", "sans-serif"], "font_mono": ["ui-monospace", "monospace"]}
    return gr.themes.Default(primary_hue="blue", neutral_hue="zinc", **fonts).set(
        body_text_color_subdued="*neutral_600", body_text_color_subdued_dark="*neutral_300"
    )


CSS = """
.gradio-container { max-width: 1320px !important; margin: 0 auto !important; --line: var(--border-color-primary);
  --weak: var(--body-text-color-subdued); --area: var(--background-fill-secondary); --accent: #1d4ed8; }
.dark .gradio-container { --accent: #93c5fd; }
.gradio-container .wrap.full.translucent { display: none; }
.tox-head h1 { font-size: 1.7rem; font-weight: 700; }
.tox-head p { margin: .25rem 0; max-width: 75ch; }
.tox-columns { display: grid; gap: 1.5rem; align-items: start; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr);
  color: var(--body-text-color); line-height: 1.45; overflow-wrap: anywhere; }
@media (max-width: 900px) { .tox-columns { grid-template-columns: minmax(0, 1fr); } }
.tox-columns :is(h2, h3) { margin: 1rem 0 .4rem; font-weight: 700; scroll-margin-top: .5rem; }
.tox-columns h2 { font-size: 1.2rem; }
.tox-columns small, .tox-note, .tox-scores caption { color: var(--weak); font-size: .85rem; }
.tox-columns :is([type=text], [type=number], textarea, select) { width: 100%; padding: .45rem .6rem; font: inherit;
  color: inherit; background: var(--input-background-fill); border: 1px solid var(--weak); border-radius: 6px; }
.tox-columns :is(textarea, pre, .tox-inputs select + small, tbody th) {
  font-family: var(--font-mono); font-size: .85rem; }
.tox-columns textarea { display: block; margin-top: .25rem; resize: vertical; }
.tox-columns :is(input, select) { accent-color: var(--accent); color-scheme: light; }
.dark .tox-columns :is(input, select) { color-scheme: dark; }
.tox-columns :is([type=radio], [type=checkbox], select) { appearance: auto !important;
  background-image: none !important; }
.tox-columns :is([type=radio], [type=checkbox]) { width: 1.05rem; height: 1.05rem; margin: 0 .3rem 0 0;
  vertical-align: -.15rem; }
.tox-columns [aria-invalid] { outline: 2px solid #dc2626; }
.tox-columns button { padding: .45rem .9rem; border-radius: 6px; border: 1px solid var(--weak); font-weight: 600;
  background: var(--area); color: inherit; cursor: pointer; }
.tox-columns button:hover { border-color: var(--accent); }
.tox-columns button.tox-compute { width: 100%; margin-top: 1rem; padding: .7rem; color: #fff; background: #1d4ed8; }
.tox-columns[aria-busy=true] button.tox-compute { background: #52525b; cursor: wait; }
.tox-columns :focus-visible, #tox-drop:focus-within { outline: 3px solid var(--accent) !important; }
.tox-columns :focus-visible { outline-offset: 2px; }
.tox-files { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: .25rem 0 .5rem; }
#tox-drop, .tox-empty { display: block; margin: .5rem 0; padding: .7rem; text-align: center; border-radius: 8px;
  border: 2px dashed var(--weak); }
#tox-drop { cursor: pointer; }
#tox-drop input { position: absolute; width: 1px; height: 1px; opacity: 0; }
#tox-reading p { margin: .5rem 0; }
#tox-drop small, .tox-inputs small, .tox-control small { display: block; }
.tox-inputs > div { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .1rem .75rem;
  padding: .4rem 0; border-top: 1px solid var(--line); }
.tox-columns .tox-lacking select { border: 2px solid #d97706; }
.tox-control { margin: .7rem 0; padding: 0; border: 0; }
.tox-control > label, .tox-control legend, .tox-columns summary, #tox-status { font-weight: 600; padding: 0; }
.tox-control .tox-part { display: grid; grid-template-columns: 8rem minmax(0, 1fr); align-items: center;
  margin-top: .3rem; font-weight: 400; }
.tox-columns fieldset label { font-weight: 400; display: inline-block; margin-right: 1rem; }
.tox-columns summary { cursor: pointer; padding: .3rem 0; }
.tox-error, .tox-good, .tox-doubt { --hue: #dc2626; margin: .5rem 0; padding: .5rem .75rem; border-radius: 4px;
  border-left: 4px solid var(--hue); background: color-mix(in srgb, var(--hue) 12%, transparent); }
.tox-good { --hue: #059669; }
.tox-doubt { --hue: #d97706; }
.tox-error:empty, #tox-status:empty { display: none; }
.tox-stale { border: 2px dashed #d97706; border-radius: 8px; padding: .5rem; }
.tox-stale :is(strong, td) { text-decoration: line-through; }
.tox-cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: .6rem; margin: .6rem 0; }
.tox-card, .tox-scroll, .tox-columns pre { border: 1px solid var(--line); border-radius: 8px; background: var(--area); }
.tox-card { padding: .6rem .8rem; overflow-wrap: break-word; }
.tox-card:first-child { border-color: var(--accent); }
.tox-card strong { display: block; font-size: 1.6rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tox-scroll { overflow: auto; max-height: 22rem; margin-top: .6rem; }
.tox-scores { width: 100%; border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
.tox-scores :is(caption, th, td) { padding: .3rem .75rem; text-align: left; }
.tox-scores :is(th, td) { border-top: 1px solid var(--line); }
.tox-scores thead th { position: sticky; top: 0; background: var(--area); }
.tox-scores tbody th { font-weight: 400; overflow-wrap: anywhere; }
.tox-scores td { white-space: nowrap; }
.tox-scores thead th { overflow-wrap: normal; }
.tox-picture { background: #fff; border-radius: 8px; }
.tox-picture img { display: block; max-width: min(100%, 700px); margin: 0 auto; }
.dark .tox-picture { background: #000; }
.dark .tox-picture img { filter: invert(1) hue-rotate(180deg); }
.tox-columns pre { padding: .6rem .8rem; max-height: 20rem; overflow: auto; white-space: pre-wrap; }
.tox-card-text { max-width: 90ch; contain: inline-size; }
.tox-card-text .token { color: inherit !important; }
.tox-card-text a { color: var(--accent) !important; }
.tox-card-text * { overflow-wrap: break-word; word-break: normal !important; }
.tox-card-text pre, .tox-card-text pre code { white-space: pre-wrap !important; }
@media (max-width: 700px) {
  .tox-card-text :is(table, tbody, tr, td) { display: block; width: auto; border: 0 !important; padding: 0 !important; }
  .tox-card-text * { overflow-wrap: anywhere !important; }
  .tox-scores :is(caption, th, td) { padding: .3rem .4rem; }
  .tox-card-text thead { display: none; }
  .tox-card-text tr { margin: .5rem 0; border-top: 1px solid var(--line) !important; }
  .gradio-container .main { padding-left: 1rem !important; padding-right: 1rem !important; }
}
"""
