"""The window and the recorder: environments and their policies, seen.

Turns a MuJoCo model into a Polyscope scene, plays it in a window in real time, and films it with no display. Runs in
a process of its own: Polyscope holds the interpreter while it draws, and a failing graphics driver can end it. Must
not import textual. Nothing here imports polyscope before a picture is wanted.
"""
