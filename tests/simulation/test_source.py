"""Sources as data, and the import of a module from its file."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import NotFoundError, ProblemsError, RequestError
from workbench.project import PROJECT_VARIABLE, shipped_project
from workbench.simulation import EnvSource, load_class

MODULE = "class ToyEnv(object):\n    size = {size}\n"


@dataclass(frozen=True)
class Entry:
    env_id: str = "workbench/Toy-v0"
    name: str = "toy"
    module: Path | None = Path("/somewhere/toy_env.py")
    class_name: str | None = "ToyEnv"
    env_cfg: dict[str, Any] = field(default_factory=lambda: {"span": [1, 2], "nested": {"a": 1}})


def toy(folder: Path, text: str, class_name: str = "ToyEnv") -> EnvSource:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "toy_env.py"
    path.write_text(text)
    return EnvSource("workbench/Toy-v0", "toy", str(path), class_name)


def test_a_source_survives_json() -> None:
    source = EnvSource.from_entry(Entry())
    assert EnvSource.from_json(json.loads(json.dumps(source.to_json()))) == source
    assert source.module == "/somewhere/toy_env.py"


def test_a_source_shares_nothing_with_its_entry() -> None:
    entry = Entry()
    source = EnvSource.from_entry(entry)
    source.to_json()["env_cfg"]["nested"]["a"] = 5
    source.env_cfg["nested"]["a"] = 6
    assert entry.env_cfg["nested"]["a"] == 1


@pytest.mark.parametrize(
    "data", [{}, {"env_id": "a"}, {"env_id": 1, "name": "a"}, {"env_id": "a", "name": "b", "module": "c"}]
)
def test_data_that_is_no_source_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        EnvSource.from_json(data)


def test_modules_of_one_name_in_two_folders_stay_apart(tmp_path: Path) -> None:
    one = load_class(toy(tmp_path / "a", MODULE.format(size=1)))
    two = load_class(toy(tmp_path / "b", MODULE.format(size=2)))
    assert (one.size, two.size) == (1, 2)  # type: ignore[attr-defined]


def test_a_module_is_imported_once_until_it_changes(tmp_path: Path) -> None:
    source = toy(tmp_path, MODULE.format(size=1))
    assert load_class(source) is load_class(source)
    assert load_class(toy(tmp_path, MODULE.format(size=20))).size == 20  # type: ignore[attr-defined]


def test_a_module_may_import_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "toy_neighbour_for_test.py").write_text("SIZE = 7\n")
    source = toy(tmp_path, "from toy_neighbour_for_test import SIZE\nclass ToyEnv:\n    size = SIZE\n")
    assert load_class(source).size == 7  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("x = 1\ndef broken(:\n", "syntax", 2),
        ("x = 1\n\nimport no_such_module_at_all\n", "import", 3),
        ("def f():\n    raise RuntimeError('x')\nf()\n", "import", 2),
    ],
)
def test_a_module_that_cannot_be_imported_names_file_and_line(tmp_path: Path, text: str, key: str, line: int) -> None:
    source = toy(tmp_path, text)
    with pytest.raises(ProblemsError) as caught:
        load_class(source)
    problem = caught.value.problems[0]
    assert (problem.key, problem.path, problem.line) == (key, Path(source.module or ""), line)


def test_a_class_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Did you mean ToyEnv"):
        load_class(toy(tmp_path, MODULE.format(size=1), "TooyEnv"))


def test_a_shipped_module_from_another_machine_is_found_by_its_name() -> None:
    source = EnvSource("workbench/CartPole-v0", "cart_pole", "/elsewhere/envs/cart_pole_env.py", "CartPoleEnv")
    assert Path(load_class(source).__init__.__globals__["__file__"]).name == "batch_env.py"  # type: ignore[misc]


def test_a_moved_module_is_found_in_the_project_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy(tmp_path / "envs" / "deep", MODULE.format(size=3))
    monkeypatch.setenv(PROJECT_VARIABLE, str(tmp_path))
    assert load_class(EnvSource("a", "toy", "/gone/toy_env.py", "ToyEnv")).size == 3  # type: ignore[attr-defined]


def test_a_module_that_is_nowhere_says_where_to_put_it() -> None:
    with pytest.raises(NotFoundError, match=r"gone_env\.py into the envs/"):
        load_class(EnvSource("a", "toy", "/gone/gone_env.py", "ToyEnv"))


def test_a_gymnasium_id_has_no_class() -> None:
    with pytest.raises(RequestError):
        load_class(EnvSource("Ant-v5", "Ant-v5"))


def test_the_shipped_environments_are_where_they_should_be() -> None:
    assert (shipped_project().envs / "cart_pole_env.py").is_file()
