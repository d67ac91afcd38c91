"""The paper recomputed: where the rankings come from, what is computed, what is written, which statements hold."""

from __future__ import annotations

import ast
import csv
import hashlib
import http.server
import json
import shutil
import socket
import threading
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import oracle
import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.errors import InputError
from fujiscore.paper import (
    build,
    compute,
    conventions,
    figures,
    forest,
    page,
    properties,
    record,
    scenarios,
    sources,
    study,
    theory,
    write,
)
from fujiscore.paper.record import CAVEAT, DATA_SETS, FAILS, HOLDS, STATEMENTS, UNCHECKED, VERDICTS, check

# The paper's Table 1: fully defined, bounded, maximum, correction for chance, rank scores.
TABLE_1 = {
    "fuji": "11111",
    "jaccard": "11100",
    "hamming": "11100",
    "pog": "11100",
    "npog": "10110",
    "kuncheva": "01110",
    "lustgarten": "11010",
    "wald": "10010",
    "krizek": "00100",
    "cwrel": "11000",
    "correlation": "01011",
    "pearson": "11110",
    "gamma": "01100",
}
# Mean areas on 1, 2, 4, ..., n over the 24 data sets: FUJI and Jaccard.
MEANS = {
    ("Genie3", "RForest"): (0.806, 0.450),
    ("Genie3", "relief"): (0.661, 0.330),
    ("Genie3", "mutual_info"): (0.749, 0.395),
    ("RForest", "relief"): (0.647, 0.252),
    ("RForest", "mutual_info"): (0.688, 0.268),
    ("relief", "mutual_info"): (0.701, 0.340),
}
TOP_MI = [7964, 18381, 17109, 5407, 18746, 6816, 8349, 7992, 5576, 6593]
TOP_RELIEF = [7964, 19236, 4773, 7896, 3921, 7965, 8891, 742, 15301, 19313]


# --- Where the rankings come from ---------------------------------------------------------------------------------


