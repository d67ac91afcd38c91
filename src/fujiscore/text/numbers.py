"""Numbers as text: the one way to write a p-value."""

from __future__ import annotations

from math import isnan

# The least p-value that is given without permutations, down to which the approximating distribution is trusted.
LEAST = 1e-9


def p_text(p_value: float | None, method: str | None = None, raw: float | None = None) -> str:
    """Return a p-value as text, "<= 1e-09" where its method ("analytic") only bounds it; a dash where there is none.

    An adjusted p-value is a bound where the one before, `raw`, is.
    """
    if p_value is None or isnan(p_value):
        return "-"
    return f"{'<= ' if _is_bound(p_value if raw is None else raw, method) else ''}{p_value:.2g}"


def p_words(p_value: float, method: str | None = None) -> str:
    """Return a p-value for a sentence: "p = 0.0051", "p <= 1e-09"."""
    return f"p {'' if _is_bound(p_value, method) else '= '}{p_text(p_value, method)}"


def _is_bound(p_value: float, method: str | None) -> bool:
    return method == "analytic" and p_value <= LEAST * (1 + 1e-9)
