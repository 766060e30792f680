"""What `train` refuses at once, instead of in a process that takes seconds to say the same."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from workbench.catalog import Entry, discover, feasible
from workbench.catalog.descriptions import description_path
from workbench.durable import write_json
from workbench.project import Project
from workbench.specs import RunSpec


@pytest.fixture
def plain(project: Project) -> Entry:
    (entry,) = discover(project).select("CartPole-v1")
    return entry


def found(entry: Entry, **fields: Any) -> list[str]:
    spec = RunSpec.model_validate({"env_id": entry.env_id, "total_steps": 1000, **fields})
    return [str(problem) for problem in feasible.obstacles(entry, spec)]


def test_discrete_actions_are_refused_once_they_are_known(plain: Entry) -> None:
    path = description_path(plain)
    path.unlink(missing_ok=True)
    assert found(plain, algorithm="sac") == []
    write_json(path, {"env_id": plain.env_id, "action": {"kind": "Discrete", "shape": []}})
    assert found(plain, algorithm="sac") == [
        "algorithm is sac, which needs continuous actions, and those of CartPole-v1 are Discrete; use ppo"
    ]
    assert found(plain, algorithm="ppo") == []
    write_json(path, {"env_id": plain.env_id, "action": {"kind": "Box", "shape": [1]}})
    assert found(plain, algorithm="td3") == []
    path.unlink()


@pytest.mark.parametrize(
    ("build", "device", "problem"),
    [
        (
            "2.13.0+cpu",
            "cuda:1",
            "device is cuda:1, and the torch installed here is built without CUDA; use auto or cpu",
        ),
        ("2.13.0+cu126", "cuda", None),
        ("2.13.0", "cuda", None),
        ("2.13.0+cpu", "auto", None),
        ("2.13.0", "mps", "device is mps, which only a Mac has; use auto, cpu or cuda"),
    ],
)
def test_a_device_that_cannot_be_there_is_refused(
    plain: Entry, monkeypatch: pytest.MonkeyPatch, build: str, device: str, problem: str | None
) -> None:
    monkeypatch.setattr(feasible, "version", lambda _: build)
    monkeypatch.setattr(sys, "platform", "linux")
    assert found(plain, device=device) == ([] if problem is None else [problem])
