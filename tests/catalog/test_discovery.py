"""What files become: environments, variants, recipes, and rows that say why a file became none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.catalog.conftest import MODULE, Make, found, inside, own
from workbench.catalog import Entry, discover
from workbench.project import CACHE_VARIABLE, Project, shipped_project

RECIPE = {"total_steps": 100_000, "ppo": {"gamma": 0.98}}


def entry(catalog_entries: list[Entry], name: str) -> Entry:
    return next(entry for entry in catalog_entries if entry.name == name)


def messages(of: Entry) -> list[str]:
    return [f"{problem.line}: {problem.key} {problem.message} ({problem.nearest})" for problem in of.problems]


def test_a_module_its_variants_and_their_recipes(make: Make) -> None:
    catalog = found(
        make,
        {
            "envs/deep/crawler_env.py": MODULE,
            "envs/deep/crawler_env_heavy.json": {"description": "Heavier.", "env_cfg": {"mass": 2.0}},
            "envs/deep/crawler_env_test_float.json": {"env_cfg": {"use_gravity": False}},
            "recipes/mine/crawler_env_heavy.train.json": RECIPE,
            "recipes/crawler_env.benchmark.json": {"env_cfg": {}},
        },
    )
    base, heavy, floating = own(catalog)
    assert (base.name, base.env_id, base.class_name) == ("crawler", "workbench/Crawler-v0", "CrawlerEnv")
    assert (base.description, base.variant, base.why_not) == ("Crawls along.", None, "no recipe")
    assert base.benchmark is not None
    assert (heavy.name, heavy.env_id) == ("crawler_heavy", "workbench/CrawlerHeavy-v0")
    assert (heavy.description, dict(heavy.env_cfg)) == ("Heavier.", {"mass": 2.0})
    assert (heavy.trainable, heavy.algorithms) == (True, ("ppo",))
    assert (floating.name, floating.test_only) == ("crawler_test_float", True)
    assert floating not in catalog.entries
    assert floating in catalog.test_only


def test_nothing_is_imported(make: Make) -> None:
    before = set(sys.modules)
    assert own(found(make, {"envs/crawler_env.py": MODULE}))
    assert not {name for name in set(sys.modules) - before if "crawler" in name}


def test_recipes_are_not_inherited_either_way(make: Make) -> None:
    files = {"envs/crawler_env.py": MODULE, "envs/crawler_env_heavy.json": {"env_cfg": {"mass": 2.0}}}
    base, heavy = own(found(make, {**files, "recipes/crawler_env.train.json": RECIPE}))
    assert (base.trainable, heavy.trainable) == (True, False)


def test_two_classes_of_a_module_share_its_variants_and_recipe(make: Make) -> None:
    module = "class WalkEnv(Base):\n    pass\n\nclass SwimEnv(Base):\n    pass\n"
    catalog = found(
        make,
        {
            "envs/move_env.py": module,
            "envs/move_env_fast.json": {"env_cfg": {"speed": 2}},
            "recipes/move_env_fast.train.json": RECIPE,
        },
    )
    assert [(each.name, each.trainable) for each in own(catalog)] == [
        ("walk", False),
        ("walk_fast", True),
        ("swim", False),
        ("swim_fast", True),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "class Crawler(Base): pass",
        "class CrawlerEnvironment(Base): pass",
        "class CrawlerEnv: pass",
        "class Env(Base): pass",
        "class _CrawlerEnv(Base): pass",
        "from other import CrawlerEnv",
        "if True:\n    class CrawlerEnv(Base): pass",
        "def f():\n    class CrawlerEnv(Base): pass",
        "class CrawlerEnv(Base):\n    @abstractmethod\n    def observe(self): ...",
        "class CrawlerEnv(Base):\n    @property\n    @abc.abstractmethod\n    def model(self): ...",
        "",
    ],
)
def test_classes_that_are_no_environment(make: Make, source: str) -> None:
    project = make({"envs/crawler_env.py": source})
    catalog = discover(project)
    assert own(catalog) == []
    assert "defines no environment" in inside(catalog, project.root)["envs/crawler_env.py"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("class Crawler(Base): pass", "Crawler is not named …Env"),
        ("class CrawlerEnv: pass", "CrawlerEnv has no base class"),
        (
            "class CrawlerEnv(Base):\n    @abstractmethod\n    def observe(self): ...",
            "CrawlerEnv has an abstract method",
        ),
        ("", "it has no class"),
    ],
)
def test_a_class_that_is_no_environment_is_told_why(make: Make, source: str, why: str) -> None:
    project = make({"envs/crawler_env.py": source})
    assert why in inside(discover(project), project.root)["envs/crawler_env.py"]


def test_a_folder_that_cannot_be_read_is_a_row(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make(
        {"envs/crawler_env.py": MODULE, "envs/shut/other_env.py": MODULE, "recipes/shut/x.train.json": RECIPE}
    )
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr("os.scandir", refuse)
    catalog = discover(project)
    assert [each.name for each in own(catalog)] == ["crawler"]
    told = [problem for file in catalog.broken for problem in file.problems] + list(catalog.problems)
    assert {str(problem.path): problem.message for problem in told} == {
        str(project.envs / "shut"): "cannot be read: Permission denied",
        str(project.recipes / "shut"): "cannot be read: Permission denied",
    }


def test_a_description_is_one_line_that_moves_no_cursor(make: Make) -> None:
    variant = {"description": "Heavier.\n\x1b[2J And\ttall.", "env_cfg": {"mass": 2.0}}
    _, heavy = own(found(make, {"envs/crawler_env.py": MODULE, "envs/crawler_env_heavy.json": variant}))
    assert heavy.description == "Heavier. [2J And tall."


@pytest.mark.parametrize(
    "name",
    ["envs/crawler.py", "envs/crawlerenv.py", "envs/.hidden/a_env.py", "envs/__pycache__/a_env.py", "crawler_env.py"],
)
def test_modules_elsewhere_or_with_other_names_are_no_environments(make: Make, name: str) -> None:
    assert own(found(make, {name: MODULE})) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("crawler_env_Hard.json", "lower-case"),
        ("crawler_env_hard-mode.json", "lower-case"),
        ("crawler_env_hard__mode.json", "lower-case"),
        ("crawler_env__hard.json", "lower-case"),
        ("crawler_env_.json", "lower-case"),
        ("crawler_env_extra_env.json", "may be `env`"),
        ("crawler_env_long_train.json", "may be `train`"),
        ("crawler_env_benchmark_base.json", "may be `benchmark`"),
        ("crawler_env.train.json", "recipes/"),
        ("crawler_env_hard.train.json", "recipes/"),
        ("walker_env_hard.json", "there is no walker_env.py"),
        ("notes.json", "MODULE_VARIANT.json"),
    ],
)
def test_files_that_are_ignored_say_why(make: Make, name: str, said: str) -> None:
    project = make({"envs/crawler_env.py": MODULE, f"envs/{name}": {"env_cfg": {"mass": 2.0}}})
    catalog = discover(project)
    assert len(own(catalog)) == 1
    assert said in inside(catalog, project.root)[f"envs/{name}"]


def test_a_module_whose_name_begins_with_anothers_keeps_its_variants(make: Make) -> None:
    catalog = found(
        make,
        {
            "envs/crawler_env.py": MODULE,
            "envs/crawler_env_extra_env.py": MODULE.replace("Crawler", "CrawlerExtra"),
            "envs/crawler_env_extra_env_heavy.json": {"env_cfg": {"mass": 2.0}},
        },
    )
    assert [each.name for each in own(catalog)] == ["crawler", "crawler_extra", "crawler_extra_heavy"]


def test_a_broken_file_hides_no_other(make: Make) -> None:
    project = make(
        {
            "envs/bad_env.py": "import os\n\nclass BadEnv(Base)\n    pass\n",
            "envs/bad_env_hard.json": {"env_cfg": {"a": 1}},
            "envs/crawler_env.py": MODULE,
            "envs/crawler_env_broken.json": '{\n "env_cfg": {"mass": 2.0,}\n}',
            "recipes/bad_env_hard.train.json": RECIPE,
            "recipes/crawler_env.train.json": '{\n "ppo": {"gamma": }\n}',
        }
    )
    catalog = discover(project)
    (bad,) = catalog.broken
    assert (bad.path.name, bad.problems[0].line, bad.problems[0].key) == ("bad_env.py", 3, "syntax")
    crawler, broken = own(catalog)
    assert not crawler.broken
    assert crawler.why_not.startswith("recipe: syntax")
    assert broken.broken
    assert [(problem.path, problem.line) for problem in broken.problems] == [(broken.variant_file, 2)]
    assert inside(catalog, project.root) == {}


def test_bytes_that_are_no_python_are_one_broken_row(make: Make) -> None:
    project = make({"envs/crawler_env.py": MODULE})
    (project.envs / "nul_env.py").write_bytes(b"a = 1\0")
    (project.envs / "latin_env.py").write_bytes(b"a = '\xe9'\n")
    catalog = discover(project)
    assert sorted(file.path.name for file in catalog.broken) == ["latin_env.py", "nul_env.py"]
    assert [each.name for each in own(catalog)] == ["crawler"]


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        (
            {"env_cfg": {"masss": 2.0}},
            "3: env_cfg.masss is not a field of CrawlerEnvConfig: there are mass, use_gravity, gains (mass)",
        ),
        (
            {"env_cfg": {"gains": {"stiff": 2.0}}},
            "4: env_cfg.gains.stiff is not a field of Gains: there are stiffness (stiffness)",
        ),
        (
            {"description": "x"},
            "None: env_cfg is missing: this would be the same environment as its base (None)",
        ),
        (
            {"env_cfgs": {"mass": 2.0}},
            "2: env_cfgs is not a key of a variant; there are description and env_cfg (env_cfg)",
        ),
        (
            {"env_cfg": {"mass": 1.0}, "descripton": ""},
            "5: descripton is not a key of a variant; there are description and env_cfg (description)",
        ),
        ({"env_cfg": 3}, "2: env_cfg must be an object of configuration fields, got 3 (None)"),
        ({"env_cfg": {"mass": 1.0}, "description": 3}, "5: description must be text, got 3 (None)"),
        ([], "1:  a variant is an object with env_cfg, got [] (None)"),
    ],
)
def test_faults_of_a_variant(make: Make, variant: object, said: str) -> None:
    _, hard = own(found(make, {"envs/crawler_env.py": MODULE, "envs/crawler_env_hard.json": variant}))
    assert said in messages(hard)
    assert hard.broken
    assert hard.why_not.startswith("broken: ")


def test_keys_of_bases_count_and_unknown_bases_are_not_guessed_at(make: Make) -> None:
    config = "class {name}EnvConfig({base}):\n    mass: float = 1.0\nclass {name}Env(BatchEnv):\n    pass\n"
    module = "class Shared:\n    size: int = 1\n" + "".join(
        config.format(name=name, base=base)
        for name, base in (("Near", "Shared"), ("Base", "BatchEnvConfig"), ("Far", "other.Config"))
    )
    variant = {"env_cfg": {"size": 2, "episode_steps": 10, "mass": 1.0}}
    entries = own(found(make, {"envs/trio_env.py": module, "envs/trio_env_v.json": variant}))
    assert [problem.key for problem in entry(entries, "near_v").problems] == ["env_cfg.episode_steps"]
    assert [problem.key for problem in entry(entries, "base_v").problems] == ["env_cfg.size"]
    assert entry(entries, "far_v").problems == ()


def test_keys_of_a_plain_environment_are_its_constructors(make: Make) -> None:
    strict = "class PlainEnv(gym.Env):\n    def __init__(self, size=1, *, render_mode=None): pass\n"
    variant = {"env_cfg": {"size": 2, "sise": 3}}
    files = {"envs/plain_env.py": strict, "envs/plain_env_v.json": variant}
    (problem,) = own(found(make, files))[1].problems
    assert (problem.key, problem.nearest) == ("env_cfg.sise", "size")
    files["envs/plain_env.py"] = strict.replace("*, render_mode=None", "**kwargs")
    assert own(found(make, files))[1].problems == ()


def test_a_recipe_that_belongs_to_nothing_is_a_row(make: Make) -> None:
    project = make(
        {
            "envs/crawler_env.py": MODULE,
            "envs/crawler_env_test_float.json": {"env_cfg": {"use_gravity": False}},
            "recipes/crawler_env_heavi.train.json": RECIPE,
            "recipes/crawler_env_test_float.train.json": RECIPE,
            "recipes/crawlr_env.benchmark.json": {"env_cfg": {}},
            "recipes/crawler_env.json": RECIPE,
        }
    )
    catalog = discover(project)
    rows = inside(catalog, project.root)
    assert "belongs to no environment" in rows["recipes/crawler_env_heavi.train.json"]
    assert "for tests only" in rows["recipes/crawler_env_test_float.train.json"]
    assert "belongs to no environment" in rows["recipes/crawlr_env.benchmark.json"]
    assert "is no recipe" in rows["recipes/crawler_env.json"]
    near = {row.path.name: row.nearest for row in catalog.orphans}
    assert near["crawlr_env.benchmark.json"] == "crawler_env.benchmark.json"


def test_a_benchmark_configures_what_there_is(make: Make) -> None:
    benchmark = {"description": "many", "env_cfg": {"masss": 2.0}}
    (crawler,) = own(found(make, {"envs/crawler_env.py": MODULE, "recipes/crawler_env.benchmark.json": benchmark}))
    (problem,) = crawler.problems
    assert (problem.key, problem.nearest, problem.path) == ("env_cfg.masss", "mass", crawler.benchmark)
    assert not crawler.broken


def test_an_empty_recipe_trains_nothing(make: Make) -> None:
    (crawler,) = own(found(make, {"envs/crawler_env.py": MODULE, "recipes/crawler_env.train.json": {}}))
    assert (crawler.trainable, crawler.why_not) == (False, "empty recipe")


def test_problems_of_a_recipe_do_not_break_its_environment(make: Make) -> None:
    recipe = {**RECIPE, "env_config": {"mass": 3}}
    (crawler,) = own(found(make, {"envs/crawler_env.py": MODULE, "recipes/crawler_env.train.json": recipe}))
    assert not crawler.broken
    assert crawler.why_not.startswith("recipe: env_config")
    assert "crawler_env_NAME.json" in crawler.problems[0].message


def test_one_name_for_two_environments_is_an_error_that_names_both_files(make: Make) -> None:
    project = make(
        {
            "envs/crawler_env.py": MODULE,
            "envs/crawler_env_heavy.json": {"env_cfg": {"mass": 2.0}},
            "envs/heavy_env.py": "class CrawlerHeavyEnv(Base):\n    pass\n",
        }
    )
    catalog = discover(project)
    clashing = [each for each in own(catalog) if each.name == "crawler_heavy"]
    assert len(clashing) == 2
    assert all(each.broken for each in clashing)
    (problem,) = catalog.problems
    assert str(project.envs / "crawler_env_heavy.json") in problem.message
    assert str(project.envs / "heavy_env.py") in problem.message


def test_a_copy_with_its_variants_is_told_file_by_file(make: Make) -> None:
    files: dict[str, object] = {}
    for folder in ("envs/a", "envs/b"):
        files[f"{folder}/crawler_env.py"] = MODULE
        files[f"{folder}/crawler_env_heavy.json"] = {"env_cfg": {"mass": 2.0}}
    project = make(files)
    told = {(problem.path, problem.line) for each in own(discover(project)) for problem in each.problems}
    line = MODULE.splitlines().index("class CrawlerEnv(BatchEnv[CrawlerEnvConfig]):") + 1
    modules = {(project.envs / place / "crawler_env.py", line) for place in "ab"}
    assert told == modules | {(project.envs / place / "crawler_env_heavy.json", None) for place in "ab"}


def test_two_variants_of_one_id_are_an_error(make: Make) -> None:
    files = {f"envs/crawler_env_{variant}.json": {"env_cfg": {"mass": 2.0}} for variant in ("1_2", "12")}
    catalog = found(make, {"envs/crawler_env.py": MODULE, **files})
    (problem,) = catalog.problems
    assert problem.key == "workbench/Crawler12-v0"
    assert {each.name for each in own(catalog) if each.broken} == {"crawler_1_2", "crawler_12"}


def test_a_recipe_of_two_modules_is_an_error(make: Make) -> None:
    files = {f"envs/{place}/same_env.py": f"class {place}Env(B): ..." for place in ("Left", "Right")}
    (problem,) = found(make, {**files, "recipes/same_env.train.json": RECIPE}).problems
    assert "Left/same_env.py and" in problem.message


def test_two_recipes_of_one_name_are_an_error(make: Make) -> None:
    catalog = found(
        make,
        {
            "envs/crawler_env.py": MODULE,
            "recipes/a/crawler_env.train.json": RECIPE,
            "recipes/b/crawler_env.train.json": RECIPE,
        },
    )
    (problem,) = catalog.problems
    assert "recipes/a/crawler_env.train.json" in problem.message
    assert str(problem.path).endswith("recipes/b/crawler_env.train.json")


def test_a_plain_gymnasium_id_with_a_recipe_is_listed(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where nobody has asked Gymnasium yet what it has; a test before this one may have.
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "empty"))
    catalog = found(
        make, {"recipes/gymnasium/Ant-v5.train.json": RECIPE, "recipes/x/gymnasium/ALE__Pong-v5.train.json": RECIPE}
    )
    plain = [each for each in catalog.entries if each.origin == "gymnasium"]
    assert {(each.name, each.env_id) for each in plain} >= {("Ant-v5", "Ant-v5"), ("ALE__Pong-v5", "ALE/Pong-v5")}


def test_the_projects_own_recipe_holds_before_the_shipped_one(make: Make) -> None:
    shipped = next(each for each in discover(shipped_project()).entries if each.module)
    catalog = found(make, {f"recipes/{shipped.file_stem}.train.json": RECIPE})
    (mine,) = [each for each in catalog.entries if each.name == shipped.name]
    assert mine.recipe is not None
    assert mine.recipe.name == f"{shipped.file_stem}.train.json"
    assert mine.training is not None
    assert mine.training.data == RECIPE


def test_a_checkout_is_listed_once() -> None:
    catalog = discover(shipped_project())
    ids = [each.env_id for each in catalog.entries]
    assert len(ids) == len(set(ids))
    assert {each.origin for each in catalog.entries} <= {"workbench", "package", "gymnasium"}


def test_what_comes_with_workbench_is_there_beside_the_projects_own(make: Make) -> None:
    catalog = found(make, {"envs/crawler_env.py": MODULE})
    shipped = [each.name for each in discover(shipped_project()).entries]
    assert [each.name for each in catalog.entries] == ["crawler", *shipped]


def test_an_empty_project_and_none_at_all(project: Project) -> None:
    assert own(discover(project)) == []
    assert own(discover(Project(project.root / "nowhere"))) == []


def test_the_shipped_catalogue() -> None:
    catalog = discover(shipped_project())
    ours = [each for each in catalog.entries if each.origin == "workbench"]
    ids = {each.name: each.env_id for each in ours}
    assert list(ids) == sorted(ids)
    assert ids.items() >= {
        ("ant", "workbench/Ant-v0"),
        ("ant_no_contact", "workbench/AntNoContact-v0"),
        ("cart_pole_actuate_on_pole", "workbench/CartPoleActuateOnPole-v0"),
        ("half_cheetah_full_observation", "workbench/HalfCheetahFullObservation-v0"),
        ("humanoid_standup", "workbench/HumanoidStandup-v0"),
        ("inverted_double_pendulum", "workbench/InvertedDoublePendulum-v0"),
        ("walker2d_never_ends", "workbench/Walker2dNeverEnds-v0"),
    }
    assert [each.name for each in catalog.test_only] == [
        "ant_test_no_dynamics",
        "cart_pole_test_damped_free_pole",
        "half_cheetah_test_no_gravity_no_springs",
    ]
    assert {each.name for each in ours if each.trainable} >= {"ant_no_contact", "cart_pole", "half_cheetah"}
    assert not any(each.problems for each in ours if each.broken)
    assert (catalog.broken, catalog.ignored, catalog.orphans, catalog.problems) == ((), (), (), ())


def test_virtual_environments_of_python_are_not_searched(make: Make) -> None:
    files = {
        "envs/lab/pyvenv.cfg": "",
        "envs/lab/lib/crawler_env.py": MODULE,
        "envs/zipper_env.py": "class ZipperEnv(B): ...",
    }
    assert [each.name for each in own(found(make, files))] == ["zipper"]
