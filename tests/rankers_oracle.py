"""The feature rankers from their definitions, in pure Python, slow and obvious. Imports nothing of fujiscore."""

from __future__ import annotations

import math
from collections import Counter


def scaled(column):
    """Scale numbers to 0..1 (None: missing); a column without a range has no scale."""
    known = [value for value in column if value is not None]
    if not known or min(known) == max(known):
        return None
    low, high = min(known), max(known)
    return [None if value is None else (value - low) / (high - low) for value in column]


def difference(column, nominal):
    """Return a function of two rows: their difference in this column."""
    if nominal:
        levels = len({value for value in column if value is not None})

        def between(i, j):
            if column[i] is None or column[j] is None:
                return 1 - 1 / levels if levels else 0.0
            return float(column[i] != column[j])

        return between
    values = scaled(column)

    def distance(i, j):
        if values is None:
            return 0.0
        a, b = values[i], values[j]
        if a is None and b is None:
            return 1.0
        if a is None or b is None:
            known = b if a is None else a
            return max(known, 1 - known)
        return abs(a - b)

    return distance


def relief(columns, nominal, y, k, small_classes="average"):
    """ReliefF with every instance; columns are lists, None is missing."""
    n = len(y)
    differences = [difference(column, kind) for column, kind in zip(columns, nominal, strict=True)]
    members = {c: [j for j in range(n) if y[j] == c] for c in set(y)}
    scores = [0.0] * len(columns)
    for i in range(n):
        for c, rows in members.items():
            others = [j for j in rows if j != i]
            others.sort(key=lambda j: (sum(d(i, j) for d in differences), j))
            chosen = others[:k]
            if not chosen or (small_classes == "drop" and len(chosen) < k):
                continue
            own = len(members[y[i]])
            weight = -1 if c == y[i] else len(rows) / n / (1 - own / n)
            for f, d in enumerate(differences):
                scores[f] += weight * sum(d(i, j) for j in chosen) / len(chosen) / n
    return scores


def rrelief(columns, nominal, y, k):
    """RReliefF with every instance and neighbours of equal weight, from the published pseudocode."""
    n, low, high = len(y), min(y), max(y)
    differences = [difference(column, kind) for column, kind in zip(columns, nominal, strict=True)]
    n_dc, n_da, n_dcda = 0.0, [0.0] * len(columns), [0.0] * len(columns)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        others.sort(key=lambda j: (sum(d(i, j) for d in differences), j))
        influence = 1 / min(k, n - 1)
        for j in others[:k]:
            of_target = abs(y[i] - y[j]) / (high - low)
            n_dc += of_target * influence
            for f, d in enumerate(differences):
                n_da[f] += d(i, j) * influence
                n_dcda[f] += of_target * d(i, j) * influence
    return [
        (n_dcda[f] / n_dc if n_dc else 0.0) - ((n_da[f] - n_dcda[f]) / (n - n_dc) if n - n_dc > 1e-12 else 0.0)
        for f in range(len(columns))
    ]


def surf(columns, nominal, y, *, quantity=False, multi=False):
    """SURF, or MultiSURF: mean difference to near misses less that to near hits, averaged over instances."""
    n = len(y)
    differences = [difference(column, kind) for column, kind in zip(columns, nominal, strict=True)]
    distance = [[math.fsum(d(i, j) for d in differences) for j in range(n)] for i in range(n)]
    pairs = [distance[i][j] for i in range(n) for j in range(n) if i != j]
    mean_y = math.fsum(y) / n if quantity else None
    deviation = math.sqrt(math.fsum((v - mean_y) ** 2 for v in y) / (n - 1)) if quantity else None
    scores = [0.0] * len(columns)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        limit = math.fsum(pairs) / len(pairs)
        if multi:
            own = [distance[i][j] for j in others]
            mean = math.fsum(own) / len(own)
            limit = mean - math.sqrt(math.fsum((v - mean) ** 2 for v in own) / len(own)) / 2
        near = [j for j in others if distance[i][j] < limit * (1 - 1e-10)]
        hits = [j for j in near if (abs(y[i] - y[j]) < deviation if quantity else y[i] == y[j])]
        misses = [j for j in near if j not in hits]
        for f, d in enumerate(differences):
            for sign, rows in ((-1, hits), (1, misses)):
                if rows:
                    scores[f] += sign * sum(d(i, j) for j in rows) / len(rows) / n
    return scores


def kraskov(x, y, k):
    """Kraskov's estimate of the mutual information of two numbers, clipped at 0."""
    n = len(x)
    terms = []
    for i in range(n):
        gaps = sorted(max(abs(x[i] - x[j]), abs(y[i] - y[j])) for j in range(n) if j != i)
        width = gaps[min(k, n - 1) - 1]
        terms += [digamma(sum(abs(v[i] - other) < width or v[i] == other for other in v)) for v in (x, y)]
    return max(0.0, digamma(n) + digamma(min(k, n - 1)) - math.fsum(terms) / n)


def digamma(m):
    """Return the digamma function of a positive whole number."""
    return -0.577215664901532860606512 + math.fsum(1 / i for i in range(1, m))


def ross(values, y, k):
    """Ross's estimate of the mutual information of a number and a class, clipped at 0."""
    sizes = Counter(y)
    rows = [i for i in range(len(y)) if sizes[y[i]] > 1]
    terms = []
    for i in rows:
        near = sorted(abs(values[i] - values[j]) for j in rows if j != i and y[j] == y[i])
        neighbours = min(k, len(near))
        inside = sum(abs(values[i] - values[j]) < near[neighbours - 1] or values[i] == values[j] for j in rows)
        terms.append(digamma(neighbours) - digamma(sizes[y[i]]) - digamma(inside))
    return max(0.0, digamma(len(rows)) + math.fsum(terms) / len(rows))


def information(a, b):
    """Mutual information of two lists of categories, in nats."""
    n = len(a)
    one, other, both = Counter(a), Counter(b), Counter(zip(a, b, strict=True))
    return math.fsum(count / n * math.log(count * n / (one[x] * other[z])) for (x, z), count in both.items())


def permutation_importance(forest, X, y, permutation, error, *, restore=True):
    """Mean over the trees of the out-of-bag error with a feature permuted less that without; X is an array.

    `permutation(tree, feature, size)` gives the positions that the values come from; `error` is one of those below.
    Without `restore`, features stay permuted, in the order in which the tree's nodes first use them.
    """
    n, m = X.shape
    losses = [[] for _ in range(m)]
    trees = 0
    for number, (tree, bag) in enumerate(zip(forest.estimators_, forest.estimators_samples_, strict=True)):
        inside = set(bag.tolist())
        rows = [i for i in range(n) if i not in inside]
        if not rows:
            continue
        trees += 1
        original = X[rows]
        present = original.copy()
        targets = [y[i] for i in rows]
        before = error(tree.predict(original).tolist(), targets)
        for f in dict.fromkeys(f for f in tree.tree_.feature.tolist() if f >= 0):
            if restore:
                present = original.copy()
            present[:, f] = original[permutation(number, f, len(rows)), f]
            losses[f].append(error(tree.predict(present).tolist(), targets) - before)
    return [math.fsum(own) / trees for own in losses]


def wrong(predicted, actual):
    """Return the share of rows with the wrong class."""
    return sum(a != b for a, b in zip(predicted, actual, strict=True)) / len(actual)


def squared(predicted, actual):
    """Return the mean squared error."""
    return math.fsum((a - b) ** 2 for a, b in zip(predicted, actual, strict=True)) / len(actual)
