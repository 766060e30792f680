"""From nothing to a film: trains cart_pole to its threshold, checks it, records it and makes a montage.

Run by `make demo`; needs no display. Everything is done by the commands a user would type. Ends with 1 if the policy
is not at its threshold.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

EPISODES = 20
THRESHOLD = 990.0
# Neither the seeds of training nor those of the evaluations that stopped it.
FIRST_SEED = 5_000_000


def workbench(*words: str) -> None:
    """Run one command as a user would, showing it; ends the demo if it fails."""
    print(f"\n$ workbench {' '.join(words)}", flush=True)
    code = subprocess.run([sys.executable, "-m", "workbench", *words], check=False).returncode
    if code:
        sys.exit(code)


def main() -> int:
    """Train, evaluate, record, make a montage, and say where the files are."""
    begun = time.monotonic()
    workbench("train", "cart_pole", "--algorithm", "ppo", "--seed", "1", "--tag", "demo")
    listed = subprocess.run(
        [sys.executable, "-m", "workbench", "runs", "cart_pole", "--json"], check=True, capture_output=True, text=True
    )
    run = json.loads(listed.stdout)["runs"][0]

    import workbench as library

    evaluation = library.evaluate(run["path"], episodes=EPISODES, seed=FIRST_SEED)
    score = f"mean return {evaluation.mean:.1f} ± {evaluation.std:.1f}"
    print(f"\n{EPISODES} greedy episodes, seeds from {FIRST_SEED}: {score}")
    workbench("record", run["name"])
    workbench("montage", run["name"], "--layout", "grid", "--num-videos", "4")
    print(f"\nThe run is in {run['path']}, the films are named above. {time.monotonic() - begun:.0f} s in all.")
    if evaluation.mean < THRESHOLD:
        print(f"The policy is below its threshold of {THRESHOLD:.0f}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
