"""Who is to be evaluated and where: a policy, or an agent that needs none, in an environment."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.errors import NotFoundError, RequestError
from workbench.policies.actor import Actor
from workbench.policies.agents import AGENTS, make_agent
from workbench.policies.environments import find_environment
from workbench.policies.loading import load_policy
from workbench.policies.playing import home_of
from workbench.project import Project
from workbench.simulation import EnvSource, make_single


@dataclass(frozen=True)
class Contestant:
    """An actor and the environment it plays in."""

    name: str
    """What a person called it."""
    actor: Actor
    source: EnvSource
    agent: str | None = None
    """The built-in agent that acts; None for a policy."""


def find_contestant(
    project: Project,
    text: str,
    *,
    seed: int,
    agent: str | None = None,
    env: str | None = None,
    stochastic: bool = False,
    normalizer: str | None = None,
    trust: bool = False,
) -> Contestant:
    """Return who is meant by what a person typed.

    Args:
        project: Where runs and environments are.
        text: A policy, as `load_policy` takes it; with an agent also an environment.
        seed: The number of the first episode, of which whatever is drawn at random depends.
        agent: The built-in agent that acts; None or `policy` for the policy.
        env: Another environment than that of the policy.
        stochastic: Sample the policy's actions.
        normalizer: The file of what a foreign policy's observations go through.
        trust: Whether what of a file cannot be read as data may be run.

    Raises:
        NotFoundError: It names nothing.
        CheckpointError: The policy cannot be opened.
        RequestError: The policy does not say where it was trained, and no environment is named; or what is asked for
            is nothing that an agent has.
    """
    if agent is not None and agent != "policy":
        if normalizer is not None:
            raise RequestError(f"--normalizer is for a policy, and the agent `{agent}` is none.", hint="Leave it out.")
        return _agent_in(_home_of_text(project, text) if env is None else find_environment(env, project), agent, seed)
    played_in = None if env is None else find_environment(env, project)
    try:
        actor = load_policy(
            text,
            environment=played_in,
            normalizer=normalizer,
            trust=trust,
            stochastic=stochastic,
            seed=seed,
            project=project,
        )
    except NotFoundError as error:
        raise _with_agents(project, text, error) from error
    return Contestant(text, actor, home_of(actor, text))


def find_contestants(
    project: Project,
    texts: Sequence[str],
    *,
    seed: int,
    env: str | None = None,
    stochastic: bool = False,
    normalizer: str | None = None,
    trust: bool = False,
) -> list[Contestant]:
    """Return several that play in the same environment; the name of an agent is that agent in it.

    Raises:
        NotFoundError: One names nothing.
        RequestError: They are of different environments, and none is named for all.
    """
    found: list[Contestant | None] = [
        None
        if text in AGENTS
        else find_contestant(
            project, text, seed=seed, env=env, stochastic=stochastic, normalizer=normalizer, trust=trust
        )
        for text in texts
    ]
    policies = [one for one in found if one is not None]
    if not policies and env is None:
        raise RequestError("agents alone have no environment to play in.", hint="Name one with --env ID.")
    source = find_environment(env, project) if env is not None else policies[0].source
    for one in policies:
        if (one.source.env_id, one.source.env_cfg) != (source.env_id, source.env_cfg):
            raise RequestError(
                f"`{one.name}` is of {one.source.name}, and `{policies[0].name}` of {source.name}: "
                "they do not meet the same episodes.",
                hint="--env ID lets all play in one environment that they fit.",
            )
    return [
        _agent_in(source, text, seed) if one is None else replace(one, source=source)
        for text, one in zip(texts, found, strict=True)
    ]


def _agent_in(source: EnvSource, agent: str, seed: int) -> Contestant:
    env = make_single(source)
    try:
        return Contestant(agent, make_agent(agent, env, seed=seed), source, agent)
    finally:
        env.close()


def _home_of_text(project: Project, text: str) -> EnvSource:
    try:
        return find_environment(text, project)
    except NotFoundError:
        pass
    return home_of(load_policy(text, project=project), text)


def _with_agents(project: Project, text: str, error: NotFoundError) -> NotFoundError:
    """Say more where an environment was named that nothing was trained in yet."""
    with contextlib.suppress(NotFoundError):
        name = find_environment(text, project).name
        hint = f"`--agent random` plays {name} without one; `workbench train {name}` trains one."
        return NotFoundError(f"{name} has no trained policy here.", hint=hint)
    return error
