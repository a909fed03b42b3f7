"""CONDA's intents as a task for language models. Its slots aren't asked: they are a look-up in the authors' lexicon."""

from toxeval.core.prompt import Prompt

from .scores import DEFINITIONS

PROMPTS = (
    Prompt(
        task="conda_intents",
        version=1,
        definition=DEFINITIONS["intent"],
        dataset="conda",
        split="validation",  # the test split has no labels
        columns={"references": "intent"},
        headline="uca",
        id="id",
        text="This is a line of chat from a multiplayer game; [SEPA] joins messages of one player. What is it? Answer "
        "with one word: explicit if it is openly toxic, implicit if it is toxic in a hidden way, action if it calls "
        "for something to be done, such as reporting a player, other if it is none of these.\n\n"
        "Line: {utterance}\nAnswer:",
        aliases={"explicit": "E", "implicit": "I", "action": "A", "other": "O"},
    ),
)