class Site(http.server.ThreadingHTTPServer):
    """A local copy of the authors' repository that can misbehave: file name to the number of bad answers to give."""

    def __init__(self, content):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.asked = content, []
        self.truncated, self.altered, self.failing = {}, {}, {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.strip("/")
        self.server.asked.append(name)
        body = self.server.content.get(name)
        if body is None:
            self.send_error(404)
            return
        if self._use_up(self.server.failing, name):
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self._use_up(self.server.altered, name):
            body = body[:-1] + b"x"
        self.wfile.write(body[: len(body) // 2] if self._use_up(self.server.truncated, name) else body)

    @staticmethod
    def _use_up(times, name):
        times[name] = times.get(name, 0) - 1
        return times[name] >= 0

    def log_message(self, *_):
        pass


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr(sources, "PAUSE", 0.0)
    server = Site({f"set_{i}.fimp": f"ranking {i}\n".encode() * 50 for i in range(6)})
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def wanted(site):
    return {name: hashlib.sha256(body).hexdigest() for name, body in site.content.items()}


def test_rankings_are_fetched_once(site, wanted, tmp_path):
    folder = sources.fetch(site.url + "/", tmp_path / "cache", wanted)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == site.content
    assert sorted(site.asked) == sorted(wanted)
    assert sources.fetch(site.url, folder, wanted) == folder
    assert len(site.asked) == len(wanted)


def test_a_damaged_file_in_the_cache_is_fetched_again(site, wanted, tmp_path):
    sources.fetch(site.url, tmp_path, wanted)
    (tmp_path / "set_3.fimp").write_bytes(b"cut")
    sources.fetch(site.url, tmp_path, wanted)
    assert site.asked[len(wanted) :] == ["set_3.fimp"]
    assert (tmp_path / "set_3.fimp").read_bytes() == site.content["set_3.fimp"]


@pytest.mark.parametrize("fault", ["truncated", "altered", "failing"])
def test_a_fault_that_passes_is_tried_again(site, wanted, tmp_path, fault):
    setattr(site, fault, {"set_2.fimp": sources.ATTEMPTS - 1})
    sources.fetch(site.url, tmp_path, wanted)
    assert site.asked.count("set_2.fimp") == sources.ATTEMPTS
    assert len(list(tmp_path.iterdir())) == len(wanted)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("truncated", "the transfer was interrupted"),
        ("altered", "SHA-256 sum differs"),
        ("failing", "the server answered 503"),
    ],
)
def test_a_fault_that_stays_is_named_and_nothing_wrong_is_kept(site, wanted, tmp_path, fault, words):
    setattr(site, fault, {"set_2.fimp": 100})
    with pytest.raises(InputError, match=words) as error:
        sources.fetch(site.url, tmp_path, wanted)
    text = str(error.value)
    assert f"{site.url}/set_2.fimp" in text
    assert str(tmp_path) in text
    assert "github.com/Petkomat/fuji-score" in text
    for path in tmp_path.iterdir():
        assert path.read_bytes() == site.content[path.name]
    assert not (tmp_path / "set_2.fimp").exists()


def test_a_file_that_is_not_there_is_not_asked_for_twice(site, wanted, tmp_path):
    del site.content["set_4.fimp"]
    with pytest.raises(InputError, match="404"):
        sources.fetch(site.url, tmp_path, wanted)
    assert site.asked.count("set_4.fimp") == 1


def closed_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_no_network_says_what_to_download_and_where_to_put_it(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "PAUSE", 0.0)
    with pytest.raises(InputError, match="no connection") as error:
        sources.fetch(f"http://127.0.0.1:{closed_port()}", tmp_path / "cache")
    for words in (
        "featureImportanceFiles",
        "96 .fimp files",
        str(tmp_path / "cache"),
        "name it in rankings",
        "--no-rankings",
    ):
        assert words in str(error.value)


def test_only_web_addresses_are_fetched(tmp_path):
    with pytest.raises(InputError, match="must begin with http"):
        sources.fetch(f"file://{tmp_path}", tmp_path)


def test_the_cache_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert sources.cache_folder() == tmp_path / "fujiscore" / "published_rankings"


def test_the_sums_are_those_of_24_data_sets_with_four_rankings():
    names = {f"{name}_{method}.fimp" for name in DATA_SETS for method in sources.METHODS}
    assert len(DATA_SETS) == 24
    assert set(sources.sums()) == names
    assert all(len(digest) == 64 for digest in sources.sums().values())


def test_a_folder_without_all_files_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        sources.load(tmp_path / "nowhere")
    (tmp_path / "sonar_relief.fimp").write_text("")
    with pytest.raises(InputError, match="95 of the 96 published files are missing"):
        sources.load(tmp_path)


@pytest.fixture(scope="session")
def rankings(shared):
    return shared / "data" / "published_rankings"


@pytest.fixture(scope="session")
def published(rankings):
    return sources.load(rankings)


def test_the_published_files_have_the_published_sums(rankings, published):
    assert sources.unpublished(rankings) == []
    assert [one.n for name, one in published.items() if name in {"genes", "p53"}] == [20531, 5408]
    assert all(one.names == sources.METHODS for one in published.values())


def test_the_published_files_pass_from_a_site_to_the_users_cache(site, rankings, tmp_path, monkeypatch):
    site.content = {path.name: path.read_bytes() for path in rankings.iterdir()}
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert sources.fetch(site.url) == sources.cache_folder()
    assert {path.name for path in sources.cache_folder().iterdir()} == set(sources.sums())


def test_an_altered_file_is_noticed(rankings, tmp_path):
    for path in rankings.iterdir():
        (tmp_path / path.name).symlink_to(path)
    other = tmp_path / "sonar_relief.fimp"
    text = other.read_text()
    other.unlink()
    other.write_text(text + "\n")
    assert sources.unpublished(tmp_path) == ["sonar_relief.fimp"]
    result = build.Reproduction([], sources.unpublished(tmp_path), 0.0)
    assert result.statements()["altered"] == ["sonar_relief.fimp"]
    assert "1 of the ranking files are not the published ones" in page.html(result, tmp_path)


# --- What needs no data -------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def without_rankings():
    return compute()


def by_statement(result, words):
    matching = [claim for claim in result.claims if words in claim.statement]
    assert len(matching) == 1, [claim.statement for claim in matching]
    return matching[0]


def test_the_declared_properties_are_the_papers():
    for name, row in TABLE_1.items():
        declared = fj.MEASURES[name].properties
        assert "".join("01"[getattr(declared, trait)] for trait in properties.TITLES) == row
    assert tuple(TABLE_1) == fj.PAPER_MEASURES
    columns = {key: row["statement"] for key, row in STATEMENTS.items() if row["section"] == "properties"}
    assert list(columns) == list(properties.TITLES)
    for index, (trait, title) in enumerate(properties.TITLES.items()):
        marked = ", ".join(fj.MEASURES[name].title for name, row in TABLE_1.items() if row[index] == "1")
        assert columns[trait] == f"The column “{title}”: {marked} have the property, the others do not."


def test_every_cell_of_the_table_of_properties():
    cells = {(cell.measure, cell.trait): cell for cell in properties.table()}
    assert len(cells) == 65
    assert all(cell.evidence for cell in cells.values())
    assert not [key for key, cell in cells.items() if cell.agreement == "differs"]
    apart = {key for key, cell in cells.items() if cell.paper != cell.computed}
    assert apart == {
        ("fuji", "chance_corrected"),
        ("correlation", "chance_corrected"),
        ("pog", "maximum"),
        ("npog", "maximum"),
        ("krizek", "bounded"),
    }


def test_a_wrong_mark_would_be_found():
    wrong = properties.Cell("jaccard", "uses_scores", paper=True, computed=False, evidence="")
    assert wrong.agreement == "differs"
    key, judged = properties.check_column("uses_scores", [wrong])
    assert (key, judged.verdict) == ("uses_scores", FAILS)
    assert judged.measured == "0 of 1 cells agree; 1 differ: Jaccard ()"


def test_cases_have_the_overlap_they_claim():
    for case in properties.cases(5, np.random.default_rng(0)):
        tops = [set(np.argsort(-scores)[:k].tolist()) for scores, k in ((case.r, case.k1), (case.s, case.k2))]
        assert len(tops[0] & tops[1]) == case.h
        assert [len(top) for top in tops] == [case.k1, case.k2]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_least_jaccard_area_by_brute_force(n):
    areas = []
    for order in permutations(range(n)):
        values = [len(set(range(k)) & set(order[:k])) for k in range(1, n + 1)]
        values = [h / (2 * k - h) for k, h in enumerate(values, 1)]
        areas.append((sum(values) - (values[0] + values[-1]) / 2) / (n - 1))
    assert min(areas) == pytest.approx(theory.least_jaccard_auc(n), abs=1e-14)


def test_the_proposition_on_fuji_is_false(without_rankings):
    r, s = theory.COUNTER_R.tolist(), sorted(theory.COUNTER_S.tolist())
    reverse = [float(oracle.fuji(oracle.Pair(r, s, k))) for k in (1, 2, 3, 4)]
    other = [float(oracle.fuji(oracle.Pair(r, [s[2], s[0], s[1], s[3]], k))) for k in (1, 2, 3, 4)]
    assert reverse[1] == pytest.approx(0.607, abs=5e-4)
    assert other[1] == pytest.approx(0.509, abs=5e-4)
    assert sum(other[1:3]) + other[0] / 2 < sum(reverse[1:3]) + reverse[0] / 2
    assert by_statement(without_rankings, "the reversed one is least similar by FUJI").judged.verdict == FAILS


def test_the_scenarios_are_the_papers():
    r, s = scenarios.reversed_pair(5.0)
    assert r.tolist() == [100, 95, 90, 85, 80, 75, 70, 65, 60, 55]
    assert s.tolist() == r.tolist()[::-1]
    r, s = scenarios.correlated_pair(1.0)
    assert r.tolist() == [100, 99, 80, 79, 60, 59, 40, 39, 20, 19]
    assert s.tolist() == [99, 100, 79, 80, 59, 60, 39, 40, 19, 20]
    r, s, t = scenarios.two_part(np.array([4.0, 3, 2, 1]))
    assert [np.argsort(-scores).tolist() for scores in (r, s, t)] == [[0, 1, 2, 3], [2, 3, 0, 1], [3, 2, 1, 0]]


def test_figures_keep_every_extreme():
    ks = np.arange(1, 20_001)
    values = np.random.default_rng(1).random(ks.size)
    shown = figures.thinned(ks, values)
    assert shown.size <= 4 * (figures.COLUMNS + 1)
    assert {0, ks.size - 1, int(values.argmin()), int(values.argmax())} <= set(shown.tolist())
    assert figures.thinned(np.arange(1, 6), values[:5]).tolist() == [0, 1, 2, 3, 4]


def test_verdicts():
    key, judged = check("top_gene", holds=True, rank=5)
    assert (key, judged.verdict, judged.measured) == ("top_gene", HOLDS, "its rank in RF is 5")
    assert check("top_gene", holds=True, caveat=True, rank=5)[1].verdict == CAVEAT
    assert check("top_gene", holds=False, caveat=True, rank=6)[1].verdict == FAILS


def test_a_check_that_lacks_a_value_or_a_section_that_lacks_a_check_is_an_error():
    with pytest.raises(KeyError, match="rank"):
        check("top_gene", holds=True)
    with pytest.raises(KeyError, match="top_relief"):
        record.make_section("genes", [check("top_mi", holds=True, genes="1, 2")])


def test_without_rankings_only_what_needs_them_stays_unchecked(without_rankings):
    parts = {section.title: [claim.judged.verdict for claim in section.claims] for section in without_rankings.sections}
    open_ones = {title for title, verdicts in parts.items() if UNCHECKED in verdicts}
    assert open_ones == {"The study on 24 data sets", "Case study: genes of the TCGA data"}
    for title in open_ones:
        assert set(parts[title]) == {UNCHECKED}
    assert sum(without_rankings.verdicts.values()) == len(without_rankings.claims) >= 40
    assert without_rankings.verdicts[HOLDS] >= 20


def test_every_statement_is_checked_by_one_section():
    rows = record.facts("statements.csv")
    assert [row["key"] for row in rows] == list(STATEMENTS)
    assert len(rows) == len(STATEMENTS) == 73
    sections = [row["section"] for row in rows]
    assert list(dict.fromkeys(sections)) == ["scenarios", "properties", "bounds", "chance", "study", "genes"]
    assert sections == sorted(sections, key=list(record.SECTIONS).index)
    names = {name for row in rows for name in row["rf"].split()}
    assert names <= {"all", *DATA_SETS}
    for row in rows:
        assert row["source"]
        assert row["statement"].endswith(".")
        assert row["how"].endswith(".")
        assert row["measured"]
        assert not row["measured"].endswith(".")  # the page adds it


def test_the_sections_say_what_was_searched():
    assert f" {scenarios.ITEMS} items" in record.SECTIONS["scenarios"]["text"]
    assert f"up to {properties.MOST_ITEMS} items" in record.SECTIONS["properties"]["text"]
    assert "ties closed" in record.SECTIONS["study"]["text"].splitlines()[1]


def test_raw_data_need_rankings(tmp_path):
    with pytest.raises(InputError, match="data needs the published rankings"):
        compute(None, tmp_path)


# --- The study ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def complete(rankings):
    return compute(rankings)


@pytest.mark.parametrize("pair", MEANS, ids="-".join)
def test_mean_areas(published, pair):
    for measure, mean in zip(("fuji", "jaccard"), MEANS[pair], strict=True):
        assert study.means(published, measure)[pair] == pytest.approx(mean, abs=0.003)


def test_top_genes(complete):
    table = next(table for section in complete.sections for table in section.tables if table.name == "genes")
    assert [row[1] for row in table.rows] == TOP_MI
    assert [row[4] for row in table.rows] == TOP_RELIEF


@pytest.mark.parametrize(
    ("words", "verdict", "figure"),
    [
        ("On average Genie3 and RF are the most similar pair", HOLDS, "0.806"),
        ("On average RF and Relief are the least similar pair", CAVEAT, "0.647"),
        ("The top Genie3 gene has rank 5", HOLDS, "rank in RF is 5"),
        ("rises to 0.5 at k = 4", FAILS, "first reaches 0.5 at k = 3"),
        ("falls again to 0.15 at k = 15", HOLDS, "0.154"),
        ("hold the same 18,000 or so", HOLDS, "2,116"),
        ("ten times less", HOLDS, "10.7"),
        ("The numbers of features in the table", CAVEAT, "24 of 24 data sets 1 more"),
        ("whose last score is 0", FAILS, "0.333"),
        ("Jaccard hardly", FAILS, "0.159 by FUJI and 0.198 by Jaccard"),
    ],
)
def test_verdicts_on_the_published_rankings(complete, words, verdict, figure):
    claim = by_statement(complete, words)
    assert claim.judged.verdict == verdict
    assert figure in claim.judged.measured


def test_everything_is_checked_and_statements_are_told_apart(complete, without_rankings):
    assert complete.verdicts[UNCHECKED] == 0
    statements = [claim.statement for claim in complete.claims]
    assert len(set(statements)) == len(statements)
    assert statements == [claim.statement for claim in without_rankings.claims]


def test_other_scores_give_other_verdicts(published):
    genes = published["genes"]
    same = [genes[name].scores for name in ("Genie3", "Genie3", "relief", "relief")]
    swapped = fj.Rankings(genes.names, same, genes.labels)
    for key in ("first_features", "top_gene"):
        assert dict(study.genes_ensembles(genes))[key].verdict == HOLDS
        assert dict(study.genes_ensembles(swapped))[key].verdict == FAILS


def test_top_ranks_and_tails_by_hand(published):
    """The checks on genes rest on the rankings' own order and scores: compare them with plain sorting."""
    genes = published["genes"]
    genie3, forest_scores = (genes[name].scores.tolist() for name in ("Genie3", "RForest"))
    best = max(range(genes.n), key=genie3.__getitem__)
    rank = 1 + sum(score > forest_scores[best] for score in forest_scores)
    assert dict(study.genes_ensembles(genes))["top_gene"].measured == f"its rank in RF is {rank}"
    total, count = 0.0, 0
    positive = sorted((max(score, 0.0) for score in forest_scores), reverse=True)
    while total < sum(positive) / 2:
        total, count = total + positive[count], count + 1
    assert study._half(genes["RForest"]) == pytest.approx(count / genes.n, abs=1.5 / genes.n)
    zeros = sum(a <= 0 and b <= 0 for a, b in zip(genie3, forest_scores, strict=True))
    assert study._skipped(genes[study.ENSEMBLES]) == pytest.approx(zeros / genes.n, abs=1e-3)


# --- Ties -----------------------------------------------------------------------------------------------------------


def test_comparisons_name_the_treatment_of_ties():
    compared = {"auc", "chance", "compare", "curve", "explain", "fuji", "pairwise", "score", "stability"}
    for path in Path(build.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in compared]
        calls = [node for node in used if isinstance(node.value, ast.Name) and node.value.id == "fj"]
        assert not calls or path.name == "conventions.py", path.name
    partials = [getattr(conventions, name) for name in ("auc", "compare", "explain", "score")]
    assert {one.keywords["ties"] for one in partials} == {"stable"}
    assert conventions.chance.keywords["ties"] == "closed"


def sparse_sets(count=40, n=300, positive=8):
    """Unrelated rankings with few positive scores: the worst case for ties broken by input order."""
    rng = np.random.default_rng(4)
    sets = {}
    for index in range(count):
        scores = np.zeros((4, n))
        for row in scores:
            row[rng.choice(n, positive, replace=False)] = rng.random(positive)
        sets[str(index)] = fj.Rankings(sources.METHODS, list(scores), [f"item {i}" for i in range(n)])
    return sets


@pytest.mark.parametrize("measure", ["fuji", "jaccard"])
def test_unrelated_rankings_with_ties_have_a_corrected_area_of_zero(measure):
    sets = sparse_sets()
    exact = study.means(sets, measure, corrected=True)
    assert max(map(abs, exact.values())) < 0.02
    # Ties broken by input order give another statistic, for which this null would be wrong.
    first = next(iter(sets.values()))
    null = conventions.chance(first["Genie3"], first["relief"], measure, ks="exp")
    assert null.exact
    if measure == "jaccard":
        assert min(abs(mean - null.expected_auc) for mean in study.means(sets, measure).values()) > 0.1


def test_corrected_areas_are_those_of_permutations(published):
    water = published["water_all"]
    r, s = (np.maximum(water[name].scores, 0.0) for name in ("Genie3", "RForest"))
    ks = [2**power for power in range(7)] + [water.n]
    rng = np.random.default_rng(5)

    def area(r, s):
        tops = [[{i for i in range(len(x)) if x[i] >= np.sort(x)[-k]} for k in ks] for x in (r, s)]
        values = [len(a & b) / len(a | b) for a, b in zip(*tops, strict=True)]
        return (sum(values) - (values[0] + values[-1]) / 2) / (len(ks) - 1)

    expected = np.mean([area(r, rng.permutation(s)) for _ in range(400)])
    by_hand = (area(r, s) - expected) / (1 - expected)
    corrected = conventions.areas(water[study.ENSEMBLES], measure="jaccard", ks="exp", corrected=True)[0, 1]
    assert corrected == pytest.approx(by_hand, abs=0.02)


# --- Correct RF -----------------------------------------------------------------------------------------------------


def test_rf_is_judged_twice_where_raw_data_are_at_hand(shared, published, tmp_path):
    (tmp_path / "sonar.parquet").symlink_to(shared / "data" / "datasets" / "sonar.parquet")
    corrected = forest.corrected_sets(tmp_path, published)
    assert set(corrected) == {"sonar", "digits"}
    section = forest.section(published, corrected)
    table = section.tables[0]
    digits = next(row for row in table.rows if row[0] == "digits")
    assert digits[2] == pytest.approx(0.748, abs=1e-3)
    assert digits[3] > 0.95
    assert digits[-1] > 0.95  # Genie3 agrees with the published one
    figure = section.figures[0]
    assert dict(zip(figure.numbers["data set"], figure.numbers["correct"], strict=True))["digits"] == digits[3]
    second = study.judge_again(published, corrected)
    assert second["most_similar"].verdict == HOLDS
    assert "with the published RF: " in second["most_similar"].measured
    assert second["top_gene"].verdict == UNCHECKED
    assert set(second) == {key for key, row in STATEMENTS.items() if row["rf"]}


def test_raw_data_that_do_not_fit_are_refused(published, tmp_path):
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="no such folder"):
        forest.corrected_sets(tmp_path / "nowhere", published)
    with pytest.raises(InputError, match="none of the data sets"):
        forest.corrected_sets(tmp_path, published)
    pq.write_table(pa.table({"attribute_1": [1.0, 2.0], "target": ["a", "b"]}), tmp_path / "sonar.parquet")
    with pytest.raises(InputError, match="59 are missing"):
        forest.corrected_sets(tmp_path, {"sonar": published["sonar"]})


