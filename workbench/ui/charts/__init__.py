"""From series of numbers to cells of a terminal: pure functions, no Textual, no files.

`workbench.ui.widgets.chart` puts the cells on the screen.
"""
