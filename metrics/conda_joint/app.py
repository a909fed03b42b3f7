"""The demo page of conda_joint."""

from pathlib import Path

from toxeval.page.build import build
from toxeval.page.page import Example, Page
from toxeval.page.server import launch

# gold intent and slots, and what a system said, of invented utterances such as "gg wp" and "you are bad"
UTTERANCES = [
    ("O", "S S", "O", "S S"),
    ("E", "P O T", "E", "P O T"),
    ("I", "P O S", "O", "P O S"),
    ("A", "O C D", "A", "O C O"),
    ("O", "S SEPA S S", "O", "S SEPA S S"),
    ("E", "T C", "E", "T O"),
    ("O", "", "O", ""),
    ("I", "O P D", "I", "O P D"),
    ("E", "P O T SEPA S", "I", "P O T SEPA S"),
    ("A", "O D", "A", "O D"),
]

page = Page(
    folder=Path(__file__).resolve().parent,
    title="Toxicity in game chat, intent and words together (CONDA)",
    question="How often does a system get an utterance's intent right, its words' slots, and all of it at once?",
    examples=[
        Example("10 utterances", [(p, ps, r, rs) for r, rs, p, ps in UTTERANCES]),
        Example("Everything O", [("O", " ".join("O" for _ in rs.split()), r, rs) for r, rs, _, _ in UTTERANCES]),
    ],
    options=[],
    cards={"jsa": "joint accuracy (JSA)", "uca": "intent accuracy (UCA)", "t_f1": "token F1 (T-F1)"},
    picture="Confusion matrices of intents and of slots: rows are references, columns predictions.",
)
demo = build(page)

if __name__ == "__main__":
    launch(demo)
