"""A report as one HTML file: no script, nothing loaded from anywhere, readable on paper and in the dark."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from workbench.report.blocks import Block, Code, Figure, Heading, Table, Text

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #8884; }
h3 { font-size: 1rem; margin-bottom: .3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .7rem; border-bottom: 1px solid #8884; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
figure { margin: 1rem 0; } figure img { max-width: 100%; height: auto; }
figcaption { font-size: .87rem; opacity: .8; }
pre { padding: .7rem; background: #8881; overflow-x: auto; max-height: 24rem; }
@media print { body { max-width: none; } pre { max-height: none; white-space: pre-wrap; } }
"""


def write_html(blocks: Sequence[Block]) -> str:
    """Return the file's text."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "Report")
    body = "\n".join(map(_block, blocks))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def data_address(figure: Figure) -> str:
    """Return a figure as an address that holds it."""
    return f"data:{figure.kind};base64,{base64.b64encode(figure.data).decode()}"


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Code(text):
            return f"<pre>{escape(text)}</pre>"
        case Figure(caption=caption):
            # As a picture even where it is SVG: what stands in it can then do nothing in the page.
            return (
                f'<figure><img src="{data_address(block)}" alt="{escape(caption)}">'
                f"<figcaption>{escape(caption)}</figcaption></figure>"
            )
        case Table(columns, rows):
            head = "".join(f"<th>{escape(name)}</th>" for name in columns)
            lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
            return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{lines}</tbody></table></div>'
