"""Installs packages of tests/out_of_tree for a test."""

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


@contextmanager
def installed(target: Path, *packages: str) -> Iterator[dict[str, str]]:
    """Installs packages of tests/out_of_tree in `target`; yields the environment in which Python finds them."""
    for package in packages:
        with chdir(FOLDER / package):
            wheel = build_wheel(str(target))
        with ZipFile(target / wheel) as files:
            files.extractall(target)
    with served({**os.environ, "PYTHONPATH": str(target)}) as environment:
        yield environment


def run(command: list[str], environment: dict[str, str], text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, input=text, capture_output=True, text=True, check=False)
