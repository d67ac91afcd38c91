"""The classes of results, and of what they hold: for annotations, `isinstance` and their documentation."""

from __future__ import annotations

from fujiscore.features.study import Study, TopFeature
from fujiscore.many.consensus import Consensus
from fujiscore.many.matrix import Dendrogram, Embedding, Matrix
from fujiscore.many.pair_tests import PairComparison, ResampledSimilarity
from fujiscore.many.rank_agreement import RankAgreement
from fujiscore.many.ranks import ItemRanks
from fujiscore.many.sets import SetStability, SetStabilityTest
from fujiscore.many.stability import Stability, StabilityCurve
from fujiscore.many.stability_tests import StabilityComparison
from fujiscore.measures.registry import Measure, Properties
from fujiscore.null.chance import Chance
from fujiscore.null.permutations import Permutations
from fujiscore.pair.compare import Comparison, Curve, Level
from fujiscore.pair.explain import Explanation
from fujiscore.pair.passes.stream import Column
from fujiscore.pair.recall import Recall
from fujiscore.pair.truncated import RBO, Bounds
from fujiscore.runs.results import RunComparison
from fujiscore.versions.noise import VersionTest
from fujiscore.versions.results import Drift, FeatureChange

# fmt: off
__all__ = [
    "RBO", "Bounds", "Chance", "Column", "Comparison", "Consensus", "Curve", "Dendrogram", "Drift", "Embedding",
    "Explanation", "FeatureChange", "ItemRanks", "Level", "Matrix", "Measure", "PairComparison", "Permutations",
    "Properties", "RankAgreement", "Recall", "ResampledSimilarity", "RunComparison", "SetStability",
    "SetStabilityTest", "Stability", "StabilityComparison", "StabilityCurve", "Study", "TopFeature", "VersionTest",
]
