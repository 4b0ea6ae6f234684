"""HTML for notebooks: self-contained, nothing is loaded from a network."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

FRAME_HEIGHT = 640
MAX_ROWS = 20


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = ''.join(f'<th style="text-align:left">{escape(str(name))}</th>' for name in columns)
    body = ''.join('<tr>' + ''.join(f'<td style="text-align:left">{escape("" if cell is None else str(cell))}</td>' for cell in row) + '</tr>'
                   for row in rows)
    return f'<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def frame(page: str, title: str) -> str:
    """A whole page inside a cell. The frame has no origin of its own, so that nothing in it reaches the notebook."""
    return (f'<iframe title="{escape(title, quote=True)}" sandbox="allow-scripts" style="width:100%;height:{FRAME_HEIGHT}px;border:0" '
            f'srcdoc="{escape(page, quote=True)}"></iframe>')


def paragraph(text: str) -> str:
    return f'<p>{escape(text)}</p>'
