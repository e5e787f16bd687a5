"""Starts the server and writes the shims."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

# The modules that most runs import, many of them lazily, and last the module that needs them imported. Most dialects
# and passes of xDSL are in few tests.
PRELOADED = ("xrelay", "filecheck.main", "onnx.helper", "llvmlite.binding", "support.tool_server.warm")

HERE = Path(__file__).parent

# Python takes its time for `site`, and -I keeps a test's PYTHONPATH from the shim.
SHIM = """#!{python} -IS
import sys
sys.path.append({here!r})
from shim import run
run({address!r}, {program!r})
"""

# A server ends when its standard input has data or is closed, as it is when this process ends.
_servers: dict[str, subprocess.Popen[bytes]] = {}


def start(programs: Iterable[Path], environment: Mapping[str, str], preloaded: Iterable[str] = PRELOADED) -> str | None:
    """Starts a server for tests that run in `environment`; returns the folder of the shims for `programs`.

    A program is this interpreter or one of its scripts. Returns None if no server can run, as without `fork`; tests
    also work without one. The server removes the folder when it ends.
    """
    if not hasattr(os, "fork"):
        return None
    folder = tempfile.mkdtemp(prefix="xrelay-tools-")
    address = str(Path(folder) / "socket")
    for program in programs:
        shim = Path(folder) / program.name
        shim.write_text(SHIM.format(python=sys.executable, here=str(HERE), address=address, program=str(program)))
        shim.chmod(0o755)
    server = subprocess.Popen(
        [sys.executable, "-m", "support.tool_server.server", folder, *preloaded],
        cwd=HERE.parents[1],
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A signal to this process's group, as from Ctrl-C, must not keep the server from removing its folder.
        start_new_session=True,
    )
    _servers[folder] = server
    atexit.register(stop, folder)
    if server.stdout is not None and server.stdout.readline():
        return folder
    stop(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def stop(folder: str) -> None:
    """Stops the server of `folder`, and the processes that it runs."""
    if folder in _servers:
        # Sends data, as closing is not enough: forks of this process, such as lit's workers, also hold the pipe.
        _servers.pop(folder).communicate(b"end")
