"""What lies in a `.zip` of Stable-Baselines3: settings as JSON with pickled parts, and weights; one part at a time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import re
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import CheckpointError
from workbench.policies.checkpoint import Tensors
from workbench.policies.opening.inert import names_in, plain, read_pickle

_DATA, _WEIGHTS, _VERSION, _SYSTEM = "data", "policy.pth", "_stable_baselines3_version", "system_info.txt"
_LARGEST_SETTINGS = 256 * 2**20
_LARGEST_WEIGHTS = 4 * 2**30
_SERIALIZED = ":serialized:"
_SYSTEM_LINE = re.compile(r"^\W*(?P<name>[A-Za-z][\w -]*?):\s*(?P<version>[0-9][\w.+-]*)", re.MULTILINE)
_REFUSED_BY_TORCH = "Weights only load failed"
_NAMED_IN_WEIGHTS = re.compile(r"GLOBAL ([\w.]+)")
_LIBRARIES = {
    "Python": "python",
    "PyTorch": "torch",
    "Numpy": "numpy",
    "Gym": "gym",
    "OpenAI Gym": "gym",
    "Gymnasium": "gymnasium",
}


class Archive:
    """A file that Stable-Baselines3 saved; opened at once, its parts when they are asked for.

    Args:
        path: The file.

    Raises:
        CheckpointError: It is no such file, or torn.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            content = path.read_bytes()
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except OSError as error:
            raise CheckpointError(f"{path} cannot be read: {error.strerror or error}.") from None
        except (zipfile.BadZipFile, ValueError):
            raise CheckpointError(f"{path} is no whole zip file; it may have been cut short.") from None
        self.sha256 = hashlib.sha256(content).hexdigest()
        names = set(self._zip.namelist())
        missing = [name for name in (_DATA, _WEIGHTS) if name not in names]
        if missing:
            raise CheckpointError(
                f"{path} is no policy of Stable-Baselines3: there is no {' and no '.join(missing)} in it."
            )
        try:
            settings = json.loads(self._read(_DATA, _LARGEST_SETTINGS))
        except (ValueError, RecursionError) as error:
            raise CheckpointError(f"{path}: its settings are no JSON ({error}).") from None
        if not isinstance(settings, dict):
            raise CheckpointError(f"{path}: its settings are no JSON object.")
        self.settings: Mapping[str, Any] = settings
        """The JSON, its pickled parts as texts."""
        self.versions: dict[str, str] = self._versions(names)
        """Of the libraries that wrote it, as far as it says."""

    @property
    def made_by(self) -> str:
        """Who wrote it: `Stable-Baselines3 1.0`."""
        return f"Stable-Baselines3 {self.versions.get('stable_baselines3', 'of an unknown version')}"

    def get(self, name: str, default: Any = None) -> Any:
        """Return a setting as plain data or as records; see `read_pickle`.

        Raises:
            CheckpointError: It is pickled, and names what a policy has no need of.
        """
        value = self.settings.get(name, default)
        content = self._pickled(name)
        return value if content is None else plain(read_pickle(content, f"{self.path}: its {name}"))

    def weights(self) -> Tensors:
        """Return the tensors of the policy by their names, read by torch without running anything.

        Raises:
            CheckpointError: They cannot be read so.
        """
        import torch

        content = self._read(_WEIGHTS, _LARGEST_WEIGHTS)
        try:
            # Of a protocol that Stable-Baselines3 never wrote torch warns before it refuses it.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        except Exception as error:
            # Torch answers a file that is no checkpoint with whatever its parts raise.
            raise CheckpointError(f"{self.path}: its weights cannot be read: {_said_by_torch(error)}") from None
        if not isinstance(found, dict) or not all(isinstance(one, torch.Tensor) for one in found.values()):
            raise CheckpointError(f"{self.path}: its weights are no tensors by name.")
        halves = (torch.float16, torch.bfloat16)
        return {
            str(name): (tensor.float() if tensor.dtype in halves else tensor).detach().numpy()
            for name, tensor in found.items()
        }

    def names_of_code(self) -> dict[str, list[str]]:
        """Return what the pickled settings would import, by setting; only what loading all of them would do."""
        found = {}
        for name in self.settings:
            content = self._pickled(name)
            if content is not None:
                found[name] = names_in(content)
        return {name: names for name, names in found.items() if names}

    def _pickled(self, name: str) -> bytes | None:
        value = self.settings.get(name)
        if not isinstance(value, dict) or _SERIALIZED not in value:
            return None
        try:
            return base64.b64decode(value[_SERIALIZED], validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise CheckpointError(f"{self.path}: its {name} is not in base64.") from None

    def _read(self, name: str, largest: int) -> bytes:
        try:
            with self._zip.open(name) as part:
                content = part.read(largest + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise CheckpointError(f"{self.path}: {name} in it is damaged: {error}.") from None
        if len(content) > largest:
            raise CheckpointError(f"{self.path}: {name} in it unfolds to more than {largest} bytes.")
        return content

    def _versions(self, names: set[str]) -> dict[str, str]:
        found = {}
        if _SYSTEM in names:
            text = self._read(_SYSTEM, 2**16).decode(errors="replace")
            for match in _SYSTEM_LINE.finditer(text):
                if match["name"] in _LIBRARIES:
                    found[_LIBRARIES[match["name"]]] = match["version"]
        if _VERSION in names:
            found["stable_baselines3"] = self._read(_VERSION, 256).decode(errors="replace").strip()
        return found


def _said_by_torch(error: Exception) -> str:
    """Return what is wrong with weights, without torch's advice to read them unsafely."""
    text = " ".join(str(error).split())
    named = _NAMED_IN_WEIGHTS.search(text)
    if named:
        return f"they name {named[1]}, which could be any code, where tensors alone belong."
    if _REFUSED_BY_TORCH in text:
        return "they are no tensors as Stable-Baselines3 saves them."
    return text[:160] or f"{type(error).__name__}."
