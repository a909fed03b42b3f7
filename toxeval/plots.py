"""Pictures of the metrics: from arrays to a `matplotlib.figure.Figure`, at the size at which a paper prints them.

Nothing here computes a score. The colours are those of Okabe and Ito, which colour-blind readers can tell apart;
systems also differ in markers or line styles. matplotlib is imported when a picture is drawn, and no global state of
it is touched. Figures are 3.3 inches wide (a column) or 7 inches (a page).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

COLUMN, PAGE = 3.3, 7.0
#: Okabe and Ito (2008), the dark ones first.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: The light ones, for areas with something black on them.
AREAS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442")
GREY = "#777777"
MARKERS = "osD^vP*"
#: How each review strategy is drawn: solid and dashed as in the paper, and one's own review scores.
LINES = {"uncertainty": "-", "toxicity": "--", "review_scores": ":"}
#: No picture shows more points of a curve.
MAX_POINTS = 1500
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
}


def save(figure: Any, path: str) -> None:
    """Write a figure as PNG (300 dots an inch), SVG or PDF, whichever the path ends in; the same bytes every time."""
    with _style({"svg.hashsalt": "toxeval"}):
        figure.savefig(path, metadata=METADATA.get(path[-4:]))


def _style(more: Mapping[str, Any] | None = None) -> Any:
    from matplotlib import rc_context

    return rc_context({**_STYLE, **(more or {})})


def _figure(width: float, height: float, columns: int, rows: int = 1, **given: Any) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **given)


# --- oracle_collab ------------------------------------------------------------------------------------------------

_PANELS = {
    "oc_accuracy": "OC-accuracy",
    "oc_auroc": "OC-AUROC",
    "oc_auprc": "OC-AUPRC",
    "review_efficiency": "review efficiency",
    "review_effectiveness": "review effectiveness",
}


def collaboration(curves: Mapping[str, Mapping[str, Any]], reliabilities: Mapping[str, Any]) -> Any:
    """Model and moderator as a team over the reviewed fraction, and the reliability diagram.

    Kivlichan et al. 2021, figures 2 to 4: logarithmic reviewed fraction, review by uncertainty solid, by toxicity
    dashed. Grey beside OC-accuracy: random review, and review of wrong predictions only.

    Args:
        curves: system -> strategy -> curve, with arrays ``fraction``, ``oc_accuracy`` and so on (`review_curve`). The
            first fraction is 0.
        reliabilities: system -> reliability, with arrays ``confidence``, ``accuracy``, ``n_rows`` and ``ece``.

    Returns:
        A figure of a page's width.
    """
    with _style():
        figure, axes = _figure(PAGE, 4.3, 3, 2)
        for axis, (quantity, title) in zip(axes.flat, _PANELS.items()):
            for color, (system, by_strategy) in zip(COLORS, curves.items()):
                for strategy, curve in by_strategy.items():
                    label = strategy if len(curves) == 1 else f"{system}, {strategy}"
                    some = curve.fraction > 0
                    x, y = curve.fraction[some], getattr(curve, quantity)[some]
                    axis.plot(x, y, LINES[strategy], color=color, label=label)
            axis.set(xscale="log", xlim=(_least_fraction(curves), 1), xlabel="reviewed fraction α", ylabel=title)
            axis.xaxis.set_major_formatter("{x:g}")
        _baselines(axes[0, 0], curves)
        _reliability(axes[1, 2], reliabilities)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, handlelength=2.6)
    return figure


def _least_fraction(curves: Mapping[str, Mapping[str, Any]]) -> float:
    every = np.concatenate([curve.fraction for by_strategy in curves.values() for curve in by_strategy.values()])
    return float(every[every > 0].min(initial=0.5))


def _baselines(axis: Any, curves: Mapping[str, Mapping[str, Any]]) -> None:
    """Where OC-accuracy would be with random and with perfect choice of what to review; for one system only."""
    if len(curves) > 1:
        return
    curve = next(iter(next(iter(curves.values())).values()))
    alone, fraction = curve.oc_accuracy[0], curve.fraction[curve.fraction > 0]
    axis.plot(fraction, alone + fraction * (1 - alone), color=GREY, lw=0.8, ls="-.", label="random review")
    axis.plot(fraction, np.minimum(1, alone + fraction), color=GREY, lw=0.8, label="wrong ones only")


def _reliability(axis: Any, reliabilities: Mapping[str, Any]) -> None:
    axis.plot([0.5, 1], [0.5, 1], color=GREY, lw=0.8)
    lines = []
    for color, marker, (system, bins) in zip(COLORS, MARKERS, reliabilities.items()):
        some = bins.n_rows > 0
        lines += axis.plot(bins.confidence[some], bins.accuracy[some], marker=marker, color=color, label=system)
    labels = [f"ECE {bins.ece:.3f}" for bins in reliabilities.values()]
    # above the axes, where no curve can be
    axis.legend(lines, labels, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, ncols=2, columnspacing=1)
    axis.set(xlim=(0.49, 1.01), ylim=(min(0.45, *axis.get_ylim()), 1.03))
    axis.set(xlabel="confidence max(p, 1 − p)", ylabel="share of right predictions")


# --- confusion matrices -------------------------------------------------------------------------------------------


def confusion(matrices: Mapping[str, tuple[np.ndarray, Sequence[str]]]) -> Any:
    """One confusion matrix (a column wide) or several side by side (a page wide).

    Args:
        matrices: title -> (counts of shape (k, k), rows references, columns predictions; the k labels).

    Returns:
        A figure; shades are shares of the row, numbers are counts.
    """
    with _style({"axes.spines.top": True, "axes.spines.right": True}):
        one = len(matrices) == 1
        widths = [max(len(labels), 3) for _, labels in matrices.values()]
        size = (COLUMN, 2.6) if one else (PAGE, 3.4)
        figure, axes = _figure(*size, len(matrices), width_ratios=widths)
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
        rows = np.arange(len(categories))
        for i, (name, values) in enumerate(bars.items()):
            rate, low, high = np.array(values, dtype=float).T
            at = rows + (i - (len(bars) - 1) / 2) * height
            axis.barh(at, rate, height * 0.92, color=AREAS[i % len(AREAS)], label=name)
            axis.errorbar(
                rate,
                at,
                xerr=[rate - low, high - rate],
                fmt="none",
                ecolor=rcParams["text.color"],
                elinewidth=0.8,
                capsize=1.8,
            )
        axis.set_yticks(rows, [category.replace(" ", "\n", 1) for category in categories])
        axis.tick_params(axis="y", length=0)
        axis.invert_yaxis()
        axis.set(xlabel=label, xlim=(0, None))
        if len(bars) > 1:
            figure.legend(loc="outside upper center", ncols=len(bars), handlelength=1.2)
    return figure


# --- threat_f1 ----------------------------------------------------------------------------------------------------


def ranking(systems: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Any:
    """Precision-recall and ROC curves, with their no-skill lines.

    Args:
        systems: name -> (references of shape (n,), 1 is positive; scores of shape (n,), larger is more positive).

    Returns:
        A figure of a page's width.
    """
    with _style():
        figure, axes = _figure(PAGE, 2.9, 2)
        pr, roc = axes[0]
        for i, (name, (references, scores)) in enumerate(systems.items()):
            tp, fp = _passed(references, scores)
            # step down to the next recall at its precision: the area is the average precision
            style = {"color": COLORS[i % len(COLORS)], "ls": ("-", "--", "-.", ":")[i % 4], "label": name}
            recall = np.append(0.0, tp / tp[-1])
            precision = tp / (tp + fp)
            pr.step(*_thinned(recall, np.append(precision[0], precision)), where="pre", **style)
            roc.plot(*_thinned(np.append(0.0, fp / fp[-1]), recall), **style)
        prevalence = float(np.mean(next(iter(systems.values()))[0] == 1))
        pr.axhline(prevalence, color=GREY, lw=0.8, ls=":", label=f"no skill ({prevalence:.2g})")
        roc.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":", label="no skill")
        pr.set(xlabel="recall of threat", ylabel="precision of threat", title="precision–recall")
        roc.set(xlabel="false positive rate", ylabel="true positive rate (recall)", title="ROC")
        for axis, place in ((pr, "best"), (roc, "lower right")):
            axis.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.03))
            axis.legend(loc=place)
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
