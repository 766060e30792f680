"""`workbench check`: every fault of every file at once, and what only making an environment shows."""

from __future__ import annotations

import json

import pytest

from workbench.cli import main
from workbench.project import Project

MODULE = '''"""A task of the simplest kind."""
from typing import Any

import gymnasium
import numpy as np


class TinyEnv(gymnasium.Env[Any, Any]):
    """Stands still."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, size: float = 1.0, render_mode: str | None = None) -> None:
        self.size = size * 2

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(2, np.float32), 0.0, False, False, {}
'''


def write(project: Project, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def checked(project: Project, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["--project", str(project.root), "check", *words])
    return code, capsys.readouterr().out


def test_a_project_in_order_says_what_was_looked_at(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        {
            "envs/tiny_env.py": MODULE,
            "envs/tiny_env_large.json": '{"env_cfg": {"size": 2.0}}',
            "recipes/tiny_env.train.json": '{"total_steps": 100000, "ppo": {}}',
        },
    )
    code, text = checked(project, capsys, "tiny*")
    assert (code, text) == (
        0,
        "2 environments, 1 module, 1 variant, 1 recipe, 3 files checked: 0 errors, 0 warnings.\n",
    )


def test_every_fault_of_every_file_comes_at_once(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        project,
        {
            "envs/tiny_env.py": MODULE,
            "envs/tiny_env_wrong.json": '{\n "env_cfg": {\n  "sise": 2.0}\n}',
            "envs/tiny_env_Odd.json": '{"env_cfg": {"size": 2.0}}',
            "envs/bad_env.py": "class BadEnv(Base\n",
            "envs/raise_env.py": MODULE.replace("TinyEnv", "RaiseEnv").replace("size * 2", "size * None"),
            "envs/deadly_env.py": MODULE.replace("TinyEnv", "DeadlyEnv") + "\nimport os\nos._exit(3)\n",
            "recipes/tiny_env.train.json": '{\n "total_steps": 100000,\n "ppo": {"gama": 0.9},\n "sac": {"tau": 0}\n}',
            "recipes/nobody_env.train.json": '{"total_steps": 100000}',
        },
    )
    code, text = checked(project, capsys, "--json")
    assert code == 1
    document = json.loads(text)
    mine = [problem for problem in document["problems"] if problem["path"].startswith(str(project.root))]
    rows = {(problem["path"].rpartition("/")[2], problem["line"], problem["key"]): problem for problem in mine}
    assert rows["tiny_env_wrong.json", 3, "env_cfg.sise"]["nearest"] == "size"
    assert rows["tiny_env_Odd.json", None, ""]["severity"] == "warning"
    assert rows["bad_env.py", 1, "syntax"]["severity"] == "error"
    assert rows["tiny_env.train.json", 3, "ppo.gama"]["nearest"] == "gamma"
    assert "from" in rows["tiny_env.train.json", 4, "sac.tau"]["message"] or rows["tiny_env.train.json", 4, "sac.tau"]
    assert rows["nobody_env.train.json", None, ""]["severity"] == "error"
    (raised,) = [problem for (name, _, _), problem in rows.items() if name == "raise_env.py"]
    assert "TypeError" in raised["message"]
    (deadly,) = [problem for (name, _, _), problem in rows.items() if name == "deadly_env.py"]
    assert "could not be made" in deadly["message"]
    assert document["errors"] >= 7


def test_a_fault_reads_as_one_line(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"envs/bad_env.py": "class BadEnv(Base\n"})
    code, text = checked(project, capsys, "bad")
    assert code == 1
    assert text.splitlines()[0].startswith("error    envs/bad_env.py:1: syntax is not valid Python: ")
    assert text.splitlines()[1].endswith("checked: 1 error, 0 warnings.")


def test_warnings_alone_are_no_failure(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, {"envs/tiny_env.py": MODULE, "envs/tiny_env_Odd.json": "{}"})
    code, text = checked(project, capsys, "tiny*")
    assert code == 0
    assert "0 errors, 1 warning." in text


def test_a_pattern_that_matches_nothing_is_a_wrong_request(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, {"envs/tiny_env.py": MODULE})
    assert main(["--project", str(project.root), "check", "tinny"]) == 2
    assert "Did you mean tiny" in capsys.readouterr().err


def test_each_variant_that_fails_by_itself_is_told_in_its_own_file(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    source = MODULE.replace("self.size = size * 2", "assert size > 0, f'size {size} is too small'")
    variants = {
        f"envs/tiny_env_{name}.json": f'{{"env_cfg": {{"size": {size}}}}}'
        for name, size in (("flat", 0), ("less", -1), ("more", 2))
    }
    write(project, {"envs/tiny_env.py": source, **variants})
    code, text = checked(project, capsys, "tiny*")
    faults = [line for line in text.splitlines() if line.startswith("error")]
    assert (code, len(faults)) == (1, 2)
    assert "tiny_env_flat.json:1" in faults[0]
    assert "size 0 is too small" in faults[0]
    assert "tiny_env_less.json:1" in faults[1]
    assert "size -1 is too small" in faults[1]
    # A pattern that leaves the class itself out finds the same.
    assert checked(project, capsys, "tiny_less")[1].splitlines()[0] == faults[1]
    listed = main(["--project", str(project.root), "list", "tiny*"])
    text = capsys.readouterr().out
    assert listed == 0
    assert text.count("✗ broken") == 2
    assert "size -1 is too small" in text


def test_a_fault_of_a_class_is_told_once_for_all_its_variants(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    source = MODULE.replace("self.size = size * 2", "raise ValueError('never')")
    write(project, {"envs/tiny_env.py": source, "envs/tiny_env_large.json": '{"env_cfg": {"size": 2.0}}'})
    code, text = checked(project, capsys, "tiny*")
    (fault,) = [line for line in text.splitlines() if line.startswith("error")]
    assert code == 1
    assert "tiny_env.py" in fault


def test_a_cache_that_cannot_be_written_is_no_fault_of_the_environments(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.root / "file").write_text("")
    monkeypatch.setenv("WORKBENCH_CACHE", str(project.root / "file" / "cache"))
    for words in (["check", "cart_pole"], ["list", "--all"], ["train", "Pendulum-v1", "--dry-run"]):
        assert main(["--project", str(project.root), *words]) == 1
        shown = capsys.readouterr()
        assert "WORKBENCH_CACHE" in shown.err
        assert "cart_pole" not in shown.out
