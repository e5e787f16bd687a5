"""Imports are at the top of their file; those inside functions are listed here, each place with its reason.

Import directions are not among the reasons: import-linter counts imports inside functions like any other.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from meta.plain_words import statements

ROOT = Path(__file__).parents[2]

LAZY: dict[str, str] = {
    "tools/commands": "`xrelay --help` lists subcommands without importing their implementations",
    "tools/comparison/engines.py": "an engine is imported in the process that runs it",
    "tools/demo.py": "the demo creates its model before it needs the compiler",
    "tools/entry_points.py": "Ctrl-C is handled also during the imports",
    "tools/command_line.py": "rich is imported only for a terminal",
    "tools/xrelay_opt.py": "the first imports run while garbage collections are rare",
    "tools/opt": "xrelay-opt starts within 0.35 s: the imports of a flag run only if the flag is set",
    "src/xrelay/api/profiling/profile.py": "a profile imports its table, chart and trace when they are shown",
    "tools/comparison/node_values.py": "models of onnx and modules have values of their own kind",
    "src/xrelay/api/versions/recipe.py": "a cached model opens without the compiler",
    "src/xrelay/api/compile.py": "most compilations need neither the printer of stages nor the helper of versions",
    "src/xrelay/api/versions/helper.py": "a module is written for the helper only if its version is not cached",
    "src/xrelay/api/model_key.py": "the key of a file is computed without xDSL",
    "src/xrelay/api/kernels/worker_process.py": "a worker imports the compiler while garbage collections are rare",
    "src/xrelay/api/model.py": "the first call imports the runtime, the first export the exporter",
    "dialects/__init__.py": "the names of attributes are available without xDSL",
    "dialects/relay/__init__.py": "some modules of the dialect are used without the operators",
    "dialects/relay/ops": "a process that only reads a program does not need topi and evaluation",
    "dialects/upstream/checks.py": "the llvm dialect is imported for the first text that mentions it",
    "src/xrelay/api/sources.py": "onnx is imported only for ONNX models",
    "src/xrelay/errors.py": "difflib is needed only for misspelt names",
    "dialects/relay/structure/weights.py": "files are read only for weights in files; numpy is for arrays",
    "dialects/shared/dtypes.py": "a worker process does not need numpy",
    "dialects/relay/core/attribute_values.py": "a worker process does not need numpy",
    "lowering/to_llvm/convert_arith_to_llvm.py": "a worker process does not need numpy",
    "runtime/cache.py": "the user's folder is needed only if no other is set",
    "runtime/thread_pool.py": "the pool is compiled only if the cache has no code for it",
    "runtime/trust.py": "pwd and grp exist only on POSIX; they are needed for folders of other owners",
    "target": "platform and the query of the CPU are imported only on first use",
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


INDENTED_IMPORT = re.compile(r"(?:^[ \t]+|[:;][ \t]*)(?:import|from[ \t]+[\w.]+[ \t]+import)\b", re.MULTILINE)
"""An import that does not begin its line; most files have no such import, and need no syntax tree."""


def lazy_imports(path: Path) -> list[int]:
    """Returns the lines of the imports inside the functions of a file."""
    text = path.read_text(encoding="utf-8")
    if INDENTED_IMPORT.search(text) is None:
        return []
    tree = ast.parse(text)
    functions = [node for node in statements(tree) if isinstance(node, ast.FunctionDef)]
    return [node.lineno for f in functions for node in statements(f) if isinstance(node, ast.Import | ast.ImportFrom)]


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
