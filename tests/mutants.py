"""Faults put into the code by hand, one at a time, in a copy of the project: each must make some test fail.

    python tests/mutants.py [WORD ...]   # only faults whose file or text has one of these words

A fault is a line of a formula or of the reader as somebody might get it wrong. Prints those that no test notices, and
exits with 1 if there are any.
"""

import os
import queue
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
#: Copies in which faults are tried side by side.
COPIES = 2


#: pytest on a copy: an editable installation knows only the checkout's own metrics.
PYTEST = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "__editable__" not in repr(finder)]
sys.path.insert(0, "")
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


class Fault(NamedTuple):
    """What stands in a file, what is put there instead, and the tests that should notice."""

    file: str
    right: str
    wrong: str
    tests: str


CORE, READ = "toxeval/core", "toxeval/read"
COLLAB, SOLD, CONDA = "metrics/oracle_collab", "metrics/sold_macro_f1", "metrics/conda_joint"
DIA, THREAT = "metrics/dia_safety_rate", "metrics/threat_f1"
OF_COLLAB = "tests/metrics/test_oracle_collab.py tests/metrics/test_oracle_collab_rows.py"
OF_DIA = "tests/metrics/test_dia_safety_rate.py"
OF_THREAT = "tests/metrics/test_threat_f1.py"

