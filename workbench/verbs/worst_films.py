"""Films of single episodes of an evaluation: each is played again as it was, and recorded."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from workbench.project import Project
from workbench.verbs.filming import Recording, Request
from workbench.verbs.signals import stop_on_signals
from workbench.viewer import options


def film(args: argparse.Namespace, project: Project, episodes: Sequence[int]) -> list[Path]:
    """Record some episodes into the project's recordings, and return the files that were made.

    Args:
        args: What `evaluate` was asked with.
        project: Where recordings go.
        episodes: Their places among those that were evaluated, from 0.

    Raises:
        GraphicsError: Nothing can be drawn here.
        SimulationError: The environment raised.
        WorkFailedError: A film cannot be written.
    """
    from workbench.runs.recordings import JobReport, Sidecar, recording_path
    from workbench.viewer.target import Opening, find_target
    from workbench.viewer.targets import open_together

    opening = Opening(normalizer=args.normalizer, trust=args.trust)
    target = find_target(project, args.policy, agent=args.agent or "policy", env=args.env, opening=opening)
    preset = options.PRESETS["default"]
    films = []
    with (
        stop_on_signals() as asked,
        open_together([target], seed=args.seed, stochastic=args.stochastic) as session,
    ):
        for episode in episodes:
            if asked:
                break
            number = args.seed + episode
            path = recording_path(project.recordings, f"{target.label}_episode_{number}", ".mp4")
            sidecar = Sidecar(
                command=_command(args, number),
                checkpoint=None if target.checkpoint is None else str(target.checkpoint),
                environment=target.source.env_id,
                seed=number,
                theme="light",
                stochastic=args.stochastic,
            )
            request = Request(
                size=preset.size,
                samples=preset.samples,
                sees_through=preset.sees_through,
                fps=None,
                view=None,
                theme="light",
                episodes=1,
                kept=None,
                seconds=None,
                still=None,
                states=None,
                numbers=(episode,),
            )
            with JobReport(path, sidecar) as report:
                Recording(session, [target], request, report, asked).run()
            films.append(path)
    return films


def _command(args: argparse.Namespace, number: int) -> tuple[str, ...]:
    """Return the words that make the film again."""
    words = ["workbench", "record", args.policy, "--seed", str(number)]
    if args.stochastic or args.agent == "random":
        # What is drawn at random depends on where the evaluation began.
        words = ["workbench", "evaluate", args.policy, "--seed", str(args.seed), "--episodes", str(args.episodes)]
        words += ["--record-worst", str(args.record_worst)] + (["--stochastic"] if args.stochastic else [])
    words += [] if args.agent is None else ["--agent", args.agent]
    words += ["--env", args.env] if args.env else []
    words += ["--normalizer", args.normalizer] if args.normalizer else []
    return (*words, "--trust") if args.trust else tuple(words)
