"""HTML reports: what a page holds is what the result says, names are data, files are whole."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.features import page as studies
from fujiscore.many import page as many
from fujiscore.pages.encode import log_grid, number, script_json, text, thinned
from fujiscore.pages.page import Reported, render
from fujiscore.pages.tops import tops
from fujiscore.pair import page as pairs
from fujiscore.pair.gates import Check, Verdict
from fujiscore.runs import page as queries

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script>",
    "\"'`&amp;",
    "\N{WOMAN}\u200d\N{GIRL}",
    "x" * 500,
    "\u05e9\u05dc\u05d5\u05dd\u202ex",  # right to left
    "a\u2028b",
    "\ud800",
    "\x1b[",
]


class Reader(HTMLParser):
    """Read a page: its tags, its attributes, and the text of each element."""

    def __init__(self):
        super().__init__()
        self.tags, self.links, self.scripts, self.words, self.inside = [], [], {}, [], None

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in {"src", "href"}]
        self.inside = known.get("type", "code") if tag == "script" else "style" if tag == "style" else None
        if known.get("http-equiv"):
            self.policy = known["content"]

    def handle_endtag(self, tag):
        self.inside = None if tag in {"script", "style"} else self.inside

    def handle_data(self, data):
        if self.inside:
            self.scripts[self.inside] = self.scripts.get(self.inside, "") + data
        else:
            self.words.append(data)


def read(page):
    html = page if isinstance(page, str) else Path(page).read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(html)
    reader.data = json.loads(reader.scripts["application/json"])
    return reader


def unpacked(packed, kind="<f4"):
    return np.frombuffer(base64.b64decode(packed), kind)


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(5)
    base = rng.lognormal(0, 1.5, 60)
    return {f"r{i}": {f"item {j}": value for j, value in enumerate(base * rng.lognormal(0, 0.4, 60))} for i in range(5)}


@pytest.fixture(scope="module")
def run_pair():
    rng = np.random.default_rng(6)
    lists = [{f"d{j}": float(v) for j, v in enumerate(rng.lognormal(size=12))} for _ in range(30)]
    other = [{item: score * rng.lognormal(0, 0.4) for item, score in one.items()} for one in lists]
    return {f"q{i}": one for i, one in enumerate(lists)}, {f"q{i}": one for i, one in enumerate(other)}


@pytest.fixture(scope="module")
def results(scores, run_pair):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    other = {name: {item: v**0.5 for item, v in one.items()} for name, one in scores.items()}
    found = {
        "Comparison": fj.compare(scores["r0"], scores["r1"], ("fuji", "jaccard", "kendall")),
        "Matrix": fj.pairwise(scores, corrected=True, p_values=True),
        "Stability": fj.stability(scores),
        "StabilityComparison": fj.stats.compare_stability(scores, other),
        "Study": fj.study(X, X[:, 0] > 0, ["relief", "mutual_information"], resamples=5, permutations=99),
        "RunComparison": fj.compare_runs(*run_pair, k=5),
        "Drift": fj.drift(scores["r0"], scores["r1"], reference_resamples=scores, current_resamples=other),
    }
    assert {type(one).__name__ for one in found.values()} == set(found)
    return found


def reported_classes():
    return {kind.__name__ for kind in Reported.__subclasses__()}


def test_every_kind_of_result_with_a_page_is_tested(results):
    assert reported_classes() == set(results)


@pytest.mark.parametrize(
    "name", ["Comparison", "Matrix", "Stability", "StabilityComparison", "Study", "RunComparison", "Drift"]
)
def test_pages_are_complete_and_load_nothing(results, name, tmp_path):
    path = results[name].report(tmp_path / "page.html")
    assert path == tmp_path / "page.html"
    html = path.read_text(encoding="utf-8")
    page = read(html)
    assert [link for link in page.links if not link.startswith("#")] == []
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", html)
    assert not {"img", "link", "iframe", "object"} & set(page.tags)
    for kind, code in (("script-src", page.scripts["code"]), ("style-src", page.scripts["style"])):
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in page.policy
    assert page.policy.startswith("default-src 'none'; ")
    words = " ".join(page.words)
    for note in results[name].notes:
        assert note in words
    assert len(html) < 400_000
    assert page.data["parts"]
    assert "Settings" in words


def test_pages_are_the_same_bytes_each_time(results, tmp_path):
    paths = [results["Matrix"].report(tmp_path / name) for name in ("a.html", "b.html")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_an_existing_file_is_replaced_with_force_only(results, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(fj.InputError, match=r"exists already\. Pass force=True"):
        results["Comparison"].report(path)
    assert path.read_text() == "mine"
    results["Comparison"].report(path, force=True)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(fj.InputError, match="existing folder"):
        results["Comparison"].report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(fj.InputError, match="folder"):
        results["Comparison"].report(tmp_path)


def test_names_are_data(tmp_path):
    rng = np.random.default_rng(1)
    first, second = (dict(zip(HOSTILE, rng.random(len(HOSTILE)).tolist(), strict=True)) for _ in range(2))
    both = fj.rankings({"<b>a</b>": first, "</title><script>": second})
    path = fj.compare(both[0], both[1]).report(tmp_path / "page.html")
    page = read(path)
    assert page.tags.count("script") == 2
    assert page.tags.count("title") == 1
    assert "<b>a</b>" in page.words
    shown = page.data["tops"][0]["items"]
    assert set(HOSTILE[:-2]) <= set(shown)
    assert {"\\ud800", "\\x1b["} <= set(shown)
    data = path.read_text(encoding="utf-8").split('id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(data)


def test_labels_of_any_kind_are_text():
    assert text(12) == "12"
    assert text("a\nb\x00") == "a\\nb\\x00"
    assert len(text("y" * 5000)) == 1000
    assert json.loads(script_json({"<&>\u2028": [1.5, None, "</script>"]})) == {"<&>\u2028": [1.5, None, "</script>"]}


def test_numbers_have_few_digits():
    assert number(np.float64(1 / 3)) == 0.33333
    assert number(float("nan")) is None
    assert number(None) is None
    assert number(123456789) == 123460000.0


def test_curves_on_the_page_are_those_of_the_result(results):
    result = results["Comparison"]
    part = pairs.comparison(result).parts[0]
    assert part["ks"] == result.ks.tolist()
    for line, (name, curve) in zip(part["lines"], result.curves.items(), strict=True):
        np.testing.assert_allclose(unpacked(line["values"]), curve.values, rtol=1e-6)
        if name in result.chance:
            np.testing.assert_allclose(unpacked(line["expected"]), result.chance[name].expected, rtol=1e-6)
            np.testing.assert_allclose(unpacked(line["corrected"]), result.chance[name].corrected, atol=1e-6)
    low, high = result.chance["fuji"].band()
    np.testing.assert_allclose(unpacked(part["lines"][0]["low"]), low, atol=1e-6)
    np.testing.assert_allclose(unpacked(part["lines"][0]["high"]), high, atol=1e-6)


def test_long_curves_are_thinned_on_a_log_grid_and_said_to_be():
    rng = np.random.default_rng(2)
    base = rng.lognormal(size=3000)
    result = fj.compare(base, base * rng.lognormal(0, 0.2, 3000), k=[777])
    part = pairs.comparison(result).parts[0]
    assert len(part["ks"]) <= 242
    assert {1, 2, 3, 777, 3000} <= set(part["ks"])
    assert part["said"] == f"Curves are thinned: {len(part['ks'])} of 3000 evaluated k, on a log grid."
    places = np.searchsorted(result.ks, part["ks"])
    np.testing.assert_allclose(unpacked(part["lines"][0]["values"]), result["fuji"].values[places], rtol=1e-6)


def test_grids_are_even_on_a_log_axis():
    assert log_grid(1, 10).tolist() == [1]
    assert log_grid(100, 3).tolist() == [1, 10, 100]
    assert thinned(np.arange(1, 6), 10).tolist() == [0, 1, 2, 3, 4]
    steps = np.diff(np.log(log_grid(10**6, 40)[10:]))
    assert steps.max() < 1.2 * steps.min()


@pytest.mark.parametrize("ties", ["closed", "stable"])
@pytest.mark.parametrize("cells", [20, 60, 10**6])
def test_tops_hold_every_item_down_to_their_depth(ties, cells):
    """Brute force: at each k up to the depth, both rankings' top sets are among the items of the page."""
    rng = np.random.default_rng(3)
    table = rng.integers(0, 12, (3, 40)).astype(float)
    rankings = fj.rankings(table)
    entry = tops(rankings, ties=ties, cells=cells)
    items = [int(name) for name in entry["items"]]
    ranks = unpacked(entry["ranks"], "<u4").reshape(3, -1)
    stored = unpacked(entry["scores"]).reshape(3, -1) * np.array(entry["scale"])[:, None]
    np.testing.assert_allclose(stored, table[:, items], rtol=1e-6)
    assert len(items) * 3 <= max(cells, 3)
    for row, scores in enumerate(table):
        order = sorted(range(40), key=lambda item: (-scores[item], item))
        for k in range(1, entry["depth"] + 1):
            last = scores[order[k - 1]]
            top = {i for i in range(40) if scores[i] >= last} if ties == "closed" else set(order[:k])
            assert top == {item for item, rank in zip(items, ranks[row], strict=True) if rank <= k}


