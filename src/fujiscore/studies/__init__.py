"""Studies: from a table of data to rankings of its features, their comparison and their stability."""

from __future__ import annotations

from fujiscore.studies.ranking import rank
from fujiscore.studies.study import Study, TopFeature, study

__all__ = ["Study", "TopFeature", "rank", "study"]
