"""Zeros are no members: undefined values at a k beyond the positive scores of both rankings, and zero_tail="cap"."""

from __future__ import annotations

import json
from itertools import permutations
from math import isnan

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import SMALL, pairs

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.runs.gates import judge

# Three non-zero scores each, none shared.
A = {f"f{i}": float(max(3 - i, 0)) for i in range(30)}
B = {f"f{i}": float(max(i - 26, 0)) for i in range(30)}
CLOSED = [name for name in oracle.MEASURES if name not in {"correlation", "ndcg", "gamma"}]
SIGNED = st.one_of(SMALL, st.integers(-3, 4).map(float))


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, scores in (("a", A), ("b", B)):
        path = tmp_path / f"{name}.csv"
        path.write_text("feature,importance\n" + "".join(f"{item},{score}\n" for item, score in scores.items()))
        paths.append(str(path))
    return paths


def answer(*arguments):
    return json.loads(CliRunner().invoke(fuji, [*arguments, "--json"]).stdout)


def last_scores(pair, k):
    return [sorted(scores, reverse=True)[k - 1] for scores in pair]


class TestUndefined:
    """Reported values are undefined where both top sets end with zeros; the functions keep the definition."""

    def test_the_definition_stays(self):
        assert fj.fuji(A, B, 5) == 1
        assert fj.score(A, B, 5, "jaccard") == 1
        assert fj.curve(A, B, ks=[5]).values.tolist() == [1]
        assert fj.compare(A, B).auc["fuji"] == fj.auc(A, B)

    @given(pair=pairs(SIGNED, least=2), data=st.data())
    def test_levels(self, pair, data):
        assume(min(max(pair[0]), max(pair[1])) >= 0)
        k = data.draw(st.integers(1, len(pair[0])))
        measures = ("fuji", "jaccard", "rbo", "hamming")
        result = fj.compare(*pair, measures, k=[k], negative="clip")
        last = last_scores(pair, k)
        for level in result.levels():
            undefined = max(last) <= 0 if level.measure == "fuji" else last == [0, 0]
            if level.k is None or not undefined:
                assert not isnan(level.value)
            else:
                assert isnan(level.value)
                assert level.corrected is None
        assert any("zero_tail='cap'" in note for note in result.notes) == (max(last) <= 0)

    def test_levels_at_a_single_k(self):
        result = fj.compare(A, B, ["fuji", "jaccard", "kendall"], ks=[5])
        assert all(isnan(level.value) for level in result.levels())
        assert result.verdict() == "FUJI is undefined"
        assert [level.k for level in fj.compare(A, B, k=[2, 3, 5]).levels() if isnan(level.value)] == [5, 5]

    def test_beyond_truncated_lists(self):
        lists = {"a": 3.0, "b": 2.0}, {"a": 3.0, "c": 2.0}
        levels = fj.compare(*lists, k=[2, 3], universe=10, missing="zero").levels()
        assert [isnan(level.value) for level in levels if level.k is not None] == [False, True] * 2

    def test_one_side_with_zeros_is_defined(self):
        full = {item: 30.0 - i for i, item in enumerate(A)}
        assert not isnan(fj.compare(A, full, ks=[5]).levels()[0].value)

    def test_explain(self):
        why = fj.explain(A, B, 5)
        assert isnan(why.value)
        assert isnan(why.jaccard)
        assert "undefined" in str(why).splitlines()[0]
        assert "undefined" in why._repr_html_()
        assert any("zero_tail='cap'" in note for note in why.notes)
        assert fj.compare(A, B).explain().k1 == 3
        fj.compare(A, B).plot(k=5)

    def test_runs(self):
        result = fj.compare_runs({"q1": A, "q2": A}, {"q1": B, "q2": A}, k=5)
        assert all(
            np.isnan(result.values(name)).all() for name in ("fuji", "rbo", "jaccard", "fuji_floor", "fuji_high")
        )
        assert isnan(result.spread().mean)
        assert any("undefined for 2 queries" in note and "zero_tail='cap'" in note for note in result.notes)
        assert "zero" not in result.columns
        assert not judge(result, fail_under=0.0).passed
        assert not judge(result, fail_under=0.0, allow_missing_queries=True).passed

    def test_areas_of_runs_keep_the_definition(self):
        result = fj.compare_runs({"q": A}, {"q": B}, ks="all")
        assert result.values()[0] == pytest.approx(fj.auc(A, B))

    def test_drift(self):
        result = fj.drift(A, B, k=5)
        assert isnan(result.level.value)
        assert not result.judge(fail_under=0.9).passed

    def test_pairs_and_stability(self):
        matrix = fj.pairwise({"a": A, "b": B, "c": A}, ks=[5])
        assert np.isnan(matrix.values[0, 1])
        assert any("zero_tail='cap'" in note for note in matrix.notes)
        assert not np.isnan(fj.pairwise({"a": A, "b": B}, ks=[3]).values).any()
        assert not np.isnan(fj.pairwise({"a": A, "b": B}).values).any()
        capped = fj.pairwise({"a": A, "b": B, "c": A}, ks=[5], zero_tail="cap")
        assert capped.values[0].tolist() == [1, 0, 1]

    def test_commands(self, files):
        done = CliRunner().invoke(fuji, ["drift", *files, "-k", "5", "--fail-under", "0.9"])
        assert done.exit_code == 1
        assert "FAILED: FUJI (k = 5) undefined, at least 0.9 required" in done.stdout
        assert "--zero-tail cap" in " ".join(done.output.split())
        assert answer("drift", *files, "-k", "5", "--zero-tail", "cap")["similarity"][0]["value"] == 0
        data = answer("compare", *files, "-k", "5")
        assert data["measures"]["fuji"]["at"]["5"]["value"] is None
        assert data["explained"]["fuji"] is None
        assert answer("explain", *files, "-k", "5")["fuji"] is None
        assert "undefined" in CliRunner().invoke(fuji, ["explain", *files, "-k", "5"]).stdout
        bounds = ["compare", *files, "-k", "2", "-k", "5", "--missing", "bounds"]
        assert answer(*bounds)["bounds"]["at"]["5"] == {"low": None, "high": None}
        assert answer(*bounds)["bounds"]["at"]["2"]["low"] == pytest.approx(fj.fuji(A, B, 2))
        done = CliRunner().invoke(fuji, ["compare", *files, "--ks", "5", "--missing", "bounds", "--fail-under", "0.9"])
        assert done.exit_code == 1
        assert "FAILED: FUJI, at least (value at k = 5) undefined" in done.stdout
        done = CliRunner().invoke(fuji, ["compare", *files, "--ks", "5", "--fail-under", "0.9"])
        assert done.exit_code == 1
        assert "FAILED: FUJI (k = 5) undefined, at least 0.9 required" in done.output
        assert "--zero-tail cap" in done.output


