"""What the viewer's process and whoever started it say to each other: JSON lines, and frames beside them.

One declaration of every command and event; both ends, their checks and `docs/viewer-protocol.md` are made from it.
Light: the terminal reads it too.
"""
