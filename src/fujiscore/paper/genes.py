"""The case study on the TCGA data: the top genes by mutual information and by Relief, and what FUJI makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import fujiscore as fj
from fujiscore.paper.catalogue import TOP_MI, TOP_RELIEF
from fujiscore.paper.record import NO_RANKINGS, Claim, Section, Table, judge, unchecked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fujiscore.paper.catalogue import Gene

TOP = 10
SOURCE = "Case study"
STATEMENTS = (
    ("MI's ten top genes are those in the table.", "Order of the published MI scores."),
    ("Relief's ten top genes are those in the table.", "Order of the published Relief scores."),
    ("MI and Relief have the same first gene, HNF1A.", "First gene of both rankings; the name is the table's."),
    ("The other nine of the ten top genes differ between MI and Relief.", "Genes in both lists of ten."),
    (
        "FUJI finds the ten top genes of MI and of Relief similar, Jaccard does not.",
        "Both at k = 10, and what chance alone would give FUJI.",
    ),
    (
        "Most of the top genes beside HNF1A relate to DNA binding or ion transport.",
        "The annotations in the paper's own table that mention DNA, chromatin, calcium or a channel.",
    ),
)


def section(sets: Mapping[str, fj.Rankings] | None) -> Section:
    """Rebuild the table of genes, and explain FUJI at k = 10."""
    title = "Case study: genes of the TCGA data"
    text = (
        "The ten top genes by mutual information and by Relief. Names and functions are those of the paper's table; "
        "the rankings themselves know genes by number only."
    )
    if sets is None:
        claims = [Claim(SOURCE, statement, unchecked(NO_RANKINGS), how) for statement, how in STATEMENTS]
        return Section(title, (text, f"Not computed: it {NO_RANKINGS}."), claims=claims)
    own = sets["genes"]
    labels = [str(item) for item in own.items or ()]
    scores = {name: dict(zip(labels, own[name].tolist(), strict=True)) for name in ("mutual_info", "relief")}
    why = fj.explain(scores["mutual_info"], scores["relief"], TOP, negative="clip")
    tops = {name: [_number(labels[i]) for i in np.argsort(-own[name], kind="stable")[:TOP]] for name in scores}
    tables = (_genes(tops["mutual_info"], tops["relief"]), _explained(why))
    lines = (text, f"{str(why).splitlines()[0]}.")
    return Section(title, lines, tables, (), _claims(own, tops, why))


def _number(label: str) -> int:
    """Return the number in a gene's label, such as gene_7964."""
    return int(label.rpartition("_")[2])


def _known(number: int) -> Gene | None:
    """Return what the paper's table says about a gene."""
    return next((gene for gene in (*TOP_MI, *TOP_RELIEF) if gene.number == number), None)


def _genes(by_mi: Sequence[int], by_relief: Sequence[int]) -> Table:
    """Return the two lists side by side, as ranked, with the table's names and functions."""
    rows = []
    for rank, numbers in enumerate(zip(by_mi, by_relief, strict=True), 1):
        row: list[object] = [rank]
        for number in numbers:
            gene = _known(number)
            row += [number, gene.name if gene else "", gene.function if gene else ""]
        rows.append(row)
    columns = ("rank", "MI", "MI gene", "MI function", "Relief", "Relief gene", "Relief function")
    return Table("genes", "The ten top genes by MI and by Relief", columns, rows)


def _explained(why: fj.Explanation) -> Table:
    """Return the genes of both lists with ranks, scores and what each adds to FUJI."""
    rows = []
    for at, item in enumerate(why.items):
        number = _number(str(item))
        gene = _known(number)
        ranks = (why.rank_r[at], why.rank_s[at], why.score_r[at], why.score_s[at])
        rows.append((number, gene.name if gene else "", *ranks, why.contribution[at], why.kind[at]))
    columns = ("gene", "name", "rank MI", "rank Relief", "score MI", "score Relief", "contribution", "kind")
    return Table("genes_explained", f"What each gene adds to FUJI at k = {TOP}", columns, rows)


def _claims(own: fj.Rankings, tops: Mapping[str, Sequence[int]], why: fj.Explanation) -> list[Claim]:
    """Judge the statements on the genes."""
    table = {"mutual_info": [g.number for g in TOP_MI], "relief": [g.number for g in TOP_RELIEF]}
    first = tops["mutual_info"][0], tops["relief"][0]
    shared = set(tops["mutual_info"]) & set(tops["relief"])
    chance = fj.chance(own["mutual_info"], own["relief"], ks=[TOP], negative="clip")
    others = (*TOP_MI[1:], *TOP_RELIEF[1:])
    words = ("DNA", "chromatin", "calcium", "channel")
    related = [gene for gene in others if any(word in gene.function for word in words)]
    judged = (
        judge(", ".join(map(str, tops["mutual_info"])), holds=tops["mutual_info"] == table["mutual_info"]),
        judge(", ".join(map(str, tops["relief"])), holds=tops["relief"] == table["relief"]),
        judge(f"gene {first[0]} and gene {first[1]}", holds=first[0] == first[1] == TOP_MI[0].number),
        judge(f"{len(shared)} of the ten genes is in both lists", holds=len(shared) == 1),
        judge(
            f"FUJI {why.value:.3f} (by chance {chance.expected[0]:.3f}, {chance.z[0]:.0f} standard deviations above "
            f"it), Jaccard {why.jaccard:.3f}; {why.kind.count('near miss')} of {len(why)} genes are near misses",
            holds=why.value > 0.5 > why.jaccard,
        ),
        judge(f"{len(related)} of {len(others)}", holds=len(related) > len(others) / 2),
    )
    return [Claim(SOURCE, statement, own, how) for (statement, how), own in zip(STATEMENTS, judged, strict=True)]
