"""Scripts and notebooks in examples/ run, are short, import public modules alone, and are listed in their README."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.tool_server.served import served

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted((FOLDER / "notebooks").glob("*.py"))
MAX_LINES = {FOLDER: 59, FOLDER / "notebooks": 100}
PUBLIC = re.compile(r"xrelay(\.extend(\.\w+)?)?")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yields the environment of the scripts, with a cache of their own."""
    with served(os.environ) as environment:
        yield {**environment, "XRELAY_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_prints(script: Path, environment: dict[str, str], tmp_path: Path) -> None:
    command = ["python", str(script)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.skipif(find_spec("marimo") is None, reason="marimo is not installed: pip install '.[notebooks]'")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, environment: dict[str, str], tmp_path: Path) -> None:
    command = ["python", str(notebook)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", [*SCRIPTS, *NOTEBOOKS], ids=lambda path: path.stem)
def test_a_script_is_short_and_imports_public_modules(script: Path) -> None:
    text = script.read_text()
    assert len(text.splitlines()) <= MAX_LINES[script.parent]
    nodes = list(ast.walk(ast.parse(text)))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert [name for name in modules if name.startswith("xrelay") and not PUBLIC.fullmatch(name)] == []


def test_the_readme_lists_every_script() -> None:
    listed = re.findall(r"\| \[((?:notebooks/)?\w+\.py)\]\(\1\)", (FOLDER / "README.md").read_text())
    assert sorted(listed) == sorted(path.relative_to(FOLDER).as_posix() for path in (*SCRIPTS, *NOTEBOOKS))
