"""Which columns are items, rankings and scores, and advice that works: every suggested command is run."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore.cli import fuji as command

DESEQ = """gene,baseMean,log2FoldChange,lfcSE,stat,pvalue,padj
A,100.5,2.1,0.2,10.1,0.001,0.01
B,50.2,-1.1,0.3,-3.1,0.01,0.02
C,10.1,0.5,0.1,5.0,0.05,0.06
"""
LIMMA = """gene,logFC,AveExpr,t,P.Value,adj.P.Val,B
A,2.1,4.2,9.1,0.001,0.01,4.6
B,-1.1,5.3,-3.1,0.01,0.02,1.2
C,0.5,6.1,5.0,0.05,0.06,0.1
"""
GENES = ("CD3D", "MS4A1", "LYZ", "NKG7")
TASKS = ("mnli", "sst2", "qqp")
MODELS = ("bert", "roberta", "t5", "gpt")
# One score for each pair of a ranking and an item, the same in every layout.
VALUE = {(i, j): 50 + (7 * i + 3 * j + i * j) % 11 for i in range(3) for j in range(4)}


def scanpy(groups=("0", "1", "2")):
    """Return the table that scanpy's rank_genes_groups_df writes for all groups."""
    rows = [
        f"{group},{gene},{VALUE[i, j]},{j + 0.5},{0.001 * (j + 1)},{0.002 * (j + 1)}"
        for i, group in enumerate(groups)
        for j, gene in enumerate(GENES)
    ]
    return "\n".join(["group,names,scores,logfoldchanges,pvals,pvals_adj", *rows, ""])


def board(columns):
    """Return a leaderboard as a long table, with its columns in some order."""
    rows = [
        {"task": task, "model": model, "score": str(VALUE[i, j])}
        for i, task in enumerate(TASKS)
        for j, model in enumerate(MODELS)
    ]
    return "\n".join([",".join(columns), *(",".join(row[name] for name in columns) for row in rows), ""])


WIDE = "\n".join(
    ["task," + ",".join(MODELS), *(f"{t}," + ",".join(str(VALUE[i, j]) for j in range(4)) for i, t in enumerate(TASKS))]
)
BY_TASK = {task: {model: float(VALUE[i, j]) for j, model in enumerate(MODELS)} for i, task in enumerate(TASKS)}
BY_MODEL = {model: {task: float(VALUE[i, j]) for i, task in enumerate(TASKS)} for j, model in enumerate(MODELS)}


@pytest.fixture
def write(tmp_path):
    def writer(name, text):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return writer


def held(rankings):
    """Return the rankings as plain dictionaries."""
    return {ranking.name: dict(zip(ranking.items, ranking.scores.tolist(), strict=True)) for ranking in rankings}


def fuji(*arguments):
    """Return the exit code and the output of a command."""
    done = CliRunner().invoke(command, list(arguments))
    return done.exit_code, done.output


def suggested(output, before):
    """Return the words of a suggestion in an error message."""
    return shlex.split(re.search(rf"{before}: (.*?)(?:\. Or |$)", output.strip())[1])


# What is the ranking, and what the item


@pytest.mark.parametrize("groups", [("0", "1", "2"), ("B cells", "T cells", "NK")], ids=["numbers", "words"])
def test_the_groups_of_scanpy_are_rankings(write, groups):
    found = fj.read(write("markers.csv", scanpy(groups)))
    assert held(found) == {
        group: {gene: float(VALUE[i, j]) for j, gene in enumerate(GENES)} for i, group in enumerate(groups)
    }
    assert "ranking column 'group', item column 'names', score column 'scores'" in found.notes[0]


def test_merging_duplicates_does_not_merge_the_groups_of_scanpy(write):
    assert fj.read(write("markers.csv", scanpy()), duplicates="max").names == ("0", "1", "2")


