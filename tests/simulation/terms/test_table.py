"""The page of documentation says what the registry has."""

from workbench.project import shipped_project
from workbench.simulation.terms import names
from workbench.simulation.terms.table import page


def test_the_page_is_the_registry() -> None:
    assert (shipped_project().root / "docs" / "terms.md").read_text(encoding="utf-8") == page()


def test_every_name_stands_on_the_page_with_a_meaning() -> None:
    text = page()
    rows = {row.split("|")[1].strip(): row for row in text.splitlines() if row.startswith("| `")}
    assert [name for name in names() if f"`{name}`" not in rows or "| |" in rows[f"`{name}`"]] == []
