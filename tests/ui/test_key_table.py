"""The documentation says the keys that the registry has."""

from __future__ import annotations

from workbench.project import shipped_project
from workbench.ui.commands import COMMANDS
from workbench.ui.key_table import page, with_table

ROOT = shipped_project().root


def test_the_page_of_keys_is_the_registry() -> None:
    assert (ROOT / "docs" / "keys.md").read_text(encoding="utf-8") == page()


def test_the_table_of_the_readme_is_the_registry() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_table(text) == text


def test_every_command_stands_on_the_page() -> None:
    text = page()
    assert [command.id for command in COMMANDS if f"`{command.id}`" not in text] == []
