"""The shipped environments and their variants, as sources."""

import ast
import json

from workbench.project import shipped_project
from workbench.simulation import EnvSource


def shipped_sources() -> dict[str, EnvSource]:
    """Return every shipped environment and variant by short name, the test-only ones too."""
    sources: dict[str, EnvSource] = {}
    for path in sorted(shipped_project().envs.glob("*_env.py")):
        tree = ast.parse(path.read_text())
        (cls,) = (node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name.endswith("Env"))
        base = path.stem.removesuffix("_env")
        sources[base] = EnvSource(f"workbench/{cls.removesuffix('Env')}-v0", base, str(path), cls)
        for variant in sorted(path.parent.glob(f"{path.stem}_*.json")):
            name = base + variant.stem.removeprefix(path.stem)
            told = json.loads(variant.read_text())
            sources[name] = EnvSource(f"workbench/{name}-v0", name, str(path), cls, told["env_cfg"])
    return sources


SOURCES = shipped_sources()
