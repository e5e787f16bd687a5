"""Installs packages for a test, such as those of tests/out_of_tree."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from zipfile import ZipFile

from hatchling.build import build_wheel

from support.tool_server.served import served

FOLDER = Path(__file__).parents[1] / "out_of_tree"


def install(package: Path, target: Path) -> None:
    """Installs a package in the folder `target`: builds its wheel in this process, and unpacks it."""
    with chdir(package):
        wheel = build_wheel(str(target))
    with ZipFile(target / wheel) as files:
        files.extractall(target)


@contextmanager
def installed(target: Path, *packages: str) -> Iterator[dict[str, str]]:
    """Installs packages of tests/out_of_tree in `target`; yields the environment in which Python finds them."""
    for package in packages:
        install(FOLDER / package, target)
    with served({**os.environ, "PYTHONPATH": str(target)}) as environment:
        yield environment


def run(command: list[str], environment: dict[str, str], text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, input=text, capture_output=True, text=True, check=False)
