"""Words by which columns that name rankings are known, in files and DataFrames."""

from __future__ import annotations

# Names are compared without case, points, dashes, underscores and spaces.
PUNCTUATION = str.maketrans("", "", " ._-")
QUERY_NAMES = ("qid", "queryid", "query", "topic", "topicid", "user", "userid")  # these name rankings as numbers, too
RANKING_NAMES = ("ranking", "method", "query", "qid", "queryid", "model", "run", "topic", "topicid", "user", "userid")
LONG_RANKING_NAMES = ("model", "run", "topic", "topicid", "user", "userid")  # where they occur twice on average
# These name rankings where items repeat: elsewhere they describe items (the cluster of a gene).
GROUP_NAMES = (
    *("task", "dataset", "benchmark", "group", "cluster", "celltype", "contrast", "condition", "experiment", "study"),
    *("fold", "cvfold", "seed", "split", "repeat", "repetition", "replicate", "resample", "bootstrap", "trial"),
)
# These name items beside a column that names rankings (task, model, score), and rankings beside items.
COMPETITOR_NAMES = ("model", "method", "system", "algorithm", "classifier", "estimator", "ranker")


def plain(name: str) -> str:
    """Return a column's name without case and punctuation."""
    return name.lower().translate(PUNCTUATION)


def is_group_name(name: str) -> bool:
    """Return whether a name is one of columns that name rankings, never items."""
    known = plain(name)
    return known in GROUP_NAMES or (known in RANKING_NAMES and known not in COMPETITOR_NAMES)
