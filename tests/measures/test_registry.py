"""The measures that users of other tools expect: against the sets and lists themselves, and against SciPy."""

from __future__ import annotations

import pickle
import re
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.measures.formulas import FORMULAS
from fujiscore.measures.registry import find


def tops(r, s, k1, k2):
    """The top sets of two rankings without ties."""
    n = len(r)
    return set(sorted(range(n), key=lambda x: -r[x])[:k1]), set(sorted(range(n), key=lambda x: -s[x])[:k2])


@st.composite
def cases(draw):
    n = draw(st.integers(2, 12))
    r, s = draw(st.permutations(range(n))), draw(st.permutations(range(n)))
    return [float(x) for x in r], [float(x) for x in s], draw(st.integers(1, n)), draw(st.integers(1, n))


@given(cases())
def test_dice_ochiai_kappa(case):
    r, s, k1, k2 = case
    a, b = tops(r, s, k1, k2)
    n, h, e = len(r), len(a & b), k1 * k2 / len(r)
    assert fj.score(r, s, (k1, k2), "dice") == pytest.approx(2 * h / (k1 + k2))
    assert fj.score(r, s, (k1, k2), "ochiai") == pytest.approx(h / sqrt(k1 * k2))
    if max(k1, k2) < n:
        assert fj.score(r, s, (k1, k2), "kappa") == pytest.approx((h - e) / ((k1 + k2) / 2 - e))
    else:
        assert fj.score(r, s, (k1, k2), "kappa") == (a == b)


@given(cases())
def test_average_overlap_and_rbo_of_the_lists_cut_at_k(case):
    r, s, k, _ = case
    agreement = [len(set.intersection(*tops(r, s, d, d))) / d for d in range(1, k + 1)]
    assert fj.score(r, s, k, "average_overlap") == pytest.approx(sum(agreement) / k)
    p = 0.9
    ext = (1 - p) * sum(a * p**d for d, a in enumerate(agreement)) + agreement[-1] * p**k
    assert fj.score(r, s, k, "rbo") == pytest.approx(ext)
    first, second = (sorted(range(len(r)), key=lambda x, own=own: -own[x])[:k] for own in (r, s))
    listed = fj.rbo([f"i{x}" for x in first], [f"i{x}" for x in second], p)
    assert fj.score(r, s, k, "rbo") == pytest.approx(listed.ext)


@pytest.mark.parametrize(
    ("name", "function"),
    [("kendall", stats.kendalltau), ("weightedtau", stats.weightedtau), ("spearman", stats.spearmanr)],
)
def test_rank_correlations_over_the_union(name, function):
    rng = np.random.default_rng(0)
    r, s = np.round(rng.random(30), 1), np.round(rng.random(30), 1)
    assert fj.score(r, s, 30, name) == pytest.approx(function(r, s).statistic)
    order_r, order_s = (np.argsort(-own, kind="stable") for own in (r, s))
    union = sorted({*order_r[:5], *order_s[:10]})
    assert fj.score(r, s, (5, 10), name, ties="stable") == pytest.approx(function(r[union], s[union]).statistic)
    closed = (r >= np.sort(r)[-5]) | (s >= np.sort(s)[-10])
    assert closed.sum() > len(union)
    assert fj.score(r, s, (5, 10), name) == pytest.approx(function(r[closed], s[closed]).statistic)
    assert np.isnan(fj.score([1, 1, 1], [1, 2, 3], 3, name))


@pytest.mark.parametrize("name", ["average_overlap", "rbo"])
def test_depth_measures_need_equal_sizes(name):
    with pytest.raises(fj.InputError, match=f"{name} is defined for sets of equal size only; got sizes 1 and 2"):
        fj.score([3, 2, 1], [3, 2, 1], (1, 2), name)


SPELLINGS = {
    "RBO": "rbo",
    "Rank-biased overlap": "rbo",
    "rbo:0.9": "rbo",
    "rbo()": "rbo",
    "rbo:0.98": "rbo(p=0.98)",
    "RBO : 0.98": "rbo(p=0.98)",
    "rbo(p=0.98)": "rbo(p=0.98)",
    "RBO (p = 0.98)": "rbo(p=0.98)",
    "feature-agreement": "pog",
    "Feature Agreement": "pog",
    "precision": "pog",
    "Kendall's tau": "kendall",
    "kendalltau": "kendall",
    "TAU": "kendall",
    "Weighted Tau(additive=False)": "weightedtau(additive=False)",
    "weightedtau:false": "weightedtau(additive=False)",
    "weightedtau:True": "weightedtau",
    "rank correlation": "spearman",
    "Spearman's rho": "spearman",
    "Křížek": "krizek",
    "average-overlap": "average_overlap",
    "AO": "average_overlap",
    " Jaccard ": "jaccard",
    "CWrel": "cwrel",
    "Goodman-Kruskal gamma": "gamma",
}


