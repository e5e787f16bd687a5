"""Names of discardable attributes are defined only in `dialects/shared/attribute_names.py`, each with its meaning."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeGuard

from tests.meta.test_sizes import source_paths

from xrelay.dialects.shared import attribute_names

ROOT = Path(__file__).parents[2]
NAMES = {value: name for name, value in vars(attribute_names).items() if name.isupper()}
IN_QUOTES = re.compile(f"""["'}}](?:{"|".join(map(re.escape, NAMES))})["'{{]""")
"""A name as a string, or as the part of a formatted string between values."""


def test_every_name_has_a_line_on_its_meaning() -> None:
    body = ast.parse((ROOT / "dialects/shared/attribute_names.py").read_text()).body
    for statement, following in pairwise(body):
        if isinstance(statement, ast.AnnAssign):
            assert isinstance(following, ast.Expr), ast.unparse(statement)


def test_names_are_written_once() -> None:
    found = [f"{path}:{line}: {text!r} is {NAMES[text]}" for path, line, text in _strings() if text in NAMES]
    assert not found, "\n".join(found)


def _strings() -> Iterator[tuple[Path, int, str]]:
    """Yields the string constants of the source, except the names of classes and of passes (Relay's `Inline`)."""
    for path in source_paths():
        if path.name == "attribute_names.py":
            continue
        text = path.read_text()
        # Implicitly concatenated strings count as one. Most files have no such string.
        joined = re.sub(r"""["']\s*["']""", "", text)
        if IN_QUOTES.search(joined) is None:
            continue
        tree = ast.parse(text)
        own = {id(node.value) for node in ast.walk(tree) if _names_a_class(node) or _names_a_pass(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in own:
                text = node.value.decode(errors="replace") if isinstance(node.value, bytes) else node.value
                if isinstance(text, str):
                    yield path.relative_to(ROOT), node.lineno, text


def _names_a_class(node: ast.AST) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "name" for to in node.targets)


def _names_a_pass(node: ast.AST) -> TypeGuard[ast.keyword]:
    return isinstance(node, ast.keyword) and node.arg == "alias"
