"""The paper's statements, its table of data sets and its table of genes, as facts. Imports nothing of the package."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Statement:
    """A row of statements.csv.

    `section` and `key` name the check, `source` is the part of the paper that makes the statement, `how` says what is
    measured, and `rf` says which data sets a statement about RF needs: "all", names separated by spaces, or "".
    """

    section: str
    key: str
    source: str
    statement: str
    how: str
    rf: str


def _statements() -> tuple[Statement, ...]:
    """Read all statements, in the order of their numbers."""
    lines = files("fujiscore.paper").joinpath("statements.csv").read_text(encoding="utf-8").splitlines()
    return tuple(Statement(**row) for row in csv.DictReader(lines))


STATEMENTS = _statements()


@dataclass(frozen=True)
class DataSet:
    """A row of the paper's table: its name there, columns and rows, and what it is about."""

    title: str
    columns: int
    examples: int
    about: str


# By the stem of the published files.
DATA_SETS = {
    "aps-failure": DataSet("APS failure", 171, 76000, "failures of a truck's air pressure system"),
    "biodeg-p2-discrete": DataSet("biodegradability", 62, 328, "biodegradability of commercial compounds"),
    "bladderCancer": DataSet("bladder", 5725, 40, "classes of bladder carcinoma, microarrays"),
    "childhoodAll": DataSet("childhood", 8281, 110, "drug response of leukemia cells, gene expression"),
    "cmlTreatment": DataSet("cmlTreatment", 12626, 28, "response of chronic myeloid leukemia to imatinib"),
    "coil2000": DataSet("coil2000", 86, 9822, "customers of an insurance company"),
    "colon": DataSet("colon-cancer", 2001, 62, "colon tumours and normal tissue, gene expression"),
    "digits": DataSet("digits", 65, 1797, "hand-written digits, 8 by 8 pixels"),
    "diversity_all": DataSet("diversity", 87, 292, "river water quality from biological samples"),
    "dlbcl": DataSet("dlbcl", 7071, 77, "two kinds of lymphoma, gene expression"),
    "gasdrift": DataSet("gas drift", 129, 13910, "gases by an array of drifting chemical sensors"),
    "genes": DataSet("genes", 20532, 801, "tumour types of the TCGA pan-cancer study, RNA-Seq"),
    "levkemija": DataSet("leukemia", 5148, 72, "two kinds of leukemia, gene expression"),
    "madelon": DataSet("madelon", 501, 2000, "artificial data with irrelevant features"),
    "mll": DataSet("mll", 12534, 72, "leukemias with and without MLL translocation"),
    "optdigits": DataSet("optdigits", 63, 5620, "hand-written digits, optical recognition"),
    "OVA_Breast": DataSet("OVA-Breast", 10937, 1545, "breast against other tumours, gene expression"),
    "pgp": DataSet("p-gp", 184, 932, "drugs that P-glycoprotein recognises"),
    "p53": DataSet("p53", 5409, 31420, "mutants that rescue the protein p53"),
    "pd-speech-features": DataSet("pd-speech", 754, 756, "Parkinson's disease from speech"),
    "QSAR-biodegradation": DataSet("QSAR degradation", 42, 1055, "ready biodegradability by molecular structure"),
    "sonar": DataSet("sonar", 61, 208, "rocks and mines by sonar"),
    "srbct": DataSet("srbct", 2309, 83, "four childhood tumours, gene expression"),
    "water_all": DataSet("water-all", 81, 292, "river water quality from chemical samples"),
}


@dataclass(frozen=True)
class Gene:
    """A row of the paper's table of genes: number in the data, name, and annotated function."""

    number: int
    name: str
    function: str


TOP_MI = (
    Gene(7964, "HNF1A", "DNA binding"),
    Gene(18381, "TMPRSS15", "scavenger receptor activity"),
    Gene(17109, "SPCS3", "peptidase activity"),
    Gene(5407, "EFHC2", "calcium ion binding"),
    Gene(18746, "TRPM8", "calcium channel activity"),
    Gene(6816, "GAK", "ATP binding"),
    Gene(8349, "IGSF9", "cell-cell adhesion"),
    Gene(7992, "HOMER1", "G protein-coupled glutamate receptor binding"),
    Gene(5576, "EMX1", "DNA-binding transcription factor activity"),
    Gene(6593, "FOS", "chromatin binding"),
)
TOP_RELIEF = (
    Gene(7964, "HNF1A", "DNA binding"),
    Gene(19236, "USF2", "DNA-binding transcription factor activity"),
    Gene(4773, "DDX3X", "ATPase activity"),
    Gene(7896, "HK3", "ATP binding"),
    Gene(3921, "CLRN2", "calcium ion binding, cell adhesion"),
    Gene(7965, "HNF1B", "DNA binding"),
    Gene(8891, "KDM5C", "DNA binding, dioxygenase activity"),
    Gene(742, "ANKS3", "unknown, perhaps vasopressin signalling"),
    Gene(15301, "RPS4X", "RNA binding"),
    Gene(19313, "UTS2", "signalling receptor binding"),
)
