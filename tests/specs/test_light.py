from __future__ import annotations

import subprocess
import sys


def test_specs_load_no_heavy_library() -> None:
    heavy = ("torch", "mujoco", "gymnasium", "stable_baselines3", "numpy", "textual", "polyscope")
    code = f"import sys, workbench.specs; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
