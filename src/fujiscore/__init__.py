"""Compare scored rankings: how similar, where they differ, more than chance, how stable.

>>> import fujiscore as fj
>>> fj.auc([0.9, 0.8, 0.1, 0.0], [0.8, 0.9, 0.0, 0.1])
0.6481481481481481
"""

# Modules and functions may share a name (fujiscore.compare): every such module is imported here, so that the
# package's attribute is the function. Numba and dataframe libraries load at first use.
from fujiscore.compare import Comparison, Curve, Explanation, auc, compare, curve, explain, fuji, score
from fujiscore.errors import InputError, MissingExtraError
from fujiscore.measures import MEASURES, Measure, Properties

__version__ = "0.1.0"

__all__ = [
    "MEASURES",
    "Comparison",
    "Curve",
    "Explanation",
    "InputError",
    "Measure",
    "MissingExtraError",
    "Properties",
    "auc",
    "compare",
    "curve",
    "explain",
    "fuji",
    "score",
]
