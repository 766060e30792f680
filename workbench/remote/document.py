"""The page that documents the protocol, made from its declaration: `python -m workbench.remote.document`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from workbench.remote.declaration import COMMANDS, EVENTS, LARGEST_SIDE, VERSION, Message
from workbench.remote.frames import HEADER, MAGIC

_HEAD = f"""# Driving the viewer from another program

`workbench play TARGET --remote`, or `python -m workbench.viewer TARGET`, plays as `workbench play` does and is driven
by lines of JSON: commands on stdin, events on stdout. The app drives its viewer this way; so can a script.
Version {VERSION}.

This page is made from `workbench/remote/declaration.py`:
`python -m workbench.remote.document > docs/viewer-protocol.md`.

```
$ workbench play 7f3a:best --remote --no-window
{{"do": "speed", "value": 2}}
{{"do": "checkpoint", "which": 409600}}
{{"do": "quit"}}
```

- A line that is no command, or whose values are wrong, is answered with an `error` event; nothing else comes of it.
- stdout holds events only. What libraries print goes to stderr.
- The process ends when stdin ends or its parent does, when the window is closed (`closed`, exit code 0), after
  `quit`, and after an `error` that is `fatal` (exit code 1, or 2 where the request was wrong). A window whose display
  is gone counts as closed; without `--remote`, `workbench play` says so and ends with code 1.
- The panel, the keys and the mouse of the window give the same commands, and can do nothing else. Several targets play
  side by side: commands are for the one that `member` chose, and time is the same for all.
- Options: those of `workbench play`; `--no-window` begins without one; `--frames-fd N` names an open descriptor for
  frames.
"""

_FRAMES = f"""## Frames

After `preview`, pictures of the scene go to the descriptor of `--frames-fd`, drawn without a display where no window is
open, else taken from the window. A frame is sent when something moved, and dropped where the reader has not taken the
last one: the player never waits. Each is a header of {HEADER.size} bytes, little-endian, and `width * height * 3` bytes
of RGB, the top row first.

| bytes | type | what |
|---|---|---|
| 0–3 | 4 bytes | `{MAGIC.decode()}` |
| 4–5 | uint16 | width in pixels, 1 to {LARGEST_SIDE} |
| 6–7 | uint16 | height in pixels, 1 to {LARGEST_SIDE} |
| 8–11 | uint32 | sequence: counts the frames sent |
| 12–15 | uint32 | step of the episode that it shows |
"""


def document() -> str:
    """Return the page as Markdown."""
    parts = [_HEAD]
    parts += ["## Commands\n", 'Each is an object with `do` and its values: `{"do": "step", "n": -1}`.\n']
    parts += [_table(COMMANDS, has_defaults=True)]
    parts += ["## Events\n", "Each is an object with `event` and its values. A number that is not finite is null.\n"]
    parts += [_table(EVENTS, has_defaults=False), _FRAMES]
    return "\n".join(parts)


def _table(messages: Sequence[Message], *, has_defaults: bool) -> str:
    rows = [f"| {'command' if has_defaults else 'event'} | value | takes | what |", "|---|---|---|---|"]
    for message in messages:
        rows.append(f"| **`{message.name}`** | | | {message.doc} |")
        for value in message.values:
            default = "" if value.is_required or not has_defaults else f"; {_word(value.default)} where left out"
            rows.append(f"| | `{value.name}` | {value.takes}{default} | {value.doc} |")
    return "\n".join(rows) + "\n"


def _word(value: object) -> str:
    if value in (None, ""):
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.stdout.write(document())
