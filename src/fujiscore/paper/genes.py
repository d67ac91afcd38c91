"""The case study on the TCGA data: the top genes by mutual information and by Relief, and how FUJI compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fujiscore.paper.conventions import Sets, chance, explain
from fujiscore.paper.record import Checks, Judged, PageTable, Section, check, facts, make_section
from fujiscore.paper.sources import FILTERS

if TYPE_CHECKING:
    import fujiscore as fj

TOP = 10
ROWS = facts("genes.csv")
TABLE = {name: [int(row["number"]) for row in ROWS if row["ranking"] == name] for name in FILTERS}
# Name and function by number.
GENES = {int(row["number"]): (row["name"], row["function"]) for row in ROWS}
# Words of the annotations that stand for DNA binding and ion transport.
RELATED = ("DNA", "chromatin", "calcium", "channel")
# Words that stand, generously, for DNA, ATP and signalling.
PROCESSES = (*RELATED, "ATP", "signalling", "receptor")


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
    table = PageTable("genes", "The ten top genes by MI and by Relief", columns, rows)
    null, near = chance(information, relief, ks=[TOP]), explained.kind.count("near miss")
    shown = {"null": null, "near": near, "genes": len(explained)}
    checks = [*check_tops(*tops), check("fuji_finds", fuji=explained.value, jaccard=explained.jaccard, **shown)]
    head = f"{str(explained).splitlines()[0]}."
    return make_section("genes", checks, (table, _contributions(explained)), text=(head,))


def _number(label: object) -> int:
    """Return the number of a gene labelled as in gene_7964."""
    return int(str(label).rpartition("_")[2])


def _contributions(explained: fj.results.Explanation) -> PageTable:
    """Return the genes of both lists with ranks, scores and their contributions to FUJI."""
    numbers = [_number(label) for label in explained.items]
    names = [GENES.get(number, ("", ""))[0] for number in numbers]
    shown = ("rank_r", "rank_s", "score_r", "score_s", "contribution", "kind")
    rows = list(zip(numbers, names, *(explained.columns()[column] for column in shown), strict=True))
    columns = ("gene", "name", "rank MI", "rank Relief", "score MI", "score Relief", "contribution", "kind")
    return PageTable("genes_explained", f"Contribution of each gene to FUJI at k = {TOP}", columns, rows)


def check_tops(information: list[int], relief: list[int]) -> Checks:
    """Check the statements on the lists of top genes."""
    first, second, named = information[0], relief[0], TABLE["mutual_info"][0]
    shared = len(set(information) & set(relief))
    others = [function for number, (_, function) in GENES.items() if number != named]
    related = sum(_mentions(function, RELATED) for function in others)
    unrelated = [f"{name} ({function})" for name, function in GENES.values() if not _mentions(function, PROCESSES)]
    counts = {"count": len(GENES), "related": len(GENES) - len(unrelated), "unrelated": len(unrelated)}
    return [
        _check_top("top_mi", information, TABLE["mutual_info"]),
        _check_top("top_relief", relief, TABLE["relief"]),
        check("same_top_gene", first=first, second=second, named=named),
        check("nine_differ", shared=shared),
        check("annotations", share=related / len(others), related=related, count=len(others)),
        check("all_related", names=", ".join(unrelated), **counts),
    ]


def _check_top(key: str, top: list[int], table: list[int]) -> tuple[str, Judged]:
    """Check a list of top genes against the paper's table."""
    differing = sum(number != other for number, other in zip(top, table, strict=True))
    return check(key, differing=differing, genes=", ".join(map(str, top)))


def _mentions(function: str, words: tuple[str, ...]) -> bool:
    """Return whether an annotation mentions one of the words."""
    return any(word in function for word in words)
