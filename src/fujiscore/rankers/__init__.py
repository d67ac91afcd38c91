"""Feature rankers: Relief, mutual information, forests, and any estimator or function that scores features.

Takes: a table of features and a target. Gives: one score per feature, higher is better.
"""

from fujiscore.rankers.adapt import Ranker, as_ranker
from fujiscore.rankers.features import Features, prepare
from fujiscore.rankers.forest import forest_scores, genie3, random_forest
from fujiscore.rankers.information import mutual_information
from fujiscore.rankers.ranking import rank
from fujiscore.rankers.relief import relief
from fujiscore.rankers.surf import multisurf, surf

# fmt: off
__all__ = [
    "Features", "Ranker", "as_ranker", "forest_scores", "genie3", "multisurf", "mutual_information", "prepare",
    "random_forest", "rank", "relief", "surf",
]
