"""Further statistics: tests between ranking methods, stability of selected sets, agreement of many lists by depth."""

from __future__ import annotations

from fujiscore.many.pair_tests import compare_pairs, resampled_similarity
from fujiscore.many.rank_agreement import sequential_rank_agreement
from fujiscore.many.sets import compare_set_stability, set_stability
from fujiscore.many.stability_tests import compare_stability
from fujiscore.null.closed_forms import expected_jaccard
from fujiscore.pair.truncated import top_weight

# fmt: off
__all__ = [
    "compare_pairs", "compare_set_stability", "compare_stability", "expected_jaccard", "resampled_similarity",
    "sequential_rank_agreement", "set_stability", "top_weight",
]
