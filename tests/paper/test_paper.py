"""The paper recomputed: where the rankings come from, what is computed, what is written, which statements hold."""

from __future__ import annotations

import ast
import csv
import hashlib
import http.server
import json
import re
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
from fujiscore.paper.record import CAVEAT, DATA_SETS, DIFFERS, FAILS, HOLDS, STATEMENTS, UNCHECKED, VERDICTS, check

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


def test_the_table_of_data_sets_is_the_papers(shared):
    paper = (shared / "paper" / "fuji.tex").read_text(encoding="utf-8").replace("biodegredability", "biodegradability")
    lines = re.findall(r"^([\w -]+?) *\\cite\{\S+\} *& *(\d+) *& *(\d+) *&", paper, re.MULTILINE)
    assert sorted(lines) == sorted((row["title"], row["columns"], row["examples"]) for row in DATA_SETS.values())


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


def test_the_marks_are_the_papers():
    for name, row in TABLE_1.items():
        assert "".join("01"[properties.paper_mark(name, trait)] for trait in properties.TITLES) == row
    assert tuple(TABLE_1) == fj.PAPER_MEASURES
    columns = {key: row["statement"] for key, row in STATEMENTS.items() if row["section"] == "properties"}
    assert list(columns) == [*properties.TITLES, "ten_others"]
    for index, (trait, title) in enumerate(properties.TITLES.items()):
        marked = ", ".join(fj.MEASURES[name].title for name, row in TABLE_1.items() if row[index] == "1")
        assert columns[trait] == f"The column “{title}”: {marked} have the property, the others do not."


def test_every_cell_of_the_table_of_properties():
    cells = {(cell.measure, cell.trait): cell for cell in properties.table()}
    assert len(cells) == 65
    assert all(cell.evidence for cell in cells.values())
    differing = {key for key, cell in cells.items() if cell.agreement == "differs"}
    assert differing == {("fuji", "chance_corrected"), ("correlation", "chance_corrected")}
    assert not any(fj.MEASURES[measure].properties.chance_corrected for measure, _ in differing)
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


def test_a_check_that_lacks_a_value_or_a_section_that_lacks_a_check_is_an_error():
    with pytest.raises(KeyError, match="rank"):
        check("top_gene")
    with pytest.raises(KeyError, match="top_relief"):
        record.make_section("genes", [check("top_mi", differing=0, genes="1, 2")])


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
    assert sorted(int(row["number"]) for row in rows) == list(range(1, 82))
    sections = [row["section"] for row in rows]
    assert list(dict.fromkeys(sections)) == ["scenarios", "properties", "bounds", "chance", "study", "genes"]
    places = [(list(record.SECTIONS).index(row["section"]), int(row["number"])) for row in rows]
    assert places == sorted(places)
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
    assert f"at k = {study.SHUFFLED_AT} " in STATEMENTS["curves_meet"]["how"]
    assert f"mean of {study.SHUFFLES} orders" in STATEMENTS["curves_meet"]["how"]


def test_raw_data_need_rankings(tmp_path):
    with pytest.raises(InputError, match="data needs the published rankings"):
        compute(None, tmp_path)


@pytest.mark.parametrize(
    ("number", "verdict", "figure"),
    [
        (15, CAVEAT, "where each has its own, smaller in"),
        (19, FAILS, "11 of 13 cells agree; 2 differ: FUJI"),
        (22, DIFFERS, "0.333"),
        (31, FAILS, "n = 3, 4, 5, 6, 7"),
        (39, FAILS, "terms"),
        (74, CAVEAT, "correlation exceeds 0.9 at 80% of k"),
        (75, FAILS, "12 scores beside FUJI: Jaccard and 11 others"),
        (76, FAILS, "8,000 for Jaccard"),
    ],
)
def test_verdicts_without_rankings(without_rankings, number, verdict, figure):
    claim = without_rankings.claims[number - 1]
    assert (claim.number, claim.judged.verdict) == (number, verdict)
    assert figure in claim.judged.measured


# --- The pages on chance and on the study -------------------------------------------------------------------------

DOCS = Path(__file__).parents[2] / "docs"


def table_rows(page, heading):
    """Return the rows of the first table after a heading: name to cells."""
    text = (DOCS / page).read_text(encoding="utf-8").split(heading, 1)[1]
    lines = text.split("\n## ")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {name: cells for name, *cells in rows}


def pairs_of(header):
    return [frozenset(title.replace(" and ", ", ").split(", ")) for title in header]


