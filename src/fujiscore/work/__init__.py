"""Work and files: tiles, executors, checkpoints, seeds, and files written atomically.

Takes: functions and arguments that can be pickled. Gives: their results, in order, whatever ran them.
"""
