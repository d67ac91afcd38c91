"""Many rankings: all pairs, stability, mean ranks, consensus, agreement by depth, selected sets.

Takes: `Rankings`. Gives: matrices, trees, intervals, tests between methods, and one ranking from many.
"""
