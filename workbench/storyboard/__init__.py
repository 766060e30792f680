"""What a montage will show, before anything is filmed.

Which checkpoints are chosen, which of their clips exist, and where each goes in a grid. It reads files and numbers
only, so that the terminal can show a montage while it is asked for; making one is `workbench.montage`.
"""
