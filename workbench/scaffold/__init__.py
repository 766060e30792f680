"""The files that an environment of one's own begins with: module, model, variant, recipe and test."""

from workbench.scaffold.environment import NewEnvironment, plan_environment, write_files

__all__ = ["NewEnvironment", "plan_environment", "write_files"]
