"""Write skrebate.json, scores of scikit-rebate where its definitions are ours: `python make_skrebate.py`.

Needs scikit-rebate 0.8 (skrebate on PyPI). Its ReliefF for a continuous endpoint is not RReliefF: it takes the k
nearest hits and the k nearest misses, and a hit is an instance whose target is less than one standard deviation away.
The two are the same where the target has two values and the two nearest of every instance are a hit and a miss, for
k = 1 there and 2 here: `rectangles`. Its SURF takes the mean distance over n², not n (n - 1) pairs, so it is left out.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from skrebate import MultiSURF, ReliefF


def rectangles(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of rectangles far from each other: across one side is a hit, across the other a miss."""
    rows, target = [], []
    for number in range(15):
        hit = random.random(6) < 0.5
        hit[:2] = False, True
        corner = 10 * number + random.random(6)
        across = random.random(6) + 0.1
        for misses in (0, 1):
            for hits in (0, 1):
                rows.append(corner + across * np.where(hit, hits, misses))
                target.append(float(misses))
    return np.array(rows).round(3), np.array(target)


def main() -> None:
    """Score two small tables, and write them with the scores."""
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 6)).round(3)
    quantity = (x[:, 0] + np.abs(x[:, 1]) + random.normal(size=60) / 4).round(3)
    classes = (quantity > np.median(quantity)).astype(int)
    corners, sides = rectangles(random)
    of = {"categorical_threshold": 1, "n_features_to_select": 2}
    cases = {
        "multisurf of a quantity": (MultiSURF(**of), x, quantity),
        "multisurf of classes": (MultiSURF(**of), x, classes),
        "relief of a quantity": (ReliefF(n_neighbors=1, label_type="continuous", **of), corners, sides),
    }
    known = {
        name: {"x": table.tolist(), "y": y.tolist(), "scores": ranker.fit(table, y).feature_importances_.tolist()}
        for name, (ranker, table, y) in cases.items()
    }
    known = {"skrebate": version("skrebate"), **known}
    Path(__file__).with_name("skrebate.json").write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main()