# --- What is written ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def folder(complete, tmp_path_factory):
    out = tmp_path_factory.mktemp("written") / "paper"
    write(complete, out, progress=False)
    return out


def numbers(result):
    return {one.name: one.to_csv() for section in result.sections for one in (*section.tables, *section.figures)}


def test_two_runs_give_the_same_numbers(complete, rankings, folder):
    again = numbers(compute(rankings))
    assert again == numbers(complete)
    written = {path.stem: path.read_text(encoding="utf-8") for path in folder.rglob("*.csv")}
    assert written == again


def test_every_figure_is_written_with_its_numbers(complete, folder):
    from matplotlib.image import imread

    names = [figure.name for section in complete.sections for figure in section.figures]
    assert len([name for name in names if name.startswith("curves_")]) == 24
    for name in names:
        assert imread(folder / "figures" / f"{name}.png").shape[0] > 300
        assert ET.parse(folder / "figures" / f"{name}.svg").getroot().tag.endswith("svg")
        with (folder / "figures" / f"{name}.csv").open(encoding="utf-8") as file:
            assert len(list(csv.reader(file))) > 1
    assert {path.stem for path in (folder / "figures").iterdir()} == set(names)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.images, self.ids, self.open = [], [], set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given["id"]} if "id" in given else set()
        self.links += [given["href"]] if "href" in given else []
        self.images += [given["src"]] if "src" in given else []
        assert tag not in {"script", "link", "iframe"}
        if tag not in {"meta", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone(complete, folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert not page.open
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert all(image.startswith("data:image/png;base64,") for image in page.images)
    assert len(page.images) == sum(len(section.figures) for section in complete.sections)
    assert "url(" not in text
    assert "@import" not in text
    assert 'name="viewport"' in text
    assert "@media print" in text
    assert {f"c{number}" for number in range(1, len(complete.claims) + 1)} <= page.ids


def test_the_statements_are_written_in_full(complete, folder):
    content = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    assert [claim["number"] for claim in content["claims"]] == list(range(1, len(complete.claims) + 1))
    assert len(content["claims"]) >= 40
    markdown = (folder / "claims.md").read_text(encoding="utf-8")
    for claim in content["claims"]:
        assert claim["judged"]["verdict"] in VERDICTS
        assert claim["judged"]["measured"]
        assert claim["how"]
        assert f"## {claim['number']}. {claim['statement']}\n" in markdown


def test_the_manifest_lists_the_files(folder):
    content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert content["command"] == "fuji paper"
    assert {*content["files"], "manifest.json"} == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture
def small(without_rankings):
    """The last section of the part without data: two figures, one table."""
    return build.Reproduction(without_rankings.sections[3:4], (), 1.0)


def test_a_foreign_folder_is_left_alone(small, tmp_path):
    out = tmp_path / "paper"
    write(small, out, progress=False)
    (out / "notes.txt").write_text("mine")
    write(small, out, progress=False)  # ours: replaced, other files stay
    assert (out / "notes.txt").read_text() == "mine"
    (out / "index.html").write_text("somebody's page")
    with pytest.raises(InputError, match=r"changed since \(index.html\)"):
        write(small, out, progress=False)
    assert (out / "index.html").read_text() == "somebody's page"
    write(small, out, force=True, progress=False)
    assert (out / "index.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (out / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["paper"]


def test_a_run_that_fails_leaves_nothing(small, tmp_path):
    def fail(_):
        raise RuntimeError("no ink")

    figure = small.sections[0].figures[0]
    broken = type(figure)(figure.name, "", (3, 2), fail, figure.numbers)
    section = type(small.sections[0])("broken", (), (), (broken,))
    with pytest.raises(RuntimeError, match="no ink"):
        write(build.Reproduction([section], (), 0.0), tmp_path / "paper", progress=False)
    assert list(tmp_path.iterdir()) == []


# --- The command --------------------------------------------------------------------------------------------------


def run(*arguments, **environment):
    return CliRunner().invoke(fuji, ["paper", *map(str, arguments)], env=environment)


def test_the_command_without_rankings(tmp_path):
    done = run("--no-rankings", "--out", tmp_path / "paper")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("fuji paper: ")
    assert "not checked" in done.stdout
    assert "computing took" in done.stderr
    assert str(tmp_path / "paper" / "index.html") in done.stderr.replace("\n  ", "")
    assert (tmp_path / "paper" / "claims.md").is_file()


def test_the_command_prints_json_and_writes_nothing_unasked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("--no-rankings", "--json", "--quiet")
    assert done.exit_code == 0
    assert done.stderr == ""
    content = json.loads(done.stdout)
    assert content["command"] == "fuji paper"
    assert sum(content["verdicts"].values()) == len(content["claims"])
    assert list(tmp_path.iterdir()) == []


def test_the_command_offline(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PAUSE", 0.0)
    done = run(XDG_CACHE_HOME=str(tmp_path), FUJI_PAPER_URL=f"http://127.0.0.1:{closed_port()}")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "no connection" in done.stderr
    assert "--no-rankings" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_refuses_contradictions(tmp_path):
    done = run("--rankings", tmp_path, "--no-rankings")
    assert done.exit_code == 2
    assert "exclude each other" in done.stderr
    (tmp_path / "theirs.txt").write_text("")
    done = run("--no-rankings", "--out", tmp_path)
    assert done.exit_code == 2
    assert "force" in done.stderr
    assert [path.name for path in Path(tmp_path).iterdir()] == ["theirs.txt"]


def test_no_rankings_folder_that_is_wrong(tmp_path, rankings):
    shutil.copy(rankings / "sonar_relief.fimp", tmp_path)
    done = run("--rankings", tmp_path)
    assert done.exit_code == 2
    assert "95 of the 96" in done.stderr
