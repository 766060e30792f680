import dataclasses
from pathlib import Path

import pytest

from tests.runs.rows import a_row
from workbench.errors import RequestError, WorkbenchError
from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.filter_fields import EXAMPLES, FIELDS, read_quantity
from workbench.runs.filtering import Filter, FilterError, filter_help
from workbench.runs.states import RunState
from workbench.runs.store import RunStore

DAY = 86400.0

ANT = a_row(
    "7f3a", tags=("baseline",), note="with friction", last_return=1402.0, smoothed_return=1391.0, best=(1688.0, 74.0),
    steps=9_150_000, steps_per_s=9800.0, progress=0.61, eta_s=600.0, age_s=934.0, anomalies=1,
    values={"ppo.learning_rate": 0.001, "eval/mean_return": 1512.0, "keep_last": None, "device": "auto"},
)  # fmt: skip
CHEETAH = a_row(
    "b19e", "half_cheetah", algorithm="sac", last_return=6180.0, steps=521_000, progress=0.52, age_s=2 * DAY, seed=2,
    parent="half_cheetah_20261127-090000_40ac:180000",
)  # fmt: skip
FAILED = a_row(
    "2b60", "half_cheetah", state=RunState.FAILED, reason="loss not finite", tags=("lr-1e-2", "junk"),
    last_return=118.0, progress=0.05, age_s=3060.0, values={"ppo.learning_rate": 0.01}, host="other",
)  # fmt: skip
QUEUED = a_row("63f1", "half_cheetah", algorithm="td3", state=RunState.QUEUED, seed=None, total_steps=0)
ROWS = {"ant": ANT, "cheetah": CHEETAH, "failed": FAILED, "queued": QUEUED}


def found(text: str) -> set[str]:
    chosen = Filter.parse(text)
    return {name for name, row in ROWS.items() if chosen.matches(row)}


EVERY = set(ROWS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", EVERY),
        ("  ", EVERY),
        # Bare words: environment, id, tags and note.
        ("cheetah", {"cheetah", "failed", "queued"}),
        ("HalfCheetah-v0", {"cheetah", "failed", "queued"}),
        ("7F3A", {"ant"}),
        ("BASELINE", {"ant"}),
        ("friction", {"ant"}),
        ("'with friction'", {"ant"}),
        ("'h friction b'", set()),
        ("/^half.*_b19e$/", {"cheetah"}),
        ("a*contact", {"ant"}),
        ("finite", set()),
        # Fields with patterns: the whole of it.
        ("env:half", set()),
        ("env:half_*", {"cheetah", "failed", "queued"}),
        ("env=workbench/antnocontact-v0", {"ant"}),
        ("algo:sac", {"cheetah"}),
        ("algorithm!=ppo", {"cheetah", "queued"}),
        ("tag:base*", {"ant"}),
        ("tag!=junk", {"ant", "cheetah", "queued"}),
        ("id:/^7f|^b1/", {"ant", "cheetah"}),
        ("id:2b60", {"failed"}),
        ("seed:1", {"ant", "failed"}),
        ("note:*friction", {"ant"}),
        ('note:"with friction"', {"ant"}),
        ("host:other", {"failed"}),
        ("parent:40ac", {"cheetah"}),
        ("parent:half_cheetah_*", {"cheetah"}),
        ("reason:/not finite/", {"failed"}),
        ("state:live", {"ant", "cheetah"}),
        ("state:ended", {"failed"}),
        ("state:bad", {"failed"}),
        ("state!=live", {"failed", "queued"}),
        ("state:queued", {"queued"}),
        ("state:run*", {"ant", "cheetah"}),
        # Comparisons and their units.
        ("return>5k", {"cheetah"}),
        ("return > 5k", {"cheetah"}),
        ("return>=1_402", {"ant", "cheetah"}),
        ("return<=118", {"failed"}),
        ("return=1402", {"ant"}),
        ("return:1402", {"ant"}),
        ("return:1*", {"ant", "failed"}),
        ("~return>1390 ~return<1392", {"ant"}),
        ("best>=1688", {"ant"}),
        ("steps>9M", {"ant"}),
        ("steps>=0.521M", {"ant", "cheetah"}),
        ("speed>9.7k", {"ant"}),
        ("progress<10%", {"failed"}),
        ("progress<0.1", {"failed"}),
        ("progress>=61", {"ant"}),
        ("age<16m", {"ant", "queued"}),
        ("age>=2d", {"cheetah"}),
        ("age>50m30s age<1h", {"failed"}),
        ("eta<=10m", {"ant"}),
        ("seed>=2", {"cheetah"}),
        ("anomalies>0", {"ant"}),
        # Spec and metrics.
        ("ppo.learning_rate>=0.001", {"ant", "failed"}),
        ("ppo.learning_rate=1e-3", {"ant"}),
        ("device:auto", {"ant"}),
        ("keep_last:none", {"ant"}),
        ("eval/mean_return>1.5k", {"ant"}),
        ('"eval/mean_return">1.5k', {"ant"}),
        # What runs have.
        ("has:note", {"ant"}),
        ("has:tag", {"ant", "failed"}),
        ("has:best", {"ant"}),
        ("has:parent", {"cheetah"}),
        ("has:seed", {"ant", "cheetah", "failed"}),
        ("has:anomalies", {"ant"}),
        ("has:eval/mean_return", {"ant"}),
        ("has:keep_last", set()),
        # Joined.
        ("cheetah -state:bad", {"cheetah", "queued"}),
        ("not state:bad cheetah", {"cheetah", "queued"}),
        ("not not state:bad", {"failed"}),
        ("ant or cheetah algo:sac", {"cheetah"}),
        ("ant or (cheetah algo:sac)", {"ant", "cheetah"}),
        ("algo:td3 or algo:sac or state:bad", {"cheetah", "failed", "queued"}),
        ("-(algo:td3 or algo:sac)", {"ant", "failed"}),
        ("state:live and algo:sac", {"cheetah"}),
        ("'or' -'not'", EVERY),
        ("note:(old)", set()),
    ],
)
def test_a_filter_finds(text: str, expected: set[str]) -> None:
    assert found(text) == expected


