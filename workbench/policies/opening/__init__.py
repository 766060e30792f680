"""Policies that other tools saved, opened without running anything that their files hold.

What of a file is data is read as data: the pickled settings of Stable-Baselines3 by `inert`, its weights by torch with
`weights_only`, RL-Zoo's YAML as a tree of texts. What needs more is refused and named, and runs only where it is
trusted by word. A TorchScript or ONNX file is a program, which its runtime runs; see `programs`.
"""
