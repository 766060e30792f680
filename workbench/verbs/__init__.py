"""The verbs of the command line, one module each: `add_arguments(parser)` and `run(args, project) -> exit code`.

Modules import what they need inside `run`, so that `--help` is quick. Results go to stdout, progress and notes to
stderr; with `--json`, one document goes to stdout and nothing else.
"""