@pytest.mark.parametrize(
    "columns", [("task", "model", "score"), ("model", "task", "score"), ("score", "model", "task")]
)
def test_the_models_of_a_leaderboard_are_items(write, columns):
    assert held(fj.read(write("board.csv", board(columns)))) == BY_TASK


@pytest.mark.parametrize("word", ["dataset", "benchmark", "fold", "seed", "cluster", "Cell_type", "repeat"])
@pytest.mark.parametrize("item", ["gene", "feature", "system", "method", "doc", "label"])
def test_words_for_rankings_and_items(write, word, item):
    table = board(("task", "model", "score")).replace("task,model", f"{word},{item}", 1)
    assert held(fj.read(write("x.csv", table))) == BY_TASK


@pytest.mark.parametrize("word", ["method", "model"])
def test_methods_beside_features_are_rankings(write, word):
    table = board(("task", "model", "score")).replace("task,model", f"{word},feature", 1)
    assert held(fj.read(write("x.csv", table))) == BY_TASK


def test_a_cluster_of_each_gene_describes_it(write):
    found = fj.read(write("x.csv", "gene,cluster,score\nA,0,3\nB,0,2\nC,1,1\n"))
    assert held(found) == {"x": {"A": 3.0, "B": 2.0, "C": 1.0}}
    assert "left out 'cluster' (not a score)" in found.notes[0]


def test_a_rank_is_not_the_name_of_a_ranking(write):
    path = write("x.csv", "gene,ranking,score\nA,1,3\nA,2,2\nB,3,1\n")
    with pytest.raises(fj.InputError, match="'A' occurs twice"):
        fj.read(path)


def test_seurat_asks_for_the_score(write):
    rows = [f"{0.01 * (j + 1)},{j + 0.5},0.9,0.1,0.05,{c},{g}" for c in range(2) for j, g in enumerate(GENES)]
    path = write("markers.csv", "\n".join(["p_val,avg_log2FC,pct.1,pct.2,p_val_adj,cluster,gene", *rows]))
    with pytest.raises(fj.InputError, match="one column of scores beside 'cluster', which names the rankings"):
        fj.read(path)
    assert fj.read(path, score="avg_log2FC").names == ("0", "1")


def test_two_columns_that_tell_rankings_apart_together(write):
    rows = [f"{fold},{seed},{f},{len(f)}" for fold in range(2) for seed in range(2) for f in ("aa", "b")]
    path = write("x.csv", "\n".join(["fold,seed,feature,importance", *rows]))
    with pytest.raises(fj.InputError, match="If columns 'fold', 'seed' together tell rankings apart, write them"):
        fj.read(path)
    rows = [f"{model},{fold},{f},{len(f)}" for model in ("rf", "lr") for fold in range(2) for f in ("aa", "b")]
    path = write("y.csv", "\n".join(["model,fold,feature,importance", *rows]))
    with pytest.raises(fj.InputError, match="If columns 'model', 'fold' together tell rankings apart"):
        fj.read(path)


# Rows or columns


def test_one_row_per_task_can_be_read_both_ways_and_is_refused(write):
    path = write("wide.csv", WIDE)
    with pytest.raises(fj.InputError, match="must say whether its rows or its columns are rankings"):
        fj.read(path)
    by_row = fj.read(path, ranking="task")
    assert held(by_row) == BY_TASK
    assert "one ranking per row, named by 'task'" in by_row.notes[0]
    assert held(fj.read(path, item="task")) == BY_MODEL
    assert held(fj.read(f"{path}:qqp", ranking="task")) == {"qqp": BY_TASK["qqp"]}
    assert held(fj.read([f"{path}:bert", f"{path}:t5"])) == {name: BY_MODEL[name] for name in ("bert", "t5")}


@pytest.mark.parametrize("name", ["fold", "seed", "dataset"])
def test_numbered_rows_are_refused_as_well(write, name):
    path = write("wide.csv", f"{name},a,b,c\n0,1,2,3\n1,3,2,1\n2,1,1,2\n")
    with pytest.raises(fj.InputError, match=f"ranking='{name}' to rank 'a', 'b', 'c' in each row"):
        fj.read(path)
    assert fj.read(path, ranking=name).names == ("0", "1", "2")
    assert fj.read(path, item=name).names == ("a", "b", "c")


