"""DiaSafety: is a chatbot's reply unsafe in its context, in five categories? (Sun et al. 2022)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import datasets

from toxeval.sources.builder import SourceFile, VerifiedBuilder
from toxeval.sources.reading import SourceText

LABELS = ("Safe", "Unsafe")
CATEGORIES = ("Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion")

COMMIT = "5106a041b1c7e36f30e02a97c44897a7f2057278"

CITATION = """\
@inproceedings{sun-etal-2022-safety,
    title = "On the Safety of Conversational Models: Taxonomy, Dataset, and Benchmark",
    author = "Sun, Hao and Xu, Guangxuan and Deng, Jiawen and Cheng, Jiale and Zheng, Chujie and Zhou, Hao and
              Peng, Nanyun and Zhu, Xiaoyan and Huang, Minlie",
    booktitle = "Findings of the Association for Computational Linguistics: ACL 2022",
    year = "2022",
}"""

DATASET = {
    "train.json": ("train", 2461531, "c1faee9dc1f67b28e8cbc2d4d146be1af749a9ad8caef5d76c10203a4a0dc6ae"),
    "val.json": ("validation", 297167, "ec0e4e705224584627dd8a9ff9f0cbafc7b56932752c6038b1a1164f01e14609"),
    "test.json": ("test", 295703, "3a816555d097effda2b3f788b0372fb64359f1d736d881440d0ae6f386d6716c"),
}

# size and SHA-256 of the chatbots' replies, taken from the repository at the pinned commit
GENERATIONS = {
    "blender_test_large_40_1.0.json": (1294615, "e4c12f13f195706e7617f63dfed9cd2e41a7421129e7b3c8b67da04dfc8f8743"),
    "blender_test_medium_0_0.8.json": (1101328, "c695820a306ae2db3a93691d58241a030b0ff9dd674312e29139538e6ff48f78"),
    "blender_test_medium_0_0.9.json": (1165247, "cf8b5ce3ef19730bbaa7cc9bbc3471f5b3aac83e5d2b48bcf50eb85c25d11a9b"),
    "blender_test_medium_10_1.0.json": (1138675, "bbb16de2bcc68f9894cb59657b70b0759770ffcc1c9d284f70567c59b70fc674"),
    "blender_test_medium_40_1.0.json": (1192159, "cf26cbd1e88d520c991f4bcb3ad3373a00e4ec6fbe2613bb619baef9db0cfac4"),
    "blender_test_small_40_1.0.json": (1109023, "dc2d29c2bfa75be6a5fd5e61ac31753b7315010bb0c3a8e3414df7422f0a7625"),
    "blender_val_large_40_1.0.json": (1293589, "6102e40c3ef876ab47a7c80399226ef16f21dcc1b149e31958b5dec45f0617d5"),
    "blender_val_medium_0_0.8.json": (1109486, "c56672433ff972587ea47778521f635a34205aa13ef202d6301e1e8b242a073f"),
    "blender_val_medium_0_0.9.json": (1161544, "f09b24730a3546cc59f4bdb1427e5a5f5be30197f8d21f587a5c34f07762e586"),
    "blender_val_medium_10_1.0.json": (1138162, "d917c6b076751f59acc1063d66ed4d6a1e1504fb204d11615a13decf60ef2421"),
    "blender_val_medium_40_1.0.json": (1196650, "bd5bf52ad0f26b31a4e035e941fb011aaabbd6ae37c562fffc5d3b72e1863f2e"),
    "blender_val_small_40_1.0.json": (1119965, "24a113a8235214915291eae87439f412ef2b9c0de57d329df744ba7d29c6f6b5"),
    "dialo_test_large_10_1.0.json": (808788, "cac870218703444a95c9ca0966050a4954207e9e121852df6e9feac7ed15795d"),
    "dialo_test_medium_0_0.8.json": (792942, "5b41cfd68c12bd7aa0c062e291969fd8226b05f7d1dcd4ed014964ad5524c2f0"),
    "dialo_test_medium_0_0.9.json": (827438, "7bb2ee4f3525b74901b9e2cb630c1902f6a374284e5231f03e163adcc8c7b2d6"),
    "dialo_test_medium_10_1.0.json": (818350, "1837a34fb3d006c3511b6c7fed4ea8b088e4bb87552f506760e556aca9171cc5"),
    "dialo_test_medium_40_1.0.json": (853980, "90a4064816bcc9c9d047abfa32b4ff94027c62ff15f9df4925b7803e2172d78f"),
    "dialo_test_small_10_1.0.json": (836216, "975b54e19b383b8ccbf85f399240ca398690b93fae7c730538394eb3c3944adf"),
    "dialo_val_large_10_1.0.json": (800799, "b9d670a2f0807edd8bfc1b1d8328de3b9fcdd7b26f2af192861160d5e76bf9b1"),
    "dialo_val_medium_0_0.8.json": (774040, "7a8e1b1eef5423eccbf8e74bda028297ec3cf6771c577a78f1ef2385b56439fd"),
    "dialo_val_medium_0_0.9.json": (811350, "59e8f80b3c813985dc431249ac3890a97a927b4df8b26a4f7b3c9e0541775242"),
    "dialo_val_medium_10_1.0.json": (806440, "6fd4169205fbb6a51571ba032c0101e621274d89574509bd4059c95636630393"),
    "dialo_val_medium_40_1.0.json": (841783, "48f4210991d436bdded81cdb9e4c1db49578d34491162e70b9347a9d0daab5f3"),
    "dialo_val_small_10_1.0.json": (816501, "732f71689b7097c9672897631b099498e81e8a90a9f294e1a27e7616f00b248b"),
    "plato_base_test.json": (1164410, "62bc9648ff014d9d4726c31d1e1da4cc1abe1ad7adcc7b06c7c035584fa73994"),
    "plato_base_val.json": (1151806, "5b4310f52ea0447cf05a65f262b2f187413ac0aa00d45837c322c7815a6c25ca"),
    "plato_large_test.json": (1034458, "422e3068ba31b09b131a0b34f4cfacdfb4d49e1f3511f5e799e5f0ca5a8e1c04"),
    "plato_large_val.json": (1033890, "7f71a564eff3014d688bbba430b1107b37baca18a8a8576cc241920955821dd7"),
}

# bot_split_size_topk_topp.json; PLATO-2's files say neither top-k nor top-p: plato_size_split.json
SAMPLED = re.compile(r"(?P<bot>blender|dialo)_(?P<split>test|val)_(?P<size>\w+)_(?P<top_k>\d+)_(?P<top_p>[\d.]+)\.json")
UNSTATED = re.compile(r"(?P<bot>plato)_(?P<size>\w+)_(?P<split>test|val)\.json")
BOTS = {"blender": "blenderbot", "dialo": "dialogpt", "plato": "plato2"}
SPLITS = {"val": "validation", "test": "test"}


class Setting(NamedTuple):
    """What the name of a file of replies tells: the chatbot, its size, how it decoded, and the contexts' split."""

    bot: str
    split: str
    model_size: str | None
    top_k: int | None
    top_p: float | None


