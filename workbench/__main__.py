"""`python -m workbench` is the `workbench` command, and this is where both begin."""

import sys


def run() -> int:
    """Run the command line and return its exit code; Ctrl-C while it still loads ends it as quietly as later on."""
    try:
        from workbench.cli import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(run())
