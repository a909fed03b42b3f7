"""``toxeval compare``."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .options import (
    GROUPS,
    INPUTS,
    INTERVALS,
    JUDGES,
    OPTIONS,
    STYLES,
    MetricCommand,
    clock,
    job_of_options,
    metric_argument,
    progress_bar,
    with_options,
)

if TYPE_CHECKING:
    from toxeval.core.group_columns import Name
    from toxeval.signature import Result
    from toxeval.systems import Comparison
    from toxeval.systems.groups import GroupComparison

    from .job import Job


@click.command(cls=MetricCommand)
@metric_argument
@with_options(*INPUTS, *OPTIONS)
@with_options(*JUDGES, *GROUPS)
@click.option("--key", "keys", multiple=True, metavar="KEY", help="A score to compare; else the main one.")
@click.option("--confidence", type=float, default=0.95, metavar="LEVEL", help="Of the intervals; 0.95.")
@with_options(*INTERVALS, *STYLES)
def compare(metric: str, keys: tuple[str, ...], style: str | None, **given: Any) -> None:
    """Compare systems on the same rows.

    Each further file of predictions is compared with the first: the
    difference, its interval, and p of no difference (McNemar's exact test
    for shares of right rows, else a paired bootstrap). With --judge-on the
    rates corrected for their one judge are compared; with --human those
    corrected by labels of some of each system's rows. With --by also on the
    rows of each group, p corrected by Holm for the number of groups.

    \b
    Example:
      $ toxeval compare sold_macro_f1 --key f1_macro --key accuracy \\
          --predictions predictions.jsonl predictions_b.jsonl
    """
    from toxeval import report

    from .job import short_names

    job = job_of_options(metric, given)
    with clock():
        found = compared(job, keys)
    names = short_names(job.predictions)
    if style == "json":
        click.echo(found.to_json(names))
    else:
        click.echo(report.signed(report.table(*found.table(names), style or "text"), found.result, style or "text"))


@dataclass(frozen=True)
class Compared:
    """Systems compared with the first of them.

    Attributes:
        result: the first system's scores, with the options and intervals; its digest is of all systems, in order.
        comparisons: for each other system, key -> `Comparison`, of which it is a and the first system b.
        groups: for each other system, group -> `GroupComparison`; empty without groups.
    """

    result: "Result"
    comparisons: "list[dict[str, Comparison]]"
    groups: "list[dict[Name, GroupComparison]]"

    def table(self, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
        """Head and rows, for `report.table`; ``names`` are the systems'."""
        from toxeval.core.group_columns import label

        level = self.result.confidence["confidence_level"] * 100
        head = [self.result.metric, "system", "score", names[0], "difference", f"{level:g} % interval", "p", "test"]
        rows = [
            [key, name, *_numbers(each), f"{each.p_value:.4g}", each.method]
            for name, comparison in zip(names[1:], self.comparisons)
            for key, each in comparison.items()
        ]
        if not self.groups:
            return head, rows
        head[1:1] = [", ".join(self.result.groups["by"]), "rows"]
        head[-1:-1] = ["p (Holm)"]
        rows = [[row[0], "all rows", str(self.result.n_rows), *row[1:-1], "", row[-1]] for row in rows]
        for name, groups in zip(names[1:], self.groups):
            for group, found in groups.items():
                start = [label(group), str(found.n_rows), name]
                if not found.comparisons:
                    rows.append(["", *start, *[""] * 7])
                for key, each in found.comparisons.items():
                    ends = [f"{each.p_value:.4g}", f"{found.p_holm[key]:.4g}", each.method]
                    rows.append([key, *start, *_numbers(each), *ends])
        return head, rows

    def to_json(self, names: Sequence[str]) -> str:
        """As a JSON document; ``names`` are the systems'."""
        from toxeval.signature import plain

        whole = json.loads(self.result.to_json())
        del whole["scores"], whole["detailed"]
        whole["baseline"] = names[0]
        whole["comparisons"] = {
            name: {key: plain(each.to_dict()) for key, each in comparison.items()}
            for name, comparison in zip(names[1:], self.comparisons)
        }
        if self.groups:
            whole["groups"]["comparisons"] = {
                name: [_record(group, found) for group, found in groups.items()]
                for name, groups in zip(names[1:], self.groups)
            }
        return json.dumps(whole, indent=2, allow_nan=False)


def _record(group: "Name", found: "GroupComparison") -> dict[str, Any]:
    """What JSON has of a group."""
    from toxeval.signature import plain

    compared = {key: plain({**each.to_dict(), "p_holm": found.p_holm[key]}) for key, each in found.comparisons.items()}
    return {"group": plain(group), "n_rows": found.n_rows, "comparisons": compared}


def _numbers(found: "Comparison") -> list[str]:
    """Both scores, their difference and its interval."""
    from toxeval.report import number

    ends = f"[{found.low:+.4f}, {found.high:+.4f}]"
    return [number(found.score_a), number(found.score_b), f"{found.difference:+.4f}", ends]


def compared(job: "Job", keys: Sequence[str]) -> Compared:
    """Compare each further file of predictions with the first."""
    from functools import partial

    from toxeval import systems
    from toxeval.core.declarations import MIN_ROWS
    from toxeval.core.refusals import refuse
    from toxeval.signature import combined, digest
    from toxeval.systems.files import read_files
    from toxeval.systems.groups import compare_by

    from . import correcting
    from .job import signed_result, whole_intervals

    job.check()
    min_rows = MIN_ROWS.check(job.group_rule.get("min_rows", MIN_ROWS.default))

    if len(job.predictions) < 2:
        allowed = "at least two, to compare the others with the first"
        refuse("one file", allowed, metric=job.metric, inputs=("predictions",))
    metric = reader = job.load()
    chosen, columns, judge_on = whole_intervals(job, metric), dict(job.columns), None
    compare: Callable[..., dict[str, Comparison]] = partial(systems.compare, metric, **chosen)
    if job.corrected_by:
        reader, columns = correcting.load(job), correcting.columns_of(job)
        chosen = {"confidence_level": correcting.level_of(job)}
        judge_on = correcting.read_judge(job) if job.judge_on else None
        way = {"judge_on": judge_on, "judge_by_category": job.judge_by_category, **chosen}
        compare = partial(systems.compare_corrected, metric, **way)
    rows = read_files(reader, list(job.tables()), columns, progress_bar, job.by, job.human_tables())
    first, *others = job.predictions
    shared = {name: values for name, values in rows.shared.items() if name in rows.inputs}
    comparisons = [
        compare(own, rows.own[0], shared, keys=list(keys) or None, names=(path, first))
        for path, own in zip(others, rows.own[1:])
    ]
    groups = [
        compare_by(metric, rows, i, job.by, min_rows=min_rows, keys=list(keys) or None, names=(path, first), **chosen)
        for i, path in enumerate(others if job.by else [], 1)
    ]
    result = signed_result(
        job,
        rows.inputs,
        reader.definition,
        confidence=chosen,
        n_rows=rows.n_rows,
        digest=combined([digest(state) for state in rows.states]),
        scores={key: each.score_b for key, each in comparisons[0].items()},
        matched=rows.matched,
        left_out=rows.left_out,
        correction=correcting.correction_of(job, rows.states, judge_on) if job.corrected_by else {},
        groups={"by": list(job.by), "key": next(iter(comparisons[0])), "min_rows": min_rows} if job.by else {},
    )
    return Compared(result, comparisons, groups)
