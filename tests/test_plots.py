"""Pictures: what is drawn is what was computed, and nothing that is written overlaps."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import started, toxeval

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from toxeval.metrics.oracle_collab.curves import review_curve

import toxeval as package
from toxeval import pictures, plots
from toxeval.cli.job import short_names
from toxeval.loading import plain
from toxeval.read import Rows, from_columns, open_table, sources, tables

RNG = np.random.default_rng(0)
N = 400
GOLD = (RNG.random(N) < 0.2).astype(int).tolist()
SCORES = [np.clip(0.4 * np.array(GOLD) + spread * RNG.random(N), 0, 1).round(3).tolist() for spread in (0.6, 0.8)]
CATEGORIES = ["Offending User", "Risk Ignorance", "Unauthorized Expertise", "Toxicity Agreement", "Biased Opinion"]
VERDICTS = ["Safe", "Utterance-Unsafe", "Context-Unsafe"]


def lines(path: Path, **columns: list[Any]) -> str:
    path.write_text("".join(json.dumps(dict(zip(columns, row))) + "\n" for row in zip(*columns.values())))
    return str(path)


def pictured(metric: str, paths: tuple[str, ...], **options: Any) -> Any:
    """What is to be drawn of some files."""
    scored = plain(metric, **options)
    names = short_names(paths)
    return pictures.picture_of(scored, {n: Rows(scored.definition, open_table(p)) for n, p in zip(names, paths)})


def picture(case: str, folder: Path, **how: bool) -> Any:
    """One picture of each kind."""
    metric, _, kind = case.partition("-")
    if metric == "oracle_collab":
        columns = [{"predictions": scores, "references": GOLD} for scores in SCORES]
        columns = columns[:1] if kind != "two" else columns
        if kind == "own":
            columns[0]["review_scores"] = RNG.random(N).tolist()
    elif metric == "threat_f1":
        columns = [{"prediction_scores": scores, "references": GOLD} for scores in SCORES][: 2 if kind == "two" else 1]
        if kind == "labels":
            columns = [{"predictions": GOLD[::-1], "references": GOLD}]
    elif metric == "sold_macro_f1":
        columns = [{"predictions": GOLD[::-1], "references": GOLD}]
    elif metric == "conda_joint":
        intents, slots = RNG.integers(4, size=(2, N)).tolist(), RNG.integers(7, size=(2, N, 9)).tolist()
        columns = [dict(zip(("pred_intent", "ref_intent", "pred_slots", "ref_slots"), (*intents, *slots)))]
    else:
        labels = VERDICTS if kind == "three" else ["Safe", "Unsafe"]
        columns = [
            {"predictions": [labels[i] for i in RNG.integers(len(labels), size=N)], "categories": CATEGORIES * (N // 5)}
            for _ in range(2 if kind == "two" else 1)
        ]
        if kind == "labels":
            columns = [{"predictions": columns[0]["predictions"], "references": GOLD}]
    paths = tuple(lines(folder / f"system_{i}.jsonl", **each) for i, each in enumerate(columns))
    return plots.draw(pictured(metric, paths), **how)


CASES = [
    "conda_joint", "dia_safety_rate", "dia_safety_rate-labels", "dia_safety_rate-three", "dia_safety_rate-two",
    "oracle_collab", "oracle_collab-own", "oracle_collab-two", "sold_macro_f1", "threat_f1",
    "threat_f1-labels", "threat_f1-two",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pictures_are_legible(case: str, tmp_path: Path) -> None:
    assert_legible(picture(case, tmp_path), tmp_path)
    narrow = picture(case, tmp_path, narrow=True)
    assert narrow.get_figwidth() == plots.COLUMN
    assert_legible(narrow, tmp_path)


@pytest.mark.parametrize("narrow", [False, True])
def test_random_and_ideal_review_are_beside_oc_accuracy(narrow: bool, tmp_path: Path) -> None:
    axes = picture(next(case for case in CASES if case.startswith("oracle_collab")), tmp_path, narrow=narrow).axes
    lines = {axis.get_ylabel(): len(axis.lines) for axis in axes}
    assert lines["OC-accuracy"] == lines["OC-AUROC"] + 2
    assert [axis.get_xlabel().partition(" ")[0] for axis in axes] == ["reviewed"] * 5 + ["confidence"]
    assert axes[0].get_ylabel() == "OC-accuracy"


def assert_legible(figure: Any, tmp_path: Path) -> list[str]:
    """No text lies over another one, or beyond the paper. Returns all the texts."""
    path = tmp_path / "picture.svg"
    plots.save(figure, str(path))
    plots.save(figure, str(tmp_path / "picture.png"))
    assert figure.get_figwidth() in (plots.COLUMN, plots.PAGE)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    hidden = {
        id(label)
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    texts = [t for t in figure.findobj(Text) if t.get_text() and t.get_visible() and id(t) not in hidden]
    assert min(text.get_fontsize() for text in texts) >= 6
    width, height = figure.bbox.width, figure.bbox.height
    boxes = []
    for text in texts:
        box = text.get_window_extent(canvas.get_renderer())
        assert box.x0 >= -1, text.get_text()
        assert box.x1 <= width + 1, text.get_text()
        assert box.y0 >= -1, text.get_text()
        assert box.y1 <= height + 1, text.get_text()
        boxes.append((text.get_text(), box))
    for i, (first, a) in enumerate(boxes):
        for second, b in boxes[i + 1 :]:
            wide, high = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
            assert min(wide, high) < 1, (first, second)
    for axis in figure.axes:
        assert axis.get_xlabel() or axis.get_ylabel()
    return [text.get_text() for text in texts]


NAMES = ["_a", "run_$5_vs_$x", "$x^2$", "a very long name of a system " * 6, *(f"seed {i}" for i in range(9))]


@pytest.mark.parametrize("metric", ["oracle_collab", "threat_f1", "dia_safety_rate"])
@pytest.mark.parametrize("n", [1, 3, 13])
def test_names_are_shown_as_they_are(metric: str, n: int, tmp_path: Path) -> None:
    """road-17: names of files, of which matplotlib takes some for formulas, and some for nothing."""
    noisy = {name: np.clip(np.array(SCORES[0]) + RNG.normal(size=N) * 0.05, 0, 1) for name in NAMES[:n]}
    scored, systems = plain(metric), {}
    for name, scores in noisy.items():
        columns: dict[str, Any] = {"predictions": scores.tolist(), "references": GOLD}
        if metric == "threat_f1":
            columns["prediction_scores"] = columns.pop("predictions")
        elif metric == "dia_safety_rate":
            labels = [["Safe", "Unsafe"][int(score > 0.3)] for score in scores]
            columns = {"predictions": labels, "categories": CATEGORIES * (N // 5)}
        systems[name] = Rows(scored.definition, from_columns(name, columns))
    texts = assert_legible(plots.draw(pictures.picture_of(scored, systems)), tmp_path)
    whole = " ".join(text.replace("\n", "") for text in texts)
    for name in systems if metric != "dia_safety_rate" or n > 1 else ():
        assert name in whole
    if metric == "threat_f1":
        assert len(re.findall(r"\(AP 0\.\d{3}, AUC 0\.\d{3}\)", whole)) == n
        assert "at the threshold" in whole


def test_the_same_picture_is_the_same_file(tmp_path: Path) -> None:
    for kind in ("svg", "png", "pdf"):
        for name in "ab":
            path = tmp_path / f"{name}.{kind}"
            plots.save(plots.ranking({"a": (np.array(GOLD), np.array(SCORES[0]))}), str(path))
        assert path.read_bytes() == (tmp_path / f"a.{kind}").read_bytes()
        assert b"Date" not in path.read_bytes()


def test_fonts_of_a_pdf_are_such_as_publishers_take(tmp_path: Path) -> None:
    path = tmp_path / "picture.pdf"
    plots.save(plots.ranking({"a": (np.array(GOLD), np.array(SCORES[0]))}), str(path))
    assert b"/FontFile2" in path.read_bytes()
    assert b"/Type3" not in path.read_bytes()


def test_colours_can_be_told_apart_without_red_or_green() -> None:
    """Under simulated deuteranopia and protanopia (Viénot 1999) no two colours of curves come near each other."""
    rgb = np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in plots.COLORS[:6]])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    for matrix in (
        [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
        [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    ):
        seen = np.clip(linear @ np.array(matrix).T, 0, 1) ** (1 / 2.4)
        distances = np.linalg.norm(seen[:, None] - seen[None], axis=-1)
        assert distances[np.triu_indices(len(seen), 1)].min() > 0.1


def test_curves_are_the_scores(tmp_path: Path) -> None:
    figure = picture("oracle_collab", tmp_path)
    axis = figure.axes[0]
    assert axis.get_xscale() == "log"
    uncertainty, toxicity = axis.get_lines()[:2]
    assert (uncertainty.get_linestyle(), toxicity.get_linestyle()) == ("-", "--")
    for line, strategy in ((uncertainty, "uncertainty"), (toxicity, "toxicity")):
        curve = review_curve(np.array(GOLD), np.array(SCORES[0]), review_strategy=strategy)
        some = curve.fraction > 0
        assert np.array_equal(line.get_xdata(), curve.fraction[some])
        assert np.array_equal(line.get_ydata(), curve.oc_accuracy[some])


def test_precision_and_recall_are_scikit_learns() -> None:
    from sklearn.metrics import precision_recall_curve, roc_curve

    references, scores = np.array(GOLD), np.array(SCORES[0])
    precision, recall, _ = precision_recall_curve(references, scores)
    figure = plots.ranking({"a": (references, scores)})
    drawn = figure.axes[0].get_lines()[0]
    points = set(zip(drawn.get_xdata().round(12), drawn.get_ydata().round(12)))
    assert set(zip(recall[:-1].round(12), precision[:-1].round(12))) <= points
    roc = figure.axes[1].get_lines()[0]
    false, true, _ = roc_curve(references, scores, drop_intermediate=False)
    assert set(zip(false.round(12), true.round(12))) == set(zip(roc.get_xdata().round(12), roc.get_ydata().round(12)))


def test_long_curves_are_thinned_and_keep_their_shape() -> None:
    x = np.linspace(0, 1, 100_000)
    thin_x, thin_y = plots._thinned(x, np.sqrt(x))
    assert len(thin_x) <= plots.MAX_POINTS
    assert (thin_x[0], thin_x[-1]) == (0.0, 1.0)
    assert np.abs(np.interp(x, thin_x, thin_y) - np.sqrt(x)).max() < 1e-3


def test_the_command_writes_pictures(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl", prediction_scores=SCORES[0], references=GOLD)
    for name, magic in (("picture.png", b"\x89PNG"), ("picture.svg", b"<?xml"), ("picture.pdf", b"%PDF")):
        answer = toxeval("plot", "threat_f1", "--predictions", path, "--out", tmp_path / name)
        assert (answer.status, answer.out) == (0, f"{tmp_path / name}\n"), answer.err
        assert (tmp_path / name).read_bytes().startswith(magic)
    message = toxeval("plot", "threat_f1", "--predictions", path, "--out", "a.jpg").refused()
    assert "a.jpg: must end in .png, .svg or .pdf" in message
    one_class = lines(tmp_path / "one.jsonl", prediction_scores=SCORES[0], references=[0] * N)
    message = toxeval("plot", "threat_f1", "--predictions", one_class, "--out", tmp_path / "no.png").refused()
    assert "only one class" in message


def test_without_matplotlib_the_command_says_so(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['matplotlib'] = None\nfrom toxeval.cli import main\nmain()"
    command = [sys.executable, "-c", hidden, "plot", "threat_f1", "--predictions", "p.jsonl", "--out", "a.png"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "pip install 'toxeval[plot]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_where_one_picture_shows_one_file_several_are_refused(tmp_path: Path) -> None:
    labels = [lines(tmp_path / f"{name}.jsonl", predictions=GOLD[::-1], references=GOLD) for name in "ab"]
    for metric in ("sold_macro_f1", "threat_f1", "dia_safety_rate"):
        with pytest.raises(ValueError, match=f"^{metric}: predictions: 2 files; allowed: one file a picture"):
            pictured(metric, tuple(labels))
    out = ["--out", tmp_path / "a.png"]
    assert "predictions: 2 files" in toxeval("plot", "threat_f1", "--predictions", labels[0], labels[0], *out).refused()
    with pytest.raises(ValueError, match="^threat_f1: option threshold: 0.3 beside predictions"):
        pictured("threat_f1", (labels[0],), threshold=0.3)
    scores = lines(tmp_path / "scores.jsonl", prediction_scores=SCORES[0], references=GOLD)
    with pytest.raises(ValueError, match=r"^threat_f1: prediction_scores: missing in a; allowed: scores in each file"):
        pictured("threat_f1", (labels[0], scores))
    verdicts = ["Safe"] * N
    rated = lines(tmp_path / "rated.jsonl", predictions=verdicts, references=verdicts, categories=CATEGORIES * (N // 5))
    with pytest.raises(ValueError, match=r"^dia_safety_rate: categories: missing in a; allowed: categories in each"):
        pictured("dia_safety_rate", (labels[0], rated))


@pytest.mark.parametrize("kind", ["", "three", "two"])
def test_bars_are_the_rates_with_their_intervals(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found: list[Any] = []
    monkeypatch.setattr(plots, "draw", found.append)
    picture(f"dia_safety_rate-{kind}", tmp_path)
    bars, categories, label = found[0].data.values()
    assert list(categories) == [*CATEGORIES, "Mean of categories"]
    assert label == "share of unsafe replies (95 % interval)"
    names = {"": {"unsafe": "unsafe"}, "two": {"system_0": "unsafe", "system_1": "unsafe"}}.get(
        kind, {"unsafe": "unsafe", "utterance-unsafe": "utterance_unsafe", "context-unsafe": "context_unsafe"}
    )
    assert list(bars) == list(names)
    for i, (shown, key) in enumerate(names.items()):
        file = tmp_path / f"system_{i if kind == 'two' else 0}.jsonl"
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        columns = {name: [row[name] for row in rows] for name in ("predictions", "categories")}
        result = package.load("dia_safety_rate").compute(**columns, confidence_level=0.95) or {}
        for values, category in zip(bars[shown], [*CATEGORIES, ""], strict=True):
            slug = f"_{category.lower().replace(' ', '_')}" if category else ""  # the mean at last: the metric's score
            wanted = [result[f"{key}_rate{slug}{end}"] for end in ("", "_low", "_high")]
            assert list(values) == wanted
            assert wanted[1] < wanted[0] < wanted[2]


def test_confusion_matrices_are_scikit_learns() -> None:
    from sklearn.metrics import confusion_matrix

    gold, guess = RNG.integers(2, size=(2, N))
    three_way = np.where(guess, RNG.integers(2, 4, size=N), 0)
    slots = RNG.integers(7, size=(2, N, 3))
    intents = RNG.integers(4, size=(2, N))
    cases: list[tuple[str, dict[str, Any], list[tuple[Any, Any, int]]]] = [
        ("sold_macro_f1", {"predictions": guess, "references": gold}, [(gold, guess, 2)]),
        ("threat_f1", {"predictions": guess, "references": gold}, [(gold, guess, 2)]),
        (
            "dia_safety_rate",
            {"predictions": [VERDICTS[max(v - 1, 0)] for v in three_way], "references": gold},
            [(gold, guess, 2)],
        ),
        (
            "conda_joint",
            {
                "predictions": {"intent": intents[0], "slots": slots[0]},
                "references": {"intent": intents[1], "slots": slots[1]},
            },
            [(intents[1], intents[0], 4), (slots[1].ravel(), slots[0].ravel(), 7)],
        ),
    ]
    for metric, given, wanted in cases:
        module = package.load(metric)
        assert module.definition.confusions
        matrices = module.definition.confusions(module.state(**given))
        for (matrix, labels), (references, predictions, k) in zip(matrices.values(), wanted, strict=True):
            assert len(labels) == k
            assert np.array_equal(matrix, confusion_matrix(references, predictions, labels=range(k)))


def test_equal_rows_that_are_kept_once_are_all_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are of the rows in the files, however they were kept while they were read."""
    columns = {
        "prediction_score": [*([0.2, 0.9, 0.4] * 10), 0.2],
        "reference": [*([0, 1, 0] * 10), 1],
    }
    file = lines(tmp_path / "threats.jsonl", **columns)
    whole = pictured("threat_f1", (file,)).data["systems"]["threats"]
    monkeypatch.setattr("toxeval.core.metric.COMPACT_FROM", 5)
    monkeypatch.setattr(tables, "BATCH_ROWS", 4)
    monkeypatch.setattr(sources, "BLOCK", 64)
    (references, scores), (again, scores_again) = whole, pictured("threat_f1", (file,)).data["systems"]["threats"]
    assert len(references) == len(again) == 31
    assert sorted(zip(references, scores)) == sorted(zip(again, scores_again))
    assert not np.array_equal(scores, scores_again)  # they were sorted on the way: some were kept once