def test_the_pages_on_chance_and_on_the_study_have_the_same_numbers():
    chance = table_rows("chance.md", "## The published rankings, corrected")
    single = table_rows("study.md", "## Single data sets, published rankings")
    places = pairs_of(chance["data set"])
    compared = 0
    for name, cells in single.items():
        if name in {"data set", "---"} or name not in chance:
            continue
        for pair, cell in zip(pairs_of(single["data set"]), cells, strict=True):
            raw, _, corrected = chance[name][places.index(pair)].replace("*", "").split(" / ")
            for short, long in zip((raw, corrected), cell.split(" / "), strict=True):
                assert abs(float(short) - float(long)) < 0.0056, (name, pair)
                compared += 1
    assert compared == 8 * 6 * 2
    means = table_rows("study.md", "## Means over the data sets")
    for pair, cell in zip(places, chance["**mean**"], strict=True):
        raw, _, corrected = cell.replace("*", "").split(" / ")
        row = next(cells for name, cells in means.items() if frozenset(name.split(" and ")) == pair)
        assert abs(float(raw) - float(row[0])) < 0.0056
        assert abs(float(corrected) - float(row[1])) < 0.0056


def test_the_page_on_the_paper_has_the_rates_of_violation(without_rankings):
    tables = [table for section in without_rankings.sections for table in section.tables]
    rows = next(table for table in tables if table.name == "violations").rows
    text = " ".join((DOCS / "paper.md").read_text(encoding="utf-8").split())
    forms = {4: "{:.0%} (Pareto with exponent 0.3) to {:.0%} (uniform)", 6: "{:.0%} to {:.0%}", 7: "{:.0%} to {:.0%}"}
    for n, words in forms.items():
        shares = {name: share for name, items, _, _, share, _ in rows if items == n}
        assert (min(shares, key=shares.get), max(shares, key=shares.get)) == ("Pareto(0.3)", "uniform")
        assert words.format(min(shares.values()), max(shares.values())).replace("%", " %") in text


def test_both_pages_come_from_one_function():
    for script in ("make_chance.py", "make_study.py"):
        tree = ast.parse((DOCS / script).read_text(encoding="utf-8"))
        used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not used & {"pairwise", "chance", "compare", "read"}, script
        assert "top_weighted" in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}, script


# --- The rules ----------------------------------------------------------------------------------------------------

