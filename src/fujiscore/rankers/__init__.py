"""Feature rankers: (X, y) to one score a feature, higher is better. Imports kernels and errors."""

from fujiscore.rankers.adapt import as_ranker
from fujiscore.rankers.forest import forest_scores, genie3, random_forest
from fujiscore.rankers.information import mutual_information
from fujiscore.rankers.relief import relief

__all__ = ["as_ranker", "forest_scores", "genie3", "mutual_information", "random_forest", "relief"]
