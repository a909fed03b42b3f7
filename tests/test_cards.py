"""The metric cards say what the metrics do: front matter, sections, every key, every option, every code block."""

import doctest
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml
from samples import SAMPLES, Sample, columns

import toxeval

every = pytest.mark.parametrize("name", toxeval.METRICS)

SECTIONS = ["Metric Description", "How to Use", "Inputs", "Output Values", "Values from Popular Papers", "Examples"]
SECTIONS += ["Limitations and Bias", "Citation", "Further References"]
COLORS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
CATEGORIES = ("offending_user", "risk_ignorance", "unauthorized_expertise", "toxicity_agreement", "biased_opinion")
_TARGETS = dict.fromkeys(("oc_accuracy", "oc_precision", "oc_recall", "oc_auroc"), 0.9)
_COSTS = {"review": 0.1, "false_positive": 1, "false_negative": 5}
#: Keys that are there only with options, several ways: option, or input that is another one, -> value.
WITH_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "dia_safety_rate": [{"invalid": "count"}],
    "oracle_collab": [{"targets": _TARGETS, "costs": _COSTS}, {"targets": _TARGETS, "moderator_labels": "references"}],
}


def card(name: str) -> str:
    return (Path(__file__).parent.parent / "metrics" / name / "README.md").read_text(encoding="utf-8")


def front_matter(name: str) -> dict[str, Any]:
    matter: dict[str, Any] = yaml.safe_load(card(name).split("---\n")[1])
    return matter


def section(text: str, title: str) -> str:
    match = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,3}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, title
    return match[2]


