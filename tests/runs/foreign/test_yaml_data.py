"""YAML of strangers: read as plain data, and never followed."""

from __future__ import annotations

import itertools
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from workbench.runs.foreign.yaml_data import read_yaml

yaml = pytest.importorskip("yaml")

LINES = [f"{after}: &{after} [{', '.join([f'*{name}'] * 9)}]\n" for name, after in itertools.pairwise("abcdefghi")]
UNFOLDING = f"a: &a [{', '.join('x' * 9)}]\n{''.join(LINES)}"
"""A few lines that refer to each other, and would unfold to nine to the ninth."""


def test_what_rl_zoo_dumps_is_read(tmp_path: Path) -> None:
    path = tmp_path / "args.yml"
    told: Any = [
        ("env", "Hopper-v4"),
        ("n_timesteps", 1e6),
        ("seed", 3),
        ("normalize", True),
        ("tensorboard_log", ""),
        ("nothing", None),
        ("train_freq", (1, "step")),
        ("inner", OrderedDict([("a", [1, 2])])),
        ("long", "dict(log_std_init=-2, ortho_init=False, activation_fn=nn.ReLU, net_arch=dict(pi=[256, 256]))"),
    ]
    path.write_text(yaml.dump(OrderedDict(told)))
    assert "python/object" in path.read_text()
    read = read_yaml(path)
    assert read == dict(told) | {"train_freq": [1, "step"], "inner": {"a": [1, 2]}}


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['touch {marker}']",
        "a: !!python/object/apply:os.system ['touch {marker}']",
        "a: !!python/object/apply:subprocess.check_call [[touch, '{marker}']]",
        "!!python/object/new:type\nargs: ['x', !!python/tuple [], {{'extend': !!python/name:exec}}]\n"
        "listitems: \"open('{marker}', 'w')\"",
        "!!python/object/apply:collections.OrderedDict\n- !!python/object/apply:os.system ['touch {marker}']",
        "!!python/object/apply:collections.OrderedDict\n"
        "- - - a\n    - !!python/object/apply:os.system ['touch {marker}']",
        "a: !!python/module:antigravity",
        "a: !!python/name:os.system",
    ],
)
def test_nothing_in_a_file_is_called(text: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    path = tmp_path / "config.yml"
    path.write_text(text.format(marker=marker))
    # The text is dangerous: the loader that RL-Zoo uses, or the safe one, says so.
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(path.read_text())
    assert all(isinstance(value, str | int | dict | list) for value in read_yaml(path).values())
    assert not marker.exists()


@pytest.mark.parametrize(
    "text",
    [
        UNFOLDING,
        "a: &a [*a]",
        "[" * 50_000,
        "a: " + "9" * 5000,
        "x" * (2**20 + 1),
        "a: [",
        "\x00\xff",
        "- 1",
        "",
    ],
    ids=["unfolding", "circle", "deep", "long number", "large", "torn", "binary", "list", "empty"],
)
def test_what_is_no_settings_is_empty_and_soon_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text(text)
    began = time.process_time()
    assert set(read_yaml(path)) <= {"a"}
    assert time.process_time() - began < 5
