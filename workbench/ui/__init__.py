"""The terminal app.

It owns screens, keys, themes and the processes a person starts from them. It sees `specs`, `catalog`, `runs` and
`storyboard` and nothing else of workbench: training, playing, filming and montages are started as commands. It must
never import torch, mujoco, gymnasium, stable_baselines3 or polyscope, and is the only part that imports textual.
"""
