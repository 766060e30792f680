"""How strongly curves can be smoothed: apart from the smoothing, so that settings are read without its arrays."""

WEIGHTS = (0.0, 0.6, 0.9, 0.97)
"""The choices of the `s` key, in its order; 0 draws the values as they are."""
