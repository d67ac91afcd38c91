"""The one way to write a p-value."""

from __future__ import annotations

import pytest

import fujiscore as fj
from fujiscore.text.numbers import LEAST, p_text, p_words


@pytest.mark.parametrize(
    ("p_value", "method", "text"),
    [
        (0.0051234, "analytic", "0.0051"),
        (0.0051234, None, "0.0051"),
        (1.0, "permutations", "1"),
        (LEAST, "analytic", "<= 1e-09"),
        (LEAST, "permutations", "1e-09"),
        (None, "analytic", "-"),
        (float("nan"), None, "-"),
    ],
)
def test_p_values(p_value, method, text):
    assert p_text(p_value, method) == text


def test_p_values_in_sentences():
    assert p_words(0.0051, "analytic") == "p = 0.0051"
    assert p_words(LEAST, "analytic") == "p <= 1e-09"


def test_an_adjusted_p_value_is_a_bound_where_the_raw_one_is():
    assert p_text(3 * LEAST, "analytic", LEAST) == "<= 3e-09"
    assert p_text(3 * LEAST, "analytic", 1.5 * LEAST) == "3e-09"


def test_every_form_says_the_bound():
    scores = {f"item {i}": 300.0 - i for i in range(300)}
    same = fj.compare(scores, scores, k=[5])
    forms = [
        same.to_markdown().replace("&lt;", "<"),
        same.verdict(),
        repr(same.headline),
        repr(fj.chance(scores, scores)),
    ]
    drift = fj.drift(scores, {**scores, "item 3": 297.5})
    for text in (*forms, str(drift), drift.to_markdown().replace("&lt;", "<")):
        assert "<= 1e-09" in text
    assert r"$\leq$ $1 \times 10^{-9}$" in same.to_latex()
    assert "&lt;= 1e-09" in same._repr_html_()