FAULTS = [
    # corrected rates
    Fault(
        f"{CORE}/corrected_rates.py",
        "- 2 * together * a_down * b_up",
        "- 2 * together * a_up * b_down",
        "tests/core/test_corrected_rates.py",
    ),
    Fault(
        f"{CORE}/corrected_rates.py",
        "off_a, labelled, flagged, every)",
        "off_a, every, flagged, every)",
        "tests/core/test_corrected_rates.py",
    ),
    Fault(
        f"{CORE}/corrections.py",
        "tables.sum(axis=-1).all(axis=-1)",
        "tables.sum(axis=-1).any(axis=-1)",
        "tests/core/test_corrections.py",
    ),
    # scores of labels
    Fault(
        f"{CORE}/scoring.py", "whole = 2 * tp + fp + fn", "whole = tp + fp + fn", "tests/metrics/test_sold_macro_f1.py"
    ),
    Fault(
        f"{CORE}/scoring.py",
        "missing = np.equal(denominator, 0)",
        "missing = np.equal(denominator, 1)",
        "tests/core/test_groups.py tests/metrics/test_sold_macro_f1.py",
    ),
    Fault(
        f"{CORE}/scoring.py",
        'tp, predicted, f"no prediction',
        'tp, support, f"no prediction',
        "tests/metrics/test_sold_macro_f1.py",
    ),
    Fault(
        f"{CORE}/scoring.py",
        "weight = np.where(defined, weight, 0.0)",
        "weight = np.where(defined, weight, 1.0)",
        "tests/core/test_scoring.py tests/metrics/test_sold_macro_f1.py",
    ),
    Fault(
        f"{CORE}/scoring.py",
        "np.where(logits >= 0, 1.0, odds)",
        "np.where(logits > 0, 1.0, odds) * 1.0000001",
        "tests/core/test_scoring.py tests/metrics/test_one_decision.py",
    ),
    Fault(
        f"{CORE}/scoring.py",
        "combined = (group + references.astype(np.int64)) * width + predictions",
        "combined = predictions.astype(np.int64) * width + references",
        "tests/core/test_scoring.py tests/metrics/test_threat_f1.py",
    ),
    Fault(
        f"{SOLD}/scores.py",
        "support = [confusion[..., i, :].sum(axis=-1)",
        "support = [confusion[..., :, i].sum(axis=-1)",
        "tests/metrics/test_sold_macro_f1.py",
    ),
    Fault(
        f"{SOLD}/scores.py",
        "right, total = confusion[..., 0, 0] + confusion[..., 1, 1]",
        "right, total = confusion[..., 1, 1]",
        "tests/metrics/test_sold_macro_f1.py",
    ),
    Fault(
        f"{CONDA}/scores.py",
        "slots_right &= (reasons < 0) | (lengths > 0)",
        "slots_right &= (reasons < 0) | (lengths >= 0)",
        "tests/metrics/test_conda_joint.py tests/metrics/test_conda_joint_inputs.py",
    ),
    Fault(
        f"{CONDA}/scores.py",
        "~_rows_with_any(slots[0] != slots[1], lengths)",
        "_rows_with_any(slots[0] == slots[1], lengths)",
        "tests/metrics/test_conda_joint.py",
    ),
    Fault(
        f"{DIA}/scores.py",
        "replies[..., 1:INVALID].sum(axis=-1), replies[..., INVALID:]",
        "replies[..., 1:2].sum(axis=-1), replies[..., INVALID:]",
        OF_DIA,
    ),
    Fault(f"{DIA}/scores.py", "np.where(valid, n, 0)", "np.where(n, n, 0)", OF_DIA),
    Fault(f"{DIA}/scores.py", '("at_least", slice(1, INVALID))', '("at_least", slice(1, None))', OF_DIA),
    Fault(
        f"{DIA}/scores.py",
        '_put_rate(scores, f"{kind}_rate_micro", overall',
        '_put_rate(scores, f"{kind}_rate_micro", overall + 1',
        OF_DIA,
    ),
    Fault(
        f"{THREAT}/scores.py", "_probabilities(state) > threshold)", "_probabilities(state) >= threshold)", OF_THREAT
    ),
    Fault(
        f"{THREAT}/scores.py",
        "f1 = 2 * tp / (tp + fp + threats.n_rows)",
        "f1 = 2 * tp / (tp + fp + others.n_rows)",
        OF_THREAT,
    ),
    Fault(
        f"{THREAT}/scores.py",
        "below = probabilities[probabilities < cuts",
        "below = probabilities[probabilities <= cuts",
        OF_THREAT,
    ),
    Fault(
        f"{THREAT}/scores.py",
        'scores.proportion("prevalence", confusion[..., 1, :]',
        'scores.proportion("prevalence", confusion[..., :, 1]',
        OF_THREAT,
    ),
    # areas and the team of model and moderator
    Fault(
        f"{CORE}/ranking.py",
        "at_least = self.fp + self.fp_above",
        "at_least = self.fp + self.fp",
        "tests/core/test_ranking.py",
    ),
    Fault(
        f"{CORE}/ranking.py",
        "precision = ratio(self.tp, self.tp + self.fp, 0.0)",
        "precision = ratio(self.tp, self.tp + self.fp_above, 0.0)",
        "tests/core/test_ranking.py",
    ),
    Fault(
        f"{CORE}/ranking.py",
        "growth = ratio(passed, np.where(start > 1e-9, start, 0.0), 0.0)",
        "growth = ratio(passed, np.where(start > 1e-9, start + 1, 0.0), 0.0)",
        f"tests/core/test_ranking.py {OF_COLLAB}",
    ),
    Fault(
        f"{CORE}/ranking.py",
        "far = np.log1p((b - a) / a) - (b - a) / (2 * a * b)",
        "far = np.log1p((b - a) / a) + (b - a) / (2 * a * b)",
        f"tests/core/test_ranking.py {OF_COLLAB}",
    ),
    Fault(
        f"{CORE}/ranking.py",
        "head = totals[..., 1] - above[..., 1, 0]",
        "head = totals[..., 1] * 0",
        f"tests/core/test_ranking.py {OF_COLLAB}",
    ),
    Fault(f"{COLLAB}/curves.py", "Fraction(whole, 10**12)", "Fraction(whole, 10**18)", OF_COLLAB),
    Fault(
        f"{COLLAB}/curves.py",
        "score = float(everyone.nth(n - k))",
        "score = float(everyone.nth(min(n - 1, n - k + 1)))",
        OF_COLLAB,
    ),
    Fault(
        f"{COLLAB}/rows.py",
        "-np.abs(scores) if logits else np.minimum(scores, 1.0 - scores)",
        "-np.abs(scores) if logits else np.maximum(scores, 1.0 - scores)",
        OF_COLLAB,
    ),
    Fault(f"{COLLAB}/rows.py", 'searchsorted(threshold, "right")', 'searchsorted(threshold, "left")', OF_COLLAB),
    Fault(f"{COLLAB}/rows.py", "(n_wrong**2 + inversions) / (2.0", "(n_wrong**2 - inversions) / (2.0", OF_COLLAB),
    Fault(
        f"{COLLAB}/rows.py",
        "return np.minimum(bins, n_bins - 1, out=bins)",
        "return np.minimum(bins, n_bins - 2, out=bins)",
        OF_COLLAB,
    ),
    Fault(
        f"{CORE}/thresholds.py",
        "np.flatnonzero(wanted == np.nanmax(wanted))[-1]",
        "np.flatnonzero(wanted == np.nanmax(wanted))[0]",
        "tests/core/test_thresholds.py",
    ),
    # intervals, states, groups
    Fault(
        f"{CORE}/intervals.py",
        "spread = z2 * (successes * (1 - successes",
        "spread = z2 * (successes * (1 + successes",
        "tests/core/test_intervals.py",
    ),
    Fault(
        f"{CORE}/intervals.py",
        "np.quantile(values, (0.5 - level / 2, 0.5 + level / 2))",
        "np.quantile(values, (0.5 - level / 2, level))",
        "tests/core/test_intervals.py",
    ),
    Fault(
        f"{CORE}/intervals.py",
        "return 2 * jaccard / (1 + jaccard)",
        "return jaccard / (1 + jaccard)",
        "tests/core/test_intervals.py",
    ),
    Fault(
        f"{CORE}/differences.py",
        "factors = np.arange(len(order), 0, -1)",
        "factors = np.arange(len(order)) + 1",
        "tests/core/test_differences.py",
    ),
    Fault(
        f"{CORE}/differences.py",
        "return high if first < second else -low",
        "return high if first > second else -low",
        "tests/core/test_differences.py",
    ),
    Fault(
        f"{CORE}/group_columns.py",
        "np.cumsum(np.bincount(codes, minlength=n))",
        "np.cumsum(np.bincount(codes, minlength=n)) - 1",
        "tests/core/test_group_columns.py",
    ),
    Fault(
        f"{CORE}/ranking.py",
        "some = np.diff(np.append(starts, len(values))) > 0",
        "some = np.diff(np.append(starts, len(values))) > 1",
        "tests/core/test_groups.py",
    ),
    Fault(
        f"{CORE}/group_columns.py",
        "(letters[some][codes] == letters).all()",
        "True",
        "tests/core/test_group_columns.py",
    ),
    Fault(
        f"{CORE}/group_columns.py",
        "position[used] = np.arange(len(used))",
        "position[used] = 0",
        "tests/core/test_group_columns.py",
    ),
    Fault(
        f"{CONDA}/scores.py",
        "By(np.repeat(by.ids, arrays",
        "By(np.repeat(by.ids[::-1], arrays",
        "tests/core/test_groups.py",
    ),
    # answers
    Fault(
        f"{CORE}/invalid.py",
        "np.maximum(codes - np.int8(n_labels), np.int8(-1))",
        "np.maximum(codes - np.int8(n_labels + 1), np.int8(-1))",
        "tests/metrics/test_sold_macro_f1.py tests/metrics/test_dia_safety_rate.py tests/test_answers.py",
    ),
    # the reader
    Fault(f"{READ}/separated.py", "if {first + last, *inner} == {self._width - 1}:", "if False:", "tests/read"),
    Fault(f"{READ}/separated.py", "if set(map(len, rows)) - {self._width}:", "if False:", "tests/read"),
    Fault(
        f"{READ}/pairing.py",
        "positions[positions >= 0], at[positions >= 0]",
        "positions[positions >= 0], at[positions >= 0][::-1]",
        "tests/read",
    ),
    Fault(
        f"{READ}/pairing.py",
        "held = [slice_rows(part, n, None) if n_rows(part) > n else None",
        "held = [None",
        "tests/read",
    ),
    Fault(f"{READ}/cells.py", "bool((np.abs(numbers) < 2.0**53).all())", "True", "tests/read"),
    Fault(
        f"{READ}/cells.py",
        "if not NUMBER.fullmatch(text) and (text or each.kind == SCORE):",
        "if not NUMBER.fullmatch(text) and text:",
        "tests/read tests/cli/test_reading.py",
    ),
    Fault(f"{READ}/group_columns.py", "[cell or None for cell in cells]", "list(cells)", "tests/cli/test_by_group.py"),
]


