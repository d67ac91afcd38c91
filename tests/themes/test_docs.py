"""The documentation is true: examples and commands run, every name is documented, generated pages are up to date."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import runpy
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import fujiscore as fj
from fujiscore import rankers
from fujiscore.cli import COMMANDS, fuji
from fujiscore.cli.example import COMMANDS as SUGGESTED
from fujiscore.cli.terminal import display_width
from fujiscore.inputs.options import Policies
from fujiscore.work.tiles import Execution

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
# Pages that users read; the others are for those who change the package.
READ = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
# Enough for a study to have everything.
QUICK = [("--resamples", "3"), ("--trees", "10"), ("--permutations", "50")]
REPOSITORY = "https://github.com/fujiscore/fujiscore/blob/main/"


def text_of(path):
    return path.read_text(encoding="utf-8")


def shows_examples(path):
    return ">>> " in text_of(path)


def script(name):
    """Return the names of one of the scripts that write pages."""
    return runpy.run_path(str(DOCS / name))


# Examples and commands


def modules_with_examples():
    """Return the names of the modules whose docstrings have examples: a module without any cannot fail."""
    source = ROOT / "src"
    paths = sorted(path for path in source.rglob("*.py") if shows_examples(path))
    return [".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for path in paths]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", list(filter(shows_examples, PAGES)), ids=lambda page: page.name)
def test_examples_in_pages(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_python_block_is_an_example():
    for page in PAGES:
        for block in re.findall(r"```python\n(.*?)```", text_of(page), flags=re.DOTALL):
            assert block.startswith(">>> "), (page.name, block)


def lines_of_code(page):
    """Return the lines in a page's code blocks."""
    inside, lines = False, []
    for line in text_of(page).splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside:
            lines.append(line)
    return lines


def commands(*pages):
    """Return every line in a code block that is a command."""
    lines = [line for page in pages for line in lines_of_code(page) if line.startswith("fuji ")]
    return list(dict.fromkeys(lines))


def cases():
    """Return the commands to run; those that take a minute are slow. Those that `fuji example` prints run elsewhere."""
    lines = [line for line in commands(*READ) if line not in SUGGESTED]
    alone = [line for line in lines if "--dask" not in line]  # tests/work/test_executors.py has a cluster
    return [pytest.param(line, marks=pytest.mark.slow if line.startswith("fuji paper") else ()) for line in alone]


def visible_files():
    """Return what is in the project's folder, without caches."""
    return {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}


@pytest.mark.parametrize("line", cases())
def test_commands_run(line, monkeypatch, tmp_path, request):
    monkeypatch.chdir(ROOT)
    arguments = shlex.split(line, comments=True)[1:]
    for option in ("--out", "-o", "--plot", "--html"):
        if option in arguments:
            place = arguments.index(option) + 1
            arguments[place] = str(tmp_path / Path(arguments[place]).name)
    if "--baseline" in arguments:
        place = arguments.index("--baseline") + 1
        if not Path(arguments[place]).exists():  # stored by the command itself, or by one before it
            arguments[place] = str(tmp_path / arguments[place])
            CliRunner().invoke(fuji, [*arguments, "--bless"])
    if arguments[0] == "example" and len(arguments) > 1:
        arguments[1] = str(tmp_path / arguments[1])
    if arguments[0] == "paper" and "--no-rankings" not in arguments:
        folder = request.getfixturevalue("shared") / "data" / "published_rankings"
        arguments += ["--rankings", str(folder)]
    if arguments[0] == "study":  # few resamples do
        arguments += [part for few in QUICK if few[0] not in arguments for part in few]
    before = visible_files()
    result = CliRunner().invoke(fuji, arguments, env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert result.output
    assert visible_files() == before
    other = {"--json", "--csv", "--markdown", "cite", "example", "paper"}
    if line in examples_in_help() and other.isdisjoint(arguments):
        assert [text for text in result.stdout.splitlines() if display_width(text) > 80] == []


def examples_in_help():
    """Return every command line in the help."""
    own = [line for name in COMMANDS for line in importlib.import_module(f"fujiscore.cli.{name}").command.examples]
    return [*own, *re.findall(r"^  (fuji compare .*)$", fuji.epilog, re.MULTILINE)]


def test_examples_in_the_help_are_run_here():
    assert set(examples_in_help()) - set(SUGGESTED) <= set(commands(*READ))


def test_every_command_is_shown():
    for page in (ROOT / "README.md", DOCS / "cli.md"):
        assert {line.split()[1] for line in commands(page)} == set(COMMANDS)


# Links


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    count, found = {}, set()
    for title in re.findall(r"^#+ (.+)$", text_of(page), flags=re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found.add(f"{anchor}-{count[anchor]}" if anchor in count else anchor)
        count[anchor] = count.get(anchor, 0) + 1
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    prose = re.sub(r"(?<!\[)`[^`\n]+`", "", text_of(page))
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", prose):
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), (target, anchor)
    for target in re.findall(rf"\]\({REPOSITORY}([^)#]*)", prose):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_lists_and_tables_are_such_on_the_site_too(page):
    """GitHub forgives what Python-Markdown does not: no empty line before a list, nested ones indented by two."""
    inside, previous = False, ""
    for line in text_of(page).splitlines():
        inside ^= line.startswith("```")
        item = re.match(r"( *)(?:[-*]|\d+\.) ", line)
        if not inside and item:
            assert len(item[1]) % 4 == 0, line
            assert (
                item[1]
                or not previous.strip()
                or previous.startswith(("- ", "* ", "  ", "<!--"))
                or re.match(r"\d+\. ", previous)
            ), line
        if not inside and line.startswith("|"):
            assert not previous.strip() or previous.startswith(("|", "<!--")), line
        previous = line


def test_the_site_shows_every_page():
    shown = set(re.findall(r"^ +- [^:]*: ([\w./-]+\.md)$", text_of(ROOT / "mkdocs.yml"), flags=re.MULTILINE))
    assert shown == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}


