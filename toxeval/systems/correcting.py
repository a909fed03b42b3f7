"""Two systems' rates under one judge, corrected for the judge's errors, on the same rows."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from toxeval.core.corrections import CONFIDENCE_LEVEL, correct, differences_by_key, judge_rates
from toxeval.core.differences import p_value_of
from toxeval.core.judged import count_pairs
from toxeval.core.metric import Metric
from toxeval.core.refusals import Known, describe, refuse
from toxeval.core.state import State

from .comparing import Comparison
from .rows import loaded, run_systems
from .runs import listed, listed_names


def compare_corrected(
    metric: str | Metric,
    predictions_a: Any,
    predictions_b: Any,
    shared: Mapping[str, Any] | None = None,
    *,
    judge_on: State | None = None,
    keys: Sequence[str] | None = None,
    ids: Any = None,
    ids_a: Any = None,
    ids_b: Any = None,
    judge_by_category: bool = False,
    confidence_level: float = CONFIDENCE_LEVEL.default,
    names: Sequence[str] = ("system a", "system b"),
) -> dict[str, Comparison]:
    """Compare the corrected rates of two systems, by labels of other rows under one judge, or of some rows of each.

    By ``judge_on`` the difference of the shares of verdicts is divided by the judge's sensitivity + specificity - 1;
    its interval is Fieller's, of the pairs of verdicts and of the judge's labels (`corrected_rates.difference`). By
    labels ``human`` of some of each system's own rows, which may be others for each, both rates are prediction-powered
    (`corrected_rates.powered_difference`). p is 1 minus the level at which the interval would just reach 0; so by
    ``judge_on`` it is never below that of a judge no better than chance.

    Args:
        metric: a name, or what ``toxeval.load`` gave, with its options.
        predictions_a, predictions_b: the verdicts on each system's rows, or a dict of the inputs that are its own:
            ``{"predictions": ..., "human": ...}``.
        shared: a dict of the inputs both share, such as categories.
        judge_on: other rows with labels, as ``judged().state(...)`` of the metric counts them. Not given: each system
            has labels of some of its rows.
        keys: which corrected rates; by default the main one.
        ids, ids_a, ids_b: as in `compare`, where ``ids`` are those of the shared inputs.
        judge_by_category: whether the judge has rates in each category.
        confidence_level: of the interval, in (0, 1).
        names: what messages call the systems.

    Returns:
        key -> `Comparison`.

    Raises:
        ValueError: for an unknown key, a judge who can't be told from chance, and what the metric refuses.

    >>> import toxeval
    >>> metric = toxeval.load("sold_macro_f1")
    >>> labels = {"predictions": [0] * 60 + [1] * 40, "human": [0] * 54 + [1] * 6 + [0] * 4 + [1] * 36}
    >>> judge_on = metric.judged().state(**labels)
    >>> found = compare_corrected(metric, [1] * 40 + [0] * 60, [1] * 20 + [0] * 80, judge_on=judge_on)
    >>> round(found["rate_OFF_corrected"].difference, 3), found["rate_OFF_corrected"].p_value < 0.001
    (0.254, True)
    """
    base = loaded(metric)
    names = listed_names(names, 2)
    with Known(metric=base.name):
        level = CONFIDENCE_LEVEL.check(confidence_level)
    own_ids = None if ids_a is None and ids_b is None else [ids_a, ids_b]
    given = [predictions_a, predictions_b]
    systems = run_systems(
        base.judged(human=None if judge_on is None else False), names, given, {**(shared or {})} or None, ids, own_ids
    )
    states = [systems.metric.count(arrays) for arrays in systems.arrays]
    verdicts = states[0].counts["verdicts"]
    with Known(metric=base.name):
        human = None if judge_on is None else judge_rates(base.definition, verdicts, judge_on, judge_by_category)
    rates = []
    for state, name in zip(states, names):
        with Known(metric=base.name, file=name):
            way: dict[str, Any] = {"judge_by_category": judge_by_category, "level": level}
            rates.append(correct(base.definition, state, judge_on, **way, name=f"{base.name}: {name}"))
    a, b = rates
    pairs = count_pairs(systems.arrays[0], systems.arrays[1], len(verdicts))
    found = differences_by_key(base.definition, pairs, human, level)
    wanted = [next(iter(found))] if keys is None else listed(base.name, "keys", keys, f"a list such as {[*found][:1]}")
    for key in wanted:
        if key not in found:
            refuse(describe(key), ", ".join(found), metric=base.name, where="keys")

    def reach(key: str, level: float) -> float:
        """How far an interval reaches beyond 0, where 1 is far enough for those without an end."""
        _, low, high = differences_by_key(base.definition, pairs, human, level)[key]
        return float(np.clip(min(high, -low), -1.0, 1.0))

    p_values = {key: p_value_of(partial(reach, key)) for key in wanted}
    n_discordant = int(pairs[:, 0, :, 1].sum() + pairs[:, 1, :, 0].sum())
    return {
        key: Comparison(key, a[key], b[key], *found[key], p_values[key], "corrected", systems.n_rows, n_discordant)
        for key in wanted
    }
