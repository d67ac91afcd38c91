"""The case study on the TCGA data: the top genes by mutual information and by Relief, and how FUJI compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fujiscore.paper.catalogue import TOP_MI, TOP_RELIEF
from fujiscore.paper.conventions import chance, explain, labels, ordered
from fujiscore.paper.record import NO_RANKINGS, Judged, Section, Table, claims, judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    import fujiscore as fj
    from fujiscore.paper.conventions import Sets

TOP = 10
GENES = {gene.number: gene for gene in (*TOP_MI, *TOP_RELIEF)}
# Words of the annotations that stand for DNA binding and ion transport.
RELATED = ("DNA", "chromatin", "calcium", "channel")


def section(sets: Sets | None) -> Section:
    """Rebuild the table of genes, and explain FUJI at k = 10."""
    title = "Case study: genes of the TCGA data"
    text = (
        "The ten top genes by mutual information and by Relief. Names and functions are those of the paper's table; "
        "the rankings identify genes by number only."
    )
    if sets is None:
        return Section(title, (text, f"Not computed: {NO_RANKINGS}."), claims=claims("genes", None))
    genes = sets["genes"]
    numbers = [int(label.rpartition("_")[2]) for label in labels(genes)]  # of labels such as gene_7964
    information, relief = (np.asarray(genes[name]) for name in ("mutual_info", "relief"))
    by_information, by_relief = ([numbers[i] for i in ordered(scores)[:TOP]] for scores in (information, relief))
    first, second = (dict(zip(numbers, scores.tolist(), strict=True)) for scores in (information, relief))
    explanation = explain(first, second, TOP)
    tables = (_genes(by_information, by_relief), _explained(explanation))
    judged = _judge_tops(by_information, by_relief) | _judge_similarity(genes, explanation)
    return Section(title, (text, f"{str(explanation).splitlines()[0]}."), tables, (), claims("genes", judged))


def _described(number: int) -> tuple[str, str]:
    """Return a gene's name and function in the paper's table, if it is there."""
    gene = GENES.get(number)
    return (gene.name, gene.function) if gene else ("", "")


def _genes(by_information: Sequence[int], by_relief: Sequence[int]) -> Table:
    """Return the two lists side by side, as ranked, with the table's names and functions."""
    pairs = zip(by_information, by_relief, strict=True)
    rows = [(rank, a, *_described(a), b, *_described(b)) for rank, (a, b) in enumerate(pairs, 1)]
    columns = ("rank", "MI", "MI gene", "MI function", "Relief", "Relief gene", "Relief function")
    return Table("genes", "The ten top genes by MI and by Relief", columns, rows)


def _explained(explanation: fj.Explanation) -> Table:
    """Return the genes of both lists with ranks, scores and their contributions to FUJI."""
    names = ("rank_r", "rank_s", "score_r", "score_s", "contribution", "kind")
    rows = [
        (number, _described(int(str(number)))[0], *(getattr(explanation, name)[row] for name in names))
        for row, number in enumerate(explanation.items)
    ]
    columns = ("gene", "name", "rank MI", "rank Relief", "score MI", "score Relief", "contribution", "kind")
    return Table("genes_explained", f"Contribution of each gene to FUJI at k = {TOP}", columns, rows)


def _judge_tops(by_information: Sequence[int], by_relief: Sequence[int]) -> dict[str, Judged]:
    """Judge the statements on the lists of top genes."""
    shared = set(by_information) & set(by_relief)
    others = (*TOP_MI[1:], *TOP_RELIEF[1:])
    related = sum(any(word in gene.function for word in RELATED) for gene in others)
    return {
        "top_mi": judge(", ".join(map(str, by_information)), holds=by_information == [gene.number for gene in TOP_MI]),
        "top_relief": judge(", ".join(map(str, by_relief)), holds=by_relief == [gene.number for gene in TOP_RELIEF]),
        "same_top_gene": judge(
            f"gene {by_information[0]} and gene {by_relief[0]}",
            holds=by_information[0] == by_relief[0] == TOP_MI[0].number,
        ),
        "nine_differ": judge(f"{len(shared)} of the ten genes is in both lists", holds=len(shared) == 1),
        "annotations": judge(f"{related} of {len(others)}", holds=related > len(others) / 2),
    }


def _judge_similarity(genes: fj.Rankings, explanation: fj.Explanation) -> dict[str, Judged]:
    """Judge whether FUJI finds the top genes similar where Jaccard does not."""
    null = chance(genes["mutual_info"], genes["relief"], ks=[TOP])
    measured = (
        f"FUJI {explanation.value:.3f} (by chance {null.expected[0]:.3f}, {null.z[0]:.0f} standard deviations above "
        f"it), Jaccard {explanation.jaccard:.3f}; {explanation.kind.count('near miss')} of {len(explanation)} genes "
        "are near misses"
    )
    return {"fuji_finds": judge(measured, holds=explanation.value > 0.5 > explanation.jaccard)}
