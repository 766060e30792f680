"""Results of planted runs: what is folded, what a return is of, the files that are written, references in recipes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.ui.fakes import NOW, fake_run
from workbench import durable
from workbench.cli import main
from workbench.project import Project, shipped_project
from workbench.report.recipe_reference import replace_value
from workbench.runs.directory import RunDirectory

HOPPER = "Hopper-v5"
"""Gymnasium's, for which no recipe is shipped."""
# Means of the best checkpoints of four seeds, on fresh episodes. Their interquartile mean leaves out 90 and 400.
FRESH = {1: 100.0, 2: 200.0, 3: 90.0, 4: 400.0}


def plant(project: Project, name: str, seed: int, fresh: float | None, **fields: Any) -> RunDirectory:
    """Make a run with a best checkpoint that claims 500, was settled at 450, and is as good as `fresh` says."""
    spec = {
        "env_id": name if "-v" in name else f"workbench/{name.capitalize()}-v0",
        "algorithm": fields.get("algorithm", "ppo"), "seed": seed, "total_steps": 1000, "eval_seed": 10_000,
        "eval_episodes": 10, "stop_criteria": {"evaluation_return_mean": 150.0}, **fields.pop("spec", {}),
    }  # fmt: skip
    fields = {"state": "finished", "returns": [10.0, 20.0 + seed], "total_steps": 1000, **fields}
    run = fake_run(project, name, short_id=f"{seed:04x}", seed=seed, spec=spec, **fields)
    record = run.record() | {
        "versions": {"mujoco": "4.0.0"}, "git": {"revision": "0123456789abcdef", "dirty": True},
        "machine": {"cpu": "Some CPU", "cores": 2},
    }  # fmt: skip
    durable.write_json(run.spec_path, record)
    checkpoint = run.path / "checkpoint_000000000200"
    checkpoint.mkdir()
    scores = [("claimed", 10_000, 10, 500.0), ("rescored", 10_010, 32, 450.0)]
    scores += [] if fresh is None else [("rescored", 77_000, 100, fresh)]
    durable.write_json(
        checkpoint / "evaluation.json",
        {
            "format": 1,
            "evaluations": [
                {"kind": kind, "seed": first, "episodes": episodes, "mean_return": mean, "deterministic": True}
                for kind, first, episodes, mean in scores
            ],
        },
    )
    (checkpoint / "policy.json").write_text("{}")
    run.set_best(checkpoint.name)
    return run


@pytest.fixture
def hoppers(project: Project) -> Project:
    for seed, mean in FRESH.items():
        plant(project, HOPPER, seed, mean)
    return project