# Made-up measurements, and the verdict that each statement's rule must give: every verdict that it can give.
MADE_UP = {
    "reversed_to_one": [
        (HOLDS, {"far": 0.0009, "area_falls": True}),
        (FAILS, {"far": 0.001, "area_falls": True}),
        (FAILS, {"far": 0.0, "area_falls": False}),
    ],
    "reversed_low": [
        (HOLDS, {"top": 0.49, "area_falls": True}),
        (FAILS, {"top": 0.5, "area_falls": True}),
        (FAILS, {"top": 0.1, "area_falls": False}),
    ],
    "reversed_only_fuji": [
        (HOLDS, {"others": 1e-13, "fuji": 0.2, "area_falls": False}),
        (CAVEAT, {"others": 1e-13, "fuji": 0.2, "area_falls": True}),
        (FAILS, {"others": 0.01, "fuji": 0.2, "area_falls": True}),
        (FAILS, {"others": 0.0, "fuji": 0.05, "area_falls": False}),
    ],
    "reversed_minus_one": [(HOLDS, {"distance": 1e-13}), (FAILS, {"distance": 1e-11})],
    "correlated_jaccard": [
        (HOLDS, {"off": 0.0, "change": 0.0}),
        (FAILS, {"off": 0.1, "change": 0.0}),
        (FAILS, {"off": 0.0, "change": 0.1}),
    ],
    "correlated_fuji": [
        (HOLDS, {"fuji": 0.1, "jaccard": 0.2, "least_fuji": 0.91, "least_falls": True}),
        (FAILS, {"fuji": 0.3, "jaccard": 0.2, "least_fuji": 0.91, "least_falls": True}),
        (FAILS, {"fuji": 0.1, "jaccard": 0.2, "least_fuji": 0.9, "least_falls": True}),
        (FAILS, {"fuji": 0.1, "jaccard": 0.2, "least_fuji": 0.91, "least_falls": False}),
    ],
    "correlated_gamma": [
        (HOLDS, {"start": -1.0, "end_off": 0.008, "rises": True}),
        (FAILS, {"start": -0.9, "end_off": 0.008, "rises": True}),
        (FAILS, {"start": -1.0, "end_off": 0.02, "rises": True}),
        (FAILS, {"start": -1.0, "end_off": 0.008, "rises": False}),
    ],
    "correlated_correlation": [
        (HOLDS, {"before": -0.1, "after": 0.91}),
        (FAILS, {"before": 0.0, "after": 0.91}),
        (FAILS, {"before": -0.1, "after": 0.9}),
    ],
    "none_other": [
        (HOLDS, {"best_least": 0.8, "seen": 0.5}),
        (CAVEAT, {"best_least": 0.8, "seen": 0.6}),
        (FAILS, {"best_least": 0.95, "seen": 1.0}),
    ],
    "steadiest": [
        (HOLDS, {"both": 1.0, "next_best": 2.0, "correlation_whole": 1.0, "next_whole": 2.0}),
        (CAVEAT, {"both": 1.0, "next_best": 2.0, "correlation_whole": 2.1, "next_whole": 2.0}),
        (FAILS, {"both": 2.1, "next_best": 2.0, "correlation_whole": 1.0, "next_whole": 2.0}),
    ],
    "hamming_like_fuji": [(HOLDS, {"apart": 0.09}), (FAILS, {"apart": 0.1})],
    "one_curve": [(HOLDS, {"apart": 1e-13}), (FAILS, {"apart": 1e-11})],
    "two_part_jaccard": [(HOLDS, {"apart": 1e-13}), (FAILS, {"apart": 1e-11})],
    "two_part_order": [(HOLDS, {"differing": 0}), (FAILS, {"differing": 1})],
    "two_part_fuji": [
        (HOLDS, {"losses": 0, "free_losses": 0}),
        (CAVEAT, {"losses": 0, "free_losses": 1}),
        (FAILS, {"losses": 1, "free_losses": 1}),
    ],
    "two_part_correlation": [
        (HOLDS, {"losses": 0, "free_losses": 0}),
        (CAVEAT, {"losses": 0, "free_losses": 1}),
        (FAILS, {"losses": 1, "free_losses": 0}),
    ],
    **{
        trait: [
            (HOLDS, {"differing": 0, "with_caveat": 0}),
            (CAVEAT, {"differing": 0, "with_caveat": 1}),
            (FAILS, {"differing": 1, "with_caveat": 0}),
        ]
        for trait in properties.TITLES
    },
    "ten_others": [(HOLDS, {"others": 10}), (FAILS, {"others": 11}), (FAILS, {"others": 9})],
    "scale": [(HOLDS, {"change": 1e-13}), (FAILS, {"change": 1e-11})],
    "zero_tail": [
        (HOLDS, {"definition_off": 0.0, "algorithm_off": 0.0}),
        (DIFFERS, {"definition_off": 0.0, "algorithm_off": 0.1}),
        (FAILS, {"definition_off": 0.1, "algorithm_off": 0.0}),
    ],
    "range": [(HOLDS, {"outside": 0.0}), (FAILS, {"outside": 1e-6})],
    "area_one": [
        (HOLDS, {"wrong": 0, "tied_off": 0.1}),
        (CAVEAT, {"wrong": 0, "tied_off": 0.0}),
        (FAILS, {"wrong": 1, "tied_off": 0.1}),
    ],
    "last_point": [(HOLDS, {"distance": 0.0}), (FAILS, {"distance": 1e-6})],
    "two_sizes": [(HOLDS, {"outside": 0.0}), (FAILS, {"outside": 1e-6})],
    "jaccard_minimum": [
        (HOLDS, {"apart": 0.0, "most_orders": 1}),
        (CAVEAT, {"apart": 0.0, "most_orders": 2}),
        (FAILS, {"apart": 0.1, "most_orders": 1}),
    ],
    "jaccard_points": [(HOLDS, {"below": 0.0}), (FAILS, {"below": 0.1})],
    "jaccard_formula": [(HOLDS, {"apart": 0.0}), (FAILS, {"apart": 0.1})],
    "jaccard_quarter": [(HOLDS, {"off": 9e-6}), (FAILS, {"off": 2e-5})],
    "fuji_minimum": [
        (HOLDS, {"lead": 0.0, "violations": 0}),
        (FAILS, {"lead": 0.1, "violations": 0}),
        (FAILS, {"lead": 0.0, "violations": 1}),
    ],
    "limits": [(HOLDS, {"distance": 1e-7}), (FAILS, {"distance": 1e-5})],
    "not_reversed": [(HOLDS, {"other": 0.5, "reverse": 0.6}), (FAILS, {"other": 0.6, "reverse": 0.6})],
    "no_minimum": [
        (HOLDS, {"lead": 1e-15, "touching": 0}),
        (CAVEAT, {"lead": 1e-15, "touching": 1}),
        (FAILS, {"lead": 0.0, "touching": 0}),
    ],
    "limit_theorem": [
        (HOLDS, {"falls": True, "nearest": 1e-6}),
        (FAILS, {"falls": False, "nearest": 1e-6}),
        (FAILS, {"falls": True, "nearest": 1e-4}),
    ],
    "above_jaccard": [(HOLDS, {"least": -1e-13}), (FAILS, {"least": -1e-6})],
    "depends_on_k": [(HOLDS, {"step": 1e-9}), (FAILS, {"step": 0.0})],
    "approximation": [
        (HOLDS, {"error": 0.009, "relative": 0.05}),
        (CAVEAT, {"error": 0.009, "relative": 0.2}),
        (FAILS, {"error": 0.02, "relative": 0.05}),
    ],
    "exact_is_slow": [(HOLDS, {"terms": 11, "curve": 10}), (FAILS, {"terms": 10, "curve": 10})],
    "fuji_chance": [
        (HOLDS, {"apart": 0.2, "errors": 6.0, "ratio": 0.05}),
        (HOLDS, {"apart": 0.2, "errors": 2.0, "ratio": 0.2}),
        (CAVEAT, {"apart": 0.2, "errors": 2.0, "ratio": 0.05}),
        (FAILS, {"apart": 0.1, "errors": 2.0, "ratio": 0.05}),
    ],
    "quadratic": [
        (HOLDS, {"growth": 4.0, "apart": 0.1}),
        (CAVEAT, {"growth": 4.0, "apart": 1e-12}),
        (FAILS, {"growth": 2.0, "apart": 1e-12}),
    ],
    "more_efficient": [(HOLDS, {"fuji": 9, "jaccard": 10}), (FAILS, {"fuji": 10, "jaccard": 10})],
    "complete": [
        (HOLDS, {"sets": 24, "rankings": 96}),
        (FAILS, {"sets": 23, "rankings": 96}),
        (FAILS, {"sets": 24, "rankings": 95}),
    ],
    "feature_counts": [
        (HOLDS, {"fewest": 0, "most": 0}),
        (CAVEAT, {"fewest": 1, "most": 1}),
        (FAILS, {"fewest": 0, "most": 2}),
        (FAILS, {"fewest": -1, "most": 1}),
    ],
    "two_counts": [
        (HOLDS, {"genes": 20531, "p53": 5408}),
        (FAILS, {"genes": 20532, "p53": 5408}),
        (FAILS, {"genes": 20531, "p53": 5409}),
    ],
    "most_similar": [
        (HOLDS, {"most": "Genie3-RF", "most_whole": "Genie3-RF"}),
        (CAVEAT, {"most": "Genie3-RF", "most_whole": "Genie3-MI"}),
        (FAILS, {"most": "Genie3-MI", "most_whole": "Genie3-RF"}),
    ],
    "least_similar": [
        (HOLDS, {"least": "RF-Relief", "least_whole": "RF-Relief"}),
        (CAVEAT, {"least": "RF-Relief", "least_whole": "RF-MI"}),
        (FAILS, {"least": "RF-MI", "least_whole": "RF-Relief"}),
    ],
    "middle_pairs": [
        (HOLDS, {"share": 0.4, "count": 5}),
        (CAVEAT, {"share": 0.4, "count": 4}),
        (FAILS, {"share": 0.5, "count": 5}),
    ],
    "jaccard_blind": [(HOLDS, {"ratio": 0.4}), (FAILS, {"ratio": 0.5})],
    "in_line": [
        (HOLDS, {"most_share": 0.6, "least_share": 0.6}),
        (FAILS, {"most_share": 0.6, "least_share": 0.5}),
        (FAILS, {"most_share": 0.5, "least_share": 0.6}),
    ],
    "first_features": [(HOLDS, {"jaccard": 0.0}), (FAILS, {"jaccard": 1.0})],
    "half_at_four": [(HOLDS, {"off": 0.09}), (FAILS, {"off": 0.17})],
    "drop_at_fifteen": [(HOLDS, {"off": 0.009}), (FAILS, {"off": 0.01})],
    "top_gene": [(HOLDS, {"rank": 5}), (FAILS, {"rank": 4}), (FAILS, {"rank": 6})],
    "strict_correlation": [(HOLDS, {"below": 0.91}), (FAILS, {"below": 0.9})],
    "optimistic_hamming": [
        (HOLDS, {"hamming": 0.91, "jaccard": 0.4}),
        (FAILS, {"hamming": 0.9, "jaccard": 0.4}),
        (FAILS, {"hamming": 0.91, "jaccard": 0.5}),
    ],
    "curves_meet": [
        (HOLDS, {"start": 2117, "shuffled": 1.0}),
        (CAVEAT, {"start": 2117, "shuffled": 0.89}),
        (FAILS, {"start": 2118, "shuffled": 1.0}),
    ],
    "irrelevant": [
        (HOLDS, {"off": 999, "same_sets": True}),
        (FAILS, {"off": 1000, "same_sets": True}),
        (FAILS, {"off": 0, "same_sets": False}),
    ],
    "same_first": [(HOLDS, {"jaccard": 1.0}), (FAILS, {"jaccard": 0.0})],
    "falls_until_twelve": [(HOLDS, {"rises": 12}), (FAILS, {"rises": 11})],
    "seen_at_four": [
        (HOLDS, {"rank": 12, "rises": 12, "score_off": 0.009, "fourth_off": 0.009, "step": 0.01}),
        (FAILS, {"rank": 13, "rises": 12, "score_off": 0.009, "fourth_off": 0.009, "step": 0.01}),
        (FAILS, {"rank": 12, "rises": 12, "score_off": 0.01, "fourth_off": 0.009, "step": 0.01}),
        (FAILS, {"rank": 12, "rises": 12, "score_off": 0.009, "fourth_off": 0.01, "step": 0.01}),
        (FAILS, {"rank": 12, "rises": 12, "score_off": 0.009, "fourth_off": 0.009, "step": 0.0}),
    ],
    "ten_times": [(HOLDS, {"off": 0.9}), (FAILS, {"off": 1.0})],
    "p53_ensembles": [(HOLDS, {"least_drop": 0.11}), (FAILS, {"least_drop": 0.1})],
    "p53_filters": [(HOLDS, {"least_drop": 0.01}), (FAILS, {"least_drop": 0.0})],
    "steadier": [
        (HOLDS, {"share": 0.91, "below": 0.0}),
        (FAILS, {"share": 0.9, "below": 0.0}),
        (FAILS, {"share": 0.91, "below": -0.1}),
    ],
    "sparse_grid": [
        (HOLDS, {"correlation": 0.95, "least": "RF-MI", "least_whole": "RF-MI"}),
        (FAILS, {"correlation": 0.64, "least": "RF-MI", "least_whole": "RF-MI"}),
        (FAILS, {"correlation": 0.95, "least": "RF-MI", "least_whole": "Relief-MI"}),
    ],
    "early_stop": [
        (HOLDS, {"stopping": 0.6, "skipped": 0.6}),
        (CAVEAT, {"stopping": 0.6, "skipped": 0.4}),
        (FAILS, {"stopping": 0.5, "skipped": 0.6}),
    ],
    "long_tails": [(HOLDS, {"most": 0.1}), (CAVEAT, {"most": 0.18}), (FAILS, {"most": 0.19})],
    "large_k": [
        (HOLDS, {"typical": 0.9, "least": 0.5}),
        (CAVEAT, {"typical": 0.9, "least": 0.4}),
        (FAILS, {"typical": 0.5, "least": 0.5}),
    ],
    "top_weight": [(HOLDS, {"gain": 0.1}), (FAILS, {"gain": 0.0})],
    "examples": [
        (HOLDS, {"differing": 0, "unavailable": 0}),
        (CAVEAT, {"differing": 0, "unavailable": 1}),
        (FAILS, {"differing": 1, "unavailable": 0}),
    ],
    "parameterless": [(HOLDS, {"change": 0.0}), (FAILS, {"change": 0.1})],
    "top_mi": [(HOLDS, {"differing": 0}), (FAILS, {"differing": 1})],
    "top_relief": [(HOLDS, {"differing": 0}), (FAILS, {"differing": 1})],
    "same_top_gene": [
        (HOLDS, {"first": 7, "second": 7, "named": 7}),
        (FAILS, {"first": 7, "second": 8, "named": 7}),
        (FAILS, {"first": 8, "second": 7, "named": 7}),
    ],
    "nine_differ": [(HOLDS, {"shared": 1}), (FAILS, {"shared": 2})],
    "fuji_finds": [
        (HOLDS, {"fuji": 0.6, "jaccard": 0.4}),
        (FAILS, {"fuji": 0.5, "jaccard": 0.4}),
        (FAILS, {"fuji": 0.6, "jaccard": 0.5}),
    ],
    "annotations": [(HOLDS, {"share": 0.6}), (FAILS, {"share": 0.5})],
    "all_related": [(HOLDS, {"unrelated": 0}), (FAILS, {"unrelated": 1})],
}


