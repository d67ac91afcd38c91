"""A result as text: tables, notes, numbers and names, in every format.

Takes: columns, rows and notes. Gives: aligned text, Markdown, LaTeX, HTML, CSV and JSON.
"""
