"""Two columns of scores too long for memory, compared in passes over their files.

Takes: columns that can be read again. Gives: the overlap, and from it the same results as in memory.
"""