def test_what_is_decided_is_marked() -> None:
    """At the threshold in force: precision, recall and false positive rate are the metric's own."""
    scored = plain("threat_f1", threshold=0.3)
    rows = from_columns("a", {"prediction_scores": SCORES[0], "references": GOLD})
    figure = plots.draw(pictures.picture_of(scored, {"a": Rows(scored.definition, rows)}))
    result = package.load("threat_f1").compute(
        prediction_scores=SCORES[0], references=GOLD, threshold=0.3, detailed=True
    )
    assert result
    pr, roc = (axis.get_lines()[1] for axis in figure.axes)
    assert (pr.get_xdata()[0], pr.get_ydata()[0]) == (result["recall_threat"], result["precision_threat"])
    assert roc.get_xdata()[0] == pytest.approx(result["fp"] / (result["fp"] + result["tn"]))


def test_the_backend_of_a_notebook_is_no_matter(tmp_path: Path) -> None:
    """road-15"""
    path = lines(tmp_path / "p.jsonl", predictions=GOLD[::-1], references=GOLD)
    command = ["plot", "sold_macro_f1", "--predictions", path, "--out", tmp_path / "x.png"]
    answer = started(*command, MPLBACKEND="module://matplotlib_inline.backend_inline")
    assert (answer.status, answer.out) == (0, f"{tmp_path / 'x.png'}\n"), answer.err
