"""The rooms: what stands where, imports without a cycle between them, and tests that mirror the source."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from gallery import public_functions

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "fujiscore", ROOT / "tests"
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
FILES = sorted(path.stem for path in SOURCE.glob("*.py"))
# Folders of tests that are no rooms: what crosses them, what runs in a browser, and numbers from elsewhere.
NO_ROOMS = {"themes", "browser", "data"}
# The front loads public names when they are first asked for, the kernels and the commands each their own modules.
LAZY = {"__init__.py", "_kernels/__init__.py", "cli/__init__.py"}


# The name of the installed library of dataframes.
OTHER_LIBRARIES = {"text/tables.py"}


@cache
def modules():
    """Return the path of every module of the package, by its name."""
    names = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        names[".".join(parts).removesuffix(".__init__")] = path
    return names


def imported(name, path, known):
    """Return the modules of the package that a module imports: lazily, for annotations or by a table of names too."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            names = [f"{module}.{alias.name}" for alias in node.names]
            yield from (one if one in known else module for one in names if one in known or module in known)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and name == "fujiscore":
            yield from [one for one in [f"fujiscore.{node.value}"] if one in known]


def room_of(module):
    """Return the room of a module; a module beside the rooms is one of its own, and so is the front."""
    return [*module.split("."), ""][1] or "fujiscore"


def edges(known):
    """Return which rooms import which others, with an example of each."""
    found = {}
    for name, path in known.items():
        for other in imported(name, path, known):
            if room_of(name) != room_of(other):
                found.setdefault((room_of(name), room_of(other)), f"{name} imports {other}")
    return found


def cyclic(graph):
    """Return the edges that lie on a cycle: the start can be reached from the end."""

    def reached(start):
        seen, todo = set(), [start]
        while todo:
            here = todo.pop()
            new = {end for begin, end in graph if begin == here} - seen
            seen |= new
            todo += new
        return seen

    return {(start, end) for start, end in graph if start in reached(end)}


def test_no_cycle_between_rooms():
    graph = edges(modules())
    assert {graph[edge] for edge in cyclic(graph)} == set()


def test_cycles_are_found():
    assert cyclic({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")}) == {("a", "b"), ("b", "c"), ("c", "a")}


def test_imports_of_every_kind_are_seen(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(
        "from typing import TYPE_CHECKING\nimport fujiscore.a\nif TYPE_CHECKING:\n    from fujiscore.b import c\n"
        "def later():\n    from . import d\n    from .e import anything\n"
    )
    names = ("fujiscore.a", "fujiscore.b", "fujiscore.b.c", "fujiscore.room.d", "fujiscore.room.e")
    found = set(imported("fujiscore.room.one", path, dict.fromkeys(names)))
    assert found == {"fujiscore.a", "fujiscore.b.c", "fujiscore.room.d", "fujiscore.room.e"}


def test_the_front_counts_the_names_that_it_loads_later():
    assert ("fujiscore", "versions") in edges(modules())


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_imported_by_a_computed_name(path):
    """No `import_module(name)` and no `getattr(module, name)`: what an import finds is written down."""
    place, tree = path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
    own = {alias.asname or alias.name for node in ast.walk(tree) for alias in modules_bound(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            computed = [one for one in node.args[:2] if not isinstance(one, ast.Constant)]
            if called in {"import_module", "__import__"}:
                assert not computed or place in LAZY | OTHER_LIBRARIES, ast.unparse(node)
            elif called == "getattr" and len(computed) == 2 and isinstance(node.args[0], ast.Name):
                assert node.args[0].id not in own, ast.unparse(node)


def modules_bound(node):
    """Return the imports of a node that bind modules of this package to names."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fujiscore"):
        return [alias for alias in node.names if f"{node.module}.{alias.name}" in modules()]
    return []


def test_the_folder_explains_itself():
    assert len(FILES) <= 8
    assert len(ROOMS) <= 20
    assert set(ROOMS) & set(public_functions()) == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_lives_there(room):
    text = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8")))
    assert len(text.splitlines()) <= 5
    assert "Takes: " in text
    assert "Gives: " in text


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_tests(room):
    assert list((TESTS / room).glob("test_*.py"))


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_mirror_the_source(path):
    """tests/<room>/test_<module>.py, where a room's own name stands for what its `__init__` defines."""
    folder = path.parent.relative_to(TESTS).as_posix()
    if folder in NO_ROOMS:
        return
    name = path.stem.removeprefix("test_")
    room = SOURCE / folder
    own = {one.stem.removeprefix("_") for one in room.glob("*.py")} | {one.parent.name for one in room.glob("*/*.py")}
    assert name in own | {folder.removeprefix("_")}, f"no module {folder}/{name}.py"
