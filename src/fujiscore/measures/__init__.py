"""Grids of k, the overlap of two orders, and the registry of measures, each a formula on the overlap.

Takes: rankings. Gives: the overlap and the value of every measure along a grid.
"""
