"""What MuJoCo's own renderer sees, and where that is not ground: `python -m tests.viewer.silhouette FOLDER`.

A process of its own: Polyscope ends the graphics display that the two libraries share when it stops, and MuJoCo's
renderer draws nothing any more in that process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from workbench.viewer.camera import FIELD_OF_VIEW_DEG, View


def silhouette(folder: Path, model: Any, data: Any, view: View | int, target: Any, size: tuple[int, int]) -> Any:
    """Return a mask `(height, width)`; a number for the view is that of a camera of the model."""
    render(folder, model, data, view, target, size)
    return np.load(folder / "mask.npy")


def render(folder: Path, model: Any, data: Any, view: View | int, target: Any, size: tuple[int, int]) -> Any:
    """Return the picture `(height, width, 3)`."""
    model.vis.global_.fovy = FIELD_OF_VIEW_DEG
    mujoco.mj_saveModel(model, str(folder / "model.mjb"))
    camera = [view] if isinstance(view, int) else [*target, view.distance, view.azimuth_deg, view.elevation_deg]
    np.savez(folder / "asked.npz", qpos=data.qpos, camera=camera, size=size)
    command = [sys.executable, "-m", "tests.viewer.silhouette", str(folder)]
    root = Path(__file__).resolve().parents[2]
    subprocess.run(command, cwd=root, env={**os.environ, "MUJOCO_GL": "egl"}, check=True, timeout=60)
    return np.load(folder / "picture.npy")


def main(folder: Path) -> None:
    asked = np.load(folder / "asked.npz")
    model = mujoco.MjModel.from_binary_path(str(folder / "model.mjb"))
    data = mujoco.MjData(model)
    data.qpos[:] = asked["qpos"]
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    if len(asked["camera"]) == 1:
        camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, int(asked["camera"][0])
    else:
        *target, camera.distance, camera.azimuth, camera.elevation = (float(value) for value in asked["camera"])
        camera.lookat = target
    width, height = (int(value) for value in asked["size"])
    renderer = mujoco.Renderer(model, height, width)
    renderer.update_scene(data, camera)
    np.save(folder / "picture.npy", renderer.render())
    renderer.enable_segmentation_rendering()
    renderer.update_scene(data, camera)
    numbers, kinds = np.moveaxis(renderer.render(), -1, 0)
    renderer.close()
    ground = [index for index in range(model.ngeom) if model.geom_type[index] == int(mujoco.mjtGeom.mjGEOM_PLANE)]
    is_ground = (kinds == int(mujoco.mjtObj.mjOBJ_GEOM)) & np.isin(numbers, ground)
    np.save(folder / "mask.npy", (kinds >= 0) & (numbers >= 0) & ~is_ground)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
