"""Places, tasks and cards of the terminal app, one a module; each is imported when first opened."""
