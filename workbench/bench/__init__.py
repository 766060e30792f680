"""Measurements: how fast environments step, and how fast our learners are beside those of Stable-Baselines3.

Everything is measured against something else in turns, so that other work on the machine touches both alike; a
document says on which machine, with which versions and by which command. May import training and simulation, never
the viewer or the terminal; the modules here import what is heavy only where they measure.
"""
