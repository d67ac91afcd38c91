"""Items with intervals: mean ranks, intervals and tiers by brute force, and identical items by simulation."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.many.ranks import item_ranks, last_alike, tiers


def ranks_by_counting(scores):
    """Return the rank of each item: one more than the number above it, plus half of its other ties."""
    return [1 + sum(y > x for y in scores) + (sum(y == x for y in scores) - 1) / 2 for x in scores]


def tiers_by_hand(rows, confidence):
    """Return tiers of items by t-tests of SciPy, one pair at a time."""
    m, n = rows.shape

    def differ(a, b):
        (first, both), (_, second) = np.cov(rows[:, a], rows[:, b])
        spread = max(first, 1 / 4) + max(second, 1 / 4) - 2 * min(both, 0)
        gap = max(rows[:, b].mean() - rows[:, a].mean() - 1 / m, 0)
        return 2 * stats.t.sf(gap / np.sqrt(spread / m), m - 1) < (1 - confidence) / (n - 1)

    differing = {(a, b) for a, b in combinations(range(n), 2) if differ(a, b)}
    ends = [all((a, b) in differing for a in range(end) for b in range(end, n)) for end in range(1, n)]
    return [1 + sum(ends[:item]) for item in range(n)]


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 4), min_size=n, max_size=n), min_size=3, max_size=12)
    ),
    st.integers(1, 5),
)
def test_by_brute_force(rows, k):
    found = item_ranks(fj.rankings(rows), k, 0.9)
    ranks = np.array([ranks_by_counting(row) for row in rows])
    m, n = ranks.shape
    order = list(found.items)
    assert order == sorted(range(n), key=lambda i: (ranks[:, i].mean(), i))
    for place, item in enumerate(order):
        own = ranks[:, item]
        reach = stats.t.ppf(0.95, m - 1) * np.sqrt(max(own.var(ddof=1), 1 / 12) / m)
        ends = (max(own.mean() - reach, 1), min(own.mean() + reach, n))
        assert (found.low[place], found.high[place]) == pytest.approx(ends)
        assert found.low[place] < found.high[place]
        assert (found.best[place], found.worst[place]) == (own.min(), own.max())
        inside = np.mean([sum(y >= row[item] for y in row) <= k for row in rows])
        assert found.in_top[place] == pytest.approx(inside)
    assert found.tier.tolist() == tiers_by_hand(ranks[:, order], 0.9)


def noisy(levels, m, rng, noise=1.0):
    return np.exp(np.asarray(levels) + noise * rng.normal(size=(m, len(levels))))


def test_clear_groups_are_tiers():
    scores = noisy(np.repeat([8.0, 4.0, 0.0], 4), 25, np.random.default_rng(0), 0.5)
    found = fj.stability(scores).ranks(k=4)
    assert found.tier.tolist() == np.repeat([1, 2, 3], 4).tolist()
    assert set(found.items[:4]) == {0, 1, 2, 3}
    np.testing.assert_array_equal(found.in_top, np.repeat([1, 0, 0], 4))


def test_ranks_that_never_change():
    few, many = (fj.stability(np.tile([4.0, 3, 2, 1], (m, 1))).ranks() for m in (3, 10))
    assert few.tier.tolist() == [1, 1, 1, 1]  # three rankings in the same order are too few
    assert many.tier.tolist() == [1, 2, 3, 4]
    assert np.all(few.low < few.high)
    assert np.all(many.high - many.low < few.high - few.low)


def test_a_chain_of_items_that_differ_at_its_ends_is_one_tier():
    rng = np.random.default_rng(0)
    ranks = np.column_stack([np.full(30, 11), rng.integers(1, 24, 30), np.full(30, 14)]).astype(float)
    ranks[:, 1] += 12.5 - ranks[:, 1].mean()
    assert tiers(last_alike(ranks[:, [0, 2]], 0.95)).tolist() == [1, 2]
    assert tiers(last_alike(ranks, 0.95)).tolist() == [1, 1, 1]


def test_many_items_are_tested_in_blocks(monkeypatch):
    groups = np.repeat(np.arange(1, 11), 6)
    ranks = sorted_ranks(noisy(-3.0 * groups, 20, np.random.default_rng(1)))
    whole = tiers(last_alike(ranks, 0.95))
    assert whole.tolist() == tiers_by_hand(ranks, 0.95)
    assert whole[-1] > 1
    monkeypatch.setattr("fujiscore.many.ranks.BLOCK", 7)
    assert tiers(last_alike(ranks, 0.95)).tolist() == whole.tolist()


def sorted_ranks(scores):
    """Return the ranks of items, the best mean rank first."""
    ranks = stats.rankdata(-scores, axis=1)
    return ranks[:, np.argsort(ranks.mean(axis=0), kind="stable")]


@pytest.mark.parametrize("m", [3, 5, 8, 10, 30])
@pytest.mark.parametrize("sizes", [(2,), (3,), (12,), (2,) * 6, (4,) * 3], ids=str)
def test_equal_items_are_rarely_split_and_different_ones_mostly(m, sizes):
    """Groups of equal items, four standard deviations apart: a group in two tiers is an error."""
    rng, trials = np.random.default_rng(m), 500
    groups = np.repeat(np.arange(len(sizes)), sizes)
    found = [tiers(last_alike(sorted_ranks(noisy(-4.0 * groups, m, rng)), 0.95)) for _ in range(trials)]
    torn = np.mean([any(np.ptp(tier[groups == group]) for group in range(len(sizes))) for tier in found])
    assert torn <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / trials)
    if m >= 10:
        assert np.mean([np.array_equal(tier - 1, groups) for tier in found]) >= 0.85


@pytest.mark.parametrize("m", [5, 10, 30])
def test_intervals_cover_the_mean_rank(m):
    rng = np.random.default_rng(m)
    levels = np.linspace(3, 0, 10)
    rows = noisy(levels, 20000, rng)
    truth = stats.rankdata(-rows, axis=1).mean(axis=0)
    covered = []
    for _ in range(300):
        found = item_ranks(fj.rankings(noisy(levels, m, rng)))
        own = truth[list(found.items)]
        covered.append((found.low <= own) & (own <= found.high))
    assert 0.9 <= np.mean(covered) <= 0.98


def test_truncated_lists():
    lists = {"a": {"x": 3, "y": 2, "z": 1}, "b": {"x": 3, "w": 2}, "c": {"y": 4, "x": 2, "w": 1}}
    found = fj.stability(lists, universe=50).ranks(k=2)
    assert found.items[0] == "x"
    place = found.items.index("z")
    assert found.mean[place] == pytest.approx((3 + 3.5 + 4) / 3)
    assert any("does not list" in note for note in found.notes)


def test_table_print_and_one_item():
    pytest.importorskip("pandas")
    found = fj.stability([{"a": 3, "b": 1}, {"a": 2, "b": 1}, {"a": 1, "b": 2}]).ranks(k=1)
    table = found.to_frame("pandas")
    assert list(table.columns) == ["item", "tier", "mean_rank", "low", "high", "best", "worst", "in_top"]
    assert table["item"].tolist() == ["a", "b"]
    assert "tier 1: a, rank 1.3 (1.0 to 2.0), in top 1: 67%" in str(found)
    alone = item_ranks(fj.rankings([[1], [2], [3]]))
    assert (alone.mean[0], alone.low[0], alone.high[0], alone.tier[0]) == (1, 1, 1, 1)


def test_what_could_mislead_is_noted():
    found = fj.stability({"dead": [1, 1, 1], "b": [3, 2, 1], "c": [3, 1, 2]}).ranks(k=3)
    assert "every item has the same score, so the mean rank, in dead" in found.notes
    assert "all 3 items are in the top 3, whatever their ranks" in found.notes
    assert not fj.stability([[1, 2, 3], [3, 2, 1], [3, 1, 2]]).ranks(k=2).notes


def test_long_tables_are_cut_in_print():
    found = fj.stability(np.random.default_rng(0).random((4, 25))).ranks()
    assert "\n... and 15 more\n" in str(found)
    assert "resamples of one data set tell about that data set" in str(found)


def test_picture():
    pytest.importorskip("matplotlib")
    scores = noisy(np.repeat([8.0, 4.0, 0.0], 4), 25, np.random.default_rng(0), 0.5)
    ax = fj.stability(scores).ranks().plot(items=9)
    assert [text.get_text() for text in ax.texts] == ["tier 1", "tier 2", "tier 3"]
    assert len(ax.get_yticks()) == 9


def run(*arguments):
    return CliRunner().invoke(fuji, ["stability", *map(str, arguments)])


def test_command(tmp_path):
    file = tmp_path / "runs.csv"
    scores = noisy(np.repeat([8.0, 4.0], 2), 12, np.random.default_rng(1), 0.5)
    rows = [",".join([f"g{i}", *(f"{x:.6g}" for x in scores[:, i])]) for i in range(4)]
    header = ",".join(["item", *(f"run{j}" for j in range(12))])
    file.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    expected = fj.stability(fj.read(file)).ranks(k=2)
    text = run(file, "--ranks", "-k", "2")
    assert text.exit_code == 0, text.output
    assert "4 items in 2 tiers" in text.output
    assert "in top 2" in text.output
    found = json.loads(run(file, "--ranks", "-k", "2", "--json").stdout)
    assert [item["item"] for item in found["items"]] == list(expected.items)
    assert [item["tier"] for item in found["items"]] == expected.tier.tolist()
    assert [item["low"] for item in found["items"]] == pytest.approx(expected.low)
    table = run(file, "--ranks", "--csv").stdout.splitlines()
    assert table[0] == "item,tier,mean_rank,low,high,best,worst,in_top"
    assert len(table) == 5
    refused = run(file, file, "--ranks")
    assert refused.exit_code == 2
    assert "--ranks takes one method" in refused.output
    for wrong in (("-k", "2"), ("--ranks", "--corrected"), ("--ranks", "-m", "jaccard"), ("--ranks", "--ks", "2")):
        refused = run(file, *wrong)
        assert refused.exit_code == 2, wrong
        assert "--ranks" in refused.output
    alone = run(file, "--alternative", "less")
    assert alone.exit_code == 2
    assert "--alternative needs two methods" in alone.output


def test_command_with_an_alternative(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("item,x,y,z\na,3,4,5\nb,2,1,3\nc,1,2,2\n", encoding="utf-8")
    found = json.loads(run(file, file, "--alternative", "greater", "--json").stdout)
    assert found["differences"][0]["alternative"] == "greater"
    assert 0 < found["differences"][0]["p_value"] <= 1


def test_a_tier_whose_ends_differ_is_named():
    rng = np.random.default_rng(3)
    falling = np.linspace(3, 0, 30) ** 2 * np.exp(0.25 * rng.normal(size=(15, 30)))
    note = "first and last item differ significantly, but no place divides the items between them"
    assert f"in tier 1, {note}" in fj.stability(falling).ranks().notes
    apart = [[9, 5, 2, 1], [8, 6, 0, 2], [9, 7, 3, 1], [7, 6, 1, 0]] * 2
    assert not any(note in said for said in fj.stability(apart).ranks().notes)


def test_errors():
    found = fj.stability(np.eye(3))
    with pytest.raises(fj.InputError, match="k must be an integer of at least 1; got 0"):
        found.ranks(k=0)
    with pytest.raises(fj.InputError, match="ranks needs the rankings themselves"):
        fj.results.Stability(0.5, 0.4, 0.6, 0.1, 0.95, 3, found.pairs, found.left_out).ranks()
