"""What a reported result stands on: a signature, a digest of the scored rows, and a file that can be verified.

A signature names everything that changes the numbers (metric, version, options, confidence method, dataset, rows) and
nothing that doesn't: not the order of rows or columns, not the file format, not whether labels came as names or ids.
"""

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from toxeval.core.declarations import Definition
from toxeval.core.judged import HUMAN
from toxeval.core.resampling import cluster_counts
from toxeval.core.state import MULTIPLICITY, State
from toxeval.read import LAYOUTS
from toxeval.version import __version__

#: Version of the layout of result files.
FORMAT = 1
#: How far a recomputed score may be off: sums in another order, another machine's logarithm.
TOLERANCE = 1e-9
#: Attributes of a `Result` that are null in its file where they are empty.
OPTIONAL = (
    *("confidence", "dataset", "columns", "answers", "correction"),
    *("matched", "layout", "left_out", "threshold_from"),
)


@dataclass(frozen=True)
class Result:
    """Scores with what they were computed from.

    Attributes:
        definition: of the metric.
        options: every option that changes the numbers, the defaults too.
        detailed: whether the detailed scores are there.
        n_rows: rows of each run.
        digest: of the scored rows, see `digest`.
        scores: what ``compute`` returned, or the mean over runs.
        confidence: level, method, resamples and seed of the intervals; empty without.
        dataset: the benchmark dataset the references came from, as the command names it, or "".
        runs: for several runs, the scores of each.
        spread: for several runs, key -> std, min, max.
        columns: input -> column, as far as that was said.
        answers: the rule by which answers were read as labels, and aliases of these; empty without.
        correction: what corrected the rates for their judge (``corrected_by``: "human" or "judge_on"), how, and the
            labels' number and digest; empty without.
        matched: the column by which rows of two tables were matched, or "position"; "" for one table.
        layout: how the files were laid out, see `toxeval.read.LAYOUTS`; "" for tables.
        groups: the columns of groups, ``by``, and their scores as in `GroupScores.to_dict`, without those of all rows;
            empty without.
        threshold_from: the rule by which the threshold was chosen, and how many validation rows and their digest;
            empty where it wasn't.
        left_out: how many rows don't count, and why, in words; "" if all do.
        version: of toxeval.
    """

    definition: Definition
    options: dict[str, Any]
    detailed: bool
    n_rows: int
    digest: str
    scores: dict[str, Any]
    confidence: dict[str, Any] = field(default_factory=dict)
    dataset: str = ""
    runs: list[dict[str, Any]] = field(default_factory=list)
    spread: dict[str, dict[str, float]] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    correction: dict[str, Any] = field(default_factory=dict)
    matched: str = ""
    layout: str = ""
    left_out: str = ""
    groups: dict[str, Any] = field(default_factory=dict)
    threshold_from: dict[str, Any] = field(default_factory=dict)
    version: str = __version__

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.definition.name

    @property
    def config(self) -> str:
        """Its configuration."""
        return self.definition.config

    @property
    def level(self) -> float | None:
        """The level of its intervals, None without any."""
        level: float | None = self.confidence.get("confidence_level") or self.correction.get("corrected_level")
        return level

    def signature(self, *, short: bool = False) -> str:
        """The result's signature.

        Args:
            short: leave out the options that have the paper's values (the metric and its version say them), and all of
                the digests but the first 12 digits.
        """
        options = self.options
        if short:
            usual = default_options(self.definition)
            options = {key: value for key, value in options.items() if value != usual.get(key)}
        parts = {"toxeval": self.version, "metric": self.metric}
        if self.config != "default" or not short:
            parts["config"] = self.config
        parts |= {key: _written(value) for key, value in options.items()}
        if self.answers:
            parts["answers"] = self.answers["rule"]
            parts |= {"aliases": _written(self.answers["aliases"])} if self.answers["aliases"] else {}
        if self.threshold_from:
            digest = self.threshold_from["sha256"]
            parts["threshold_by"] = _written(self.threshold_from["rule"])
            parts["validation_rows"] = str(self.threshold_from["n_rows"])
            parts["validation_sha256"] = digest[:12] if short else digest
        if self.groups:
            parts |= {name: _written(self.groups[name]) for name in ("by", "key", "min_rows")}
        parts |= {key: _written(value) for key, value in self.confidence.items()}
        parts |= {key: _written(value) for key, value in self.correction.items()}
        if short and self.correction:
            parts["human_sha256"] = parts["human_sha256"][:12]
        if len(self.runs) > 1:
            parts["runs"] = str(len(self.runs))
        if self.dataset or not short:
            parts["dataset"] = self.dataset.replace(":", "/") or "-"
        if self.layout and LAYOUTS[self.layout].signed:
            parts["format"] = self.layout
        parts["rows"] = str(self.n_rows)
        parts["sha256"] = self.digest[:12] if short else self.digest
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def to_json(self) -> str:
        """The result as a JSON document; undefined scores are null."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "signature": self.signature(),
            "signature_short": self.signature(short=True),
            "toxeval": self.version,
            "metric": self.metric,
            "config": self.config,
            "options": self.options,
            "detailed": self.detailed,
            **{name: getattr(self, name) or None for name in OPTIONAL},
            "n_rows": self.n_rows,
            "sha256": self.digest,
            "scores": self.scores,
        }
        if self.groups:
            content["groups"] = self.groups
        if self.runs:
            content |= {"runs": self.runs, "spread": self.spread}
        return json.dumps(plain(content), indent=2, allow_nan=False)


def correction(
    by: str, labelled: Sequence[State], level: float, *, judge_by_category: bool | None = None
) -> dict[str, Any]:
    """What a result says of its `Result.correction`; the states are those with the labels, and what isn't given isn't
    said.

    Args:
        by: "human" or "judge_on".
        labelled: states of verdicts and labels, of all systems.
        level: of the intervals.
        judge_by_category: see `corrected_scores`.
    """
    way = {} if judge_by_category is None else {"judge_by_category": judge_by_category}
    n_human, sha256 = sum(int(each.counts[HUMAN].sum()) for each in labelled), combined([*map(digest, labelled)])
    return {"corrected_by": by, **way, "corrected_level": level, "n_human": n_human, "human_sha256": sha256}


# --- options ------------------------------------------------------------------------------------------------------


def default_options(metric: Definition) -> dict[str, Any]:
    """Every option of a metric that changes its numbers, with the default."""
    return {option.name: option.check(option.default) for option in metric.options if option.changes_numbers}


def full_options(metric: Definition, given: Mapping[str, Any], inputs: Collection[str]) -> dict[str, Any]:
    """The options that were in force: those given and the defaults of the others."""
    usual = default_options(metric)
    options = metric.in_force(usual | metric.check_options({k: v for k, v in given.items() if k in usual}), inputs)
    later = {option.name for option in metric.options if option.later}
    return {key: value for key, value in options.items() if key not in later or value != usual[key]}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_written, value))
    if isinstance(value, dict):
        return ",".join(f"{key}={_written(value[key])}" for key in sorted(value))
    return "-" if value is None else str(value)


def plain(value: Any) -> Any:
    """A value as JSON has it: lists for tuples, null for nan."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


