"""The commands and programs of the README run unchanged; paths and targets in documents exist."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support.tool_server.served import served

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
FOLDERS = (
    *("dialects", "target", "interpreters", "passes", "lowering", "frontend", "runtime", "tools", "compat"),
    *("index_algebra", "src", "tests", "docs", "examples", "benchmarks"),
)
SMALL_MODEL = ROOT / "tests" / "lit" / "tools" / "Inputs" / "make_model.py"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    own = {**environment, "XRELAY_CACHE_DIR": str(folder / "c")}
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """Yields the environment of the commands and programs."""
    with served(os.environ) as environment:
        yield environment


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """Returns a folder in which the README's shell commands ran, with a small model in it."""
    folder = tmp_path_factory.mktemp("readme")
    run(["python", str(SMALL_MODEL), "model.onnx"], folder, environment)
    for block in blocks("sh"):
        run(["sh", "-e", "-c", block], folder, environment)
    return folder


@pytest.mark.parametrize("block", blocks("python"))
def test_programs_run(block: str, folder: Path, environment: dict[str, str]) -> None:
    run(["python", "-c", block], folder, environment)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/design.md", "docs/README.md"])
def test_mentioned_paths_exist(document: str) -> None:
    mentioned = re.findall(r"`((?:[\w.]+/)+(?:[\w.]+)?)`", (ROOT / document).read_text())
    missing = [path for path in mentioned if path.split("/")[0] in FOLDERS and not (ROOT / path).exists()]
    assert missing == []


@pytest.mark.parametrize(
    "document", [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_files_mentioned_by_the_end_of_their_paths_exist(document: Path) -> None:
    mentioned = re.findall(r"`((?:\w+/)+\w+\.py)`", document.read_text())
    assert [path for path in mentioned if not any(file.endswith(f"/{path}") for file in python_files())] == []


@cache
def python_files() -> tuple[str, ...]:
    return tuple(file.as_posix() for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^    |`|  )make ([a-z-]+)", README + CONTRIBUTING, re.MULTILINE)) <= targets


def test_the_map_of_pages_has_every_page() -> None:
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    listed = set(re.findall(r"\| \[.+?\]\(([\w-]+\.md)\)", (ROOT / "docs" / "README.md").read_text()))
    assert listed == pages


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "CHANGELOG.md",
        "examples/README.md",
        *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")),
    ],
)
def test_links_lead_somewhere(document: str) -> None:
    links = re.findall(r"\]\(([\w./-]+\.md)\)", (ROOT / document).read_text())
    assert [link for link in links if not ((ROOT / document).parent / link).exists()] == []
