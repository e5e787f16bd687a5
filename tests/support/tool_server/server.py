"""The server: imports the tools, waits for shims, forks. `python -m support.tool_server.server FOLDER MODULE...`."""

from __future__ import annotations

import atexit
import gc
import importlib
import logging
import marshal
import os
import pkgutil
import select
import shutil
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from support.tool_server.process import Request, become, is_python, run
from support.tool_server.shim import HEADER, REFUSED

# Variables that differ between tests, that shells add, and that a tool reads while it runs; `become` sets the import
# path of PYTHONPATH.
FREE_VARIABLES = {
    *(b"PATH", b"PWD", b"OLDPWD", b"SHLVL", b"_", b"TMPDIR", b"TMP", b"TEMP", b"TEMPDIR"),
    *(b"HOME", b"XDG_CACHE_HOME", b"NO_COLOR", b"PYTHONPATH"),
}
FREE_PREFIXES = (b"XRELAY_", b"LIT_", b"PYTEST_")


class ToolServer:
    """Runs requests until standard input has data or ends: the server ends with the process that started it."""

    def __init__(self, address: str) -> None:
        """Listens at `address`, a path for a Unix socket."""
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(address)
        self.listener.listen(64)
        self.child_ended, self.child_signal = socket.socketpair()
        self.child_ended.setblocking(False)
        self.child_signal.setblocking(False)
        self.running: dict[int, socket.socket] = {}
        signal.set_wakeup_fd(self.child_signal.fileno())
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def serve(self) -> Request | None:
        """Forks for every request: a child returns its request, the server returns None at the end."""
        while True:
            ready, _, _ = select.select([0, self.child_ended, self.listener, *self.running.values()], [], [])
            if self.child_ended in ready:
                self.child_ended.recv(1024)
                self.report_ended()
            # A shim sends nothing after its request: a readable socket means that it ended, and the child must not
            # outlive it.
            for pid in [pid for pid, shim in self.running.items() if shim in ready]:
                self.kill(pid)
            if 0 in ready:
                for pid in list(self.running):
                    self.kill(pid)
                return None
            if self.listener in ready and (request := self.accept()) is not None:
                return request

    def accept(self) -> Request | None:
        """Reads one request and forks; returns the request in the child only."""
        shim, _ = self.listener.accept()
        request = None
        with suppress(ConnectionError):
            request = receive(shim)
        if request is None:
            shim.close()
            return None
        if not may_run(request):
            answer(shim, REFUSED)
        elif (pid := os.fork()) == 0:
            os.setpgid(0, 0)
            shim.close()
            self.close()
            return request
        else:
            # Both processes call this, so that neither has to wait for the other before it relies on the group.
            with suppress(OSError):
                os.setpgid(pid, pid)
            self.running[pid] = shim
            if request.wants_pid:
                with suppress(OSError):
                    shim.sendall(pid.to_bytes(HEADER, "little"))
        for file in request.files:
            os.close(file)
        return None

    def report_ended(self) -> None:
        """Sends the exit codes of ended children to their shims."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if (shim := self.running.pop(pid, None)) is not None:
                answer(shim, str(os.waitstatus_to_exitcode(status)).encode())

    def kill(self, pid: int) -> None:
        """Kills a child, and the processes that it started."""
        self.running.pop(pid).close()
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)

    def close(self) -> None:
        """Closes the server's sockets and restores signals: in a child, and at the end."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for connection in (self.listener, self.child_ended, self.child_signal, *self.running.values()):
            connection.close()


def receive(shim: socket.socket) -> Request | None:
    """Reads a shim's request; None if the shim ended before it was complete."""
    header, files, _, _ = socket.recv_fds(shim, HEADER, 3)
    size, body = int.from_bytes(header, "little"), bytearray()
    while len(body) < size and (piece := shim.recv(size - len(body))):
        body += piece
    if len(files) < 3 or len(body) < size:
        for file in files:
            os.close(file)
        return None
    program, arguments, folder, environment, wants_pid = marshal.loads(body)
    return Request(program, arguments, folder, environment, files, wants_pid)


def answer(shim: socket.socket, message: bytes) -> None:
    """Sends the outcome of a request to a shim, which may have ended, and closes the connection."""
    with shim, suppress(OSError):
        shim.sendall(message)


def may_run(request: Request) -> bool:
    """Whether a fork of this process is equivalent to a new process with the request."""
    if (
        is_python(request.program)
        and (request.arguments or ["-"])[0].startswith("-")
        and request.arguments[:1] != ["-c"]
    ):
        return False
    # A warm server has searched its import path for extensions.
    same_path = request.environment.get(b"PYTHONPATH") == os.environb.get(b"PYTHONPATH")
    if not same_path and "support.tool_server.warm" in sys.modules:
        return False
    return fixed(request.environment) == fixed(os.environb)


def fixed(environment: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The variables that must be the same for all runs: Python or a library reads them at start-up."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(FREE_PREFIXES) and name not in FREE_VARIABLES
    }


def preload(name: str) -> None:
    """Imports a module, and all modules of a package; ignores modules that are not installed."""
    with suppress(ImportError):
        module = importlib.import_module(name)
        for inner in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
            with suppress(ImportError):
                importlib.import_module(inner.name)


def main() -> None:
    """Runs the server, and in each child the program of its request."""
    folder, *names = sys.argv[1:]
    server = ToolServer(str(Path(folder) / "socket"))
    for name in names:
        preload(name)
    # Libraries free their memory at exit. A child ends with `os._exit`, so that would only copy pages.
    atexit._clear()  # pyright: ignore[reportPrivateUsage]
    atexit.register(logging.shutdown)
    gc.collect()
    # A collection in a child would write to, and so copy, every page that it shares with the server.
    gc.freeze()
    os.write(1, b"ready\n")
    request = server.serve()
    if request is None:
        server.close()
        shutil.rmtree(folder)
    else:
        become(request)
        run(request)


if __name__ == "__main__":
    main()
