"""Runs: one comparison per query, and the gates, baselines and pytest fixture made of them.

Takes: tables of (query, item, score), in memory or in files. Gives: one row per query, and means over queries.
"""
