"""Results of all pairs: the matrix, and its trees and maps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fujiscore.charts.kinds import HeatMap, Points, Tree
from fujiscore.charts.result import Result
from fujiscore.errors import InputError, choice, first_few, integer, short_names, spelled
from fujiscore.inference.multiplicity import ADJUSTMENTS
from fujiscore.inputs.orders import read_only
from fujiscore.measures.registry import find
from fujiscore.null.closed_forms import correct
from fujiscore.pages.page import Page, Reported
from fujiscore.text.numbers import p_text
from fujiscore.text.tables import Table, cell_text, columns_table, first_places, frame, free_name, short_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from fujiscore.charts.kinds import Chart
    from fujiscore.inputs.coercion import Scores
    from fujiscore.inputs.ranking import Rankings
    from fujiscore.measures.grids import Grid, Sizes

# How the distance between two clusters follows from those of their members.
LINKAGES = ("average", "complete", "single")
# Eigenvalues this small relative to the largest are rounding; less than this share of the variation needs no note.
ROUNDING, NEGLIGIBLE = 1e-12, 0.005
# Cells with an adjusted p-value above LEVEL get MARK.
LEVEL, MARK = 0.05, "~"

# Corrected values scatter about 0: the scale starts below it only where values are well below.
SLIGHTLY_NEGATIVE = -0.25


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Result, Reported):
    """A measure's headline (area, or value over the whole list) for every pair.

    Attributes
    ----------
    names, columns : tuple of str
        The rankings of the rows and of the columns (the same ones unless two collections were compared).
    raw : ndarray
        One row per ranking, one column per ranking.
    expected : ndarray or None
        The same by chance, if values were to be corrected or tested.
    measure : str
        The measure's name.
    grid : Grid
        The evaluated k.
    corrected : bool
        Whether `values` are corrected for chance.
    notes : tuple of str
        What was done to the input, and what the values rest on.
    two_collections : bool
        Whether rows and columns are different collections of rankings, which may carry the same names.
    p_values, adjusted_p_values : ndarray or None
        How often chance gives a value as extreme as that of each cell, and that adjusted for the number of pairs, if
        pairs were to be tested. NaN where there is no test: a ranking with itself, or chance leaves no choice.
    adjustment : str
        How p-values were adjusted: "bh" (Benjamini-Hochberg) or "holm".
    alternative : {"greater", "less", "two-sided"}
        Which values count as extreme in p-values.
    rankings : Rankings or None
        The rankings themselves, those of the rows and then, of two collections, those of the columns.
    ties, zero_tail : str
        What the top sets are, as in `pairwise`.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    raw: Scores
    expected: Scores | None
    measure: str
    grid: Grid
    corrected: bool
    notes: tuple[str, ...] = ()
    two_collections: bool = False
    p_values: Scores | None = None
    adjusted_p_values: Scores | None = None
    adjustment: str = "bh"
    alternative: str = "greater"
    rankings: Rankings | None = None
    ties: str = "closed"
    zero_tail: str = "include"

    def _page(self) -> Page:
        from fujiscore.many import page

        return page.matrix(self)

    @cached_property
    def values(self) -> Scores:
        """The values as asked for: raw, or corrected for chance (NaN where chance alone gives 1)."""
        if not self.corrected or self.expected is None:
            return self.raw
        return read_only(correct(self.raw, self.expected))

    @property
    def ks(self) -> Sizes:
        """The evaluated k."""
        return self.grid.ks

    @property
    def area(self) -> str:
        """What the values are: the name of the area, or "value over the whole list"."""
        name = self.grid.whole if find(self.measure).whole else self.grid.area
        return f"{name}, corrected for chance" if self.corrected else name

    @property
    def square(self) -> bool:
        """Whether rows and columns are the same rankings."""
        return not self.two_collections

    @cached_property
    def insignificant(self) -> NDArray[np.bool_] | None:
        """The cells that could well be chance: adjusted p above 0.05, or none; None if pairs were not tested."""
        if self.adjusted_p_values is None:
            return None
        tested = ~np.isnan(self.values)
        if self.square:
            np.fill_diagonal(tested, val=False)
        return read_only(tested & ~(self.adjusted_p_values <= LEVEL))

    @property
    def marks(self) -> list[list[str]]:
        """One character per cell: "~" where it is not significant, else a space."""
        marked = np.zeros(self.raw.shape, np.bool_) if self.insignificant is None else self.insignificant
        return np.where(marked, MARK, " ").tolist()  # type: ignore[no-any-return]

    @property
    def legend(self) -> str:
        """The mark, and what it means."""
        return f"{MARK} {self.marked}"

    @property
    def marked(self) -> str:
        """What cells with a mark are."""
        side = "" if self.alternative == "greater" else f" ({self.alternative})"
        return f"not significant: p{side} > {LEVEL:g}, adjusted by {ADJUSTMENTS[self.adjustment]}"

    def as_raw(self) -> Matrix:
        """Return the same matrix with raw values."""
        return replace(self, corrected=False)

    def as_corrected(self) -> Matrix:
        """Return the same matrix with values corrected for chance, if the pass computed them."""
        if self.expected is None:
            raise InputError(f"as_corrected needs a matrix computed with {spelled('corrected')}.")
        return replace(self, corrected=True)

    def __getitem__(self, key: str | tuple[str, str]) -> Any:
        """Return the value of one pair by names, or one ranking's values as a dict."""
        row, *column = key if isinstance(key, tuple) else (key,)
        if len(column) > 1:
            raise InputError(f"the matrix must be asked for one ranking or a pair; got {len(column) + 1} names.")
        for name, names in zip((row, *column), (self.names, self.columns), strict=False):
            if name not in names:
                raise InputError(
                    f"the matrix must hold the name asked for; {name!r} is not among {first_few(names, 12)}."
                )
        values = self.values[self.names.index(row)]
        return (
            float(values[self.columns.index(column[0])])
            if column
            else dict(zip(self.columns, values.tolist(), strict=True))
        )

    def reordered(self, rows: Sequence[int], columns: Sequence[int] | None = None) -> Matrix:
        """Return the matrix with rows and columns in another order (of a square matrix, both in the same).

        Parameters
        ----------
        rows, columns : sequence of int
            The places of rows and columns, in their new order.
        """
        across = list(rows) if columns is None else list(columns)
        where = np.ix_(list(rows), across)
        parts = (self.expected, self.p_values, self.adjusted_p_values)
        expected, p_values, adjusted = (None if part is None else part[where] for part in parts)
        return replace(
            self,
            names=tuple(self.names[i] for i in rows),
            columns=tuple(self.columns[j] for j in across),
            raw=self.raw[where],
            expected=expected,
            p_values=p_values,
            adjusted_p_values=adjusted,
            rankings=self._rearranged(list(rows), across),
        )

    def _rearranged(self, rows: list[int], columns: list[int]) -> Rankings | None:
        """Return the rankings in the order of reordered rows and columns."""
        if self.rankings is None:
            return None
        places = rows if self.square else [*rows, *(len(self.names) + j for j in columns)]
        return self.rankings[places]  # type: ignore[no-any-return]

    def clustered(self) -> Matrix:
        """Return the matrix with similar rankings side by side (average-linkage clustering, optimal leaf order)."""
        distances = self._distances("clustered")
        if len(self.names) < 3:
            return self
        return self.reordered(_leaves(_tree(np.nan_to_num(distances, nan=1.0), "average")))

    def dendrogram(self, linkage: str = "average") -> Dendrogram:
        """Return the tree of an agglomerative clustering with 1 - value as the distance of two rankings.

        1 - FUJI is not a metric (the triangle inequality can fail), which these linkages do not need.

        Parameters
        ----------
        linkage : {"average", "complete", "single"}
            Distance of two clusters: the mean, the largest or the smallest distance of their members.

        Examples
        --------
        >>> import fujiscore as fj
        >>> matrix = fj.pairwise({"a": [4, 3, 2, 1], "b": [1, 2, 3, 4], "c": [4, 3, 1, 2]})
        >>> print(matrix.dendrogram())
        3 rankings, average linkage of 1 - FUJI, top-weighted AUC: b, c, a
        """
        choice("linkage", linkage, LINKAGES)
        tree = _tree(self._defined_distances("dendrogram"), linkage)
        return Dendrogram(self.names, tree, linkage, self.measure, self.area, self.notes)

    def embed(self, dimensions: int = 2) -> Embedding:
        """Return a map: the rankings as points whose distances are about 1 - value (classical scaling).

        1 - FUJI is not a metric, so no map may show all distances exactly: see `share` and `eigenvalues` of the
        result.

        Parameters
        ----------
        dimensions : int
            Number of coordinates per ranking, at least 2.

        Examples
        --------
        >>> import fujiscore as fj
        >>> matrix = fj.pairwise({"a": [4, 3, 2, 1], "b": [1, 2, 3, 4], "c": [4, 3, 1, 2]})
        >>> print(matrix.embed())
        map of 3 rankings by 1 - FUJI, top-weighted AUC: 2 axes show 100% of the variation
        """
        size = integer("dimensions", dimensions, 2)
        coordinates, eigenvalues = _classical_scaling(self._defined_distances("embed"), size)
        map_ = Embedding(self.names, coordinates, eigenvalues, self.measure, self.area, self.notes)
        lost = map_.negative_share
        if lost < NEGLIGIBLE:
            return map_
        reason = f"{lost:.0%} of the variation has negative eigenvalues, which no map shows: 1 - value is no metric"
        return replace(map_, notes=(*self.notes, reason))

    def _distances(self, method: str) -> Scores:
        """Return 1 - value of every pair; of a measure that is not symmetric, the mean of both directions."""
        if not self.square:
            raise InputError(f"{method} needs one collection of rankings; this matrix compares two.")
        distances = np.maximum(1.0 - (self.values + self.values.T) / 2, 0.0)
        np.fill_diagonal(distances, 0.0)
        return distances

    def _defined_distances(self, method: str) -> Scores:
        """Return the distances, or raise if there are not two rankings or a distance is undefined."""
        distances = self._distances(method)
        if len(self.names) < 2:
            raise InputError(f"{method} needs at least 2 rankings; got {len(self.names)}.")
        undefined = ~np.isfinite(distances)
        if undefined.any():
            m = len(self.names)
            worst = self.names[int(undefined.sum(axis=0).argmax())]
            raise InputError(
                f"{method} needs a value for every pair; {find(self.measure).title} is undefined for "
                f"{int(undefined.sum()) // 2} of {m * (m - 1) // 2} pairs, most often with "
                f"{first_few([worst])}. Leave that ranking out, or choose another measure."
            )
        return distances

    def _summary(self) -> list[str]:
        apart = self._of_pairs()
        span = f", {np.nanmin(apart):.4f} to {np.nanmax(apart):.4f}" if apart.size and not np.isnan(apart).all() else ""
        head = f"{len(self.names)} x {len(self.columns)} {find(self.measure).title}, {self.area}{span}"
        return [head]

    def _data(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "items": None if self.rankings is None else self.rankings.n_whole,
            "value": {self.measure: self.area},
            "corrected": self.corrected,
            "rows": self.names,
            "columns": self.columns,
            "ks": self.ks,
            "measures": {self.measure: self.values},
        }
        if self.corrected:
            data["raw"] = {self.measure: self.raw}
        if self.p_values is not None:
            data["p_values"] = {self.measure: self.p_values}
            data["adjusted_p_values"] = {self.measure: self.adjusted_p_values}
            data |= {"adjustment": self.adjustment, "alternative": self.alternative}
        return data

    def _metrics(self) -> dict[str, Any]:
        values = self._of_pairs()
        known = values[~np.isnan(values)]
        parts = {"mean": known.mean(), "least": known.min(), "greatest": known.max()} if known.size else {}
        return {self.measure: parts}

    def _of_pairs(self) -> Scores:
        """Return the values without those of a ranking with itself."""
        return self.values[~np.eye(len(self.names), dtype=bool)] if self.square else self.values.ravel()

    def _charts(self) -> Sequence[Chart]:
        label, note = f"{find(self.measure).title}, {self.area}", "" if self.insignificant is None else self.marked
        # A value just below chance need not halve the scale.
        span = (-1.0 if np.nanmin(self.values, initial=1.0) < SLIGHTLY_NEGATIVE else 0.0, 1.0)
        title = f"{label} of {len(self.names)} by {len(self.columns)} rankings"
        cells = (self.values, self.names, self.columns, label, span, self.insignificant, MARK, note)
        return [HeatMap(*cells, title=title)]

    def _tables(self, rows: int | None) -> list[Table]:
        down, across = (first_places(len(names), rows) for names in (self.names, self.columns))
        names, columns = short_start(self.names, rows), short_start(self.columns, rows)
        values, marked, marks = self.values, self.insignificant is not None, self.marks
        cells = [
            [names[i], *(_marked(values[i, j], marks[i][j]) if marked else values[i, j] for j in across)] for i in down
        ]
        both = f"{len(down)} of {len(self.names)} rows and {len(across)} of {len(self.columns)} columns shown"
        cut = len(down) < len(self.names) or len(across) < len(self.columns)
        caption = self._summary()[0] + (f" ({both})" if cut else "")
        header = ["ranking", *(columns[j] for j in across)]
        return [Table(caption, header, cells, ["", *[".4f"] * len(across)], [self.legend] if marked else [])]

    def pairs_table(self, caption: str, pairs: Sequence[tuple[int, int]]) -> Table:
        """Return some pairs, by row and column, with their values and, where pairs were tested, p-values."""
        values, marks = self.values, self.marks
        rows, across = short_names(self.names), short_names(self.columns)
        columns: dict[str, tuple[str, Any]] = {
            "first": ("", [rows[i] for i, _ in pairs]),
            "second": ("", [across[j] for _, j in pairs]),
            "value": (".4f", [_marked(values[i, j], marks[i][j]) for i, j in pairs]),
        }
        if self.p_values is not None and self.adjusted_p_values is not None:
            raw, adjusted = self.p_values, self.adjusted_p_values
            columns["p"] = ("s", [p_text(raw[where], "analytic") for where in pairs])
            columns["adjusted p"] = ("s", [p_text(adjusted[where], "analytic", raw[where]) for where in pairs])
        return columns_table(caption, columns)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a DataFrame: with pandas labelled rows and columns, with polars a first column `ranking`."""
        columns = {name: self.values[:, j] for j, name in enumerate(self.columns)}
        label = free_name("ranking", columns)
        table = frame({label: list(self.names), **columns}, library, self.notes)
        return table.set_index(label).rename_axis("ranking") if hasattr(table, "set_index") else table

    def plot(self, ax: Any = None, *, clustered: bool = False) -> Any:
        """Draw a heat map on a matplotlib Axes (a new one if None) and return the Axes."""
        return self.clustered().plot(ax) if clustered else super().plot(ax)


@dataclass(frozen=True, eq=False, repr=False)
class Dendrogram(Result):
    """A tree of rankings: who is merged with whom, at which distance.

    Attributes
    ----------
    names : tuple of str
        The rankings, in the order of the matrix.
    merges : ndarray
        One row per merge, as `scipy.cluster.hierarchy` has them: the two clusters, their distance, and the number of
        rankings in the new cluster. Its functions take it as it is, for example `fcluster(merges, 3, "maxclust")`.
    linkage : str
        Distance of two clusters: "average", "complete" or "single".
    measure, area : str
        The measure, and what its values are.
    notes : tuple of str
        What the values rest on.
    """

    names: tuple[str, ...]
    merges: Scores
    linkage: str
    measure: str
    area: str
    notes: tuple[str, ...] = ()

    _keys = ("names", "leaves", "linkage", "measure", "area", "merges")

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names in the order of the tree, similar rankings side by side."""
        return tuple(self.names[i] for i in _leaves(self.merges))

    def _summary(self) -> list[str]:
        kind = f"{self.linkage} linkage of 1 - {find(self.measure).title}, {self.area}"
        return [f"{len(self.names)} rankings, {kind}: {first_few(self.leaves)}"]

    def _charts(self) -> Sequence[Chart]:
        label = f"1 - {find(self.measure).title}, {self.area} ({self.linkage} linkage)"
        return [Tree(self.merges, self.names, label, title=f"tree of {len(self.names)} rankings")]

    def _tables(self, rows: int | None) -> list[Table]:
        names = dict(enumerate(short_names(self.names)))
        names |= {len(names) + i: f"merge {i + 1}" for i in range(len(self.merges))}
        columns: dict[str, tuple[str, Any]] = {
            "merge": ("d", range(1, len(self.merges) + 1)),
            "first": ("", [names[int(cluster)] for cluster in self.merges[:, 0]]),
            "second": ("", [names[int(cluster)] for cluster in self.merges[:, 1]]),
            "distance": (".4f", self.merges[:, 2]),
            "rankings": ("d", self.merges[:, 3].astype(np.int64)),
        }
        caption = f"{self.linkage} linkage of 1 - {find(self.measure).title}, {self.area}"
        return [columns_table(caption, columns, f"{len(self.merges)} merges", first_places(len(self.merges), rows))]

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per merge as a pandas or polars DataFrame; clusters from m on are those of earlier rows."""
        first, second, distance, size = self.merges.T
        whole = {"first": first.astype(np.int64), "second": second.astype(np.int64)}
        return frame({**whole, "distance": distance, "size": size.astype(np.int64)}, library, self.notes)


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Result):
    """A map of rankings: points whose distances are about 1 - value.

    Attributes
    ----------
    names : tuple of str
        The rankings.
    coordinates : ndarray
        One row per ranking, one column per axis, the axis with most variation first.
    eigenvalues : ndarray
        All eigenvalues of the doubly centred squared distances, from large to small. Those below 0 are variation that
        no map can show: distances that break the rules of Euclidean space.
    measure, area : str
        The measure, and what its values are.
    notes : tuple of str
        What the values rest on.
    """

    names: tuple[str, ...]
    coordinates: Scores
    eigenvalues: Scores
    measure: str
    area: str
    notes: tuple[str, ...] = ()

    _keys = ("names", "coordinates", "measure", "area", "share", "shares", "negative_share", "eigenvalues")

    @property
    def shares(self) -> Scores:
        """The share of the variation on each axis: its eigenvalue over the sum of all absolute eigenvalues."""
        total = float(np.abs(self.eigenvalues).sum())
        shown = np.zeros(self.coordinates.shape[1])
        shown[: self.eigenvalues.size] = np.maximum(self.eigenvalues, 0.0)[: shown.size]
        return shown / total if total > 0 else shown

    @property
    def share(self) -> float:
        """The share of the variation that all axes together show (NaN where all distances are 0)."""
        return float(self.shares.sum()) if self.eigenvalues.any() else float("nan")

    @property
    def negative_share(self) -> float:
        """The share of the variation in negative eigenvalues (0 if the distances are Euclidean)."""
        total = float(np.abs(self.eigenvalues).sum())
        return float(-np.minimum(self.eigenvalues, 0.0).sum()) / total if total > 0 else 0.0

    def _summary(self) -> list[str]:
        head = f"map of {len(self.names)} rankings by 1 - {find(self.measure).title}, {self.area}"
        shown = "no variation" if np.isnan(self.share) else f"{self.share:.0%} of the variation"
        return [f"{head}: {self.coordinates.shape[1]} axes show {shown}"]

    def _charts(self) -> Sequence[Chart]:
        axes = [f"axis {axis} ({share:.0%} of the variation)" for axis, share in enumerate(self.shares[:2], 1)]
        distance = f"1 - {find(self.measure).title}, {self.area}"
        title = f"map of {len(self.names)} rankings by {distance}"
        x, y = self.coordinates[:, 0], self.coordinates[:, 1]
        return [Points(x, y, self.names, *axes, title=title, heading=distance)]

    def _tables(self, rows: int | None) -> list[Table]:
        axes = {f"axis {a + 1} ({share:.0%})": (".4f", self.coordinates[:, a]) for a, share in enumerate(self.shares)}
        columns: dict[str, tuple[str, Any]] = {"ranking": ("", short_start(self.names, rows)), **axes}
        places, total = first_places(len(self.names), rows), f"{len(self.names)} rankings"
        return [columns_table(self._summary()[0], columns, total, places)]

    def to_frame(self, library: str | None = None) -> Any:
        """Return one row per ranking as a pandas or polars DataFrame, one column per axis."""
        axes = {f"axis_{a + 1}": self.coordinates[:, a] for a in range(self.coordinates.shape[1])}
        return frame({"ranking": list(self.names), **axes}, library, self.notes)


def _marked(value: float, mark: str) -> str:
    """Return a value with its mark."""
    return cell_text(value, ".4f") + mark.rstrip()


def _tree(distances: Scores, method: str) -> Scores:
    """Return the merges of a clustering, with an order of the leaves that has similar neighbours."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    return np.asarray(linkage(squareform(distances, checks=False), method, optimal_ordering=True), np.float64)


def _leaves(tree: Scores) -> list[int]:
    """Return the leaves of a tree from left to right."""
    from scipy.cluster.hierarchy import leaves_list

    return [int(leaf) for leaf in leaves_list(tree)]


def _classical_scaling(distances: Scores, dimensions: int) -> tuple[Scores, Scores]:
    """Return coordinates and all eigenvalues, large ones first; on each axis the farthest point is positive."""
    squares = distances**2
    means = squares.mean(axis=0)
    products = -0.5 * (squares - means - means[:, None] + means.mean())
    eigenvalues, vectors = np.linalg.eigh((products + products.T) / 2)
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    eigenvalues = np.where(np.abs(eigenvalues) > ROUNDING * np.abs(eigenvalues).max(), eigenvalues, 0.0)
    coordinates = np.zeros((len(distances), dimensions))
    shown = min(dimensions, len(distances))
    coordinates[:, :shown] = vectors[:, :shown] * np.sqrt(np.maximum(eigenvalues[:shown], 0.0))
    farthest = np.take_along_axis(coordinates, np.abs(coordinates).argmax(axis=0)[None], axis=0)
    return np.where(farthest < 0, -1.0, 1.0) * coordinates, eigenvalues
