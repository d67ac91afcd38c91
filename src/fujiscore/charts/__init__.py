"""Charts: one description per chart, drawn as SVG, by matplotlib or in the terminal.

Takes: arrays, labels and colours. Gives: pictures; and `Result`, the base of every result that shows itself.
"""
