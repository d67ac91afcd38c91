"""From a data table to a study: which features matter, do methods agree, how stable is each.

Takes: features and a target. Gives: `Study`, its tables, figures and folder of files.
"""
