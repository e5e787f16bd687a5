"""The tools for Python tests, as forks of a server instead of processes that each import xDSL, numpy and onnx."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from support.examples import FACTOR
from support.tool_server.launch import start, stop

BIN = Path(sys.executable).parent
TOOLS = ("xrelay-opt", "xrelay", "xdsl-opt", "python")
PRELOADED = ("xrelay", "xdsl.transforms", "onnx.helper", "llvmlite.binding")


@contextmanager
def served(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yields `environment` with a PATH on which `TOOLS` are forks of a server that runs as long as the context.

    The server has the variables of `environment`; a command with other variables runs the tool itself. So do all
    commands in `make test-all`.
    """
    own = {**environment, "PATH": f"{BIN}{os.pathsep}{environment['PATH']}"}
    folder = start([BIN / tool for tool in TOOLS], own, PRELOADED) if FACTOR <= 1 else None
    if folder is None:
        yield own
        return
    try:
        yield {**own, "PATH": f"{folder}{os.pathsep}{own['PATH']}"}
    finally:
        stop(folder)