@pytest.mark.parametrize("key", STATEMENTS)
def test_every_rule_gives_each_of_its_verdicts(key):
    row = STATEMENTS[key]
    possible = {HOLDS, FAILS} | ({CAVEAT} if row["caveat"] else set()) | ({DIFFERS} if row["differs"] else set())
    assert {expected for expected, _ in MADE_UP[key]} == possible
    for expected, values in MADE_UP[key]:
        assert record.verdict(key, values) == expected, values


@pytest.mark.parametrize("key", STATEMENTS)
def test_every_part_of_a_rule_can_make_it_fail(key):
    """Each comparison that must hold is needed: some made-up measurement fails by it alone."""
    parts = STATEMENTS[key]["holds"].split(" and ")
    failing = [values for expected, values in MADE_UP[key] if expected in {FAILS, DIFFERS}]
    for part in parts:
        others = [other for other in parts if other != part]
        alone = [values for values in failing if all(record.met(other, values) for other in others)]
        assert any(not record.met(part, values) for values in alone), part


def test_made_up_measurements_are_of_the_statements():
    assert set(MADE_UP) == set(STATEMENTS)


# What the page says about all rules: rounding, one half, one tenth; and the ends of the range.
SCALE = {0, 1, 1e-12, 0.5, 0.1, 0.9}
WORDS = {"two": "2", "four": "4", "five": "5", "ten": "10"}