def noticed(fault: Fault, copy: Path) -> bool:
    """Whether some test fails with a fault in a copy."""
    path = copy / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.right) < 1:
        raise SystemExit(f"{fault.file} has no {fault.right!r} any more: mend the list in {Path(__file__).name}")
    path.write_text(text.replace(fault.right, fault.wrong, 1), encoding="utf-8")
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                PYTEST,
                "-x",
                "-q",
                "-n",
                "0",
                "-m",
                "not slow",
                "-p",
                "no:cacheprovider",
                *fault.tests.split(),
            ],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            check=False,
        )
    finally:
        path.write_text(text, encoding="utf-8")
    if done.returncode not in (0, 1, 2):  # 2: an import fails, which is noticed, too
        raise SystemExit(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
    return done.returncode != 0


def main(words: list[str]) -> int:
    """Try the faults, and say which were noticed."""
    faults = [fault for fault in FAULTS if not words or any(word in f"{fault.file} {fault.right}" for word in words)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(COPIES) as pool:
        copies: queue.Queue[Path] = queue.Queue()
        for i in range(COPIES):
            ignored = shutil.ignore_patterns(".git", ".venv*", "*.egg-info", "__pycache__", "dist", "build")
            copies.put(Path(shutil.copytree(CHECKOUT, Path(folder) / str(i) / "toxeval", ignore=ignored)))

        def attempt(fault: Fault) -> bool:
            copy = copies.get()
            try:
                return noticed(fault, copy)
            finally:
                copies.put(copy)

        missed = 0
        for fault, found in zip(faults, pool.map(attempt, faults)):
            print(f"{'noticed' if found else 'NOT NOTICED'}: {fault.file}: {fault.wrong}", flush=True)
            missed += not found
    print(f"{len(faults) - missed} of {len(faults)} faults noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
