"""Mutated files, arguments and resume files against the readers and the command line: `python -m fuzz`."""
