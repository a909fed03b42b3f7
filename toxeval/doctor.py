"""What looks wrong with a file of predictions, all at once: what the metric would refuse, and what it would score."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from toxeval.core.corrections import corrected_scores, unlike_shares
from toxeval.core.declarations import LABEL, RECORD, SCORE, SEQUENCE, Definition, Input
from toxeval.core.formulas import DOUBTED_ROWS
from toxeval.core.inputs import FROM_LOGITS
from toxeval.core.judged import HUMAN
from toxeval.core.labels import IGNORE
from toxeval.core.metric import Metric
from toxeval.core.ranking import roc_auc
from toxeval.core.refusals import OptionName, Refusal, Words, describe, is_missing
from toxeval.core.scoring import score_doubts
from toxeval.core.state import State
from toxeval.read import Rows, Table
from toxeval.read.columns import ID, ID_COLUMNS, say
from toxeval.read.tables import as_list

#: So many different values that are no labels are looked at one by one.
MOST_VALUES = 100


@dataclass(frozen=True)
class Finding:
    """Something that looks wrong.

    Attributes:
        where: the input, or ``id``.
        what: what was found.
        advice: what to do about it.
        rows: where, the first few.
    """

    where: str
    what: str
    advice: str
    rows: tuple[int, ...] = ()


def examine(
    metric: Metric,
    predictions: Table,
    references: Table | None = None,
    columns: Mapping[str, str] | None = None,
    words: Words | None = None,
) -> list[Finding]:
    """Everything that looks wrong with some predictions and their references.

    The rows are read into memory, and nothing is refused but what can't be read at all. Labels are looked at where the
    metric declares them.

    Args:
        metric: the metric, its options fixed.
        predictions, references, columns: as for `toxeval.read.Rows`.
        words: in which findings speak.
    """
    words, said = words or Words(), dict(columns or {})
    found: list[Finding] = []
    try:
        found += _ids(predictions, references, said)
        if references is None and not predictions.once:  # repeated ids are found already
            said |= {ID: ""}
        rows = Rows(metric.definition, predictions, references, said)
        inputs = rows.collect()
    except Refusal as refusal:  # ids or lengths that don't match, missing columns, broken rows
        advice = "mend this first: nothing else could be looked at"
        return [*found, Finding("rows", refusal.text(words), advice)]
    if predictions.spanning:
        what = f"quoted cells span {sum(predictions.spanning)} lines more than there are rows"
        found.append(
            Finding("rows", what, "if no text has line breaks: a quote in it isn't doubled, and rows are lost")
        )
    for each in metric.definition.inputs:
        if each.required and each.name not in inputs:
            advice = words.text(("if it has another name: ", *say(each)), Refusal(""))
            found.append(Finding(each.name, "no column for it", advice))
    return [*found, *_Examination(metric, inputs, words).findings()]


def _ids(predictions: Table, references: Table | None, said: Mapping[str, str]) -> Iterator[Finding]:
    """Repeated ids of a single table; of two tables it is their matching that finds them."""
    column = said.get(ID) or next((name for name in ID_COLUMNS if name in predictions.columns), "")
    if references is not None or not column or not predictions.has(column) or predictions.once:
        return
    ids = list(chain.from_iterable(as_list(batch[column]) for batch in predictions.batches([column])))
    times = Counter(map(str, ids))
    rows = [row for row, i in enumerate(ids) if times[str(i)] > 1]
    if rows:
        yield Finding("id", f"{len(rows)} rows share their id with another", "are rows repeated?", tuple(rows[:5]))


def examine_judge(
    definition: Definition,
    state: State,
    judge_on: State | None = None,
    judge_by_category: bool = False,
    words: Words | None = None,
) -> Iterator[Finding]:
    """What speaks against correcting the rates of some rows by some labels.

    Args:
        definition: of the metric whose predictions are the verdicts.
        state, judge_on: as for `corrected_scores`.
        judge_by_category: whether the judge's rates in each category are meant.
        words: in which findings speak.
    """
    words, rate = words or Words(), definition.judged
    assert rate is not None
    try:
        found = corrected_scores(definition, state, judge_on, judge_by_category=judge_by_category, level=0.95)
    except Refusal as refusal:
        yield Finding("judge", words.text(refusal.found, refusal), words.hint(refusal) or "nothing can be corrected so")
    else:
        doubt = "by chance, or the judge errs otherwise on these rows"
        for key, value in found.impossible.items():
            yield Finding(key, f"{value:.3f}, which no rate can be", doubt)
    own = words.option_name(OptionName(HUMAN))
    advice = "were the rows that have labels drawn at random?"
    if judge_on is not None:
        advice = f"other rows, or a judge who errs otherwise on them, which no labels of others mend: see {own}"
    for category, some, rest, p in unlike_shares(definition, state, judge_on):
        a, b = (f"{n} of {of} ({n / of:.1%})" for n, of in (some, rest))
        where = f" in {category}" if category else ""
        what = f"{rate.label} on {a} rows with labels and on {b} others{where} (p {p:.2g} by Holm)"
        yield Finding("predictions", what, advice)


class _Examination:
    """The inputs of a metric, looked at."""

    def __init__(self, metric: Metric, inputs: Mapping[str, Any], words: Words) -> None:
        self._metric, self._inputs, self._words = metric, inputs, words
        #: input or field of one -> its labels' ids, where nothing is wrong with them
        self._ids: dict[str, np.ndarray] = {}

    def findings(self) -> Iterator[Finding]:
        """What looks wrong with them."""
        declared = [each for each in self._metric.definition.inputs if each.name in self._inputs]
        scores = [each for each in declared if each.kind == SCORE]
        of_scores: list[Finding] = []
        for each in scores:
            of_scores += _scores(
                each, self._inputs[each.name], bool(self._metric.options.get("from_logits")), self._words
            )
        parts = list(chain.from_iterable(map(self._parts, declared)))
        of_labels = list(chain.from_iterable(self._labels(where, part, values) for where, part, values in parts))
        yield from [*of_scores, *of_labels]
        for where, part, _ in parts:
            if where.partition(".")[0] == "references" and where in self._ids:
                yield from self._pair(where.replace("references", "predictions", 1), where, part.labels)
        usual = [each for each in scores if each.probabilities]
        if not of_scores and usual and "references" in self._ids:
            yield from self._ranking(usual[0])

    def _parts(self, each: Input) -> Iterator[tuple[str, Input, Any]]:
        """Where labels are looked for: an input, or the fields of its records."""
        values = self._inputs[each.name]
        if each.kind == RECORD:
            names = [field.name for field in each.fields]
            columns = {name: as_list(values[name]) for name in names} if isinstance(values, Mapping) else None
            for field in each.fields:
                if columns is None:
                    records = [row if isinstance(row, Mapping) else {} for row in as_list(values)]
                    yield f"{each.name}.{field.name}", field, [record.get(field.name) for record in records]
                else:
                    yield f"{each.name}.{field.name}", field, columns[field.name]
        elif each.kind in (LABEL, SEQUENCE) and each.labels:
            yield each.name, each, as_list(values)

    # --- labels ---

    def _labels(self, where: str, part: Input, values: list[Any]) -> Iterator[Finding]:
        """Values that are no labels, and names among ids."""
        if part.kind == SEQUENCE:
            rows: Sequence[int] | None
            rows, flat = _flat(values)
        else:
            rows, flat = None, values
        problems = list(self._label_values(where, flat, rows, part))
        yield from problems
        table: dict[Any, int] = {label: i for i, label in enumerate(part.labels)}
        table |= {i: i for i in range(len(part.labels))}
        if not problems and not any(isinstance(value, float) and value % 1 for value in flat):
            self._ids[where] = np.array([table.get(value, -1) for value in flat], dtype=np.int64)

    def _label_values(
        self, where: str, values: list[Any], rows: Sequence[int] | None, part: Input
    ) -> Iterator[Finding]:
        padding = part.kind == SEQUENCE and where.startswith("references")
        usual = {*part.labels, *range(len(part.labels))} | ({IGNORE} if padding else set())
        plain = [value for value in values if isinstance(value, (str, int, float)) and value != IGNORE]
        if len({isinstance(value, str) for value in plain if value in usual}) > 1:
            yield Finding(where, "names and ids in one input", "give names or ids")
        places: dict[tuple[type, Any], list[int]] = {}
        for position, value in enumerate(values):
            key = (type(value), value if isinstance(value, (str, int, float)) and value == value else None)
            places.setdefault(key, []).append(position if rows is None else rows[position])
        wrong: dict[tuple[str, str], list[int]] = {}
        for (kind, value), at in list(places.items())[: MOST_VALUES + len(usual)]:
            one = value if value is not None or kind in (type(None), float) else kind.__name__
            advice = self._refused(where, part, one)
            if advice:
                wrong.setdefault((_called(one, part.labels), advice), []).extend(at)
        for (what, advice), at in wrong.items():
            yield Finding(where, f"{what} ({len(at)} times)", advice, tuple(dict.fromkeys(sorted(at)))[:5])

    def _refused(self, where: str, part: Input, value: Any) -> str:
        """What the metric itself advises on a value that is alone in an input; "" if it takes it."""
        name, _, field = where.partition(".")
        alone = [[value]] if part.kind == SEQUENCE else [value]
        given = dict(self._metric.definition.example)
        given[name] = {**given[name], field: alone} if field else alone
        try:
            self._metric.encode(**given)
        except Refusal as refusal:
            if is_missing(value) or value == "":
                return "a missing label is not a label: did a row fail?"
            hint = self._words.hint(refusal)
            return f"allowed: {self._words.text(refusal.allowed, refusal)}{f' ({hint})' if hint else ''}"
        return ""

    # --- predictions and references ---

    def _pair(self, predicted: str, gold: str, labels: Sequence[str]) -> Iterator[Finding]:
        references = self._ids[gold]
        there = np.bincount(references[references >= 0], minlength=len(labels))
        for label, n in zip(labels, there):
            if not n:
                yield Finding(gold, f"no {label}", "its recall and F1 are undefined: are these all the references?")
        if predicted not in self._ids:
            return
        predictions = np.minimum(self._ids[predicted], len(labels) - 1)  # further ones are kinds of the last
        yield from _never(predicted, predictions, there, labels)
        if len(predictions) == len(references):
            yield from _agreement(predictions, references, labels, predicted)

    def _ranking(self, scores: Input) -> Iterator[Finding]:
        """What looks wrong with the scores of two classes that are numbers as they should be."""
        references = self._ids["references"]
        try:
            arrays = self._metric.encode(**self._inputs)
        except Refusal:
            return
        state = self._metric.count(arrays)
        doubts = self._metric.definition.doubts
        found = [Finding(*doubt) for doubt in (doubts(state) if doubts else ()) if state.n_rows >= DOUBTED_ROWS]
        raw = arrays["logits"] if "logits" in arrays else arrays.get("probabilities")
        if not found and raw is not None:
            found = list(_direction(scores.name, raw, references))
        yield from found
        decide = self._metric.definition.decisions
        labels = self._metric.definition.input("references")
        if not found and decide is not None and labels is not None and len(references) >= DOUBTED_ROWS:
            there = np.bincount(references[references >= 0], minlength=len(labels.labels))
            decisions = decide(arrays, **self._metric.score_options)
            for each in _never(scores.name, decisions, there, labels.labels):
                yield replace(each, advice=f"{each.advice}: is the threshold one of these scores?")


def _flat(values: Iterable[Any]) -> tuple[list[int], list[Any]]:
    """The row and the value of every position of some sequences."""
    rows, flat = [], []
    for row, sequence in enumerate(values):
        items = as_list(sequence) if isinstance(sequence, (list, tuple, np.ndarray)) else [sequence]
        rows += [row] * len(items)
        flat += items
    return rows, flat


def _called(value: Any, labels: Sequence[str]) -> str:
    """What a value is called that is no label."""
    if is_missing(value) or value == "":
        return "no value"
    if isinstance(value, float) and not value.is_integer():
        return "a score where a label is wanted"
    if isinstance(value, (int, float)) and value == IGNORE:
        return "-100"
    if isinstance(value, str) and value.strip().lower() in map(str.lower, labels):
        return repr(value)
    described = describe(value, labels)
    return f"{described} where a label is wanted" if described.startswith("a ") else f"unknown label {described}"


def _never(where: str, predictions: np.ndarray, there: np.ndarray, labels: Sequence[str]) -> Iterator[Finding]:
    predicted = np.unique(predictions)
    for i, label in enumerate(labels):
        if there[i] and i not in predicted:
            yield Finding(where, f"{label} is never predicted ({there[i]} references are)", "its F1 is 0")


def _agreement(predictions: np.ndarray, references: np.ndarray, labels: Sequence[str], where: str) -> Iterator[Finding]:
    """Predictions that are suspiciously right or systematically wrong."""
    both = (predictions >= 0) & (references >= 0)
    predictions, references = predictions[both], references[both]
    if len(references) < DOUBTED_ROWS or len(np.unique(references)) < 2:
        return
    if (predictions == references).all():
        yield Finding(where, "equal to the references in every row", "are they predictions?")
    k = len(labels)
    table = np.bincount(references * k + predictions, minlength=k * k).reshape(k, k)
    for a in range(k):
        for b in range(a + 1, k):
            straight, crossed = table[a, a] + table[b, b], table[a, b] + table[b, a]
            if min(table[a].sum(), table[b].sum()) >= 5 and crossed > 3 * straight:
                what = f"{labels[a]} and {labels[b]} look swapped ({crossed} crossed, {straight} right)"
                yield Finding(where, what, "does the model number its labels in another order? Give names")


# --- scores -------------------------------------------------------------------------------------------------------


def _scores(each: Input, values: Any, logits: bool, words: Words) -> Iterator[Finding]:
    """Numbers that are no scores, or tell nothing."""
    finding = partial(Finding, each.name)
    try:
        array = np.asarray(as_list(values), dtype=float)
    except (ValueError, TypeError, OverflowError):
        yield finding("not a number in every row", "one number a row, or two in every row")
        return
    bad = ~np.isfinite(array)
    if bad.any():
        yield finding(f"NaN or infinite ({bad.sum()} times)", "did the model overflow?", _first_rows(bad))
    if not each.probabilities or not array.size:
        return
    outside = np.isfinite(array) & ((array < 0) | (array > 1))
    if outside.any() and not logits:
        kind, advice = "logits", f"apply a sigmoid or softmax (or {words.option(FROM_LOGITS)})"
        if np.nanmin(array) >= 0:  # of logits some are negative
            kind, advice = "percentages or logits", f"divide by 100, or {words.option(FROM_LOGITS)}"
        what = f"{outside.sum()} of {array.size} numbers are outside [0, 1]: these look like {kind}"
        yield finding(what, advice, _first_rows(outside))
    if logits and not outside.any():
        yield finding("all in [0, 1], with from_logits", "these look like probabilities already")
    column = array[:, -1] if array.ndim == 2 else array
    distinct, share = np.unique(column), float(np.mean((column == 0) | (column == 1)))
    if len(column) >= DOUBTED_ROWS and len(distinct) == 1:
        yield finding(f"the same score in all {len(column)} rows", "the model says nothing")
    elif not logits and share == 1:
        yield from (finding(*doubt) for doubt in score_doubts(column))
    elif len(column) >= DOUBTED_ROWS and not logits:
        if len(distinct) == 2:
            yield finding("only two different values", "are these labels? Ranks need scores")
        elif share > 0.5:
            yield finding(f"{share:.0%} are exactly 0 or 1", "saturated or rounded: ties; give the logits")


def _first_rows(wrong: np.ndarray) -> tuple[int, ...]:
    rows = np.flatnonzero(wrong if wrong.ndim == 1 else wrong.any(axis=1))
    return tuple(rows[:5].tolist())


def _direction(where: str, scores: np.ndarray, references: np.ndarray) -> Iterator[Finding]:
    """Scores of the other class."""
    if len(scores) != len(references) or min(np.bincount(references[references >= 0], minlength=2)) < 5:
        return
    area = roc_auc(references, scores)
    if area < 0.35:
        what = f"positives score lower than negatives (ROC-AUC {area:.3f})"
        yield Finding(where, what, "are these the scores of the other class, or the columns swapped?")
    elif area == 1.0:
        yield Finding(where, "every positive scores above every negative", "did the references leak into the scores?")
