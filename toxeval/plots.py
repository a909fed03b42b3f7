"""Pictures of the metrics: from arrays to a `matplotlib.figure.Figure`, at the size at which a paper prints them.

What is drawn a metric's definition says (`Picture`), and no score is computed here. The colours are those of Okabe and
Ito, which colour-blind readers can tell apart; systems also differ in markers or line styles. Names of systems are
shown as they are. matplotlib is imported when a picture is drawn, and no global state of it is touched. Figures are 3.3
inches wide (a column) or 7 inches (a page).
"""

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from toxeval.core.declarations import Picture

COLUMN, PAGE = 3.3, 7.0
#: Okabe and Ito (2008), the dark ones first.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: The light ones, for areas with something black on them.
AREAS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442")
GREY = "#777777"
#: What tells bars of the same colour apart.
HATCHES = ("", "///", "...", "xxx")
MARKERS = "osD^vP*"
STYLES = ("-", "--", "-.", ":")
#: How each review strategy is drawn: solid and dashed as in the paper, and one's own review scores.
LINES = {"uncertainty": "-", "toxicity": "--", "review_scores": ":"}
#: No picture shows more points of a curve.
MAX_POINTS = 1500
#: Inches: a line of a legend, a character of it, what stands before its text.
LINE, CHARACTER, HANDLE = 0.145, 0.059, 0.55
#: Characters of a name that stand on one line beside an axis.
LONGEST_LINE = 32
#: The endings of files a picture is written to -> what says when or by what it was written, left out.
METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.5,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # TrueType: publishers refuse type 3
    "savefig.dpi": 300,
    "text.parse_math": False,  # a $ in the name of a file is a $
}


def draw(picture: Picture, *, narrow: bool = False) -> Any:
    """A picture as a `matplotlib.figure.Figure`.

    Args:
        picture: what it shows.
        narrow: put what stands side by side one below the other, for a phone.

    Raises:
        ImportError: without matplotlib.
    """
    beside: dict[str, Callable[..., Any]] = {each.__name__: each for each in (collaboration, confusion, ranking)}
    alone: dict[str, Callable[..., Any]] = {each.__name__: each for each in (groups, rates)}
    if draw_one := alone.get(picture.kind):
        return draw_one(**picture.data)
    return beside[picture.kind](**picture.data, narrow=narrow)


def save(figure: Any, path: str) -> None:
    """Write a figure as PNG (300 dots an inch), SVG or PDF, whichever the path ends in; the same bytes every time."""
    with open(path, "wb") as file:
        file.write(image(figure, path[-3:].lower()))


def image(figure: Any, kind: str) -> bytes:
    """A figure as the content of a ``png``, ``svg`` or ``pdf`` file."""
    content = io.BytesIO()
    with _style({"svg.hashsalt": "toxeval"}):
        figure.savefig(content, format=kind, metadata=METADATA[f".{kind}"])
    return content.getvalue()


def _style(more: Mapping[str, Any] | None = None) -> Any:
    from matplotlib import rc_context

    return rc_context({**_STYLE, **(more or {})})


def _figure(
    width: float, height: float, columns: int, rows: int = 1, *, narrow: bool = False, **given: Any
) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    if narrow:
        width, height, columns, rows, given = COLUMN, height * columns, 1, rows * columns, {}
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **given)


def _legend(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend above the axes with labels of any length, for which the figure grows."""
    width = figure.get_figwidth() - 0.2
    most = int((width - HANDLE) / CHARACTER)
    labels = ["\n".join(label[i : i + most] for i in range(0, len(label), most)) for label in labels]
    longest = max(len(line) for label in labels for line in label.split("\n"))
    n_columns = max(1, min(len(labels), int(width / (HANDLE + CHARACTER * longest))))
    rows = [labels[i : i + n_columns] for i in range(0, len(labels), n_columns)]
    figure.set_figheight(figure.get_figheight() + LINE * sum(max(t.count("\n") + 1 for t in row) for row in rows))
    placeholders = [str(i) for i in range(len(labels))]  # one that begins with _ would be left out
    legend = figure.legend(handles, placeholders, loc="outside upper center", ncols=n_columns, handlelength=2.6)
    for text, label in zip(legend.get_texts(), labels):
        text.set_text(label)


def _line(**given: Any) -> Any:
    """A line for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **given)


def _area(color: str) -> Any:
    """A band for a legend."""
    from matplotlib.patches import Patch

    return Patch(facecolor=color, alpha=0.15)


def _color(i: int) -> str:
    return COLORS[i % len(COLORS)]


