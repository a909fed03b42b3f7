"""SOLD as a task for language models: is a post offensive?

Its tokens aren't asked: a label a token is a matter of counting, and of splitting words as the data set does, and a
model that miscounts would score as one that doesn't know.
"""

from toxeval.core.prompt import Prompt

from .scores import POSTS

PROMPTS = (
    Prompt(
        task="sold",
        version=1,
        definition=POSTS,
        dataset="sold",
        split="test",
        columns={"references": "label"},
        headline="f1_macro",
        id="post_id",
        text="Is this post, written in Sinhala, offensive? Answer with one word: OFF if it is, NOT if it is not.\n\n"
        "Post: {text}\nAnswer:",
        aliases={"offensive": "OFF", "not offensive": "NOT"},
    ),
)
