"""Widgets that more than one screen uses; they know their data and their messages, never the app."""
