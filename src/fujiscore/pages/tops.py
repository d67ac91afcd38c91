"""The tops of many rankings as a page holds them: all items that are near the top of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fujiscore.pages.encode import packed, text, texts

if TYPE_CHECKING:
    from fujiscore.inputs.ranking import Ranking, Rankings

# Scores that a page holds, over all rankings: about 8 bytes each.
CELLS = 150_000
# Scores relative to the largest that are too small for 32 bits.
SMALL = 1e-30


def tops(rankings: Rankings, *, ties: str = "closed", zero_tail: str = "include", cells: int = CELLS) -> dict[str, Any]:
    """Return names, items, ranks and scores down to a depth to which every ranking is complete."""
    # Every item within the depth of one ranking is there with its ranks and scores in all, so that the script can
    # explain FUJI of any pair at any k up to the depth.
    ranks = np.array([_ranks(ranking, ties) for ranking in rankings], np.int32)
    best = ranks.min(axis=0)
    room = max(cells // len(rankings), 1)
    depth = rankings.n if rankings.n <= room else int(np.partition(best, room)[room]) - 1
    chosen = np.flatnonzero(best <= depth)
    chosen = chosen[np.argsort(ranks[:, chosen].mean(axis=0), kind="stable")]
    scores = np.array([_scores(ranking, chosen) for ranking in rankings]).reshape(len(rankings), -1)
    scale = np.array([_scale(row) for row in scores])
    relative = scores / scale[:, None]
    wide = bool(((np.abs(relative) < SMALL) & (relative != 0)).any())
    entry = {
        "names": [text(name) for name in rankings.names],
        "items": texts([rankings.label(int(i)) for i in chosen]),
        "n": rankings.n,
        "depth": min(depth, rankings.n),
        "limit": rankings.depth,
        "closed": ties == "closed",
        "tail": float(zero_tail == "include"),
        "capped": zero_tail == "cap",
        "listed": [ranking.listed for ranking in rankings],
        "sums": [_sum(ranking, unit) for ranking, unit in zip(rankings, scale.tolist(), strict=True)],
        "ranks": packed(ranks[:, chosen], "<u4"),
        "scale": scale.tolist(),
        "wide": wide,
        "scores": packed(relative, "<f8" if wide else "<f4"),
    }
    if rankings.split is not None:
        signs = [np.tile(np.sign(ranking.signed), 2)[chosen] for ranking in rankings]
        entry["signs"] = packed(np.array(signs), "i1")
    return entry


def described(entry: dict[str, Any], noun: str = "ranking") -> str:
    """Return in words which items a page holds."""
    count, n, depth = len(entry["items"]), entry["n"], entry["depth"]
    if count == n:
        return f"All {n} items are on this page."
    if not count:
        return f"No items are on this page: too many of the {n} have equal scores."
    return f"{count} of {n} items are on this page: those among the first {depth} of at least one {noun}."


def _ranks(ranking: Ranking, ties: str) -> NDArray[np.integer[Any]]:
    """Return each item's rank: of equal scores the best one, or one after the other where input order breaks ties."""
    ranking = ranking.detached()  # hundreds of orders would fill the memory
    if ties == "closed":
        return ranking.ranks
    places = np.empty(ranking.n, np.int32)
    places[ranking.order] = np.arange(1, ranking.n + 1)
    return places


def _scores(ranking: Ranking, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the items' scores, NaN where the ranking does not list them."""
    scores = ranking.scores[chosen]
    return scores if ranking.absent is None else np.where(ranking.absent[chosen], np.nan, scores)


def _sum(ranking: Ranking, unit: float) -> float:
    """Return the sum of all positive scores in units, from which the script knows the mean of those outside a set."""
    return float((np.maximum(ranking.scores, 0.0) / unit).sum())


def _scale(scores: NDArray[np.float64]) -> float:
    """Return the largest finite magnitude, 1 if there is none."""
    finite = np.abs(scores[np.isfinite(scores)])
    return float(finite.max()) if finite.size and finite.max() > 0 else 1.0
