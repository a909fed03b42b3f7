"""CONDA: in-game chat with an intent for each utterance and a slot for each token (Weld et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import datasets

from toxeval.sources.builder import SourceFile, VerifiedBuilder
from toxeval.sources.reading import SourceText

INTENTS = ("E", "I", "A", "O")
SLOTS = ("T", "S", "C", "D", "P", "O", "SEPA")

COMMIT = "3fb90675f881079c85c1de1f25df1bf8d521194f"
UNANNOTATED = ("Id", "matchId", "conversationId", "utterance", "chatTime", "playerSlot", "playerId")
ANNOTATED = (*UNANNOTATED, "intentClass", "slotClasses", "slotTokens")

CITATION = """\
@inproceedings{weld-etal-2021-conda,
    title = "{CONDA}: a {CON}textual Dual-Annotated dataset for in-game toxicity understanding and detection",
    author = "Weld, Henry and Huang, Guanghao and Lee, Jean and Zhang, Tongshu and Wang, Kunze and
              Guo, Xinghong and Long, Siqu and Poon, Josiah and Han, Soyeon Caren",
    booktitle = "Findings of the Association for Computational Linguistics: ACL-IJCNLP 2021",
    year = "2021",
}"""


DATASET = {
    "CONDA_train.csv": ("train", 2856782, "fe7b18d19deae8c5a465163247dc929baea643f381e7f28596fec0b1559bddcd"),
    "CONDA_valid.csv": ("validation", 956223, "4ed5b3eee87131014cdd373fe0303bc57c246cf10c5b864f08bd1ef8306d4949"),
    "CONDA_test.csv": ("test", 484537, "487eb6bc8336c5d5bea1ebad593f59b9f157209d987537572d99930ab01518af"),
}


class Conda(VerifiedBuilder):
    """CONDA, from its authors' repository at a pinned commit, or from the user's own copy of the three CSV files.

    Configs: `default`, and `context`, which adds the earlier utterances of the same conversation. The
    conversations are scattered over the splits, so their context comes from all three files.
    The test split is published without annotation: its intent is -1, its tokens and slots are empty.
    """

    SHAREABLE = False
    BASE_URL = f"https://raw.githubusercontent.com/usydnlp/CONDA/{COMMIT}/"
    FILES = {name: SourceFile(f"data/{name}", *about) for name, about in DATASET.items()}
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="default", version=VERSION, description="Each utterance by itself."),
        datasets.BuilderConfig(
            name="context", version=VERSION, description="Each utterance with the earlier ones of its conversation."
        ),
    ]

    def _info(self) -> datasets.DatasetInfo:
        features = {
            "id": datasets.Value("int32"),
            "match_id": datasets.Value("int32"),
            "conversation_id": datasets.Value("int32"),
            "utterance": datasets.Value("string"),
            "chat_time": datasets.Value("int32"),
            "player_slot": datasets.Value("int32"),
            "intent": datasets.ClassLabel(names=list(INTENTS)),
            "tokens": datasets.Sequence(datasets.Value("string")),
            "slots": datasets.Sequence(datasets.ClassLabel(names=list(SLOTS))),
        }
        if self.config.name == "context":
            features["context"] = datasets.Sequence(datasets.Value("string"))
            features["context_ids"] = datasets.Sequence(datasets.Value("int32"))
            features["context_player_slots"] = datasets.Sequence(datasets.Value("int32"))
        return datasets.DatasetInfo(
            description="In-game chat with an intent for each utterance and a slot for each token.",
            features=datasets.Features(features),
            homepage="https://github.com/usydnlp/CONDA",
            citation=CITATION,
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        paths = self.source_files(dl_manager, list(self.FILES))
        if self.config.name == "context" and len(paths) < len(self.FILES):
            missing = ", ".join(name for name in self.FILES if name not in paths)
            self.refuse_missing(f"the config context needs all three files; missing: {missing}")
        return [
            datasets.SplitGenerator(name=self.FILES[name].split, gen_kwargs={"name": name, "paths": paths})
            for name in paths
        ]

    def _generate_examples(self, name: str, paths: dict[str, str]) -> Iterator[tuple[int, dict[str, Any]]]:
        if self.config.name == "default":
            for key, (_, row) in enumerate(rows_of(self.read(name, paths[name]))):
                yield key, row
            return
        rows: dict[int, dict[str, Any]] = {}
        for each in paths:
            text = self.read(each, paths[each])
            for line, row in rows_of(text):
                if row["id"] in rows:
                    text.refuse(line, f"Id {row['id']} occurs twice in the three files")
                rows[row["id"]] = {**row, "file": each}
        conversations: dict[int, list[dict[str, Any]]] = {}
        for number in sorted(rows):
            row = rows[number]
            earlier = conversations.setdefault(row["conversation_id"], [])
            row["context"] = [other["utterance"] for other in earlier]
            row["context_ids"] = [other["id"] for other in earlier]
            row["context_player_slots"] = [other["player_slot"] for other in earlier]
            earlier.append(row)
        key = 0
        for row in rows.values():
            if row.pop("file") == name:
                yield key, row
                key += 1


def rows_of(text: SourceText) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of one of the three files, with their line numbers. `playerId`, a nickname, is left out."""
    annotated = text.file != "CONDA_test.csv"
    for line, cells in text.csv_rows(ANNOTATED if annotated else UNANNOTATED):
        row: dict[str, Any] = {
            "id": text.whole(line, "Id", cells["Id"]),
            "match_id": text.whole(line, "matchId", cells["matchId"]),
            "conversation_id": text.whole(line, "conversationId", cells["conversationId"]),
            "utterance": cells["utterance"],
            "chat_time": text.whole(line, "chatTime", cells["chatTime"]),
            "player_slot": text.whole(line, "playerSlot", cells["playerSlot"]),
            "intent": -1,
            "tokens": [],
            "slots": [],
        }
        if annotated:
            row["intent"] = text.label(line, "intentClass", cells["intentClass"], INTENTS)
            row["tokens"], row["slots"] = tokens_and_slots(text, line, cells["slotTokens"], cells["slotClasses"])
        yield line, row


def tokens_and_slots(text: SourceText, line: int, slot_tokens: str, slot_classes: str) -> tuple[list[str], list[str]]:
    """Take apart a cell like `wow (O), gg (S), `; the slots must be those of `slotClasses`.

    Tokens hold round brackets of their own (smileys), so each piece is cut at its last ` (`.
    """
    *pieces, rest = slot_tokens.split(", ")
    if rest:
        text.refuse(line, "slotTokens: expected 'token (slot), ' throughout; the cell ends before the last ', '")
    tokens, slots = [], []
    for position, piece in enumerate(pieces):
        token, bracket, slot = piece.rpartition(" (")
        if not bracket or not slot.endswith(")"):
            text.refuse(line, f"slotTokens: expected 'token (slot), ' throughout; piece {position} is different")
        tokens.append(token)
        slots.append(text.label(line, f"slotTokens, slot {position}", slot[:-1], SLOTS))
    if slots != slot_classes.split():
        text.refuse(
            line,
            f"slotTokens has {len(slots)} slots and slotClasses {len(slot_classes.split())}, and they are not the same",
        )
    return tokens, slots