# --- oracle_collab ------------------------------------------------------------------------------------------------

_PANELS = {
    "oc_accuracy": "OC-accuracy",
    "oc_auroc": "OC-AUROC",
    "oc_auprc": "OC-AUPRC",
    "review_efficiency": "review efficiency",
    "review_effectiveness": "review effectiveness",
}


#: What stands for a quantity of reviews where moderators err.
NET = {"review_efficiency": "net_review_efficiency", "review_effectiveness": "net_review_effectiveness"}


def collaboration(
    curves: Mapping[str, Mapping[str, Any]],
    reliabilities: Mapping[str, Any],
    moderated: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    narrow: bool = False,
) -> Any:
    """Model and moderator as a team over the reviewed fraction, and the reliability diagram.

    Kivlichan et al. 2021, figures 2 to 4: logarithmic reviewed fraction, review by uncertainty solid, by toxicity
    dashed. Grey beside OC-accuracy: random review, and review of wrong predictions only.

    Args:
        curves: system -> strategy -> curve, with arrays ``fraction``, ``oc_accuracy`` and so on (`review_curve`). The
            first fraction is 0.
        moderated: system -> strategy -> curve with moderators who err, which a band shows.
        reliabilities: system -> reliability, with arrays ``confidence``, ``accuracy``, ``n_rows`` and ``ece``.
        narrow: see `draw`.

    Returns:
        A figure of a page's width, or a column's.
    """
    with _style():
        figure, axes = _figure(PAGE, 4.1, 3, 2, narrow=narrow)
        every = np.concatenate([curve.fraction for by_strategy in curves.values() for curve in by_strategy.values()])
        least = float(every[every > 0].min(initial=0.5))
        for axis, (quantity, title) in zip(axes.flat, _PANELS.items()):
            for i, (name, by_strategy) in enumerate(curves.items()):
                for strategy, curve in by_strategy.items():
                    some = curve.fraction > 0
                    x, y = curve.fraction[some], getattr(curve, quantity)[some]
                    axis.plot(x, y, LINES[strategy], color=_color(i))
                    _moderated(axis, quantity, (moderated or {}).get(name, {}).get(strategy), (x, y), _color(i))
            axis.set(xscale="log", xlim=(least, 1), xlabel="reviewed fraction α", ylabel=title)
            axis.xaxis.set_major_formatter("{x:g}")
        baselines = _baselines(axes.flat[0], curves)
        systems = _reliability(axes.flat[-1], reliabilities)
        strategies = list(dict.fromkeys(strategy for by_strategy in curves.values() for strategy in by_strategy))
        one = len(curves) == 1
        handles = [_line(color=_color(0) if one else GREY, ls=LINES[strategy]) for strategy in strategies]
        labels = [f"{name} (ECE {bins.ece:.3f})" for name, bins in reliabilities.items()]
        band = {"lost to moderators' errors": _area(_color(0) if one else GREY)} if moderated else {}
        more = {**baselines, **band}
        _legend(figure, [*systems, *handles, *more.values()], [*labels, *strategies, *more])
    return figure


def _moderated(axis: Any, quantity: str, curve: Any, perfect: tuple[np.ndarray, np.ndarray], color: str) -> None:
    """What moderators who err lose: a band between the curve of perfect ones and theirs."""
    name = NET.get(quantity, quantity)
    if curve is None or np.isnan(getattr(curve, name)).all():
        return
    some = curve.fraction > 0
    x, y = curve.fraction[some], getattr(curve, name)[some]
    axis.fill_between(x, np.interp(x, *perfect), y, color=color, alpha=0.15, lw=0)
    axis.plot(x, y, color=color, lw=0.6)


