"""A result as one self-contained HTML file.

Takes: a result. Gives: a page with its data, script and style, which loads nothing from the network.
"""
