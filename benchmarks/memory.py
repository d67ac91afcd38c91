"""Print the bytes an item that fj.curve needs at its peak, beyond the inputs: `memory.py pair.npy`. Linux only."""

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
r, s = np.load(sys.argv[1])
fj.curve(r[:100].copy(), s[:100].copy())
Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts anew, from the current size
before = status("VmRSS")
curve = fj.curve(r, s)
print((status("VmHWM") - before) / r.size)
