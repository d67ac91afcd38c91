"""Targets recognised or as told; missing values, categories, groups and time in `rank` and `study`."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import fujiscore as fj
from fujiscore.cli import fuji
from fujiscore.features.resampling import overlap, plan
from fujiscore.rankers import as_ranker, prepare, rank
from fujiscore.rankers.targets import as_target

RANDOM = np.random.default_rng(0)
QUANTITIES = {
    "fractions": RANDOM.normal(size=50),
    "few fractions": [0.5, 1.5, 2.5, 3.5, 4.5],
    "many whole numbers": RANDOM.permutation(300),
    "whole floats": np.arange(80) // 2 * 1.0,
    "ages": 18 + np.arange(2000) % 60,
    "codes with too few rows each": np.arange(120) % 40,
    "decimals": [Decimal(i) / 7 for i in range(30)],
    "fractions of integers": [Fraction(i, 7) for i in range(30)],
    "a Series": pd.Series(RANDOM.normal(size=50)),
    "nullable": pd.Series(RANDOM.permutation(300), dtype="Int64"),
}
CLASSES = {
    "text": ["a", "b"] * 20,
    "bools": [True, False] * 20,
    "numbers as text": [str(i / 7) for i in range(30) for _ in (0, 1)],
    "digits": np.arange(200) % 10,
    "digits as floats": np.arange(200) % 10 * 1.0,
    "numbered from 1 on": 1 + np.arange(3000) % 100,
    "half steps": np.arange(100) % 9 / 2,
    "two fractions": [0.5, 1.5, 0.5],
    "categories": pd.Series(["x", "y"] * 9, dtype="category"),
}


@pytest.fixture
def run(capsys):
    """Return a function that runs a command: exit code, output, errors."""

    def call(*arguments):
        with pytest.raises(SystemExit) as leaving:
            fuji.main(list(map(str, arguments)))
        captured = capsys.readouterr()
        return leaving.value.code, captured.out, captured.err

    return call


class TestRecognition:
    @pytest.mark.parametrize("kind", QUANTITIES)
    def test_quantities(self, kind):
        target = as_target(QUANTITIES[kind])
        assert (target.task, target.is_quantity, target.counts.size) == ("regression", True, 0)
        assert target.values.dtype == np.float64
        np.testing.assert_array_equal(target.values, [float(value) for value in QUANTITIES[kind]])
        assert "is treated as a quantity; task='classification' if they are classes" in target.notes[0]
        assert as_target(QUANTITIES[kind], "regression").notes == ()

    @pytest.mark.parametrize("kind", CLASSES)
    def test_classes(self, kind):
        target = as_target(CLASSES[kind])
        assert target.task == "classification"
        values = list(CLASSES[kind])
        ordered = sorted(set(values))
        assert target.values.tolist() == [ordered.index(value) for value in values]
        assert target.counts.tolist() == [values.count(value) for value in ordered]

    @pytest.mark.parametrize("kind", ["numbered from 1 on", "half steps", "two fractions"])
    def test_what_may_be_a_quantity_is_noted(self, kind):
        assert "are treated as classes; task='regression' if they are a quantity" in as_target(CLASSES[kind]).notes[0]
        assert not any("treated as" in note for note in as_target(CLASSES[kind], "classification").notes)
        assert as_target(CLASSES["digits"]).notes == ()

    @pytest.mark.parametrize("kind", ["fractions", "ages", "whole floats"])
    def test_the_task_can_be_forced(self, kind):
        values = np.tile(np.asarray(QUANTITIES[kind]), 2)
        assert as_target(values, "classification").task == "classification"
        forced = as_target(CLASSES["digits"], "regression")
        assert forced.values.tolist() == list(CLASSES["digits"])

    @pytest.mark.parametrize(
        ("y", "task", "message"),
        [
            (["a", "b"], "regression", "y must hold numbers for task='regression'; it holds 'a'"),
            ([True, False], "regression", "y must hold numbers for task='regression'; it holds True"),
            ([1.5, 1.5, 1.5], "regression", "y must vary; all 3 rows have 1.5"),
            ([1.5, np.nan, 2.5], "regression", "every row a target; 1 of 3 are missing"),
            ([1.5, np.inf, 2.5], "regression", "every row a target; 1 of 3 are missing or infinite"),
            ([1, 2, 3], "auto", "all 3 rows are of different classes. Pass task='regression' if it is a quantity"),
            (np.array([1.5, np.inf, 2.5], object), "auto", "every row a target; 1 of 3 are missing or infinite"),
            ([Decimal("1.5"), Decimal("-Infinity"), Decimal(2)], "auto", "1 of 3 are missing or infinite"),
            ([2.5], "regression", "y must vary; the only row has 2.5"),
            ([1, 2, 1], "ranking", "task must be one of 'auto', 'classification', 'regression'; got 'ranking'"),
        ],
    )
    def test_clear_errors(self, y, task, message):
        with pytest.raises(fj.InputError, match=message):
            as_target(y, task)

    @given(st.lists(st.integers(-5, 5) | st.floats(-5, 5), min_size=2, max_size=40))
    def test_rows_of_a_target(self, y):
        try:
            target = as_target(y)
        except fj.InputError:
            return
        rows = np.arange(0, len(y), 2)
        try:
            part = target.at(rows)
        except fj.InputError:
            return
        whole = as_target([y[row] for row in rows], target.task)
        assert part.values.tolist() == whole.values.tolist()
        assert part.counts.tolist() == whole.counts.tolist()


def mixed(n=80, seed=0):
    """Return a frame with numbers, text and gaps, and a quantity that depends on all of them."""
    random = np.random.default_rng(seed)
    size, colour = random.normal(size=n), random.choice(["red", "blue", "green"], n)
    y = 2 * size + np.where(colour == "red", 3.0, 0.0) + random.normal(size=n) / 4
    frame = pd.DataFrame({"size": size, "colour": colour, "noise": random.normal(size=n)})
    frame.loc[::9, "size"] = np.nan
    frame.loc[3, "colour"] = None
    return frame, y


class TestMissingValues:
    def test_medians_and_most_frequent_categories(self):
        frame, y = mixed()
        filled = prepare(frame, y, inspect=True).filled()
        expected = frame.fillna({"size": frame["size"].median(), "colour": frame["colour"].mode()[0]})
        np.testing.assert_array_equal(filled.values, prepare(expected, y, inspect=True).values)
        assert filled.filled() is filled

    def test_the_median_of_huge_values_does_not_overflow(self):
        filled = prepare([[1.5e308], [1.6e308], [np.nan]], [0, 1, 1]).filled()
        assert filled.values[2, 0] == pytest.approx(1.55e308)

    def test_only_methods_that_need_it_have_them_filled_in(self):
        frame, y = mixed()
        table, y = prepare(frame, y > 0, inspect=True), y > 0
        held = rank(frame, y, ["relief", "mutual_information"])
        relief, information = as_ranker("relief"), as_ranker("mutual_information")
        np.testing.assert_array_equal(held["relief"].scores, relief(table))
        np.testing.assert_array_equal(held["mutual_information"].scores, information(table.filled()))
        expected = "missing values in columns 'size', 'colour': medians and most frequent categories for "
        assert f"{expected}mutual_information" in held.notes
        assert not any("missing" in note for note in rank(frame, y, ["relief"]).notes)

    def test_each_resample_is_filled_in_by_itself(self):
        frame, y = mixed()
        found = fj.study(frame, y > 0, ["mutual_information"], resamples=3, permutations=0)
        table = prepare(frame, y > 0, inspect=True)
        schedule = plan(table, 3, "subsample", 0.8, 0)
        part = table.at(schedule.rows(table, 1)).filled()
        expected = as_ranker("mutual_information")(part, None, schedule.seeds(1)[1])
        np.testing.assert_array_equal(found.resampled["mutual_information"].scores[1], expected)

    def test_estimators_that_can_use_gaps_get_them(self):
        assert as_ranker(RandomForestRegressor()).keeps_gaps
        assert not as_ranker(Ridge()).keeps_gaps
        frame, y = mixed()
        forest = RandomForestRegressor(5, random_state=0)
        table = prepare(frame, y, inspect=True)
        expected = RandomForestRegressor(5, random_state=0).fit(table.values, y).feature_importances_
        np.testing.assert_array_equal(as_ranker(forest)(table), expected)


class TestCategories:
    def test_linear_models_get_them_one_hot(self):
        frame, y = mixed()
        table = prepare(frame, y, inspect=True).filled()
        encoder = OneHotEncoder(sparse_output=False)
        hot = np.column_stack([table.values[:, 0], encoder.fit_transform(table.values[:, [1]]), table.values[:, 2]])
        weights = np.abs(Ridge().fit(hot, y).coef_)
        expected = [weights[0], weights[1:4].sum(), weights[4]]
        np.testing.assert_allclose(as_ranker(Ridge())(table), expected, rtol=1e-9)
        held = rank(frame, y, {"linear": LinearRegression(), "scaled": make_pipeline(StandardScaler(), Ridge())})
        one_hot = "LinearRegression is given column 'colour' one-hot"
        assert any(note.startswith(one_hot) and note.endswith("grows with their number") for note in held.notes)

    def test_trees_and_functions_get_codes(self):
        frame, y = mixed()
        table = prepare(frame, y, inspect=True).filled()
        tree = DecisionTreeRegressor(random_state=0)
        expected = DecisionTreeRegressor(random_state=0).fit(table.values, y).feature_importances_
        np.testing.assert_array_equal(as_ranker(tree)(table), expected)
        seen = []
        as_ranker(lambda x, _: seen.append(x) or [1.0, 2, 3])(table)
        np.testing.assert_array_equal(seen[0], table.values)

    def test_the_order_of_codes_does_not_matter_to_linear_models(self):
        frame, y = mixed()
        other = frame.assign(colour=frame["colour"].map({"red": "b", "blue": "c", "green": "a"}))
        first, second = (rank(table, y, [Ridge()])["Ridge"].scores for table in (frame, other))
        np.testing.assert_allclose(first, second, rtol=1e-9)


class TestTasks:
    @pytest.mark.parametrize(
        ("y", "method", "message"),
        [
            (np.arange(60) % 6, Ridge(), "m is a regressor, but the target is treated as 6 classes: pass task='reg"),
            (RANDOM.normal(size=60), LogisticRegression(), "m is a classifier, but the target is treated as a numeric"),
            (np.arange(60) % 6, make_pipeline(StandardScaler(), Ridge()), "m is a regressor"),
        ],
    )
    def test_estimators_of_the_other_kind_are_refused(self, y, method, message):
        with pytest.raises(fj.InputError, match=message):
            rank(RANDOM.normal(size=(60, 3)), y, {"m": method})

    def test_a_regressor_tells_two_classes_apart(self):
        x = RANDOM.normal(size=(60, 3))
        held = rank(x, np.where(x[:, 1] > 0, "yes", "no"), [Ridge()])
        np.testing.assert_allclose(held["Ridge"].scores, np.abs(Ridge().fit(x, x[:, 1] > 0).coef_))

    def test_what_cannot_be_fitted_is_one_sentence(self):
        x = np.full((20, 2), -1.0)
        x[:, 1] = np.arange(20)
        with pytest.raises(fj.InputError, match="MultinomialNB cannot be fitted to these data: Negative values"):
            rank(x, ["a", "b"] * 10, [MultinomialNB()])


class TestResamples:
    def groups(self, *sizes):
        """Return a prepared table of groups of these sizes, shuffled, with a quantity."""
        random = np.random.default_rng(0)
        groups = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
        x = random.normal(size=(groups.size, 3))
        return prepare(x, x[:, 0], groups=[f"site {group}" for group in groups.tolist()])

    @pytest.mark.parametrize("scheme", ["subsample", "bootstrap", "folds"])
    def test_groups_stay_whole(self, scheme):
        table = self.groups(5, 9, 1, 7, 12, 3, 4, 4)
        schedule = plan(table, 6, scheme, 0.5, 0)
        sizes = np.bincount(table.groups)
        for index in range(6):
            rows = schedule.rows(table, index)
            held = np.bincount(table.groups[rows], minlength=8)
            assert (held % sizes == 0).all()
            if scheme == "subsample":
                assert (held > 0).sum() == 4
        if scheme == "bootstrap":
            assert (held > sizes).any()
        if scheme == "folds":
            left = [np.setdiff1d(np.arange(45), schedule.rows(table, i)) for i in range(6)]
            assert sorted(np.concatenate(left)) == list(range(45))

    def test_groups_without_rows_do_not_count(self):
        table = self.groups(5, 9, 1, 7, 12, 3, 4, 4)
        part = table.at(np.flatnonzero(np.isin(table.groups, [1, 3, 4, 7])))
        assert np.bincount(part.groups).tolist() == [9, 7, 12, 4]
        x = np.where((table.groups < 4)[:, None], np.nan, table.values)
        found = fj.study(x, table.target.values, ["relief"], groups=table.groups, nan="drop", resamples=3, fraction=0.5)
        assert found.settings["groups"] == 4

    def test_a_resample_with_a_constant_quantity_is_named(self):
        x = np.random.default_rng(0).normal(size=(50, 3))
        y = np.where(np.arange(50) == 7, 3.5, 0.0)
        with pytest.raises(fj.InputError, match=r"resample \d of 9 cannot be ranked: y must vary; all 40 rows have 0"):
            fj.study(x, y, ["relief"], task="regression", resamples=9, permutations=0)

    def test_a_quantity_has_no_strata(self):
        x = np.random.default_rng(0).normal(size=(50, 3))
        table = prepare(x, x[:, 0])
        rows = plan(table, 5, "subsample", 0.8, 0).rows(table, 0)
        assert (rows.size, len(set(rows))) == (40, 40)
        assert plan(table, 5, "bootstrap", 0.8, 0).rows(table, 0).size == 50

    @given(n=st.integers(12, 60), count=st.integers(3, 5))
    @settings(max_examples=20)
    def test_time_is_scikit_learns_split(self, n, count):
        x = np.random.default_rng(n).normal(size=(n, 2))
        table = prepare(x, x[:, 0], task="regression")
        schedule = plan(table, count, "time", 0.8, 0)
        expected = [train.tolist() for train, _ in TimeSeriesSplit(count).split(x)]
        assert [schedule.rows(table, i).tolist() for i in range(count)] == expected

    @pytest.mark.parametrize("splitter", [GroupKFold(4), KFold(5, shuffle=True, random_state=0), TimeSeriesSplit(4)])
    def test_splitters_of_scikit_learn(self, splitter):
        table = self.groups(5, 9, 1, 7, 12, 3, 4, 4)
        if not isinstance(splitter, GroupKFold):
            table = replace(table, groups=None)
        schedule = plan(table, 99, splitter, 0.8, 0)
        expected = [sorted(train) for train, _ in splitter.split(table.values, table.target.values, table.groups)]
        assert [schedule.rows(table, i).tolist() for i in range(schedule.count)] == expected
        shares = [2 * len(set(a) & set(b)) / (len(a) + len(b)) for i, a in enumerate(expected) for b in expected[:i]]
        assert overlap(table, schedule) == pytest.approx(np.mean(shares))

    def test_a_splitter_of_masks(self):
        class Masks(KFold):
            def split(self, x, *_):
                return [(np.isin(np.arange(len(x)), train), test) for train, test in super().split(x)]

        table = replace(self.groups(5, 9, 7), groups=None)
        masks, positions = (plan(table, 9, kind(3), 0.8, 0) for kind in (Masks, KFold))
        assert [masks.rows(table, i).tolist() for i in range(3)] == [
            positions.rows(table, i).tolist() for i in range(3)
        ]

    def test_a_study_with_groups_and_one_with_a_splitter(self, tmp_path):
        table = self.groups(5, 9, 1, 7, 12, 3, 4, 4)
        methods, quick = {"ridge": Ridge()}, {"permutations": 0, "checkpoint": tmp_path}
        found = fj.study(table, methods=methods, resamples=4, **quick)
        assert (found.settings["task"], found.settings["groups"]) == ("regression", 8)
        assert "4 subsamples of 80% of the 8 groups" in found.to_markdown()
        split = fj.study(table, methods=methods, scheme=GroupKFold(4), **quick)
        assert (split.settings["resamples"], split.settings["scheme"], split.resumed) == (4, "GroupKFold", 0)
        assert "4 training sets of GroupKFold" in split.to_markdown()
        other = fj.study(table, methods=methods, scheme=GroupKFold(3), **quick)
        assert (other.settings["resamples"], other.resumed) == (3, 0)
        assert fj.study(table, methods=methods, scheme=GroupKFold(4), **quick).resumed == 4

    def test_classes_that_groups_leave_out_are_noted(self):
        x = np.random.default_rng(0).normal(size=(60, 3))
        y, groups = np.repeat(["a", "b", "c"], 20), np.arange(60) // 10
        found = fj.study(x, y, ["relief"], groups=groups, scheme="folds", resamples=6, permutations=0)
        assert not any("lack a class" in note for note in found.notes)
        found = fj.study(x, y, ["relief"], groups=np.arange(60) // 20, scheme="folds", resamples=3, permutations=0)
        assert "3 of 3 resamples lack a class, since groups or time determine their rows" in found.notes
        with pytest.raises(fj.InputError, match=r"resample 1 of 5 cannot be ranked: y .* all 10 rows are of one class"):
            fj.study(x, y, ["relief"], scheme="time", resamples=5, permutations=0)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"groups": [1, 2]}, "groups must name the group of each of the 30 rows of X; got 2"),
            ({"groups": [None, *"ab" * 14, "c"]}, "groups must give every row a group; 1 of 30 are missing"),
            ({"groups": np.zeros((30, 2))}, "groups must be one-dimensional: one group per row"),
            ({"groups": ["a", "b"] * 15}, "groups must name at least 3 groups; got 2"),
            ({"groups": np.arange(30) % 4, "scheme": "folds", "resamples": 5}, "at most the number of groups, 4"),
            ({"groups": np.arange(30), "scheme": "time"}, "uses the order of the rows and no groups: leave out groups"),
            ({"scheme": "time", "resamples": 20}, "resamples must be at most 14 for scheme='time' with 30 rows"),
            ({"scheme": KFold(2)}, "KFold must give at least 3 splits for a study; it gives 2"),
            ({"scheme": GroupKFold(3)}, "GroupKFold cannot split these data"),
        ],
    )
    def test_clear_errors(self, options, message):
        x = np.random.default_rng(0).normal(size=(30, 3))
        with pytest.raises(fj.InputError, match=message):
            fj.study(x, ["a", "b"] * 15, ["relief"], **{"resamples": 4, "permutations": 0, **options})


def test_a_bootstrap_is_noted_by_library_and_command(run, tmp_path):
    frame, y = mixed()
    found = fj.study(frame, y > 0, ["relief"], scheme="bootstrap", resamples=3, permutations=0)
    assert "copies of rows in a bootstrap sample" in found.to_markdown()
    path = tmp_path / "d.csv"
    frame.assign(y=y > 0).to_csv(path, index=False)
    options = [
        "--target",
        "y",
        "--method",
        "relief",
        "--scheme",
        "bootstrap",
        "--resamples",
        "3",
        "--permutations",
        "0",
    ]
    code, out, errors = run("study", path, *options, "--out", tmp_path / "out")
    assert code == 0, errors
    assert "copies of rows in a bootstrap sample" in " ".join(out.split())
    assert "copies of rows in a bootstrap sample" in (tmp_path / "out" / "summary.md").read_text()


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        (np.full(30, 2.5), ("--task", "regression"), "the target column must vary; all 30 rows have 2.5"),
        (np.full(30, 2.5), (), "the target column must hold at least two classes; all 30 rows are of class 2.5"),
        (
            np.where(np.arange(30) == 3, np.inf, np.arange(30) / 7),
            (),
            "the target column must give every row a target; 1 of",
        ),
        (
            ["a", "b"] * 15,
            ("--task", "regression"),
            "the target column must hold numbers for --task regression; it holds 'a'",
        ),
    ],
)
def test_the_command_speaks_of_the_target(run, tmp_path, column, options, message):
    pd.DataFrame({"x": RANDOM.normal(size=30), "z": np.arange(30) / 2, "price": column}).to_csv(tmp_path / "d.csv")
    code, _, errors = run("study", tmp_path / "d.csv", "--target", "price", *options, "--resamples", "3")
    assert (code, message in errors) == (2, True), errors


def test_a_range_that_overflows(recwarn):
    x = RANDOM.normal(size=(40, 2))
    x[:, 1] = np.sign(x[:, 1]) * 1.7e308
    assert rank(x, x[:, 0], ["relief", "mutual_information"]).n == 2
    assert not recwarn.list


def test_categories_are_counted_in_the_rows_that_are_left():
    # The last of four categories is in two of the four rows that remain, so its code does not say how many remain.
    frame = pd.DataFrame({"c": [*"ddbcaa"], "x": [1, 2, 3, 4, np.nan, np.nan]})
    assert rank(frame, [1.5, 2.5, 3, 4, 5, 6], ["relief"], nan="drop", task="regression").label(0) == "c"


METHODS = ("--method", "relief", "--method", "mutual_information", "--method", "genie3", "--method", "random_forest")
QUICK = ("--resamples", "3", "--permutations", "0", "--trees", "10")


def test_a_table_of_mixed_types_with_gaps_and_a_numeric_target(run, tmp_path):
    frame, y = mixed()
    frame.assign(price=np.where(np.arange(80) == 7, np.nan, y)).to_csv(tmp_path / "d.csv", index=False)
    code, out, errors = run("study", tmp_path / "d.csv", "--target", "price", *METHODS, *QUICK)
    assert code == 0, errors
    said = " ".join(out.split())
    assert "79 rows, 3 features, regression" in said
    assert "left out 1 row without a target" in said
    assert "is treated as a quantity; --task classification if they are classes" in said
    assert "medians and most frequent categories for mutual_information, genie3, random_forest" in said
    code, out, _ = run("study", tmp_path / "d.csv", "--target", "price", *METHODS, *QUICK, "--json")
    found = json.loads(out)
    assert (found["task"], found["classes"]) == ("regression", None)
    assert found["top_features"][0]["feature"] in {"size", "colour"}
    assert found["top_features"][2]["feature"] == "noise"


def test_diabetes_in_one_command(run):
    code, out, errors = run("study", "diabetes", *QUICK)
    assert code == 0, errors
    assert "442 rows, 10 features, regression" in out
    code, out, _ = run("rank", "diabetes", "--trees", "20", "--json")
    found = json.loads(out)
    assert found["task"] == "regression"
    for scores in found["scores"].values():
        assert {"bmi", "s5"} & set(np.array(found["features"])[np.argsort(scores)[-2:]])


def test_groups_and_time_by_the_command(run, tmp_path):
    frame, y = mixed()
    frame.assign(site=[f"s{i % 10}" for i in range(80)], y=y).to_csv(tmp_path / "d.csv", index=False)
    asked = ("study", tmp_path / "d.csv", "--target", "y", "--method", "relief", *QUICK)
    code, out, errors = run(*asked, "--groups", "site")
    assert code == 0, errors
    assert "3 subsamples of 80% of the 10 groups" in " ".join(out.split())
    assert "80 rows, 3 features" in out
    code, out, errors = run(*asked, "--scheme", "time", "--drop", "site")
    assert code == 0, errors
    assert "earlier resamples have fewer rows, which lowers the stability" in " ".join(out.split())
    assert "the rows are assumed to be in order of time" in " ".join(out.split())
    code, _, errors = run(*asked, "--groups", "place")
    assert (code, "--groups must name a column" in errors) == (2, True)