def test_tops_of_truncated_lists_know_which_items_are_not_listed():
    both = fj.rankings({"a": {"x": 3.0, "y": 2.0}, "b": {"x": 1.0, "z": 5.0}}, missing="zero", universe=10)
    entry = tops(both)
    stored = dict(zip(entry["items"], unpacked(entry["scores"]).reshape(2, -1).T.tolist(), strict=True))
    assert np.isnan(stored["y"][1])
    assert np.isnan(stored["z"][0])


def test_tiny_scores_keep_their_ratios():
    entry = tops(fj.rankings([[1.0, 1e-60, 5e-61], [1e-60, 1.0, 3e-60]]))
    assert entry["wide"]
    stored = unpacked(entry["scores"], "<f8").reshape(2, -1) * np.array(entry["scale"])[:, None]
    assert sorted(stored.ravel().tolist()) == pytest.approx(sorted([1.0, 1e-60, 5e-61, 1e-60, 1.0, 3e-60]))


def test_equal_scores_that_do_not_fit_leave_no_items():
    entry = tops(fj.rankings(np.ones((2, 50))), cells=40)
    assert entry["items"] == []
    assert entry["depth"] == 0


def test_pair_curves_are_those_of_compare(scores):
    matrix = fj.pairwise(scores, corrected=True)
    curves = many.pair_curves(matrix)
    names = list(scores)
    values = [unpacked(line["values"]).reshape(10, -1) for line in curves["lines"]]
    expected = unpacked(curves["lines"][0]["expected"]).reshape(10, -1)
    for place, (i, j) in enumerate(combinations(range(5), 2)):
        result = fj.compare(scores[names[i]], scores[names[j]], ks=curves["ks"])
        np.testing.assert_allclose(values[0][place], result["fuji"].values, rtol=1e-6)
        np.testing.assert_allclose(values[1][place], result["jaccard"].values, rtol=1e-6)
        np.testing.assert_allclose(expected[place], result.chance["fuji"].expected, rtol=1e-6)


