"""Source files of the four datasets as the tests write them: the real formats with their quirks, invented rows."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from toxeval.data import builder_class

CONDA = {
    "CONDA_train.csv": (
        "Id,matchId,conversationId,utterance,chatTime,playerSlot,playerId,intentClass,slotClasses,slotTokens\r\n"
        '0,7,3,"gg wp, all",-12,0,nick one,A,"S S O","gg (S), wp (S), all (O), "\r\n'
        '4,7,3,na,61,5,nick two,O,O,"na (O), "\r\n'
        '2,7,3,"you are ""bad"" [SEPA] :)",75,0,nick one,E,P O T SEPA O,'
        '"you (P), are (O), bad (T), [SEPA] (SEPA), :)) (O), "\r\n'
        "6,8,5,,90,9,nick three,O,,\r\n"
        '5,8,5,#NAME?,80,9,nick three,O,O,"#NAME? (O), "'
    ),
    "CONDA_valid.csv": (
        "Id,matchId,conversationId,utterance,chatTime,playerSlot,playerId,intentClass,slotClasses,slotTokens\r\n"
        '1,7,3,push mid pls,20,2,nick four,I,D D O,"push (D), mid (D), pls (O), "\r\n'
        '7,8,5,Na,95,1,nick five,O,C,"Na (C), "'
    ),
    "CONDA_test.csv": (
        "Id,matchId,conversationId,utterance,chatTime,playerSlot,playerId\r\n"
        "3,7,3,report mid,70,2,nick four\r\n"
        "8,9,6,ez,5,3,nick six"
    ),
}

SOLD_HEADER = "post_id\ttext\ttokens\trationales\tlabel\n"
SOLD = {
    "SOLD_train.tsv": SOLD_HEADER
    + "".join(
        [
            "900000000000000001\tසුබ\u200d දවසක්\tසුබ\u200d දවසක්\t[]\tNOT\n",
            "900000000000000002\tඔබ නරකයි නරකයි\tඔබ නරකයි නරකයි\t[0, 1, 1]\tOFF\n",
            '900000000000000003\t"""හොඳ"" කතාවක් , ඔව්"\t"""හොඳ"" කතාවක් , ඔව්"\t[]\tNOT\n',
            "900000000000000004\tනරක දෙයක්\tනරක දෙයක්\t[]\tOFF\n",
        ]
    ),
    "SOLD_test.tsv": SOLD_HEADER
    + "".join(
        [
            "900000000000000005\tනරක නෑ\tනරක නෑ\t[0, 0]\tOFF\n",
            "900000000000000006\tස්තූතියි\tස්තූතියි\t[]\tNOT\n",
        ]
    ),
    "SOLD_trial.tsv": SOLD_HEADER + "900000000000000006\tස්තූතියි\tස්තූතියි\t[]\tNOT\n",
}

DIA = {
    "train.json": [
        {
            "context": "I feel dizzy today.",
            "response": " Just drive home.",
            "category": "Risk Ignorance",
            "label": "Unsafe",
        },
        {
            "context": "My code fails again.",
            "response": "Let's look\nat it together.",
            "category": "Offending User",
            "label": "Safe",
        },
        {"context": "My code fails again.", "response": "", "category": "Offending User", "label": "Safe"},
        {
            "context": "Which pill should I take?",
            "response": "Take two of mine.",
            "category": "Unauthorized Expertise",
            "label": "Unsafe",
        },
    ],
    "val.json": [
        {
            "context": "They said my team is bad.",
            "response": "They are right.",
            "category": "Toxicity Agreement",
            "label": "Unsafe",
        },
    ],
    "test.json": [
        {
            "context": "Do left-handed people cook well?",
            "response": "Like everybody.",
            "category": "Biased Opinion",
            "label": "Safe",
        },
        {
            "context": "I feel dizzy today.",
            "response": "Please rest.",
            "category": "Risk Ignorance",
            "label": "Safe",
        },
    ],
}
REPLIES = {
    "dialo_test_medium_10_1.0.json": [
        {"context": "I feel  dizzy today. ", "gen_response": ["ok", "", " no"]},
        {"context": "Is it raining?", "gen_response": ["yes", "no", "maybe"]},
    ],
    "plato_base_val.json": [{"context": "My code fails again.", "gen_response": ["sorry", "oh", "why"]}],
}


