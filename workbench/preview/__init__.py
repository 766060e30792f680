"""What to look at before an environment is trained on: does it rest, move, answer its actions, and train?

Each check reports findings with the problem, the fix, and whose it is. Must not import textual or polyscope.
"""

from workbench.preview.checks import CHECKS, preview
from workbench.preview.findings import Finding, worst

__all__ = ["CHECKS", "Finding", "preview", "worst"]
