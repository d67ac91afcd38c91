"""Compare scored rankings: how similar, where they differ, more than chance, how stable.

A checked ranking goes in; a result that shows itself comes out. Classes of results are in `fujiscore.results`, further
statistics and tests of ranking methods in `fujiscore.stats`.

>>> import fujiscore as fj
>>> fj.auc([0.9, 0.8, 0.1, 0.0], [0.8, 0.9, 0.0, 0.1])
0.8148148148148149
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# First: a signal to the command while everything else loads must not show a traceback.
import fujiscore._signals  # noqa: F401
from fujiscore._version import __version__  # noqa: F401

if TYPE_CHECKING:
    from fujiscore import results, stats
    from fujiscore.errors import InputError, MissingExtraError
    from fujiscore.features.study import study
    from fujiscore.inputs.importances import importances
    from fujiscore.inputs.ranking import Ranking, Rankings
    from fujiscore.inputs.rankings import rankings
    from fujiscore.io import read
    from fujiscore.io.scan import scan
    from fujiscore.many.consensus import consensus
    from fujiscore.many.pairwise import pairwise
    from fujiscore.many.stability import stability, stability_curve
    from fujiscore.measures.registry import MEASURES, PAPER_MEASURES
    from fujiscore.null.chance import chance
    from fujiscore.pair.compare import auc, compare, curve, fuji, score
    from fujiscore.pair.explain import explain
    from fujiscore.pair.recall import recall
    from fujiscore.pair.truncated import average_overlap, bounds, rbo
    from fujiscore.rankers import rank
    from fujiscore.runs.compare import compare_runs
    from fujiscore.versions.drift import drift

# Every public name, and the module that it is imported from when it is first asked for: `import fujiscore` is quick.
_WHERE = {
    "MEASURES": "measures.registry",
    "PAPER_MEASURES": "measures.registry",
    "InputError": "errors",
    "MissingExtraError": "errors",
    "Ranking": "inputs.ranking",
    "Rankings": "inputs.ranking",
    "auc": "pair.compare",
    "average_overlap": "pair.truncated",
    "bounds": "pair.truncated",
    "chance": "null.chance",
    "compare": "pair.compare",
    "compare_runs": "runs.compare",
    "consensus": "many.consensus",
    "curve": "pair.compare",
    "drift": "versions.drift",
    "explain": "pair.explain",
    "fuji": "pair.compare",
    "importances": "inputs.importances",
    "pairwise": "many.pairwise",
    "rank": "rankers",
    "rankings": "inputs.rankings",
    "rbo": "pair.truncated",
    "read": "io",
    "recall": "pair.recall",
    "results": "results",
    "scan": "io.scan",
    "score": "pair.compare",
    "stability": "many.stability",
    "stability_curve": "many.stability",
    "stats": "stats",
    "study": "features.study",
}

# fmt: off
__all__ = [
    "MEASURES", "PAPER_MEASURES", "InputError", "MissingExtraError", "Ranking", "Rankings", "auc", "average_overlap",
    "bounds", "chance", "compare", "compare_runs", "consensus", "curve", "drift", "explain", "fuji", "importances",
    "pairwise", "rank", "rankings", "rbo", "read", "recall", "results", "scan", "score", "stability",
    "stability_curve", "stats", "study",
]
# fmt: on


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _WHERE:
        from importlib.util import find_spec

        unknown = name.startswith("_") or find_spec(f"fujiscore.{name}")  # or a room, about to be imported
        places = () if unknown else ("results", "stats", "rankers")
        found = [place for place in places if name in import_module(f"fujiscore.{place}").__all__]
        hint = f": it is fujiscore.{found[0]}.{name}" if found else ""
        raise AttributeError(f"module 'fujiscore' has no attribute {name!r}{hint}")
    module = import_module(f"fujiscore.{_WHERE[name]}")
    value = module if _WHERE[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