def tables(text: str) -> list[list[list[str]]]:
    """The tables: rows of cells, without the ruler."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    rows = [[[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]
    return [[row for row in table if not set("".join(row)) <= set("-: ")] for table in rows]


def listed(text: str, name: str) -> dict[str, list[str]]:
    """Key -> the other cells of its row, patterns written out."""
    keys = {}
    for table in tables(text):
        if table[0][0] == "key":
            for first, *rest in table[1:]:
                for key in re.findall(r"`([^`]+)`", first):
                    for written_out in expand(key, " ".join(rest), name):
                        assert written_out not in keys
                        keys[written_out] = rest
    return keys


def expand(key: str, description: str, name: str) -> list[str]:
    """``u_f1_<intent>`` for every value: those the row names in backticks, or the five categories, or every α."""
    match = re.search("<.*>", key)
    if not match:
        return [key]
    values: list[str] = {
        "<α>": [repr(alpha) for alpha in (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)],
        "<category>": list(CATEGORIES),
        "<target>": ["oc_accuracy", "oc_precision", "oc_recall", "oc_auroc"],
    }.get(match[0], re.findall(r"`([^`]+)`", description))
    assert values
    return [key.replace(match[0], value) for value in values]


def computed(name: str, detailed: bool) -> dict[str, Any]:
    """Every key the metric ever returns, over all ways of calling it, with a value."""
    keys: dict[str, Any] = {}
    for sample in [s for s in SAMPLES if s.metric == name]:
        for options in WITH_OPTIONS.get(name, [{}]):
            rows = [
                row | {k: row[v] for k, v in options.items() if isinstance(v, str) and v in row}
                for row in sample.complete
            ]
            settings = {k: v for k, v in options.items() if k not in rows[0]}
            keys |= sample.compute(rows, detailed=detailed, **settings)
    return keys


@every
def test_front_matter_is_what_the_hub_wants(name: str) -> None:
    matter = front_matter(name)
    assert set(matter) == {
        *("title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "app_file", "pinned", "tags", "description"),
        *("license", "short_description"),
    }
    assert matter["license"] == "apache-2.0"
    assert 20 < len(matter["short_description"]) <= 60
    assert (matter["sdk"], matter["app_file"], matter["pinned"]) == ("gradio", "app.py", False)
    assert matter["sdk_version"] == "6.31.0"
    assert matter["tags"] == ["evaluate", "metric"]
    assert {matter["colorFrom"], matter["colorTo"]} <= COLORS
    assert len(matter["emoji"].encode("utf-16-le")) <= 6
    assert not matter["emoji"].isascii()
    assert len(matter["description"]) > 20


@every
def test_sections_are_all_there_in_order(name: str) -> None:
    titles = re.findall(r"^##+ (.*)$", card(name), re.MULTILINE)
    assert [title for title in titles if title in SECTIONS] == SECTIONS
    assert all(section(card(name), title).strip() or title == "Output Values" for title in SECTIONS)


@every
def test_tables_list_what_compute_returns(name: str) -> None:
    text = section(card(name), "Output Values")
    plain, more = text.split("#### With `detailed=True`")
    keys, detailed_keys = listed(plain, name), listed(more, name)
    assert set(keys) == set(computed(name, False))
    assert not set(keys) & set(detailed_keys)
    assert set(keys) | set(detailed_keys) == set(computed(name, True))


@every
def test_ranges_hold_and_say_which_way_is_better(name: str) -> None:
    keys = listed(section(card(name), "Output Values"), name)
    for key, value in computed(name, True).items():
        scale, better = keys[key][-2:]
        assert better in ("higher", "lower", "–")
        if scale.startswith("["):
            low, high = (float(eval(part.replace("∞", "1e999"))) for part in scale.strip("[]").split(","))
            assert low <= value <= high
        else:
            low_text, high_text = scale.split("…")
            assert int(low_text) <= value
            assert high_text.strip() in ("n", "t", "")
        assert (type(value) is int) <= (not scale.startswith("["))


@every
def test_groups_are_compared_the_way_that_is_better(name: str) -> None:
    keys = listed(section(card(name), "Output Values"), name)
    for sample in [s for s in SAMPLES if s.metric == name]:
        metric = sample.load(**sample.needed)
        scores = metric.score(metric.state(**columns(sample.complete)), detailed=True)
        for key in scores.values.keys() - scores.notes:
            assert metric.definition.better(key) == keys[key][-1].strip("–"), key


@every
def test_the_key_for_the_best_model_exists(name: str) -> None:
    match = re.search(r"\*\*`metric_for_best_model`:\*\* `([^`]+)`", section(card(name), "Output Values"))
    assert match
    assert match[1] in computed(name, False)
    key_rows = listed(section(card(name), "Output Values"), name)
    assert key_rows[match[1]][-1] == "higher"  # what the Trainer takes for better unless told otherwise


@every
def test_inputs_and_options_are_listed_with_their_defaults(name: str) -> None:
    definition = toxeval.load(name).definition
    inputs, options = ({row[0].strip("`"): row[1:] for row in t[1:]} for t in tables(section(card(name), "Inputs"))[:2])
    hidden = {"cluster"}  # belongs to the intervals
    assert set(inputs) - hidden == {each.name for each in definition.inputs} - hidden
    defaults = {option.name: option.default for option in definition.options}
    assert set(options) >= set(defaults)
    del defaults["review_strategy" if name == "oracle_collab" else "detailed"]  # None says which by other inputs
    for option, default in defaults.items():
        said = options[option][0].strip("`").replace('"', "'")
        assert said in ("–" if default is None else repr(default), str(default)[1:-1])


@every
def test_every_code_block_runs(name: str, in_checkout: Path) -> None:
    text, names = card(name), {}
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    fences = re.findall(r"^```(\w+)$", text, re.MULTILINE)
    assert set(fences) <= {"python", "py", "bibtex"}
    assert fences.count("py") == text.count("<!-- not run: downloads the data -->\n```py\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, block in enumerate(blocks):
            if ">>>" in block:
                block = block.replace("\nValueError: ", "\ntoxeval.core.refusals.Refusal: ")  # which is one
                test = doctest.DocTestParser().get_doctest(block, names, f"block {i}", "README.md", 0)
                runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
                runner.run(test, clear_globs=False)
                assert runner.failures == 0
                names = test.globs
            else:
                exec(compile(block, f"{name}/README.md block {i}", "exec"), names)


@every
def test_citations_agree(name: str) -> None:
    keys = [re.findall(r"@\w+\{([^,]+),", t) for t in (section(card(name), "Citation"), toxeval.load(name).citation)]
    assert keys[0] == keys[1]


def test_every_metric_has_a_sample_of_each_way() -> None:
    assert {sample.metric for sample in SAMPLES} == set(toxeval.METRICS)
    assert all(isinstance(sample, Sample) and columns(sample.complete) for sample in SAMPLES)
