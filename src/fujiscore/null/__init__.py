"""What chance gives: closed forms, one k, areas, permutations and bands.

Takes: rankings, grids and measures. Gives: expectations, variances, corrected values and p-values.
"""
