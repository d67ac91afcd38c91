"""The example notebook: its cells run, what they show is a result, and it is stored without outputs."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"
SHOWN = ["Comparison", "Chance", "Explanation", "Matrix", "Dendrogram", "Stability", "ItemRanks", "Study"]
SHOWN += ["RunComparison", "Explanation", "Drift"]


@pytest.fixture(scope="module")
def cells():
    return [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def test_outputs_are_not_stored(cells):
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


def test_the_cells_run(cells, monkeypatch, capsys):
    monkeypatch.chdir(os.path.relpath(NOTEBOOK.parent))
    names, shown = {}, []
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        if value is not None:
            shown.append(type(value).__name__)
            ET.fromstring(value._repr_html_())
    assert shown == SHOWN
    assert r"\toprule" in capsys.readouterr().out
