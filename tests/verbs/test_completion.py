import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli import VERBS, main
from workbench.project import Project
from workbench.runs.directory import RunDirectory
from workbench.runs.state import StateFile
from workbench.runs.states import RunState
from workbench.runs.trash import delete_runs
from workbench.specs import ALGORITHMS


def make(project: Project, state: RunState, short_name: str = "cart_pole") -> RunDirectory:
    run = RunDirectory.create(project.runs, "ppo", short_name, files={"run.json": {"spec": {"algorithm": "ppo"}}})
    if state is RunState.QUEUED:
        StateFile(run.state_path).write_queued(queued_ns=1)
    else:
        StateFile(run.state_path).write(state)
    return run


@pytest.fixture
def told(project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(project.root)

    def ask(*words: str) -> dict[str, str]:
        assert main(["completion", "--words", *words]) == 0
        out = capsys.readouterr().out
        return {line.partition("\t")[0]: line.partition("\t")[2] for line in out.splitlines()}

    return ask


def test_verbs_are_completed_with_what_they_do(told) -> None:  # type: ignore[no-untyped-def]
    assert told("") == {verb.name: verb.summary for verb in VERBS.values()}
    assert set(told("pr")) == {name for name in VERBS if name.startswith("pr")} >= {"prune"}
    assert set(told("--project", "somewhere", "dele")) == {"delete"}
    assert set(told("--project=.", "dele")) == {"delete"}
    assert "--project" in told("--pr")
    assert told("--project", "") == {"!directories": ""}
    assert told("no_such_verb", "") == {}


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_option_of_every_verb_is_completed(told, verb: str, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    found = told(verb, "--")
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    page = capsys.readouterr().out
    assert "--help" in found
    for option in found:
        assert option in page


def test_values_are_what_their_options_take(told) -> None:  # type: ignore[no-untyped-def]
    assert set(told("train", "--set", "ppo.learning_")) == {"ppo.learning_rate="}
    assert set(told("train", "x", "--set=ppo.learning_")) == {"--set=ppo.learning_rate="}
    assert told("runs", "--output-dir", "") == {"!directories": ""}
    assert set(told("runs", "--sort", "~")) == {"~return"}
    assert set(told("runs", "sta")) >= {"state:", "state:live", "state:running"}
    assert set(told("runs", "-state:li")) == {"-state:live"}
    assert set(told("completion", "")) == {"bash", "zsh", "fish"}
    assert "half_cheetah" in told("train", "half")
    assert set(told("train", "ant", "--seed", "3", "ca")) == set()


def test_runs_are_completed_where_they_can_be_meant(told, project: Project) -> None:  # type: ignore[no-untyped-def]
    ended, queued = make(project, RunState.FINISHED), make(project, RunState.QUEUED)
    live = make(project, RunState.RUNNING, "ant")
    assert set(told("prune", "")) == {ended.short_id, queued.short_id, live.short_id}
    assert told("prune", "")[live.short_id] == "ant PPO running"
    assert set(told("stop", "")) == {queued.short_id, live.short_id}
    assert set(told("queue", "")) == {queued.short_id}
    assert set(told("prune", live.name[:6])) == {live.name}
    assert set(told("prune", "--keep", "3", live.short_id, "")) == {ended.short_id, queued.short_id, live.short_id}
    delete_runs([ended])
    assert set(told("delete", "--undo", "")) == {ended.short_id}


def test_checkpoints_are_completed_behind_the_colon(told, project: Project) -> None:  # type: ignore[no-untyped-def]
    run = make(project, RunState.FINISHED)
    for steps in (0, 4096):
        (run.path / f"checkpoint_{steps:012d}").mkdir()
    run.set_best("checkpoint_000000000000")
    name = run.short_id
    assert set(told("play", f"{name}:")) == {f"{name}:{which}" for which in ("latest", "best", "4096", "0")}
    assert set(told("record", f"{name}:b")) == {f"{name}:best"}
    assert {"half_cheetah", name} <= set(told("play", "")) | {name}


def test_a_project_of_its_own_is_asked(told, project: Project, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    other = Project(tmp_path / "other")
    run = make(other, RunState.FINISHED)
    assert set(told("--project", str(other.root), "prune", "")) == {run.short_id}
    (other.envs).mkdir()
    (other.envs / "mine_env.py").write_text(
        "from workbench.simulation import BatchEnv\n\nclass MineEnv(BatchEnv):\n    pass\n"
    )
    assert "mine" in told("--project", str(other.root), "train", "")
    (other.envs / "mine_env.py").unlink()
    assert "mine" not in told("--project", str(other.root), "train", "")


def test_completing_a_run_or_an_environment_loads_nothing_heavy(project: Project) -> None:
    make(project, RunState.FINISHED)
    script = """
import sys
from workbench.cli import main
for words in (["train", "ha"], ["stop", ""], ["play", ""], ["runs", "state:"], ["delete", "--"]):
    main(["completion", "--words", *words])
heavy = {"torch", "numpy", "mujoco", "gymnasium", "stable_baselines3", "textual", "polyscope", "pydantic"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    # The first fills the cache of names.
    warm = [sys.executable, "-m", "workbench", "completion", "--words", "train", ""]
    subprocess.run(warm, cwd=project.root, check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", script], cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "half_cheetah\tenvironment" in done.stdout


BASH = """
workbench() { %(python)s -m workbench "$@"; }
%(script)s
COMP_LINE=%(line)s; COMP_POINT=${#COMP_LINE}; COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_workbench 2>/dev/null
printf '%%s\\n' "${COMPREPLY[@]}"
"""


def in_bash(project: Project, line: str) -> set[str]:
    from workbench.verbs.completion import SCRIPTS

    text = BASH % {"python": sys.executable, "script": SCRIPTS["bash"], "line": json.dumps(line)}
    done = subprocess.run(["bash", "--norc", "-c", text], cwd=project.root, capture_output=True, text=True, check=True)
    return {word for word in done.stdout.splitlines() if word}


def test_the_bash_script_completes(project: Project) -> None:
    run = make(project, RunState.RUNNING)
    (run.path / "checkpoint_000000004096").mkdir()
    (project.root / "a folder").mkdir()
    assert in_bash(project, "workbench del") == {"delete"}
    assert in_bash(project, f"workbench stop {run.short_id[:2]}") == {run.short_id}
    # Readline breaks words at the colon and wants only what stands behind it.
    assert in_bash(project, f"workbench play {run.short_id}:") == {"latest", "4096"}
    assert in_bash(project, "workbench train x --set=ppo.gam") == {"ppo.gamma="}
    assert in_bash(project, "workbench runs --output-dir a") == {"a folder"}
    assert in_bash(project, "workbench runs  --rev") == {"--reverse"}


FISH = """
function workbench; %(python)s -m workbench $argv; end
%(script)s
complete -C %(line)s
"""


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_the_fish_script_completes(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    run = make(project, RunState.RUNNING)
    (run.path / "checkpoint_000000004096").mkdir()

    def in_fish(line: str) -> set[str]:
        text = FISH % {"python": sys.executable, "script": _script("fish"), "line": json.dumps(line)}
        done = subprocess.run(
            ["fish", "--no-config", "-c", text], cwd=project.root, capture_output=True, text=True, check=True
        )
        return {word.partition("\t")[0] for word in done.stdout.splitlines()}

    assert in_fish("workbench del") == {"delete"}
    assert in_fish("workbench train x --algorithm ") == {"ppo", "sac", "td3"}
    assert in_fish(f"workbench play {run.short_id}:") == {f"{run.short_id}:latest", f"{run.short_id}:4096"}


def test_each_shell_has_a_script_and_a_way_to_use_it(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "completion --words" in capsys.readouterr().out
    assert main(["completion"]) == 2
    err = capsys.readouterr().err
    assert "~/.bashrc" in err
    assert main(["completion", "tcsh"]) == 2
    for shell in ("bash", "zsh", "fish"):
        if shutil.which(shell) is not None:
            assert subprocess.run([shell, "-n"], input=_script(shell), text=True, check=False).returncode == 0


def test_algorithms_are_completed(told) -> None:  # type: ignore[no-untyped-def]
    assert set(told("train", "ant", "--algorithm", "")) == set(ALGORITHMS)
    assert set(told("train", "ant", "--algorithm=s")) == {"--algorithm=sac"}


def _script(shell: str) -> str:
    from workbench.verbs.completion import SCRIPTS

    return SCRIPTS[shell]
