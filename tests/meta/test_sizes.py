"""Files and functions stay small enough to read. The allow-list may only shrink: an entry that is no longer needed
fails the test, and so does one that grows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "index_algebra",
    "dialects",
    "target",
    "interpreters",
    "passes",
    "lowering",
    "frontend",
    "runtime",
    "tools",
    "src/xrelay",
)
FILE_LIMIT = 400
FUNCTION_LIMIT = 40

LONG_FILES: dict[str, int] = {}
"""Path → lines: files that are longer and must not grow."""

LONG_FUNCTIONS: dict[str, int] = {}
"""Path::function → lines: functions that are longer and must not grow."""


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents if parent != ROOT):
                yield path


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The functions of a file with their lines of code, docstring not counted."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - doc


def too_long(found: dict[str, int], limit: int, allowed: dict[str, int]) -> list[str]:
    problems = [f"{key}: {size} > {limit}" for key, size in found.items() if size > allowed.get(key, limit)]
    problems += [f"{key}: take it off the list" for key in allowed if found.get(key, 0) <= limit]
    return problems


def test_files() -> None:
    found = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert too_long(found, FILE_LIMIT, LONG_FILES) == []


def test_functions() -> None:
    found = {f"{path.relative_to(ROOT)}::{name}": size for path in sources() for name, size in functions(path)}
    assert too_long(found, FUNCTION_LIMIT, LONG_FUNCTIONS) == []


def has_docstring(text: str) -> bool:
    """Whether a file begins with one, which is parsed where the first characters do not show it."""
    return text.startswith('"""') or ast.get_docstring(ast.parse(text)) is not None


def test_files_say_what_they_are() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources()
        if (text := path.read_text()).strip() and not has_docstring(text)
    ]
    assert silent == []


def test_nothing_is_left_to_do_or_silenced() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "X" * 3 + " ", "type: " + "ignore", "pyright: " + "ignore")
    found = [f"{path.relative_to(ROOT)}: {mark}" for path in sources() for mark in marks if mark in path.read_text()]
    assert found == []
