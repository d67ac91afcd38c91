"""Whatever users have becomes immutable, checked and aligned rankings here.

Takes: lists, arrays, dicts, Series, dataframes, models, with policies. Gives: `Ranking` and `Rankings`.
"""