class TestNames:
    @pytest.mark.parametrize("spelling", SPELLINGS)
    def test_any_spelling(self, spelling):
        assert find(spelling).name == SPELLINGS[spelling]
        assert fj.curve([3, 2, 1], [1, 2, 3], spelling).measure == SPELLINGS[spelling]

    @pytest.mark.parametrize("name", fj.MEASURES)
    def test_names_titles_and_aliases_are_found(self, name):
        measure = fj.MEASURES[name]
        for word in (name, measure.title, *measure.aliases):
            for spelling in (word, word.upper(), word.capitalize(), word.replace("_", "-"), word.replace("_", " ")):
                assert find(spelling) is measure
        assert find(measure) is measure

    def test_no_word_stands_for_two_measures(self):
        words = [
            word.lower()
            for name, m in fj.MEASURES.items()
            for word in {name, m.title.lower().replace(" ", "_"), *m.aliases}
        ]
        assert len(words) == len(set(words))

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("jacard", "measure must be one of fuji, jaccard.*got 'jacard'. Did you mean 'jaccard'?"),
            ("kendal", "Did you mean 'kendall'?"),
            ("precison", "Did you mean 'pog'?"),
            ("zzz", "measure must be one of fuji.*got 'zzz'.$"),
            ("", "got ''"),
            (3, "got 3"),
            (None, "got None"),
            (["fuji"], r"got \['fuji'\]"),
            ("rbo:2", r"p must be a number between 0 and 1 \(exclusive\); got 2"),
            ("rbo:True", "p must be a number.*got True"),
            ("rbo:x", r"such as 'rbo:0.98' or 'rbo\(p=0.98\)'; got 'rbo:x'"),
            ("rbo:", "such as 'rbo:0.98'"),
            ("rbo(", "such as 'rbo:0.98'"),
            ("rbo(p=0.9)+1", "such as 'rbo:0.98'"),
            ("rbo(0.9, 0.8)", "such as 'rbo:0.98'"),
            ("rbo(0.9, p=0.8)", "such as 'rbo:0.98'"),
            ("rbo(q=0.5)", "parameter must be one of 'p'; got 'q'"),
            ("jaccard:0.5", "measure jaccard takes no parameter; got 'jaccard:0.5'"),
            ("jaccard(p=0.5)", "measure jaccard takes no parameter; got p"),
            ("weightedtau:1", "weightedtau: additive must be True or False; got 1"),
        ],
    )
    def test_refusals(self, name, message):
        with pytest.raises(fj.InputError, match=message):
            fj.score([3, 2, 1], [1, 2, 3], 1, name)


class TestParameters:
    def test_of_a_measure_in_the_registry(self):
        measure = fj.MEASURES["rbo"](p=0.98)
        assert measure == find("rbo:0.98")
        assert (measure.name, measure.title, measure.base) == ("rbo(p=0.98)", "RBO (p=0.98)", "rbo")
        assert measure.parameters == {"p": 0.98}
        assert measure(p=0.9) is fj.MEASURES["rbo"]
        assert measure(p=0.5).parameters == {"p": 0.5}
        assert fj.MEASURES["rbo"]() is fj.MEASURES["rbo"]
        assert fj.MEASURES["rbo"].parameters == {"p": 0.9}

    def test_they_matter(self):
        rng = np.random.default_rng(3)
        r, s = rng.random((2, 20))
        for p in (0.5, 0.98):
            assert fj.score(r, s, 20, f"rbo:{p}") == pytest.approx(fj.rbo(*by_label(r, s), p).ext)
        for additive in (True, False):
            expected = stats.weightedtau(r, s, additive=additive).statistic
            assert fj.score(r, s, 20, fj.MEASURES["weightedtau"](additive=additive)) == pytest.approx(expected)

    def test_several_in_one_comparison(self):
        r, s = [3.0, 2.0, 1.0, 0.0], [2.0, 3.0, 0.0, 1.0]
        comparison = fj.compare(r, s, ("rbo:0.5", "rbo", "RBO(p=0.9)", "rbo:0.98"))
        assert list(comparison.auc) == ["rbo(p=0.5)", "rbo", "rbo(p=0.98)"]
        assert comparison["rbo:0.98"].values[-1] == comparison.auc["rbo(p=0.98)"] == fj.score(r, s, 4, "rbo:0.98")

    @pytest.mark.parametrize("name", [*fj.MEASURES, "rbo:0.98", "weightedtau:False"])
    def test_measures_pickle(self, name):
        measure = find(name)
        assert pickle.loads(pickle.dumps(measure)) == measure

    def test_any_real_number_serves(self):
        for p in (Fraction(1, 2), np.float32(0.5), np.float64(0.5)):
            measure = fj.MEASURES["rbo"](p=p)
            assert measure.name == "rbo(p=0.5)"
            assert pickle.loads(pickle.dumps(measure)) == measure


