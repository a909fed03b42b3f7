"""SOLD: Sinhala tweets, offensive or not, with the offensive tokens marked (Ranasinghe et al. 2022)."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import datasets

from toxeval.sources.builder import SourceFile, VerifiedBuilder
from toxeval.sources.reading import SourceText

LABELS = ("NOT", "OFF")

REVISION = "547703301bd4d2ec938e287a6deea7c501e38b12"
COLUMNS = ("post_id", "text", "tokens", "rationales", "label")

CITATION = """\
@article{ranasinghe2022sold,
    title = {SOLD: Sinhala Offensive Language Dataset},
    author = {Ranasinghe, Tharindu and Anuradha, Isuri and Premasiri, Damith and Silva, Kanishka and
              Hettiarachchi, Hansi and Uyangodage, Lasitha and Zampieri, Marcos},
    journal = {arXiv preprint arXiv:2212.00851},
    year = {2022},
}"""


class Sold(VerifiedBuilder):
    """SOLD, from the authors' repository on the Hub at a pinned revision, or from the user's own three TSV files.

    `trial` is a sample of the other two splits: never add it to them. The digests of the files are not known to
    us: besides the pinned revision, the numbers of rows and labels are compared.
    """

    SHAREABLE = False
    BASE_URL = f"https://huggingface.co/datasets/sinhala-nlp/SOLD/resolve/{REVISION}/"
    FILES = {
        "SOLD_train.tsv": SourceFile("SOLD_train.tsv", "train"),
        "SOLD_test.tsv": SourceFile("SOLD_test.tsv", "test"),
        "SOLD_trial.tsv": SourceFile("SOLD_trial.tsv", "trial"),
    }
    COUNTS = {
        "SOLD_train.tsv": {"rows": 7500, "NOT": 4324, "OFF": 3176},
        "SOLD_test.tsv": {"rows": 2500, "NOT": 1485, "OFF": 1015},
        "SOLD_trial.tsv": {"rows": 500},
    }
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="default", version=VERSION)]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description="Sinhala tweets, offensive or not, with the offensive tokens marked.",
            features=datasets.Features(
                {
                    "post_id": datasets.Value("string"),
                    "text": datasets.Value("string"),
                    "tokens": datasets.Sequence(datasets.Value("string")),
                    "rationales": datasets.Sequence(datasets.Value("int64")),
                    "label": datasets.ClassLabel(names=list(LABELS)),
                }
            ),
            homepage="https://huggingface.co/datasets/sinhala-nlp/SOLD",
            citation=CITATION,
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        paths = self.source_files(dl_manager, list(self.FILES))
        return [
            datasets.SplitGenerator(name=self.FILES[name].split, gen_kwargs={"name": name, "path": path})
            for name, path in paths.items()
        ]

    def _generate_examples(self, name: str, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
        counts: Counter[str] = Counter()
        for key, row in enumerate(rows_of(self.read(name, path))):
            counts.update(("rows", row["label"]))
            yield key, row
        self.compare_counts(name, self.COUNTS[name], counts)


def rows_of(text: SourceText) -> Iterator[dict[str, Any]]:
    """The rows of one of the three files. `post_id` stays a string: as a double it would lose digits."""
    for line, cells in text.csv_rows(COLUMNS, delimiter="\t"):
        tokens = tokens_of(text, line, cells["tokens"])
        yield {
            "post_id": cells["post_id"],
            "text": cells["text"],
            "tokens": tokens,
            "rationales": rationales_of(text, line, cells["rationales"], len(tokens)),
            "label": text.label(line, "label", cells["label"], LABELS),
        }


def tokens_of(text: SourceText, line: int, cell: str) -> list[str]:
    """The words of a cell, which are joined by single spaces; another revision of the files has Python lists there."""
    try:
        listed = cell.startswith("[") and ast.literal_eval(cell)
    except (ValueError, SyntaxError):
        listed = None
    if isinstance(listed, list) and listed and all(isinstance(word, str) for word in listed):
        text.refuse(
            line, "tokens: expected words joined by spaces; found a list, as another revision of the file has it"
        )
    return cell.split(" ") if cell else []


def rationales_of(text: SourceText, line: int, cell: str, n_tokens: int) -> list[int]:
    """The marks of the tokens: a JSON list of 0 and 1, one a token, or an empty one where nothing was marked."""
    try:
        marks = json.loads(cell)
    except json.JSONDecodeError as error:
        text.refuse(line, f"rationales: not readable as JSON: {error.msg}")
    if not isinstance(marks, list) or any(type(mark) is not int or mark not in (0, 1) for mark in marks):
        text.refuse(line, "rationales: expected a list of 0 and 1")
    if marks and len(marks) != n_tokens:
        text.refuse(line, f"rationales: {len(marks)} marks for {n_tokens} tokens")
    return marks
