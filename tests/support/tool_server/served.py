"""The tools for Python tests, as forks of a server instead of processes that each import xDSL, numpy and onnx."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from support.examples import FACTOR
from support.tool_server.launch import start
from support.tool_server.server import fixed

BIN = Path(sys.executable).parent
TOOLS = ("xrelay-opt", "xrelay", "xdsl-opt", "python")
# Packages that search for no extensions on import, so that a fork can search the import path of its own environment.
PRELOADED = (
    *("xrelay.tools", "xrelay.api", "xrelay.frontend", "xrelay.lowering", "onnx.helper", "llvmlite.binding"),
    *(f"xrelay.passes.{room}" for room in ("relay", "fusion", "layout", "topi", "loop")),
)


_kept: dict[frozenset[tuple[bytes, bytes]], str | None] = {}
"""The fixed variables of a server → the folder of its shims, until this process ends."""


@contextmanager
def served(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yields `environment` with a PATH on which `TOOLS` are forks of a server that runs until this process ends.

    Environments with equal fixed variables share a server; a command with others runs the tool itself. So do all
    commands in `make test-all`.
    """
    own = {**environment, "PATH": f"{BIN}{os.pathsep}{environment['PATH']}"}
    if FACTOR > 1:
        yield own
        return
    variables = frozenset(fixed({os.fsencode(name): os.fsencode(value) for name, value in own.items()}).items())
    if variables not in _kept:
        others = {name: value for name, value in own.items() if name != "PYTHONPATH"}
        _kept[variables] = start([BIN / tool for tool in TOOLS], others, PRELOADED)
    folder = _kept[variables]
    yield own if folder is None else {**own, "PATH": f"{folder}{os.pathsep}{own['PATH']}"}