def printed(text):
    """Return the numbers in a text, with the unit of the last digit of each."""
    plain = re.sub("|".join(WORDS), lambda word: WORDS[word[0]], text).replace(",", "")
    for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", plain):
        whole, _, decimals = number.partition(".")
        zeros = len(whole) - len(whole.rstrip("0"))
        yield float(number), 10.0 ** (-len(decimals) if decimals else zeros)


@pytest.mark.parametrize("key", STATEMENTS)
def test_thresholds_are_those_of_all_rules_or_explained(key):
    row = STATEMENTS[key]
    named = list(printed(f"{row['statement']} {row['how']}"))
    for part in " and ".join(filter(None, (row["holds"], row["caveat"], row["differs"]))).split(" and "):
        name, threshold = part.split()[0], part.split()[-1]
        try:
            value = abs(float(threshold))
        except ValueError:
            continue  # another value, a text, or a value that must be true
        if name.endswith("off") and value not in SCALE and key != "jaccard_quarter":
            assert any(value == pytest.approx(unit) for _, unit in named), part
        else:
            assert value in SCALE or any(value == number for number, _ in named), part


def test_the_page_names_the_scale_of_all_rules():
    for words in ("equal up to 1e-12", "one unit of its last digit", "mean one half", "mean one tenth"):
        assert words in page.INTRODUCTION
        assert words in " ".join((DOCS / "paper.md").read_text(encoding="utf-8").split())


