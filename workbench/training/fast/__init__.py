"""The algorithms of Stable-Baselines3 with the same maths and less work around it.

Each class is a subclass of the original. It recognises exactly the networks whose gradients are written out here, and
environments that step arrays; for everything else it says once why not and runs the code it inherits. Knows nothing of
runs, specs or files.
"""
