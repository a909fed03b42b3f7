"""The demo page of conda_joint."""

from toxeval.metrics.conda_joint.scores import DEFINITIONS

from toxeval.page.build import serve
from toxeval.page.page import Example, Page

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
INTENTS, SLOTS, SAID_INTENTS, SAID_SLOTS = map(list, zip(*UTTERANCES))


def columns(intents: list[str], slots: list[str]) -> dict[str, list[str]]:
    """A system's intents and slots beside the gold ones."""
    return {
        "predictions.intent": intents,
        "predictions.slots": slots,
        "references.intent": INTENTS,
        "references.slots": SLOTS,
    }


page = Page(
    file=__file__,
    definitions=DEFINITIONS,
    title="Toxicity in game chat, intent and words together (CONDA)",
    question="How often does a system get an utterance's intent right, its words' slots, and all of it at once?",
    examples=[
        Example("10 utterances", columns(SAID_INTENTS, SAID_SLOTS)),
        Example("Everything O", columns(["O"] * len(INTENTS), [" ".join("O" for _ in s.split()) for s in SLOTS])),
        Example("Intents alone", {"predictions": SAID_INTENTS, "references": INTENTS}, config="intent"),
    ],
    cards={
        "jsa": "joint accuracy (JSA)",
        "uca": "intent accuracy (UCA)",
        "t_f1": "token F1 (T-F1)",
        "u_f1_E": "F1 of explicit toxicity (E)",
    },
    alt="Confusion matrices of intents and of slots: rows are references, columns predictions.",
    configs={"default": "intents and slots", "intent": "intents alone"},
)
demo = serve(page, __name__)