# Completeness


def sections_of_api():
    """Return the text under each public name in the reference."""
    parts = re.split(r"^### (?:class )?`(\w+)`$", text_of(DOCS / "api.md"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


PUBLIC = {name: getattr(module, name) for module in (fj, fj.results, fj.stats, rankers) for name in module.__all__}


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - {"results", "stats"}))
def test_every_public_name_is_documented(name):
    text = sections_of_api()[name]
    thing = PUBLIC[name]
    if inspect.isfunction(thing):
        elsewhere = set(Policies.__annotations__) if "**policies" in text else set()
        elsewhere |= set(Execution.__annotations__) if "**execution" in text else set()
        for parameter in set(inspect.signature(thing).parameters) - elsewhere:
            assert re.search(rf"\b{parameter}\b", text), parameter


def test_the_policies_are_described_once():
    sections = sections_of_api()
    for policy in Policies.__annotations__:
        assert f"- `{policy}` (" in sections["rankings"], policy
        assert f"--{policy}" in text_of(DOCS / "cli.md")
        assert f"| `{policy}` |" in text_of(DOCS / "inputs.md")
    assert "- `negative` (" not in sections["compare"]
    assert "[`rankings`](#rankings)" in sections["pairwise"]


def test_docstrings_of_public_names(monkeypatch):
    pytest.importorskip("numpydoc")
    monkeypatch.syspath_prepend(DOCS)
    assert script("check_docstrings.py")["faults"]() == []


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if inspect.isfunction(thing)])
def test_help_describes_every_parameter(name):
    """Where the user stands: no "As in `curve`" in place of a description."""
    described = sections_of(inspect.getdoc(PUBLIC[name]))
    for parameter in inspect.signature(PUBLIC[name]).parameters:
        assert (
            re.search(rf"^(.*, )?\*{{0,2}}{parameter}(, .*)? : ", described, flags=re.MULTILINE)
            or parameter == "options"
        )
    assert not re.search(r"^ +As in `\w+`\.$", described, flags=re.MULTILINE)


def sections_of(text):
    """Return a docstring's section of parameters."""
    return text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]


@pytest.mark.parametrize("name", fj.MEASURES)
def test_every_measure_is_documented(name):
    page, measure = text_of(DOCS / "measures.md"), fj.MEASURES[name]
    section = page.split(f"\n### `{name}`\n")[1].split("\n### ")[0]
    assert f"**{measure.title}**: {measure.formula}." in section
    assert measure.reference in section
    assert f"(pictures/measures/{name}.svg)" in section
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    for word in (*measure.aliases, *(f"{key}={value}" for key, value in measure.parameters.items())):
        assert f"`{word}`" in row, word
    assert ("whole list" in row) == measure.whole


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name):
    page = text_of(DOCS / "cli.md")
    assert f"\n## fuji {name}\n" in page
    part = page.split(f"\n## fuji {name}\n")[1].split("\n## ")[0]
    command = fuji.get_command(None, name)
    assert command.examples
    for parameter in command.params:
        for option in parameter.opts if parameter.param_type_name == "option" else ():
            assert f"`{option}`" in part, option


# Generated pages


@pytest.mark.parametrize("name", ["measures.md", "api.md"])
def test_the_reference_is_up_to_date(name):
    assert text_of(DOCS / name) == script("make_reference.py")["PAGES"][name]()


def test_the_rooms_are_up_to_date():
    rooms = script("make_rooms.py")
    assert text_of(DOCS / "architecture.md") == rooms["page"]()
    assert text_of(DOCS / "pictures" / "rooms.svg") == rooms["picture"]()


def test_the_command_line_reference_is_up_to_date():
    assert text_of(DOCS / "cli.md") == script("make_cli_reference.py")["page"]()


def test_the_study_has_the_text_of_its_script():
    study = script("make_study.py")
    page = text_of(DOCS / "study.md")
    sets = re.search(r"features of (\d+) data sets", page)[1]
    assert page.startswith(study["HEAD"].format(all=sets, some=len(study["SETS"])))
    assert study["STABILITY"] in page


def test_the_figures_are_up_to_date():
    """Every figure is what the script draws, and every figure of the folder has a script."""
    figures = script("make_figures.py")
    folder, drawn = figures["FOLDER"], figures["figures"]()
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.svg")} - {"rooms.svg"} == set(drawn)
    for place, (draw, name) in drawn.items():
        assert text_of(folder / place) == draw(name), place


@pytest.mark.slow
def test_the_study_is_up_to_date(shared):
    study = script("make_study.py")
    assert (shared / "data").samefile(study["DATA"])
    assert text_of(DOCS / "study.md").splitlines() == study["compute"]().splitlines()


@pytest.mark.slow
def test_the_published_rankings_corrected_are_up_to_date(shared):
    page = script("make_chance.py")["page"](shared / "data" / "published_rankings")
    assert text_of(DOCS / "chance.md") == page


def marked(page, name):
    """Return what a script has written between a page's markers."""
    return text_of(page).split(f"<!-- {name}:begin -->")[1].split(f"<!-- {name}:end -->")[0]


def test_benchmark_tables_have_their_places(monkeypatch):
    """Timings change with every run; that there is a table for each section, without bounds, must not."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ["core", *runpy.run_path(str(ROOT / "benchmarks" / "run.py"))["SECTIONS"]]:
        assert "| measured | figure |\n" in marked(DOCS / "benchmarks.md", name)
    assert "times as long as" in marked(ROOT / "README.md", "speed")
