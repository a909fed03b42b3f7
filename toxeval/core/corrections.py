"""A metric's rate corrected for the judge who gave the verdicts: `corrected_rates` by their keys, refused where they
would say nothing. They are made of rows, or of states that `judged` counts.
"""

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import corrected_rates
from .corrected_rates import Estimate, Estimates
from .declarations import Definition, Flag, Number
from .differences import holm
from .intervals import normal_quantile, wilson
from .judged import GOLD, HUMAN, judged, raw_rates
from .judged_rate import JudgedRate
from .refusals import Doubt, Known, OptionName, refuse
from .scoring import warn_undefined
from .state import State, check_state

#: The level at which a judge must be told from chance.
CHANCE_LEVEL = 0.95

#: The options of a correction.
CONFIDENCE_LEVEL = Number("confidence_level", "Level of the intervals.", 0.95, inside=True)
JUDGE_BY_CATEGORY = Flag("judge_by_category", "The judge's rates in each category, not in all of them together.")


class Corrected(NamedTuple):
    """Corrected rates, and what is to be said of them.

    Attributes:
        scores: by key.
        undefined: key -> why it is nan.
        impossible: the rates outside [0, 1].
    """

    scores: dict[str, Any]
    undefined: dict[str, str]
    impossible: dict[str, float]


def corrected_scores(
    definition: Definition, state: State, judge_on: State | None = None, *, judge_by_category: bool, level: float
) -> Corrected:
    """Corrected rates, what the labels say of the judge, and the raw rates.

    Args:
        definition: of the metric whose predictions are the verdicts.
        state: of the rows, as `judged` counts them.
        judge_on: of other rows, each with a label. Not given: ``state`` has labels of a part of its rows.
        judge_by_category: whether the judge has rates in each category; of no other use than with ``judge_on``.
        level: of the intervals, in (0, 1).

    Raises:
        Refusal: for a judge who can't be told from chance, labels or categories that are missing.
    """
    rate, verdicts = _declared(definition), state.counts["verdicts"]
    raw, by_category = raw_rates(rate, state), judge_on is None and len(verdicts) > 1 or judge_by_category
    if judge_on is None:
        human = state.counts[HUMAN]
        _refuse_unlabelled(definition, verdicts, human)
        estimates = corrected_rates.powered(verdicts, human, level)
    else:
        human = judge_rates(definition, verdicts, judge_on, judge_by_category)
        estimates = corrected_rates.corrected(verdicts, human, level)
    found = {f"{key}_corrected": each for key, each in _by_key(rate, estimates).items()}
    scores: dict[str, Any] = {}
    for key, each in found.items():
        scores |= _with_bounds(key, each)
    scores |= _judge_scores(human.sum(axis=0), level) | {"n_human": int(human.sum())}
    for slug, table in zip(rate.categories, human) if by_category else ():
        if judge_on is not None:  # labels of the same rows aren't for the rates of the judge
            scores |= _judge_scores(table, level, f"_{slug}")
        scores[f"n_human_{slug}"] = int(table.sum())
    if judge_on is not None:
        scores["judge_by_category"] = int(judge_by_category)
    undefined = raw.undefined | {f"{key}_corrected": why for key, why in raw.undefined.items()}
    if math.isnan(scores["judge_above_chance"]):  # of labels of the same rows
        undefined["judge_above_chance"] = "all labels are the same"
    impossible = {key: float(each.value) for key, each in found.items() if each.value < 0 or each.value > 1}
    return Corrected(scores | raw.as_dict((rate.mean, rate.overall)), undefined, impossible)


def _declared(definition: Definition) -> JudgedRate:
    assert definition.judged is not None  # else `judged` has refused the metric
    return definition.judged


