"""Inference shared by results: confidence intervals, tests of differences, adjustment for many tests.

Takes: estimates and their spread. Gives: intervals and p-values.
"""
