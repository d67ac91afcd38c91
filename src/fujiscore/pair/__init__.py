"""Two rankings: compare, explain, bounds, RBO, recall, and comparisons of columns too long for memory.

Takes: two rankings. Gives: values at k, curves, areas, explanations and verdicts.
"""
