"""The package as a whole: what it loads, what it names, and which way its imports point."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import fujiscore as fj

ROOT = Path(__file__).parents[1]
HEAVY = ("numba", "pandas", "polars", "matplotlib", "sklearn", "scipy", "pyarrow", "narwhals", "click")


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def loaded_after(script):
    """Return which of the heavy libraries a fresh interpreter has loaded after a script."""
    done = run("-c", f"{script}\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_after("import fujiscore") == set()


def test_the_check_above_can_fail():
    assert loaded_after("import fujiscore, pandas") >= {"pandas"}


def test_comparing_arrays_loads_numba_alone():
    """Numba itself may load scipy; dataframe libraries stay out."""
    loaded = loaded_after("import fujiscore as fj; fj.compare([1.0, 2.0], [2.0, 1.0])")
    assert loaded - {"scipy"} == {"numba"}


def test_unknown_kernels_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fj._kernels.nothing


def test_every_kernel_module_is_listed():
    folder = ROOT / "src" / "fujiscore" / "_kernels"
    modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert modules == set(fj._kernels.__all__)


def test_public_names_exist_and_are_sorted():
    assert sorted(set(fj.__all__)) == sorted(fj.__all__)
    for name in fj.__all__:
        assert hasattr(fj, name)


@pytest.mark.parametrize("name", [name for name in fj.__all__ if not name.endswith("MEASURES")])
def test_public_names_are_documented(name):
    public = getattr(fj, name)
    assert inspect.getdoc(public)
    if inspect.isclass(public):
        for method, member in vars(public).items():
            if not method.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                assert inspect.getdoc(member), f"{name}.{method}"


@pytest.mark.parametrize("name", [name for name in fj.__all__ if inspect.isfunction(getattr(fj, name))])
def test_public_functions_have_examples(name):
    assert ">>>" in getattr(fj, name).__doc__


@pytest.mark.parametrize("path", sorted((ROOT / "src" / "fujiscore").rglob("*.py")), ids=lambda path: path.stem)
def test_every_module_says_what_lives_there(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)


def test_the_oracle_imports_nothing_of_the_package():
    tree = ast.parse((ROOT / "tests" / "oracle.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert modules <= {"__future__", "fractions", "itertools", "math"}


def test_imports_point_downward():
    done = run("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
    assert done.returncode == 0, done.stdout + done.stderr


def test_results_print_a_summary():
    text = str(fj.compare([4, 3, 2, 1], [4, 2, 3, 1]))
    assert text.splitlines() == ["4 items, k = 1 to 4 (4 points)", "AUC fuji     0.9259", "AUC jaccard  0.7778"]


def test_the_version_is_the_distributions():
    from importlib.metadata import version

    assert version("fujiscore") == fj.__version__
