"""Rankings too long for memory: two passes over Parquet columns give what `compare` gives in memory."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import accumulate, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from gallery import public_functions
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.measures.grids import grid
from fujiscore.pair.passes.long import LongRequest, Passes
from fujiscore.pair.passes.stream import Column, ColumnPair, segments, together
from fujiscore.pair.passes.thresholds import BITS, MOST_POINTS, keys, score

SETS = ("fuji", "jaccard", "hamming", "lustgarten", "kuncheva", "krizek", "pearson", "cwrel", "dice", "pog")
HARD = [0.0, -0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-200, 0.1, 0.5, 1.0, 1.0 + 2**-52, 1.0 + 2**-30]
HARD += [2.0, 3.0, 1e150, 1e300, 1.7976931348623157e308]


def column(scores, name, parts=None):
    """Return an array as a column whose parts have the given numbers of rows."""
    scores = np.asarray(scores, np.float64)
    parts = (scores.size,) if parts is None else tuple(parts)
    ends = [0, *accumulate(parts)]

    def batches(_, first, last, rows):
        for part in range(first, last + 1):
            for start in range(ends[part], ends[part + 1], rows):
                yield [scores[start : min(start + rows, ends[part + 1])].copy()]

    known = {"fits": False, "key": name, "batches": batches, "labels": lambda *_: iter(()), "load": lambda *_: None}
    return Column(name, name, name, parts, **known)


def in_passes(
    r, s, path, *, zero_tail="include", parts=(None, None), rows=7, keep=1 << 22, bits=14, n_jobs=1, **policies
):
    """Return the overlap of two arrays along a path, read in small batches, and the stream."""
    columns = column(r, "r", parts[0]), column(s, "s", parts[1])
    stream = ColumnPair(*columns, rows=rows, n_jobs=n_jobs, **policies)
    both, overlap = Passes(stream, keep=keep, bits=bits).overlap(np.asarray(path), zero_tail)
    return overlap, both, stream


def comparison(both, overlap, measures, points):
    """Return a comparison along a grid of what was read in passes."""
    chosen = tuple(fj.MEASURES[name] for name in measures)
    return fj.results.Comparison(both, chosen, points, np.empty(0, np.int64), overlap, both.notes)


def same_ties(ours, theirs):
    """Return whether passes know the ties as memory does: of scores that are not kept, only bounds are known."""
    pairs = ((getattr(ours, side), getattr(theirs, side)) for side in "rs")
    return all(
        one.higher_of_two(ours.n) == other.higher_of_two(ours.n) and one.log_ties == pytest.approx(other.log_ties)
        for one, other in pairs
    )


def assert_same(ours, theirs, rel=1e-12):
    """Assert that counts are equal, and values, chance levels and p-values close."""
    for name in ("k1", "k2", "shared"):
        assert getattr(ours.overlap, name).tolist() == getattr(theirs.overlap, name).tolist(), name
    for name, curve in theirs.curves.items():
        assert ours.curves[name].values == pytest.approx(curve.values, rel=rel, nan_ok=True), name
    assert ours.chance.keys() == theirs.chance.keys()
    for name, chance in theirs.chance.items():
        mine = ours.chance[name]
        assert mine.expected == pytest.approx(chance.expected, rel=1e-11, abs=1e-13, nan_ok=True), name
        assert np.sqrt(mine.variance) == pytest.approx(np.sqrt(chance.variance), rel=1e-6, abs=1e-10, nan_ok=True), name
        if chance.p_value is not None and mine.p_value is not None and same_ties(ours.overlap, theirs.overlap):
            assert mine.p_value == pytest.approx(chance.p_value, rel=1e-4, abs=1e-9, nan_ok=True), name


@st.composite
def scores_and_cuts(draw):
    """Draw two rankings with ties, zeros, denormals and huge numbers, and how their columns are cut into parts."""
    n = draw(st.integers(1, 60))
    few = st.sampled_from(draw(st.lists(st.sampled_from(HARD), min_size=1, max_size=4)))
    one = st.one_of(few, st.sampled_from(HARD), st.floats(0, 1), st.floats(0, allow_infinity=False))
    values = few if draw(st.booleans()) else one
    r, s = (draw(st.lists(values, min_size=n, max_size=n)) for _ in range(2))
    parts = []
    for _ in range(2):
        cuts = sorted(draw(st.sets(st.integers(1, n), max_size=4)) | {n})
        parts.append([b - a for a, b in pairwise([0, *cuts])])
    return np.array(r), np.array(s), parts


@settings(max_examples=100, deadline=None)
@given(
    scores_and_cuts(),
    st.sampled_from(["include", "exclude"]),
    st.integers(1, 9),
    st.sampled_from([0, 3, 1 << 22]),
    st.integers(1, 16),
    st.data(),
)
def test_passes_give_what_memory_gives(drawn, zero_tail, rows, keep, bits, data):
    r, s, parts = drawn
    some = st.sets(st.integers(1, r.size), min_size=1, max_size=12).map(sorted)
    points = grid(data.draw(st.one_of(st.just("exp"), st.just("all"), some)), r.size)
    overlap, both, _ = in_passes(r, s, points.ks, zero_tail=zero_tail, parts=parts, rows=rows, keep=keep, bits=bits)
    ours = comparison(both, overlap, SETS, points)
    assert_same(ours, fj.compare(r, s, SETS, ks=points, zero_tail=zero_tail))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([20, 300, 3000]),
    st.sampled_from(["flat", "heavy", "tied", "zeros", "close"]),
)
@example(0, 3000, "close")
def test_p_values_of_random_scores(seed, n, kind):
    rng = np.random.default_rng(seed)
    r = {
        "flat": rng.random(n),
        "heavy": rng.pareto(0.4, n),
        "tied": rng.integers(0, 6, n) / 7,
        "zeros": np.where(rng.random(n) < 0.8, 0.0, rng.random(n)),
        "close": 0.75 + 1e-9 * rng.random(n),
    }[kind]
    s = np.where(rng.random(n) < 0.3, r, rng.permutation(r))
    points = grid("exp", n)
    overlap, both, _ = in_passes(r, s, points.ks, rows=64, parts=([n // 3, n - n // 3], [n // 3, n - n // 3]))
    theirs = fj.compare(r, s, ks="exp")
    ours = comparison(both, overlap, ("fuji", "jaccard"), points)
    assert_same(ours, theirs)
    for name, chance in theirs.chance.items():
        if chance.auc_z is not None and np.isfinite(chance.auc_z):
            rounding = 1e-14 / np.sqrt(chance.analytic.variance)
            assert ours.chance[name].auc_z == pytest.approx(chance.auc_z, rel=1e-6, abs=1e-6 + rounding)


def test_two_scores_that_leading_bits_do_not_tell_apart():
    r, s = np.zeros((2, 31))
    r[30], s[29:] = 5e-324, 5e-324
    points = grid("exp", r.size)
    overlap, both, _ = in_passes(r, s, points.ks, rows=1, keep=0, bits=1)
    ours = comparison(both, overlap, ("fuji", "jaccard"), points)
    assert ours.chance["fuji"].p_value == pytest.approx(2 / 31)
    assert_same(ours, fj.compare(r, s, ks="exp"))


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_keys_rise_as_scores_fall(scores):
    scores = np.array(scores)
    order = np.argsort(keys(scores), kind="stable")
    assert (scores[order][:-1] >= scores[order][1:]).all()
    assert (score(keys(scores)) == scores).all()


def test_negative_scores_order_but_count_0():
    rng = np.random.default_rng(3)
    r, s = rng.normal(size=(2, 500))
    r[:3] = -np.inf
    points = grid("exp", 500)
    for policy in ("clip", "abs"):
        first = np.where(np.isinf(r), -1.0, r) if policy == "abs" else r
        overlap, both, _ = in_passes(first, s, points.ks, negative=policy)
        theirs = fj.compare(first, s, SETS, ks="exp", negative=policy)
        assert_same(comparison(both, overlap, SETS, points), theirs)
        assert both.notes[: len(theirs.rankings.notes)] == theirs.rankings.notes


@pytest.mark.parametrize("policy", ["zero", "drop"])
def test_nan_policies(policy):
    rng = np.random.default_rng(4)
    r, s = rng.random((2, 300))
    r[[5, 250]], s[[5, 17]] = np.nan, np.nan
    n = 300 if policy == "zero" else 297
    points = grid("exp", n)
    overlap, both, _ = in_passes(r, s, points.ks, nan=policy)
    theirs = fj.compare(r, s, SETS, ks="exp", nan=policy)
    assert_same(comparison(both, overlap, SETS, points), theirs)
    assert both.n == n
    for ours, note in zip(both.notes, theirs.rankings.notes, strict=False):
        assert note.startswith(ours)


def test_nothing_is_left():
    with pytest.raises(fj.InputError, match="no item left"):
        in_passes([np.nan, 1.0], [1.0, np.nan], [1], nan="drop")


def test_equal_scores_take_two_passes_and_close_ones_more():
    rng = np.random.default_rng(5)
    n = 4000
    tied = np.where(rng.random((2, n)) < 0.5, 0.0, rng.integers(1, 4, (2, n)) / 3)
    points = grid("exp", n)
    assert in_passes(*tied, points.ks, keep=10, rows=512)[2].passes == 2
    close = 1.0 + rng.integers(0, 1 << 40, (2, n)) * 2.0**-52
    overlap, both, stream = in_passes(*close, points.ks, keep=100, rows=512)
    assert stream.passes > 2
    assert_same(comparison(both, overlap, SETS, points), fj.compare(*close, SETS, ks="exp"))
    overlap, few, stream = in_passes(*close, points.ks, rows=512)
    assert stream.passes == 2
    assert few.notes[-1].startswith("4000 rows read in 2 passes")


def test_bits_do_not_depend_on_threads():
    rng = np.random.default_rng(6)
    r, s = rng.pareto(1.0, (2, 20_000))
    parts = [1000] * 20
    points = grid("exp", r.size)
    runs = [in_passes(r, s, points.ks, parts=(parts, parts), rows=300, n_jobs=jobs) for jobs in (1, 4, 4)]
    first = comparison(runs[0][1], runs[0][0], SETS, points)
    assert runs[1][2].threads == 4
    for overlap, both, _ in runs[1:]:
        other = comparison(both, overlap, SETS, points)
        for name, curve in first.curves.items():
            assert other.curves[name].values.tobytes() == curve.values.tobytes()
        assert [level.p_value for level in other.levels()] == [level.p_value for level in first.levels()]


@given(st.lists(st.integers(1, 20), min_size=1), st.lists(st.integers(1, 20), min_size=1), st.integers(1, 30))
def test_segments_cover_both_columns(first, second, least):
    total = max(sum(first), sum(second))
    columns = []
    for name, parts in (("first", first), ("second", second)):
        rest = total - sum(parts)
        columns.append(column(np.arange(total), name, [*parts, rest] if rest else parts))
    rows = 0
    for segment in segments(*columns, least):
        scores = [(x for [x] in col.batches((), *part, 4)) for col, part in zip(columns, segment.parts, strict=True)]
        for r, s in together(*scores):
            assert r.tolist() == s.tolist() == list(range(rows, rows + r.size))
            rows += r.size
    assert rows == total


@pytest.fixture
def little_memory(monkeypatch):
    """Let nothing fit in memory."""
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1B")


def write(path, **columns):
    """Write a Parquet file with small row groups; return its name."""
    pq.write_table(pa.table(columns), path, row_group_size=700)
    return str(path)


@pytest.fixture
def scores(tmp_path):
    """Return a file of items and two columns of scores, and the scores."""
    rng = np.random.default_rng(7)
    a = rng.pareto(1.5, 5000).round(3)
    b = np.where(rng.random(5000) < 0.2, 0.0, a * rng.lognormal(size=5000))
    items = [f"i{i:05}" for i in range(5000)]
    return write(tmp_path / "scores.parquet", item=items, a=a, b=b), a, b


def answer(*arguments):
    """Run the command; return its exit code, output and messages."""
    done = CliRunner().invoke(fuji, ["compare", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_scan_reads_small_files_into_memory(scores):
    file, a, b = scores
    result = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ["fuji", "rbo"])
    assert result.rankings.names == ("a", "b")
    assert result.auc["fuji"] == fj.compare(a, b).auc["fuji"]
    assert result.explain(10).value == fj.fuji(a, b, 10)
    assert fj.compare(fj.scan(f"{file}:a"), dict(zip(fj.read(f"{file}:b").labels, b, strict=True))).auc["jaccard"] > 0


@pytest.mark.usefixtures("little_memory")
def test_library_in_passes(scores):
    file, a, b = scores
    result = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), SETS, ks="exp", k=[3, 100])
    assert_same(result, fj.compare(a, b, SETS, ks="exp", k=[3, 100]))
    assert result.rankings.names == ("a", "b")
    assert any("5000 rows read in 2 passes" in note for note in result.notes)
    assert "krizek is undefined" in result.notes[-1]
    assert str(result).startswith("5000 items, k = 1 to 5000 (14 points)")
    assert "read in passes" in repr(result.rankings[0])
    assert len(result.to_frame()) == 14
    with pytest.raises(fj.InputError, match="a and b must be in memory for explain"):
        result.explain(10)


@pytest.mark.usefixtures("little_memory")
def test_what_needs_items_is_refused(scores):
    file, _, b = scores
    both = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp").rankings
    first, second = both
    assert not isinstance(first, fj.Ranking)
    assert not isinstance(both, fj.Rankings)
    calls = [getattr(fj, name) for name in ("auc", "curve", "compare", "chance", "bounds", "drift", "rbo")]
    calls += [lambda r, s, name=name: getattr(fj, name)(r, s, 3) for name in ("fuji", "score", "explain", "recall")]
    calls += [lambda r, s, name=name: getattr(fj, name)([r, s]) for name in ("rankings", "pairwise", "stability")]
    calls += [
        lambda r, _: fj.compare(r, b),
        lambda _, s: fj.compare(b, s),
        lambda r, s: fj.compare_runs({"q": r}, {"q": s}),
        lambda r, _: fj.importances(r),
        lambda r, _: np.asarray(r),
    ]
    for call in calls:
        with pytest.raises(fj.InputError, match=r"must be in memory.*FUJISCORE_MEMORY_LIMIT.*scan"):
            call(first, second)
    for name in (
        "rankings",
        "pairwise",
        "stability",
        "stability_curve",
        "consensus",
        "sequential_rank_agreement",
        "compare_runs",
    ):
        given = (both, both) if name == "compare_runs" else (both,)
        with pytest.raises(fj.InputError, match="a and b must be in memory, not read in passes"):
            public_functions()[name](*given)


@pytest.mark.usefixtures("little_memory")
def test_rankings_read_in_passes_offer_all_or_refuse_it(scores):
    file, a, _ = scores
    result = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp")
    for summary, whole in ((result.rankings[0], fj.Ranking(a)), (result.rankings, fj.rankings([a]))):
        public = {name for name in dir(whole) if not name.startswith("_")}
        refused = public - set(dir(summary))
        assert {"scores", "to_frame"} <= refused
        for name in public - refused:
            getattr(summary, name)
        for name in refused:
            with pytest.raises(fj.InputError, match=f"must be in memory for .{name}, not read in passes"):
                getattr(summary, name)
    with pytest.raises(AttributeError):
        result.rankings[0].nonsense  # noqa: B018
    with pytest.raises(AttributeError):
        result.rankings[0].n = 3
    for duplicate in (copy.copy, copy.deepcopy, lambda obj: pickle.loads(pickle.dumps(obj))):
        again = duplicate(result.rankings)
        assert (repr(again), repr(again["b"])) == (repr(result.rankings), repr(result.rankings[1]))
        assert duplicate(result).chance["fuji"].p_value == result.chance["fuji"].p_value


def test_command_in_passes(scores, monkeypatch):
    file, _, _ = scores
    _, known, _ = answer(f"{file}:a", f"{file}:b", "--ks", "exp", "--json")
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1B")
    for files in ([f"{file}:a", f"{file}:b"], [file]):
        code, out, err = answer(*files, "--json")
        assert (code, err) == (0, "")
        ours, theirs = json.loads(out), json.loads(known)
        assert ours["ks"] == theirs["ks"]
        assert ours["explained"] is None
        for name, measure in theirs["measures"].items():
            mine = ours["measures"][name]
            assert mine["curve"] == pytest.approx(measure["curve"], rel=1e-12)
            for key, value in measure["auc"].items():
                assert mine["auc"][key] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value)
            assert mine["at"].keys() == measure["at"].keys()
        assert any("2 passes" in note for note in ours["notes"])
    code, out, _ = answer(f"{file}:a", f"{file}:b", "-k", "10")
    assert code == 0
    assert "top-weighted AUC" in out
    assert "5000 rows read in 2 passes" in " ".join(out.split())
    assert answer(f"{file}:a", f"{file}:b", "--csv")[1].count("\n") == 15


@pytest.mark.usefixtures("little_memory")
def test_two_files_must_list_the_same_items_in_the_same_order(tmp_path, scores):
    file, a, b = scores
    items = [f"i{i:05}" for i in range(5000)]
    other = write(tmp_path / "other.parquet", gene=items, b=b)
    pq.write_table(pq.read_table(other), other, row_group_size=999)
    result = fj.compare(fj.scan(f"{file}:a"), fj.scan(other), ks="exp")
    assert_same(result, fj.compare(a, b, ks="exp"))
    assert result.rankings.names == ("a", "other")
    code, out, _ = answer(f"{file}:b", f"{other}:b", "--json")
    assert code == 0
    assert json.loads(out)["a"] == f"{file}:b:b"
    items[4500], items[4501] = items[4501], items[4500]
    swapped = write(tmp_path / "swapped.parquet", gene=items, b=b)
    code, _, err = answer(f"{file}:a", swapped)
    assert code == 2
    assert "row 4501 has 'i04500' and 'i04501'. Sort both files by item." in err
    short = write(tmp_path / "short.parquet", gene=items[:-1], b=b[:-1])
    code, _, err = answer(f"{file}:a", short)
    assert (code, "5000 and 4999 rows" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ks", "all"], "take at most 126 k; got 5000. Pass --ks exp"),
        (["--ks", "squared", "--top", "3"], "--top and --ks"),
        (["--top", "127"], "at most 126 k; got 127"),
        (["-m", "rbo", "-m", "fuji"], "cannot tell the ranks that rbo needs"),
        (["--permutations", "10"], "Leave out --permutations"),
        (["--ties", "stable"], "Pass --ties closed"),
        (["--negative", "split"], "do not split items by sign"),
        (["--transform", "exp"], "know no --transform"),
        (["--universe", "9999"], "know no --universe"),
        (["--duplicates", "max"], "do not merge repeated items"),
        (["--fail-under", "0.5"], "Pass --ks exp to judge the top-weighted area"),
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_what_passes_cannot_give_is_refused(scores, arguments, message):
    file, _, _ = scores
    code, out, err = answer(f"{file}:a", f"{file}:b", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("little_memory")
def test_fail_under_judges_the_area_that_was_asked_for(scores):
    file, _, _ = scores
    files = f"{file}:a", f"{file}:b"
    assert answer(*files, "--ks", "exp", "--fail-under", "0.1", "-q")[0] == 0
    code, out, _ = answer(*files, "--ks", "exp", "--fail-under", "0.999", "-q")
    assert code == 1
    assert "FAILED: FUJI (top-weighted AUC) 0." in out


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, None, 0.25], "1 of 3 is NaN (first: nan at row 2). Pass nan='zero'"),
        ([0.5, 0.25, float("nan")], "(first: nan at row 3)"),
        ([0.5, float("inf"), 0.25], "must hold finite scores; 1 of 3 is infinite (first: inf at row 2)"),
        ([0.5, 0.25, -1.0], "must hold non-negative scores; 1 of 3 is negative (first: -1 at row 3)"),
        ([2**53, 2**53 + 1, 1], "9007199254740993 becomes 9007199254740992"),
        ([-1.0, -2.0, -3.0], "non-negative"),
    ],
)
@pytest.mark.usefixtures("little_memory")
def test_bad_scores_are_refused(tmp_path, values, message):
    file = write(tmp_path / "bad.parquet", item=["x", "y", "z"], a=values, b=[1.0, 2.0, 3.0])
    for columns in (("a", "b"), ("b", "a")):
        with pytest.raises(fj.InputError) as caught:
            fj.compare(*(fj.scan(f"{file}:{name}") for name in columns), ks="exp")
        assert message in str(caught.value)
        assert "bad.parquet, column 'a'" in str(caught.value)


@pytest.mark.parametrize("kind", [pa.float32(), pa.int8(), pa.int64(), pa.uint64(), pa.decimal128(9, 3), pa.float16()])
def test_numbers_of_any_type(tmp_path, monkeypatch, kind):
    rng = np.random.default_rng(8)
    a, b = (pa.array(rng.integers(0, 90, 300)).cast(pa.float64()).cast(kind) for _ in range(2))
    file = write(tmp_path / "kinds.parquet", item=range(300), a=a, b=b)
    known = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp")
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1B")
    assert_same(fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp"), known)


@pytest.mark.parametrize("values", [[0.0] * 40, [2.5] * 40, [0.0] * 39 + [1.0], [1.0] * 39 + [0.5]])
def test_constant_and_nearly_constant_columns(tmp_path, monkeypatch, values):
    file = write(tmp_path / "flat.parquet", item=range(40), a=values, b=values[::-1], c=np.arange(40.0))
    for other in ("b", "c"):
        monkeypatch.delenv("FUJISCORE_MEMORY_LIMIT", raising=False)
        known = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:{other}"), ks="exp")
        monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1B")
        ours = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:{other}"), ks="exp")
        assert_same(ours, known)
        assert ours.p_value == pytest.approx(known.p_value, rel=1e-9, nan_ok=True)
        assert set(known.notes) <= set(ours.notes)


@pytest.mark.usefixtures("little_memory")
def test_all_negative_scores_have_no_fuji(tmp_path):
    file = write(tmp_path / "logs.parquet", item=range(3), a=[-1.0, -2.0, -3.0], b=[1.0, 2.0, 3.0])
    with pytest.raises(fj.InputError, match="all of its scores are negative"):
        fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp", negative="clip")


@pytest.mark.usefixtures("little_memory")
def test_scan_refuses_what_it_cannot_stream(tmp_path, scores):
    file, a, _ = scores
    text = tmp_path / "scores.csv"
    text.write_text("item,a\nx,1\n")
    for path in (text, f"{text}:a", tmp_path / "none.parquet", f"{file}:c"):
        with pytest.raises(fj.InputError, match="must name a column of numbers in a Parquet file"):
            fj.scan(path)
    with pytest.raises(fj.InputError, match=r"holds 2 rankings: a, b\. Name one"):
        fj.scan(file)
    with pytest.raises(fj.InputError, match="can be compared with another column only"):
        fj.compare(fj.scan(f"{file}:a"), a, ks="exp")
    with pytest.raises(fj.InputError, match="in all; got 127"):
        fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks=[1], k=range(2, MOST_POINTS + 2))
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(fj.InputError, match="damaged"):
        fj.scan(f"{damaged}:a")


@pytest.mark.usefixtures("little_memory")
def test_p_values_by_name_are_noted(tmp_path):
    file = write(tmp_path / "tests.parquet", item=range(30), pvalue=np.linspace(0, 1, 30), score=np.arange(30.0))
    result = fj.compare(fj.scan(f"{file}:pvalue"), fj.scan(f"{file}:score"), ks="exp")
    assert any("looks like p-values" in note for note in result.notes)


@pytest.mark.usefixtures("little_memory")
def test_progress_is_shown(scores, capsys):
    file, _, _ = scores
    fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp", progress=True)
    assert "pass 2" in capsys.readouterr().err


@pytest.mark.usefixtures("little_memory")
def test_the_first_pass_is_not_made_for_nothing(scores):
    file, _, _ = scores
    asked = LongRequest((fj.MEASURES["rbo"],), "exp", 0, "closed")
    with pytest.raises(fj.InputError, match="ranks"):
        asked.refuse(10, {})
    with pytest.raises(fj.InputError, match="ranks"):
        fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ["rbo"], ks="exp")


@pytest.mark.slow
def test_ten_million_items(tmp_path, monkeypatch):
    rng = np.random.default_rng(9)
    n = 10_000_000
    a = rng.pareto(1.5, n)
    b = np.where(rng.random(n) < 0.3, 0.0, a * rng.lognormal(size=n))
    file = tmp_path / "long.parquet"
    pq.write_table(pa.table({"item": np.arange(n), "a": a, "b": b}), file)
    monkeypatch.setenv("FUJISCORE_MEMORY_LIMIT", "1B")
    result = fj.compare(fj.scan(f"{file}:a"), fj.scan(f"{file}:b"), ks="exp")
    assert_same(result, fj.compare(a, b, ks="exp"))
    assert BITS == 22
