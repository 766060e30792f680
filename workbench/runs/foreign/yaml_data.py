"""YAML files that strangers wrote, as plain data: numbers, texts, lists and dictionaries, and nothing else.

RL-Zoo writes ordered dictionaries and tuples with tags that ask a reader to call Python. Such a tag is never followed:
the shape below it is read, and what has no plain shape is left as text.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

LARGEST = 2**20
"""Bytes; nothing that a person or RL-Zoo writes is as large."""
_MOST_NODES = 20_000
"""A few lines can refer to each other so often that they unfold without end."""
_DEEPEST = 30

_STANDARD = "tag:yaml.org,2002:"
_ORDERED = f"{_STANDARD}python/object/apply:collections.OrderedDict"
_AS_LISTS = (f"{_STANDARD}seq", f"{_STANDARD}python/tuple", f"{_STANDARD}set")


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the dictionary in a file; empty where there is none that can be read."""
    import yaml

    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            return {}
        # Composing makes a tree of texts and tags; nothing is constructed from it but here below.
        node = yaml.compose(text.decode(), Loader=yaml.SafeLoader)
        found = _Reader().read(node) if node is not None else None
    except (OSError, UnicodeDecodeError, RecursionError, yaml.YAMLError, _TooMuchError):
        return {}
    return found if isinstance(found, dict) else {}


class _TooMuchError(Exception):
    """The tree unfolds to more than any settings are."""


class _Reader:
    """Makes plain data of a tree of nodes, and gives up where there is too much of it."""

    def __init__(self) -> None:
        from yaml.constructor import SafeConstructor

        self._left = _MOST_NODES
        safe = SafeConstructor()
        self._scalars: dict[str, Any] = {
            f"{_STANDARD}null": lambda _: None,
            f"{_STANDARD}bool": safe.construct_yaml_bool,
            f"{_STANDARD}int": safe.construct_yaml_int,
            f"{_STANDARD}float": safe.construct_yaml_float,
        }

    def read(self, node: Any, depth: int = 0) -> Any:
        """Return the value of a node."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise _TooMuchError
        if node.id == "scalar":
            return self._scalar(node)
        if node.id == "mapping":
            pairs = [(key, value) for key, value in node.value if key.id == "scalar"]
            return {key.value: self.read(value, depth + 1) for key, value in pairs}
        if node.tag == _ORDERED:
            return self._ordered(node, depth)
        if node.tag in _AS_LISTS:
            return [self.read(item, depth + 1) for item in node.value]
        return _unread(node.tag)

    def _scalar(self, node: Any) -> Any:
        construct = self._scalars.get(node.tag)
        if construct is not None:
            with contextlib.suppress(ValueError, KeyError, IndexError):
                return construct(node)
        return node.value if node.value or "python/" not in node.tag else _unread(node.tag)

    def _ordered(self, node: Any, depth: int) -> Any:
        pairs = node.value[0].value if node.value and node.value[0].id == "sequence" else []
        found = {}
        for pair in pairs:
            if pair.id == "sequence" and len(pair.value) == 2 and pair.value[0].id == "scalar":
                found[pair.value[0].value] = self.read(pair.value[1], depth + 1)
        return found


def _unread(tag: str) -> str:
    """Return what stands for something of Python: `torch.nn.modules.activation.ReLU`."""
    return tag.removeprefix(_STANDARD).rpartition(":")[2]
