"""The paper that introduced FUJI, recomputed: its scenarios, properties, bounds and study, and which statements hold.

Takes: the published rankings. Gives: `Reproduction`, a page with its figures, tables and statements (`fuji paper`).
Uses the public functions of fujiscore only.
"""

from fujiscore.paper.build import Reproduction, compute, write
from fujiscore.paper.sources import fetch, load

__all__ = ["Reproduction", "compute", "fetch", "load", "write"]