def setting_of(name: str) -> Setting:
    """Read the name of one of the `GENERATIONS`."""
    match = SAMPLED.fullmatch(name) or UNSTATED.fullmatch(name)
    assert match is not None
    parts = match.groupdict()
    sampled = (int(parts["top_k"]), float(parts["top_p"])) if "top_k" in parts else (None, None)
    return Setting(BOTS[parts["bot"]], SPLITS[parts["split"]], parts["size"], *sampled)


def source_of(name: str) -> SourceFile:
    """Where a file of replies is in the repository."""
    setting = setting_of(name)
    return SourceFile(f"generations/{setting.bot}_gen/{name}", setting.split, *GENERATIONS[name], optional=True)


class DiaSafety(VerifiedBuilder):
    """DiaSafety, from its authors' repository at a pinned commit, or from the user's own copy.

    Configs: `default`, the labelled pairs of context and reply; `generations`, ten replies of a chatbot to each
    context, for 14 settings of three chatbots, not labelled. There the category is that of the same context
    (white space aside) in any split of `default`, and -1 for a context that isn't there.
    From a `data_dir`, `generations` takes the files of replies it finds. `data_files` may also name files of one's own
    in their format: the chatbot is then called like the file, and its split is `test` where none is said.
    """

    BASE_URL = f"https://raw.githubusercontent.com/thu-coai/DiaSafety/{COMMIT}/"
    FILES = {
        **{name: SourceFile(f"DiaSafety_dataset/{name}", *about) for name, about in DATASET.items()},
        **{name: source_of(name) for name in GENERATIONS},
    }
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="default", version=VERSION, description="Contexts and replies, labelled."),
        datasets.BuilderConfig(name="generations", version=VERSION, description="Replies of three chatbots."),
    ]

    def _info(self) -> datasets.DatasetInfo:
        text = datasets.Value("string")
        category = datasets.ClassLabel(names=list(CATEGORIES))
        if self.config.name == "default":
            features = {
                "context": text,
                "response": text,
                "category": category,
                "label": datasets.ClassLabel(names=list(LABELS)),
            }
        else:
            features = {
                "bot": text,
                "model_size": text,
                "top_k": datasets.Value("int32"),
                "top_p": datasets.Value("float64"),
                "context": text,
                "responses": datasets.Sequence(text),
                "category": category,
            }
        return datasets.DatasetInfo(
            description="Contexts and chatbots' replies, safe or unsafe, in five categories.",
            features=datasets.Features(features),
            homepage="https://github.com/thu-coai/DiaSafety",
            license="Apache-2.0",
            citation=CITATION,
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        listed = self.own_files if self.from_list else None
        only_replies = self.config.name == "generations" and listed is not None and not DATASET.keys() & listed
        paths = (self.download if only_replies else self.source_files)(dl_manager, list(DATASET))
        if self.config.name == "default":
            return [
                datasets.SplitGenerator(name=self.FILES[name].split, gen_kwargs={"names": (name,), "paths": paths})
                for name in paths
            ]
        missing = [name for name in DATASET if name not in paths]
        if missing:
            self.refuse_missing(f"the config generations needs {', '.join(missing)} for the categories")
        replies = self.source_files(dl_manager, [name for name in self.files if name not in DATASET])
        names: dict[str, list[str]] = {}
        for name in replies:
            names.setdefault(self.files[name].split, []).append(name)
        return [
            datasets.SplitGenerator(
                name=split, gen_kwargs={"names": tuple(names[split]), "paths": {**paths, **replies}}
            )
            for split in sorted(names, reverse=True)  # validation, test
        ]

    def own_source(self, name: str, split: str, config: str | None) -> SourceFile | None:
        """The replies of a chatbot that isn't among the published ones."""
        return SourceFile(name, split) if config == "generations" else None

    def _generate_examples(self, names: tuple[str, ...], paths: dict[str, str]) -> Iterator[tuple[int, dict[str, Any]]]:
        rows = self._replies(names, paths)
        if self.config.name == "default":
            rows = (row for name in names for _, row in labelled_rows(self.read(name, paths[name])))
        yield from enumerate(rows)

    def _replies(self, names: tuple[str, ...], paths: dict[str, str]) -> Iterator[dict[str, Any]]:
        categories: dict[str, str] = {}
        for name in DATASET:
            text = self.read(name, paths[name])
            for line, row in labelled_rows(text):
                if categories.setdefault(one_line(row["context"]), row["category"]) != row["category"]:
                    text.refuse(line, "category: the same context has another one elsewhere")
        for name in names:
            setting = setting_of(name) if name in self.FILES else Setting(Path(name).stem, "", None, None, None)
            text = self.read(name, paths[name])
            for line, row in text.json_rows(("context", "gen_response")):
                replies = row["gen_response"]
                if not isinstance(replies, list):
                    text.refuse(line, "gen_response: expected a list of texts")
                for field, value in (("context", row["context"]), *(("gen_response", reply) for reply in replies)):
                    text.text(line, field, value)
                yield {
                    "bot": setting.bot,
                    "model_size": setting.model_size,
                    "top_k": setting.top_k,
                    "top_p": setting.top_p,
                    "context": row["context"],
                    "responses": replies,
                    "category": categories.get(one_line(row["context"]), -1),
                }


def labelled_rows(text: SourceText) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of train, val or test.json, with their line numbers. The texts are left as they are."""
    for line, row in text.json_rows(("context", "response", "category", "label")):
        for field in ("context", "response"):
            text.text(line, field, row[field])
        text.label(line, "category", row["category"], CATEGORIES)
        text.label(line, "label", row["label"], LABELS)
        yield line, row


def one_line(context: str) -> str:
    """White space runs as one space: the two configs' copies of a context differ in it."""
    return " ".join(context.split())