def test_many_pairs_have_no_curves(scores, monkeypatch):
    monkeypatch.setattr(many, "NUMBERS", 100)
    assert many.matrix_part(fj.pairwise(scores), 0)["curves"] is None


def test_two_collections_and_reordered_matrices_keep_their_rankings(scores):
    names = list(scores)
    few = {name: scores[name] for name in names[:2]}
    matrix = fj.pairwise(few, {name: scores[name] for name in names[2:]})
    assert matrix.rankings.names == tuple(names)
    turned = matrix.reordered([1, 0], [2, 0, 1])
    assert turned.rankings.names == ("r1", "r0", "r4", "r2", "r3")
    page = many.matrix(turned)
    assert page.parts[0]["columns"] == ["r4", "r2", "r3"]
    clustered = fj.pairwise(scores).clustered()
    assert clustered.rankings.names == clustered.names


def test_a_matrix_without_its_rankings_has_a_page(scores):
    from dataclasses import replace

    page = many.matrix(replace(fj.pairwise(scores), rankings=None))
    assert [part["kind"] for part in page.parts] == ["matrix"]
    assert "curves" not in page.parts[0]


@pytest.mark.parametrize("options", [{"negative": "split"}, {"negative": "clip"}, {"negative": "abs"}])
def test_signed_scores(options, tmp_path):
    result = fj.compare([3.0, -2.0, 1.0, -0.5], [1.0, 2.0, -3.0, -0.4], **options)
    page = read(result.report(tmp_path / "page.html"))
    assert ("signs" in page.data["tops"][0]) == (options["negative"] == "split")


def test_undefined_values_are_said_to_be(tmp_path):
    page = read(fj.compare([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], ("kendall",)).report(tmp_path / "page.html"))
    assert "undefined" in " ".join(page.words)


def test_a_page_says_what_the_command_says_of_chance():
    rising = [float(i) for i in range(20)]

    def said(r, s):
        return next(part["said"] for part in pairs.comparison(fj.compare(r, s)).parts if part["kind"] == "said")

    assert said(rising, [*rising[1:], 0.5])[0] == "p of an area: analytic"
    assert any(line.startswith("FUJI is above chance from k = ") for line in said(rising, [*rising[1:], 0.5]))
    assert "no p-value: every random ranking with these scores has this value" in said([1.0] * 20, rising)


