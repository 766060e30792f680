"""PPO beside that of Stable-Baselines3: `workbench bench training PPO`.

python benchmarks/ppo.py [--short] [--output FILE]
"""

from __future__ import annotations

import sys

from workbench.cli import main

if __name__ == "__main__":
    sys.exit(main(["bench", "training", "PPO", *sys.argv[1:]]))
