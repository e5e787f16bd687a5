"""Tables and texts as HTML, which notebooks show in place of `repr`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

OPEN_LINES: Final = 40
"""The number of lines up to which a text is unfolded."""


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table; numbers are aligned to the right."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td style="text-align: right">{value:.4g}</td>'
    align = "right" if isinstance(value, int) else "left"
    return f'<td style="text-align: {align}">{"" if value is None else escape(str(value))}</td>'


def html_text(title: str, text: str) -> str:
    """Returns a text under its title, folded if it is long."""
    unfolded = " open" if text.count("\n") <= OPEN_LINES else ""
    return f"<details{unfolded}><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
