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

# What the tools import between them, most of it when they need it, and at last what has to be imported by then.
PRELOADED = (
    *("xrelay", "xdsl.dialects", "xdsl.transforms", "filecheck.main", "onnx.helper", "llvmlite.binding"),
    "support.tool_server.warm",
)

HERE = Path(__file__).parent

# Python takes its time for `site`, and -I keeps a test's PYTHONPATH from the shim.
SHIM = """#!{python} -IS
import sys
sys.path.append({here!r})
from shim import run
run({address!r}, {program!r})
"""

# A server ends when its standard input says anything or ends, which it does when this process is gone.
_servers: dict[str, subprocess.Popen[bytes]] = {}


def start(programs: Iterable[Path], environment: Mapping[str, str], preloaded: Iterable[str] = PRELOADED) -> str | None:
    """Start a server for tests that run in `environment`; gives the folder of the shims for `programs`.

    A program is this interpreter or one of its scripts. None where there can be no server, as without `fork`: tests can
    do without. The server removes the folder when it ends.
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
        # What ends this process's group, as Ctrl-C does, must not keep the server from tidying up.
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
    """End the server of `folder`, and what it still runs."""
    if folder in _servers:
        # Said, not only closed: forks of this process, as lit's workers are, hold the pipe too.
        _servers.pop(folder).communicate(b"end")