# --- rows ---------------------------------------------------------------------------------------------------------


def digest(state: State) -> str:
    """SHA-256 of the rows behind a state, the same for any order of rows and columns.

    The state holds all that the scores depend on: counts, and for rank metrics the scores and labels of the rows,
    which are sorted first.
    """
    # in which batch of a cluster or whether equal rows were counted: no matter
    rows = cluster_counts(state) if "cluster" in state.rows else state.compact().rows
    rows = {"counts" if key == MULTIPLICITY else key: values for key, values in rows.items()}  # its name in format 1
    whole = hashlib.sha256(f"rows {state.n_rows}".encode())
    for key in sorted(state.counts):
        array = np.asarray(state.counts[key])
        whole.update(f"|{key} {array.shape}".encode())
        whole.update(_bytes(array))
    if rows:
        whole.update(f"|{' '.join(sorted(rows))}".encode())
        columns = [part for key in sorted(rows) for part in rows[key].reshape(len(rows[key]), -1).T]
        order = np.lexsort(columns)
        for part in columns:
            whole.update(_bytes(part[order]))
    return whole.hexdigest()


def combined(digests: Sequence[str]) -> str:
    """One digest for several."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _bytes(array: np.ndarray) -> bytes:
    """The same on every machine; -0.0 is 0.0."""
    data: bytes = (array.astype("<i8") if array.dtype.kind in "iub" else array.astype("<f8") + 0.0).tobytes()
    return data


# --- verification -------------------------------------------------------------------------------------------------


def mismatches(reported: Result, signature: str, fresh: Result) -> list[tuple[str, Any, Any]]:
    """Where a reported result and a recomputed one differ: what, reported, recomputed.

    Other rows explain all the rest, and stand first.
    """
    found: list[tuple[str, Any, Any]] = []
    if reported.n_rows != fresh.n_rows:
        found.append(("n_rows", reported.n_rows, fresh.n_rows))
    found += differences(reported.scores, fresh.scores)
    found += differences(reported.correction, fresh.correction)
    found += differences(flat_groups(reported.groups), flat_groups(fresh.groups))
    found += [(f"spread of {key}", old, new) for key, old, new in differences(reported.spread, fresh.spread)]
    if reported.threshold_from and fresh.threshold_from:
        both = [(reported.threshold_from[key], fresh.threshold_from[key]) for key in ("n_rows", "sha256")]
        found += [("validation rows", old, new) for old, new in both if old != new]
    if reported.digest != fresh.digest:
        found.append(("digest", reported.digest, fresh.digest))
    if not found and len(reported.runs) == len(fresh.runs):
        pairs = enumerate(zip(*(sorted(runs, key=str) for runs in (reported.runs, fresh.runs))))
        found += [(f"{key} of run {i}", old, new) for i, (a, b) in pairs for key, old, new in differences(a, b)]
    expected = replace(fresh, version=reported.version).signature()
    if not found and signature != expected:
        found.append(("signature", signature, expected))
    return found


def flat_groups(groups: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of groups, each number under a key of its own.

    >>> flat_groups({"groups": [{"group": "en", "n_rows": 12, "scores": {"uca": 0.5}}]})
    {'n_rows of group en': 12, 'uca of group en': 0.5}
    """
    flat: dict[str, Any] = {}
    for record in groups.get("groups", []):
        for name, value in record.items():
            parts = {name: value} if name == "n_rows" else value if isinstance(value, dict) else {}
            flat |= {f"{key} of group {record['group']}": number for key, number in parts.items()}
    return flat


def differences(reported: Mapping[str, Any], recomputed: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Key, reported and recomputed value wherever they differ by more than `TOLERANCE`.

    >>> differences({"f1_macro": 0.551}, {"f1_macro": 0.556})
    [('f1_macro', 0.551, 0.556)]
    """
    keys = [*reported, *(key for key in recomputed if key not in reported)]
    pairs = [(key, reported.get(key, "not there"), recomputed.get(key, "not there")) for key in keys]
    return [(key, old, new) for key, old, new in pairs if not _same(old, new)]


def _same(a: Any, b: Any) -> bool:
    a, b = (math.nan if value is None else value for value in (a, b))
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    if isinstance(a, dict) and isinstance(b, dict):
        return not differences(a, b)
    return bool(math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
