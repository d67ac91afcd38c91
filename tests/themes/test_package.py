"""The package as a whole: what it loads, what it names, and which way its imports point."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from gallery import public_classes, public_functions

import fujiscore as fj

ROOT = Path(__file__).parents[2]
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


def test_comparing_arrays_loads_numba_at_most():
    """Numba itself may load scipy; dataframe libraries stay out."""
    assert loaded_after("import fujiscore as fj; fj.compare([1.0, 2.0], [2.0, 1.0])") <= {"numba", "scipy"}


def test_unknown_kernels_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fj._kernels.nothing


@pytest.mark.parametrize("name", ["results.Comparison", "stats.compare_stability", "rankers.relief"])
def test_names_that_moved_say_where_they_are(name):
    with pytest.raises(AttributeError, match=f"it is fujiscore.{name}$"):
        getattr(fj, name.partition(".")[2])
    with pytest.raises(AttributeError, match=r"has no attribute 'Comparisons'$"):
        _ = fj.Comparisons


def test_every_kernel_module_is_listed():
    folder = ROOT / "src" / "fujiscore" / "_kernels"
    modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert modules == set(fj._kernels.__all__)


def test_public_names_exist_once():
    names = [*fj.__all__, *fj.results.__all__, *fj.stats.__all__]
    assert len(set(names)) == len(names)
    assert [name for module in (fj, fj.results, fj.stats) for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("name", {**public_classes(), **public_functions()})
def test_public_names_are_documented(name):
    public = {**public_classes(), **public_functions()}[name]
    assert inspect.getdoc(public)
    if inspect.isclass(public):
        for method, member in vars(public).items():
            if not method.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                assert inspect.getdoc(member), f"{name}.{method}"


@pytest.mark.parametrize("name", public_functions())
def test_public_functions_have_examples(name):
    assert ">>>" in public_functions()[name].__doc__


@pytest.mark.parametrize("path", sorted((ROOT / "src" / "fujiscore").rglob("*.py")), ids=lambda path: path.stem)
def test_every_module_says_what_lives_there(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)


def test_the_oracle_imports_nothing_of_the_package():
    tree = ast.parse((ROOT / "tests" / "oracle.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert modules <= {"__future__", "decimal", "fractions", "itertools", "math"}


def test_imports_point_downward():
    done = run("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
    assert done.returncode == 0, done.stdout + done.stderr


def test_results_print_a_summary():
    text = str(fj.compare([4, 3, 2, 1], [4, 2, 3, 1]))
    assert text.splitlines() == [
        "4 items, k = 1 to 4",
        "measure  AUC     top-weighted AUC",
        "FUJI     0.9259  0.8889",
        "Jaccard  0.7778  0.6667",
    ]


def test_the_version_is_the_distributions():
    from importlib.metadata import version

    assert version("fujiscore") == fj.__version__


# --- what is distributed


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the names in the sdist, without its folder, and the contents of the wheel by name."""
    folder = tmp_path_factory.mktemp("dist")
    done = run("-m", "hatchling", "build", "-d", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        return names, {name: archive.read(name) for name in archive.namelist()}


def files_under(*folders):
    """Return the source files under folders of the project, relative to it."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {path.relative_to(ROOT).as_posix() for path in paths if "__pycache__" not in path.parts}


def test_the_sdist_has_all_that_its_tests_read(built):
    names, _ = built
    expected = files_under("src", "tests", "docs", "examples") | {"README.md", "mkdocs.yml", "CITATION.cff"}
    assert expected | {"Makefile", "pyproject.toml", ".ci/run", "RELEASING.md", "CHANGELOG.md", "LICENSE"} <= names


def test_the_wheel_has_the_package_and_the_examples_and_nothing_else(built):
    _, wheel = built
    package = {name.removeprefix("src/") for name in files_under("src")}
    examples = {f"fujiscore/{name}" for name in files_under("examples") if not name.endswith((".py", ".ipynb"))}
    assert "fujiscore/examples/model_a.csv" in examples
    assert {name for name in wheel if ".dist-info/" not in name} == package | examples
    for name in examples:
        assert wheel[name] == (ROOT / name.removeprefix("fujiscore/")).read_bytes()


def test_the_citation_has_the_version_and_the_paper():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {fj.__version__}\n" in text
    preferred = text.split("preferred-citation:\n")[1]
    assert "Fuzzy Jaccard Index: A robust comparison of ordered lists" in preferred
    assert re.findall("family-names: (.*)", preferred) == ["Petković", "Škrlj", "Kocev", "Simidjievski"]


def test_the_changelog_begins_with_this_version():
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first[1] == fj.__version__


def test_dependencies_are_named_where_they_are_imported():
    """Whatever src imports from elsewhere is a dependency or in an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name, own in project["optional-dependencies"].items() if name != "dev" for one in own]
    named = {re.match(r"[\w-]+", one)[0] for one in (*project["dependencies"], *extras)}
    modules = {"scikit-learn": "sklearn"}
    allowed = {modules.get(name, name) for name in named} | {"fujiscore", *sys.stdlib_module_names}
    # DataFrames are returned to those who have them, and the plugin is imported by pytest only.
    assert imported(ROOT / "src") - allowed <= {"pandas", "polars", "pytest"}


def imported(folder):
    """Return the first words of all modules that the files of a folder import."""
    nodes = [node for path in folder.rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in names}
