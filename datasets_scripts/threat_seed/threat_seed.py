"""The threat Seed: a small, stratified sample of the Jigsaw comments, 0.3 % of them threats (Juuti et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import datasets
import numpy as np

from toxeval.sources.builder import SourceFile, VerifiedBuilder
from toxeval.sources.reading import SourceText

from .folds import check_options, seed_rows

LABELS = ("non-threat", "threat")

KINDS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")

CITATION = """\
@inproceedings{juuti-etal-2020-little,
    title = "A little goes a long way: Improving toxic language classification despite data scarcity",
    author = {Juuti, Mika and Gr{\\"o}ndahl, Tommi and Flanagan, Adrian and Asokan, N.},
    booktitle = "Findings of the Association for Computational Linguistics: EMNLP 2020",
    year = "2020",
}"""


@dataclass
class ThreatSeedConfig(datasets.BuilderConfig):
    """Which rows make the Seed. The authors' 30 seeds, 20200303 to 20200332, stand in a comment of their script."""

    seed: int = 20200303
    percentage: int = 5
    split_algorithm: str = "sklearn-0.21"


class ThreatSeed(VerifiedBuilder):
    """The threat Seed as `train`, and the labelled Jigsaw test comments as `test`.

    The Seed is the first `percentage` test folds of a stratified 100-fold split of Jigsaw's train.csv, shuffled
    with `seed`, as dealt by the scikit-learn release that `split_algorithm` names. (It isn't called `split`,
    since `load_dataset` has an argument of that name.) The digests of Kaggle's files are not known to us: the
    numbers of rows and threats are compared.
    """

    BASE_URL = None
    FILES = {
        "train.csv": SourceFile("train.csv", "train"),
        "test.csv": SourceFile("test.csv", "test"),
        "test_labels.csv": SourceFile("test_labels.csv", "test"),
    }
    COUNTS = {
        "train.csv": {"rows": 159571, "threats": 478},
        "test_labels.csv": {"rows with labels": 63978, "threats": 211},
    }
    WHERE_TO_GET = (
        "nothing is downloaded for this dataset: get train.csv, test.csv and test_labels.csv from the Data page of "
        'Kaggle\'s "Toxic Comment Classification Challenge", with an account there, and unpack them into one folder'
    )
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = ThreatSeedConfig
    BUILDER_CONFIGS = [ThreatSeedConfig(name="default", version=VERSION)]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description="A stratified sample of the Jigsaw comments, labelled threat or not.",
            features=datasets.Features(
                {
                    "id": datasets.Value("string"),
                    "text": datasets.Value("string"),
                    "label": datasets.ClassLabel(names=list(LABELS)),
                }
            ),
            citation=CITATION,
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        config = self.config
        check_options(seed=config.seed, percentage=config.percentage, split_algorithm=config.split_algorithm)
        paths = self.source_files(dl_manager, list(self.FILES))
        if ("test.csv" in paths) != ("test_labels.csv" in paths):
            self.refuse_missing("the split test needs both test.csv and test_labels.csv")
        splits = [split for split, name in (("train", "train.csv"), ("test", "test.csv")) if name in paths]
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split_name": split, "paths": paths}) for split in splits
        ]

    def _generate_examples(self, split_name: str, paths: dict[str, str]) -> Iterator[tuple[int, dict[str, Any]]]:
        yield from enumerate(self._seed(paths) if split_name == "train" else self._test(paths))

    def _seed(self, paths: dict[str, str]) -> Iterator[dict[str, Any]]:
        text = self.read("train.csv", paths["train.csv"])
        rows = []
        for line, cells in text.csv_rows(("id", "comment_text", *KINDS)):
            rows.append((cells["id"], cells["comment_text"], threat_of(text, line, cells, ("0", "1"))))
        threats = np.array([threat for _, _, threat in rows])
        self.compare_counts("train.csv", self.COUNTS["train.csv"], {"rows": len(rows), "threats": int(threats.sum())})
        config = self.config
        chosen = seed_rows(
            threats, seed=config.seed, percentage=config.percentage, split_algorithm=config.split_algorithm
        )
        for number in chosen.tolist():
            row_id, comment, threat = rows[number]
            yield {"id": row_id, "text": one_line(comment), "label": threat}

    def _test(self, paths: dict[str, str]) -> Iterator[dict[str, Any]]:
        """`test.csv` in its order, joined with `test_labels.csv` by id: the two are not in the same order."""
        text = self.read("test_labels.csv", paths["test_labels.csv"])
        threats: dict[str, int] = {}
        for line, cells in text.csv_rows(("id", *KINDS)):
            if cells["id"] in threats:
                text.refuse(line, "this id was there before")
            threats[cells["id"]] = threat_of(text, line, cells, ("-1", "0", "1"))
        labelled = [threat for threat in threats.values() if threat != -1]
        found = {"rows with labels": len(labelled), "threats": sum(labelled)}
        self.compare_counts("test_labels.csv", self.COUNTS["test_labels.csv"], found)
        text = self.read("test.csv", paths["test.csv"])
        for line, cells in text.csv_rows(("id", "comment_text")):
            threat = threats.pop(cells["id"], None)
            if threat is None:
                text.refuse(line, "this id was there before, or is not in test_labels.csv")
            if threat != -1:
                yield {"id": cells["id"], "text": one_line(cells["comment_text"]), "label": threat}
        if threats:
            text.refuse(line, f"the file ends here, but {len(threats)} ids of test_labels.csv have had no comment")


def threat_of(text: SourceText, line: int, cells: dict[str, str], allowed: tuple[str, ...]) -> int:
    """The label `threat` of a row, all six labels being among `allowed`."""
    for kind in KINDS:
        text.label(line, kind, cells[kind], allowed)
    return int(cells["threat"])


def one_line(comment: str) -> str:
    """Runs of white space (line ends and tabs too) become one space, none at the ends. It may become empty."""
    return " ".join(comment.split())
