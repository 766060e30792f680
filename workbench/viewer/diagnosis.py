"""What works on this machine, found by trying: each native library in a process of its own, with a time limit."""

from __future__ import annotations

import json
import locale
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import psutil

State = Literal["ok", "absent", "broken"]

LIMIT_S = 60.0
"""A probe that takes longer hangs."""

LIBRARIES = ("gymnasium", "stable-baselines3", "numpy", "pydantic", "safetensors", "textual", "pillow", "tensorboard")
"""What is asked for its version only; the others are tried."""

ENOUGH_MEMORY = 1 << 30
ENOUGH_DISK = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One thing that works, or what is wrong with it and how to mend it."""

    name: str
    state: State
    """`absent` is missed by some; `broken` keeps training or recording from working."""
    detail: str
    fix: str = ""
    """What to type, or empty."""


def diagnose(folder: Path, *, environ: Mapping[str, str] = os.environ) -> list[Finding]:
    """Return everything found, in the order to read it.

    Args:
        folder: The project's folder, where runs and recordings are written.
        environ: The environment variables of the terminal.
    """
    probes: tuple[tuple[str, bool, str], ...] = (
        ("simulator", True, "pip install --force-reinstall mujoco"),
        ("learner", True, "pip install --force-reinstall torch"),
        ("pictures", True, ""),
        ("encoder", True, "pip install --force-reinstall imageio-ffmpeg"),
        ("window", False, ""),
    )
    with ThreadPoolExecutor(max_workers=2) as pool:
        tried = [pool.submit(probe, name, needed=needed, fix=fix) for name, needed, fix in probes]
        return [
            _python(),
            _libraries(),
            *(future.result() for future in tried),
            _machine(),
            _disk(folder),
            _terminal(environ),
            _locale(),
        ]


def probe(
    name: str, *, needed: bool, fix: str = "", limit_s: float = LIMIT_S, command: tuple[str, ...] | None = None
) -> Finding:
    """Try one thing in a process of its own.

    Args:
        name: The probe's name.
        needed: Whether training or recording fails without it.
        fix: What to type where the probe itself does not say.
        limit_s: When to give up.
        command: The process to run, if not the probe of that name.
    """
    bad: State = "broken" if needed else "absent"
    words = command or (sys.executable, "-m", "workbench.viewer.probe", name)
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit_s, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return Finding(name, bad, f"gave no answer in {limit_s:.0f} s", fix)
    if done.returncode < 0:
        return Finding(name, bad, f"ended the process with {signal.Signals(-done.returncode).name}", fix)
    try:
        document = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        said = done.stderr.strip().splitlines()
        return Finding(name, bad, said[-1] if said else f"ended with code {done.returncode}", fix)
    if "error" in document:
        return Finding(name, bad, document["error"], document["fix"] or fix)
    return Finding(name, "ok", document["detail"])


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _libraries() -> Finding:
    found, missing = [], []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Finding("libraries", "broken", f"missing {', '.join(missing)}", f"pip install {' '.join(missing)}")
    return Finding("libraries", "ok", ", ".join(found))


def _machine() -> Finding:
    memory = psutil.virtual_memory()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    detail = f"{cores} cores, {_gigabytes(memory.available)} of {_gigabytes(memory.total)} memory free"
    if memory.available < ENOUGH_MEMORY:
        return Finding("machine", "absent", f"{detail}: too little for a run", "End something that uses memory.")
    return Finding("machine", "ok", detail)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    detail = f"{_gigabytes(free)} free in {folder}"
    if not os.access(folder, os.W_OK):
        return Finding("disk", "broken", f"{folder} cannot be written", "Name another folder with --project.")
    if free < ENOUGH_DISK:
        return Finding("disk", "absent", f"{detail}: checkpoints fill that soon", "Free some space.")
    return Finding("disk", "ok", detail)


def _terminal(environ: Mapping[str, str]) -> Finding:
    kind = environ.get("TERM", "")
    if not kind or kind == "dumb":
        return Finding("terminal", "absent", "no terminal type", "export TERM=xterm-256color")
    name = environ.get("TERM_PROGRAM") or kind
    if environ.get("NO_COLOR"):
        return Finding("terminal", "absent", f"{name}, no colours because NO_COLOR is set", "unset NO_COLOR")
    if environ.get("COLORTERM", "").lower() in {"truecolor", "24bit"} or kind.endswith("-direct"):
        return Finding("terminal", "ok", f"{name}, 16 million colours")
    if "256" in kind:
        return Finding("terminal", "ok", f"{name}, 256 colours; COLORTERM=truecolor gives more if it can")
    return Finding("terminal", "absent", f"{name}, 16 colours", "export TERM=xterm-256color")


def _locale() -> Finding:
    encoding = locale.getencoding()
    if encoding.lower().replace("-", "") == "utf8":
        return Finding("locale", "ok", encoding)
    return Finding("locale", "absent", f"{encoding}: curves and borders need UTF-8", "export LANG=C.UTF-8")


def _gigabytes(count: int) -> str:
    return f"{count / (1 << 30):.1f} GB"
