"""Markdown of docstrings: headings with their anchors, tables, and summaries."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable


def anchor(heading: str) -> str:
    """Returns the anchor of a heading that is a name in code, as GitHub and mkdocs derive it."""
    return re.sub(r"[^\w-]", "", heading.lower())


def cell(text: str) -> str:
    """Returns text for a cell of a table: one line, without column separators."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns a table; the cells are not escaped."""
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def docstring(text: str | None) -> str:
    """Returns a docstring as Markdown, with an empty line before each list."""
    return re.sub(r"(?m)^(?!- )(\S.*)\n(\s*- )", r"\1\n\n\2", inspect.cleandoc(text or ""))


def flags_as_code(text: str) -> str:
    """Returns Markdown with flags such as `--check` as code, except in code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"(?<![\w-])--?[A-Za-z][\w-]*", r"`\g<0>`", part) for part in parts
    )


def title(module: str) -> str:
    """Returns the summary of an imported module up to its first colon or semicolon."""
    return re.split("[:;]", module_summary(module))[0]


def module_summary(module: str) -> str:
    """Returns the first paragraph of the docstring of an imported module on one line, without its full stop."""
    text = inspect.cleandoc(sys.modules[module].__doc__ or module)
    return " ".join(text.split("\n\n")[0].split()).rstrip(".")
