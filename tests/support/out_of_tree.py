"""Installs packages of tests/out_of_tree for a test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.tool_server.served import served

FOLDER = Path(__file__).parents[1] / "out_of_tree"


@contextmanager
def installed(target: Path, *packages: str) -> Iterator[dict[str, str]]:
    """Installs packages of tests/out_of_tree in `target`; yields the environment in which Python finds them."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    paths = [str(FOLDER / package) for package in packages]
    subprocess.run([*pip, "--disable-pip-version-check", "--target", str(target), *paths], check=True)
    with served({**os.environ, "PYTHONPATH": str(target)}) as environment:
        yield environment


def run(command: list[str], environment: dict[str, str], text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, env=environment, input=text, capture_output=True, text=True, check=False)
