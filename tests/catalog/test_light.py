from __future__ import annotations

import subprocess
import sys


def test_the_catalogue_loads_no_heavy_library() -> None:
    heavy = ("torch", "mujoco", "gymnasium", "stable_baselines3", "numpy", "textual", "polyscope", "asyncio")
    code = f"import sys, workbench.catalog; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
