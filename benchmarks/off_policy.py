"""SAC and TD3 beside those of Stable-Baselines3: `workbench bench training SAC TD3`.

python benchmarks/off_policy.py [--short] [--output FILE]
"""

from __future__ import annotations

import sys

from workbench.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", "training", "SAC", "TD3", *sys.argv[1:]]))
