"""TorchScript and ONNX files, against their own runtimes."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.policies.opening.conftest import observations
from workbench import load_policy
from workbench.errors import CheckpointError, RequestError
from workbench.policies.opening.inert import NeedsTrustError
from workbench.policies.opening.programs import open_torchscript
from workbench.simulation import EnvSource

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")

PENDULUM = EnvSource("InvertedPendulum-v5", "InvertedPendulum-v5")
CART = EnvSource("CartPole-v1", "CartPole-v1")
LOW, HIGH = -3.0, 3.0


class Head(torch.nn.Module):
    """A policy of four numbers, which branches so that it must be scripted."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, outputs))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        outputs: torch.Tensor = self.layers(rows)
        return outputs * 8 if bool(rows.sum() > 0) else outputs * 5


def scripted(path: Path, outputs: int = 1) -> Any:
    module = torch.jit.script(Head(outputs))
    module.save(str(path))
    return module


def each(module: Any, rows: Any) -> Any:
    with torch.no_grad():
        return np.concatenate([module(torch.as_tensor(rows[index : index + 1])).numpy() for index in range(len(rows))])


def write_onnx(path: Path, outputs: int = 1, *, inputs: int = 1, width: int = 4) -> Path:
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper, float_type = onnx.helper, onnx.numpy_helper, onnx.TensorProto.FLOAT
    rng = np.random.default_rng(3)
    weights = {
        "w0": rng.normal(0, 0.5, (width, 16)),
        "b0": rng.normal(0, 0.5, 16),
        "w1": rng.normal(0, 2, (16, outputs)),
        "b1": np.zeros(outputs),
    }
    nodes = [
        helper.make_node("Gemm", ["rows", "w0", "b0"], ["h"]),
        helper.make_node("Tanh", ["h"], ["t"]),
        helper.make_node("Gemm", ["t", "w1", "b1"], ["value", "action"][1:]),
    ]
    given = [helper.make_tensor_value_info("rows", float_type, ["n", width])]
    given += [helper.make_tensor_value_info(f"state{index}", float_type, ["n", 3]) for index in range(1, inputs)]
    graph = helper.make_graph(
        nodes,
        "policy",
        given,
        [helper.make_tensor_value_info("action", float_type, ["n", outputs])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def test_torchscript_acts_as_torch_runs_it(tmp_path: Path) -> None:
    module = scripted(tmp_path / "policy.pt")
    rows = observations(size=4)
    actor = load_policy(tmp_path / "policy.pt", environment=PENDULUM)
    wanted = np.clip(each(module, rows), LOW, HIGH)
    assert (np.abs(wanted) < HIGH).sum() > 100
    np.testing.assert_allclose(actor.act(rows), wanted, rtol=0, atol=1e-6)
    assert actor.description.kind == "torchscript"


def test_the_highest_of_several_numbers_is_the_choice(tmp_path: Path) -> None:
    module = scripted(tmp_path / "policy.pt", outputs=2)
    rows = observations(size=4)
    actor = load_policy(tmp_path / "policy.pt", environment=CART)
    np.testing.assert_array_equal(actor.act(rows), each(module, rows).argmax(axis=1))


def test_onnx_acts_as_its_runtime_does(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    path = write_onnx(tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    rows = observations(size=4)
    (wanted,) = session.run(None, {"rows": rows})
    actor = load_policy(path, environment=PENDULUM)
    np.testing.assert_allclose(actor.act(rows), np.clip(wanted, LOW, HIGH), rtol=1e-6, atol=1e-6)
    assert np.ptp(wanted) > 1


def test_a_program_needs_an_environment_to_be_named(tmp_path: Path) -> None:
    scripted(tmp_path / "policy.pt")
    with pytest.raises(RequestError, match="does not say") as caught:
        load_policy(tmp_path / "policy.pt")
    assert "--env" in caught.value.hint


def test_a_program_gives_one_action_and_no_samples(tmp_path: Path) -> None:
    scripted(tmp_path / "policy.pt")
    with pytest.raises(RequestError, match="nothing to sample from"):
        load_policy(tmp_path / "policy.pt", environment=PENDULUM, stochastic=True)


@pytest.mark.parametrize(
    ("outputs", "environment", "said"),
    [(2, PENDULUM, r"output of shape \(1, 2\).*shape \(1,\)"), (3, CART, r"output of shape \(1, 3\).*2 choices")],
)
def test_an_output_that_is_no_action_is_told_with_both_shapes(
    outputs: int, environment: EnvSource, said: str, tmp_path: Path
) -> None:
    scripted(tmp_path / "policy.pt", outputs=outputs)
    with pytest.raises(CheckpointError, match=said):
        load_policy(tmp_path / "policy.pt", environment=environment).act(observations(1, 4))


def test_observations_that_a_program_cannot_read_are_told(tmp_path: Path) -> None:
    scripted(tmp_path / "policy.pt")
    actor = load_policy(tmp_path / "policy.pt", environment=PENDULUM)
    with pytest.raises(CheckpointError, match=r"shape \(7,\)"):
        actor.act(observations(1, 7))


def test_onnx_for_other_observations_or_with_a_memory_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(CheckpointError, match=r"reads 6 numbers.*\(4,\)"):
        load_policy(write_onnx(tmp_path / "wide.onnx", width=6), environment=PENDULUM)
    with pytest.raises(CheckpointError, match=r"takes 2 inputs.*state1"):
        load_policy(write_onnx(tmp_path / "memory.onnx", inputs=2), environment=PENDULUM)


def test_of_many_observations_the_first_are_named(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(CheckpointError, match=r"reads 4 numbers.*\(105,\) \(z, quat_w, .*, …\)") as caught:
        load_policy(write_onnx(tmp_path / "small.onnx"), environment="ant")
    assert len(caught.value.message) < 400


class Writing(torch.nn.Module):
    """A program that opens a file when it acts."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return rows[:, :1] + torch.from_file(self.path, True, 1)


def test_a_program_that_opens_files_is_refused_unless_it_is_trusted(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    torch.jit.script(Writing(str(marker))).save(str(tmp_path / "policy.pt"))
    with pytest.raises(CheckpointError, match="from_file") as caught:
        load_policy(tmp_path / "policy.pt", environment=PENDULUM)
    assert "--trust" in caught.value.hint
    assert not marker.exists()
    load_policy(tmp_path / "policy.pt", environment=PENDULUM, trust=True).act(observations(1, 4))
    assert marker.exists()


def rewritten(path: Path, line: str, *, code: str = "code") -> Path:
    """Write a program that torch made, with a line of TorchScript put before what it returns."""
    torch.jit.script(torch.nn.Tanh()).save(str(path.with_suffix(".whole")))
    with zipfile.ZipFile(path.with_suffix(".whole")) as whole, zipfile.ZipFile(path, "w") as made:
        for part in whole.infolist():
            content = whole.read(part)
            if part.filename.endswith(".py"):
                content = content.replace(b"    return ", f"    {line}\n    return ".encode())
            if not part.filename.endswith(".debug_pkl"):
                made.writestr(part.filename.replace("/code/", f"/{code}/"), content)
    return path


@pytest.mark.parametrize(
    "line",
    [
        'torch . save(input, "MARKER")',
        'torch.\\\n    save(input, "MARKER")',
        't = torch\n    t.save(input, "MARKER")',
        'getattr(torch, "save")(input, "MARKER")',
        'getattr(torch, "sa" "ve")(input, "MARKER")',
        'getattr(torch, "\\163ave")(input, "MARKER")',
        'ops . aten . save(input, "MARKER")',
        'o = ops.aten\n    o.save(input, "MARKER")',
    ],
)
def test_a_program_that_writes_its_operators_otherwise_is_refused_too(line: str, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    path = rewritten(tmp_path / "policy.pt", line.replace("MARKER", str(marker)))
    with pytest.raises(NeedsTrustError, match="can do more than compute"):
        open_torchscript(path, trust=False)
    # Torch takes it for what it is: trusted it does write the file.
    open_torchscript(path, trust=True)(np.zeros((1, 2), np.float32))
    assert marker.exists()


@pytest.mark.parametrize(
    "line", ["x = ops.mkldnn._linear_pointwise", "x = __torch__.torch.classes.profiling.SourceRef"]
)
def test_operators_and_classes_of_other_libraries_are_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(NeedsTrustError, match="can do more than compute"):
        open_torchscript(rewritten(tmp_path / "policy.pt", line), trust=False)


def test_code_that_is_named_in_capitals_is_searched_too(tmp_path: Path) -> None:
    path = rewritten(tmp_path / "policy.pt", f'torch.save(input, "{tmp_path}/ran")', code="CODE")
    with pytest.raises(NeedsTrustError, match="save"):
        open_torchscript(path, trust=False)


def test_what_is_searched_is_what_torch_runs_and_not_what_zipfile_sees(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    bad = rewritten(tmp_path / "bad.pt", f'torch.save(input, "{marker}")').read_bytes()
    harmless = rewritten(tmp_path / "harmless.pt", "x = 1").read_bytes()
    # A second directory of contents lies before the end: Python takes that, and torch the one that the end points at.
    path = tmp_path / "policy.pt"
    end, start = len(bad) - 22, len(harmless) - 22
    size, offset = struct.unpack("<II", harmless[start + 12 : start + 20])
    own = struct.unpack("<I", bad[end + 16 : end + 20])[0]
    padding = bad[own:end].ljust(max(size, end - own), b"\0")
    path.write_bytes(bad[:own] + padding + harmless[offset:start] + bad[end:])
    with pytest.raises(CheckpointError):
        open_torchscript(path, trust=False)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("policy.onnx", b"not a model", "cannot be read as ONNX"),
        ("policy.pt", b"not a program", "holds no program"),
        ("policy.bin", b"anything", "no policy that can be opened"),
    ],
)
def test_a_file_that_is_none_is_one_clear_error(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=said):
        load_policy(tmp_path / name, environment=PENDULUM)


def test_weights_without_a_program_are_told_as_such(tmp_path: Path) -> None:
    torch.save(Head(1).state_dict(), tmp_path / "policy.pt")
    with pytest.raises(CheckpointError, match="holds no program"):
        load_policy(tmp_path / "policy.pt", environment=PENDULUM)


def test_a_torn_program_is_one_clear_error(tmp_path: Path) -> None:
    scripted(tmp_path / "whole.pt")
    (tmp_path / "policy.pt").write_bytes((tmp_path / "whole.pt").read_bytes()[:-200])
    with pytest.raises(CheckpointError):
        load_policy(tmp_path / "policy.pt", environment=PENDULUM)