def test_a_row_name_that_repeats_is_refused(write):
    path = write("wide.csv", "task,a,b\nx,1,2\nx,3,2\n")
    with pytest.raises(fj.InputError, match=r"must name each row once in column 'task'.*'x' occurs 2 times"):
        fj.read(path, ranking="task")


def test_both_readings_that_the_command_names_work(write):
    path = write("wide.csv", WIDE)
    code, output = fuji("matrix", path)
    assert code == 2
    for option in re.findall("--(?:ranking|item) task", output):
        assert fuji("matrix", path, *option.split())[0] == 0
    assert len(re.findall("--(?:ranking|item) task", output)) == 2


# Advice that works


def test_wide_tables_of_genes(write):
    a, b = write("deseq.csv", DESEQ), write("limma.csv", LIMMA)
    code, output = fuji("compare", a, b)
    assert code == 2
    assert "fuji runs" not in output
    words = suggested(output, "Name one of each")
    assert words == [f"{a}:stat", f"{b}:t", "--negative", "abs"]
    assert fuji("compare", *words)[0] == 0
    code, output = fuji("compare", a)
    assert fuji("compare", *suggested(output, "Name two"))[0] == 0
    single = write("one.csv", "gene,score\nA,1\nB,2\nC,3\n")
    code, output = fuji("compare", a, single)
    assert fuji("compare", *suggested(output, "Name one"), single)[0] == 0


def test_missing_p_values(write):
    table = "gene,pvalue,padj\nA,0.01,0.02\nB,0.5,NA\nC,0.2,0.3\n"
    a, b = write("a b.csv", table), write("b.csv", table)
    words = suggested(fuji("compare", a, b)[1], "Name one of each")
    assert words == [f"{a}:pvalue", f"{b}:pvalue", "--transform", "neglog10"]
    assert fuji("compare", *words)[0] == 0


@pytest.mark.parametrize("options", [(), ("--score", "pvals"), ("--ranking", "group", "--score", "pvals")])
def test_long_tables(write, options):
    a, b = write("a.csv", scanpy()), write("b.csv", scanpy())
    code, output = fuji("compare", a, b, *options)
    assert code == 2
    assert fuji("compare", *suggested(output, "name one of each"), *options)[0] == 0
    program, *words = suggested(output, "Compare all")
    assert program == "fuji"
    assert fuji(*words)[0] == 0
    output = fuji("compare", a, *options)[1]
    assert fuji("compare", *suggested(output, "Name two"), *options)[0] == 0


def test_nested_json_and_trec(write):
    nested = '{"q1": {"a": 1, "b": 2}, "q2": {"a": 2, "b": 1}, "q3": {"a": 3, "b": 1}}'
    trec = "".join(f"q{q} Q0 d{d} {d} {10 - d + q} x\n" for q in range(3) for d in range(1, 5))
    for first, second in [("a.json", "b.json"), ("a.trec", "b.trec")]:
        text = nested if first.endswith("json") else trec
        output = fuji("compare", a := write(first, text), b := write(second, text))[1]
        assert fuji(*suggested(output, "Compare all")[1:])[0] == 0
        assert fuji("compare", *suggested(output, "name one of each"))[0] == 0
        assert fuji("compare", *suggested(fuji("compare", a)[1], "Name two"))[0] == 0
        assert b


def test_a_score_with_a_ranking_of_a_long_table(write):
    path = write("a.csv", scanpy())
    found = fj.read(f"{path}:1", ranking="group", score="pvals", transform="neglog10")
    assert found.names == ("1",)
    with pytest.raises(fj.InputError, match="score must not be given with"):
        fj.read(write("wide.csv", WIDE) + ":bert", score="t5")


