"""A project with one small environment in a file, as a user would have it."""

from pathlib import Path

import pytest

from workbench.simulation import EnvSource

SLIDER_MODULE = '''
"""A toy."""
from tests.simulation import toys


class SlideEnvConfig(toys.SliderEnvConfig):
    """Nothing more."""


class SlideEnv(toys.SliderEnv):
    """A mass pushed along a line.

    ## Description
    As it says.
    """
'''


@pytest.fixture
def slide(tmp_path: Path) -> EnvSource:
    """A batched environment in a file."""
    path = tmp_path / "envs" / "slide_env.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SLIDER_MODULE)
    return EnvSource("workbench/Slide-v0", "slide", str(path), "SlideEnv", {"goal": 1.2})


@pytest.fixture
def cart_pole() -> EnvSource:
    """The shipped cart-pole."""
    from workbench.project import shipped_project

    path = shipped_project().envs / "cart_pole_env.py"
    return EnvSource("workbench/CartPole-v0", "cart_pole", str(path), "CartPoleEnv")