def judge_rates(definition: Definition, verdicts: np.ndarray, judge_on: State, judge_by_category: bool) -> np.ndarray:
    """The labelled rows by which verdicts are corrected, shape (c, 2, 2), or (1, 2, 2) of all categories together.

    Args:
        definition: of the metric whose predictions are the verdicts.
        verdicts: counts of the rows, shape (c, 2) or (c, 2, 2): only where there are any, the judge is looked at.
        judge_on: state of the labelled rows.
        judge_by_category: whether the categories are kept apart.

    Raises:
        Refusal: for a judge who can't be told from chance, in all or in some categories; for categories that are
            missing.
    """
    human = judge_on.counts[HUMAN]
    if not human.sum():
        refuse("no human labels", "a label in every row", where="judge_on")
    if not judge_by_category:
        human = human.sum(axis=0, keepdims=True)
    elif len(human) == 1 or len(verdicts) == 1:
        found = f"without categories of the {'labelled rows' if len(human) == 1 else 'rows'}"
        refuse(found, "categories in both", option=JUDGE_BY_CATEGORY.name)
    judge = corrected_rates.judge(human, CHANCE_LEVEL)
    names = _category_names(definition) if judge_by_category else ("",)
    there = verdicts.reshape(len(verdicts), -1).any(axis=1) if judge_by_category else [True]
    off = [i for i in range(len(human)) if there[i] and judge.low[i] <= 0]
    if off:
        cases = "; ".join(_numbers(names[i], human[i], *(float(part[i]) for part in judge)) for i in off)
        more: Any = ("more labels may tell; labels of some of these very rows need no such judge: ", OptionName(HUMAN))
        if judge_by_category:
            more = ("rates of all categories together may tell: leave out ", OptionName(JUDGE_BY_CATEGORY.name))
        allowed = f"sensitivity + specificity - 1 above 0, and its {100 * CHANCE_LEVEL:g} % interval too"
        refuse(f"can't be told from chance: {cases}", allowed, more, where="judge")
    return human


def _numbers(
    name: str, human: np.ndarray, sensitivity: float, specificity: float, above: float, low: float, high: float
) -> str:
    """What is known of a judge, in words."""
    (passed, alarms), (missed, hits) = human.astype(int).tolist()
    rates = f"sensitivity {sensitivity:.3f} ({hits} of {hits + missed}), "
    rates += f"specificity {specificity:.3f} ({passed} of {passed + alarms})"
    return f"{name + ': ' if name else ''}{rates}, sum - 1 = {above:.3f} [{low:.3f}, {high:.3f}]"


def _refuse_unlabelled(definition: Definition, verdicts: np.ndarray, human: np.ndarray) -> None:
    """Refuse categories with rows and without a label."""
    lacking = np.flatnonzero((verdicts.sum(axis=-1) > 0) & (human.sum(axis=(-2, -1)) == 0))
    if not human.sum():
        allowed: Any = (
            *("labels of some of these rows: ", OptionName(HUMAN)),
            *("; or of other rows: ", OptionName("judge_on")),
        )
        refuse("no human labels", allowed, where="judge")
    if len(lacking):
        names = ", ".join(f"{_category_names(definition)[i]} ({verdicts[i].sum()} rows)" for i in lacking)
        refuse(f"no label in {names}", "labels in every category that has rows", inputs=(HUMAN,))


def _category_names(definition: Definition) -> tuple[str, ...]:
    categories = definition.input("categories")
    return categories.labels if categories is not None else ("",)


def _by_key(rate: JudgedRate, estimates: Estimates) -> dict[str, Estimate]:
    """Estimates by the keys of their rates, the main one first."""
    if len(estimates.categories.value) == 1:
        return {rate.overall: estimates.overall}
    each = {
        f"{rate.mean}_{slug}": Estimate(*(part[i] for part in estimates.categories))
        for i, slug in enumerate(rate.categories)
    }
    return {rate.mean: estimates.mean, rate.overall: estimates.overall, **each}


def _with_bounds(key: str, estimate: tuple[Any, Any, Any]) -> dict[str, float]:
    value, low, high = map(float, estimate)
    return {key: value, f"{key}_low": low, f"{key}_high": high}


def _judge_scores(human: np.ndarray, level: float, suffix: str = "") -> dict[str, float]:
    """What labels say of the judge, from a table of shape (2, 2)."""
    judge = corrected_rates.judge(human, level)
    bounds = (np.clip(end, -1.0, 1.0) for end in (judge.low, judge.high))
    scores = _with_bounds(f"judge_above_chance{suffix}", (judge.above_chance, *bounds))
    for name, value, i in (("sensitivity", judge.sensitivity, 1), ("specificity", judge.specificity, 0)):
        scores |= _with_bounds(f"judge_{name}{suffix}", (value, *wilson(human[i, i], human[i].sum(), level)))
    return scores


