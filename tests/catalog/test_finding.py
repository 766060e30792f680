"""Asking for an environment by name: exact beats prefix, a miss says what is close and what exists."""

from __future__ import annotations

from typing import Any

import pytest

from tests.catalog.conftest import MODULE, Make
from workbench.catalog import Catalog, GymnasiumRegistry, discover
from workbench.catalog import registry as registry_module
from workbench.durable import write_json
from workbench.errors import NotFoundError, RequestError

RECIPE = {"total_steps": 100_000}


@pytest.fixture
def catalog(make: Make) -> Catalog:
    return discover(
        make(
            {
                "envs/crawler_env.py": MODULE,
                "envs/crawler_env_heavy.json": {"env_cfg": {"mass": 2.0}},
                "envs/crawler_env_heavy_wide.json": {"env_cfg": {"mass": 3.0}},
                "envs/crawler_env_test_float.json": {"env_cfg": {"use_gravity": False}},
                "envs/zipper_env.py": "class ZipperEnv(Base):\n    pass\n",
                "envs/bad_env.py": "class BadEnv(Base\n",
                "recipes/crawler_env_heavy.train.json": RECIPE,
                "recipes/crawler_env_heavy_wide.train.json": RECIPE,
            }
        )
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("crawler", "crawler"),
        ("CRAWLER", "crawler"),
        ("crawler_env", "crawler"),
        ("workbench/Crawler-v0", "crawler"),
        ("crawler_heavy", "crawler_heavy"),
        ("crawler_env_heavy", "crawler_heavy"),
        ("workbench/CrawlerHeavyWide-v0", "crawler_heavy_wide"),
        ("crawler_heavy_w", "crawler_heavy_wide"),
        ("zip", "zipper"),
        ("workbench/Zip", "zipper"),
        ("*_wide", "crawler_heavy_wide"),
        ("z?pper", "zipper"),
    ],
)
def test_what_a_text_means(catalog: Catalog, text: str, name: str) -> None:
    assert catalog.find(text).name == name


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("crawl", RequestError, "could be crawler, crawler_heavy, crawler_heavy_wide"),
        ("crawler*", RequestError, "could be crawler"),
        ("zippper", NotFoundError, "Did you mean zipper"),
        ("crawlerheavy", NotFoundError, "Did you mean crawler_heavy"),
        ("nothing_like_it", NotFoundError, "there are crawler, crawler_heavy"),
        ("*nothing*", NotFoundError, "there are crawler"),
        ("bad", NotFoundError, "bad_env.py:1"),
        ("bad_env", NotFoundError, "not valid Python"),
        ("crawler_test_float", NotFoundError, "for tests only"),
        ("", NotFoundError, "no environment matches"),
    ],
)
def test_what_a_text_does_not_mean(catalog: Catalog, text: str, kind: type[RequestError], said: str) -> None:
    with pytest.raises(kind) as caught:
        catalog.find(text)
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_name_of_two_environments_names_both_files(make: Make) -> None:
    catalog = discover(make({"envs/a_env.py": "class TwinEnv(B): ...", "envs/b_env.py": "class TwinEnv(B): ..."}))
    with pytest.raises(RequestError, match=r"a_env\.py and .*b_env\.py"):
        catalog.find("twin")


def test_a_glob_selects_what_has_a_recipe(catalog: Catalog) -> None:
    assert [entry.name for entry in catalog.select("crawler*")] == ["crawler_heavy", "crawler_heavy_wide"]


def test_a_name_is_selected_without_a_recipe_too(catalog: Catalog) -> None:
    assert [entry.name for entry in catalog.select("crawler")] == ["crawler"]
    assert [entry.name for entry in catalog.select("zip")] == ["zipper"]


def test_a_glob_of_what_has_no_recipe_says_so(catalog: Catalog) -> None:
    with pytest.raises(NotFoundError, match="matches zipper, and none of them has a recipe"):
        catalog.select("zip*")
    with pytest.raises(NotFoundError, match="no environment matches"):
        catalog.select("zq*")


def test_entries_by_id(catalog: Catalog) -> None:
    found = catalog.entry_for_id("workbench/CrawlerTestFloat-v0")
    assert found is not None
    assert found.test_only
    assert catalog.entry_for_id("workbench/Nothing-v0") is None


def test_what_is_shown_for_a_pattern(catalog: Catalog) -> None:
    assert [entry.name for entry in catalog.matching("crawler_h")] == ["crawler_heavy", "crawler_heavy_wide"]
    assert [entry.name for entry in catalog.matching("*zip*")] == ["zipper"]
    assert catalog.matching("nothing") == []


@pytest.fixture
def registry(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    rows = [
        {"env_id": "Pendulum-v1", "entry_point": "a:B", "max_episode_steps": 200},
        {"env_id": "CartPole-v0", "entry_point": "c:D"},
        {"env_id": "workbench/Ant-v0", "entry_point": "e:F"},
    ]
    write_json(registry_module.registry_path(), rows)


@pytest.mark.usefixtures("registry")
def test_gymnasiums_ids_are_found_and_listed(make: Make) -> None:
    catalog = discover(
        make({"recipes/gymnasium/Pendulum-v1.train.json": RECIPE, "recipes/gymnasium/Pendlum-v1.train.json": RECIPE})
    )
    assert catalog.find("Pendulum-v1").trainable
    plain = catalog.find("CartPole-v0")
    assert (plain.origin, plain.class_name, plain.why_not) == ("gymnasium", "c:D", "no recipe")
    assert [entry.env_id for entry in catalog.gymnasium] == ["CartPole-v0"]
    assert "CartPole-v0" in [entry.name for entry in catalog.matching(None, everything=True)]
    (orphan,) = catalog.orphans
    assert (orphan.path.name, orphan.nearest) == ("Pendlum-v1.train.json", "Pendulum-v1")
    with pytest.raises(NotFoundError, match="Did you mean Pendulum-v1"):
        catalog.find("Pendulom-v1")


def test_an_id_is_looked_up_in_gymnasium_when_its_list_was_never_read(
    make: Make, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "empty"))
    catalog = discover(make({}))
    assert not catalog.registry.known
    assert catalog.find("Pendulum-v1").origin == "gymnasium"
    assert GymnasiumRegistry.cached().known
    with pytest.raises(NotFoundError, match="Pendulum-v1"):
        catalog.find("Pendulum-v999")
