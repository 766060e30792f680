"""What environments say of themselves: asked of another process, cached by everything it depends on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalog.conftest import Make, own
from workbench.catalog import (
    Description,
    Entry,
    describe_in_background,
    description_path,
    discover,
    fault_problems,
    missing_descriptions,
    read_description,
    request_descriptions,
)
from workbench.catalog import descriptions as module
from workbench.durable import write_json

FAKE = """
import json, os, sys
for request in json.load(sys.stdin):
    entry = request["entry"]
    if entry["class_name"] == "DeadlyEnv":
        os._exit(9)
    os.makedirs(os.path.dirname(request["output"]), exist_ok=True)
    with open(request["output"], "w") as file:
        json.dump({"env_id": entry["env_id"], "kind": "batch", "control_hz": 20, "reward_terms": ["forward"],
                   "observation": {"shape": [27]}, "action": None, "nice": os.nice(0),
                   "faults": [{"key": "mass", "message": "must be\\n a number", "line": None}]}, file)
"""

MODULE = "class {name}Env(Base):\n    def __init__(self, mass=1, **kwargs): pass\n"


@pytest.fixture(autouse=True)
def a_cache_and_a_process_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Describe with a script that imports nothing."""
    script = tmp_path / "describe.py"
    script.write_text(FAKE)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "DESCRIBE", (sys.executable, str(script)))


@pytest.fixture
def entries(make: Make) -> list[Entry]:
    return own(
        discover(
            make(
                {
                    "envs/crawler_env.py": MODULE.format(name="Crawler"),
                    "envs/crawler_env_heavy.json": '{\n "env_cfg": {\n  "mass": "2"}}',
                    "envs/deadly_env.py": MODULE.format(name="Deadly"),
                    "envs/zipper_env.py": MODULE.format(name="Zipper"),
                    "assets/crawler.xml": "<mujoco/>",
                }
            )
        )
    )


def test_one_that_ends_the_process_takes_no_other_with_it(entries: list[Entry]) -> None:
    assert [entry.name for entry in missing_descriptions(entries)] == ["crawler", "crawler_heavy", "deadly", "zipper"]
    found = request_descriptions(entries)
    assert [entry.name for entry in entries if entry.env_id not in found] == ["deadly"]
    crawler = found["workbench/Crawler-v0"]
    assert (crawler.kind, crawler.control_hz, crawler.reward_terms) == ("batch", 20, ("forward",))
    assert crawler.observation is not None
    assert crawler.observation.size == "27"
    assert crawler.action is None
    assert read_description(entries[0]) == crawler


def test_the_process_lets_others_go_first(entries: list[Entry]) -> None:
    found = request_descriptions(entries[:1])
    assert found["workbench/Crawler-v0"].data["nice"] in (0, 10)


async def test_describing_without_blocking(entries: list[Entry]) -> None:
    found = await describe_in_background(entries[:2])
    assert set(found) == {"workbench/Crawler-v0", "workbench/CrawlerHeavy-v0"}


def test_what_is_cached_is_not_asked_for_again(entries: list[Entry], monkeypatch: pytest.MonkeyPatch) -> None:
    request_descriptions(entries[:2])

    def fail(*args: object, **kwargs: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", fail)
    assert len(request_descriptions(entries[:2])) == 2


def test_a_description_belongs_to_everything_it_depends_on(make: Make, entries: list[Entry]) -> None:
    crawler, heavy = entries[:2]
    assert crawler.module is not None
    before = description_path(crawler)
    assert before != description_path(heavy)
    assert before == description_path(crawler)
    for changed in (
        {"envs/crawler_env.py": MODULE.format(name="Crawler") + "\n"},
        {"assets/crawler.xml": "<mujoco />"},
    ):
        project = make(changed)
        after = description_path(own(discover(project))[0])
        assert after != before
        before = after


def test_faults_are_placed_in_the_file_that_has_them(entries: list[Entry]) -> None:
    crawler, heavy = entries[:2]
    found = request_descriptions(entries[:2])
    (configured,) = fault_problems(heavy, found[heavy.env_id])
    assert (configured.path, configured.line, configured.key) == (heavy.variant_file, 3, "env_cfg.mass")
    assert configured.message == "must be a number"
    (own_fault,) = fault_problems(crawler, found[crawler.env_id])
    assert (own_fault.path, own_fault.key) == (crawler.module, "mass")


@pytest.mark.parametrize("content", [None, 3, [], {}, {"env_id": 3}, "x"])
def test_a_cache_file_of_another_shape_counts_as_none(entries: list[Entry], content: object) -> None:
    write_json(description_path(entries[0]), content)
    assert read_description(entries[0]) is None


def test_a_description_may_say_little() -> None:
    assert Description.from_json({"env_id": "x"}) == Description("x", data={"env_id": "x"})