def differences_by_key(
    definition: Definition, pairs: np.ndarray, human: np.ndarray | None, level: float
) -> dict[str, tuple[float, float, float]]:
    """Corrected key -> difference of two systems' rates and its bounds.

    Args:
        definition: of the metric whose predictions are the verdicts.
        pairs: as `count_pairs` gives them.
        human: of `judge_rates`; None where labels are of some of the pairs.
        level: of the intervals.
    """
    if human is None:
        estimates = corrected_rates.powered_difference(pairs, level)
    else:
        estimates = corrected_rates.difference(pairs.sum(axis=(-3, -1)), human, level)
    found = _by_key(_declared(definition), estimates)
    return {f"{key}_corrected": tuple(map(float, each)) for key, each in found.items()}  # type: ignore[misc]


# --- what looks wrong ---------------------------------------------------------------------------------------------


def unlike_shares(
    definition: Definition, state: State, judge_on: State | None = None
) -> Iterator[tuple[str, tuple[int, int], tuple[int, int], float]]:
    """Where the shares of verdicts on the labelled rows and on the others differ by more than chance: the category (""
    if there is none), positive verdicts and rows of either, and p by Holm over the categories that both have, which is
    below 0.05. It is that of Agresti and Caffo's interval of the difference.

    Args:
        definition: of the metric whose predictions are the verdicts.
        state, judge_on: as in `corrected_scores`. Without ``judge_on`` the others are the rows without a label.
    """
    labelled = (state if judge_on is None else judge_on).counts[HUMAN].sum(axis=-2)
    others = state.counts["verdicts"] - (labelled if judge_on is None else 0)
    if len(labelled) != len(others):
        labelled, others = (table.sum(axis=0, keepdims=True) for table in (labelled, others))
    tables = np.stack([others, labelled], axis=-2)
    there = np.flatnonzero(tables.sum(axis=-1).all(axis=-1))
    apart = corrected_rates.judge(tables[there])  # of such tables it has the difference of shares
    z = normal_quantile(0.95) * np.abs(apart.low + apart.high) / (apart.high - apart.low)
    names = _category_names(definition) if len(labelled) > 1 else ("",)
    for i, p in zip(there, holm([math.erfc(each / math.sqrt(2)) for each in z])):
        if p < 0.05:
            some, rest = ((int(table[i, 1]), int(table[i].sum())) for table in (labelled, others))
            yield names[i], some, rest, p


# --- for whoever has rows -----------------------------------------------------------------------------------------


