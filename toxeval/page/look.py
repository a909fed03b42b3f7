"""The looks of a page."""

from typing import Any


def theme() -> Any:
    """Gradio's own, with system fonts (nothing is fetched from elsewhere) and colours of enough contrast."""
    import gradio as gr

    return gr.themes.Default(
        primary_hue="blue",
        neutral_hue="zinc",
        font=["system-ui", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    ).set(
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_300",
    )


CSS = """
.gradio-container { max-width: 1320px !important; margin: 0 auto !important; --line: var(--border-color-primary);
  --accent: #1d4ed8; --weak: var(--body-text-color-subdued); --area: var(--background-fill-secondary); }
.dark .gradio-container { --accent: #93c5fd; }
.tox-head h1 { margin: 0 0 .25rem; font-size: 1.7rem; font-weight: 700; }
.tox-head p { margin: .25rem 0; max-width: 75ch; }
.tox-head .tox-warning { border-left: 4px solid #d97706; padding: .35rem .75rem;
  background: color-mix(in srgb, #d97706 10%, transparent); }
.tox-columns { display: grid; gap: 1.5rem; align-items: start; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr);
  color: var(--body-text-color); line-height: 1.45; }
@media (max-width: 900px) { .tox-columns { grid-template-columns: minmax(0, 1fr); } }
.tox-columns h2 { margin: 1rem 0 .5rem; font-size: 1.2rem; font-weight: 700; scroll-margin-top: .5rem; }
.tox-columns h3 { margin: 1rem 0 .4rem; font-weight: 700; }
.tox-columns small { color: var(--weak); font-size: .85rem; }
.tox-columns :is(input[type=text], textarea, select) { width: 100%; padding: .45rem .6rem; font: inherit;
  color: inherit; background: var(--input-background-fill); border: 1px solid var(--weak); border-radius: 6px; }
.tox-columns :is(textarea, pre) { font-family: var(--font-mono); font-size: .85rem; }
.tox-columns textarea { display: block; margin-top: .25rem; resize: vertical; overflow-wrap: anywhere; }
.tox-columns :is(input[type=radio], input[type=checkbox], select) { appearance: auto !important;
  background-image: none !important; accent-color: var(--accent); color-scheme: light; }
.dark .tox-columns :is(input, select) { color-scheme: dark; }
.tox-columns :is(input[type=radio], input[type=checkbox]) { width: 1.05rem; height: 1.05rem; margin: 0 .3rem 0 0;
  vertical-align: -.15rem; }
.tox-columns [aria-invalid] { border-color: #dc2626; outline: 2px solid #dc2626; }
.tox-columns button { padding: .45rem .9rem; border-radius: 6px; border: 1px solid var(--weak); font-weight: 600;
  background: var(--area); color: inherit; cursor: pointer; overflow-wrap: anywhere; }
.tox-columns button:hover { border-color: var(--accent); }
.tox-columns button.tox-compute { width: 100%; margin-top: 1rem; padding: .7rem; color: #fff; background: #1d4ed8;
  border-color: #1d4ed8; }
.tox-columns [aria-busy=true] .tox-compute, [aria-busy=true] button.tox-compute { background: #52525b; cursor: wait; }
.tox-columns :is(button, input, textarea, select, summary, [tabindex]):focus-visible, #tox-drop:focus-within {
  outline: 3px solid var(--accent); outline-offset: 2px; }
.tox-files { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: .25rem 0 .5rem; }
#tox-drop { display: block; margin: .5rem 0; padding: .7rem; text-align: center; cursor: pointer; border-radius: 8px;
  border: 2px dashed var(--weak); }
#tox-drop input { position: absolute; width: 1px; height: 1px; opacity: 0; }
#tox-drop small { display: block; }
#tox-chosen { overflow-wrap: anywhere; }
.tox-inputs > div { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .1rem .75rem;
  padding: .4rem 0; border-top: 1px solid var(--line); }
.tox-inputs small { display: block; }
.tox-inputs div small { font-family: var(--font-mono); overflow-wrap: anywhere; }
.tox-inputs .tox-lacking select { border: 2px solid #d97706; }
.tox-control { margin: .7rem 0; padding: 0; border: 0; }
.tox-control > label, .tox-control legend { font-weight: 600; padding: 0; }
fieldset.tox-control label { font-weight: 400; display: inline-block; margin-right: 1rem; }
.tox-control small { display: block; }
.tox-columns summary { cursor: pointer; font-weight: 600; padding: .3rem 0; }
.tox-error, .tox-good, .tox-doubt { margin: .5rem 0; padding: .5rem .75rem; border-left: 4px solid; border-radius: 4px;
  overflow-wrap: anywhere; }
.tox-error { border-color: #dc2626; background: color-mix(in srgb, #dc2626 12%, transparent); }
.tox-good { border-color: #059669; background: color-mix(in srgb, #059669 12%, transparent); }
.tox-doubt { border-color: #d97706; background: color-mix(in srgb, #d97706 12%, transparent); }
.tox-error:empty, #tox-status:empty { display: none; }
.tox-empty { padding: 2rem 1rem; text-align: center; color: var(--weak); border: 1px dashed var(--weak);
  border-radius: 8px; }
.tox-note { margin: .5rem 0; color: var(--weak); }
.tox-note ul { margin: .25rem 0 .25rem 1.2rem; list-style: disc; }
#tox-status { margin: 0 0 .6rem; font-weight: 600; }
.tox-stale { border: 2px dashed #d97706; border-radius: 8px; padding: .5rem; }
.tox-stale :is(strong, td) { text-decoration: line-through; }
.tox-cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: .6rem; }
.tox-card { border: 1px solid var(--line); border-radius: 8px; padding: .6rem .8rem; background: var(--area); }
.tox-card strong { display: block; font-size: 1.6rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tox-card:first-child { border-color: var(--accent); }
.tox-scroll { overflow: auto; max-height: 22rem; margin-top: .6rem; border: 1px solid var(--line); border-radius: 8px; }
.tox-scores { width: 100%; border-collapse: collapse; font-size: .9rem; }
.tox-scores caption { text-align: left; padding: .4rem .75rem; color: var(--weak); }
.tox-scores :is(th, td) { padding: .3rem .75rem; border-top: 1px solid var(--line); text-align: left; }
.tox-scores thead th { position: sticky; top: 0; background: var(--area); }
.tox-scores tbody th { font-weight: 400; font-family: var(--font-mono); }
.tox-scores td { font-variant-numeric: tabular-nums; }
.tox-picture { margin-top: .6rem; overflow-x: auto; background: #fff; border-radius: 8px; }
.tox-picture img { display: block; width: 100%; max-width: 640px; min-width: 320px; margin: 0 auto; }
.tox-picture.tox-wide img { max-width: none; min-width: 600px; }
.dark .tox-picture { background: #000; }
.dark .tox-picture img { filter: invert(1) hue-rotate(180deg); }
.tox-code { position: relative; }
.tox-code pre { margin: 0; padding: .6rem .8rem; max-height: 20rem; overflow: auto; white-space: pre-wrap;
  overflow-wrap: anywhere; background: var(--area); border: 1px solid var(--line); border-radius: 8px; }
.tox-code button { margin-top: .3rem; }
.tox-card-text { max-width: 90ch; contain: inline-size; }
.tox-card-text .token { color: inherit !important; }
.tox-card-text a { color: var(--accent) !important; }
.tox-card-text :is(td, th, p, li, code) { overflow-wrap: break-word; word-break: normal !important; }
.tox-card-text pre, .tox-card-text pre code { white-space: pre-wrap !important; }
@media (max-width: 700px) {
  .tox-card-text :is(table, tbody, tr, td) { display: block; width: auto; border: 0 !important; padding: 0 !important; }
  .tox-card-text * { overflow-wrap: anywhere !important; }
  .tox-card-text thead { display: none; }
  .tox-card-text tr { margin: .5rem 0; border-top: 1px solid var(--line) !important; }
  .gradio-container .main { padding-left: 1rem !important; padding-right: 1rem !important; }
}
"""
