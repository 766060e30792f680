"""The page of documentation says what the registry has."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.project import shipped_project
from workbench.simulation import BatchEnv, BatchEnvConfig, load_spec
from workbench.simulation.terms import TermSet, make_predicate, make_term, names
from workbench.simulation.terms.table import example, page


def test_the_page_is_the_registry() -> None:
    assert (shipped_project().root / "docs" / "terms.md").read_text(encoding="utf-8") == page()


def test_every_name_stands_on_the_page_with_a_meaning() -> None:
    text = page()
    rows = {row.split("|")[1].strip(): row for row in text.splitlines() if row.startswith("| `")}
    assert [name for name in names() if f"`{name}`" not in rows or "| |" in rows[f"`{name}`"]] == []


PUSH = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="hand" pos="-0.2 0 0.05">
      <joint name="reach" type="slide" axis="1 0 0"/>
      <geom type="box" size="0.02 0.05 0.04"/>
    </body>
    <body name="puck" pos="0 0 0.03"><freejoint/><geom type="cylinder" size="0.05 0.03"/></body>
  </worldbody>
  <actuator><motor joint="reach" ctrlrange="-5 5"/></actuator>
</mujoco>
"""


@dataclass(frozen=True)
class PushEnvConfig(BatchEnvConfig):
    """Of the example."""

    episode_steps: int = 20


def test_the_example_on_the_page_is_an_environment(tmp_path: Path) -> None:
    model = tmp_path / "push.xml"
    model.write_text(PUSH)
    space: dict[str, Any] = {
        "__name__": __name__,
        "BatchEnv": BatchEnv,
        "PushEnvConfig": PushEnvConfig,
        "TermSet": TermSet,
        "find_asset": lambda name: model.parent / name,
        "load_spec": load_spec,
        "make_predicate": make_predicate,
        "make_term": make_term,
        "np": np,
    }
    assert example() in page()
    exec(compile(example(), "example", "exec"), space)
    env = space["PushEnv"](n_envs=4, threads=1)
    env.reset(seed=0)
    ended = set()
    for _ in range(25):
        result = env.step_arrays(np.ones((4, 1)))
        assert result.reward_terms.keys() == {"reach", "push", "smooth"}
        ended |= {episode.reason for episode in result.episodes}
    assert ended <= {"arrived", "fell", "time_limit"} and ended
    env.close()
