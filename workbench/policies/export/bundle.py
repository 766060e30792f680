"""An export from beginning to end: the program, its proof, and the folder, which is there whole or not at all."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from workbench import durable
from workbench.errors import RequestError, WorkFailedError
from workbench.policies.actor import PolicyActor
from workbench.policies.environments import facts_in
from workbench.policies.export import texts, verify
from workbench.policies.export.formats import BUILT_WITH, FORMATS, NEEDS, Format, program_name
from workbench.policies.export.golden import Golden, look, make_golden
from workbench.policies.export.manifest import describe_policy, tolerance
from workbench.policies.export.parts import Parts
from workbench.policies.fitting import require_fit
from workbench.policies.loading import load_policy
from workbench.project import Project, open_project
from workbench.runs.lineage import run_of
from workbench.suggest import nearest_one

FOLDER = "exports"
"""Where in a project exports go that nobody names a folder for."""
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Exported:
    """A policy that was exported, and checked."""

    folder: Path
    """Where it is."""
    format: Format
    files: tuple[str, ...]
    """Names of everything in the folder."""
    max_difference: float
    """Largest difference between the program's actions and the policy's own over the golden vectors."""
    manifest: dict[str, Any]
    """What `manifest.json` says."""

    @property
    def program(self) -> Path:
        """The file that is run: `policy.onnx`, `policy.pt` or `model.zip`."""
        return self.folder / str(self.manifest["programs"][0]["file"])


def export(
    reference: str | Path,
    format: Format | str = "onnx",
    *,
    output: Path | str | None = None,
    environment: str | None = None,
    sampling: bool = False,
    force: bool = False,
    project: Project | None = None,
) -> Exported:
    """Write a policy into a folder from which it runs without workbench, and return what was written.

    Normaliser and action map are inside the program. It is run on golden vectors before the folder is there; where an
    action is further from the policy's own than 1e-4 (of half its range, where that is below one), nothing is left.

    Args:
        reference: A checkpoint, a run directory, or whatever else names a policy.
        format: `onnx`, `torchscript` or `sb3`.
        output: The folder; `exports/<environment>_<run>_<steps>_<format>` of the project by default.
        environment: The one whose facts and observations go along, where the policy does not say; by name or ID.
        sampling: Add a program that takes noise too and gives samples.
        force: Replace a folder that holds an earlier export.
        project: Where references are looked up; the current one by default.

    Raises:
        NotFoundError: The reference or the environment names nothing.
        CheckpointError: The checkpoint is not whole, or does not fit the environment that was named.
        RequestError: There is no such format, the policy cannot be written in it, a library is not installed, or the
            folder is taken.
        WorkFailedError: The program acts otherwise than the policy, or the folder cannot be written.
    """
    project = project or open_project()
    kind = _check_format(format)
    actor = load_policy(reference, environment=environment, project=project)
    if not isinstance(actor, PolicyActor):
        raise RequestError(f"{reference} is no perceptron whose layers are known: it cannot be written otherwise.")
    if environment is not None:
        _require_home(actor)
    parts = Parts(actor.checkpoint)
    if sampling and kind == "sb3":
        raise RequestError("--sampling adds a program, and Stable-Baselines3's model samples by itself.")
    if sampling and parts.noise is None:
        name = parts.record.algorithm.upper()
        raise RequestError(f"{name}'s policy has no distribution to sample from.", hint="Leave --sampling out.")
    folder = (_default_folder(actor, kind, project) if output is None else Path(output)).expanduser().absolute()
    _clear_away(folder)
    _require_free(folder, force=force)
    try:
        with _aside(folder) as aside:
            manifest = _fill(aside, actor, parts, kind, sampling=sampling)
            durable.replace_directory(aside, folder)
    except OSError as error:
        raise WorkFailedError(
            f"{folder} cannot be written: {error.strerror or error}.", hint="Free some space, or name another with -o."
        ) from error
    files = tuple(sorted([*manifest["files"], MANIFEST]))
    return Exported(folder, kind, files, manifest["export"]["max_difference"], manifest)


def _fill(aside: Path, actor: PolicyActor, parts: Parts, kind: Format, *, sampling: bool) -> dict[str, Any]:
    """Write everything into a folder, check it, and return its manifest."""
    around = look(actor)
    golden = make_golden(actor, parts, around, sampling=sampling)
    vectors = io.BytesIO()
    np.savez(vectors, **golden.arrays)  # type: ignore[arg-type]
    (aside / "golden.npz").write_bytes(vectors.getvalue())
    document = describe_policy(
        parts,
        around,
        golden,
        checkpoint=actor.checkpoint.path,
        libraries=(*NEEDS[kind], *BUILT_WITH[kind]),
    )
    notes = [f"golden vectors: {golden.source}"]
    made = _write_programs(aside, actor, parts, kind, sampling=sampling, notes=notes)
    document["export"] = {"format": kind, "normalizer_file": None, **made, "notes": notes}
    document["programs"] = _programs(parts, golden, kind)
    noise = parts.noise
    document["sampling"] = (
        {"shape": ["batch", *noise.shape], "distribution": noise.distribution, "drawn": noise.drawn}
        if sampling and noise is not None
        else "not exported"
    )
    document["export"]["max_difference"] = _check(aside, document)
    shutil.copyfile(verify.__file__, aside / "verify.py")
    (aside / "requirements.txt").write_text(texts.requirements(NEEDS[kind], document["versions"]["exported_with"]))
    document["files"] = _digests(aside)
    (aside / "README.md").write_text(texts.readme(document), encoding="utf-8")
    document["files"] = _digests(aside)
    (aside / MANIFEST).write_bytes(durable.to_json(document, indent=2) + b"\n")
    return document


def _write_programs(
    aside: Path, actor: PolicyActor, parts: Parts, kind: Format, *, sampling: bool, notes: list[str]
) -> dict[str, Any]:
    """Write the programs, and return what the manifest says of how they were made."""
    heads = [False, True] if sampling else [False]
    if kind == "onnx":
        from workbench.policies.export.onnx_graph import IR_VERSION, OPSET, onnx_bytes

        record, source = parts.record, actor.description.environment
        about = {
            "algorithm": record.algorithm,
            "environment": "" if source is None else source.env_id,
            "steps": str(record.steps),
            "weights_sha256": record.weights_sha256,
        }
        for head in heads:
            (aside / program_name(kind, sampling=head)).write_bytes(onnx_bytes(parts, sampling=head, about=about))
        return {"opset": OPSET, "ir_version": IR_VERSION}
    if kind == "torchscript":
        from workbench.policies.export.torchscript import torchscript_bytes

        for head in heads:
            (aside / program_name(kind, sampling=head)).write_bytes(torchscript_bytes(parts, sampling=head))
        return {}
    from workbench.policies.export.sb3_model import NORMALIZER, write_model

    notes += write_model(actor.checkpoint, parts, aside)
    return {"normalizer_file": NORMALIZER if parts.normalizer is not None else None}


def _programs(parts: Parts, golden: Golden, kind: Format) -> list[dict[str, Any]]:
    observation = {"name": "observation", "golden": "observation"}
    programs = [
        {
            "file": program_name(kind),
            "inputs": [observation],
            "output": {"name": "action", "golden": "action"},
            "tolerance": tolerance(parts, golden.arrays["action"]),
        }
    ]
    if "noise" in golden.arrays:
        programs.append(
            {
                "file": program_name(kind, sampling=True),
                "inputs": [observation, {"name": "noise", "golden": "noise"}],
                "output": {"name": "action", "golden": "sampled_action"},
                "tolerance": tolerance(parts, golden.arrays["sampled_action"]),
            }
        )
    return programs


def _check(aside: Path, document: dict[str, Any]) -> float:
    """Run the programs as they lie on disk, by the code that goes along with them, and return the largest difference.

    Raises:
        WorkFailedError: One cannot be run, or acts otherwise than the policy.
    """
    largest = 0.0
    for program in document["programs"]:
        try:
            apart = verify.differences(aside, document, program)
        except Exception as error:
            # Whatever a runtime raises: it does not take the program.
            raise WorkFailedError(f"{program['file']} cannot be run: {error} Nothing was written.") from error
        if not verify.is_within(apart, program["tolerance"]):
            row, element = np.unravel_index(np.argmax(np.nan_to_num(apart, nan=np.inf)), apart.shape)
            raise WorkFailedError(
                f"{program['file']} acts otherwise than the policy: by {apart[row, element]:.3g} in element {element} "
                f"of golden vector {row}, where {program['tolerance'][element]:.3g} is allowed. Nothing was written."
            )
        largest = max(largest, float(apart.max()))
    return largest


def _check_format(text: str) -> Format:
    known = next((name for name in FORMATS if name == text), None)
    if known is None:
        near = nearest_one(text, FORMATS)
        hint = f"Did you mean {near}?" if near else ""
        raise RequestError(f"there is no format `{text}`; there are {', '.join(FORMATS)}.", hint=hint)
    missing = [name for name in (*NEEDS[known], *BUILT_WITH[known]) if find_spec(name.replace("-", "_")) is None]
    if missing:
        raise RequestError(
            f"{known} needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed.",
            hint=f"pip install {' '.join(missing)}",
        )
    return known


def _require_home(actor: PolicyActor) -> None:
    """See to it that the environment that was named is one in which the policy acts as it did where it was trained."""
    source = actor.description.environment
    assert source is not None, "it was named"
    require_fit(actor.description, facts_in(source), actor.description.called)


def _default_folder(actor: PolicyActor, kind: Format, project: Project) -> Path:
    record, run, source = actor.record, run_of(actor.checkpoint.path), actor.description.environment
    name = (actor.checkpoint.path.stem if source is None else source.name).replace("/", "__")
    parts = [name, *([] if run is None else [run.short_id]), str(record.steps), kind]
    return project.root / FOLDER / "_".join(parts)


def _require_free(folder: Path, *, force: bool) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not folder.is_dir():
        raise RequestError(f"{folder} is a file.", hint="Name a folder with -o.")
    if not _is_export(folder):
        # Whatever else lies there is somebody's; --force is not for that.
        raise RequestError(f"{folder} holds something other than an export.", hint="Name another folder with -o.")
    if not force:
        raise RequestError(f"{folder} holds an export already.", hint="--force replaces it, -o names another folder.")


def _is_export(folder: Path) -> bool:
    return {"export", "programs"} <= durable.read_document(folder / MANIFEST).keys()


def _clear_away(folder: Path) -> None:
    """Remove what killed exports left beside a folder, and put back what one had moved out of its way."""
    for left in folder.parent.glob(f".{escape(folder.name)}.*.*"):
        owner, kind = left.name.split(".")[-2:]
        if not owner.isdigit() or psutil.pid_exists(int(owner)) or kind not in ("part", "old"):
            continue
        if kind == "old" and not folder.exists():
            left.rename(folder)
        else:
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """Make a hidden folder beside the one that is to be."""
    durable.make_folder(folder.parent)
    aside = folder.parent / f".{folder.name}.{os.getpid()}.part"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _digests(aside: Path) -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted(aside.iterdir()):
        content = path.read_bytes()
        found[path.name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    return found
