"""Imports stand at the top of their file; those inside of functions are here, each place with its reason.

Import directions are not among the reasons: import-linter counts imports inside of functions like any other.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LAZY: dict[str, str] = {
    "tools/commands": "`xrelay --help` lists subcommands without what they run with",
    "tools/comparison/engines.py": "an engine is imported in the process that runs it",
    "tools/demo.py": "the demo makes its model before it needs the compiler",
    "tools/progress.py": "rich is imported where there is a terminal to write to",
    "tools/xrelay_opt.py": "what the tool begins with is imported while collections are rare",
    "tools/opt": "xrelay-opt starts within 0.35 s: what a flag brings is imported when the flag is given",
    "src/xrelay/api/compile.py": "a known model of the cache opens without the compiler",
    "src/xrelay/api/model_key.py": "the key of a file is made without xDSL",
    "src/xrelay/api/worker_process.py": "a worker imports the compiler while collections are rare",
    "src/xrelay/api/model.py": "what runs native code is imported by the first call, what exports it by an export",
    "dialects/__init__.py": "the names of attributes are known without xDSL",
    "dialects/relay/__init__.py": "a part of the dialect comes without the operators",
    "dialects/relay/ops": "a process that only reads a program does without topi and the code of evaluation",
    "dialects/upstream/checks.py": "the llvm dialect is imported when a text first mentions it",
    "src/xrelay/api/sources.py": "onnx is imported for models of onnx alone",
    "src/xrelay/errors.py": "difflib is needed where something is misspelt",
    "dialects/relay/structure/weights.py": "files are read where weights lie in them, and numpy comes with arrays",
    "dialects/shared/dtypes.py": "a process that helps to compile does without numpy",
    "dialects/relay/core/attribute_values.py": "a process that helps to compile does without numpy",
    "lowering/to_llvm/convert_arith_to_llvm.py": "a process that helps to compile does without numpy",
    "runtime/cache.py": "the user's folder is asked for where none is given",
    "runtime/trust.py": "pwd and grp, which only POSIX has, are asked about folders of other owners",
    "target": "llvmlite and platform are imported where the host is asked for",
}
"""File or folder → why it imports inside of functions."""

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
    "src/xrelay/api",
)


def lazy_imports(path: Path) -> list[int]:
    """The lines of the imports inside of the functions of a file."""
    text = path.read_text(encoding="utf-8")
    if re.search(r"^\s+(import|from)\b|[:;]\s*(import|from)\b", text, re.MULTILINE) is None:
        return []
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node.lineno for f in functions for node in ast.walk(f) if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_inside_of_functions_have_a_reason(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not any(name == place or name.startswith(f"{place}/") for place in LAZY):
            assert not lazy_imports(path), f"{name} imports inside of a function, without a reason in {__file__}"


@pytest.mark.parametrize("place", LAZY)
def test_every_reason_is_needed(place: str) -> None:
    found = ROOT / place
    files = [found] if found.is_file() else list(found.rglob("*.py"))
    assert any(lazy_imports(path) for path in files), f"{place} has no import inside of a function any more"
