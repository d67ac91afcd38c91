"""Signed scores: agreement measures of the explanation literature, and items split by sign."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import oracle
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fujiscore as fj
from fujiscore.cli import fuji

SIGNED = st.sampled_from([-3.0, -2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0, 4.0])


@st.composite
def signed_pairs(draw, least=1, most=8):
    n = draw(st.integers(least, most))
    return [draw(st.lists(SIGNED, min_size=n, max_size=n)) for _ in range(2)]


@st.composite
def untied_pairs(draw):
    """Signed scores without zeros whose magnitudes differ."""
    n = draw(st.integers(1, 8))
    orders = draw(st.permutations(range(1, n + 1))), draw(st.permutations(range(1, n + 1)))
    signs = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=2 * n, max_size=2 * n))
    return [x * sign for x, sign in zip(orders[0], signs[:n], strict=True)], [
        x * sign for x, sign in zip(orders[1], signs[n:], strict=True)
    ]


def by_magnitude(scores):
    return sorted(range(len(scores)), key=lambda x: -abs(scores[x]))


class TestAgreementOfExplanations:
    """Top k by magnitude: the features, their ranks and their signs."""

    @given(untied_pairs())
    def test_definitions(self, pair):
        r, s = pair
        first, second = by_magnitude(r), by_magnitude(s)
        for k in range(1, len(r) + 1):
            both = set(first[:k]) & set(second[:k])
            ranks = {x for x in both if first.index(x) == second.index(x)}
            signs = {x for x in both if (r[x] > 0) == (s[x] > 0)}
            expected = {
                "feature_agreement": both,
                "rank_agreement": ranks,
                "sign_agreement": signs,
                "signed_rank_agreement": ranks & signs,
            }
            for name, items in expected.items():
                assert fj.score(r, s, k, name, negative="abs") == pytest.approx(len(items) / k), name

    @given(signed_pairs())
    def test_ties_and_zeros(self, pair):
        """Top sets with all tied items; tied items share their best rank; only 0 has the sign of 0."""
        r, s = (dict(enumerate(scores)) for scores in pair)
        best = [{x: sum(abs(y) > abs(own[x]) for y in own.values()) for x in own} for own in (r, s)]
        for k in range(1, len(r) + 1):
            first, second = ({x for x in ranks if ranks[x] < k} for ranks in best)
            both, size = first & second, max(len(first), len(second))
            ranks = {x for x in both if best[0][x] == best[1][x]}
            signs = {x for x in both if np.sign(r[x]) == np.sign(s[x])}
            expected = {"rank_agreement": ranks, "sign_agreement": signs, "signed_rank_agreement": ranks & signs}
            for name, items in expected.items():
                assert fj.score(*pair, k, name, negative="abs") == pytest.approx(len(items) / size), name

    @given(signed_pairs(least=2))
    def test_pairs_with_ties(self, pair):
        """Of all pairs of items, those that both rankings order alike, or both tie."""
        sizes = np.abs(pair)
        alike = [
            np.sign(sizes[0, i] - sizes[0, j]) == np.sign(sizes[1, i] - sizes[1, j])
            for i in range(sizes.shape[1])
            for j in range(i)
        ]
        value = fj.score(*pair, sizes.shape[1], "pairwise_rank_agreement", negative="abs")
        assert value == pytest.approx(np.mean(alike))

    @given(untied_pairs())
    def test_whole_lists(self, pair):
        r, s = pair
        if len(r) > 1:
            tau = stats.kendalltau(np.abs(r), np.abs(s)).statistic
            pairs = fj.score(r, s, len(r), "pairwise_rank_agreement", negative="abs")
            assert pairs == pytest.approx((tau + 1) / 2)
            rho = stats.spearmanr(np.abs(r), np.abs(s)).statistic
            assert fj.score(r, s, len(r), "rank_correlation", negative="abs") == pytest.approx(rho)

    @given(signed_pairs())
    def test_each_asks_for_more_than_the_next(self, pair):
        options = {"negative": "abs", "ties": "stable"}
        feature, sign, both = (
            fj.curve(*pair, name, **options).values
            for name in ("feature_agreement", "sign_agreement", "signed_rank_agreement")
        )
        rank = fj.curve(*pair, "rank_agreement", **options).values
        assert (both <= np.minimum(rank, sign)).all()
        assert (np.maximum(rank, sign) <= feature).all()

    @given(signed_pairs())
    def test_signs_are_kept_however_magnitudes_come_about(self, pair):
        expected = fj.curve(*pair, "sign_agreement", negative="abs").values
        np.testing.assert_array_equal(fj.curve(*pair, "sign_agreement", transform="abs").values, expected)
        made = fj.rankings({"a": pair[0], "b": pair[1]}, negative="abs")
        np.testing.assert_array_equal(fj.curve(made["a"], made["b"], "sign_agreement").values, expected)
        again = fj.rankings(made, negative="abs")
        np.testing.assert_array_equal(fj.curve(again["a"], again["b"], "sign_agreement").values, expected)
        assert again.notes == made.notes

    def test_other_notes_are_kept(self):
        notes = fj.rankings({"a": [-1.0, float("nan")]}, transform="abs", nan="zero").notes
        assert notes == ("scores read as magnitudes", "a: 1 NaN score replaced with 0")

    def test_labels_carry_the_signs_along(self):
        r, s = {"a": -3, "b": 2, "c": 1}, {"c": 1, "a": -3, "b": -2}
        assert fj.score(r, s, 3, "sign_agreement", negative="abs") == pytest.approx(2 / 3)
        assert fj.score({"a": -3, "b": 2}, s, 2, "sign_agreement", negative="abs", missing="zero") == 0.5
        holes = {"a": -3, "b": float("nan"), "c": 1}
        assert fj.score(holes, s, 2, "sign_agreement", negative="abs", nan="drop") == 1.0

    @pytest.mark.parametrize(("policy", "score"), [("max", -3), ("first", 2), ("mean", -2.5)])
    def test_of_duplicates_the_magnitudes_count_and_the_sign_follows(self, policy, score):
        r = fj.rankings([[("a", 2), ("a", -3), ("b", 1)]], negative="abs", duplicates=policy)[0]
        assert r.scores.tolist() == [abs(score), 1]
        assert r.signs.tolist() == [np.sign(score), 1]

    def test_opposite_signs_never_agree(self):
        r = np.array([4.0, -3.0, 2.0, -1.0])
        values = {name: fj.curve(r, -r, name, negative="abs").values.tolist() for name in SIGN_MEASURES}
        assert values == {"sign_agreement": [0] * 4, "signed_rank_agreement": [0] * 4}
        assert fj.curve(r, -r, "rank_agreement", negative="abs").values.tolist() == [1] * 4

    @pytest.mark.parametrize("universe", [None, 9])
    def test_permutations_deal_the_signs_with_the_scores(self, universe):
        """The mean over permutations is that over all assignments of signed scores, ties in magnitude or not."""
        for s in ([4.0, -3.0, 2.0, -1.0], [1.0, -1.0, -1.0, 1.0]):
            r = [-2.0, 3.0, 1.0, -4.0]
            options = {"negative": "abs", "ks": [2], "universe": universe}
            level = fj.chance(r, s, "sign_agreement", permutations=4000, **options)
            assert level.expected[0] == pytest.approx(expected_sign_agreement(r, s, 2, universe or 4), abs=0.03)


SIGN_MEASURES = ("sign_agreement", "signed_rank_agreement")


def expected_sign_agreement(r, s, k, n):
    """The mean share of same-signed items in both top sets, the scores of s dealt to n items."""
    cut_r, cut_s = sorted(map(abs, r))[-k], sorted(map(abs, s))[-k]
    in_r, in_s = [x for x in r if abs(x) >= cut_r], [x for x in s if abs(x) >= cut_s]
    same = sum((x > 0) == (y > 0) for x in in_r for y in in_s)
    return same / n / max(len(in_r), len(in_s))


def halves(scores):
    """Every item as two, from the definition."""
    return [max(x, 0.0) for x in scores] + [max(-x, 0.0) for x in scores]


R = {"x": 3.0, "y": -2.0, "z": 1.0}
S = {"x": 2.0, "y": 2.5, "z": -1.0}


class TestSplit:
    """Every item becomes two, one for each sign."""

    @pytest.mark.parametrize("measure", ["fuji", "jaccard", "pog", "rank_agreement"])
    @given(pair=signed_pairs(), ties=st.sampled_from(["closed", "stable"]))
    def test_it_is_the_doubled_list_up_to_the_number_of_items(self, measure, pair, ties):
        r, s = pair
        curve = fj.curve(r, s, measure, negative="split", ties=ties)
        assert curve.ks.tolist() == list(range(1, len(r) + 1))
        exact = oracle.curve(measure, halves(r), halves(s), curve.ks.tolist(), ties=ties)
        assert curve.values == pytest.approx([float(x) for x in exact])

    @given(untied_pairs())
    def test_opposite_signs_share_nothing(self, pair):
        r = np.array(pair[0])
        assert fj.curve(r, -r, negative="split").values.tolist() == [0.0] * r.size
        assert fj.curve(r, r, negative="split").values.tolist() == [1.0] * r.size
        assert fj.curve(r, -r, negative="abs").values.tolist() == [1.0] * r.size

    @given(untied_pairs())
    def test_sign_agreement_is_feature_agreement_of_split_items(self, pair):
        for whole, by_sign in [("sign_agreement", "pog"), ("signed_rank_agreement", "rank_agreement")]:
            expected = fj.curve(*pair, whole, negative="abs").values
            np.testing.assert_allclose(fj.curve(*pair, by_sign, negative="split").values, expected)
            np.testing.assert_allclose(fj.curve(*pair, whole, negative="split").values, expected)

    def test_up_to_the_zero_tail(self):
        r = np.array([2.0, -1.0, 0.0])
        assert fj.curve(r, -r, negative="split").values.tolist() == [0.0, 0.0, 1.0]

    def test_labels_and_notes(self):
        both = fj.rankings({"r": R, "s": S}, negative="split")
        assert both.labels == ("x (+)", "y (+)", "z (+)", "x (-)", "y (-)", "z (-)")
        assert both["r"].scores.tolist() == [3, 0, 1, 0, 2, 0]
        assert both.notes == ("negative='split': 3 items read as 6, two signs each",)
        assert fj.rankings(both)["s"].scores.tolist() == [2, 2.5, 0, 0, 0, 1]
        assert fj.rankings([[1.0, -2.0]], negative="split").labels == ("0 (+)", "1 (+)", "0 (-)", "1 (-)")

    def test_made_rankings_are_aligned_by_their_items(self):
        first, second = fj.rankings({"r": R}, negative="split"), fj.rankings({"s": S}, negative="split")
        other = fj.rankings({"t": {"w": 4.0, "y": -1.0}}, negative="split")
        assert fj.auc(first, second) == fj.auc(R, S, negative="split")
        assert fj.auc(first, other, missing="zero") == fj.auc(
            R, {"w": 4.0, "y": -1.0}, negative="split", missing="zero"
        )
        assert fj.pairwise(first, second).values == pytest.approx(fj.pairwise([R, S], negative="split").values[:1, 1:])

    def test_explain_names_opposite_signs(self):
        why = fj.explain(R, S, 2, negative="split")
        assert (why.items, why.kind) == (
            ["y (+)", "y (-)", "x (+)"],
            ["opposite sign", "opposite sign", "shared"],
        )
        assert "(1 shared, 2 of opposite sign) / 3 items" in str(why)
        assert "opposite sign" not in fj.explain(R, S, 2, negative="abs").kind

    def test_chance_deals_whole_items(self):
        """The mean and the variance over permutations are those over all assignments of signed scores."""
        r, s = [3.0, -2.0, 1.0, 0.5], [2.0, 2.5, -1.0, -4.0]
        dealt = [float(oracle.value("fuji", halves(r), halves(own), 2)) for own in permutations(s)]
        level = fj.chance(r, s, ks=[2], negative="split", permutations=4000)
        assert level.expected[0] == pytest.approx(np.mean(dealt), abs=0.02)
        assert level.variance[0] == pytest.approx(np.var(dealt), abs=0.01)
        assert not level.exact
        assert any("both signs of an item move together" in note for note in level.notes)

    def test_a_consensus_finds_signed_items(self):
        """Without negative scores, splitting changes no p-value; with its sign changed, an item is another one."""
        scores = np.random.default_rng(1).random((4, 12))
        whole, split = (fj.consensus(scores, "rra", negative=sign) for sign in ("raise", "split"))
        np.testing.assert_array_equal(split.p_values, np.append(whole.p_values, np.ones(12)))
        scores[:, 3] = -9.0
        assert fj.consensus(scores, "rra", negative="split").best(1).startswith("3 (-)")
        assert fj.consensus(scores, negative="split").best(1).startswith("3 (-)")

    @pytest.mark.parametrize("measure", ["kendall", "spearman", "weightedtau", "pairwise_rank_agreement"])
    def test_split_lists_have_no_rank_correlation(self, measure):
        with pytest.raises(fj.InputError, match="compares whole lists, which items split by sign are not"):
            fj.score(R, S, 3, measure, negative="split")

    def test_the_order_of_the_rows_changes_no_p_value(self):
        rng = np.random.default_rng(4)
        r, s = rng.normal(size=(2, 12))
        mixed = rng.permutation(12)
        values = [
            fj.chance(*pair, ks=[3], negative="split", permutations=200).p_value
            for pair in [(r, s), (r[mixed], s[mixed])]
        ]
        assert values[0] == values[1]

    def test_no_closed_form_is_used(self):
        comparison = fj.compare(R, S, negative="split")
        assert not comparison.chance
        assert "no chance level: of items split by sign it needs permutations=1000" in comparison.notes
        assert comparison.n == 3
        for call, option in ((fj.pairwise, "corrected"), (fj.pairwise, "p_values"), (fj.stability, "corrected")):
            with pytest.raises(fj.InputError, match=f"{option} cannot be combined with negative='split'"):
                call([R, S, R], negative="split", **{option: True})

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (
                lambda: fj.fuji(R, S, 1, negative="split", universe=9),
                "universe cannot be combined with negative='split'",
            ),
            (lambda: fj.bounds(R, S, negative="split"), "negative='split' has no bounds"),
            (lambda: fj.fuji(R, S, 4, negative="split"), "k must lie between 1 and 3"),
            (lambda: fj.fuji(R, {"x": -np.inf, "y": 1, "z": 0}, 1, negative="split"), "must hold finite scores"),
            (lambda: fj.fuji(fj.rankings([R], negative="split")[0], S, 1), "must be split by sign as the others are"),
            (lambda: fj.rankings([{1: 1, "1": 2}], negative="split"), "needs labels that differ as text"),
        ],
    )
    def test_refusals(self, call, message):
        with pytest.raises(fj.InputError, match=message):
            call()

    def test_on_the_command_line(self, tmp_path):
        for name, scores in [("r", R), ("s", S)]:
            lines = [f"{item},{score}" for item, score in scores.items()]
            (tmp_path / f"{name}.csv").write_text("\n".join(["item,score", *lines]) + "\n", encoding="utf-8")
        files = [str(tmp_path / "r.csv"), str(tmp_path / "s.csv")]
        done = CliRunner().invoke(fuji, ["explain", *files, "-k", "2", "--negative", "split", "--json"])
        assert done.exit_code == 0, done.output
        answer = json.loads(done.stdout)
        assert answer["fuji"] == pytest.approx(fj.fuji(R, S, 2, negative="split"))
        assert [row["kind"] for row in answer["rows"]] == ["opposite sign", "opposite sign", "shared"]
