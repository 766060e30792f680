"""Runs that other tools made, in the same list, charts and reports as ours; looked at and never touched.

Stable-Baselines3's CSV files, RL-Zoo's run folders, CleanRL's and other TensorBoard files are read by a converter
(`python -m workbench.runs.foreign PROJECT`, or a verb that is about to list runs), which writes a mirror of each run
below `<runs root>/.foreign/` in the shape of our own. Every reader of runs works on that. Nothing is ever written
into the folders of the other tool, nothing in them is executed or unpickled, and no training library is imported.
"""