def test_half_of_exponential_scores():
    """The border of long tails: the share x of the largest exponential scores that hold half of their sum."""
    quantiles = -np.log((np.arange(100_000) + 0.5) / 100_000)
    assert study._half(fj.Ranking(quantiles)) == pytest.approx(0.187, abs=5e-4)


def test_conditions():
    assert record.met("a > 1 and b", {"a": 2, "b": True})
    assert not record.met("a > 1 and b", {"a": 2, "b": False})
    assert not record.met("", {})
    assert not record.met("a < 1", {"a": np.nan})
    assert record.met("a == b", {"a": "x", "b": "x"})
    assert record.met("a != y", {"a": "x"})
    with pytest.raises(KeyError):
        record.met("c > 1", {"a": 2})


def test_rules_are_shown_as_they_are_applied(without_rankings):
    rules = {claim.statement: claim.rule for claim in without_rankings.claims}
    for key, row in STATEMENTS.items():
        shown = rules[row["statement"]]
        assert shown == record.rule(key)
        for condition in (row["holds"], row["caveat"], row["differs"]):
            assert condition.replace("_", " ") in shown
    assert record.rule("zero_tail").endswith("differs from the algorithm if definition off < 1e-12; otherwise fails")
    assert set(page.CLASSES) == set(page.MARKS) == set(VERDICTS)
    assert all(f".verdict.{name}{{" in record.shipped("page.css") for name in page.CLASSES.values())


# --- Made-up rankings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "least", "verdict"), [(5, 5, HOLDS), (0, 4, FAILS), (8, 0, FAILS), (8, 4, FAILS), (4, 8, FAILS)]
)
def test_in_line_needs_both_pairs_on_more_than_half(most, least, verdict):
    areas = np.tile([0.5, 0.4, 0.6, 0.5, 0.5, 0.5], (8, 1))
    areas[:most, study.PAIRS.index(study.ENSEMBLES)] = 0.9
    areas[:least, study.PAIRS.index(study.EXTREMES)] = 0.1
    key, judged = study.check_in_line(areas)
    assert (key, judged.verdict) == ("in_line", verdict)
    assert f"on {most} of 8 data sets" in judged.measured


def test_a_lead_that_is_lost():
    wins, loses = np.array([0.1, 0.2]), np.array([0.1, -0.33])
    assert scenarios.check_lead("two_part_fuji", wins, wins, reversal=0.33)[1].verdict == HOLDS
    _, judged = scenarios.check_lead("two_part_fuji", wins, loses, reversal=0.33)
    assert judged.verdict == CAVEAT
    assert "smaller in 1 of 2, and by 0.33 if" in judged.measured
    assert scenarios.check_lead("two_part_fuji", loses, wins, reversal=0.33)[1].verdict == FAILS