def test_what_is_not_known_meets_no_comparison_and_every_one_turned_round() -> None:
    for asked in ("=", "!=", "<", "<=", ">", ">="):
        assert "queued" not in found(f"return{asked}0")
        assert "queued" in found(f"-return{asked}0")
        assert "queued" not in found(f"eval/mean_return{asked}0")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_not_known(value: float) -> None:
    row = dataclasses.replace(ANT, last_return=value)
    assert not Filter.parse("return>0").matches(row)
    assert not Filter.parse("return<=0").matches(row)


@pytest.mark.parametrize(
    ("text", "bad", "says", "nearest"),
    [
        ("ant stat:live", "stat", "`stat` is not a field", "state"),
        ("return>1 ppo.learning_rat>0.1", "ppo.learning_rat", "is not a field", "ppo.learning_rate"),
        ("zzzzzz:1", "zzzzzz", "is not a field", None),
        ("has:nots", "nots", "`nots` is not a field", "note"),
        ("state:runing", "state:runing", "`runing` is not a state", "running"),
        ("state>live", "state>live", "a state has no >", None),
        ("env>ant", "env>ant", "env is text", None),
        ("return>lots", "return>lots", "return takes a number", None),
        ("return>5m x", "return>5m", "return takes a number", "5M"),
        ("age<5k", "age<5k", "age takes a time", None),
        ("progress<5s", "progress<5s", "progress takes a share", None),
        ("return=inf", "return=inf", "return takes a number", None),
        ("ppo.gamma>high", "ppo.gamma>high", "takes a number", None),
        ("return>", "return>", "needs a value", None),
        ("note: x", "note:", "needs a value", None),
        (">5k", ">5k", "needs a field before it", None),
        ('ant "open', '"open', "has no end", None),
        ("id:/[/", "/[/", "no regular expression", None),
        ("id:/abc", "id:/abc", "no slash at its end", None),
        ('note:"a"b', 'note:"a"b', "goes on where its value has ended", None),
        ("or ant", "or", "needs a term before it", None),
        ("ant or", "or", "needs a term after it", None),
        ("ant or or x", "or", "needs a term", None),
        ("ant not", "not", "needs a term after it", None),
        ("- ant", "-", "needs a term after it", None),
        ("(ant", "(ant", "has no `)`", None),
        ("ant)or", None, "", None),
        ("(ant) )", ")", "without its", None),
        ("()", "()", "nothing between", None),
        ("(" * 200 + "a", None, "nested too deeply", None),
    ],
)
def test_a_bad_term_is_named_with_its_place(text: str, bad: str | None, says: str, nearest: str | None) -> None:
    if not says:
        Filter.parse(text)  # Without an open one a parenthesis is a sign like any other.
        return
    with pytest.raises(FilterError) as caught:
        Filter.parse(text)
    error = caught.value
    assert says in error.message
    if bad is not None:
        assert text[error.start : error.end] == bad
    assert error.nearest == nearest
    if nearest:
        assert nearest in str(error)
    assert isinstance(error, RequestError)
    assert isinstance(error, WorkbenchError)
    assert error.exit_code == 2


