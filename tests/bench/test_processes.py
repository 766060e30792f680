"""What processes cost."""

from __future__ import annotations

import resource
import sys

import pytest

from workbench.bench import processes
from workbench.errors import WorkFailedError

HELD = "held = bytearray(60_000_000); print(len(held))"


def test_the_peak_is_that_of_the_process_and_not_of_its_parent() -> None:
    mine = bytearray(300_000_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 > len(mine) / 1e6
    assert 60 < processes._peak_megabytes([sys.executable, "-c", HELD]) < 150


def test_a_process_that_fails_gives_its_last_words() -> None:
    with pytest.raises(WorkFailedError, match="ended with 3: no memory today"):
        processes._peak_megabytes([sys.executable, "-c", "import sys; print('no memory today'); sys.exit(3)"])


@pytest.mark.slow
def test_a_policy_acts_without_torch_soon_after_its_process_starts() -> None:
    figure = processes.measure_policy_start(1)
    assert figure.value is not None and 0 < figure.value < 10
    assert figure.at_most and figure.value_unit == "s"
