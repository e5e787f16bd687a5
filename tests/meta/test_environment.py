"""Environment variables are read in one module and described on one page."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from xrelay import environment

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in (
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
    for path in (ROOT / folder).rglob("*.py")
    if path.name != "environment.py"
]
READERS = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
NAMES = {value for value in vars(environment).values() if isinstance(value, str) and value.startswith("XRELAY_")}


def test_no_other_module_reads_the_environment() -> None:
    assert len(SOURCES) > 300
    found: list[str] = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(name in text for name in READERS) else ():
            if isinstance(node, ast.Attribute) and node.attr in READERS:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
            if isinstance(node, ast.ImportFrom) and node.module == "os":
                found += (f"{path.relative_to(ROOT)}:{node.lineno}" for name in node.names if name.name in READERS)
    assert found == []


def test_the_page_describes_every_variable() -> None:
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(XRELAY_\w+)` \|", page, re.MULTILINE)) == NAMES
    assert len(NAMES) >= 5


def test_every_variable_that_is_named_exists() -> None:
    pages = [*SOURCES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"\bXRELAY_[A-Z_]+\b", page.read_text(encoding="utf-8"))}
    elsewhere = {
        "XRELAY_UNIVERSE",
        "XRELAY_ROUNDTRIP",
        "XRELAY_RUNTIME",
        "XRELAY_OBJECTS",
        "XRELAY_TILES",
        "XRELAY_MODEL_",
    }
    assert named - elsewhere == NAMES