def by_label(*rankings):
    return [{str(i): x for i, x in enumerate(own)} for own in rankings]


@pytest.mark.parametrize("name", fj.MEASURES)
def test_headlines(name):
    """Measures of whole lists are reported as the value over the whole list, the others as an area."""
    r, s = [4.0, 3.0, 2.0, 1.0], [3.0, 4.0, 1.0, 2.0]
    comparison = fj.compare(r, s, [name])
    whole = name in {
        "average_overlap",
        "rbo",
        "kendall",
        "weightedtau",
        "spearman",
        "pairwise_rank_agreement",
        "ndcg",
    }
    assert fj.MEASURES[name].whole == whole
    curve = comparison[name]
    assert comparison.auc[name] == (curve.values[-1] if whole else curve.auc)
    places = [level.place for level in comparison.levels()]
    assert places == (["whole list"] if whole else ["AUC", "top-weighted AUC"])
    assert fj.pairwise([r, s], measure=name, ks="all", n_jobs=1)["0", "1"] == pytest.approx(comparison.auc[name])


class TestLongCurves:
    """Over all k of long rankings: exact and fast, or refused with the remedy."""

    N = 100_000

    @pytest.mark.parametrize("name", [name for name in fj.MEASURES if name not in {"weightedtau", "spearman"}])
    def test_all_k_of_100_000_items(self, name):
        rng = np.random.default_rng(1)
        r, s = rng.random(self.N), np.round(rng.random(self.N), 3)
        curve = fj.curve(r, s, name)
        assert curve.values.size == self.N
        for k in (1, 1000, self.N):
            assert curve.values[k - 1] == pytest.approx(fj.score(r, s, k, name), nan_ok=True, abs=1e-12)

    def test_kendall_is_that_of_scipy(self):
        rng = np.random.default_rng(2)
        r, s = rng.random(self.N), np.round(rng.random(self.N), 3)
        assert fj.curve(r, s, "kendall").values[-1] == pytest.approx(stats.kendalltau(r, s).statistic)

    @pytest.mark.parametrize(("name", "takes"), [("weightedtau", "[0-9]+ hours"), ("spearman", "[0-9]+ minutes")])
    def test_endless_ones_are_refused(self, name, takes):
        r, s = np.random.default_rng(3).random((2, self.N))
        message = (
            f"{name} is computed anew at every k: 100000 k of 100000 items would take about {takes}. Pass ks='exp'"
        )
        calls = (
            lambda: fj.compare(r, s, ["fuji", name]),
            lambda: fj.compare(r, s, [name], permutations=10),
            lambda: fj.curve(r, s, name),
            lambda: fj.auc(r, s, name),
            lambda: fj.pairwise([r, s, r], measure=name, ks="all"),
            lambda: fj.stability_curve([r, s, r], measure=name, ks="all"),
            lambda: fj.stability([r, s, r], measure=name, ks="all"),
        )
        for call in calls:
            with pytest.raises(fj.InputError, match=message):
                call()

    @pytest.mark.parametrize("name", ["weightedtau", "spearman"])
    def test_few_points_are_never_refused(self, name):
        r, s = np.random.default_rng(4).random((2, self.N))
        assert fj.curve(r, s, name, ks="exp").values.size == 18

    @pytest.mark.parametrize("name", ["weightedtau", "spearman"])
    def test_the_command_names_its_option(self, name, tmp_path):
        rng = np.random.default_rng(5)
        for file in ("a.csv", "b.csv"):
            rows = "".join(f"x{i},{score}\n" for i, score in enumerate(rng.random(30_000)))
            (tmp_path / file).write_text(f"item,score\n{rows}", encoding="utf-8")
        files = [str(tmp_path / file) for file in ("a.csv", "b.csv")]
        for command in (["compare", *files], ["matrix", *files, "--ks", "all"]):
            done = CliRunner().invoke(fuji, [*command, "--measure", name])
            assert done.exit_code == 2
            assert re.search(f"^fuji {command[0]}: {name} is computed anew.* Pass --ks exp", done.stderr)
        assert CliRunner().invoke(fuji, ["compare", *files, "--measure", name, "--ks", "exp"]).exit_code == 0

    @pytest.mark.parametrize("name", ["weightedtau", "spearman"])
    def test_each_point_is_computed_once(self, name, monkeypatch):
        """For values, notes and levels alike."""
        function = {"spearman": "spearmanr"}.get(name, name)
        calls = []
        coefficient = getattr(stats, function)
        monkeypatch.setattr(stats, function, lambda *args, **kw: calls.append(1) or coefficient(*args, **kw))
        r, s = np.random.default_rng(6).random((2, 50))
        fj.compare(r, s, [name]).levels()
        assert 45 <= len(calls) <= 50


def test_every_formula_has_a_row_of_the_table_and_every_row_a_formula():
    assert list(FORMULAS) == list(fj.MEASURES)
