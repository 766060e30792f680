from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.montage.fakes import fake_recorder, make_clip, make_run
from workbench.cli import main
from workbench.errors import NotFoundError, RequestError
from workbench.montage import clips
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.recordings import Sidecar, write_sidecar
from workbench.storyboard.finding import Wanted
from workbench.verbs import montage


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    montage.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture
def directory(project: Project) -> RunDirectory:
    return make_run(project.runs, [0, 1000, 2000])


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.montage.make.record_command", lambda _root: fake_recorder(seconds=0.5))


def test_a_grid_is_made_and_told_as_one_json_document(
    project: Project, directory: RunDirectory, faked: None, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--project", str(project.root), "montage", "7f3a", "--layout", "grid", "--num-videos", "2", "--json"]
    assert main([*words, "--size", "160x120", "--speed", "2"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert Path(told["file"]).is_file()
    assert told["command"] == "workbench montage 7f3a --layout grid --num-videos 2 --size 160x120 --speed 2"
    assert [(clip["steps"], clip["iteration"], clip["return"], clip["filmed_now"]) for clip in told["clips"]] == [
        (0, 0, 12.5, True),
        (2000, 20, 12.5, True),
    ]
    assert "filming clip 1 of 2: step 0\n" in err


def test_the_path_is_printed_and_the_rest_goes_to_stderr(
    project: Project, directory: RunDirectory, faked: None, capsys: pytest.CaptureFixture[str]
) -> None:
    film = project.root / "out" / "film.mp4"
    words = ["--project", str(project.root), "montage", str(directory.path), "-o", str(film), "--checkpoint", "latest"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert out == f"{film}\n"
    assert "film of 1 clip (1 filmed now, 0 there before), 480x360" in err
    assert film.with_name("film.mp4.json").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope"], "no run `nope`"),
        (["7f3a", "--checkpoint", "1500"], "no checkpoint at 1 500 steps"),
        (["7f3a:latest"], "`workbench montage 7f3a --checkpoint latest` shows that checkpoint alone"),
        (["7f3a", "--size", "161x120"], "even"),
        (["7f3a", "--num-videos", "0"], "at least 1"),
        (["7f3a", "--num-videos", "2", "--checkpoint", "1000"], "only the checkpoints named"),
        (["7f3a", "--checkpoint", "x=1000"], "takes the number of a clip"),
        (["7f3a", "--font-color", "blurple"], "no colour"),
        (["7f3a", "--font-path", "none.ttf"], "no font"),
        (["7f3a", "--text-height-pct", "0"], "--text-height-pct"),
        (["7f3a", "--no-generate-missing"], "video_000.mp4 is missing"),
        (["7f3a", "--schedule", "exponential", "--base", "1"], "above 1"),
        ([], "name at least one run"),
        (["7f3a", "--seeds", "1,x"], "whole numbers with commas"),
        (["7f3a", "--seeds", "1", "--seed", "2"], "say the same"),
        (["7f3a", "--by", "seed", "--columns", "2"], "--columns 2 says how many"),
        (["--again", "none.mp4"], "there is no none.mp4.json"),
        (["7f3a", "--again", "none.mp4"], "`7f3a` has no say"),
        (["--again", "none.mp4", "--curve"], "`--curve` has no say"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(
    project: Project, directory: RunDirectory, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--project", str(project.root), "montage", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_the_spellings_with_underscores_mean_the_same() -> None:
    mine = parse("r", "--num-videos", "3", "--head-seconds", "2", "--text-location", "center", "--no-generate-missing")
    theirs = parse(
        "r", "--num_videos", "3", "--head_seconds", "2", "--text_location", "center", "--no-generate_missing"
    )
    assert mine == theirs
    assert parse("r", "--generate_missing", "--inference_episodes", "2").episodes == 2
    assert parse("r").generate_missing is True
    assert parse("r", "--explore_during_inference", "--video_name", "video_001.mp4") == parse(
        "r", "--stochastic", "--video-name", "video_001.mp4"
    )


def test_the_command_makes_the_same_again() -> None:
    words = [
        "7f3a",
        "b19e",
        "--layout",
        "grid",
        "--checkpoint",
        "2=1000",
        "--checkpoint",
        "3=best",
        "--tail-seconds",
        "2",
    ]
    words += ["--seeds", "1,2", "--title", "How ants walk", "--end-card", "--stochastic", "--by", "seed"]
    words += ["--no-generate-missing", "--num-videos", "4", "--font-color", "red"]
    said = montage.command(parse(*words))
    assert said[:4] == ("workbench", "montage", "7f3a", "b19e")
    assert parse(*said[2:]) == parse(*words)
    assert montage.command(parse("7f3a")) == ("workbench", "montage", "7f3a")


def test_a_montage_is_made_again_of_what_it_shows(
    project: Project, directory: RunDirectory, faked: None, capsys: pytest.CaptureFixture[str]
) -> None:
    start = ["--project", str(project.root), "montage"]
    words = ["ant", "--layout", "grid", "--num-videos", "2", "--seeds", "3,4", "--title", "Ant", "--size", "160x120"]
    assert main([*start, *words, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    # The run went on, and the environment's newest run is another.
    (directory.path / "checkpoint_000000003000").mkdir()
    make_run(project.runs, [0, 9000], name="ant_20270101-120000_0001")
    assert main([*start, "--again", first["file"], "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert Path(second["file"]).name == "ant_7f3a_grid-2.mp4"
    assert Path(second["file"]).read_bytes() == Path(first["file"]).read_bytes()
    assert [clip["steps"] for clip in second["clips"]] == [0, 0, 2000, 2000]
    assert second["command"] == first["command"]

    # From its sidecar, after the project moved.
    moved = project.root.rename(project.root.with_name("moved"))
    sidecar = moved / "recordings" / "ant_7f3a_grid.mp4.json"
    assert main(["--project", str(moved), "montage", "--again", str(sidecar), "-o", str(moved / "a.gif")]) == 0
    assert (moved / "a.gif").read_bytes().startswith(b"GIF89a")


def test_a_trial_of_rllib_is_shown_by_its_folder(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    trial = project.root / "PPO" / "PPO_ant_00000"
    rows = []
    for number in range(2):
        make_clip(trial / f"checkpoint_{number:06d}" / "video_000.mp4", seconds=0.5)
        mark = trial / f"checkpoint_{number:06d}" / "rllib_checkpoint.json"
        mark.write_text("{}")
        label = {"training_iteration": 50 * number, "num_env_steps_sampled_lifetime": 200_000 * number}
        rows.append(json.dumps({"timestamp": mark.stat().st_mtime + number, **label}))
        os.utime(mark, (mark.stat().st_mtime + number,) * 2)
    (trial / "result.json").write_text("\n".join(rows))
    (trial / "checkpoint_old").mkdir()
    words = ["montage", str(trial), "--num_videos", "2", "--no-generate_missing", "--json"]
    assert main(["--project", str(project.root), *words]) == 0
    out, err = capsys.readouterr()
    assert [(clip["steps"], clip["iteration"]) for clip in json.loads(out)["clips"]] == [(0, 0), (200_000, 50)]
    assert "PPO_ant_00000: checkpoint_old passed over" in err


def test_only_a_montage_is_made_again(
    project: Project, directory: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    start = ["--project", str(project.root), "montage", "--again"]
    film = project.root / "film.mp4"
    for sidecar, said in (
        (Sidecar(kind="recording"), "that of a recording"),
        (Sidecar(kind="montage", command=("workbench", "montage", "a", "--wings", "2")), "--wings 2"),
        (Sidecar(kind="montage", command=("workbench", "montage", "a")), "does not say which checkpoints"),
        (Sidecar(kind="montage", command=("workbench", "montage", "a"), runs=("/gone/PPO/a",)), "/gone/PPO/a is gone"),
    ):
        write_sidecar(film, sidecar)
        assert main([*start, str(film)]) == 2
        assert said in capsys.readouterr().err


def test_an_environment_stands_for_its_newest_run(project: Project) -> None:
    make_run(project.runs, [0])
    newer = make_run(project.runs, [0], name="ant_20260102-120000_0001")
    assert montage.find_run(project, "ant") == newer
    with pytest.raises(NotFoundError):
        montage.find_run(project, "ant:latest")
    with pytest.raises(RequestError):
        montage.find_run(project, "cart_pole")


def test_a_checkpoint_is_filmed_by_this_interpreter_in_this_project(project: Project, directory: RunDirectory) -> None:
    from tests.montage.fakes import shown_of

    shown = shown_of(directory)[1]
    words = clips.record_command(project.root)(shown, Wanted(7, (320, 240), "dark", 2), Path("clip.mp4"))
    assert words[:3] == [sys.executable, "-m", "workbench"]
    assert words[3:7] == ["--project", str(project.root), "record", str(shown.path)]
    assert words[7:] == ["--episodes", "2", "--seed", "7", "--size", "320x240", "--theme", "dark", "-o", "clip.mp4"]


def test_asking_for_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom workbench.cli import main\n"
        "try:\n    main(['montage', '--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'PIL', 'numpy', 'imageio_ffmpeg', 'workbench.montage', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(' '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--num-videos" in done.stdout
    assert "--num_videos" not in done.stdout
