"""The worked examples run, show what their pages say, and the pages show what they print."""

from __future__ import annotations

import re
import runpy
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("networkx")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[2]
MAKE = runpy.run_path(str(ROOT / "docs" / "make_examples.py"))
PAGES, NAMES = MAKE["PAGES"], MAKE["NAMES"]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])")
LARGEST = 80_000


def numbers(text):
    """Return the numbers in a text."""
    return [float(number) for number in NUMBER.findall(text)]


def row(output, start):
    """Return the numbers of the first line that starts so."""
    return numbers(next(line.removeprefix(start) for line in output.splitlines() if line.startswith(start)))


def section(output, title):
    """Return the lines from a title to the next empty line."""
    return output.split(f"{title}\n")[1].split("\n\n")[0]


# What the pages conclude, each from what the script prints.


def centralities(output):
    assert "least similar: eigenvector and betweenness" in output
    assert row(output, "")[:2] == [77, 254]
    assert "0 of 10 pairs could be chance" in output
    raw, corrected = (row(part, "betweenness") for part in output.split("corrected for chance:"))
    degree, closeness = 0, 2
    assert raw[closeness] > raw[degree]
    assert corrected[closeness] < corrected[degree]


def importance_drift(output):
    fresh, faulty = output.strip().split("\n\n")
    assert fresh.startswith("new data: no more than between resamples")
    assert faulty.startswith("faulty join: beyond the noise between resamples")
    assert [part.rpartition(": ")[2] for part in (fresh, faulty)] == ["passed", "failed"]
    before, now = row(faulty, "  accuracy")
    assert abs(now - before) < 0.02
    first = next(line for line in faulty.splitlines() if ": rank " in line)
    assert first.strip().startswith("worst perimeter: rank 1 to ")


def two_explainers(output):
    explainers, seeds, rows = (
        row(output, start)
        for start in ("occlusion, Shapley  ", "Shapley, another seed", "occlusion, Shapley of another row")
    )
    for measure in range(2):
        assert rows[measure] < explainers[measure] < seeds[measure] < 1
    assert seeds[0] - explainers[0] < 0.1 < explainers[0] - rows[0]


def tree_splits(output):
    sample, criterion, neither = (row(output, word) for word in ("sample", "criterion", "neither"))
    assert sample[1] > criterion[1] + 0.2
    assert abs(criterion[1] - neither[1]) < 0.1
    size, shape = r"worst (area|perimeter|radius)", r"(mean|worst) concave points"
    roots = [line.split(" on ")[1].split(", ") for line in output.splitlines() if line.startswith("  split at")]
    assert len(roots) == 2
    for pattern in (size, shape):
        assert sum(all(re.fullmatch(pattern, feature) for feature in features) for features in roots) == 1


def performance_metrics(output):
    for name, differs in (("breast cancer", True), ("digits", True), ("diabetes", False)):
        labels, others, _ = row(section(output, name), "accuracy, F1 and Matthews among each other")
        assert (labels - others > 0.1) == differs


def attention(output):
    groups = {line.split(": ")[1] for line in output.splitlines() if line.startswith("group")}
    assert groups == {", ".join(f"{task} {number}" for number in (1, 2, 3)) for task in ("topic", "sentiment")}
    assert row(output, "one word that tells both")[0] > row(output, "a word for each")[0] + 0.1
    asked, each = row(output, "of the")
    assert each == asked


def gene_lists(output):
    assert row(output, "")[:3] == [100, 100, 13]
    table = {size: values for size, *values in map(numbers, output.split("p-value\n")[1].splitlines())}
    assert table[187][-1] > 0.5
    assert table[17_611][-1] < 1e-4
    assert [chance for chance, *_ in table.values()] == sorted((chance for chance, *_ in table.values()), reverse=True)


def search_gate(output):
    assert re.findall(r"exit code (\d)", output) == ["0", "1", "0", "0"]
    assert output.count("FAILED: ") == 2
    assert row(output, "q1") == [1, 1, 1]


def nearest_neighbours(output):
    table = [numbers(line) for line in output.split("Jaccard\n")[1].splitlines()]
    assert all(len(line) == 8 for line in table)
    for one, more in pairwise(table):
        assert all(a <= b for a, b in zip(one, more, strict=True))
    for _, _, recall, within, plain, low, high, jaccard in table:
        assert jaccard <= plain <= within <= recall
        assert jaccard <= low <= high
    assert table[-1][1:] == [1] * 7


FACTS = {
    check.__name__: check
    for check in (
        attention,
        centralities,
        gene_lists,
        importance_drift,
        nearest_neighbours,
        performance_metrics,
        search_gate,
        tree_splits,
        two_explainers,
    )
}


def test_every_example_is_checked():
    assert tuple(sorted(FACTS)) == NAMES


# Examples that train models or build indexes take their time.
SLOW = {"attention", "importance_drift", "nearest_neighbours", "performance_metrics", "tree_splits", "two_explainers"}


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.slow if one in SLOW else ()) for one in FACTS])
def test_an_example(name, tmp_path):
    """It runs without a warning, draws its figure, shows what its page concludes; the page shows what it prints."""
    picture = tmp_path / "figure.png"
    output = MAKE["run"](name, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    FACTS[name](output)
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- output -->\n```text\n(.*?)```\n", page, flags=re.DOTALL)[1]
    # Libraries of other versions round differently.
    assert NUMBER.sub("#", shown).split() == NUMBER.sub("#", output).split(), "run python docs/make_examples.py"
    assert numbers(shown) == pytest.approx(numbers(output), rel=0.05, abs=0.021), "run python docs/make_examples.py"


@pytest.mark.parametrize("name", NAMES)
def test_the_page(name):
    """Its code is that of the script, its figure small, and every number in its text is in the output or the script."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- output -->\n```text\n(.*?)```\n", text, flags=re.DOTALL)[1]
    assert MAKE["filled"](name, text, shown) == text
    assert f"]({name}.png)" in text
    assert (PAGES / f"{name}.png").stat().st_size < LARGEST
    script = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL).replace(",", "")
    known = {*numbers(shown), *numbers(script.replace("_", "").replace(",", " "))}
    assert set(numbers(prose)) - {0, 1} <= known


@pytest.mark.parametrize("name", [*NAMES, "index"])
def test_links_lead_somewhere(name):
    page = PAGES / f"{name}.md"
    targets = re.findall(r"\]\(([^)#:]+)", page.read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_gallery_has_every_example():
    gallery = (PAGES / "index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+)\.md\)", gallery)) == sorted(NAMES)
    assert sorted(re.findall(r'src="(\w+)\.png"', gallery)) == sorted(NAMES)
