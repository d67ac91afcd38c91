"""Compare scored rankings: how similar, where they differ, more than chance, how stable.

>>> import fujiscore as fj
>>> fj.auc([0.9, 0.8, 0.1, 0.0], [0.8, 0.9, 0.0, 0.1])
0.8148148148148149
"""

# Modules and functions may share a name (fujiscore.compare): every such module is imported here, so that the
# package's attribute is the function. Numba, SciPy and dataframe libraries load at first use.
from fujiscore.chance import Chance, chance, expected_jaccard
from fujiscore.compare import Comparison, Curve, auc, compare, curve, fuji, score
from fujiscore.errors import InputError, MissingExtraError
from fujiscore.explain import Explanation, explain
from fujiscore.measures import MEASURES, PAPER_MEASURES, Measure, Properties
from fujiscore.pairwise import Matrix, pairwise
from fujiscore.permutations import Permutations
from fujiscore.rankings import Rankings, rankings
from fujiscore.stability import (
    Stability,
    StabilityComparison,
    StabilityCurve,
    compare_stability,
    stability,
    stability_curve,
)

__version__ = "0.1.0"

__all__ = [
    "MEASURES",
    "PAPER_MEASURES",
    "Chance",
    "Comparison",
    "Curve",
    "Explanation",
    "InputError",
    "Matrix",
    "Measure",
    "MissingExtraError",
    "Permutations",
    "Properties",
    "Rankings",
    "Stability",
    "StabilityComparison",
    "StabilityCurve",
    "auc",
    "chance",
    "compare",
    "compare_stability",
    "curve",
    "expected_jaccard",
    "explain",
    "fuji",
    "pairwise",
    "rankings",
    "score",
    "stability",
    "stability_curve",
]
