"""What a bad ending is put down to: values as a person would read them off the curves."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.runs.anomalies import in_words
from workbench.runs.diagnosis import Compared, Symptom, diagnose, first_number, first_symptom, last_good, likely_cause

LOSS, RETURN = "train/value_loss", "rollout/ep_rew_mean"


def curve(*values: float) -> tuple[np.ndarray, np.ndarray]:
    """A metric told every 1000 steps."""
    return np.arange(1, len(values) + 1) * 1000.0, np.array(values, dtype=float)


def test_a_healthy_run_has_no_symptom() -> None:
    series = {LOSS: curve(90, 50, 40, 60, 30, 20, 25, 18), RETURN: curve(*range(0, 200, 10))}
    assert first_symptom(series) is None


def test_the_first_of_two_that_went_wrong_is_named() -> None:
    nan = float("nan")
    series = {
        LOSS: curve(1, 1.2, 0.9, 1, 500, 80_000, 4.1e9, nan),
        "train/policy_gradient_loss": curve(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, nan, nan),
    }
    found = first_symptom(series)
    assert found is not None
    assert (found.metric, found.kind, found.steps, found.value, found.before) == (LOSS, "jumped", 5000, 500, 1.0)
    assert found.points_after == 3


def test_what_came_back_was_nothing() -> None:
    nan = float("nan")
    assert first_symptom({LOSS: curve(1, 1, 1, 1, 900, 1, 1, nan, 1, 1)}) is None


def test_a_loss_that_was_never_finite_counts_and_explained_variance_does_not() -> None:
    nan = float("nan")
    assert first_symptom({"train/explained_variance": curve(0.1, nan)}) is None
    found = first_symptom({"train/loss": curve(nan, nan)})
    assert found is not None and found.steps == 1000 and found.before is None


def test_a_return_that_lost_what_it_had_gained_collapsed_where_it_fell() -> None:
    found = first_symptom({RETURN: curve(0, 50, 100, 150, 200, 190, 205, 60, 50, 40)})
    assert found == Symptom(RETURN, "collapsed", 8000, 60, 205, 2)
    assert found.text == "return fell to 60 at 8\u00a0k, from 205"
    assert first_symptom({RETURN: curve(0, 50, 100, 150, 200, 60, 50, 190, 200, 210)}) is None


def test_the_runs_own_watch_counts_where_the_metric_was_not_written() -> None:
    event = {"kind": "anomaly", "what": "not_finite", "term": "train/loss", "steps": 3_309_568}
    found = first_symptom({LOSS: curve(1, 1, 1, 1)}, [event])
    assert found is not None and found.text == "train/loss not finite at 3.31\u00a0M"


@pytest.mark.parametrize(
    ("reason", "words", "said"),
    [
        ("killed, signal 9: Killed", (), "killed"),
        ("killed, signal 11", (), "SIGSEGV"),
        ("killed, signal 15", (), "asked its process to end"),
        ("ended with code 1", ("RuntimeError: CUDA out of memory. Tried to allocate",), "out of memory"),
        ("the disk is full: events.jsonl", (), "the disk is full"),
        ("OSError: [Errno 28] No space left on device", (), "the disk is full"),
        ("its process is gone", (), "without a word"),
        ("pour_cup raised KeyError: 'cup' at pour_cup_env.py:41", (), "environment's own code"),
    ],
)
def test_reasons_from_outside(reason: str, words: tuple[str, ...], said: str) -> None:
    cause = likely_cause(None, reason=reason, words=words)
    assert cause is not None and said in cause.text and not cause.fix


def test_a_layer_is_named_with_the_step_that_the_message_tells() -> None:
    message = "the gradients log_std and 10 more are not finite after 2048 steps"
    event = {"kind": "anomaly", "what": "not_finite", "layer": "log_std", "steps": 0, "message": message}
    found = diagnose({}, anomalies=[event], scores={0: None, 2048: None})
    assert found.symptom is not None and found.symptom.text == "gradients of log_std not finite at 2.05\u00a0k"
    assert found.last_good == 0


def test_what_was_wrong_before_a_kill_is_mended_too() -> None:
    fallen = Symptom(RETURN, "collapsed", 8000, 60, 205, 2)
    cause = likely_cause(fallen, reason="killed, signal 9", settings=[Compared("ppo.learning_rate", "0.5", "0.001")])
    assert cause is not None and "killed it" in cause.text
    assert cause.hint == "Before that: learning_rate 0.5 is 500 × the recipe's 0.001."
    assert cause.fix == {"ppo.learning_rate": "0.001"}


def test_a_setting_far_from_the_recipe_is_blamed_and_mended() -> None:
    settings = [
        Compared("ppo.clip_range", 0.5, 0.2),
        Compared("ppo.learning_rate", 0.01, 0.0003),
        Compared("ppo.gamma", 0.9, 0.99),
    ]
    found = diagnose({}, reason="train/value_loss is nan after 3 steps", settings=settings)
    assert found.cause is not None
    assert found.cause.text == "learning_rate 0.01 is 33 × the recipe's 0.0003"
    assert found.cause.fix == {"ppo.learning_rate": "0.0003", "ppo.clip_range": "0.2"}


def test_a_value_changed_by_hand_is_said_to_be() -> None:
    settings = [Compared("sac.learning_rate", 0.1, "linear:0.001:0", since=5_200_000)]
    cause = likely_cause(Symptom(LOSS, "jumped", 6e6, 1e9, 1.0), settings=settings)
    assert cause is not None and cause.text.endswith("by hand since 5.2\u00a0M")
    assert cause.fix == {"sac.learning_rate": "linear:0.001:0"}


def test_where_nothing_stands_out_a_smaller_step_is_tried() -> None:
    cause = likely_cause(None, reason="loss not finite", settings=[Compared("td3.learning_rate", 0.0003, 0.0003)])
    assert cause is not None and "no setting stands out" in cause.text
    assert cause.fix == {"td3.learning_rate": "0.0001"}


def test_a_reward_term_is_the_environments() -> None:
    events = [{"kind": "anomaly", "what": "not_finite", "term": "ctrl", "steps": 10}]
    found = diagnose(
        {}, reason="ctrl is not finite", anomalies=events, settings=[Compared("ppo.learning_rate", 1, 0.1)]
    )
    assert found.cause is not None and "reward term ctrl" in found.cause.text and not found.cause.fix


def test_an_action_that_is_not_finite_is_the_policys() -> None:
    event = {"kind": "anomaly", "what": "not_finite", "term": "the action cart_force", "steps": 1_015_808}
    rate = Compared("ppo.learning_rate", 0.03, 0.0003)
    found = diagnose(
        {}, reason="cart_pole, copy 0, step 65: the action cart_force is inf", anomalies=[event], settings=[rate]
    )
    assert found.cause is not None and found.cause.text == "learning_rate 0.03 is 100 × the recipe's 0.0003"
    assert found.cause.fix == {"ppo.learning_rate": "0.0003"}


def test_a_failure_nobody_knows_has_no_cause() -> None:
    assert diagnose({}, reason="ValueError: no such file").cause is None


def test_the_checkpoint_to_go_on_from_is_the_newest_from_before() -> None:
    wrong = Symptom(LOSS, "jumped", 3000, 1e9, 1.0)
    assert last_good({0: None, 1000: 5.0, 2000: 9.0, 3000: 1.0}, wrong) == 2000
    assert last_good({0: None, 1000: 5.0, 2000: None}, None) == 2000
    assert last_good({3000: 1.0}, wrong) is None and last_good({}, None) is None


def test_a_checkpoint_that_had_fallen_already_is_passed_over() -> None:
    assert last_good({0: 0.0, 1000: 90.0, 2000: 100.0, 3000: 20.0}, None) == 2000


def test_a_schedule_counts_by_its_beginning() -> None:
    assert first_number("linear:0.003:0") == 0.003 and first_number(0.1) == 0.1
    assert first_number("auto") is None and first_number(True) is None


def test_what_the_watch_found_is_told_with_its_value() -> None:
    term = "the observation place"
    large = {"kind": "anomaly", "what": "observation_explosion", "term": term, "steps": 4000, "value": -2e6}
    found = diagnose({}, reason="beyond observation_limit", anomalies=[large], settings=[Compared("ppo.gamma", 1, 1)])
    assert found.symptom is not None
    assert found.symptom.text == "the observation place \u22122\u00a0000\u00a0000 at 4\u00a0k"
    assert found.cause is not None
    assert found.cause.text.startswith("the observation place of the environment is beyond anomaly_watch.observation")
    fallen = {"kind": "anomaly", "what": "reward_collapse", "steps": 9000, "value": 40.0, "baseline": 205.0}
    symptom = first_symptom({}, [fallen])
    assert symptom == Symptom(RETURN, "collapsed", 9000, 40, 205)
    lost = {"kind": "anomaly", "what": "non_finite_reward", "term": "the reward term lift", "steps": 1, "value": "nan"}
    cause = likely_cause(first_symptom({}, [lost]), reason="lift is nan", anomalies=[lost])
    assert cause is not None and cause.text.startswith("the reward term lift of the environment is not finite")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"what": "observation_explosion", "message": "it is large."}, "observation explosion: it is large"),
        ({"what": "evaluation_failed", "message": "no"}, "no"),
        ({"what": "reward_collapse"}, "reward_collapse"),
        ({}, "anomaly"),
    ],
)
def test_anomalies_in_words(event: dict[str, str], said: str) -> None:
    assert in_words(event) == said
