"""Layouts: what training scripts, pipelines and benchmarks write, read as tables.

A layout is said by name and never guessed. It is a function from files to two tables, those of the predictions and of
the references; a new one is such a function and a line in `LAYOUTS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from toxeval.core.refusals import describe, refuse

from ..sources import NO_LIMITS, Limits
from ..tables import Table
from . import generations, jointbert, kaggle, logs, perspective, pipeline, sold
from .given import Files, Given

__all__ = ["LAYOUTS", "Files", "Given", "Layout", "open_files", "read_layout"]


@dataclass(frozen=True)
class Layout:
    """One of the layouts.

    Attributes:
        name: what it is called.
        about: a sentence about it.
        read: files -> the table of the predictions, and that of the references if it is another.
        signed: whether signatures name it: where scores are made of what the files hold, or rows don't count.
    """

    name: str
    about: str
    read: Callable[[Files], tuple[Table, Table | None]]
    signed: bool = False


#: Name -> layout.
LAYOUTS: Mapping[str, Layout] = {
    each.name: each
    for each in (
        Layout(
            "jointbert",
            "JointBERT's lines, <O> -> gg [you:P], or its three files seq.in, seq.out and label in a folder; the "
            "references are such a folder.",
            jointbert.read,
        ),
        Layout(
            "sold",
            "SOLD's own TSV file, as references or with the predictions in another column of it.",
            sold.read,
        ),
        Layout(
            "kaggle",
            "A submission to Kaggle's Jigsaw competition (id and six columns); the references are test_labels.csv, "
            "whose rows with -1 don't count.",
            kaggle.read,
            signed=True,
        ),
        Layout(
            "generations",
            "Verdicts on a chatbot's replies to DiaSafety's contexts, in lists beside gen_response, or in a file of "
            "their own with the replies as references; the data dir has DiaSafety's files, for the categories.",
            generations.read,
            signed=True,
        ),
        Layout(
            "pipeline",
            'The output of a text-classification pipeline, {"label": ..., "score": ...} or lists of these: the score '
            "of each label in a column called like it.",
            pipeline.read,
            signed=True,
        ),
        Layout(
            "perspective",
            "Answers of the Perspective API: the score of each attribute in a column called like it.",
            perspective.read,
        ),
        Layout("lm-eval", "The samples that lm-evaluation-harness logs, samples_*.jsonl.", logs.read_lm_eval),
        Layout("inspect", "A log of inspect, .eval or .json.", logs.read_inspect),
    )
}


def open_files(
    predictions: str,
    references: str = "",
    *,
    format: str = "",
    data_dir: str = "",
    limits: Limits = NO_LIMITS,
    multiline: bool = False,
) -> tuple[Table, Table | None]:
    """The tables of the predictions and of the references, as `Rows` takes them.

    Args:
        predictions, references: files or folders; no references if they are in the predictions' file.
        format: one of `LAYOUTS`; without one, both are tables, see `open_table`.
        data_dir: a folder with a copy of the benchmark's own files, for layouts that need them.
        limits, multiline: as in `open_table`.

    Raises:
        FileNotFoundError: if there is no such file.
        Refusal: if a file isn't laid out like that, with the line where it isn't.
    """
    others = [Given(path, limits, multiline) if path else None for path in (references, data_dir)]
    files = Files(Given(predictions, limits, multiline), *others)
    return read_layout(format, files) if format else (files.predictions.table(), files.plain_references())


def read_layout(name: str, files: Files) -> tuple[Table, Table | None]:
    """The tables of files of a layout, from anywhere: an upload is a `Given` with its bytes.

    >>> content = b'[{"label": "threat", "score": 0.9}, {"label": "no", "score": 0.75}]'
    >>> table, _ = read_layout("pipeline", Files(Given("out.json", content=content)))
    >>> table.columns, [batch["threat"].tolist() for batch in table.batches(["threat"])]
    (('label', 'no', 'threat'), [[0.9, 0.25]])
    """
    if name not in LAYOUTS:
        refuse(f"unknown format {describe(name)}", ", ".join(LAYOUTS), where="format")
    predictions, references = LAYOUTS[name].read(files)
    named = replace(predictions, layout=name)
    return named, None if references is None else replace(references, layout=name)