def test_free_scores_reverse_the_two_part_ranking():
    """In the limit the example for FUJI gives 1 against t and the mean of 1 and Jaccard against s.

    That for correlation gives -1 against s. A single positive score in t has correlation -1/sqrt(u - 1) with u scores
    of which the first half is 1 and the other 0.
    """
    n = scenarios.ITEMS
    fuji = (1 - theory.least_jaccard_auc(n)) / 2
    values = [-1 / np.sqrt(min(2 * k, n) - 1) for k in range(1, n + 1)]
    correlation = 1 + (sum(values) - (values[0] + values[-1]) / 2) / (n - 1)
    assert (round(fuji, 2), round(correlation, 2)) == (0.36, 0.58)
    leads = {measure: scenarios.two_part_lead(measure, *scores) for measure, scores in scenarios.REVERSALS.items()}
    assert leads["fuji"] == pytest.approx(-fuji, abs=1e-3)
    assert leads["correlation"] == pytest.approx(-correlation, abs=1e-3)
    for scores in (scenarios.FLAT, scenarios.STEEP, scenarios.LEVELS, scenarios.NEARLY_EQUAL):
        assert np.all(np.diff(scores) < 0)
        assert scores[-1] >= 0


def test_even_shared_scores_can_reverse_correlation():
    r, s, t = scenarios.two_part(scenarios.NEARLY_EQUAL)
    by_hand = []
    for other in (s, t):
        values = []
        for k in range(1, 11):
            union = np.union1d(np.argsort(-r, kind="stable")[:k], np.argsort(-other, kind="stable")[:k])
            values.append(np.corrcoef(r[union], other[union])[0, 1])
        by_hand.append((sum(values) - (values[0] + values[-1]) / 2) / 9)
    assert by_hand[0] < by_hand[1] - 0.1
    assert conventions.auc(r, s, "correlation") == pytest.approx(by_hand[0], abs=1e-12)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_leads_over_the_reverse_are_the_librarys(n):
    rng = np.random.default_rng(n)
    places = theory.permuted(np.arange(n))
    for _ in range(5):
        r, s = np.sort(rng.pareto(1.0, (2, n)))[:, ::-1]
        least = min(conventions.auc(r, one) for one in theory.permuted(s))
        expected = conventions.auc(r, s[::-1].copy()) - least
        assert theory.reverse_lead(r, s, places) == pytest.approx(expected, abs=1e-12)
    r, s = np.sort(theory.COUNTER_R)[::-1], np.sort(theory.COUNTER_S)[::-1]
    assert theory.reverse_lead(r, s, theory.permuted(np.arange(4))) > 0.02


@pytest.mark.parametrize("n", [1, 2, 6, 7])
def test_terms_of_the_expected_jaccard_index_by_brute_force(n):
    orders = list(permutations(range(n)))
    overlaps = {(k, len(set(range(k)) & set(order[:k]))) for order in orders for k in range(1, n + 1)}
    assert theory.overlap_terms(n) == len(overlaps)


def test_the_paper_s_algorithm_does_as_much_work_as_is_counted():
    """Run its loops on reversed rankings, and count."""
    n, moved, evaluated = 30, 0, 0
    difference, orders = set(), (range(n), range(n - 1, -1, -1))
    for k in range(n):
        for order in orders:
            difference ^= {order[k]}
            moved += 1
        evaluated += 2 * len(difference)
    assert evaluated == theory.memberships(n)
    assert moved == 2 * n


def test_running_sums_give_the_curve():
    r, s = np.random.default_rng(0).random((2, 50))
    expected = [float(oracle.fuji(oracle.Pair(r.tolist(), s.tolist(), k))) for k in range(1, 51)]
    assert theory.running_sums(r, s) == pytest.approx(expected, abs=1e-12)


def test_zeros_in_another_order():
    zeros = np.zeros(4000)
    r, s = (fj.Ranking(np.concatenate([top, zeros])) for top in (np.arange(1000.0, 0, -1), np.arange(1000.0) + 1))
    assert conventions.curve(r, s, "jaccard")[2999] == 1.0
    # Of the 2000 places after the shared 1000, half fall on the same zeros: h = 2000, U = 4000.
    assert study.shuffled_jaccard(r, s) == pytest.approx(0.5, abs=0.02)
    same = fj.Ranking(np.arange(3000.0, 0, -1))
    assert study.shuffled_jaccard(same, same) == 1.0


def test_examples_are_compared_with_the_table():
    rows = {name: int(row["examples"]) for name, row in DATA_SETS.items()}
    assert study.check_examples(rows)[1].verdict == HOLDS
    _, judged = study.check_examples({"sonar": 208})
    assert judged.verdict == CAVEAT
    assert judged.measured == "1 of 1 data sets with raw data have as many rows; no raw data of the other 23"
    assert study.check_examples({"sonar": 207})[1].verdict == FAILS
    assert study.check_examples(None)[1].verdict == UNCHECKED