def test_a_filter_says_what_it_needs_beyond_the_row() -> None:
    chosen = Filter.parse("state:live ppo.gamma>0.9 or has:eval/mean_return learning_rate<1 -return>5")
    assert chosen.needs == {"ppo.gamma", "eval/mean_return", "learning_rate"}
    assert Filter.parse("state:live return>5").needs == frozenset()
    assert not Filter()
    assert Filter().matches(ANT)


def test_rows_are_read_with_the_spec_and_metrics_that_are_asked_for(tmp_path: Path) -> None:
    spec = {"algorithm": "sac", "sac": {"gamma": 0.98}, "ppo": {"gamma": 0.5}, "n_envs": 4}
    run = RunDirectory.create(tmp_path, "sac", "ant", files={"run.json": {"spec": spec}})
    with EventWriter(run.events_path) as writer:
        writer.append("metrics", steps=1, values={"train/kl": 0.25, "rollout/ep_rew_mean": 3.0})
        writer.append("set", steps=1, values={"n_envs": 8})
        writer.append("metrics", steps=2, values={"train/kl": 0.5})
        writer.append("evaluation", steps=2, mean_return=7.0)
    store = RunStore(tmp_path)
    assert store.list()[0].values == {}
    [row] = store.list({"gamma", "sac.gamma", "ppo.gamma", "n_envs", "train/kl", "eval/mean_return", "train/no"})
    assert row.values == {"gamma": 0.98, "sac.gamma": 0.98, "n_envs": 8, "train/kl": 0.5, "eval/mean_return": 7.0}
    for text, is_met in (("gamma<0.99", True), ("ppo.gamma<0.99", False), ("n_envs=8 train/kl>0.4", True)):
        chosen = Filter.parse(text)
        [row] = store.list(chosen.needs)
        assert chosen.matches(row) is is_met, text
    # Beyond where it was resumed nothing is known.
    with EventWriter(run.events_path) as writer:
        writer.append("resumed", from_steps=1, steps=1)
    [row] = store.list({"train/kl", "rollout/ep_rew_mean"})
    assert row.values == {"rollout/ep_rew_mean": 3.0}


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("5k", "number", 5000.0),
        ("1.5M", "number", 1.5e6),
        ("-0.42", "number", -0.42),
        ("−3", "number", -3.0),
        (".5", "number", 0.5),
        ("3e-4", "number", 3e-4),
        ("5m", "number", None),
        ("1e999", "number", None),
        ("10%", "share", 0.1),
        ("10", "share", 0.1),
        ("1", "share", 1.0),
        ("2h30m", "span", 9000.0),
        ("90", "span", 90.0),
        ("1.5d", "span", 129600.0),
        ("10k", "span", None),
        ("10%", "any", 0.1),
        ("15m", "any", 900.0),
        ("", "any", None),
        ("k", "number", None),
    ],
)
def test_quantities(text: str, kind: str, expected: float | None) -> None:
    value = read_quantity(text, kind)  # type: ignore[arg-type]
    assert value == (None if expected is None else pytest.approx(expected, rel=1e-12))


def test_the_help_tells_every_field_and_its_examples_can_be_read() -> None:
    page = filter_help()
    for item in FIELDS:
        assert item.name in page
        assert item.help in page
    for text, _ in EXAMPLES:
        assert text in page
        Filter.parse(text)


def test_any_text_is_read_or_refused_with_a_place_in_it() -> None:
    import random

    draw = random.Random(7)
    signs = [*"\"'()-/:<=!~\\ ", "or", "not", "state", "live", "return", "5k"]
    for _ in range(4000):
        text = "".join(draw.choice(signs) for _ in range(draw.randrange(9)))
        try:
            Filter.parse(text).matches(ANT)
        except FilterError as error:
            assert 0 <= error.start <= error.end <= len(text), text
