"""Pictures of the list of runs: groups, the queue, forks, a bad filter, its forms and its questions."""

from __future__ import annotations

import pytest

from tests.ui import fakes
from tests.ui.test_run_snapshots import LARGE, SMALL, Compare, rising, shown
from workbench import durable
from workbench.project import Project
from workbench.runs import StateFile
from workbench.specs import RunSpec
from workbench.ui.app import WorkbenchApp


def the_day(project: Project) -> None:
    """Three seeds that train, one run that is steered, two in the queue, and what ended."""
    for seed, top in ((1, 1500), (2, 1300), (3, 1700)):
        fakes.fake_run(
            project, "ant", f"7f3{seed}", seed=seed, group="g1", returns=rising(40, top), started=fakes.NOW - 934
        )
    spec = RunSpec.model_validate(
        {"env_id": "workbench/HalfCheetah-v0", "algorithm": "ppo", "total_steps": 1_000_000, "seed": 1}
    ).model_dump(mode="json")
    parent = fakes.fake_run(
        project, "half_cheetah", "b19e", spec=spec, returns=rising(30, 6000), started=fakes.NOW - 1800
    )
    fork = {**spec, "parent": f"{parent.name}:300000", "ppo": {**spec["ppo"], "learning_rate": 0.0001}}
    fakes.fake_run(
        project, "half_cheetah", "d411", spec=fork, state="finished", started=fakes.NOW - 900,
        reason="the evaluation return 9 583 reached 9 000", returns=rising(60, 9000),
    )  # fmt: skip
    for place, short_id in enumerate(("63f1", "63f2")):
        run = fakes.fake_run(project, "half_cheetah", short_id, state="queued", algorithm="td3", seed=2 + place)
        StateFile(run.state_path).write_queued(queued_ns=1000 + place)
    fakes.fake_run(
        project, "half_cheetah", "2b60", state="failed", reason="loss not finite", returns=rising(50, 118),
        started=fakes.NOW - 3060, events=[{"kind": "anomaly", "steps": 3_310_000, "message": "loss not finite"}],
    )  # fmt: skip
    pinned = fakes.fake_run(
        project, "cart_pole", "9d77", state="stopped", reason="stopped by request", started=fakes.NOW - 7200
    )
    durable.write_json(pinned.annotations_path, {"is_on_top": True, "tags": ["baseline"], "note": "keep this one"})


def prepared(project: Project) -> WorkbenchApp:
    fakes.write_environments(project)
    the_day(project)
    return fakes.make_app(project)


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_groups(snap_compare: Compare, project: Project, size: tuple[int, int], light: bool) -> None:
    keys = ("2", "j", "l")
    assert snap_compare(prepared(project), terminal_size=size, run_before=shown(*keys, light=light))


def test_plain(snap_compare: Compare, project: Project) -> None:
    the_day(project)
    app = fakes.make_app(project, plain=True)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown("2", "j", "l"))


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [
        ("lineage", LARGE, ("t", "t")),
        ("details", SMALL, ("d",)),
        ("huge", (210, 50), ()),
        ("tiny", (64, 18), ()),
        ("marks", SMALL, ("space", "space", "greater_than_sign")),
        ("bad filter", SMALL, ("slash", *"ant retrn", "greater_than_sign", "5")),
        ("kept filter", LARGE, ("slash", *"ant or cart", "enter")),
        ("several asked", SMALL, ("j", "P")),
        ("tags", SMALL, ("T",)),
        ("values", SMALL, ("j", "j", "C", *"1e-4")),
        ("columns", SMALL, ("colon", *"columns", "enter")),
        ("deleting", SMALL, ("G", "D")),
    ],
)
def test_states(
    snap_compare: Compare, project: Project, name: str, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    assert snap_compare(prepared(project), terminal_size=size, run_before=shown("2", *keys))
