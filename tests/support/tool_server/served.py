"""The tools for Python tests, as forks of a server instead of processes that each import xDSL, numpy and onnx."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from support.examples import FACTOR
from support.tool_server.launch import start, stop
from support.tool_server.server import fixed

BIN = Path(sys.executable).parent
TOOLS = ("xrelay-opt", "xrelay", "xdsl-opt", "python")
PRELOADED = ("xrelay", "onnx.helper", "llvmlite.binding")


_kept: dict[frozenset[tuple[bytes, bytes]], str | None] = {}
"""The fixed variables of a server → the folder of its shims, until this process ends."""


@contextmanager
def served(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yields `environment` with a PATH on which `TOOLS` are forks of a server that runs as long as the context.

    The server has the variables of `environment`; a command with other variables runs the tool itself. So do all
    commands in `make test-all`. Contexts whose commands import the same packages share a server, which runs until this
    process ends.
    """
    own = {**environment, "PATH": f"{BIN}{os.pathsep}{environment['PATH']}"}
    if FACTOR > 1:
        yield own
        return
    shared = "PYTHONPATH" not in own
    variables = frozenset(fixed({os.fsencode(name): os.fsencode(value) for name, value in own.items()}).items())
    folder = _kept[variables] if variables in _kept else start([BIN / tool for tool in TOOLS], own, PRELOADED)
    if shared:
        _kept[variables] = folder
    try:
        yield own if folder is None else {**own, "PATH": f"{folder}{os.pathsep}{own['PATH']}"}
    finally:
        if folder is not None and not shared:
            stop(folder)
