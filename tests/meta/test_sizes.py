"""Files, functions and chains of base classes stay small enough to read.

The lists of exceptions may only shrink: the tests fail for an entry that grows or is no longer needed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from meta.plain_words import statements

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
    "compat",
    "src/xrelay",
)
FILE_LIMIT = 600
FUNCTION_LIMIT = 60
ANCESTOR_LIMIT = 4

LONG_FILES: dict[str, int] = {}
"""Path → lines of the files that are longer and must not grow."""

LONG_FUNCTIONS: dict[str, int] = {}
"""Path::function → lines of the functions that are longer and must not grow."""

DEEP_CHAINS: dict[str, tuple[int, int]] = {
    "xrelay.dialects.relay.core.sliding_window.ImageOp": (43, 8),
    "xrelay.dialects.relay.ops.qnn.op_base.QnnOp": (12, 5),
    "xrelay.relay.pass_api.passes.Pass": (1, 5),
}
"""The base class of a chain → the number of its subclasses with more ancestors than the limit, and the most ancestors.

A class counts for the first chain that it belongs to.
"""


class Source(NamedTuple):
    """The contents of a file that the tests check."""

    text: str
    has_docstring: bool
    functions: list[tuple[str, int]]
    classes: list[tuple[str, list[str]]]


def source_paths() -> list[Path]:
    """Returns the source files, without those in linked folders."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in paths if not any(parent.is_symlink() for parent in path.parents if parent != ROOT)]


@cache
def sources() -> dict[str, Source]:
    """Returns the source files by path; each is parsed once, and its syntax tree is not kept."""
    return {name: source_of(name) for name in (path.relative_to(ROOT).as_posix() for path in source_paths())}


def source_of(path: str) -> Source:
    text = (ROOT / path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    documented = not text.strip() or ast.get_docstring(tree) is not None
    return Source(text, documented, list(functions(tree)), list(classes(module_of(path), tree)))


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yields the functions of a file with their lines of code, without docstrings."""
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - doc


def module_of(path: str) -> str:
    """Returns the name of the module that is imported from `path`."""
    name = (
        path.removeprefix("src/xrelay/")
        .removeprefix("compat/")
        .removesuffix(".py")
        .replace("/", ".")
        .removesuffix("__init__")
        .strip(".")
    )
    return f"xrelay.{name}" if name else "xrelay"


@cache
def bases() -> dict[str, list[str]]:
    """Returns the full names of the classes of the sources, and of their bases."""
    return {name: found for source in sources().values() for name, found in source.classes}


def classes(module: str, tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Yields the classes at the top of a module with the full names of their bases."""
    imports = [node for node in statements(tree) if isinstance(node, ast.ImportFrom)]
    names = {each.asname or each.name: f"{node.module}.{each.name}" for node in imports for each in node.names}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names[node.name] = f"{module}.{node.name}"
            unparsed = [ast.unparse(base).partition("[")[0] for base in node.bases]
            parts = [base.partition(".") for base in unparsed]
            yield names[node.name], [names.get(first, first) + dot + rest for first, dot, rest in parts]


def ancestors(name: str) -> set[str]:
    """Returns the classes of the sources from which a class is derived."""
    own = [base for base in bases()[name] if base in bases()]
    return set(own).union(*map(ancestors, own))


def too_long(found: dict[str, int], limit: int, allowed: dict[str, int]) -> list[str]:
    problems = [f"{key}: {size} > {limit}" for key, size in found.items() if size > allowed.get(key, limit)]
    problems += [f"{key}: remove it from the list" for key in allowed if found.get(key, 0) <= limit]
    return problems


def test_files() -> None:
    assert too_long({path: source.text.count("\n") for path, source in sources().items()}, FILE_LIMIT, LONG_FILES) == []


def test_functions() -> None:
    found = {f"{path}::{name}": size for path, source in sources().items() for name, size in source.functions}
    assert too_long(found, FUNCTION_LIMIT, LONG_FUNCTIONS) == []


def test_chains_of_base_classes() -> None:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for name in bases():
        above = ancestors(name)
        if len(above) > ANCESTOR_LIMIT:
            chain = next((base for base in DEEP_CHAINS if base in above), name)
            found[chain].append(len(above))
    deep = {chain: (len(counts), max(counts)) for chain, counts in found.items()}
    assert deep == DEEP_CHAINS, "shorten the new chain, or lower the numbers of a chain that has become shorter"


def test_files_have_docstrings() -> None:
    assert [path for path, source in sources().items() if not source.has_docstring] == []


def test_nothing_is_left_to_do_or_silenced() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "X" * 3 + " ", "type: " + "ignore", "pyright: " + "ignore")
    assert [f"{path}: {mark}" for path, source in sources().items() for mark in marks if mark in source.text] == []