def test_models_are_items_beside_other_text(write):
    text = "Model,Params (B),Average,License\nbert,0.11,80,apache\nt5,0.22,85,mit\ngpt,1.5,90,mit\n"
    found = fj.read(write("a.csv", text))
    assert (found.names, found.labels) == (("Params (B)", "Average"), ("bert", "t5", "gpt"))
    with pytest.raises(fj.InputError, match="must have a column that names the items"):
        fj.read(write("b.csv", "covariate,note,model,importance\nage,x,rf,0.5\ncity,y,xgb,0.3\n"))


def test_runs_take_the_column_of_tasks_for_queries(write):
    result = fj.compare_runs(*(write(name, board(("task", "model", "score"))) for name in ("a.csv", "b.csv")))
    assert list(result.queries) == list(TASKS)
    assert any("query column 'task', item column 'model', score column 'score'" in note for note in result.notes)


def test_runs_do_not_suggest_an_option_of_other_commands(write):
    code, output = fuji("runs", write("a.csv", WIDE), write("b.csv", WIDE), "--by", "task")
    assert code == 2
    assert "--ranking" not in output


def test_standard_input_cannot_be_named_again(write):
    done = CliRunner().invoke(command, ["compare", "-", write("one.csv", "gene,score\nCD3D,1\n")], input=scanpy())
    assert done.exit_code == 2
    assert "Write it to a file, and name one of them after a colon, as in file.csv:0" in done.output


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["a.csv:pvals", "b.csv:pvals"], "a.csv:0 b.csv:0 --score pvals"),
        (["a.csv:pvals", "c.csv:pvals"], "a.csv:0 c.csv --score pvals"),
        (["a.csv:scores", "b.csv:pvals"], "a.csv:0:scores b.csv:0:pvals --score scores --score pvals"),
        (["a.csv:scores"], "a.csv:0 a.csv:1 --score scores"),
    ],
)
def test_a_column_of_a_long_table_holds_several_rankings(write, tmp_path, monkeypatch, arguments, advice):
    for name, text in {"a.csv": scanpy(), "b.csv": scanpy(), "c.csv": "gene,pvals\nCD3D,0.1\nIL7R,0.2\n"}.items():
        write(name, text)
    monkeypatch.chdir(tmp_path)
    code, output = fuji("compare", *arguments)
    assert code == 2
    assert output.strip().endswith(f"the column with --score: {advice}")
    assert fuji("compare", *advice.split(), "--missing", "zero")[0] == 0


def test_two_columns_of_different_tables_cannot_be_named_at_once(write):
    long, wide = write("a.csv", scanpy()), write("b.csv", "gene,gain\nCD3D,0.1\nIL7R,0.2\n")
    code, output = fuji("compare", f"{long}:scores", f"{wide}:gain")
    assert code == 2
    assert "Write one of them to a file that holds nothing else" in output


# DataFrames


def test_long_and_wide_frames(write):
    pandas = pytest.importorskip("pandas")
    long = pandas.read_csv(write("a.csv", scanpy()))
    with pytest.raises(fj.InputError, match="one row per item and ranking, named by 'group'"):
        fj.rankings(long)
    assert fj.rankings(long.pivot(index="names", columns="group", values="scores")).names == ("0", "1", "2")
    leaderboard = pandas.read_csv(write("b.csv", board(("task", "model", "score"))))
    with pytest.raises(fj.InputError, match=r"items='model', and drop the others\. Or, if 'task' names the rankings"):
        fj.rankings(leaderboard)
    assert fj.rankings(leaderboard.pivot(index="model", columns="task", values="score")).names == tuple(sorted(TASKS))
    wide = pandas.read_csv(write("c.csv", WIDE))
    with pytest.raises(fj.InputError, match="must say whether rows or columns are rankings"):
        fj.rankings(wide)
    assert held(fj.rankings(wide, items="task")) == BY_MODEL
    assert held(fj.rankings(wide.set_index("task").T)) == BY_TASK
