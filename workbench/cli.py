"""The `workbench` command: which verbs there are, and how their errors reach the shell.

Thin and lazy: a verb's module is imported only when that verb is asked for, so that `--help` of any of them is
quick and the terminal app never loads what only training needs. Exit codes: 0 done, 1 the answer is no or the
work failed, 2 the request was wrong, 3 no verdict.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import NoReturn

from workbench.durable import write_text
from workbench.errors import RequestError, WorkbenchError
from workbench.project import cache_folder, open_project
from workbench.suggest import nearest
from workbench.verbs.writing import accept_any_text


@dataclass(frozen=True)
class Verb:
    """One verb of the command line; its module holds `add_arguments(parser)` and `run(args, project) -> int`."""

    name: str
    summary: str
    """One line for `workbench --help`."""
    simulates: bool = False
    """Whether it, or a process that it starts, loads MuJoCo."""

    def module(self) -> ModuleType:
        """Import the module that carries the verb out."""
        return importlib.import_module(f"workbench.verbs.{self.name}")


VERBS = {
    verb.name: verb
    for verb in (
        Verb("list", "environments, variants and recipes"),
        Verb("check", "every fault of every environment, variant and recipe file", simulates=True),
        Verb("train", "train an environment, or every one a pattern selects", simulates=True),
        Verb("runs", "runs, live and ended"),
        Verb("stop", "ask a run to write a checkpoint and end"),
        Verb("queue", "runs that wait, when each starts, and their order"),
        Verb("annotate", "tags, a note and pins of runs"),
        Verb("prune", "throw checkpoints away that nobody needs"),
        Verb("delete", "move runs to the trash, and bring them back"),
        Verb("pause", "let a run save and wait; it keeps its memory and frees its place"),
        Verb("resume", "let a paused run go on, and one that was stopped, killed or cut off", simulates=True),
        Verb("set", "change values of a run while it trains"),
        Verb("checkpoint", "let a run write a checkpoint now"),
        Verb("rescore", "score a checkpoint of a run once more, on new episodes", simulates=True),
        Verb("play", "watch a checkpoint or an environment in a window", simulates=True),
        Verb("record", "film a checkpoint or an environment; needs no display", simulates=True),
        Verb("evaluate", "how good a policy is, on numbered episodes", simulates=True),
        Verb("compare", "two or more policies on the same episodes", simulates=True),
        Verb("montage", "a film, a grid or a poster of a run's checkpoints", simulates=True),
        Verb("plot", "curves of runs, drawn in the shell"),
        Verb("report", "what runs came to, in one file: tables, curves, settings, commands"),
        Verb("results", "what runs reached over their seeds, beside what others published"),
        Verb("export", "a policy as ONNX, TorchScript or Stable-Baselines3 files, checked", simulates=True),
        Verb("new", "files of an environment of your own, to begin with"),
        Verb("preview", "what to look at before an environment is trained on", simulates=True),
        Verb("bench", "how fast environments step and learners train", simulates=True),
        Verb("import", "runs of Stable-Baselines3, RL-Zoo and CleanRL beside our own"),
        Verb("serve", "the app in a browser of this machine"),
        Verb("doctor", "what works on this machine, and how to mend what does not"),
        Verb("completion", "the script that lets bash, zsh or fish complete these commands"),
    )
}


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence, as every other of ours, and not a page of usage with it."""

    def error(self, message: str) -> NoReturn:
        raise RequestError(f"{message}.", hint=f"`{self.prog} --help` explains.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    accept_any_text(sys.stdout, sys.stderr)
    try:
        return _dispatch(words)
    except WorkbenchError as error:
        print(f"workbench: {error.message}", file=sys.stderr)  # noqa: T201
        if error.hint:
            print(error.hint, file=sys.stderr)  # noqa: T201
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of a pipe went away (`workbench list | head`): not an error, and nothing more can be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = "" if error.filename is None else f" ({error.filename})"
        print(f"workbench: {error.strerror or error}{where}.", file=sys.stderr)  # noqa: T201
        return 1
    except Exception as error:
        print(_defect(error), file=sys.stderr)  # noqa: T201
        return 1


def _dispatch(words: list[str]) -> int:
    top = _top_parser()
    if words[:2] == ["completion", "--words"]:
        # Half a command line, whose `--` and options argparse would take for its own.
        from workbench.verbs.completing import CommandLine, print_candidates

        summaries = {verb.name: verb.summary for verb in VERBS.values()}
        print_candidates(CommandLine(top, summaries, lambda verb: _verb_parser(VERBS[verb])), words[2:])
        return 0
    options, rest = top.parse_known_args(words)
    name: str | None = options.verb
    if name is None:
        if rest:
            top.error(f"unrecognised arguments: {' '.join(rest)}")
        from workbench.verbs import app

        return app.run(options, open_project(options.project))
    if name not in VERBS:
        close = nearest(name, VERBS)
        hint = f"Did you mean {' or '.join(close)}?" if close else ""
        raise RequestError(f"there is no verb `{name}`; there are {', '.join(VERBS)}.", hint=hint)
    module = VERBS[name].module()
    parser = _verb_parser(VERBS[name], options.project)
    words = options.arguments + rest
    # Words that mean something else to a verb than to argparse.
    readable = getattr(module, "readable", None)
    args = parser.parse_args(words if readable is None else readable(words))
    if VERBS[name].simulates:
        from workbench.simulation.graphics_choice import require_mujoco_loads

        require_mujoco_loads()
    return int(module.run(args, open_project(args.project)))


def _verb_parser(verb: Verb, folder: str | None = None) -> _Parser:
    """Return what reads the command line of a verb.

    Args:
        verb: The verb.
        folder: The project that was named before it.
    """
    parser = _Parser(prog=f"workbench {verb.name}", description=f"{verb.summary[:1].upper()}{verb.summary[1:]}.")
    parser.add_argument("--project", metavar="DIR", default=folder, help="the project folder (default: here)")
    verb.module().add_arguments(parser)
    return parser


def _defect(error: Exception) -> str:
    """Keep the traceback of a fault of our own in a file, and say where; `$WORKBENCH_TRACEBACK` shows it instead."""
    if os.environ.get("WORKBENCH_TRACEBACK"):
        raise error
    path = cache_folder() / "last_error.txt"
    lines = traceback.format_exception(error)
    with contextlib.suppress(OSError):
        write_text(path, "".join(lines))
    return f"workbench: {lines[-1].strip()}\nThis is a defect of workbench itself; {path} says where it happened."


def _top_parser() -> argparse.ArgumentParser:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb.name:<{width}}  {verb.summary}" for verb in VERBS.values())
    parser = _Parser(
        prog="workbench",
        description="A terminal workbench for reinforcement learning on MuJoCo and Gymnasium.\n"
        "Without a verb it opens the app.",
        epilog=f"verbs:\n{verbs}\n\n`workbench VERB --help` explains one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--project", metavar="DIR", help="the project folder (default: $WORKBENCH_PROJECT, else here)")
    parser.add_argument("--read-only", action="store_true", help="the app changes no run, file or process")
    parser.add_argument("--plain", action="store_true", help="the app without colours, borders and braille")
    parser.add_argument("--version", action="version", version=_version())
    parser.add_argument("verb", nargs="?", metavar="VERB", help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _version() -> str:
    from importlib.metadata import version

    return f"workbench {version('workbench-rl')}"


if __name__ == "__main__":
    sys.exit(main())