def test_the_sparse_grid_weighs_the_top():
    assert study._top_share(np.array([1, 2, 4, 8, 16])) == pytest.approx(2.5 / 4)
    assert study._top_share(np.arange(1, 17)) == pytest.approx(3.5 / 15)
    assert study.check_top_weight(16)[1].verdict == HOLDS


def test_top_genes_that_differ_from_the_table():
    from fujiscore.paper.genes import check_tops

    verdicts = {key: judged.verdict for key, judged in check_tops(TOP_RELIEF, TOP_RELIEF)}
    assert verdicts["top_mi"] == FAILS
    assert verdicts["top_relief"] == HOLDS
    assert verdicts["nine_differ"] == FAILS


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
        ("whose last score is 0", DIFFERS, "0.333"),
        ("The single data sets are in line", FAILS, "16 of 24 data sets, RF-Relief the least similar on 9"),
        ("is no particular loss", FAILS, "correlation 0.64"),
        ("After k = 2117", CAVEAT, "0.56 at k = 3000"),
        ("at k and at k + 1", CAVEAT, "90%"),
        ("gives more weight to the top", HOLDS, "instead of"),
        ("has no parameters", FAILS, "nats"),
        ("relate to DNA, ATP", FAILS, "SPCS3 (peptidase activity)"),
        ("Jaccard hardly", FAILS, "0.159 by FUJI and 0.198 by Jaccard"),
    ],
)
def test_verdicts_on_the_published_rankings(complete, words, verdict, figure):
    claim = by_statement(complete, words)
    assert claim.judged.verdict == verdict
    assert figure in claim.judged.measured


def test_everything_is_checked_and_statements_are_told_apart(complete, without_rankings):
    assert [claim.number for claim in complete.claims if claim.judged.verdict == UNCHECKED] == [79]  # needs raw data
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


@pytest.mark.parametrize(
    "alter",
    [
        lambda one, other: (one, one, other, other),
        lambda one, other: (one, one[::-1].copy(), other, other[::-1].copy()),
        lambda one, _: (np.zeros_like(one),) * 4,
        lambda one, _: (np.ones_like(one),) * 4,
    ],
    ids=["equal", "reversed", "zeros", "constant"],
)
def test_other_rankings_are_judged_too(published, alter):
    sets = {}
    for name in ("genes", "p53"):
        one = published[name]
        scores = alter(one["Genie3"].scores, one["relief"].scores)
        sets[name] = fj.Rankings(one.names, scores, one.labels)
    judged = dict(study.check_curves(sets))
    assert judged["falls_until_twelve"].verdict == judged["seen_at_four"].verdict == FAILS
    assert judged["ten_times"].verdict == FAILS
    assert not any("nan" in one.measured for one in judged.values())


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
    corrected, rows = forest.recompute(tmp_path, published)
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
    assert rows == {"sonar": 208, "digits": 1797}
    assert set(second) == {key for key, row in STATEMENTS.items() if row["rf"]}


def test_raw_data_that_do_not_fit_are_refused(published, tmp_path):
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="no such folder"):
        forest.recompute(tmp_path / "nowhere", published)
    with pytest.raises(InputError, match="none of the data sets"):
        forest.recompute(tmp_path, published)
    pq.write_table(pa.table({"attribute_1": [1.0, 2.0], "target": ["a", "b"]}), tmp_path / "sonar.parquet")
    with pytest.raises(InputError, match="59 are missing"):
        forest.recompute(tmp_path, {"sonar": published["sonar"]})


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
    listed = {int(number) for number in re.findall(r'href="#c(\d+)"', text.split("<nav>")[0])}
    assert listed == {claim.number for claim in complete.claims if claim.judged.verdict in {DIFFERS, FAILS}}


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


def test_the_command_without_rankings(tmp_path, monkeypatch, without_rankings):
    """What is computed is computed once for all tests; the documented command computes it itself."""
    monkeypatch.setattr("fujiscore.cli.paper.compute", lambda *_, **__: without_rankings)
    done = run("--no-rankings", "--out", tmp_path / "paper")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("fuji paper: ")
    assert "not checked" in done.stdout
    assert "computing took" in done.stderr
    assert str(tmp_path / "paper" / "index.html") in done.stderr.replace("\n  ", "")
    assert (tmp_path / "paper" / "claims.md").is_file()


def test_the_command_prints_json_and_writes_nothing_unasked(tmp_path, monkeypatch, without_rankings):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fujiscore.cli.paper.compute", lambda *_, **__: without_rankings)
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
