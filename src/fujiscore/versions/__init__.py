"""Two versions of a model: what changed, and whether it is more than noise.

Takes: rankings or models of both versions. Gives: a verdict, changes per feature, gates.
"""
