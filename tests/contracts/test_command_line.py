"""What holds for every verb of the command line."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from workbench import __main__
from workbench.cli import VERBS, main

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([name, "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: workbench {name}")


def test_a_misspelt_verb_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trian"]) == 2
    assert "train" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--bogus"], "--bogus"),
        (["list", "--bogus"], "--bogus"),
        (["train", "cart_pole", "--max-steps", "many"], "'many'"),
        (["train", "cart_pole", "--seed", "1", "--seeds", "2"], "--seeds"),
        (["record"], "CKPT|ENV"),
        (["record", "ant", "--preset", "huge"], "'huge'"),
    ],
)
def test_a_wrong_flag_is_one_sentence_and_where_to_look(
    words: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    message, hint = shown.err.splitlines()
    assert named in message
    assert "--help" in hint
    assert shown.out == ""


@pytest.mark.parametrize("words", [["--project", "/nonexistent", "list"], ["list", "--project", "/nonexistent"]])
def test_a_missing_project_folder_is_one_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "/nonexistent" in capsys.readouterr().err


def test_an_interruption_while_the_command_still_loads_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "workbench.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "workbench.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    assert __main__.run() == 130
    assert capsys.readouterr() == ("", "")


def test_a_defect_is_one_sentence_and_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared_cache: Path
) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("workbench.cli.importlib.import_module", broken)
    assert main(["list"]) == 1
    shown = capsys.readouterr().err
    assert "Traceback" not in shown
    assert "division by zero" in shown
    assert "Traceback" in (shared_cache / "last_error.txt").read_text()


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(name: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/runs/state.json")

    monkeypatch.setattr("workbench.cli.importlib.import_module", full)
    assert main(["list"]) == 1
    assert capsys.readouterr().err == "workbench: No space left on device (/runs/state.json).\n"


def test_the_readme_names_every_verb() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    assert [name for name in VERBS if f"workbench {name}" not in readme] == []
