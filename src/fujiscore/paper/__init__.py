"""The paper that introduced FUJI, recomputed: its scenarios, properties, bounds and study, and which statements hold.

`compute` and `write` do it all; the command is `fuji paper`. Uses the public functions of fujiscore only.
"""

from fujiscore.paper.build import Reproduction, compute, write
from fujiscore.paper.sources import fetch, load

__all__ = ["Reproduction", "compute", "fetch", "load", "write"]
