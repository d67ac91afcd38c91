"""Compare scored rankings: how similar, where they differ, more than chance, how stable.

>>> import fujiscore as fj
>>> fj.auc([0.9, 0.8, 0.1, 0.0], [0.8, 0.9, 0.0, 0.1])
0.8148148148148149
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# First: a signal to the command while everything else loads must not show a traceback.
import fujiscore._signals  # noqa: F401
from fujiscore.closed_forms import expected_jaccard

# Modules and functions may share a name (fujiscore.compare): every such module is imported here, so that the
# package's attribute is the function. Numba, SciPy and dataframe libraries load at first use.
from fujiscore.compare import Comparison, Curve, Level, auc, compare, curve, fuji, score
from fujiscore.consensus import Consensus, consensus
from fujiscore.drift import drift
from fujiscore.drift_results import Drift, FeatureChange
from fujiscore.errors import InputError, MissingExtraError
from fujiscore.explain import Explanation, explain
from fujiscore.importances import importances
from fujiscore.matrix import Dendrogram, Embedding, Matrix
from fujiscore.measures import MEASURES, PAPER_MEASURES, Measure, Properties
from fujiscore.null import Chance, chance
from fujiscore.pair_tests import PairComparison, ResampledSimilarity, compare_pairs, resampled_similarity
from fujiscore.pairwise import pairwise
from fujiscore.permutations import Permutations
from fujiscore.ranking import Ranking, Rankings
from fujiscore.rankings import rankings
from fujiscore.ranks import ItemRanks
from fujiscore.recall import Recall, recall
from fujiscore.stability import Stability, StabilityCurve, stability, stability_curve
from fujiscore.stability_tests import StabilityComparison, compare_stability
from fujiscore.stream import Column
from fujiscore.study import Study, TopFeature, study
from fujiscore.truncated import RBO, Bounds, average_overlap, bounds, rbo, top_weight
from fujiscore.version_tests import VersionTest

if TYPE_CHECKING:
    from fujiscore.io import read
    from fujiscore.io.scan import scan
    from fujiscore.rank_agreement import RankAgreement, sequential_rank_agreement, sra
    from fujiscore.rankers import rank
    from fujiscore.run_results import RunComparison
    from fujiscore.runs import compare_runs
    from fujiscore.sets import SetStability, SetStabilityTest, compare_set_stability, set_stability

__version__ = "0.2.0"

# What few programs need is imported when it is asked for: name to module.
_ON_DEMAND = {
    "RankAgreement": "rank_agreement",
    "sequential_rank_agreement": "rank_agreement",
    "sra": "rank_agreement",
    "RunComparison": "run_results",
    "compare_runs": "runs",
    "rank": "rankers",
    "read": "io",
    "scan": "io.scan",
    "SetStability": "sets",
    "SetStabilityTest": "sets",
    "compare_set_stability": "sets",
    "set_stability": "sets",
}

__all__ = [
    "MEASURES",
    "PAPER_MEASURES",
    "RBO",
    "Bounds",
    "Chance",
    "Column",
    "Comparison",
    "Consensus",
    "Curve",
    "Dendrogram",
    "Drift",
    "Embedding",
    "Explanation",
    "FeatureChange",
    "InputError",
    "ItemRanks",
    "Level",
    "Matrix",
    "Measure",
    "MissingExtraError",
    "PairComparison",
    "Permutations",
    "Properties",
    "RankAgreement",
    "Ranking",
    "Rankings",
    "Recall",
    "ResampledSimilarity",
    "RunComparison",
    "SetStability",
    "SetStabilityTest",
    "Stability",
    "StabilityComparison",
    "StabilityCurve",
    "Study",
    "TopFeature",
    "VersionTest",
    "auc",
    "average_overlap",
    "bounds",
    "chance",
    "compare",
    "compare_pairs",
    "compare_runs",
    "compare_set_stability",
    "compare_stability",
    "consensus",
    "curve",
    "drift",
    "expected_jaccard",
    "explain",
    "fuji",
    "importances",
    "pairwise",
    "rank",
    "rankings",
    "rbo",
    "read",
    "recall",
    "resampled_similarity",
    "scan",
    "score",
    "sequential_rank_agreement",
    "set_stability",
    "sra",
    "stability",
    "stability_curve",
    "study",
    "top_weight",
]


def __getattr__(name: str) -> Any:
    """Import a name on demand."""
    if name in _ON_DEMAND:
        return getattr(import_module(f"fujiscore.{_ON_DEMAND[name]}"), name)
    raise AttributeError(f"module 'fujiscore' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