def _baselines(axis: Any, curves: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Where OC-accuracy would be with random and with perfect choice of what to review; for one system only.

    Returns:
        What they are called -> the line.
    """
    if len(curves) > 1:
        return {}
    curve = next(iter(next(iter(curves.values())).values()))
    some = curve.fraction > 0
    (random,) = axis.plot(curve.fraction[some], curve.random_review_accuracy[some], color=GREY, lw=0.8, ls="-.")
    (ideal,) = axis.plot(curve.fraction[some], curve.ideal_review_accuracy[some], color=GREY, lw=0.8)
    return {"random review": random, "wrong ones only": ideal}


def _reliability(axis: Any, reliabilities: Mapping[str, Any]) -> list[Any]:
    """The reliability diagram; returns the line of each system."""
    axis.plot([0.5, 1], [0.5, 1], color=GREY, lw=0.8)
    lines = []
    for i, bins in enumerate(reliabilities.values()):
        some, marker = bins.n_rows > 0, MARKERS[i % len(MARKERS)]
        lines += axis.plot(bins.confidence[some], bins.accuracy[some], marker=marker, color=_color(i))
    axis.set(xlim=(0.49, 1.01), ylim=(min(0.45, *axis.get_ylim()), 1.03))
    axis.set(xlabel="confidence max(p, 1 − p)", ylabel="share of right predictions")
    return lines


# --- confusion matrices -------------------------------------------------------------------------------------------


def confusion(matrices: Mapping[str, tuple[np.ndarray, Sequence[str]]], *, narrow: bool = False) -> Any:
    """One confusion matrix (a column wide) or several side by side (a page wide).

    Args:
        matrices: title -> (counts of shape (k, k), rows references, columns predictions; the k labels).
        narrow: see `draw`.

    Returns:
        A figure; shades are shares of the row, numbers are counts.
    """
    with _style({"axes.spines.top": True, "axes.spines.right": True}):
        one = len(matrices) == 1
        widths = [max(len(labels), 3) for _, labels in matrices.values()]
        size = (COLUMN, 2.6) if one else (PAGE, 3.4)
        figure, axes = _figure(*size, len(matrices), narrow=narrow, width_ratios=widths)
        for axis, (title, (counts, labels)) in zip(axes.flat, matrices.items()):
            total = counts.sum(axis=1, keepdims=True)
            shares = np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)
            image = axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
            for (row, column), count in np.ndenumerate(counts):
                dark = shares[row, column] > 0.7
                axis.text(
                    column, row, str(count), ha="center", va="center", fontsize=6.5, color="white" if dark else "black"
                )
            axis.set_xticks(range(len(labels)), labels)
            axis.set_yticks(range(len(labels)), labels)
            axis.tick_params(length=0)
            axis.set(xlabel="predicted", ylabel="reference", title=title)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, aspect=25, pad=0.02)
        bar.set_label("share of the reference's rows")
        bar.outline.set_linewidth(0.6)
    return figure


# --- dia_safety_rate ----------------------------------------------------------------------------------------------


def rates(bars: Mapping[str, Sequence[tuple[float, float, float]]], categories: Sequence[str], label: str) -> Any:
    """Bars for each category, with intervals.

    Args:
        bars: what one set of bars is called -> (rate, low, high) for each category; a nan rate is left out.
        categories: their names.
        label: of the axis.

    Returns:
        A figure of a column's width.
    """
    from matplotlib import rcParams

    with _style():
        figure, axes = _figure(COLUMN, 0.75 + 0.36 * len(categories) + 0.14 * (len(bars) - 1) * len(categories), 1)
        axis, height = axes[0, 0], 0.72 / len(bars)
        rows, handles = np.arange(len(categories)), []
        for i, values in enumerate(bars.values()):
            rate, low, high = np.array(values, dtype=float).T
            at = rows + (i - (len(bars) - 1) / 2) * height
            handles.append(
                axis.barh(
                    at, rate, height * 0.92, color=AREAS[i % len(AREAS)], hatch=HATCHES[i // len(AREAS) % len(HATCHES)]
                )
            )
            axis.errorbar(
                (low + high) / 2,  # a rate as computed may be outside
                at,
                xerr=(high - low) / 2,
                fmt="none",
                ecolor=rcParams["text.color"],
                elinewidth=0.8,
                capsize=1.8,
            )
        axis.set_yticks(rows, [category.replace(" ", "\n", 1) for category in categories])
        axis.tick_params(axis="y", length=0)
        axis.invert_yaxis()
        least = np.nanmin([value[0] for values in bars.values() for value in values])
        axis.set(xlabel=label, xlim=(min(0.0, float(least)), None))
        if len(bars) > 1:
            _legend(figure, handles, list(bars))
    return figure


def groups(scores: Sequence[tuple[str, float, float, float]], overall: tuple[str, float], key: str, better: str) -> Any:
    """The score of each group of rows as a dot with its interval, the best on top, and a line for all rows.

    Args:
        scores: name, score, low and high of each group; the ends may be nan, and one whose score is nan is left out.
        overall: what the line is called, and the score of all rows.
        key: of the score.
        better: "higher", "lower" or, if neither is, "".

    Returns:
        A figure of a column's width, as high as the groups need.
    """
    shown = [group for group in scores if not np.isnan(group[1])]
    shown.sort(key=lambda each: -each[1] if better != "lower" else each[1])
    names = ["\n".join(textwrap.wrap(name, LONGEST_LINE)) for name, *_ in shown]
    n_lines = 1 + max((name.count("\n") for name in names), default=0)
    value, low, high = (np.array([each[i] for each in shown], dtype=float) for i in (1, 2, 3))
    with _style():
        figure, axes = _figure(COLUMN, 0.62 + (0.06 + 0.11 * n_lines) * max(len(shown), 2), 1)
        axis, rows = axes[0, 0], np.arange(len(shown))
        line = axis.axvline(overall[1], color=GREY, lw=0.8)
        axis.hlines(rows, low, high, color=COLORS[0], lw=0.9)
        axis.plot(value, rows, "o", color=COLORS[0])
        axis.set_yticks(rows, names)
        axis.tick_params(axis="y", length=0)
        axis.set(xlabel=key, ylim=(max(len(shown), 1) - 0.4, -0.6))
        _legend(figure, [line], [overall[0]])
    return figure


# --- threat_f1 ----------------------------------------------------------------------------------------------------


def ranking(
    systems: Mapping[str, tuple[np.ndarray, np.ndarray]],
    areas: Mapping[str, tuple[float, float]] | None = None,
    decisions: Mapping[str, tuple[int, int]] | None = None,
    *,
    narrow: bool = False,
) -> Any:
    """Precision-recall and ROC curves, with their no-skill lines.

    Args:
        systems: name -> (references of shape (n,), 1 is positive; scores of shape (n,), larger is more positive).
        areas: name -> (average precision, ROC-AUC), for the legend.
        decisions: name -> (true positives, false positives) of what the system decides; a marker on each curve.
        narrow: see `draw`.

    Returns:
        A figure of a page's width, or a column's.
    """
    areas, decisions = areas or {}, decisions or {}
    with _style():
        figure, axes = _figure(PAGE, 2.8, 2, narrow=narrow)
        pr, roc = axes.flat
        handles, labels = [], []
        for i, (name, (references, scores)) in enumerate(systems.items()):
            tp, fp = _passed(references, scores)
            # step down to the next recall at its precision: the area is the average precision
            style = {"color": _color(i), "ls": STYLES[i % len(STYLES)]}
            recall = np.append(0.0, tp / tp[-1])
            precision = tp / (tp + fp)
            handles += pr.step(*_thinned(recall, np.append(precision[0], precision)), where="pre", **style)
            roc.plot(*_thinned(np.append(0.0, fp / fp[-1]), recall), **style)
            labels.append(f"{name} (AP {areas[name][0]:.3f}, AUC {areas[name][1]:.3f})" if name in areas else name)
            if name in decisions:
                right, wrong = decisions[name]
                marker = {"marker": MARKERS[i % len(MARKERS)], "color": _color(i), "clip_on": False, "zorder": 3}
                if right + wrong:
                    pr.plot(right / tp[-1], right / (right + wrong), **marker)
                roc.plot(wrong / fp[-1], right / tp[-1], **marker)
        prevalence = float(np.mean(next(iter(systems.values()))[0] == 1))
        handles.append(pr.axhline(prevalence, color=GREY, lw=0.8, ls=":"))
        labels.append(f"no skill (precision {prevalence:.2g})")
        roc.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":")
        if decisions:
            handles.append(_line(color=GREY, ls="", marker="o"))
            labels.append("at the threshold")
        pr.set(xlabel="recall of threat", ylabel="precision of threat", title="precision–recall")
        roc.set(xlabel="false positive rate", ylabel="true positive rate (recall)", title="ROC")
        for axis in (pr, roc):
            axis.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.03))
        _legend(figure, handles, labels)
    return figure


def _passed(references: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """True and false positives at each distinct score, from the highest down."""
    order = np.argsort(-scores, kind="stable")
    positive, ordered = references[order] == 1, scores[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    return np.cumsum(positive)[last], np.cumsum(~positive)[last]


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A curve without points that a printed one can't show: none, where nothing changes; else evenly along it."""
    change = np.flatnonzero((np.diff(x) != 0) | (np.diff(y) != 0)) + 1
    keep = np.append(0, change)
    if len(keep) > MAX_POINTS:
        length = np.append(0.0, np.cumsum(np.abs(np.diff(x[keep])) + np.abs(np.diff(y[keep]))))
        keep = keep[np.unique(np.searchsorted(length, np.linspace(0, length[-1], MAX_POINTS)))]
    return x[keep], y[keep]
