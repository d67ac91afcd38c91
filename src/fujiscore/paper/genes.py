"""The case study on the TCGA data: the top genes by mutual information and by Relief, and how FUJI compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fujiscore.paper.conventions import chance, explain
from fujiscore.paper.record import Table, check, facts, make_section
from fujiscore.paper.study import FILTERS

if TYPE_CHECKING:
    import fujiscore as fj
    from fujiscore.paper.conventions import Sets
    from fujiscore.paper.record import Checks, Section

TOP = 10
ROWS = facts("genes.csv")
TABLE = {name: [int(row["number"]) for row in ROWS if row["ranking"] == name] for name in FILTERS}
# Name and function by number.
GENES = {int(row["number"]): (row["name"], row["function"]) for row in ROWS}
# Words of the annotations that stand for DNA binding and ion transport.
RELATED = ("DNA", "chromatin", "calcium", "channel")


def section(sets: Sets | None) -> Section:
    """Rebuild the table of genes, and explain FUJI at k = 10."""
    if sets is None:
        return make_section("genes", None)
    information, relief = sets["genes"][FILTERS]
    tops = [[_number(one.label(i)) for i in one.order[:TOP].tolist()] for one in (information, relief)]
    explained = explain(information, relief, TOP)
    columns = ("rank", "MI", "MI gene", "MI function", "Relief", "Relief gene", "Relief function")
    pairs = enumerate(zip(*tops, strict=True), 1)
    rows = [(rank, a, *GENES.get(a, ("", "")), b, *GENES.get(b, ("", ""))) for rank, (a, b) in pairs]
    table = Table("genes", "The ten top genes by MI and by Relief", columns, rows)
    null, near = chance(information, relief, ks=[TOP]), explained.kind.count("near miss")
    finds = explained.value > 0.5 > explained.jaccard
    checks = _check_tops(*tops)
    checks.append(check("fuji_finds", holds=finds, explained=explained, null=null, near=near, genes=len(explained)))
    head = f"{str(explained).splitlines()[0]}."
    return make_section("genes", checks, (table, _contributions(explained)), text=(head,))


def _number(label: object) -> int:
    """Return the number of a gene labelled as in gene_7964."""
    return int(str(label).rpartition("_")[2])


def _contributions(explained: fj.Explanation) -> Table:
    """Return the genes of both lists with ranks, scores and their contributions to FUJI."""
    numbers = [_number(label) for label in explained.items]
    names = [GENES.get(number, ("", ""))[0] for number in numbers]
    shown = ("rank_r", "rank_s", "score_r", "score_s", "contribution", "kind")
    rows = list(zip(numbers, names, *(explained.columns()[column] for column in shown), strict=True))
    columns = ("gene", "name", "rank MI", "rank Relief", "score MI", "score Relief", "contribution", "kind")
    return Table("genes_explained", f"Contribution of each gene to FUJI at k = {TOP}", columns, rows)


def _check_tops(information: list[int], relief: list[int]) -> Checks:
    """Check the statements on the lists of top genes."""
    first, second, named = information[0], relief[0], TABLE["mutual_info"][0]
    shared = len(set(information) & set(relief))
    others = [function for number, (_, function) in GENES.items() if number != named]
    related = sum(any(word in function for word in RELATED) for function in others)
    return [
        check("top_mi", holds=information == TABLE["mutual_info"], genes=", ".join(map(str, information))),
        check("top_relief", holds=relief == TABLE["relief"], genes=", ".join(map(str, relief))),
        check("same_top_gene", holds=first == second == named, first=first, second=second),
        check("nine_differ", holds=shared == 1, shared=shared),
        check("annotations", holds=related > len(others) / 2, related=related, count=len(others)),
    ]
