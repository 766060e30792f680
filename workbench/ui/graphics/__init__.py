"""Pictures that a terminal draws itself, in place of half blocks: two protocols, and what tells which one it has."""