def test_an_undefined_stability_is_not_a_number_in_the_verdict(tmp_path):
    constant = {"a": [0.0] * 5, "b": [0.0] * 5, "c": [5.0, 4.0, 3.0, 2.0, 1.0]}
    result = fj.stability(constant, corrected=True)
    assert np.isnan(result.value)
    words = " ".join(read(result.report(tmp_path / "page.html")).words)
    assert "Stability undefined over 3 rankings" in words
    assert not re.search(r"\bnan\b", words)


def test_few_items(tmp_path):
    for number_, lists in enumerate([([1.0], [2.0]), ([1.0, 2.0], [2.0, 1.0])]):
        assert read(fj.compare(*lists).report(tmp_path / f"{number_}.html")).data["parts"]


def test_runs_list_the_least_similar_queries_first(results):
    result = results["RunComparison"]
    gates = Verdict(
        (Check("mean", 0.5, 0.9, passed=False, text="mean 0.5"), Check("other", 1, 0, passed=True, text=""))
    )
    page = queries.run_comparison(result, gates)
    assert page.verdict.startswith("1 of 2 gates failed. FUJI")
    part = next(part for part in page.parts if part["kind"] == "queries")
    values = unpacked(part["values"]).reshape(len(part["columns"]), -1)
    assert (np.diff(values[0]) >= 0).all()
    np.testing.assert_allclose(values[0], np.sort(result.values()), rtol=1e-6)
    assert len(part["pairs"]) == 20


def test_ten_thousand_queries_weigh_little():
    rng = np.random.default_rng(7)
    a = {
        f"query {q}": {f"document {q}-{i}": float(v) for i, v in enumerate(rng.lognormal(size=10))}
        for q in range(10_000)
    }
    b = {q: {item: score * rng.lognormal(0, 0.5) for item, score in one.items()} for q, one in a.items()}
    assert len(render(queries.run_comparison(fj.compare_runs(a, b)))) < 3_000_000


def test_a_study_says_which_features_matter(results):
    page = studies.study(results["Study"])
    assert page.verdict.startswith("Best mean rank: 0, ")
    kinds = [part["kind"] for part in page.parts]
    assert kinds[0] == "matrix"
    assert kinds[-1] == "follow"


def test_long_columns_have_a_page_without_items(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(8)
    path = tmp_path / "long.parquet"
    parquet.write_table(pa.table({"item": np.arange(50_000), "a": rng.random(50_000), "b": rng.random(50_000)}), path)
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1000")
    result = fj.compare(fj.scan(path, score="a"), fj.scan(path, score="b"), ks="exp")
    page = read(result.report(tmp_path / "page.html"))
    assert page.data["tops"] == []
    assert page.data["parts"][0]["tops"] is None


COMMANDS = {
    "compare": "compare model_a.csv model_b.csv",
    "matrix": "matrix scores.csv --p-values --measure fuji --measure jaccard",
    "stability": "stability resamples_forest.csv resamples_tree.csv",
    "drift": "drift v1.csv v2.csv -r v1_seeds.csv -c v2_seeds.csv",
    "runs": "runs run_a.trec run_b.trec",
    "study": "study iris --resamples 3 --trees 5 --permutations 20 --method relief",
}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_commands_write_pages(name, tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    path = tmp_path / "page.html"
    arguments = [*COMMANDS[name].split(), "--html", str(path)]
    done = CliRunner().invoke(fuji, arguments)
    assert done.exit_code == 0, done.output
    assert f"page: {path}" in done.stderr
    before = path.read_bytes()
    again = CliRunner().invoke(fuji, arguments)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert path.read_bytes() == before
    assert CliRunner().invoke(fuji, [*arguments, "--force"]).exit_code == 0
    assert path.read_bytes() == before
    assert read(path).data["parts"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("compare model_a.csv model_b.csv --html page.txt", "--html must end in .html or .htm; got 'page.txt'"),
        ("compare model_a.csv model_b.csv --html nowhere/page.html", "the folder nowhere does not exist"),
        ("compare model_a.csv model_b.csv --html a.html --out a.html", "--out and --html must name two files"),
        ("compare model_a.csv model_b.csv --missing bounds --html a.html", "--html shows values, not bounds"),
        ("stability resamples_forest.csv --ranks --html a.html", "--html takes no --ranks"),
    ],
)
def test_careless_commands_are_refused(arguments, said, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    done = CliRunner().invoke(fuji, arguments.split())
    assert done.exit_code == 2
    assert said in done.stderr
