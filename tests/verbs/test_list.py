"""`workbench list`: one row for everything, whole at 80 columns, quick, and plain where it is piped."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench.catalog import description_path, discover
from workbench.cli import main
from workbench.durable import write_json
from workbench.project import Project
from workbench.verbs import list as verb

FILES = {
    "envs/crawler_env.py": 'class CrawlerEnv(Base):\n    """Crawls along the floor, as far as it can."""\n',
    "envs/crawler_env_heavy.json": '{"description": "Heavier.", "env_cfg": {"mass": 2.0}}',
    "envs/crawler_env_test_float.json": '{"env_cfg": {"mass": 0.0}}',
    "envs/crawler_env_typo.json": '{"env_cgf": {"mass": 2.0}}',
    "envs/crawler_env_Hard.json": '{"env_cfg": {}}',
    "envs/bad_env.py": "class BadEnv(Base\n",
    "envs/twin_env.py": "class CrawlerHeavyEnv(Base):\n    pass\n",
    "recipes/crawler_env.train.json": '{"total_steps": 100000, "ppo": {}, "td3": {"action_noise_std": 0.1}}',
    "recipes/nobody_env.train.json": '{"total_steps": 100000}',
}


@pytest.fixture
def full(project: Project) -> Project:
    for name, content in FILES.items():
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return project


def listed(project: Project, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["--project", str(project.root), "list", *words]) == 0
    return capsys.readouterr().out


def row(text: str, start: str) -> str:
    (found,) = [line for line in text.splitlines() if line.startswith(start)]
    return found


def test_each_thing_is_one_clear_row(full: Project, capsys: pytest.CaptureFixture[str]) -> None:
    text = listed(full, capsys)
    crawler = row(text, "crawler  ")
    assert "workbench/Crawler-v0" in crawler
    assert "PPO TD3" in crawler
    assert "Crawls along the floor" in crawler
    assert "typo" in row(text, "crawler_typo")
    assert "✗ broken" in row(text, "crawler_typo")
    assert "envs/bad_env.py:1: syntax is not valid Python" in text
    assert "envs/crawler_env_typo.json" in text
    assert "crawler_env_Hard.json: is no variant of crawler_env.py" in text
    assert "orphan    recipes/nobody_env.train.json" in text
    assert "crawler_env_heavy.json and" in text
    assert "twin_env.py" in text
    assert "test_float" not in text


def test_a_script_gets_one_document(full: Project, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(listed(full, capsys, "--json"))
    entries: dict[str, dict[str, Any]] = {}
    for each in document["environments"]:
        entries.setdefault(each["name"], each)
    crawler = entries["crawler"]
    assert (crawler["env_id"], crawler["algorithms"]) == ("workbench/Crawler-v0", ["ppo", "td3"])
    assert (crawler["trainable"], crawler["why_not"], crawler["origin"]) == (True, None, "project")
    assert crawler["recipe"] == str(full.recipes / "crawler_env.train.json")
    typo = entries["crawler_typo"]
    assert (typo["trainable"], typo["variant"]) == (False, "typo")
    assert {problem["key"] for problem in typo["problems"]} == {"env_cgf"}
    kinds = {(fault["kind"], Path(fault["path"]).name) for fault in document["faults"]}
    assert kinds >= {
        ("broken", "bad_env.py"),
        ("broken", "crawler_env_typo.json"),
        ("ignored", "crawler_env_Hard.json"),
        ("orphan", "nobody_env.train.json"),
    }
    assert "crawler_test_float" not in entries


def test_what_is_cached_is_shown(full: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (crawler,) = [entry for entry in discover(full).entries if entry.name == "crawler"]
    description = {
        "env_id": crawler.env_id,
        "control_hz": 20,
        "reward_terms": ["forward"],
        "observation": {"shape": [27]},
        "action": {"shape": [8]},
    }
    write_json(description_path(crawler), description)
    shown = row(listed(full, capsys), "crawler  ").split()
    assert {"27", "8", "20", "Hz"} <= set(shown)
    (told,) = [each for each in json.loads(listed(full, capsys, "--json"))["environments"] if each["name"] == "crawler"]
    assert told["reward_terms"] == ["forward"]


@pytest.mark.parametrize(("pattern", "names"), [("crawler_t", {"crawler_typo"}), ("*_heavy", {"crawler_heavy"})])
def test_a_pattern_narrows_it(full: Project, capsys: pytest.CaptureFixture[str], pattern: str, names: set[str]) -> None:
    document = json.loads(listed(full, capsys, pattern, "--json"))
    assert {each["name"] for each in document["environments"]} == names


def test_a_pattern_that_matches_nothing_is_a_wrong_request(full: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--project", str(full.root), "list", "crawlr"]) == 2
    assert "Did you mean crawler" in capsys.readouterr().err


def test_a_pattern_that_means_a_broken_file_shows_it(full: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert "bad_env.py:1" in listed(full, capsys, "bad")


@pytest.mark.parametrize("width", [80, 120, 200])
def test_it_fits_the_terminal(
    full: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(verb, "_width", lambda: width)
    text = listed(full, capsys)
    assert max(map(len, text.splitlines())) <= width
    assert "Crawls along" in row(text, "crawler  ")
    assert ("workbench/Crawler-v0" in text) == (width >= 200)


def test_it_is_quick_and_imports_no_environment(full: Project, tmp_path: Path) -> None:
    environment = {**os.environ, "WORKBENCH_CACHE": str(tmp_path / "empty")}
    words = [sys.executable, "-m", "workbench", "--project", str(full.root), "list"]
    taken: list[float] = []
    for _ in range(3):
        # Processor time, so that other tests beside this one do not count.
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert "crawler" in done.stdout
        assert done.stderr == ""
    assert min(taken) < 0.5
    assert not (tmp_path / "empty").exists()


def test_it_loads_no_heavy_library(full: Project) -> None:
    heavy = ("torch", "mujoco", "gymnasium", "stable_baselines3", "numpy", "textual", "polyscope")
    code = (
        "import sys; from workbench.cli import main; main(sys.argv[1:]);"
        f"sys.exit(str(sorted(set({heavy}) & set(sys.modules))) if set({heavy}) & set(sys.modules) else 0)"
    )
    words = [sys.executable, "-c", code, "--project", str(full.root), "list"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_shows_gymnasiums_ids(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Pendulum-v1" not in listed(project, capsys)
    assert "Pendulum-v1" in listed(project, capsys, "--all")


def test_files_with_the_same_fault_are_rows_of_their_own(full: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (full.root / "envs/crawler_env_Soft.json").write_text("{}")
    (full.root / "envs/one_env.py").write_text("")
    (full.root / "envs/two_env.py").write_text("")
    text = listed(full, capsys)
    for name in ("crawler_env_Hard.json", "crawler_env_Soft.json", "one_env.py", "two_env.py"):
        assert text.count(name) == 1
    # A name given twice is one fault of two files.
    assert text.count("is the name of 2 environments") == 1