def results(project: Project, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = main(["results", "--project", str(project.root), *words, "--json"])
    told = capsys.readouterr()
    assert code in (0, 1), told.err
    document: dict[str, Any] = json.loads(told.out)
    return {**document, "code": code, "err": told.err}


def test_seeds_fold_into_their_interquartile_mean_and_spread(
    hoppers: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    [line] = results(hoppers, capsys)["results"]
    assert line["iqm"] == pytest.approx((100 + 200) / 2)
    assert line["low"] < line["iqm"] < line["high"]
    # The mean of 100, 200, 90 and 400, and the root of the mean square distance from it.
    assert line["mean"] == pytest.approx(197.5)
    assert line["std"] == pytest.approx(((97.5**2 + 2.5**2 + 107.5**2 + 202.5**2) / 4) ** 0.5)
    assert line["return_by_seed"] == {"1": 100, "2": 200, "3": 90, "4": 400}
    assert line["basis"] == {"kind": "fresh", "episodes": 100, "first_episode": 77_000}
    assert (line["goal"], line["reached"]) == (150.0, 2)
    assert line["machines"] == ["Some CPU, 2 cores"] and line["git"] == ["0123456789+"]
    assert line["commands"] == ["workbench train Hopper-v5 --algorithm ppo"]


def test_one_command_trains_all_seeds_again(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (3, 11):
        run = plant(project, HOPPER, seed, 1.0)
        words = ["workbench", "train", HOPPER, "--seed", str(seed), "--set", "ppo.gamma=0.9"]
        durable.write_json(run.spec_path, {**run.record(), "command": words})
    [line] = results(project, capsys)["results"]
    assert line["commands"] == ["workbench train Hopper-v5 --set ppo.gamma=0.9 --seeds 3,11"]


def test_wall_times_tell_how_many_runs_shared_the_machine(
    project: Project, own_recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each trained for the fifth part of 1,000 s, up to when its state last changed: the first two and the middle two
    # at once, never three.
    for seed, ended in {1: 0.0, 2: 100.0, 3: 250.0}.items():
        run = plant(project, "leaper", seed, 1.0, started=NOW - 1000)
        stored = json.loads(run.state_path.read_text())
        durable.write_json(run.state_path, {**stored, "updated": NOW + ended})
    assert results(project, capsys, "--write-references")["results"][0]["beside"] == 1
    about = json.loads(own_recipe.read_text())["reference"]["ppo"]["about"]
    assert about.endswith("the slowest seed's, trained with 1 other run beside it.")
    run = plant(project, "leaper", 4, 1.0, algorithm="sac", started=NOW - 1000)
    stored = json.loads(run.state_path.read_text())
    durable.write_json(run.state_path, {**stored, "updated": NOW + 5000})
    assert [line["beside"] for line in results(project, capsys)["results"]] == [1, 0]


def test_published_figures_stand_apart_with_their_version(hoppers: Project, capsys: pytest.CaptureFixture[str]) -> None:
    published = results(hoppers, capsys)["published"]
    assert {row["environment"] for row in published if row["same_version"]} == {"Hopper-v5"}
    assert {row["environment"] for row in published if not row["same_version"]} == {"Hopper-v3", "Hopper-v4"}
    assert all(row["source"] and row["where"] and row["steps"] for row in published)


def test_a_line_never_mixes_kinds_of_scores(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    plant(project, HOPPER, 1, 100.0)
    plant(project, HOPPER, 2, None)
    [line] = results(project, capsys)["results"]
    assert line["basis"]["kind"] == "settled"
    assert line["return_by_seed"] == {"1": 450, "2": 450}
    assert main(["results", "--project", str(project.root)]) == 0
    shown = capsys.readouterr()
    assert "PPO *" in shown.out and "--evaluate" in shown.err


def test_a_run_that_cannot_be_scored_keeps_no_other_from_it(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(project, HOPPER, 1, 100.0)
    plant(project, HOPPER, 2, None)
    # The second one's planted checkpoint holds no policy.
    told = results(project, capsys, "--evaluate")
    assert "cannot be scored" in told["notes"][0]
    assert told["results"][0]["basis"]["kind"] == "settled"


def test_other_settings_versions_and_algorithms_are_lines_of_their_own(
    hoppers: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(hoppers, HOPPER, 5, 1.0, spec={"total_steps": 2000})
    plant(hoppers, HOPPER, 6, 2.0, algorithm="sac")
    newer = plant(hoppers, HOPPER, 7, 3.0)
    durable.write_json(newer.spec_path, {**newer.record(), "versions": {"mujoco": "5.0.0"}})
    lines = results(hoppers, capsys)["results"]
    assert [(line["algorithm"], line["seeds"]) for line in lines] == [("ppo", 4), ("ppo", 1), ("ppo", 1), ("sac", 1)]


def test_the_newer_of_two_runs_of_one_seed_counts(hoppers: Project, capsys: pytest.CaptureFixture[str]) -> None:
    again = plant(hoppers, HOPPER, 1, 300.0, started=1_900_000_000.0)
    told = results(hoppers, capsys)
    assert told["results"][0]["return_by_seed"]["1"] == 300
    assert again.name in told["results"][0]["runs"] and "same seed" in told["notes"][0]


def test_live_and_failed_runs_are_left_out_and_runs_can_be_named(
    hoppers: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(hoppers, HOPPER, 8, 1.0, state="failed")
    plant(hoppers, HOPPER, 9, 1.0, state="running", alive=True)
    told = results(hoppers, capsys)
    assert told["results"][0]["seeds"] == 4
    assert "1 run left out: not ended yet" in told["err"] and "failed or crashed" in told["err"]
    assert results(hoppers, capsys, "0001", "0002")["results"][0]["return_by_seed"] == {"1": 100, "2": 200}
    assert results(hoppers, capsys, "seed>2", "-seed:4")["results"][0]["return_by_seed"] == {"3": 90}
    assert main(["results", "--project", str(hoppers.root), "env:nothing_like"]) == 2
    assert "no such run" in capsys.readouterr().err


def test_one_command_writes_page_curves_and_json(
    hoppers: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "results.md"
    page.parent.mkdir()
    assert main(["results", "--project", str(hoppers.root), "-o", str(page)]) == 0
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert written == [page, page.with_suffix(".json"), page.parent / "results" / "Hopper-v5.svg"]
    text = page.read_text(encoding="utf-8")
    assert "](results/Hopper-v5.svg)" in text
    [row] = [line for line in text.splitlines() if line.startswith("| Hopper-v5 | PPO |")]
    assert "150 (" in row and "198 ± 125" in row and "2\u00a0714 ± 564 (SB3 on v5, Hopper-v5, 1\u00a0M steps)" in row
    assert "### Published of Hopper-v3, which is not the same task" in text
    assert "workbench train Hopper-v5 --algorithm ppo" in text
    ElementTree.fromstring(written[2].read_text(encoding="utf-8"))
    [line] = json.loads(written[1].read_text(encoding="utf-8"))["results"]
    assert line["curve"] == "results/Hopper-v5.svg"
    assert main(["results", "--project", str(hoppers.root), "-o", str(tmp_path)]) == 2
    assert "no Markdown file" in capsys.readouterr().err


@pytest.fixture
def own_recipe(project: Project) -> Path:
    """A project with an environment of its own, so that its recipe can be written to."""
    module = (shipped_project().envs / "hopper_env.py").read_text()
    project.envs.mkdir(exist_ok=True)
    project.recipes.mkdir(exist_ok=True)
    (project.envs / "leaper_env.py").write_text(module.replace("HopperEnv", "LeaperEnv"))
    recipe = project.recipes / "leaper_env.train.json"
    recipe.write_text('{\n  "description": "Mine.",\n  "total_steps": 1000,\n  "ppo": {"net_arch": [64,  64]}\n}\n')
    return recipe


def test_references_are_written_into_the_recipe_and_nothing_else_of_it_changes(
    project: Project, own_recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = own_recipe.read_text()
    for seed, mean in FRESH.items():
        plant(project, "leaper", seed, mean)
    told = results(project, capsys, "--write-references")
    assert told["code"] == 0 and told["recipes"] == [str(own_recipe)]
    block = json.loads(own_recipe.read_text())["reference"]["ppo"]
    assert (block["return"], block["seeds"], block["episodes"], block["first_episode"]) == (197.5, 4, 100, 77_000)
    assert block["std"] == pytest.approx(124.57, abs=0.01) and block["machine"] == "Some CPU, 2 cores"
    assert block["return_by_seed"] == {"1": 100, "2": 200, "3": 90, "4": 400}
    assert "workbench results --write-references" in block["written_by"]
    after = own_recipe.read_text()
    start = after.index('  "reference"')
    assert after[:start] + after[after.index('  "total_steps"') :] == before


def test_scores_that_chose_the_checkpoint_are_no_reference(
    project: Project, own_recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = own_recipe.read_text()
    plant(project, "leaper", 1, None)
    told = results(project, capsys, "--write-references")
    assert told["code"] == 1 and "--evaluate" in told["err"]
    assert own_recipe.read_text() == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "a": [1,\n 2],\n  "b": {"c": "}\\""}\n}', '{\n  "a": [1,\n 2],\n  "b": {"x": 1}\n}'),
        ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "b": {"x": 1}\n}'),
        ('{\n  "z": 1\n}', '{\n  "b": {"x": 1},\n  "z": 1\n}'),
        ("{}", '{\n  "b": {"x": 1}}'),
    ],
)
def test_one_value_of_a_text_is_replaced_or_added(text: str, expected: str) -> None:
    assert replace_value(text, "b", {"x": 1}, after=("a",)) == expected
    assert json.loads(expected)["b"] == {"x": 1}
