"""What JointBERT (github.com/monologg/JointBERT) reads and writes.

A folder of three files with a line for each utterance: its words in ``seq.in``, their slots in ``seq.out``, its intent
in ``label``. And the lines that ``predict.py`` writes, ``<O> -> gg [you:P]``: the intent, and the words, those whose
slot isn't O in brackets with it.
"""

import re
from collections.abc import Sequence
from typing import Any

from toxeval.core.refusals import Known, refuse

from ..tables import Table, from_columns
from .given import Files, Given, lines_of

#: The three files.
WORDS, SLOTS, INTENTS = "seq.in", "seq.out", "label"

_LINE = re.compile(r"<(.+?)> ->(?: (.*))?")
_TAGGED = re.compile(r"\[(.+):([^:\]]+)\]")
#: The slot that ``predict.py`` doesn't write.
_OUTSIDE = "O"


def read(files: Files) -> tuple[Table, Table | None]:
    """The tables of both sides; of prediction lines the words must be those of the references."""
    if files.references is None:
        return _predictions(files.predictions, None), None
    if files.references.folder is None:
        refuse("a file", f"a folder with {WORDS}, {SLOTS} and {INTENTS}", file=files.references.path)
    gold = _read_folder(files.references)
    return _predictions(files.predictions, gold["tokens"]), from_columns(files.references.path, gold)


def _predictions(given: Given, words: Sequence[list[str]] | None) -> Table:
    columns = _read_folder(given) if given.folder else _read_lines(given, words)
    named = {"pred_intent": columns["intent"], "pred_slots": columns["slots"]}
    return from_columns(given.path, named)


def _read_folder(given: Given) -> dict[str, list[Any]]:
    """The columns tokens, slots and intent of the three files."""
    names = (WORDS, SLOTS, INTENTS)
    sources = [given.source(name) for name in names]
    words, slots, intents = map(lines_of, sources)
    lengths = {source.name: len(lines) for source, lines in zip(sources, (words, slots, intents))}
    if len(set(lengths.values())) > 1:
        short = min(lengths, key=lengths.__getitem__)
        found = f"ends here, after {lengths[short]} of {max(lengths.values())} utterances"
        refuse(found, "a line for each in all three files", file=short, line=lengths[short] + 1)
    tokens, tagged = [text.split() for text in words], [text.split() for text in slots]
    for line, (own, tags) in enumerate(zip(tokens, tagged), 1):
        if len(own) != len(tags):
            refuse(f"{len(tags)} slots for {len(own)} words", "one a word", file=sources[1].name, line=line)
    for line, intent in enumerate(intents, 1):
        if not intent:
            refuse("no intent", "one in every line", file=sources[2].name, line=line)
    return {"tokens": tokens, "slots": tagged, "intent": intents}


def _read_lines(given: Given, words: Sequence[list[str]] | None) -> dict[str, list[Any]]:
    """The columns slots and intent of prediction lines; words that are known tell which brackets are their own."""
    source = given.source()
    lines = lines_of(source)
    if words is not None and len(lines) != len(words):
        line = min(len(lines), len(words)) + 1
        refuse(f"{len(lines)} lines for {len(words)} utterances", "a line for each", file=source.name, line=line)
    columns: dict[str, list[Any]] = {"slots": [], "intent": []}
    for line, text in enumerate(lines, 1):
        with Known(file=source.name, line=line):
            parts = _LINE.fullmatch(text)
            if parts is None:
                refuse("no prediction", "lines such as <O> -> gg [you:P]")
            tagged = (parts[2] or "").split()
            columns["slots"].append(_slots(tagged) if words is None else _slots_of(tagged, words[line - 1]))
            columns["intent"].append(parts[1])
    return columns


def _slots(tagged: Sequence[str]) -> list[str]:
    """The slots in a line whose words aren't known.

    >>> _slots(["gg", "[you:P]", "[[SEPA]:SEPA]"])
    ['O', 'P', 'SEPA']
    """
    found = map(_TAGGED.fullmatch, tagged)
    return [part[2] if part else _OUTSIDE for part in found]


def _slots_of(tagged: Sequence[str], words: Sequence[str]) -> list[str]:
    """The slots of words in a line.

    >>> _slots_of(["[you:P]", "[a:b]"], ["you", "[a:b]"])
    ['P', 'O']
    """
    if len(tagged) != len(words):
        refuse(f"{len(tagged)} words", f"the {len(words)} of {WORDS}", "longer ones are cut at max_seq_len")
    slots = []
    for position, (part, word) in enumerate(zip(tagged, words)):
        label = part.removeprefix(f"[{word}:").removesuffix("]") if part != word else _OUTSIDE
        if part not in (word, f"[{word}:{label}]"):
            refuse(f"another word at position {position}", f"the words of {WORDS}, in their order")
        slots.append(label)
    return slots