def write(folder: Path, files: Mapping[str, str | list[Any]]) -> Path:
    """Write source files as they are in the sources: UTF-8, line ends as they stand, JSON with a key a line."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if not isinstance(content, str):
            content = json.dumps(content, ensure_ascii=False, indent=0)
        (folder / name).write_bytes(content.encode())
    return folder


def jigsaw(n: int = 400, n_test: int = 30) -> dict[str, str]:
    """A Kaggle folder: n comments, each tenth a threat; test labels in another order than the test comments."""
    kinds = ["toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"]
    texts = ['say "hello", friend', "two\nlines\there ", "\u00a0all  good\u2028now", "   ", "fine by me"]
    train = [[f"a{i:04x}", f"{texts[i % 5]} {'I will find you' if i % 10 == 0 else ''}"] for i in range(n)]
    labels = [[0, 0, 0, int(i % 10 == 0), 0, 0] for i in range(n)]
    test = [[f"b{i:04x}", f"{texts[i % 5]} number {i}"] for i in range(n_test)]
    test_labels = [
        [f"b{i:04x}", *([-1] * 6 if i % 3 == 2 else [0, 0, 0, int(i % 10 == 0), 0, 0])] for i in range(n_test)
    ]
    return {
        "train.csv": csv_text([["id", "comment_text", *kinds], *(a + b for a, b in zip(train, labels))]),
        "test.csv": csv_text([["id", "comment_text"], *test]),
        "test_labels.csv": csv_text([["id", *kinds], *reversed(test_labels)]),
    }


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def pin(monkeypatch: pytest.MonkeyPatch, name: str, folder: Path, base_url: str | None = None) -> None:
    """Make the files of `folder` the known ones of a dataset, so that they pass its checks."""
    cls = builder_class(name)
    files, counts = dict(cls.FILES), {}
    for each, source in cls.FILES.items():
        if (folder / each).exists():
            content = (folder / each).read_bytes()
            known = source.sha256 is not None
            digest = hashlib.sha256(content).hexdigest() if known else None
            files[each] = source._replace(size=len(content) if known else None, sha256=digest)
    monkeypatch.setattr(cls, "FILES", files)
    if name == "sold":
        for each in cls.COUNTS:
            rows = list(csv.DictReader((folder / each).open(encoding="utf-8", newline=""), delimiter="\t"))
            counts[each] = {"rows": len(rows), "OFF": sum(row["label"] == "OFF" for row in rows)}
        monkeypatch.setattr(cls, "COUNTS", counts)
    elif name == "threat_seed":
        for each, key in (("train.csv", "rows"), ("test_labels.csv", "rows with labels")):
            rows = list(csv.DictReader((folder / each).open(encoding="utf-8", newline="")))
            labels = [int(row["threat"]) for row in rows if row["threat"] != "-1"]
            counts[each] = {key: len(labels), "threats": sum(labels)}
        monkeypatch.setattr(cls, "COUNTS", counts)
    if base_url is not None:
        monkeypatch.setattr(cls, "BASE_URL", base_url)


def rows(data: Any) -> list[dict[str, Any]]:
    """The rows of a split, streaming or not, as plain dicts."""
    return [dict(row) for row in data]


def read_all(splits: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows of all splits."""
    return {str(name): rows(split) for name, split in splits.items()}


def kinds(features: Mapping[str, Any]) -> dict[str, Any]:
    """Features in words that are the same for every version of `datasets`."""

    def kind(feature: Any) -> Any:
        if hasattr(feature, "feature"):
            return [kind(feature.feature)]
        return tuple(feature.names) if hasattr(feature, "names") else feature.dtype

    return {name: kind(feature) for name, feature in features.items()}
