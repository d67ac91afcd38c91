"""Tables as LaTeX: every name comes back from its escaped form, and every table has its parts."""

from __future__ import annotations

import re

import pytest
from gallery import HOSTILE, gallery
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.errors import printable
from fujiscore.text import latex
from fujiscore.text.tables import Table

# An independent rule: what each command shows, and which characters LaTeX shows as they are.
COMMANDS = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textasciigrave{}": "`",
    r"\{": "{",
    r"\}": "}",
    r"\$": "$",
    r"\&": "&",
    r"\%": "%",
    r"\#": "#",
    r"\_": "_",
    r"\ ": " ",
    "{[}": "[",
    "{]}": "]",
    "{*}": "*",
    "{}": "",
}
TOKEN = re.compile("|".join(map(re.escape, COMMANDS)) + r"|[^\\{}$&%#_~^<>|`\[\]*]", re.DOTALL)
# What TeX would change: pairs that become one character, and blanks that it drops.
CHANGED = re.compile(r"--|''|,,|\?`|!`|^ |  | $|\\  ")
AWKWARD = st.text(st.sampled_from("\\{}$&%#_~^<>|`[]*-',!? ab\n\t\x00é名😀"), max_size=30)


def read(text):
    """Return what LaTeX shows of a text, or raise where it would take a character for markup."""
    place, shown = 0, []
    while place < len(text):
        found = TOKEN.match(text, place)
        assert found, f"{text!r} at {place}"
        shown.append(COMMANDS.get(found[0], found[0]))
        place = found.end()
    assert not CHANGED.search(text), text
    return "".join(shown)


@given(AWKWARD | st.text(st.characters(codec=None), max_size=60) | st.sampled_from(HOSTILE))
def test_names_come_back(name):
    assert read(latex.text(name)) == printable(name)


@pytest.mark.parametrize("text", ["a_b", "a%", "\\x{}", "a--b", " a", "[a", "{"])
def test_the_reader_refuses_what_is_not_escaped(text):
    with pytest.raises(AssertionError):
        read(text)


@pytest.fixture(scope="module", params=["plain", "hostile"])
def results(request):
    if request.param == "plain":
        return gallery([f"item {i}" for i in range(30)], ["a", "b", "c"])
    return gallery([*HOSTILE, *"abcdefgh"], [*HOSTILE[:6], "[d]*"])


def test_every_result_has_whole_tables(results):
    for result in results:
        text = result.to_latex()
        tables = result._tables(20)
        assert text.count(r"\begin{table}") == text.count(r"\end{table}") == len(tables) >= 1
        for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\label{tab:"):
            assert text.count(rule) == len(tables)
        for table, part in zip(tables, text.split(r"\end{table}"), strict=False):
            spec = re.search(r"\\begin\{tabular\}\{([lr]+)\}", part)[1]
            body = part[part.index(r"\toprule") : part.index(r"\bottomrule")]
            rows = [line for line in body.split("\n") if line.endswith(r"\\")]
            assert len(rows) == 1 + len(table.rows)
            assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(spec)}
            for note in (*table.notes, *getattr(result, "notes", ())):
                assert latex.text(note)[:30] in part


def test_numbers_are_aligned_at_the_point():
    table = Table(
        "c", ["x"], [["1.25"], ["-10.5"], ["3"], ["1e-09"], ["<= 1e-09"], ["undefined"], ["0.1 to 0.2"]], ["s"]
    )
    cells = [line.strip() for line in latex.table(table, "tab:x", []).split(r"\midrule")[1].split(r"\\")[:-1]]
    assert cells == [
        "1.25",
        r"$-$10.5\phantom{0}",
        r"3\phantom{.00}",
        r"$1 \times 10^{-9}$",
        r"$\leq$ $1 \times 10^{-9}$",
        "undefined",
        "0.1 to 0.2",
    ]


def test_labels():
    result = fj.compare([4, 3, 2, 1], [4, 2, 3, 1])
    assert re.findall(r"\\label\{(.*)\}", result.to_latex()) == ["tab:comparison", "tab:comparison-2"]
    assert re.findall(r"\\label\{(.*)\}", result.to_latex(label="t:a_1")) == ["t:a_1", "t:a_1-2"]
    with pytest.raises(fj.InputError, match="label must be ASCII letters"):
        result.to_latex(label="a b}")


def test_other_alphabets_are_announced():
    assert fj.Ranking([1.0], ["名前"]).to_latex().startswith("% It has characters beyond ASCII")
    assert fj.Ranking([1.0], ["a"]).to_latex().startswith(r"\begin{table}")
