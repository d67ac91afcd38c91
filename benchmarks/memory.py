"""Print the bytes per item that a call needs at its peak, beyond the inputs: `memory.py scores.npy [curve|pairwise]`.

Linux only. Run with FUJISCORE_COMPILE=always: compiling during the measured call would count.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import fujiscore as fj


def status(field):
    """Return a field of this process's status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


# Loaded, not generated: freed temporaries would stay in the process, be used again, and hide a part of the peak.
scores = np.load(sys.argv[1])
call = fj.pairwise if sys.argv[2:] == ["pairwise"] else lambda pair: fj.curve(pair[0], pair[1])
call(scores[:2, :100].copy())
Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew, from the current size
before = status("VmRSS")
result = call(scores)
print((status("VmHWM") - before) / scores.shape[1])