class TestCap:
    """Capped sets hold positive scores only."""

    @pytest.mark.parametrize("ties", ["closed", "stable"])
    @given(pair=pairs(SIGNED), data=st.data())
    def test_definition(self, ties, pair, data):
        assume(min(max(pair[0]), max(pair[1])) > 0)
        measure = data.draw(st.sampled_from(sorted(oracle.MEASURES)))
        ks = range(1, len(pair[0]) + 1)
        options = {"ties": ties, "zero_tail": "cap"}
        exact = oracle.curve(measure, *pair, ks, **options)
        values = fj.curve(*pair, measure, negative="clip", **options).values
        assert values == pytest.approx([float(x) for x in exact], abs=1e-12, nan_ok=True)

    @pytest.mark.parametrize("name", CLOSED)
    @pytest.mark.parametrize(
        "pair", [([4, 2, 1, 0, 0], [0, 3, 0, 5, 0]), ([3, 3, 1, 0], [0, 2, 2, 2]), ([1, 0, 0], [0, 2, 1])]
    )
    def test_chance_level(self, name, pair):
        known = fj.compare(*pair, [name], zero_tail="cap").chance.get(name)
        for i, k in enumerate(range(1, len(pair[0]) + 1)):
            if known is not None:
                values = [oracle.value(name, pair[0], list(s), k, zero_tail="cap") for s in permutations(pair[1])]
                assert known.expected[i] == pytest.approx(float(sum(values) / len(values)), abs=1e-12, nan_ok=True)

    @given(
        st.lists(st.lists(SIGNED, min_size=6, max_size=6), min_size=2, max_size=4),
        st.sampled_from(["all", "exp", [2, 5]]),
    )
    def test_matrices(self, rows, ks):
        assume(all(max(row) > 0 for row in rows))
        matrix = fj.pairwise(rows, ks=ks, zero_tail="cap", negative="clip")
        expected = [[fj.auc(r, s, ks=ks, zero_tail="cap", negative="clip") for s in rows] for r in rows]
        np.testing.assert_allclose(matrix.values, expected, rtol=1e-12, atol=1e-12)

    def test_permutations(self):
        result = fj.compare(A, B, ks=[5], zero_tail="cap", permutations=2000, random_state=1)
        exact = fj.compare(A, B, ks=[5], zero_tail="cap").chance["fuji"]
        assert result.chance["fuji"].expected[0] == pytest.approx(exact.expected[0], abs=0.01)

    @given(pair=pairs(SIGNED), data=st.data())
    def test_explanations(self, pair, data):
        assume(min(max(pair[0]), max(pair[1])) > 0)
        k = data.draw(st.integers(1, len(pair[0])))
        why = fj.explain(*pair, k, zero_tail="cap", negative="clip")
        assert why.value == fj.fuji(*pair, k, zero_tail="cap", negative="clip")
        assert why.contribution.sum() == pytest.approx(why.value * len(why))
        assert dict(zip(why.items, why.kind, strict=True)) == {
            item: row["kind"] for item, row in oracle.explain(*pair, k, zero_tail="cap").items()
        }

    def test_bounds(self):
        lists = {"a": 4.0, "b": 3.0, "c": 2.0}, {"b": 8.0, "a": 5.0, "d": 4.0}
        for name in ("low", "high"):
            plain, capped = (getattr(fj.bounds(*lists, zero_tail=tail), name) for tail in ("include", "cap"))
            assert plain.tolist() == capped.tolist()

    def test_no_positive_score(self):
        with pytest.raises(fj.InputError, match="s must have a positive score with zero_tail='cap'"):
            fj.fuji([1, 2, 3], [0, 0, 0], 2, zero_tail="cap")
        result = fj.compare_runs({"q": {"x": 1.0, "y": 0.5}}, {"q": {"x": 0.0, "y": 0.0}}, zero_tail="cap", ks="all")
        assert np.isnan(result.values("fuji")).all()
        assert np.isnan(result.values("jaccard")).all()
        assert any("no positive score" in note for note in result.notes)

    def test_in_passes(self, tmp_path, monkeypatch):
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        path = tmp_path / "l.parquet"
        parquet.write_table(pa.table({"item": list(A), "a": list(A.values()), "b": list(B.values())}), path)
        monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1KB")
        columns = [fj.scan(f"{path}:{name}") for name in "ab"]
        with pytest.raises(fj.InputError, match="zero_tail='cap' needs rankings in memory"):
            fj.compare(*columns, ks=[5], zero_tail="cap")
        result = fj.compare(*columns, ks="exp", k=[2, 4])
        assert [isnan(level.value) for level in result.levels() if level.measure == "fuji" and level.k] == [False, True]