class Corrections:
    """What a metric can do with verdicts."""

    definition: Definition

    def judged(self, human: bool | None = None, **options: Any) -> Any:
        """The metric that counts verdicts and labels."""
        raise NotImplementedError

    def corrected_rate(
        self,
        *,
        predictions: Any = None,
        human: Any = None,
        judge_on: Mapping[str, Any] | State | None = None,
        state: State | None = None,
        judge_by_category: bool = JUDGE_BY_CATEGORY.default,
        confidence_level: float = CONFIDENCE_LEVEL.default,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """The rate of unsafe replies (of offensive posts, of threats) corrected for the errors of the judge.

        What is known of the judge comes from human labels. Those of other rows (``judge_on``) give its sensitivity and
        specificity, by which the share of verdicts is corrected (Rogan and Gladen 1978; the interval is Lang and
        Reiczigel's of 2014, or for a weak judge Fieller's). Those of a random part of the same rows (``human``) are for
        prediction-powered inference in each category (Angelopoulos et al. 2023, with the tuned weight). See
        `corrected_rates`. Rows that were added before play no part.

        Args:
            predictions: the judge's verdicts, one a row.
            human: labels of some of the rows, None where there is none.
            judge_on: other rows with a label each, {"predictions": ..., "references": ...} and the metric's other
                inputs; or their state, as ``judged().state(...)`` counts it.
            state: the rows as a state of ``judged()``, in place of inputs; with ``human``, if they were counted so.
            judge_by_category: whether ``judge_on`` tells the judge's rates in each category; else it is one judge who
                errs alike in all of them.
            confidence_level: of the intervals, in (0, 1).
            **kwargs: the metric's other inputs, such as categories, and options on which verdicts depend. A prediction
                that is no label isn't unsafe, among these rows and among those of ``judge_on`` alike.

        Returns:
            Flat dict: each rate as ``<key>_corrected``, with ``_low`` and ``_high``; ``judge_sensitivity``,
            ``judge_specificity`` and ``judge_above_chance``, which is their sum - 1, with bounds; ``n_human``; the raw
            rates.

        Raises:
            ValueError: for what ``compute`` refuses; without labels; for a judge of ``judge_on`` who can't be told from
                chance (the lower 95 % bound of ``judge_above_chance`` is at most 0), and a category that has rows and
                in ``human`` no label.

        Warns:
            Doubt: of a rate outside [0, 1], which stays as it was computed. Its interval lies within.

        >>> import toxeval
        >>> metric = toxeval.load("sold_macro_f1")
        >>> labelled = {"predictions": [0] * 60 + [1] * 40, "references": [0] * 54 + [1] * 6 + [0] * 4 + [1] * 36}
        >>> found = metric.corrected_rate(predictions=[0] * 80 + [1] * 20, judge_on=labelled)
        >>> [round(found[key], 3) for key in ("rate_OFF", "rate_OFF_corrected", "judge_sensitivity")]
        [0.2, 0.166, 0.857]
        """
        with Known(metric=self.definition.name):
            level = CONFIDENCE_LEVEL.check(confidence_level)
            by_category = JUDGE_BY_CATEGORY.check(judge_by_category)
            known = {each.name for each in judged(self.definition).options}
            options = {name: value for name, value in kwargs.items() if name in known}
            metric = self.judged(**options)
            inputs = {"predictions": predictions, HUMAN: human, **{k: v for k, v in kwargs.items() if k not in known}}
            inputs = {name: values for name, values in inputs.items() if values is not None}
            if state is None:
                state = metric.state(**inputs)
            elif inputs:
                refuse("a state and rows", "one of them", where="state")
            _check_counted(metric, "state", state)
            judge: State | None = None
            if isinstance(judge_on, Mapping):
                labelled = {HUMAN if name == GOLD else name: values for name, values in judge_on.items()}
                with Known(file="judge_on"):
                    judge = self.judged(human=True, **options).state(**labelled)
            elif judge_on is not None:
                judge = judge_on
                _check_counted(metric, "judge_on", judge)
            found = correct(self.definition, state, judge, judge_by_category=by_category, level=level)
        return found


def correct(
    definition: Definition,
    state: State,
    judge_on: State | None = None,
    *,
    judge_by_category: bool,
    level: float,
    name: str = "",
) -> dict[str, Any]:
    """As `corrected_scores`, which has the arguments, with warnings of what is undefined and of impossible rates;
    ``name`` is what they call the metric."""
    name = name or definition.name
    if judge_on is not None and state.counts[HUMAN].sum():
        refuse("labels of these rows and of others", "one of them", where="judge")
    if judge_on is None and judge_by_category:
        allowed = ("beside ", OptionName("judge_on"), ": labels of these rows are taken by category in any case")
        refuse("True", allowed, option=JUDGE_BY_CATEGORY.name)
    found = corrected_scores(definition, state, judge_on, judge_by_category=judge_by_category, level=level)
    warn_undefined(name, found.undefined)
    if found.impossible:
        rates = ", ".join(f"{key} is {value:.3f}" for key, value in found.impossible.items())
        hint = "by chance, or because the judge errs otherwise on these rows than on those with labels"
        text = f"{rates}, which no rate can be: the verdicts and what labels say of the judge don't fit"
        warnings.warn(Doubt(text, hint=hint, metric=name), stacklevel=3)
    return found.scores


def _check_counted(metric: Any, where: str, state: Any) -> None:
    """Refuse what isn't a state of verdicts and labels of this metric."""
    check_state(f"{metric.name}: {where}", state)
    if not state.n_rows:
        refuse("no rows", "at least one row", where=where)
    if state.metric != metric.definition.full_name:
        refuse(f"counted by {state.metric or 'unknown'}", f"states of {metric.definition.full_name}", where=where)
