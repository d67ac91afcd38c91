"""Other libraries' similarities of two score arrays: SciPy's here, the rbo package in its own environment."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from scipy import stats

RBO_ENVIRONMENT = Path(__file__).with_name(".venv-rbo")
RBO_PYTHON = RBO_ENVIRONMENT / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
# Sorting belongs to the task: rbo takes items in order. Lists, as it is faster on them than on arrays.
RBO_WORKER = """
import sys
import numpy as np
from rbo import RankingSimilarity
r, s = np.load(sys.argv[1])
for _ in sys.stdin:
    order_r = np.argsort(-r, kind="stable").tolist()
    order_s = np.argsort(-s, kind="stable").tolist()
    print(RankingSimilarity(order_r, order_s).rbo(p=0.98), flush=True)
"""


def scipy_peers(r, s):
    """Return one call per SciPy coefficient; each computes one number."""
    return {
        "kendalltau": lambda: stats.kendalltau(r, s),
        "weightedtau": lambda: stats.weightedtau(r, s),
        "spearmanr": lambda: stats.spearmanr(r, s),
    }


def rbo_ready(*, install):
    """Return whether the rbo package can be run; it needs NumPy 1, hence an environment of its own."""
    if install and not RBO_PYTHON.exists():
        venv.create(RBO_ENVIRONMENT, with_pip=True)
    if not RBO_PYTHON.exists():
        return False
    works = [str(RBO_PYTHON), "-c", "import rbo"]
    if install and subprocess.run(works, capture_output=True, check=False).returncode:
        command = [str(RBO_PYTHON), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "rbo==0.1.3"]
        subprocess.run(command, stdout=sys.stderr, check=False)
    return subprocess.run(works, capture_output=True, check=False).returncode == 0


class Rbo:
    """The rbo package in a process of its own, that a call makes compute once."""

    def __init__(self, path):
        command = [str(RBO_PYTHON), "-c", RBO_WORKER, str(path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self):
        """Return the rank-biased overlap of the arrays."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        """End the process."""
        self.process.communicate()
