"""Similarity of two methods from resamples, and tests between pairs: by brute force, and coverage by simulation."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import special, stats

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.many.pair_tests import _compared, _similarity

BASE = np.linspace(3, 0, 20) ** 3


def methods(m, rng, noise=(0.3, 0.3, 0.6), common=0.3):
    """Return resamples of three methods that share the noise of each resample."""
    shared = np.exp(common * rng.normal(size=(m, BASE.size)))
    return [BASE * shared * np.exp(own * rng.normal(size=(m, BASE.size))) for own in noise]


def values(a, b):
    return np.array([[fj.auc(x, y, ks="exp") for y in b] for x in a])


def logit_interval(value, error, m):
    reach = stats.t.ppf(0.975, m - 1) * error / (value * (1 - value))
    return [special.expit(special.logit(value) + side * reach) for side in (-1, 1)]


def jackknife(statistic, size):
    """Return the jackknife variance of a statistic of the positions that are kept."""
    without = np.array([statistic([i for i in range(size) if i != j]) for j in range(size)])
    return (size - 1) / size * ((without - without.mean()) ** 2).sum()


def test_paired_value_and_interval():
    a, b, _ = methods(6, np.random.default_rng(0))
    found = fj.stats.resampled_similarity(a, b, paired=True)
    own = [fj.auc(x, y, ks="exp") for x, y in zip(a, b, strict=True)]
    assert found.value == pytest.approx(np.mean(own))
    assert found.standard_error == pytest.approx(stats.sem(own))
    assert (found.low, found.high) == pytest.approx(logit_interval(np.mean(own), stats.sem(own), 6))
    assert "resamples drawn as these were" in str(found)


def test_unpaired_value_and_interval():
    rng = np.random.default_rng(1)
    a, b = methods(6, rng)[0], methods(4, rng)[1]
    found, own = fj.stats.resampled_similarity(a, b), values(a, b)
    variance = jackknife(lambda kept: own[kept].mean(), 6) + jackknife(lambda kept: own[:, kept].mean(), 4)
    assert not found.paired
    assert found.value == pytest.approx(own.mean())
    assert found.standard_error == pytest.approx(np.sqrt(variance))
    assert (found.low, found.high) == pytest.approx(logit_interval(own.mean(), np.sqrt(variance), 4))


def test_paired_comparison_is_a_t_test():
    a, b, c = methods(7, np.random.default_rng(2))
    ab, ac = ([fj.auc(x, y, ks="exp") for x, y in zip(a, other, strict=True)] for other in (b, c))
    for sides in ("two-sided", "greater", "less"):
        found = fj.stats.compare_pairs(a, b, c, paired=True, alternative=sides)
        expected = stats.ttest_rel(ab, ac, alternative=sides)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
        low, high = expected.confidence_interval()
        assert (found.low, found.high) == pytest.approx((max(low, -1), min(high, 1)))
    assert fj.stats.compare_pairs(a, c, b, paired=True).difference == -found.difference


@pytest.mark.parametrize("sizes", [(5, 4, 6), (5, 5, 5)])
def test_unpaired_comparison_by_jackknife(sizes):
    rng = np.random.default_rng(3)
    a, b, c = (methods(m, rng)[i] for i, m in enumerate(sizes))
    ab, ac = values(a, b), values(a, c)
    parts = (
        jackknife(lambda kept: ab[kept].mean() - ac[kept].mean(), sizes[0]),
        jackknife(lambda kept: ab[:, kept].mean(), sizes[1]),
        jackknife(lambda kept: ac[:, kept].mean(), sizes[2]),
    )
    variance = sum(parts) - (unexplained(ab) + unexplained(ac)) / 2
    freedom = min(sizes) - 1
    if len(set(sizes)) == 1:
        freedom *= sum(parts) ** 2 / sum(part**2 for part in parts)
    found = fj.stats.compare_pairs(a, b, c)
    assert found.difference == pytest.approx(ab.mean() - ac.mean())
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.difference) / np.sqrt(variance), freedom))


def unexplained(table):
    """Return the mean square of a two-way table without rows and columns, over its number of cells."""
    rows, columns = table.shape
    rest = [
        (table[i, j] - table[i].mean() - table[:, j].mean() + table.mean()) ** 2
        for i in range(rows)
        for j in range(columns)
    ]
    return sum(rest) / (rows - 1) / (columns - 1) / (rows * columns)


def test_names_tell_pairs():
    named = [dict(zip("xyz", method, strict=True)) for method in methods(3, np.random.default_rng(4))]
    assert fj.stats.compare_pairs(*named).first.paired
    assert fj.stats.resampled_similarity(*named[:2]).paired
    assert not fj.stats.resampled_similarity(named[0], list(named[1].values())).paired


LISTS = (
    [{"x": 3, "y": 2, "z": 1}, {"x": 3, "y": 1, "z": 2}, {"x": 5, "y": 2, "z": 1}],
    [{"z": 1, "y": 2, "x": 3}, {"z": 2, "y": 3, "x": 1}, {"z": 1, "y": 2, "x": 5}],
    [{"z": 1, "y": 2, "w": 3}, {"z": 2, "y": 1, "w": 3}, {"z": 1, "y": 2, "w": 5}],
)


@pytest.mark.parametrize("missing", ["zero", "drop"])
def test_all_methods_are_compared_on_the_same_items(missing):
    """Items that only one of three methods has count, or do not, in both pairs."""
    items = {"zero": "wxyz", "drop": "yz"}[missing]
    a, b, c = ([[one.get(item, 0) for item in items] for one in method] for method in LISTS)
    expected = fj.stats.compare_pairs(a, b, c, ks=1, paired=True)
    found = fj.stats.compare_pairs(*LISTS, ks=1, paired=True, missing=missing)
    assert found.difference == pytest.approx(expected.difference)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    with pytest.raises(fj.InputError, match="must score every item"):
        fj.stats.compare_pairs(*LISTS, paired=True)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("corrected", [False, True])
def test_no_spread(paired, corrected):
    same, other = np.tile([4.0, 3, 2, 1], (3, 1)), np.tile([1.0, 2, 3, 4], (3, 1))
    options = {"paired": paired, "corrected": corrected}
    for b in (same, other):
        found = fj.stats.resampled_similarity(same, b, **options)
        assert found.low < found.high
        assert any("spread over the resamples is zero" in note for note in found.notes)
    test = fj.stats.compare_pairs(same, same, other, **options)
    assert 0.05 < test.p_value < 1
    assert test.low < test.difference <= test.high
    assert fj.stats.compare_pairs(same, other, other, **options).p_value == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: fj.stats.compare_pairs(x, x, x[:2]), "c must hold at least 3 rankings of one method; got 2"),
        (lambda x: fj.stats.compare_pairs(x, x, x, alternative="more"), "alternative must be one of"),
        (
            lambda x: fj.stats.compare_pairs(x, x, x[:3], paired=True),
            "paired needs as many rankings of each method; got 4, 4, 3",
        ),
        (lambda x: fj.stats.resampled_similarity(x, x, confidence=2), "confidence must be a number between 0 and 1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(fj.InputError, match=message):
        call(np.random.default_rng(0).random((4, 5)))


def command(*arguments):
    return CliRunner().invoke(fuji, ["stability", "--between", *map(str, arguments)])


@pytest.fixture
def files(tmp_path):
    """Return three files with four rankings of five items each; the second has the items in another order."""
    paths = []
    for i, method in enumerate(methods(4, np.random.default_rng(0))):
        rows = [",".join([f"g{j}", *map(str, method[:, j])]) for j in range(5)]
        paths.append(tmp_path / f"method{'abc'[i]}.csv")
        paths[-1].write_text("\n".join(["item,w,x,y,z", *(rows[::-1] if i == 1 else rows)]), encoding="utf-8")
    return paths


def test_command(files):
    a, b, c = map(fj.read, files)
    expected = fj.stats.compare_pairs(a, b, c, "jaccard", alternative="greater")
    report = json.loads(command(*files, "-m", "jaccard", "--alternative", "greater", "--json").stdout)
    assert report["differences"][0]["p_value"] == pytest.approx(expected.p_value)
    assert [row["similarity"] for row in report["similarities"]] == [expected.first.value, expected.second.value]
    assert report["similarities"][0]["paired"]
    text = command(*files, "--unpaired").stdout
    assert "all pairs of a ranking of each" in text
    assert "methoda is " in text
    two = command(*files[:2], "--csv").stdout.splitlines()
    assert two[0].startswith("first,second,measure,area,similarity,low,high")
    assert float(two[1].split(",")[4]) == pytest.approx(fj.stats.resampled_similarity(a, b).value)


@pytest.mark.parametrize(
    ("count", "options", "words"),
    [
        (1, [], "two or three files"),
        (2, ["--alternative", "less"], "--alternative needs three methods"),
        (2, ["--ranks"], "--between takes no"),
        (2, ["-k", "3"], "--between takes no"),
        (2, ["--score", "x"], "methoda: stability needs at least 3 rankings"),
    ],
)
def test_what_the_command_refuses(files, count, options, words):
    result = command(*files[:count], *options)
    assert result.exit_code == 2
    assert words in result.output


COVERAGE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "make_coverage.py"))
TRIALS = 1000


def pools(name, size=400):
    """Return all pairs of (A, B) and of (A, C): rankings that share the noise of resamples, B and C alike."""
    rng = np.random.default_rng(7)
    shared = np.exp(0.3 * rng.normal(size=(size, COVERAGE["N"])))
    a, b, c = (COVERAGE["GENERATORS"][name](size, rng) * shared for _ in range(3))
    return fj.pairwise(a, b), fj.pairwise(a, c)


def drawn(matrix, rows, columns, *, paired):
    """Return the similarity of some rankings of a pool."""
    raw = matrix.raw[np.ix_(rows, columns)]
    names = [tuple(map(str, positions)) for positions in (rows, columns)]
    return _similarity(replace(matrix, raw=raw, names=names[0], columns=names[1]), 0.95, paired=paired)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise", "skewed: some rankings much noisier", "many zeros"])
@pytest.mark.parametrize("paired", [False, True])
def test_coverage_and_type_one_error(name, paired):
    """How often intervals hold the true value, and how often tests reject a true difference, on both sides and one."""
    rng, (ab, ac) = np.random.default_rng(5), pools(name)
    means = [(np.diagonal(pool.values) if paired else pool.values).mean() for pool in (ab, ac)]
    for sizes in ((5, 5, 5), (10, 10, 10), (30, 30, 30), *([] if paired else [(5, 30, 30), (30, 5, 30)])):
        covered, outside, above, below = np.zeros(4)
        for _ in range(TRIALS):
            positions = [rng.choice(400, m, replace=False) for m in sizes]
            a, b, c = [positions[0]] * 3 if paired else positions
            first, second = drawn(ab, a, b, paired=paired), drawn(ac, a, c, paired=paired)
            both, more, less = (_compared(first, second, sides) for sides in ("two-sided", "greater", "less"))
            gap = means[0] - means[1]
            covered += first.low <= means[0] <= first.high
            outside += not both.low <= gap <= both.high
            above += gap < more.low
            below += gap > less.high
        error = np.sqrt(0.05 * 0.95 / TRIALS)
        assert covered / TRIALS >= 0.92, sizes
        assert outside / TRIALS <= 0.07 + error, sizes
        if len(set(sizes)) == 1:  # with unequal numbers of skewed rankings, one side has .01 to .10
            assert outside / TRIALS >= 0.02 - error, sizes
            assert max(above, below) / TRIALS <= 0.07 + error, sizes
