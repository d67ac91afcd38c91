"""Labels that nearly match: counted as an independent reading of the definition counts them, and named in notes."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fujiscore as fj
from fujiscore.inputs.labels import advice, near_matches


def alike(x, y):
    """Return whether two labels are one but for case, blanks, type, number format and Unicode form."""

    def bare(label):
        text = label.decode() if isinstance(label, bytes) else str(label)
        text = unicodedata.normalize("NFKC", "".join(c for c in text if c not in "\u200b\u2060\ufeff"))
        text = " ".join(text.split()).casefold()
        number = re.fullmatch("[+-]?[0-9]+([.][0-9]*)?", text)
        return (text.startswith("-"), Decimal(text)) if number else text

    return bare(x) == bare(y)


def count(lists):
    """Return the number of near matches from the definition: groups of labels alike, no two of them in one list."""
    common = set(lists[0]).intersection(*lists[1:])
    left = list(dict.fromkeys(label for items in lists for label in items if label not in common))
    groups: list[list] = []
    for label in left:
        group = next((group for group in groups if alike(group[0], label)), None)
        if group is None:
            groups.append([label])
        else:
            group.append(label)
    return sum(
        len(group) > 1 and not any({x, y} <= set(items) for x, y in combinations(group, 2) for items in lists)
        for group in groups
    )


LABELS = st.one_of(
    st.text(st.sampled_from("aAbß \u00a0é\u0301\u200b1.0+-"), max_size=4),
    st.integers(-2, 12),
    st.sampled_from([1.0, 2.5, b"a", ("a", 1), "2.50", "010", "Ab", "AB"]),
)


@given(st.lists(st.lists(LABELS, max_size=8, unique=True), min_size=2, max_size=4))
def test_counts_what_the_definition_counts(lists):
    near = near_matches(*lists)
    assert (0 if near is None else near.count) == count(lists)
    if near is not None:
        first, second = near.labels
        assert alike(first, second)
        assert first in lists[near.lists[0]]
        assert second in lists[near.lists[1]]
        assert near.changes


@pytest.mark.parametrize(
    ("first", "second", "changes"),
    [
        ("GENE1", "Gene1", ("case",)),
        ("x ", "x", ("blanks",)),
        ("a  b", "a b", ("blanks",)),
        (1, "1", ("type",)),
        ("1.0", "1", ("number format",)),
        ("007", "7", ("number format",)),
        (1.0, "1", ("type", "number format")),
        (b"q", "q", ("bytes",)),
        ("é", "e\u0301", ("Unicode form",)),
        ("µg", "μg", ("Unicode form",)),
        ("\ufeffgene", "gene", ("invisible characters",)),
        ("A ", "a", ("blanks", "case")),
    ],
)
def test_names_the_change(first, second, changes):
    near = near_matches([first, "shared"], ["shared", second])
    assert near is not None
    assert (near.count, near.changes, near.labels) == (1, changes, (first, second))


def test_two_labels_of_one_list_are_different_items():
    assert near_matches(["The", "the", "cat"], ["the", "dog"]) is None
    assert near_matches(["A", "x"], ["a", "A"]) is None
    assert near_matches(["A"], ["a"], ["A", "a"]) is None


@pytest.mark.parametrize("date", ["1-Dec", "2-Sep", "Mar-01", "01-Mar-2006", "2006-12-01 00:00:00", "2.31E+19"])
def test_labels_that_a_spreadsheet_changed(date):
    said = advice([["TP53", "DEC1"], ["TP53", date]], ["a", "b"])
    assert said is not None
    assert said.startswith("1 label of b looks like a name that a spreadsheet has turned into a date or a number")
    assert date in said


def test_dates_that_are_the_items_are_no_matter():
    assert advice([["2020-01-01", "2020-01-02"], ["2020-01-02", "2020-01-03"]], ["a", "b"]) is None


GENES = {"GENE1": 3.0, "GENE2": 2.0, "GENE3": 1.0}
GENES_2 = {"Gene1": 3.0, "Gene2": 2.0, "Gene3": 1.0}
SAID = "3 items match but for case ('GENE1' in r, 'Gene1' in s): if these are the same, use one case"


def test_note_comes_before_the_others():
    result = fj.compare(GENES, GENES_2, missing="zero")
    assert result.auc["fuji"] == 0
    assert result.notes[0].startswith(SAID)
    assert SAID in str(result)


@pytest.mark.parametrize("options", [{}, {"missing": "drop"}])
def test_errors_say_so(options):
    with pytest.raises(fj.InputError, match="3 items match but for case") as error:
        fj.compare(GENES, GENES_2, **options)
    assert "use one case, e.g. with .str.upper()" in str(error.value)


def test_every_door_says_so():
    both = {"r": GENES, "s": GENES_2}
    assert fj.rankings(both, missing="zero").notes[0].startswith(SAID)
    assert fj.pairwise(both, missing="zero").notes[0].startswith(SAID)
    assert fj.stability({**both, "t": GENES}, missing="zero").notes[0].startswith(SAID)
    assert fj.consensus(both, missing="zero").notes[0].startswith(SAID)
    shared = fj.drift({**GENES, "TP53": 1.0}, {**GENES_2, "TP53": 1.0})
    assert any("3 items match but for case" in note for note in shared.notes)
    with pytest.raises(fj.InputError, match="3 items match but for case"):
        fj.drift(GENES, GENES_2)
    assert any(note.startswith(SAID) for note in fj.bounds(GENES, GENES_2).notes)
    assert fj.compare(GENES, GENES_2, universe=100).notes[0].startswith(SAID)


def test_universe_of_other_case_says_so():
    with pytest.raises(fj.InputError, match="3 items match but for case"):
        fj.compare(GENES, GENES, universe=["Gene1", "Gene2", "Gene3", "Gene4"])


def test_integers_against_text():
    pandas = pytest.importorskip("pandas")
    numbers = pandas.Series([3.0, 2.0], index=[101, 102])
    text = pandas.Series([3.0, 2.0], index=["101", "102"])
    with pytest.raises(fj.InputError, match=r"2 items match but for type \(101 in r, '101' in s\)"):
        fj.compare(numbers, text)


def test_no_hint_where_lists_are_only_truncated():
    result = fj.compare({"a": 2, "b": 1}, {"b": 2, "c": 1}, missing="zero")
    assert not any("match" in note for note in result.notes)


def test_truncated_lists_of_many_labels_have_none():
    labels = [f"gene{i}" for i in range(20_000)]
    rng = np.random.default_rng(0)
    lists = [[labels[i] for i in rng.permutation(20_000)[:15_000]] for _ in range(4)]
    assert near_matches(*lists) is None
